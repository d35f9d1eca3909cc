/*  client_servers.c - which servers a session finds, and uses
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#define FAKE_ORDER "" /* the nearest */

#include "far_fake.h"

#include "lib/suite.h"

#include <errno.h>

/*  The client file has the first server alone, and that below it. */
static void
only_first (const char *more)
{
    FILE *out = fopen (fake.file, "w");
    fprintf (out,
             "client\n    public-key = \"%s\"\n    secret-key = \"%s\"\n"
             "    server = \"%s %s\"\n%s",
             fake.client.public_key, fake.client.secret_key,
             fake.server[0].endpoint, fake.server[0].pair.public_key, more);
    ck_assert_int_eq (fclose (out), 0);
}

static void
domains (const char *first, const char *second)
{
    WITH_LOCK (fake.server[0].domain = first; fake.server[1].domain = second);
}

/*  To whom that was told ever. */
static void
push (size_t place)
{
    WITH_LOCK (send_list (&fake.server[place]));
}

/*  -------------------------------------------------------- the list */

START_TEST (subscribes)
{
    lk_session *session = open_session ();
    ck_assert_ptr_nonnull (
        strstr (line_of (0, "REGISTER"), "\"subscribe\":[\"SERVERS\"]"));
    lk_session_destroy (&session);
}
END_TEST

/*  Another server than the file has, told at once, or later. */
static void
goes_to_the_second (lk_session *session)
{
    lk_lock *lock = get_lock (session);
    const uint64_t token = lk_lock_token (lock);
    ck_assert_str_eq (lk_session_host (session), "h1");
    ck_assert_int_eq (heard (1, "REGISTER"), 0);
    kill_server (0);
    quiet_until (session, 1, "\nLOCK ");
    quiet_for (session, 500);
    ck_assert (lk_lock_held (lock));
    ck_assert_uint_eq (lk_lock_token (lock), token);
    ck_assert_str_eq (lk_session_host (session), "h2");
    lk_session_destroy (&session);
}

START_TEST (found)
{
    only_first ("");
    domains ("", "");
    goes_to_the_second (open_session ());
}
END_TEST

START_TEST (told_later)
{
    only_first ("");
    lk_session *session = open_session ();
    domains ("", "");
    push (0);
    goes_to_the_second (session);
}
END_TEST

static void
knows_no_other (lk_session *session)
{
    quiet_for (session, 200);
    kill_server (0);
    quiet_for (session, 1000);
    ck_assert_int_eq (heard (1, "REGISTER"), 0);
}

/*  Nobody but its own router may say so. */
START_TEST (not_told_by_others)
{
    only_first ("");
    lk_session *session = open_session ();
    WITH_LOCK (fake.server[1].domain = "";
               snprintf (fake.server[0].host, sizeof fake.server[0].host, "h9");
               send_list (&fake.server[0]); snprintf (
                   fake.server[0].host, sizeof fake.server[0].host, "h1"));
    knows_no_other (session);
    lk_session_destroy (&session);
}
END_TEST

START_TEST (not_asked_for)
{
    only_first ("    discovery = no\n");
    domains ("", "");
    lk_session *session = open_session ();
    ck_assert_int_eq (heard (0, "SERVERS"), 0);
    knows_no_other (session);
    lk_session_destroy (&session);
}
END_TEST

/*  -------------------------------------------------------- domains */

/*  The first one is not even registered with. */
START_TEST (nearest_at_once)
{
    only_first ("    domain = au.perth\n");
    domains ("nz", "au.perth.dh4");
    lk_session *session = open_session ();
    ck_assert_str_eq (lk_session_host (session), "h2");
    ck_assert_int_eq (heard (0, "LOCKREGISTER"), 0);
    lk_session_destroy (&session);
}
END_TEST

/*  A nearer server comes while another is used. */
START_TEST (nearer_comes)
{
    only_first ("    domain = au.perth\n");
    domains ("au", NULL);
    lk_session *session = open_session ();
    lk_lock *lock = get_lock (session);
    ck_assert_str_eq (lk_session_host (session), "h1");
    domains ("au", "au.perth");
    push (0);
    quiet_until (session, 1, "\nLOCK ");
    quiet_until (session, 0, "LOCKGOODBYE");
    ck_assert_str_eq (lk_session_host (session), "h2");
    quiet_for (session, 2300); /* more than the lease */
    ck_assert (lk_lock_held (lock));
    domains ("au.perth", "au.perth"); /* equal: no reason to go */
    push (1);
    quiet_for (session, 300);
    ck_assert_str_eq (lk_session_host (session), "h2");
    lk_session_destroy (&session);
}
END_TEST

/*  A nearer server cannot be had. */
START_TEST (nearer_is_away)
{
    only_first ("    domain = au.perth\n");
    domains ("nz", "au.perth");
    kill_server (1);
    lk_session *session = open_session ();
    ck_assert_str_eq (lk_session_host (session), "h1");
    lk_lock *lock = get_lock (session);
    quiet_for (session, 2300);
    ck_assert (lk_lock_held (lock));
    lk_session_destroy (&session);
}
END_TEST

START_TEST (nothing_within_the_limit)
{
    char text[300];
    const lk_session_options options = {.client = fake.file, .connect_ms = 400};
    only_first ("    domain-limit = au.perth\n");
    domains ("nz", "au.sydney");
    ck_assert_ptr_null (lk_session_new (&options));
    snprintf (text, sizeof text,
              "no server serves us: '%s': it is in nz, outside of "
              "'client/domain-limit' au.perth; '%s': it is in au.sydney,",
              fake.server[0].endpoint, fake.server[1].endpoint);
    ck_assert_msg (strstr (lk_session_problem (NULL), text) != NULL, "%s",
                   lk_session_problem (NULL));
    ck_assert_int_eq (heard (0, "LOCKREGISTER"), 0);
    ck_assert_int_eq (heard (1, "REGISTER"), 0);
    domains (NULL, NULL); /* nobody tells */
    ck_assert_ptr_null (lk_session_new (&options));
    ck_assert_ptr_nonnull (
        strstr (lk_session_problem (NULL), "its location domain is not known"));
    ck_assert_int_eq (heard (0, "LOCKREGISTER"), 0);
}
END_TEST

START_TEST (within_the_limit)
{
    only_first ("    domain-limit = au.perth\n");
    domains ("nz", "au.perth.dh1");
    lk_session *session = open_session ();
    ck_assert_str_eq (lk_session_host (session), "h2");
    kill_server (1);
    quiet_for (session, 1500);
    ck_assert_int_eq (heard (0, "LOCKREGISTER"), 0);
    lk_session_destroy (&session);
}
END_TEST

/*  -------------------------------------------------------- who is sooner */

static int64_t
open_by_second (void)
{
    const int64_t begun_ms = lk_clock_ms ();
    WITH_LOCK (fake.server[0].is_silent = true);
    lk_session *session = open_session ();
    ck_assert_str_eq (lk_session_host (session), "h2");
    const int64_t took_ms = lk_clock_ms () - begun_ms;
    lk_session_destroy (&session);
    return took_ms;
}

/*  Those that are as near are tried together when the first does not answer
 *  soon; in the order of the file it has a second. */
START_TEST (sooner)
{
    const int64_t soon_ms = open_by_second ();
    FILE *out = fopen (fake.file, "a");
    fputs ("    order = listed\n", out);
    ck_assert_int_eq (fclose (out), 0);
    ck_assert_int_lt (soon_ms, open_by_second ());
}
END_TEST

/*  -------------------------------------------------------- one address */

/*  The first server ends, and the second is behind its address. */
static void
goes_on_behind_the_address (void)
{
    lk_session *session = open_session ();
    lk_lock *lock = get_lock (session);
    ck_assert_str_eq (lk_session_host (session), "h1");
    kill_server (0);
    kill_server (1);
    quiet_for (session, 300); /* until the port is free */
    WITH_LOCK (snprintf (fake.server[1].endpoint,
                         sizeof fake.server[1].endpoint, "%s",
                         fake.server[0].endpoint);
               open_server (1));
    quiet_until (session, 1, "\nLOCK ");
    quiet_for (session, 500);
    ck_assert (lk_lock_held (lock));
    ck_assert_str_eq (lk_session_host (session), "h2");
    lk_session_destroy (&session);
}

START_TEST (another_behind_the_address)
{
    FILE *out = fopen (fake.file, "a");
    fprintf (out, "    server = \"%s %s\"\n", fake.server[0].endpoint,
             fake.server[1].pair.public_key);
    ck_assert_int_eq (fclose (out), 0);
    goes_on_behind_the_address ();
}
END_TEST

/*  That cannot be seen from outside. */
START_TEST (another_by_the_same_key)
{
    only_first ("");
    fake.server[1].pair = fake.server[0].pair;
    goes_on_behind_the_address ();
    ck_assert_int_ge (heard (1, "LOCKREGISTER"), 1);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("client_servers");
    TCase *tcase = add_case (suite, "servers");
    tcase_add_test (tcase, subscribes);
    tcase_add_test (tcase, found);
    tcase_add_test (tcase, told_later);
    tcase_add_test (tcase, not_told_by_others);
    tcase_add_test (tcase, not_asked_for);
    tcase_add_test (tcase, nearest_at_once);
    tcase_add_test (tcase, nearer_comes);
    tcase_add_test (tcase, nearer_is_away);
    tcase_add_test (tcase, nothing_within_the_limit);
    tcase_add_test (tcase, within_the_limit);
    tcase_add_test (tcase, sooner);
    tcase_add_test (tcase, another_behind_the_address);
    tcase_add_test (tcase, another_by_the_same_key);
    return lk_suite_run (suite);
}
