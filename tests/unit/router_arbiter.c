/*  router_arbiter.c - tests: a host's router and its arbiter's
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "router_fake.h"

#include "keys.h"

#include "lib/suite.h"
#include "lib/vector.h"

#define K1 "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
#define K2 "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"

#define PARTY(host, address)                                                   \
    "\"host\":\"" host "\",\"address\":\"" address "\",\"version\":\"1\","     \
    "\"incarnation\":\"0000000000000077\""
#define A1 "{" PARTY ("a1", "10.0.0.7:1") ",\"one_way\":true}"

/*  -------------------------------------------------------- a host */

static void
set_up_host (void)
{
    set_up ();
    router.keyring.security = LK_SECURITY_CURVE;
    enter ("lock", "\"HANGUP\"");
}

/*  The settings name these. */
static void
name_arbiters (const char *lines)
{
    char body[512];
    snprintf (body, sizeof body, "{\"arbiters\":[%s]}", lines);
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "HOSTKEYS", body);
    drain ("lock");
    lk_neighbour_work (&router);
}

/*  a1 is linked by our connection, whose name is returned. */
static const char *
link_arbiter (void)
{
    static char out[32];
    name_arbiters ("\"a1 10.0.0.7:1 " K1 "\"");
    snprintf (out, sizeof out, "out%d", opened);
    our_own (out, true);
    assert_starts (next (out), "router@h1 > router@. CONNECT 0 ");
    say (LK_SIDE_MESH, out, "router@a1", "router@.", "ACCEPT", A1);
    drain (out);
    return out;
}

START_TEST (an_arbiter_is_linked_by_our_connection)
{
    const char *out = link_arbiter ();
    const lk_mesh_link *link = lk_mesh_arbiter (&router.mesh, "a1");
    ck_assert (lk_mesh_link_is_live (link));
    ck_assert_uint_eq (router.cluster.total, 1);
    ck_assert_str_eq (router.keyring.arbiter[0].key, K1);

    /*  Messages that come back over it are a neighbour's. */
    say (LK_SIDE_MESH, out, "lock@a1", "lock@h1", "ONE", "{}");
    assert_next ("lock", "lock@a1 > lock@h1 ONE 42 {}");
    say (LK_SIDE_MESH, out, "lock@h2", "lock@h1", "TWO", "{}");
    assert_next ("lock", "");
    drain (out);
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "lock@a1", "THREE", "{}");
    assert_next (out, "lock@h1 > lock@a1 THREE 42 {}");

    our_own (out, false);
    assert_starts (next ("lock"), "router@h1 > lock@h1 HANGUP 0 ");
    ck_assert (!link->met);
}
END_TEST

/*  As the examples have it. */
START_TEST (an_arbiter_says_what_the_page_does)
{
    put (LK_SIDE_LOCAL, "lock", &lk_vector_find ("hostkeys")->frame);
    lk_neighbour_work (&router);
    our_own ("out1", true);
    put (LK_SIDE_MESH, "out1", &lk_vector_find ("accept-arbiter")->frame);
    ck_assert (lk_mesh_link_is_live (lk_mesh_arbiter (&router.mesh, "a1")));
}
END_TEST

/*  It lost us, and has said so to our ALIVE: we ask anew. */
START_TEST (an_arbiter_that_lost_us_is_asked_again)
{
    const char *out = link_arbiter ();
    const lk_mesh_link *link = lk_mesh_arbiter (&router.mesh, "a1");
    say (LK_SIDE_MESH, out, "router@a1", "router@.", "REFUSE",
         "{\"reason\":\"not connected\"," PARTY ("a1", "10.0.0.7:1") "}");
    ck_assert_int_eq (link->state, LK_LINK_ASKING);
    assert_starts (next (out), "router@h1 > router@. CONNECT 0 ");
    say (LK_SIDE_MESH, out, "router@a1", "router@.", "ACCEPT", A1);
    ck_assert (lk_mesh_link_is_live (link));
}
END_TEST

/*  A host's own connection to us says neither ACCEPT nor REFUSE. */
START_TEST (a_host_is_no_arbiter_by_its_word)
{
    const char *out = link_host ("h2");
    say (LK_SIDE_MESH, "in-h2", "router@h2", "router@.", "REFUSE", "{}");
    assert_starts (next (out), "router@h1 > router@h2 INVALID 42 ");
    ck_assert (lk_mesh_link_is_live (
        lk_mesh_by_host (&router.mesh, lk_slice_of ("h2"))));

    static const char *const address[] = {"10.0.0.7:1", NULL};
    lk_neighbour_configure (&router, address);
    lk_neighbour_work (&router);
    char mine[32];
    snprintf (mine, sizeof mine, "out%d", opened);
    our_own (mine, true);
    say (LK_SIDE_MESH, mine, "router@a1", "router@.", "ACCEPT", A1);
    ck_assert_int_eq (lk_mesh_by_address (&router.mesh, "10.0.0.7:1")->state,
                      LK_LINK_REFUSED);
}
END_TEST

/*  It votes, and has no say in what hosts do. */
START_TEST (an_arbiter_says_no_more_than_a_vote)
{
    static const char *const commands[] = {"SHUTDOWN", "GOSSIP", "COUNT"};
    const char *out = link_arbiter ();
    enter ("a", "");
    drain (out);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        say (LK_SIDE_MESH, out, "router@a1", "router@h1", commands[i], "{}");
        ck_assert_ptr_nonnull (strstr (next (out), " INVALID 42 "));
    }
    say (LK_SIDE_MESH, out, "x@a1", "a@h1", "NEWS", "{}");
    ck_assert_ptr_nonnull (strstr (next (out), " INVALID 42 "));
    assert_next ("a", "");
    say (LK_SIDE_MESH, out, "lock@a1", "a@h1", "NEWS", "{}");
    assert_next ("a", "lock@a1 > a@h1 NEWS 42 {}");
    enter_keeper ();
    say_flagged (LK_SIDE_MESH, out, "lock@a1", "keeper@h1", "NEWS", "{}");
    ck_assert (!is_privileged ("keeper"));
}
END_TEST

START_TEST (an_arbiter_hears_no_applications_and_no_gossip)
{
    const char *out = link_arbiter ();
    char host[32];
    snprintf (host, sizeof host, "%s", link_host ("h2"));
    enter ("a", "");
    drain (out);
    drain (host);
    say (LK_SIDE_LOCAL, "a", "a@h1", "*@*", "NEWS", "{}");
    assert_next (host, "a@h1 > *@* NEWS 42 {}");
    assert_next (out, "");
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "*@*", "LOCKSTARTED", "{}");
    assert_next (host, "lock@h1 > *@* LOCKSTARTED 42 {}");
    assert_next (out, "lock@h1 > *@* LOCKSTARTED 42 {}");

    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "SHUTDOWN", "{}");
    assert_next (host, "router@h1 > router@h2 SHUTDOWN 0");
    assert_next (out, "");
}
END_TEST

START_TEST (the_settings_are_taken_anew)
{
    name_arbiters ("\"a1 10.0.0.7:1 " K1 "\"");
    ck_assert_int_eq (opened, 1);
    name_arbiters ("\"a1 10.0.0.7:1 " K1 "\"");
    ck_assert_int_eq (closed, 0);

    /*  Another key, another address; and none. */
    name_arbiters ("\"a1 10.0.0.7:1 " K2 "\"");
    ck_assert_int_eq (closed, 1);
    ck_assert_int_eq (opened, 2);
    name_arbiters ("\"a1 10.0.0.8:1 " K2 "\"");
    ck_assert_int_eq (closed, 2);
    ck_assert_ptr_null (lk_mesh_by_address (&router.mesh, "10.0.0.7:1"));
    ck_assert_ptr_nonnull (lk_mesh_by_address (&router.mesh, "10.0.0.8:1"));
    name_arbiters ("");
    ck_assert_ptr_null (lk_mesh_arbiter (&router.mesh, "a1"));

    /*  A neighbour's address stays its own. */
    static const char *const taken[] = {"10.0.0.7:1", NULL};
    keep_log ();
    lk_neighbour_configure (&router, taken);
    name_arbiters ("\"a1 10.0.0.7:1 " K1 "\"");
    ck_assert_ptr_null (lk_mesh_arbiter (&router.mesh, "a1"));
    assert_logged ("not taken: a neighbour has the name");
}
END_TEST

/*  -------------------------------------------------------- the arbiter */

#define H1 "{" PARTY ("h1", "10.0.0.1:1") "}"

static void
set_up_arbiter (void)
{
    lk_problem problem;
    lk_curve_key key = {.pair.public_key = K1, .host = "h1"};
    begin ("a1", "10.0.0.7:1", 71);
    lk_router_only_accept (&router);
    router.keyring.security = LK_SECURITY_CURVE;
    ck_assert_int_eq (lk_curve_ring_add (&router.keyring.ring, &key, &problem),
                      LK_OK);
    all_others = "member h1";
}

static void
tear_down_arbiter (void)
{
    all_others = NULL;
    tear_down ();
}

START_TEST (an_arbiter_answers_where_it_was_dialled)
{
    say (LK_SIDE_MESH, "in1", "router@h1", "router@.", "CONNECT", H1);
    assert_starts (next ("in1"), "router@a1 > router@. ACCEPT 0 ");
    const lk_mesh_link *link =
        lk_mesh_by_host (&router.mesh, lk_slice_of ("h1"));
    ck_assert (lk_mesh_link_is_live (link));
    say (LK_SIDE_MESH, "in1", "router@h1", "router@.", "CONNECT", H1);
    ck_assert_ptr_nonnull (
        strstr (next ("in1"), "\"privileged\":true,\"one_way\":true}"));

    router.now_ms += 250;
    lk_neighbour_work (&router);
    assert_next ("in1", "router@a1 > router@. ALIVE 0");

    /*  The host comes by another connection. */
    say (LK_SIDE_MESH, "in2", "router@h1", "router@.", "CONNECT", H1);
    assert_starts (next ("in2"), "router@a1 > router@. ACCEPT 0 ");
    ck_assert (lk_mesh_link_is_live (link));
    neighbour_left ("in1");
    ck_assert (lk_mesh_link_is_live (link));
    neighbour_left ("in2");
    ck_assert_int_eq (link->state, LK_LINK_CLOSED);
    router.now_ms += 100000;
    lk_neighbour_work (&router);
    ck_assert_int_eq (opened, 0);
}
END_TEST

/*  It came by a key, or it would not be here. */
START_TEST (a_host_whose_key_is_withdrawn_is_refused)
{
    all_others = NULL;
    say (LK_SIDE_MESH, "in1", "router@h1", "router@.", "CONNECT", H1);
    assert_starts (next ("in1"), "router@a1 > router@. REFUSE 0 ");
}
END_TEST

START_TEST (a_cluster_does_not_rule_its_arbiter)
{
    static const char *const unknown[] = {
        "STOP",   "SHUTDOWN", "RELOADCONFIG", "GOSSIP", "FORGET", "LOG",
        "ACCEPT", "REFUSE",   "ENROL",        "INVITE", "LOGIN",  "SERVERS"};
    const lk_log_level level = lk_log_get_level ();
    say (LK_SIDE_MESH, "in1", "router@h1", "router@.", "CONNECT", H1);
    drain ("in1");
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        say (LK_SIDE_MESH, "in1", "router@h1", "router@a1", unknown[i],
             "{\"level\":\"debug\",\"name\":\"h1\"}");
        assert_starts (next ("in1"), "router@a1 > router@h1 UNKNOWN 42 ");
    }
    ck_assert_int_eq (stopped, 0);
    ck_assert_int_eq (reloaded, 0);
    ck_assert_int_eq (lk_log_get_level (), level);
}
END_TEST

START_TEST (an_arbiter_dials_no_arbiter)
{
    const lk_arbiter other = {"a2", "10.0.0.8:1", K1};
    lk_neighbour_set_arbiters (&router, &other, 1);
    lk_neighbour_work (&router);
    ck_assert_uint_eq (router.mesh.count, 0);
    ck_assert_int_eq (opened, 0);
}
END_TEST

int
main (void)
{
    TCase *host = tcase_create ("host");
    tcase_add_checked_fixture (host, set_up_host, tear_down);
    tcase_add_test (host, an_arbiter_is_linked_by_our_connection);
    tcase_add_test (host, an_arbiter_says_what_the_page_does);
    tcase_add_test (host, an_arbiter_that_lost_us_is_asked_again);
    tcase_add_test (host, a_host_is_no_arbiter_by_its_word);
    tcase_add_test (host, an_arbiter_says_no_more_than_a_vote);
    tcase_add_test (host, an_arbiter_hears_no_applications_and_no_gossip);
    tcase_add_test (host, the_settings_are_taken_anew);
    TCase *arbiter = tcase_create ("arbiter");
    tcase_add_checked_fixture (arbiter, set_up_arbiter, tear_down_arbiter);
    tcase_add_test (arbiter, an_arbiter_answers_where_it_was_dialled);
    tcase_add_test (arbiter, a_host_whose_key_is_withdrawn_is_refused);
    tcase_add_test (arbiter, a_cluster_does_not_rule_its_arbiter);
    tcase_add_test (arbiter, an_arbiter_dials_no_arbiter);
    Suite *suite = suite_create ("router_arbiter");
    suite_add_tcase (suite, host);
    suite_add_tcase (suite, arbiter);
    return lk_suite_run (suite);
}
