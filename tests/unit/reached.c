/*  reached.c - tests: which neighbours are linked with a host, too
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "gossip.h"
#include "lib/suite.h"
#include "router_fake.h"

enum { SOON_MS = 250 };

#define ROW(n, process)                                                        \
    "{\"host\":\"h" n "\",\"address\":\"h" n ".example:1\","                   \
    "\"incarnation\":\"" process "\"}"
#define ROW3 ROW ("3", "0000000000000033")

/*  Links the host of that number; `ways`: its frames have numbers. */
static const char *
link_new (int number, bool ways)
{
    static char out[10][32];
    char in[32], from[32], body[256];
    snprintf (in, sizeof in, "in-h%d", number);
    snprintf (from, sizeof from, "router@h%d", number);
    snprintf (body, sizeof body,
              "{\"host\":\"h%d\",\"address\":\"h%d.example:1\","
              "\"version\":\"1\",\"incarnation\":\"00000000000000%d%d\","
              "\"ways\":%s}",
              number, number, number, number, ways ? "true" : "false");
    say (LK_SIDE_MESH, in, from, "router@.", "CONNECT", body);
    snprintf (out[number], sizeof out[number], "out%d", opened);
    our_own (out[number], true);
    say (LK_SIDE_MESH, out[number], from, "router@.", "ACCEPT", body);
    drain (out[number]);
    return out[number];
}

static void
tells (int number, const char *hosts)
{
    char in[32], from[32], body[1024];
    snprintf (in, sizeof in, "in-h%d", number);
    snprintf (from, sizeof from, "router@h%d", number);
    snprintf (body, sizeof body, "{\"hosts\":[%s]}", hosts);
    say (LK_SIDE_MESH, in, from, "router@.", "GOSSIP", body);
}

static lk_mesh_link *
link_of (const char *host)
{
    return lk_mesh_by_host (&router.mesh, lk_slice_of (host));
}

/*  Those that reach h3, too, in order, as text. */
static const char *
reach_h3 (void)
{
    static char text[256];
    const lk_mesh_link *by[LK_LINKS_MAX];
    const size_t count =
        lk_mesh_reached_by (&router.mesh, "h1", link_of ("h3"), by);
    text[0] = '\0';
    for (size_t i = 0, at = 0; i < count; i++) {
        at +=
            (size_t) snprintf (text + at, sizeof text - at, " %s", by[i]->host);
    }
    return text;
}

START_TEST (neighbours_say_whom_they_reach)
{
    link_new (2, true);
    link_new (3, true);
    ck_assert_str_eq (reach_h3 (), "");
    tells (2, ROW3);
    ck_assert_str_eq (reach_h3 (), " h2");
    tells (2, ROW3 "," ROW3);
    ck_assert_str_eq (reach_h3 (), " h2");
    tells (2, "");
    ck_assert_str_eq (reach_h3 (), "");
}
END_TEST

START_TEST (status_has_who_reaches_a_host)
{
    enter ("w", "");
    link_new (2, true);
    link_new (3, true);
    tells (2, ROW3);
    say (LK_SIDE_LOCAL, "w", "w@h1", "router@.", "ROUTERSTATUS", "");
    const char *status = next ("w");
    ck_assert_ptr_nonnull (strstr (status, "\"reached_by\":[\"h2\"]"));
}
END_TEST

/*  Old routers tell of no process, and have no numbers. */
START_TEST (old_routers_carry_nothing)
{
    link_new (2, false);
    link_new (3, true);
    tells (2, ROW3);
    ck_assert_str_eq (reach_h3 (), "");
    link_new (4, true);
    tells (4, "{\"host\":\"h3\",\"address\":\"h3.example:1\"}");
    ck_assert_str_eq (reach_h3 (), "");
}
END_TEST

START_TEST (while_a_channel_goes_on_only_its_process_is_meant)
{
    link_new (2, true);
    link_new (3, true);
    tells (2, ROW ("3", "0000000000000044"));
    ck_assert_str_eq (reach_h3 (), " h2");
    link_of ("h3")->channel.bound = true;
    ck_assert_str_eq (reach_h3 (), "");
    tells (2, ROW3);
    ck_assert_str_eq (reach_h3 (), " h2");
}
END_TEST

START_TEST (who_is_not_linked_itself_reaches_nobody)
{
    const char *out = link_new (2, true);
    link_new (3, true);
    tells (2, ROW3);
    our_own (out, false);
    ck_assert_str_eq (reach_h3 (), "");
    link_new (2, true);
    ck_assert_str_eq (reach_h3 (), "");
}
END_TEST

START_TEST (arbiters_carry_nothing)
{
    link_new (2, true);
    link_new (3, true);
    tells (2, ROW3);
    link_of ("h2")->way = LK_WAY_OUT;
    ck_assert_str_eq (reach_h3 (), "");
    link_of ("h2")->way = LK_WAY_BOTH;
    link_of ("h3")->way = LK_WAY_OUT;
    const lk_mesh_link *by[LK_LINKS_MAX];
    ck_assert_uint_eq (
        lk_mesh_reached_by (&router.mesh, "h1", router.mesh.link[1], by), 0);
}
END_TEST

/*  h1 and h3 try the others in the same order. */
START_TEST (both_ends_have_the_same_order)
{
    link_new (2, true);
    link_new (3, true);
    lk_mesh_link *other = link_of ("h3");
    for (int i = 4; i < 9; i++) {
        link_new (i, true);
        tells (i, ROW3);
    }
    tells (2, ROW3);
    char text[256];
    snprintf (text, sizeof text, "%s", reach_h3 ());
    ck_assert_uint_eq (strlen (text), strlen (" h2 h4 h5 h6 h7 h8"));
    ck_assert_str_ne (text, " h2 h4 h5 h6 h7 h8");
    for (size_t i = 0; i < router.mesh.count; i++) {
        lk_mesh_link_reaches (router.mesh.link[i], "h1", 0x33);
    }
    snprintf (other->host, sizeof other->host, "h1");
    const lk_mesh_link *by[LK_LINKS_MAX];
    ck_assert_uint_eq (lk_mesh_reached_by (&router.mesh, "h3", other, by), 6);
    for (size_t i = 0; i < 6; i++) {
        ck_assert_int_eq (memcmp (text + 3 * i + 1, by[i]->host, 2), 0);
    }
}
END_TEST

START_TEST (what_is_told_is_bounded)
{
    char host[16];
    link_new (2, true);
    lk_mesh_link *link = link_of ("h2");
    for (unsigned i = 0; i < 2 * LK_LINKS_MAX; i++) {
        snprintf (host, sizeof host, "x%u", i);
        lk_mesh_link_reaches (link, host, 1);
    }
    ck_assert_uint_eq (link->reached_count, LK_LINKS_MAX);
    lk_mesh_link_reaches_nobody (link);
    lk_mesh_link_reaches (link, "no name", 1);
    lk_mesh_link_reaches (link, NULL, 1);
    ck_assert_uint_eq (link->reached_count, 0);
}
END_TEST

/*  Others count on us to reach it. */
START_TEST (a_link_that_is_lost_is_told_at_once)
{
    const char *out2 = link_new (2, true), *out4 = link_new (4, false);
    const char *out3 = link_new (3, true);
    router.now_ms += SOON_MS;
    lk_gossip_work (&router);
    ck_assert_ptr_nonnull (strstr (next (out2), ROW3));
    drain (out2);
    drain (out4);
    lk_gossip_work (&router);
    assert_next (out2, "");
    our_own (out3, false);
    lk_gossip_work (&router);
    const char *news = next (out2);
    ck_assert_ptr_nonnull (strstr (news, "GOSSIP"));
    ck_assert_ptr_null (strstr (news, "\"h3\""));
    drain (out4);
    our_own (out4, false);
    lk_gossip_work (&router);
    news = next (out2);
    ck_assert_ptr_nonnull (strstr (news, "GOSSIP"));
    ck_assert_ptr_null (strstr (news, "\"hosts\""));
}
END_TEST

START_TEST (a_neighbour_that_is_dropped_is_told_at_once)
{
    static const char *const nobody[] = {NULL};
    const char *out2 = link_new (2, true);
    link_new (3, true);
    link_of ("h3")->configured = true;
    router.now_ms += SOON_MS;
    lk_gossip_work (&router);
    drain (out2);
    lk_neighbour_configure (&router, nobody);
    lk_gossip_work (&router);
    const char *news = next (out2);
    ck_assert_ptr_nonnull (strstr (news, "GOSSIP"));
    ck_assert_ptr_null (strstr (news, "\"h3\""));
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("reached");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_add_test (tcase, neighbours_say_whom_they_reach);
    tcase_add_test (tcase, status_has_who_reaches_a_host);
    tcase_add_test (tcase, old_routers_carry_nothing);
    tcase_add_test (tcase, while_a_channel_goes_on_only_its_process_is_meant);
    tcase_add_test (tcase, who_is_not_linked_itself_reaches_nobody);
    tcase_add_test (tcase, arbiters_carry_nothing);
    tcase_add_test (tcase, both_ends_have_the_same_order);
    tcase_add_test (tcase, what_is_told_is_bounded);
    tcase_add_test (tcase, a_link_that_is_lost_is_told_at_once);
    tcase_add_test (tcase, a_neighbour_that_is_dropped_is_told_at_once);
    Suite *suite = suite_create ("reached");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
