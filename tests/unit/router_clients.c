/*  router_clients.c - tests of a router and applications on other machines
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "callers.h"
#include "clients.h"
#include "lost.h"
#include "router_fake.h"

#include "lib/suite.h"

#define KEY1 "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
#define KEY2 "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
#define ONE "far-bb88471d65e2659b-one"
#define TWO "far-54fcba24e9324996-two"
#define BOTH "{\"keys\":[\"m1 " KEY1 "\",\"m2 " KEY2 "\",\"nonsense\"]}"

/*  -------------------------------------------------------- in and out */

static void
settings_have (const char *body)
{
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "CLIENTKEYS", body);
}

static void
set_up_far (void)
{
    set_up ();
    enter ("lock", "\"STATUS\"");
    settings_have (BOTH);
    caller_key = KEY1;
}

/*  REGISTER over a connection; what is answered. */
static const char *
comes (const char *connection, const char *service, const char *more)
{
    char from[100], body[300];
    snprintf (from, sizeof from, "%s@.", service);
    snprintf (body, sizeof body,
              "{\"service\":\"%s\",\"version\":\"1\",\"pid\":4711%s}", service,
              more);
    say (LK_SIDE_CLIENTS, connection, from, "router@.", "REGISTER", body);
    const char *answer = next (connection);
    const char *command = strstr (answer, "@. ");
    return command != NULL ? command + strlen ("@. ") : answer;
}

#define APPLICATION ",\"application\":true"

static void
come (const char *connection, const char *service)
{
    assert_starts (comes (connection, service, APPLICATION), "READY 42 ");
}

static bool
has_session (const char *service)
{
    return lk_route_by_service (&router.route, lk_slice_of (service)) != NULL;
}

/*  -------------------------------------------------------- coming */

START_TEST (who_may_connect)
{
    char user[LK_CURVE_USER_SIZE];
    ck_assert (lk_callers_admit (&router, KEY1, "1.2.3.4", user));
    ck_assert_str_eq (lk_callers_key_of (user), KEY1);
    ck_assert_ptr_null (lk_callers_key_of (NULL));
    ck_assert_ptr_null (lk_callers_key_of ("member h1"));
    ck_assert_ptr_null (lk_callers_key_of ("guest " KEY1));
    settings_have ("{\"keys\":[]}");
    ck_assert_uint_eq (router.count.refused, 0);
    ck_assert (!lk_callers_admit (&router, KEY1, "1.2.3.4", user));
    ck_assert_uint_eq (router.count.refused, 1);
    /*  Its end is told as well, and is none more. */
    lk_callers_denied (&router);
    ck_assert_uint_eq (router.count.refused, 1);
    lk_callers_denied (&router);
    ck_assert_uint_eq (router.count.refused, 2);
    /*  A router's key is another thing. */
    lk_keyring none = {.serve_ms = INT64_MAX};
    ck_assert (!lk_keyring_admit (&none, KEY1, 5000, user));
}
END_TEST

START_TEST (who_tells_the_keys)
{
    enter ("greeter", "");
    say (LK_SIDE_LOCAL, "greeter", "greeter@h1", "router@.", "CLIENTKEYS",
         "{\"keys\":[]}");
    ck_assert_ptr_nonnull (
        strstr (next ("greeter"), "another service tells the keys"));
    ck_assert_uint_eq (router.clients.count, 2);
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "UNREGISTER", "");
    say (LK_SIDE_LOCAL, "greeter", "greeter@h1", "router@.", "CLIENTKEYS",
         "{\"keys\":[]}");
    assert_next ("greeter", "");
    ck_assert_uint_eq (router.clients.count, 0);
}
END_TEST

START_TEST (names)
{
    static const char *const wrong[] = {
        "backup",
        "lock",
        "far-bb88471d65e2659b",
        "far-bb88471d65e2659b-",
        "far-bb88471d65e2659c-one",
        "far-BB88471D65E2659B-one",
        "far-bb88471d65e2659-bone",
        "far-bb88471d65e2659b.one",
        TWO,
    };
    come ("a", ONE);
    assert_starts (comes ("a", ONE, APPLICATION), "READY ");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_starts (comes ("b", wrong[i], APPLICATION),
                       "REFUSE 42 {\"reason\":\"your name is to be 'far-'");
    }
    assert_starts (comes ("b", ONE "2", ""),
                   "REFUSE 42 {\"reason\":\"you may be an application only");
    caller_key = KEY2;
    come ("b", TWO);
    assert_starts (comes ("c", ONE, APPLICATION), "REFUSE ");
    caller_key = NULL;
    assert_starts (comes ("c", ONE "3", APPLICATION),
                   "REFUSE 42 {\"reason\":\"the settings do not have your");
    /*  Nobody else is called so. */
    say (LK_SIDE_LOCAL, "x", ONE "4@.", "router@.", "REGISTER",
         "{\"service\":\"" ONE "4\",\"version\":\"1\",\"pid\":1}");
    ck_assert_ptr_nonnull (strstr (next ("x"), "are for other machines"));
    link_host ("h2");
    say (LK_SIDE_MESH, "in-h2", "router@h2", "router@h1", "STATUS",
         "{\"service\":\"" ONE "@h2\",\"status\":\"up\"}");
    ck_assert_ptr_null (
        lk_directory_find (&router.directory, "h2", ONE, strlen (ONE)));
}
END_TEST

START_TEST (is_told)
{
    const char *out = link_host ("h2");
    drain (out);
    drain ("lock");
    come ("a", ONE);
    const char *status = next ("lock");
    ck_assert_ptr_nonnull (strstr (status, "\"service\":\"" ONE "@h1\""));
    ck_assert_ptr_nonnull (strstr (status, "\"status\":\"up\",\"pid\":4711"));
    ck_assert_ptr_nonnull (
        strstr (status, "\"key\":\"" KEY1 "\",\"client\":\"m1\""));
    assert_next (out, "");
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "SERVICESTATUS",
         "{\"service\":\"" ONE "\"}");
    ck_assert_ptr_nonnull (strstr (next ("lock"), "\"client\":\"m1\""));
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "ROUTERSTATUS", "");
    const char *answer = next ("lock");
    ck_assert_ptr_nonnull (strstr (answer, "\"clients\":1,"));
    ck_assert_ptr_nonnull (strstr (answer, "\"machines\":[{\"key\":\"" KEY1
                                           "\",\"sessions\":1}]"));
}
END_TEST

/*  -------------------------------------------------------- what is said */

START_TEST (before_it_registers)
{
    say (LK_SIDE_CLIENTS, "a", ONE "@.", "lock@h1", "LOCK", "{}");
    assert_next ("a",
                 "router@h1 > *@. INVALID 42 {\"reason\":\"register first\"}");
    say (LK_SIDE_CLIENTS, "a", ONE "@.", "router@.", "STOP", "{}");
    ck_assert_ptr_nonnull (strstr (next ("a"), "register first"));
    say (LK_SIDE_CLIENTS, "a", ONE "@.", "router@.", "ALIVE", "");
    assert_starts (next ("a"), "router@h1 > " ONE "@. ABSOLUTELY 42");
    ck_assert_int_eq (stopped, 0);
}
END_TEST

START_TEST (to_its_router)
{
    static const char *const other[] = {
        "ACCEPT",       "CLIENTKEYS",   "CLUSTER",  "CLUSTERSTATUS", "CONNECT",
        "ENROL",        "DISCONNECTED", "FORGET",   "GOSSIP",        "HOSTKEYS",
        "INVITE",       "KEYS",         "LOG",      "NEWKEY",        "REFUSE",
        "RELOADCONFIG", "ROTATEKEYS",   "SHUTDOWN", "ROUTERSTATUS",  "STATUS",
        "STOP",
    };
    come ("a", ONE);
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        say (LK_SIDE_CLIENTS, "a", ONE "@h1", "router@.", other[i], "{}");
        assert_next ("a", "router@h1 > " ONE "@h1 INVALID 42 "
                          "{\"reason\":\"that is not yours to say\"}");
    }
    ck_assert_int_eq (stopped + reloaded, 0);
    ck_assert_uint_eq (router.clients.count, 2);
    say (LK_SIDE_CLIENTS, "a", ONE "@h1", "router@h1", "COMMANDS", "");
    ck_assert_ptr_nonnull (strstr (next ("a"), " COMMANDS 42 "));
    say (LK_SIDE_CLIENTS, "a", ONE "@h1", "router@.", "SUBSCRIBE",
         "{\"commands\":[\"STATUS:lock\"]}");
    ck_assert_ptr_nonnull (strstr (next ("a"), "\"service\":\"lock@h1\""));
    say (LK_SIDE_CLIENTS, "a", ONE "@h1", "router@.", "UNKNOWN", "{}");
    assert_next ("a", "");
    say (LK_SIDE_CLIENTS, "a", ONE "@h1", "router@.", "UNREGISTER", "");
    ck_assert (!has_session (ONE));
}
END_TEST

START_TEST (to_others)
{
    static const char *const not_to[] = {"router@h2", "greeter@.", "greeter@h2",
                                         ONE "@h1",   TWO "@.",    "x@?"};
    static const char *const not_to_all[] = {"lock@*", "*@.", "*@*", "*@h2",
                                             "router@*"};
    const char *out = link_host ("h2");
    enter ("greeter", "\"NEWS\"");
    come ("a", ONE);
    drain ("lock");
    drain (out);
    for (size_t i = 0; i < sizeof not_to / sizeof not_to[0]; i++) {
        say (LK_SIDE_CLIENTS, "a", ONE "@h1", not_to[i], "NEWS", "{}");
        assert_next ("a", "router@h1 > *@. INVALID 42 "
                          "{\"reason\":\"that is not yours to say\"}");
    }
    for (size_t i = 0; i < sizeof not_to_all / sizeof not_to_all[0]; i++) {
        say (LK_SIDE_CLIENTS, "a", ONE "@h1", not_to_all[i], "NEWS", "{}");
        assert_next ("a", "");
    }
    assert_next ("lock", "");
    assert_next ("greeter", "");
    assert_next (out, "");
    say (LK_SIDE_CLIENTS, "a", TWO "@h1", "lock@h1", "LOCK", "{}");
    ck_assert_ptr_nonnull (strstr (next ("a"), "address is not yours"));
    say (LK_SIDE_CLIENTS, "a", ONE "@h1", "lock@.", "LOCK", "{}");
    assert_next ("lock", ONE "@h1 > lock@. LOCK 42 {}");
    say (LK_SIDE_CLIENTS, "a", ONE "@h1", "lock@h2", "LOCKSTATUS", "{}");
    assert_next (out, ONE "@h1 > lock@h2 LOCKSTATUS 42 {}");
    say (LK_SIDE_LOCAL, "lock", "lock@h1", ONE "@h1", "LOCKED", "{}");
    assert_next ("a", "lock@h1 > " ONE "@h1 LOCKED 42 {}");
}
END_TEST

/*  Such bodies are for lock services. */
START_TEST (packed_bodies)
{
    lk_bytes frame = {0};
    const lk_frame_envelope envelope = {.to = "lock@h1",
                                        .from = ONE "@h1",
                                        .command = "LOCK",
                                        .serial = 42,
                                        .packed = true};
    come ("a", ONE);
    drain ("lock");
    const size_t start = lk_frame_begin (&frame, &envelope);
    lk_bytes_add (&frame, "x", 1);
    ck_assert_int_eq (lk_frame_finish (&frame, start), LK_OK);
    put (LK_SIDE_CLIENTS, "a", &frame);
    lk_bytes_clear (&frame);
    ck_assert_ptr_nonnull (strstr (next ("a"), "not yours to say"));
    assert_next ("lock", "");
}
END_TEST

/*  Numbers of connections are each side's own. */
START_TEST (sides_are_apart)
{
    come ("lock", ONE); /* as that of the lock service */
    say (LK_SIDE_CLIENTS, "lock", "lock@h1", "router@.", "STOP", "{}");
    ck_assert_int_eq (stopped, 0);
    say (LK_SIDE_LOCAL, "lock", ONE "@h1", "lock@h1", "LOCK", "{}");
    ck_assert_uint_eq (router.count.lies, 2);
    ck_assert (has_session ("lock"));
    ck_assert (has_session (ONE));
}
END_TEST

/*  -------------------------------------------------------- the end */

START_TEST (it_is_silent)
{
    come ("a", ONE);
    router.now_ms += 30000;
    come ("b", ONE "2");
    say (LK_SIDE_CLIENTS, "a", ONE "@h1", "router@.", "ALIVE", "");
    ck_assert_int_eq (lk_router_deadline (&router), router.now_ms + 60000);
    router.now_ms += 59999;
    lk_clients_work (&router);
    ck_assert (has_session (ONE) && has_session (ONE "2"));
    say (LK_SIDE_CLIENTS, "a", ONE "@h1", "router@.", "ALIVE", "");
    drain ("lock");
    router.now_ms++;
    lk_clients_work (&router);
    ck_assert (has_session (ONE) && !has_session (ONE "2"));
    const char *status = next ("lock");
    ck_assert_ptr_nonnull (strstr (status, "\"status\":\"down\""));
    ck_assert_ptr_nonnull (strstr (status, "connection ended"));
    ck_assert_int_eq (lk_router_deadline (&router), router.now_ms + 59999);
    ck_assert_uint_eq (hung_up, 0);
}
END_TEST

START_TEST (it_comes_again)
{
    come ("a", ONE);
    drain ("lock");
    come ("b", ONE);
    ck_assert_uint_eq (hung_up, 1);
    ck_assert_ptr_nonnull (strstr (next ("lock"), "connection ended"));
    ck_assert_ptr_nonnull (strstr (next ("lock"), "\"status\":\"up\""));
    say (LK_SIDE_CLIENTS, "a", ONE "@h1", "lock@.", "LOCK", "{}");
    ck_assert_ptr_nonnull (strstr (next ("a"), "register first"));
    say (LK_SIDE_CLIENTS, "b", ONE "@h1", "lock@.", "LOCK", "{}");
    assert_next ("lock", ONE "@h1 > lock@. LOCK 42 {}");
    /*  A connection with that number, of another one. */
    caller_key = KEY2;
    say (LK_SIDE_CLIENTS, "b", ONE "@h1", "lock@.", "LOCK", "{}");
    ck_assert_ptr_nonnull (strstr (next ("b"), "register first"));
    ck_assert (!has_session (ONE));
    ck_assert_ptr_nonnull (strstr (next ("lock"), "connection ended"));
    assert_next ("lock", "");
}
END_TEST

START_TEST (its_key_is_withdrawn)
{
    come ("a", ONE);
    come ("b", ONE "2");
    caller_key = KEY2;
    come ("c", TWO);
    settings_have ("{\"keys\":[\"m2 " KEY2 "\"]}");
    ck_assert (!has_session (ONE) && !has_session (ONE "2"));
    ck_assert (has_session (TWO));
    ck_assert_uint_eq (hung_up, 2);
    caller_key = KEY1;
    assert_starts (comes ("a", ONE, APPLICATION),
                   "REFUSE 42 {\"reason\":\"the settings do not have your");
}
END_TEST

/*  It does not read what it is told. */
START_TEST (it_is_lost)
{
    come ("a", ONE);
    say (LK_SIDE_LOCAL, "lock", "lock@h1", ONE "@h1", "LOCKED", "{}");
    lk_lost_hop (&router, hop_of ("a"));
    ck_assert (!has_session (ONE));
    ck_assert_uint_eq (router.route.far_count, 0);
}
END_TEST

/*  One machine does not have all sessions, nor all of them those of the
 *  host. */
START_TEST (too_many)
{
    char name[80], connection[32];
    for (int i = 0; i < LK_CLIENT_SESSIONS_OF_KEY_MAX; i++) {
        snprintf (name, sizeof name, ONE "-%d", i);
        snprintf (connection, sizeof connection, "a%d", i);
        come (connection, name);
    }
    assert_starts (comes ("b", ONE, APPLICATION),
                   "REFUSE 42 {\"reason\":\"too many sessions");
    caller_key = KEY2;
    come ("b", TWO);
    enter ("greeter", "");
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("clients");
    tcase_add_checked_fixture (tcase, set_up_far, tear_down);
    tcase_add_test (tcase, who_may_connect);
    tcase_add_test (tcase, who_tells_the_keys);
    tcase_add_test (tcase, names);
    tcase_add_test (tcase, is_told);
    tcase_add_test (tcase, before_it_registers);
    tcase_add_test (tcase, to_its_router);
    tcase_add_test (tcase, to_others);
    tcase_add_test (tcase, packed_bodies);
    tcase_add_test (tcase, sides_are_apart);
    tcase_add_test (tcase, it_is_silent);
    tcase_add_test (tcase, it_comes_again);
    tcase_add_test (tcase, its_key_is_withdrawn);
    tcase_add_test (tcase, it_is_lost);
    tcase_add_test (tcase, too_many);
    Suite *suite = suite_create ("router_clients");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
