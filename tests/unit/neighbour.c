/*  neighbour.c - tests: links to other hosts come, end and are told of
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "router_fake.h"

#include "neighbour.h"

#include "lib/suite.h"

START_TEST (a_lost_link_is_told_with_all_that_it_means)
{
    enter ("w", "\"STATUS\",\"HANGUP\",\"DISCONNECTED\",\"CLUSTERUP\","
                "\"CLUSTERDOWN\",\"CLUSTERCOMPLETE\",\"CLUSTERINCOMPLETE\","
                "\"NEWREMOTECONNECTION\"");
    drain ("w");
    const char *out = link_host ("h2");
    assert_next ("w", "router@h1 > w@h1 NEWREMOTECONNECTION 0 "
                      "{\"host\":\"h2\",\"address\":\"h2.example:1\"}");
    assert_next ("w", "router@h1 > w@h1 CLUSTERUP 0 {\"total\":2,\"live\":2}");
    assert_next ("w", "router@h1 > w@h1 CLUSTERCOMPLETE 0 "
                      "{\"total\":2,\"live\":2}");
    say (LK_SIDE_MESH, "in-h2", "router@h2", "router@h1", "STATUS",
         "{\"service\":\"lock@h2\",\"status\":\"up\",\"pid\":9}");
    assert_starts (next ("w"), "router@h1 > w@h1 STATUS 0 "
                               "{\"service\":\"lock@h2\",\"status\":\"up\"");
    our_own (out, false);
    assert_starts (next ("w"),
                   "router@h1 > w@h1 STATUS 0 "
                   "{\"service\":\"lock@h2\",\"status\":\"unknown\"");
    assert_next ("w", "router@h1 > w@h1 HANGUP 0 {\"host\":\"h2\","
                      "\"reason\":\"connection lost\"}");
    assert_next ("w",
                 "router@h1 > w@h1 CLUSTERDOWN 0 {\"total\":2,\"live\":1}");
    assert_next ("w", "router@h1 > w@h1 CLUSTERINCOMPLETE 0 "
                      "{\"total\":2,\"live\":1}");
    assert_next ("w", "");
    say (LK_SIDE_LOCAL, "w", "w@h1", "lock@h2", "ONE", "{}");
    assert_starts (next ("w"), "router@h1 > w@h1 TRANSMISSIONREPORT 42 ");

    link_by ("h2", "again");
    drain ("w");
    say (LK_SIDE_MESH, "again", "router@h2", "router@h1", "DISCONNECTED",
         "{\"host\":\"h2\"}");
    assert_next ("w", "router@h1 > w@h1 DISCONNECTED 0 {\"host\":\"h2\"}");
}
END_TEST

/*  What is told late of a connection that was closed is of no other one. */
START_TEST (the_end_of_a_link_is_not_taken_for_another)
{
    enter ("w", "\"HANGUP\"");
    char old[32];
    snprintf (old, sizeof old, "%s", link_host ("h2"));
    our_own (old, false);
    drain ("w");
    our_own (old, true);
    ck_assert_int_eq (router.mesh.link[0]->state, LK_LINK_CLOSED);
    link_by ("h2", "again");
    link_host ("h3");
    drain ("w");
    our_own (old, false);
    assert_next ("w", "");
    our_own ("out3", false);
    assert_next ("w", "router@h1 > w@h1 HANGUP 0 {\"host\":\"h3\","
                      "\"reason\":\"connection lost\"}");
}
END_TEST

/*  It was dialled by another address than its own. What it is called is free as
 *  soon as both of its connections are over, in whatever order. */
START_TEST (a_host_that_was_killed_may_come_back_at_once)
{
    static const char *const addresses[] = {"two.example:1", NULL};
    static const char body[] =
        "{\"host\":\"h2\",\"address\":\"h2.example:1\",\"version\":\"1\","
        "\"incarnation\":\"00000000000000%d\"}";
    char first[160], second[160];
    snprintf (first, sizeof first, body, 22);
    snprintf (second, sizeof second, body, 33);
    lk_neighbour_configure (&router, addresses);
    lk_neighbour_work (&router);
    our_own ("out1", true);
    say (LK_SIDE_MESH, "out1", "router@h2", "router@.", "ACCEPT", first);
    say (LK_SIDE_MESH, "in", "router@h2", "router@.", "CONNECT", first);
    ck_assert (lk_mesh_link_is_live (router.mesh.link[0]));
    for (int i = 0; i < 2; i++) {
        if (i == _i) {
            our_own ("out1", false);
        } else {
            neighbour_left ("in");
        }
    }
    say (LK_SIDE_MESH, "again", "router@h2", "router@.", "CONNECT", second);
    assert_starts (next ("again"), "router@h1 > router@. ACCEPT 0 ");
}
END_TEST

/*  Who closes one of the two and goes on with the other keeps its link. */
START_TEST (one_connection_over_is_no_lost_link)
{
    enter ("w", "\"HANGUP\"");
    const char *out = link_host ("h2");
    neighbour_left ("in-h2");
    assert_next ("w", "");
    ck_assert_uint_eq (router.cluster.live, 2);
    say (LK_SIDE_LOCAL, "w", "w@h1", "lock@h2", "ONE", "{}");
    assert_starts (next (out), "w@h1 > lock@h2 ONE 42 ");
}
END_TEST

/*  Each time after a longer pause; why is logged once. */
START_TEST (who_is_not_there_is_dialled_again)
{
    static const char *const addresses[] = {"h2.example:1", NULL};
    static const int64_t pauses[] = {100, 200, 400, 800, 1000, 1000};
    const lk_problem refused = {.number = 111, .text = "nobody is there"};
    lk_neighbour_configure (&router, addresses);
    const lk_mesh_link *link = router.mesh.link[0];
    for (int i = 0; i < 6; i++) {
        lk_neighbour_work (&router);
        ck_assert_int_eq (opened, i + 1);
        ck_assert_int_eq (link->state, LK_LINK_DIALING);
        ck_assert_int_eq (lk_mesh_deadline (&router.mesh), INT64_MAX);
        const lk_identity identity = link->out.identity;
        lk_neighbour_disconnected (&router, &identity, &refused);
        ck_assert_int_eq (closed, i + 1);
        ck_assert_uint_eq (link->out.identity.size, 0);
        ck_assert_str_eq (link->reason, "nobody is there");
        ck_assert_int_eq (lk_mesh_deadline (&router.mesh),
                          router.now_ms + pauses[i]);
        router.now_ms += pauses[i];
    }
    enter ("w", "");
    say (LK_SIDE_LOCAL, "w", "w@h1", "router@.", "ROUTERSTATUS", "");
    ck_assert_ptr_nonnull (
        strstr (next ("w"), "\"reason\":\"nobody is there\""));
    lk_neighbour_work (&router);
    our_own ("out7", true);
    ck_assert_str_eq (link->reason, "");
    assert_starts (next ("out7"), "router@h1 > router@. CONNECT 0 ");
    our_own ("out7", false);
    ck_assert_int_eq (lk_mesh_deadline (&router.mesh), router.now_ms + 100);
}
END_TEST

START_TEST (a_host_that_lost_us_is_told_so)
{
    say (LK_SIDE_MESH, "in-h2", "router@h2", "router@.", "ALIVE", "");
    assert_starts (next ("in-h2"), "router@h1 > router@. REFUSE 0 ");
}
END_TEST

/*  Two of our heartbeats were under way, so it is told that twice. The second
 *  one is no answer to the CONNECT which follows the first. */
START_TEST (a_host_that_is_told_so_twice_asks_once)
{
    static const char unmet[] = "{\"reason\":\"not connected\"}";
    const char *out = link_host ("h2");
    const lk_mesh_link *link = router.mesh.link[0];
    say (LK_SIDE_MESH, out, "router@h2", "router@.", "REFUSE", unmet);
    assert_starts (next (out), "router@h1 > router@. CONNECT 0 ");
    ck_assert_int_eq (link->state, LK_LINK_ASKING);
    say (LK_SIDE_MESH, out, "router@h2", "router@.", "REFUSE", unmet);
    assert_next (out, "");
    ck_assert_int_eq (link->state, LK_LINK_ASKING);
    ck_assert_int_eq (closed, 0);
    say (LK_SIDE_MESH, out, "router@h2", "router@.", "REFUSE",
         "{\"reason\":\"too many neighbours\"}");
    ck_assert_int_eq (link->state, LK_LINK_REFUSED);
}
END_TEST

START_TEST (a_second_host_of_a_name_is_refused)
{
    say (LK_SIDE_MESH, "x", "router@h1", "router@.", "CONNECT",
         "{\"host\":\"h1\",\"address\":\"10.0.0.9:1\",\"version\":\"1\","
         "\"incarnation\":\"0000000000000099\"}");
    assert_starts (next ("x"), "router@h1 > router@. REFUSE 0 ");
    link_host ("h2");
    say (LK_SIDE_MESH, "y", "router@h2", "router@.", "CONNECT",
         "{\"host\":\"h2\",\"address\":\"10.0.0.9:1\",\"version\":\"1\","
         "\"incarnation\":\"0000000000000099\"}");
    assert_starts (next ("y"), "router@h1 > router@. REFUSE 0 ");
    ck_assert_uint_eq (router.cluster.live, 2);
    say (LK_SIDE_MESH, "z", "router@h5", "router@.", "CONNECT",
         "{\"host\":\"h5\",\"address\":\"no address\",\"version\":\"1\","
         "\"incarnation\":\"0000000000000099\"}");
    assert_starts (next ("z"), "router@h1 > router@. REFUSE 0 ");
}
END_TEST

/*  By their hanging up, or by leaving themselves. */
START_TEST (who_leaves_knows_when_all_have_heard_it)
{
    ck_assert (lk_neighbour_all_left (&router));
    char out[32];
    snprintf (out, sizeof out, "%s", link_host ("h2"));
    link_host ("h3");
    lk_neighbour_leave (&router);
    assert_starts (next (out), "router@h1 > router@h2 DISCONNECTED 0 ");
    ck_assert (!lk_neighbour_all_left (&router));
    neighbour_left ("in-h2");
    ck_assert (!lk_neighbour_all_left (&router));
    say (LK_SIDE_MESH, "in-h3", "router@h3", "router@h1", "DISCONNECTED",
         "{\"host\":\"h3\"}");
    ck_assert (lk_neighbour_all_left (&router));
}
END_TEST

START_TEST (the_configuration_is_taken_anew)
{
    static const char *const two[] = {"10.0.0.2:1", "10.0.0.3:1", NULL};
    static const char *const one[] = {"10.0.0.3:1", NULL};
    lk_neighbour_configure (&router, two);
    lk_neighbour_work (&router);
    ck_assert_int_eq (opened, 2);
    ck_assert_uint_eq (router.cluster.total, 3);
    lk_neighbour_configure (&router, one);
    ck_assert_int_eq (closed, 1);
    ck_assert_uint_eq (router.cluster.total, 2);
    ck_assert_ptr_null (lk_mesh_by_address (&router.mesh, "10.0.0.2:1"));
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("neighbour");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_add_test (tcase, a_lost_link_is_told_with_all_that_it_means);
    tcase_add_test (tcase, the_end_of_a_link_is_not_taken_for_another);
    tcase_add_loop_test (tcase, a_host_that_was_killed_may_come_back_at_once, 0,
                         2);
    tcase_add_test (tcase, one_connection_over_is_no_lost_link);
    tcase_add_test (tcase, who_is_not_there_is_dialled_again);
    tcase_add_test (tcase, a_host_that_lost_us_is_told_so);
    tcase_add_test (tcase, a_host_that_is_told_so_twice_asks_once);
    tcase_add_test (tcase, a_second_host_of_a_name_is_refused);
    tcase_add_test (tcase, who_leaves_knows_when_all_have_heard_it);
    tcase_add_test (tcase, the_configuration_is_taken_anew);
    Suite *suite = suite_create ("neighbour");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
