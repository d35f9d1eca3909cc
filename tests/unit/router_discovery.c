/*  router_discovery.c - tests: which servers applications elsewhere are told of
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "router_fake.h"

#include "callers.h"
#include "clients.h"
#include "discovery.h"

#include "lib/suite.h"

#define KEY "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
#define OTHER "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"

static void
assert_has (const char *text, const char *rows)
{
    ck_assert_msg (strstr (text, rows) != NULL, "'%s' has no '%s'", text, rows);
}

/*  Of the first 8 bytes of KEY. */
static char far_name[64];

/*  We take applications of other machines, one of which is registered. */
static void
serve (void)
{
    unsigned char raw[LK_CURVE_RAW_SIZE];
    set_up ();
    caller_key = KEY;
    ck_assert (lk_curve_raw (KEY, raw));
    snprintf (far_name, sizeof far_name,
              "far-%02x%02x%02x%02x%02x%02x%02x%02x-run", raw[0], raw[1],
              raw[2], raw[3], raw[4], raw[5], raw[6], raw[7]);
    snprintf (router.clients_address, sizeof router.clients_address,
              "10.0.0.1:7412");
    snprintf (router.clients_key, sizeof router.clients_key, "%s", OTHER);
    enter ("lock", "");
}

/*  The settings: the policy of discovery, and where hosts are. */
static void
settle (const char *discovery, const char *domains)
{
    char body[512];
    snprintf (body, sizeof body,
              "{\"keys\":[\"build %s\"],\"discovery\":\"%s\","
              "\"domains\":[%s]}",
              KEY, discovery, domains);
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "CLIENTKEYS", body);
}

static void
register_far (void)
{
    char from[80], body[256];
    snprintf (from, sizeof from, "%s@.", far_name);
    snprintf (body, sizeof body,
              "{\"service\":\"%s\",\"version\":\"1\",\"pid\":5,"
              "\"application\":true,\"subscribe\":[\"SERVERS\"]}",
              far_name);
    say (LK_SIDE_CLIENTS, "far", from, "router@.", "REGISTER", body);
    ck_assert_ptr_nonnull (strstr (next ("far"), "READY"));
}

/*  A host links that has such a port; our connection to it. */
static const char *
link_server (const char *host, const char *address)
{
    static char out[32];
    char body[512], from[80], in[32];
    snprintf (in, sizeof in, "in-%s", host);
    snprintf (from, sizeof from, "router@%s", host);
    snprintf (body, sizeof body,
              "{\"host\":\"%s\",\"address\":\"%s.example:1\","
              "\"version\":\"1\",\"incarnation\":\"00000000000000%c%c\","
              "\"clients\":\"%s\",\"clients_key\":\"%s\"}",
              host, host, host[1], host[1], address, OTHER);
    say (LK_SIDE_MESH, in, from, "router@.", "CONNECT", body);
    snprintf (out, sizeof out, "out%d", opened);
    assert_has (next (in), "\"clients\":\"10.0.0.1:7412\"");
    our_own (out, true);
    say (LK_SIDE_MESH, out, from, "router@.", "ACCEPT", body);
    drain (out);
    return out;
}

/*  Asks, as registered or not; what it is told. */
static const char *
ask (const char *name)
{
    char from[80];
    snprintf (from, sizeof from, "%s@h1", name);
    say (LK_SIDE_CLIENTS, "far", from, "router@.", "SERVERS", "{}");
    return next ("far");
}

#define ROW(host, address, domain)                                             \
    "{\"host\":\"" host "\",\"address\":\"" address "\",\"key\":\"" OTHER      \
    "\",\"domain\":\"" domain "\"}"
#define OWN ROW ("h1", "10.0.0.1:7412", "")

/*  -------------------------------------------------------- who is told of */

START_TEST (ourselves_and_who_is_live)
{
    settle ("authenticated", "\"h2 au.perth\",\"h9 au.sydney\"");
    register_far ();
    assert_has (next ("far"), "SERVERS 0 {\"servers\":[" OWN "]}");
    link_host ("h3");
    assert_next ("far", "");
    const char *out = link_server ("h2", "10.0.0.2:7412");
    assert_has (next ("far"),
                OWN "," ROW ("h2", "10.0.0.2:7412", "au.perth") "]}");
    link_host ("h4");
    assert_next ("far", "");
    our_own (out, false);
    assert_has (next ("far"), "{\"servers\":[" OWN "]}");
    assert_next ("far", "");
}
END_TEST

static void
say_draining (const char *flag)
{
    char body[64];
    snprintf (body, sizeof body, "{\"name\":\"one\"%s}", flag);
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "CLUSTER", body);
}

/*  Neighbours hear it at once, be there others or not. */
START_TEST (a_host_that_is_to_end_serves_nobody)
{
    settle ("authenticated", "");
    register_far ();
    const char *out = link_server ("h2", "10.0.0.2:7412");
    drain ("far");
    say_draining (",\"draining\":true");
    assert_has (next ("far"),
                "{\"servers\":[" ROW ("h2", "10.0.0.2:7412", "") "]}");
    const char *told = next (out);
    assert_has (told, "GOSSIP");
    ck_assert_ptr_null (strstr (told, "clients"));
    say_draining (",\"draining\":true");
    assert_next (out, "");
    assert_next ("far", "");
    say_draining ("");
    assert_has (next (out), "\"clients\":\"10.0.0.1:7412\"");
    assert_has (next ("far"), "{\"servers\":[" OWN ",");
}
END_TEST

START_TEST (so_does_a_neighbour)
{
    settle ("authenticated", "");
    register_far ();
    link_server ("h2", "10.0.0.2:7412");
    drain ("far");
    say (LK_SIDE_MESH, "in-h2", "router@h2", "router@.", "GOSSIP",
         "{\"host\":\"h2\"}");
    assert_has (next ("far"), "{\"servers\":[" OWN "]}");
    say (LK_SIDE_MESH, "in-h2", "router@h2", "router@.", "GOSSIP",
         "{\"clients\":\"10.0.0.2:7412\",\"clients_key\":\"" OTHER "\"}");
    assert_has (next ("far"), OWN "," ROW ("h2", "10.0.0.2:7412", ""));
}
END_TEST

START_TEST (where_hosts_are_may_change)
{
    settle ("authenticated", "");
    register_far ();
    drain ("far");
    settle ("authenticated", "\"h1 au.perth\"");
    assert_has (next ("far"), ROW ("h1", "10.0.0.1:7412", "au.perth"));
    settle ("authenticated", "\"h1 au.perth\"");
    assert_next ("far", "");
}
END_TEST

START_TEST (no_address_that_makes_no_sense)
{
    settle ("authenticated", "");
    register_far ();
    drain ("far");
    link_server ("h2", "10.0.0.2");
    assert_next ("far", "");
}
END_TEST

/*  -------------------------------------------------------- who may know */

START_TEST (nobody)
{
    settle ("nobody", "");
    register_far ();
    assert_next ("far", "");
    assert_has (ask (far_name), "the settings tell them to nobody");
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "SERVERS", "{}");
    assert_has (next ("lock"), OWN);
    settle ("authenticated", "");
    assert_has (next ("far"), OWN);
}
END_TEST

START_TEST (who_has_no_key)
{
    char user[LK_CURVE_USER_SIZE];
    settle ("authenticated", "");
    ck_assert (!lk_callers_admit (&router, OTHER, "10.0.0.9", user));
    settle ("anyone", "");
    ck_assert (lk_callers_admit (&router, OTHER, "10.0.0.9", user));
    caller_key = OTHER;
    assert_has (ask ("far-x"), OWN);
    say (LK_SIDE_CLIENTS, "far", "far-x@.", "router@.", "REGISTER",
         "{\"service\":\"far-x\",\"version\":\"1\",\"pid\":5,"
         "\"application\":true}");
    assert_has (next ("far"), "REFUSE");
    say (LK_SIDE_CLIENTS, "far", "far-x@.", "lock@.", "LOCK", "{}");
    assert_has (next ("far"), "INVALID");
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("servers");
    tcase_add_checked_fixture (tests, serve, tear_down);
    tcase_add_test (tests, ourselves_and_who_is_live);
    tcase_add_test (tests, a_host_that_is_to_end_serves_nobody);
    tcase_add_test (tests, so_does_a_neighbour);
    tcase_add_test (tests, where_hosts_are_may_change);
    tcase_add_test (tests, no_address_that_makes_no_sense);
    tcase_add_test (tests, nobody);
    tcase_add_test (tests, who_has_no_key);

    Suite *suite = suite_create ("router_discovery");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
