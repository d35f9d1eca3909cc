/*  gossip.c - tests: who is told of, taken and forgotten
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "router_fake.h"

#include "gossip.h"

#include "lib/suite.h"

enum { SOON_MS = 250, AGAIN_MS = 15000, VOUCH_MS = 60000 };

static void
after (int64_t ms)
{
    router.now_ms += ms;
    lk_gossip_work (&router);
}

/*  h2, which is linked, tells us of a host. */
static void
told (const char *host, const char *address)
{
    char body[512];
    snprintf (body, sizeof body,
              "{\"hosts\":[{\"host\":\"%s\",\"address\":\"%s\"}]}", host,
              address);
    say (LK_SIDE_MESH, "in-h2", "router@h2", "router@.", "GOSSIP", body);
}

/*  A service, or application, of this host is of a cluster. */
static void
is_of (const char *service, const char *cluster)
{
    char from[64], body[128];
    snprintf (from, sizeof from, "%s@h1", service);
    snprintf (body, sizeof body, "{\"name\":\"%s\"}", cluster);
    say (LK_SIDE_LOCAL, service, from, "router@.", "CLUSTER", body);
}

static lk_mesh_link *
at (const char *address)
{
    return lk_mesh_by_address (&router.mesh, address);
}

static const char *
forget (const char *name)
{
    char body[256];
    snprintf (body, sizeof body, "{\"name\":\"%s\"}", name);
    say (LK_SIDE_LOCAL, "w", "w@h1", "router@.", "FORGET", body);
    return strstr (next ("w"), "FORGET");
}

/*  -------------------------------------------------------- telling */

#define ROW(n)                                                                 \
    "{\"host\":\"h" n "\",\"address\":\"h" n ".example:1\","                   \
    "\"incarnation\":\"00000000000000" n n "\"}"

START_TEST (neighbours_are_told_of_each_other)
{
    char out2[32], out3[32];
    snprintf (out2, sizeof out2, "%s", link_host ("h2"));
    after (SOON_MS);
    assert_next (out2, "");
    snprintf (out3, sizeof out3, "%s", link_host ("h3"));
    after (SOON_MS - 1);
    assert_next (out2, "");
    after (1);
    ck_assert_ptr_nonnull (strstr (next (out2), "\"hosts\":[" ROW ("3") "]"));
    ck_assert_ptr_nonnull (strstr (next (out3), "\"hosts\":[" ROW ("2") "]"));
    after (AGAIN_MS - 1);
    assert_next (out2, "");
    ck_assert_int_eq (router.gossip_ms, router.now_ms + 1);
    after (1);
    ck_assert_ptr_nonnull (strstr (next (out2), ROW ("3")));
}
END_TEST

/*  Who was told of, or is gone, is nothing to tell. */
START_TEST (only_who_is_linked_is_told_of)
{
    char out2[32];
    snprintf (out2, sizeof out2, "%s", link_host ("h2"));
    const char *out3 = link_host ("h3");
    told ("h4", "h4.example:1");
    lk_gossip_remember (&router, "h5", "h5.example:1");
    our_own (out3, false);
    after (SOON_MS);
    assert_next (out2, "");
}
END_TEST

/*  -------------------------------------------------------- being told */

START_TEST (who_is_told_of_is_dialled)
{
    enter ("w", "\"NEWREMOTECONNECTION\"");
    link_host ("h2");
    drain ("w");
    told ("h3", "h3.example:1");
    lk_neighbour_work (&router);
    ck_assert_int_eq (opened, 2);
    ck_assert_uint_eq (router.cluster.total, 2);
    our_own ("out2", true);
    const char *out = link_host ("h3");
    ck_assert_str_eq (out, "out2");
    assert_starts (next ("w"), "router@h1 > w@h1 NEWREMOTECONNECTION 0 ");
    ck_assert_uint_eq (router.cluster.live, 3);
    ck_assert_uint_eq (router.cluster.total, 3);
}
END_TEST

static const struct {
    const char *host, *address;
} nonsense[] = {
    {"h1", "10.0.0.9:1"},   /* that is us */
    {"h9", "10.0.0.1:1"},   /* and that */
    {"h2", "10.0.0.9:1"},   /* is linked */
    {"h9", "h2.example:1"}, /* likewise */
    {"h9", "10.0.0.9"},     /* no port */
    {"h9", "10.0.0.9:0"},   /* none, either */
    {"h9", "10.0.0.9:1 x"}, /* a blank */
    {"", "10.0.0.9:1"},     /* no name */
    {"h 9", "10.0.0.9:1"},  /* likewise */
    {"h9", ""},
};

START_TEST (nonsense_is_not_taken)
{
    link_host ("h2");
    told (nonsense[_i].host, nonsense[_i].address);
    ck_assert_uint_eq (router.mesh.count, 1);
    say (LK_SIDE_MESH, "in-h2", "router@h2", "router@.", "GOSSIP",
         "{\"hosts\":[7,\"x\",{\"host\":7,\"address\":[]},{}]}");
    say (LK_SIDE_MESH, "in-h2", "router@h2", "router@.", "GOSSIP", "{}");
    ck_assert_uint_eq (router.mesh.count, 1);
}
END_TEST

/*  A process of another host, or of this one, is no neighbour. */
START_TEST (only_routers_are_listened_to)
{
    static const char body[] = "{\"hosts\":[" ROW ("9") "]}";
    enter ("w", "");
    link_host ("h2");
    say (LK_SIDE_MESH, "in-h2", "w@h2", "router@h1", "GOSSIP", body);
    say (LK_SIDE_LOCAL, "w", "w@h1", "router@.", "GOSSIP", body);
    assert_starts (next ("w"), "router@h1 > w@h1 INVALID ");
    say (LK_SIDE_MESH, "stranger", "router@h8", "router@.", "GOSSIP", body);
    ck_assert_uint_eq (router.mesh.count, 1);
}
END_TEST

/*  Two clusters whose routers know each other do not become one mesh. */
START_TEST (hosts_of_another_cluster_are_not_taken)
{
    static const char body[] = "{\"cluster\":\"%s\",\"hosts\":[" ROW ("9") "]}";
    char text[256];
    enter ("lock", "");
    link_host ("h2");
    is_of ("lock", "no name");
    ck_assert_str_eq (router.cluster_name, "");
    is_of ("lock", "one");
    snprintf (text, sizeof text, body, "two");
    say (LK_SIDE_MESH, "in-h2", "router@h2", "router@.", "GOSSIP", text);
    ck_assert_uint_eq (router.mesh.count, 1);
    ck_assert_uint_eq (router.refusals.count, 1);
    ck_assert_str_eq (router.refusals.item[0].reason,
                      "it is of cluster 'two', not of 'one'");
    snprintf (text, sizeof text, body, "one");
    say (LK_SIDE_MESH, "in-h2", "router@h2", "router@.", "GOSSIP", text);
    ck_assert_uint_eq (router.mesh.count, 2);
}
END_TEST

START_TEST (an_application_has_no_cluster)
{
    say (LK_SIDE_LOCAL, "app", "app@.", "router@.", "REGISTER",
         "{\"service\":\"app\",\"version\":\"1\",\"pid\":1,"
         "\"application\":true}");
    is_of ("app", "one");
    ck_assert_str_eq (router.cluster_name, "");
}
END_TEST

START_TEST (the_configuration_stands_above_what_is_told)
{
    static const char *const addresses[] = {"10.0.0.3:1", NULL};
    lk_neighbour_configure (&router, addresses);
    link_host ("h2");
    told ("h9", "10.0.0.3:1");
    ck_assert (at ("10.0.0.3:1")->configured);
    ck_assert_str_eq (at ("10.0.0.3:1")->host, "");
    ck_assert_uint_eq (router.mesh.count, 2);
    after (2 * VOUCH_MS);
    ck_assert_ptr_nonnull (at ("10.0.0.3:1"));
}
END_TEST

START_TEST (what_nobody_says_any_more_lapses)
{
    link_host ("h2");
    told ("h9", "10.0.0.9:1");
    at ("10.0.0.9:1")->failures = 77; /* it is the same all the time */
    for (int i = 0; i < 8; i++) {
        after (AGAIN_MS);
        told ("h9", "10.0.0.9:1");
        ck_assert_int_eq (at ("10.0.0.9:1")->failures, 77);
    }
    for (int i = 0; i < 3; i++) {
        after (AGAIN_MS);
        ck_assert_ptr_nonnull (at ("10.0.0.9:1"));
    }
    after (AGAIN_MS);
    ck_assert_ptr_null (at ("10.0.0.9:1"));
    ck_assert_uint_eq (router.cluster.total, 2);
}
END_TEST

/*  Who is linked one way only is there, however long. */
START_TEST (who_dials_us_does_not_lapse)
{
    const unsigned met_before = met_count;
    say (LK_SIDE_MESH, "in", "router@h3", "router@.", "CONNECT",
         "{\"host\":\"h3\",\"address\":\"10.0.0.3:1\",\"version\":\"1\","
         "\"incarnation\":\"0000000000000033\"}");
    ck_assert_uint_eq (met_count, met_before + 1);
    after (2 * VOUCH_MS);
    ck_assert_ptr_nonnull (at ("10.0.0.3:1"));
    neighbour_left ("in");
    after (AGAIN_MS);
    ck_assert_ptr_null (at ("10.0.0.3:1"));
}
END_TEST

/*  Up to once in ten seconds; who was linked once, each second. */
START_TEST (hearsay_is_dialled_seldom)
{
    link_host ("h2");
    told ("h9", "10.0.0.9:1");
    lk_mesh_link *link = at ("10.0.0.9:1");
    for (int i = 0; i < 10; i++) {
        router.now_ms = link->deadline_ms;
        lk_neighbour_step (&router, link, LK_LINK_TIME);
        lk_neighbour_step (&router, link, LK_LINK_DOWN);
    }
    ck_assert_int_eq (link->deadline_ms, router.now_ms + 10000);
    link->known = true;
    lk_neighbour_step (&router, link, LK_LINK_TIME);
    lk_neighbour_step (&router, link, LK_LINK_DOWN);
    ck_assert_int_eq (link->deadline_ms, router.now_ms + 1000);
}
END_TEST

/*  Told of more than there can be: who comes himself still finds a place. */
START_TEST (there_is_room_for_who_comes_himself)
{
    char host[16], address[32];
    link_host ("h2");
    for (int i = 0; i < 3 * LK_LINKS_MAX; i++) {
        snprintf (host, sizeof host, "x%d", i);
        snprintf (address, sizeof address, "10.0.1.%d:1", i);
        told (host, address);
    }
    ck_assert_uint_eq (router.mesh.count, LK_LINKS_MAX);
    link_host ("h3");
    ck_assert_uint_eq (router.mesh.count, LK_LINKS_MAX);
    ck_assert_uint_eq (router.cluster.live, 3);
}
END_TEST

START_TEST (nobody_has_to_go_for_another)
{
    char address[LK_LINKS_MAX][32];
    const char *addresses[LK_LINKS_MAX + 1] = {NULL};
    link_host ("h2");
    for (int i = 0; i < LK_LINKS_MAX - 1; i++) {
        snprintf (address[i], sizeof address[i], "10.0.1.%d:1", i);
        addresses[i] = address[i];
    }
    lk_neighbour_configure (&router, addresses);
    const unsigned met_before = met_count;
    say (LK_SIDE_MESH, "in", "router@h3", "router@.", "CONNECT",
         "{\"host\":\"h3\",\"address\":\"10.0.0.3:1\",\"version\":\"1\","
         "\"incarnation\":\"0000000000000033\"}");
    ck_assert_ptr_nonnull (strstr (next ("in"), "too many neighbours"));
    ck_assert_uint_eq (met_count, met_before);
    ck_assert_ptr_nonnull (at ("h2.example:1"));
    ck_assert_ptr_nonnull (at ("10.0.1.0:1"));
}
END_TEST

/*  -------------------------------------------------------- two addresses */

/*  The other address of a host that is linked is of no use, and does no harm:
 *  the services of that host stay known. */
START_TEST (another_address_of_a_host)
{
    enter ("w", "\"STATUS\"");
    lk_gossip_remember (&router, "h2", "10.0.0.9:1");
    link_host ("h2");
    say (LK_SIDE_MESH, "in-h2", "router@h2", "router@h1", "STATUS",
         "{\"service\":\"lock@h2\",\"status\":\"up\",\"pid\":7,"
         "\"version\":\"1\",\"application\":false}");
    drain ("w");
    lk_mesh_link *other = at ("10.0.0.9:1");
    lk_neighbour_step (&router, other, LK_LINK_TIME);
    lk_neighbour_step (&router, other, LK_LINK_DOWN);
    assert_next ("w", "");
    ck_assert_uint_eq (router.cluster.total, 2);
    after (VOUCH_MS);
    ck_assert_ptr_null (at ("10.0.0.9:1"));
    assert_next ("w", "");
}
END_TEST

START_TEST (another_address_that_is_configured)
{
    static const char *const addresses[] = {"10.0.0.2:1", NULL};
    link_host ("h2");
    lk_neighbour_configure (&router, addresses);
    snprintf (at ("10.0.0.2:1")->host, LK_HOST_LEN_MAX, "h2");
    after (2 * VOUCH_MS);
    ck_assert_ptr_nonnull (at ("10.0.0.2:1"));
    ck_assert (!lk_mesh_link_is_memorable (at ("10.0.0.2:1")));
}
END_TEST

/*  -------------------------------------------------------- memory */

START_TEST (who_was_linked_is_remembered)
{
    lk_gossip_remember (&router, "h9", "10.0.0.9:1");
    lk_gossip_remember (&router, "h1", "10.0.0.8:1");
    lk_gossip_remember (&router, "h8", "nonsense");
    ck_assert_uint_eq (router.mesh.count, 1);
    ck_assert_uint_eq (router.cluster.total, 2);
    ck_assert (lk_mesh_link_is_memorable (router.mesh.link[0]));
    after (2 * VOUCH_MS);
    ck_assert_uint_eq (router.mesh.count, 1);

    router.is_memory_old = false;
    link_host ("h2");
    ck_assert (router.is_memory_old);
    ck_assert (lk_mesh_link_is_memorable (at ("h2.example:1")));
    told ("h7", "10.0.0.7:1");
    ck_assert (!lk_mesh_link_is_memorable (at ("10.0.0.7:1")));
}
END_TEST

START_TEST (a_reload_forgets_nobody_who_was_learned)
{
    static const char *const addresses[] = {"10.0.0.3:1", NULL};
    lk_gossip_remember (&router, "h9", "10.0.0.9:1");
    lk_neighbour_configure (&router, addresses);
    ck_assert_ptr_nonnull (at ("10.0.0.9:1"));
    ck_assert_uint_eq (router.mesh.count, 2);
}
END_TEST

START_TEST (who_is_forgotten_is_gone)
{
    static const char *const addresses[] = {"10.0.0.3:1", NULL};
    enter ("w", "");
    lk_neighbour_configure (&router, addresses);
    lk_gossip_remember (&router, "h9", "10.0.0.9:1");
    lk_gossip_remember (&router, "h8", "10.0.0.8:1");
    const char *out = link_host ("h2");
    router.is_memory_old = false;
    ck_assert_str_eq (forget ("h9"), "FORGET 42 {\"name\":\"h9\","
                                     "\"forgotten\":[\"10.0.0.9:1\"]}");
    ck_assert (router.is_memory_old);
    ck_assert_str_eq (forget ("10.0.0.8:1"),
                      "FORGET 42 {\"name\":\"10.0.0.8:1\","
                      "\"forgotten\":[\"10.0.0.8:1\"]}");
    ck_assert_str_eq (forget ("h9"), "FORGET 42 {\"name\":\"h9\"}");
    ck_assert_ptr_nonnull (strstr (forget ("h2"), "stop its router first"));
    ck_assert_ptr_nonnull (
        strstr (forget ("10.0.0.3:1"), "the configuration of this host"));
    ck_assert_uint_eq (router.mesh.count, 2);
    our_own (out, false);
    neighbour_left ("in-h2");
    ck_assert_ptr_nonnull (strstr (forget ("h2"), "h2.example:1"));
    ck_assert_uint_eq (router.cluster.total, 2);
}
END_TEST

/*  -------------------------------------------------------- refusals */

static lk_refusals refusals;

static bool
refused (const char *what, int n, int64_t now_ms)
{
    lk_refusal refusal = {.what = what, .reason = "why"};
    snprintf (refusal.address, sizeof refusal.address, "10.0.0.%d:1", n);
    return lk_refusals_note (&refusals, &refusal, now_ms);
}

/*  Several that take turns are logged once each, and again after long. */
START_TEST (a_refusal_is_logged_once)
{
    refusals.count = 0;
    int logged = 0;
    for (int i = 0; i < 1000; i++) {
        logged += refused ("refused", i % 3, i * 100);
        logged += refused ("refused by it", i % 3, i * 100);
    }
    ck_assert_int_eq (logged, 6);
    ck_assert (lk_refusal_is_now (&refusals.item[0], 100000));
    ck_assert (!lk_refusal_is_now (&refusals.item[0], 200000));
    ck_assert_int_eq ((int) refusals.item[0].count, 334);
    ck_assert (!refused ("refused", 0, LK_REFUSALS_LOG_MS - 1));
    ck_assert (refused ("refused", 0, LK_REFUSALS_LOG_MS));
    ck_assert (!refused ("refused", 0, LK_REFUSALS_LOG_MS + 1));
}
END_TEST

START_TEST (refusals_are_bounded)
{
    refusals.count = 0;
    for (int i = 0; i < 10 * LK_REFUSALS_MAX; i++) {
        refused ("refused", i, i);
        refused ("refused", 0, i);
    }
    ck_assert_uint_eq (refusals.count, LK_REFUSALS_MAX);
    ck_assert_int_eq ((int) refusals.item[0].count, 10 * LK_REFUSALS_MAX + 1);
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("gossip");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_add_test (tcase, neighbours_are_told_of_each_other);
    tcase_add_test (tcase, only_who_is_linked_is_told_of);
    tcase_add_test (tcase, who_is_told_of_is_dialled);
    tcase_add_loop_test (tcase, nonsense_is_not_taken, 0,
                         sizeof nonsense / sizeof nonsense[0]);
    tcase_add_test (tcase, only_routers_are_listened_to);
    tcase_add_test (tcase, hosts_of_another_cluster_are_not_taken);
    tcase_add_test (tcase, an_application_has_no_cluster);
    tcase_add_test (tcase, the_configuration_stands_above_what_is_told);
    tcase_add_test (tcase, what_nobody_says_any_more_lapses);
    tcase_add_test (tcase, who_dials_us_does_not_lapse);
    tcase_add_test (tcase, hearsay_is_dialled_seldom);
    tcase_add_test (tcase, nobody_has_to_go_for_another);
    tcase_add_test (tcase, another_address_that_is_configured);
    tcase_add_test (tcase, there_is_room_for_who_comes_himself);
    tcase_add_test (tcase, another_address_of_a_host);
    tcase_add_test (tcase, who_was_linked_is_remembered);
    tcase_add_test (tcase, a_reload_forgets_nobody_who_was_learned);
    tcase_add_test (tcase, who_is_forgotten_is_gone);
    tcase_add_test (tcase, a_refusal_is_logged_once);
    tcase_add_test (tcase, refusals_are_bounded);
    Suite *suite = suite_create ("gossip");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
