/*  known_servers.c - which server comes first
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/known_servers.h"

#include "lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static lk_client_file file;
static lk_known_servers *all;
static lk_known_server_row rows[LK_KNOWN_SERVERS_TOLD_MAX];
static size_t row_count;
static int64_t now_ms;

static void
set_up (void)
{
    memset (&file, 0, sizeof file);
    row_count = 0;
    now_ms = 100000;
}

static void
tear_down (void)
{
    lk_known_servers_destroy (&all);
}

/*  Of the file: "h1", with the key "k1", at that domain. */
static void
lists (const char *host, const char *key, const char *domain)
{
    lk_client_server *server = &file.server[file.count++];
    snprintf (server->endpoint, sizeof server->endpoint, "tcp://%s:1", host);
    snprintf (server->key, sizeof server->key, "%s", key);
    snprintf (server->domain, sizeof server->domain, "%s", domain);
}

static void
tells (const char *host, const char *key, const char *domain)
{
    lk_known_server_row *row = &rows[row_count++];
    snprintf (row->endpoint, sizeof row->endpoint, "tcp://%s:1", host);
    snprintf (row->key, sizeof row->key, "%s", key);
    snprintf (row->domain, sizeof row->domain, "%s", domain);
}

static void
begin (const char *domain, const char *limit)
{
    snprintf (file.domain, sizeof file.domain, "%s", domain);
    snprintf (file.limit, sizeof file.limit, "%s", limit);
    all = lk_known_servers_new (&file, 1);
}

static void
told (void)
{
    lk_known_servers_told (all, rows, row_count, now_ms);
    row_count = 0;
}

static lk_known_server *
of_key (const char *key)
{
    lk_known_server *it;
    for (size_t i = 0; (it = lk_known_servers_at (all, i)) != NULL; i++) {
        if (strcmp (it->key, key) == 0) {
            return it;
        }
    }
    ck_abort_msg ("there is no %s", key);
    return NULL;
}

static size_t
count (void)
{
    size_t i = 0;
    while (lk_known_servers_at (all, i) != NULL) {
        i++;
    }
    return i;
}

/*  Tries the next one in vain: its key; "" if there is none. */
static const char *
tries (void)
{
    lk_known_server *it = lk_known_servers_next (all, now_ms);
    if (it == NULL) {
        return "";
    }
    it->begun_ms = now_ms;
    it->tries++;
    return it->key;
}

/*  All that are tried in a row, "k1 k2 ". */
static const char *
order (void)
{
    static char text[1000];
    const char *key;
    text[0] = '\0';
    while ((key = tries ())[0] != '\0') {
        snprintf (text + strlen (text), sizeof text - strlen (text), "%s ",
                  key);
    }
    return text;
}

static void
ck_order (const char *wanted)
{
    now_ms += 1000000;
    lk_known_servers_settle (all);
    ck_assert_str_eq (order (), wanted);
}

/*  -------------------------------------------------------- the order */

/*  The eleven patterns of seed 002's example; what is not known is anywhere. */
START_TEST (bubbles_up)
{
    lists ("h", "k9", "");
    begin ("au.perth.dh4.rack3.srv5", "");
    tells ("a", "k8", "nz");
    tells ("b", "k7", "au.sydney");
    tells ("c", "k6", "au");
    tells ("d", "k5", "au.perth.dh1");
    tells ("e", "k4", "au.perth.dh4.rack2");
    tells ("f", "k3", "au.perth.dh4");
    tells ("g", "k2", "au.perth.dh4.rack3.srv6");
    tells ("i", "k1", "au.perth.dh4.rack3.srv5");
    tells ("h", "k9", "");
    told ();
    ck_order ("k1 k2 k3 k4 k5 k6 k7 k9 k8 ");
}
END_TEST

/*  Without a domain of one's own there is one step. */
START_TEST (soonest_first)
{
    lists ("a", "k1", "au");
    lists ("b", "k2", "nz");
    lists ("c", "k3", "");
    begin ("", "");
    ck_order ("k1 k2 k3 ");
    lk_known_servers_answered (of_key ("k3"), 20);
    lk_known_servers_answered (of_key ("k2"), 30);
    ck_order ("k3 k2 k1 ");
    lk_known_servers_answered (of_key ("k2"), 0); /* 15 on an average */
    ck_order ("k2 k3 k1 ");
    ck_assert (lk_known_servers_race (all));
}
END_TEST

START_TEST (near_is_more_than_soon)
{
    lists ("a", "k1", "au.sydney");
    lists ("b", "k2", "au.perth");
    begin ("au.perth", "");
    lk_known_servers_answered (of_key ("k1"), 1);
    lk_known_servers_answered (of_key ("k2"), 50);
    ck_order ("k2 k1 ");
}
END_TEST

START_TEST (listed)
{
    file.order = LK_CLIENT_LISTED;
    lists ("a", "k1", "");
    lists ("b", "k2", "");
    begin ("", "");
    lk_known_servers_answered (of_key ("k2"), 1);
    ck_order ("k1 k2 ");
    ck_assert (!lk_known_servers_race (all));
}
END_TEST

/*  Each session draws its own order, and keeps it. */
START_TEST (any_order)
{
    file.order = LK_CLIENT_RANDOM;
    lists ("a", "k1", "");
    lists ("b", "k2", "");
    bool is_first[2] = {false, false};
    for (uint64_t seed = 1; seed < 20; seed++) {
        all = lk_known_servers_new (&file, seed);
        const lk_known_server *it = lk_known_servers_next (all, now_ms);
        ck_assert_ptr_eq (lk_known_servers_next (all, now_ms), it);
        is_first[it->key[1] == '2'] = true;
        lk_known_servers_destroy (&all);
    }
    ck_assert (is_first[0] && is_first[1]);
}
END_TEST

/*  -------------------------------------------------------- tries */

/*  All have a turn before one is tried again; and that takes a second. */
START_TEST (turns)
{
    lists ("a", "k1", "");
    lists ("b", "k2", "");
    lists ("c", "k3", "");
    begin ("", "");
    ck_assert_str_eq (tries (), "k1");
    ck_assert_str_eq (tries (), "k2");
    now_ms += 999;
    ck_assert_str_eq (tries (), "k3");
    ck_assert_str_eq (tries (), "");
    now_ms += 1;
    of_key ("k1")->is_tried = true; /* still */
    ck_assert_str_eq (tries (), "k2");
    of_key ("k1")->is_tried = false;
    ck_assert_str_eq (tries (), "k1");
    now_ms += 2000;
    ck_assert_str_eq (tries (), "k3");
    lk_known_servers_settle (all);
    now_ms += 2000;
    ck_assert_str_eq (tries (), "k1");
}
END_TEST

START_TEST (who_stops_is_last)
{
    lists ("a", "k1", "au");
    lists ("b", "k2", "");
    begin ("au", "");
    lk_known_servers_moved (of_key ("k1"), now_ms);
    ck_assert_str_eq (order (), "k2 k1 ");
    ck_order ("k1 k2 "); /* a while later */
}
END_TEST

/*  A round of the keys that goes with that of the balancer may meet none. They
 *  are tried sooner again, but not for ever. */
START_TEST (one_address)
{
    lists ("lb", "k1", "");
    lists ("lb", "k2", "");
    begin ("", "");
    unsigned repeated = 0, tried = 0;
    const char *former = "";
    for (int i = 0; i < 16; i++) {
        const char *key = tries ();
        repeated += strcmp (key, former) == 0;
        tried += key[0] != '\0';
        former = key;
        now_ms += 100;
    }
    ck_assert_uint_ge (tried, 14);
    ck_assert_msg (repeated > 2 && repeated < 14, "%u", repeated);
    of_key ("k1")->begun_ms = of_key ("k2")->begun_ms = now_ms;
    of_key ("k1")->tries = of_key ("k2")->tries = 8;
    now_ms += 999;
    ck_assert_str_eq (tries (), "");
    now_ms += 1;
    ck_assert_str_ne (tries (), "");
}
END_TEST

/*  -------------------------------------------------------- a list */

/*  By its key one of the file is known, and where it is. */
START_TEST (the_same_server)
{
    lists ("name", "k1", "");
    begin ("au", "");
    tells ("10.0.0.1", "k1", "au");
    tells ("10.0.0.2", "k2", "nz");
    told ();
    ck_assert_uint_eq (count (), 2);
    lk_known_server *it = of_key ("k1");
    ck_assert_str_eq (it->domain, "au");
    ck_assert_str_eq (it->endpoint, "tcp://name:1");
    lk_known_servers_turn (it);
    ck_assert_str_eq (it->endpoint, "tcp://10.0.0.1:1");
    tells ("10.0.0.1", "k1", "au");
    tells ("10.0.0.2", "k2", "nz");
    told ();
    lk_known_servers_turn (it);
    ck_assert_str_eq (it->endpoint, "tcp://name:1");
    ck_assert_uint_eq (count (), 2);
    tells ("10.0.0.1", "k1", "au");
    tells ("10.0.0.9", "k2", "nz"); /* it has another address now */
    told ();
    ck_assert_uint_eq (count (), 2);
    ck_assert_str_eq (of_key ("k2")->endpoint, "tcp://10.0.0.9:1");
    lk_known_servers_turn (of_key ("k2"));
    ck_assert_str_eq (of_key ("k2")->endpoint, "tcp://10.0.0.9:1");
}
END_TEST

/*  Several by one key are as many servers. */
START_TEST (one_key)
{
    lists ("lb", "k1", "");
    begin ("", "");
    tells ("10.0.0.1", "k1", "");
    tells ("10.0.0.2", "k1", "");
    told ();
    ck_assert_uint_eq (count (), 3);
    tells ("10.0.0.2", "k1", "");
    tells ("10.0.0.1", "k1", "");
    told ();
    ck_assert_uint_eq (count (), 3);
}
END_TEST

/*  A server that left the list is the last resort, and forgotten in the end. */
START_TEST (gone)
{
    lists ("a", "k1", "");
    begin ("au", "");
    tells ("b", "k2", "au");
    tells ("c", "k3", "");
    tells ("a", "k1", "");
    told ();
    ck_order ("k2 k1 k3 ");
    const int number = of_key ("k2")->number;
    tells ("c", "k3", "");
    told ();
    ck_order ("k3 k2 k1 ");
    ck_assert_ptr_nonnull (lk_known_servers_find (all, number));
    tells ("c", "k3", "");
    tells ("d", "k4", "");
    told ();
    ck_assert_ptr_null (lk_known_servers_find (all, number));
    ck_order ("k3 k4 k1 ");
    tells ("b", "k2", "au");
    told ();
    ck_assert_int_gt (of_key ("k2")->number, of_key ("k4")->number);
    ck_order ("k2 k1 k3 k4 ");
    of_key ("k3")->is_used = of_key ("k4")->is_used = true;
    tells ("e", "k5", "");
    now_ms += 1000000;
    told ();
    ck_assert_uint_eq (count (), 5); /* all that are used, or there */
}
END_TEST

/*  More than there is room for: those that are gone go. */
START_TEST (no_room)
{
    begin ("", "");
    for (int list = 0; list < 4; list++) {
        for (int i = 0; i < LK_KNOWN_SERVERS_TOLD_MAX; i++) {
            char key[16];
            snprintf (key, sizeof key, "k%d-%d", list, i);
            tells (key, key, "");
        }
        told ();
        now_ms++;
    }
    ck_assert_uint_eq (count (), LK_KNOWN_SERVERS_MAX);
    ck_assert (!of_key ("k3-0")->is_gone);
    ck_assert (!of_key ("k3-63")->is_gone);
    ck_assert (of_key ("k2-0")->is_gone);
}
END_TEST

/*  By a beacon: whoever it is of has to prove its key. */
START_TEST (announced)
{
    lists ("a", "k1", "");
    begin ("", "");
    tells ("a", "k1", "");
    lk_known_servers_found (all, &rows[0], now_ms);
    ck_assert_str_eq (of_key ("k1")->other, "");
    tells ("b", "k1", "");
    lk_known_servers_found (all, &rows[1], now_ms);
    ck_assert_str_eq (of_key ("k1")->endpoint, "tcp://a:1");
    ck_assert_str_eq (of_key ("k1")->other, "tcp://b:1");
    tells ("c", "k2", "");
    lk_known_servers_found (all, &rows[2], now_ms);
    lk_known_servers_found (all, &rows[2], now_ms);
    ck_assert_uint_eq (count (), 2);
    ck_assert (!of_key ("k1")->is_gone);
    ck_order ("k1 k2 ");
}
END_TEST

/*  -------------------------------------------------------- nearer */

START_TEST (nearer)
{
    lists ("a", "k1", "nz");
    begin ("au.perth", "");
    ck_assert_ptr_null (lk_known_servers_nearer (all, of_key ("k1"), now_ms));
    tells ("a", "k1", "nz");
    tells ("b", "k2", "au");
    tells ("c", "k3", "au.perth");
    tells ("d", "k4", "nz");
    told ();
    lk_known_server *it = lk_known_servers_nearer (all, of_key ("k1"), now_ms);
    ck_assert_ptr_eq (it, of_key ("k3"));
    it->begun_ms = now_ms; /* in vain */
    ck_assert_ptr_eq (lk_known_servers_nearer (all, of_key ("k1"), now_ms),
                      of_key ("k2"));
    ck_assert_ptr_null (lk_known_servers_nearer (all, of_key ("k2"), now_ms));
    now_ms += 9999;
    ck_assert_ptr_null (lk_known_servers_nearer (all, of_key ("k2"), now_ms));
    now_ms += 1;
    ck_assert_ptr_eq (lk_known_servers_nearer (all, of_key ("k2"), now_ms), it);
    lk_known_servers_moved (it, now_ms);
    ck_assert_ptr_null (lk_known_servers_nearer (all, of_key ("k2"), now_ms));
    tells ("a", "k1", "nz");
    told ();
    ck_assert_ptr_null (lk_known_servers_nearer (all, of_key ("k1"), now_ms));
    tells ("b", "k2", "au"); /* it comes back */
    of_key ("k2")->begun_ms = now_ms;
    told ();
    ck_assert_ptr_eq (lk_known_servers_nearer (all, of_key ("k1"), now_ms),
                      of_key ("k2"));
}
END_TEST

/*  -------------------------------------------------------- a limit */

/*  A server outside is not even connected with; one whose domain is not known
 *  may be asked, and is not used. */
START_TEST (limit)
{
    lk_problem problem = {.text = ""};
    lists ("a", "k1", "");
    lists ("b", "k2", "au.perth.dh1");
    lists ("c", "k3", "au.perth2");
    begin ("au.perth.dh4", "au.perth");
    tells ("a", "k1", "");
    tells ("b", "k2", "");
    tells ("d", "k4", "au.sydney");
    tells ("e", "k5", "au.perth.dh4");
    told ();
    ck_order ("k5 k2 k1 ");
    ck_assert (lk_known_servers_allow (all, of_key ("k2"), &problem));
    ck_assert (lk_known_servers_allow (all, of_key ("k5"), &problem));
    ck_assert_str_eq (problem.text, "");
    ck_assert (!lk_known_servers_allow (all, of_key ("k1"), &problem));
    ck_assert_str_eq (problem.text, "its location domain is not known, and "
                                    "'client/domain-limit' is au.perth");
    ck_assert (!lk_known_servers_allow (all, of_key ("k4"), &problem));
    ck_assert_str_eq (problem.text, "it is in au.sydney, outside of "
                                    "'client/domain-limit' au.perth");
    ck_assert_ptr_null (lk_known_servers_nearer (all, of_key ("k5"), now_ms));
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("known_servers");
    TCase *tcase = tcase_create ("known_servers");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_add_test (tcase, bubbles_up);
    tcase_add_test (tcase, soonest_first);
    tcase_add_test (tcase, near_is_more_than_soon);
    tcase_add_test (tcase, listed);
    tcase_add_test (tcase, any_order);
    tcase_add_test (tcase, turns);
    tcase_add_test (tcase, who_stops_is_last);
    tcase_add_test (tcase, one_address);
    tcase_add_test (tcase, the_same_server);
    tcase_add_test (tcase, one_key);
    tcase_add_test (tcase, gone);
    tcase_add_test (tcase, no_room);
    tcase_add_test (tcase, announced);
    tcase_add_test (tcase, nearer);
    tcase_add_test (tcase, limit);
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
