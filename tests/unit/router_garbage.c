/*  router_garbage.c - tests of a router and other machines that talk nonsense
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "callers.h"
#include "clients.h"
#include "offenders.h"
#include "router_fake.h"

#include "lib/suite.h"

#define KEY1 "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
#define KEY2 "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
#define ONE "far-bb88471d65e2659b-one"
#define PLACE "10.7.7.7"

static void
settings_have (const char *body)
{
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "CLIENTKEYS", body);
}

static void
set_up_far (void)
{
    set_up ();
    enter ("lock", "");
    settings_have ("{\"keys\":[\"m1 " KEY1 "\"],\"discovery\":\"anyone\"}");
    caller_key = KEY1;
    caller_address = PLACE;
}

static void
come (const char *connection)
{
    say (LK_SIDE_CLIENTS, connection, ONE "@.", "router@.", "REGISTER",
         "{\"service\":\"" ONE "\",\"version\":\"1\",\"pid\":4711,"
         "\"application\":true}");
    assert_starts (next (connection), "router@h1 > " ONE "@. READY 42 ");
}

static void
put_broken (lk_side side, const char *connection)
{
    lk_bytes frame = {0};
    lk_bytes_add (&frame, "nonsense", 8);
    put (side, connection, &frame);
    lk_bytes_clear (&frame);
}

static bool
is_out (const char *name)
{
    return lk_shut_out_find (&router.shut_out, name, router.now_ms) != NULL;
}

static bool
is_admitted (const char *key)
{
    char user[LK_CURVE_USER_SIZE];
    return lk_callers_admit (&router, key, PLACE, user);
}

/*  -------------------------------------------------------- sessions */

START_TEST (a_broken_frame)
{
    come ("a");
    put_broken (LK_SIDE_CLIENTS, "a");
    ck_assert_uint_eq (hung_up, 1);
    ck_assert_uint_eq (cut_count, 0);
    ck_assert_ptr_null (lk_route_by_service (&router.route, lk_slice_of (ONE)));
    ck_assert (is_out (KEY1) && !is_out (PLACE));
    ck_assert (!is_admitted (KEY1) && is_admitted (KEY2));
    ck_assert_uint_eq (router.clients.denied, 1);
    drain ("a");
    say (LK_SIDE_CLIENTS, "a", ONE "@.", "router@.", "ALIVE", "");
    put_broken (LK_SIDE_CLIENTS, "a");
    assert_next ("a", "");
    ck_assert_uint_eq (cut_count, 0);
    router.now_ms += LK_SHUT_OUT_MS;
    ck_assert (is_admitted (KEY1));
    come ("a");
}
END_TEST

/*  The rest of that frame is not looked at. */
START_TEST (unknown_commands)
{
    lk_bytes frame = {0};
    come ("a");
    for (int i = 0; i < 10; i++) {
        add (&frame, ONE "@h1", "router@.", "NONSENSE", 42, "{}");
    }
    put (LK_SIDE_CLIENTS, "a", &frame);
    lk_bytes_clear (&frame);
    ck_assert_uint_eq (router.count.unknown, 3);
    ck_assert_uint_eq (hung_up, 1);
    ck_assert (is_out (KEY1));
}
END_TEST

START_TEST (lies_and_bodies)
{
    come ("a");
    say (LK_SIDE_CLIENTS, "a", "lock@h1", "lock@h1", "LOCK", "{}");
    say (LK_SIDE_CLIENTS, "a", ONE "@h1", "router@.", "SUBSCRIBE", "{");
    ck_assert (!is_out (KEY1));
    lk_bytes frame = {0};
    const lk_frame_envelope envelope = {
        .to = "lock@h1", .from = ONE "@h1", .command = "LOCK", .packed = true};
    const size_t start = lk_frame_begin (&frame, &envelope);
    lk_bytes_add (&frame, "x", 1);
    ck_assert_int_eq (lk_frame_finish (&frame, start), LK_OK);
    put (LK_SIDE_CLIENTS, "a", &frame);
    lk_bytes_clear (&frame);
    ck_assert (is_out (KEY1));
    ck_assert_uint_eq (hung_up, 1);
}
END_TEST

/*  Words of our own programs that are older, or have lost their session. */
START_TEST (honest_mistakes)
{
    come ("a");
    for (int i = 0; i < 20; i++) {
        say (LK_SIDE_CLIENTS, "a", ONE "@h1", "router@.", "ROUTERSTATUS", "");
        say (LK_SIDE_CLIENTS, "a", ONE "@h1", "greeter@h1", "HELLO", "{}");
        say (LK_SIDE_CLIENTS, "b", ONE "@h1", "lock@h1", "LOCK", "{}");
        say (LK_SIDE_CLIENTS, "b", ONE "2@.", "router@.", "REGISTER", "{}");
        ck_assert_ptr_nonnull (strstr (next ("b"), "register first"));
        drain ("b");
    }
    ck_assert (!is_out (KEY1) && !is_out (PLACE));
    ck_assert_uint_eq (hung_up + cut_count, 0);
    say (LK_SIDE_CLIENTS, "a", ONE "@h1", "router@.", "ALIVE", "");
}
END_TEST

/*  Of processes of this host and neighbours nothing is counted. */
START_TEST (others_are_not_meant)
{
    for (int i = 0; i < 20; i++) {
        say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "NONSENSE", "");
        put_broken (LK_SIDE_LOCAL, "lock");
        put_broken (LK_SIDE_MESH, "in-h2");
    }
    ck_assert_uint_eq (router.shut_out.count, 0);
    ck_assert_uint_eq (hung_up + cut_count, 0);
}
END_TEST

/*  -------------------------------------------------------- strangers */

START_TEST (a_key_that_costs_nothing)
{
    caller_key = KEY2;
    say (LK_SIDE_CLIENTS, "a", "x@.", "router@.", "SERVERS", "");
    ck_assert_uint_eq (heard_count, 1);
    put_broken (LK_SIDE_CLIENTS, "a");
    ck_assert_uint_eq (cut_count, 1);
    ck_assert (is_out (KEY2) && is_out (PLACE));
    ck_assert (!is_admitted (KEY1));
    put_broken (LK_SIDE_CLIENTS, "a");
    ck_assert_uint_eq (cut_count, 1);
}
END_TEST

START_TEST (of_this_machine)
{
    caller_key = KEY2;
    caller_address = "127.0.0.1";
    put_broken (LK_SIDE_CLIENTS, "a");
    ck_assert (is_out (KEY2) && !is_out ("127.0.0.1"));
    ck_assert_uint_eq (router.shut_out.count, 1);
    ck_assert (is_admitted (KEY1));
}
END_TEST

static unsigned
answers (const char *connection)
{
    unsigned count = 0;
    while (next (connection)[0] != '\0') {
        count++;
    }
    return count;
}

START_TEST (ten_a_second)
{
    caller_key = KEY2;
    for (int second = 0; second < 3; second++) {
        for (int i = 0; i < 100; i++) {
            say (LK_SIDE_CLIENTS, "a", "x@.", "router@.", "ALIVE", "");
        }
        ck_assert_uint_eq (answers ("a"), LK_VISITOR_MESSAGES_MAX);
        ck_assert_uint_eq (cut_count, second == 2);
        router.now_ms += 1000;
    }
    ck_assert (is_out (KEY2));
    caller_key = KEY1;
    for (int i = 0; i < 50; i++) {
        say (LK_SIDE_CLIENTS, "b", "x@.", "router@.", "ALIVE", "");
    }
    ck_assert_uint_eq (answers ("b"), 50);
}
END_TEST

START_TEST (handshakes)
{
    for (int i = 0; i < LK_HANDSHAKES_MAX; i++) {
        ck_assert (is_admitted (KEY1));
        lk_offenders_ended (&router, PLACE);
    }
    ck_assert (!is_out (PLACE));
    for (int i = 0; i <= LK_HANDSHAKES_MAX; i++) {
        lk_offenders_ended (&router, PLACE);
        lk_offenders_ended (&router, "127.0.0.1");
    }
    ck_assert (is_out (PLACE) && !is_admitted (KEY1));
    ck_assert_uint_eq (router.shut_out.count, 1);
    settings_have ("{\"keys\":[\"m1 " KEY1 "\"]}");
    ck_assert (is_admitted (KEY1));
}
END_TEST

/*  -------------------------------------------------------- credentials */

/*  Which `caller_key` has, that no settings know. */
static void
come_by_credential (const char *connection, const lk_issuer *issuer)
{
    char body[LK_CREDENTIAL_SIZE + 200], line[LK_CREDENTIAL_SIZE];
    lk_credential one = {.role = LK_ROLE_USER, .not_after = 60};
    snprintf (one.zone, sizeof one.zone, "red");
    snprintf (one.user, sizeof one.user, "ann");
    snprintf (one.key, sizeof one.key, "%s", caller_key);
    lk_credential_sign (&one, issuer, line);
    snprintf (body, sizeof body,
              "{\"service\":\"" ONE "\",\"version\":\"1\",\"pid\":4711,"
              "\"application\":true,\"credential\":\"%s\"}",
              line);
    say (LK_SIDE_CLIENTS, connection, ONE "@.", "router@.", "REGISTER", body);
    assert_starts (next (connection), "router@h1 > " ONE "@. READY 42 ");
}

static unsigned
answers_to (const char *connection, int count)
{
    for (int i = 0; i < count; i++) {
        say (LK_SIDE_CLIENTS, connection, "x@.", "router@.", "ALIVE", "");
    }
    return answers (connection);
}

/*  It is no stranger's while one of its sessions lasts. */
START_TEST (a_key_with_a_session)
{
    char body[200];
    lk_issuer issuer;
    lk_issuer_make (&issuer);
    snprintf (body, sizeof body,
              "{\"keys\":[],\"zones\":[\"red\"],\"issuers\":[\"red %s\"]}",
              issuer.public_key);
    settings_have (body);
    come_by_credential ("a", &issuer);
    ck_assert (lk_route_has_key (&router.route, KEY1));
    ck_assert (!lk_route_has_key (&router.route, KEY2));
    ck_assert_uint_eq (answers_to ("b", 50), 50);
    put_broken (LK_SIDE_CLIENTS, "b");
    ck_assert_uint_eq (cut_count, 1);
    ck_assert (is_out (KEY1) && !is_out (PLACE));
    router.now_ms += LK_SHUT_OUT_MS;
    say (LK_SIDE_CLIENTS, "a", ONE "@h1", "router@.", "UNREGISTER", "");
    drain ("a");
    ck_assert (!lk_route_has_key (&router.route, KEY1));
    ck_assert_uint_eq (answers_to ("c", 50), LK_VISITOR_MESSAGES_MAX);
    router.now_ms += 1000;
    put_broken (LK_SIDE_CLIENTS, "c");
    ck_assert (is_out (KEY1) && is_out (PLACE));
}
END_TEST

/*  -------------------------------------------------------- told */

#define BROKEN " seconds=10 why=\"a frame that cannot be read\""

START_TEST (logged_once)
{
    keep_log ();
    come ("a");
    put_broken (LK_SIDE_CLIENTS, "a");
    assert_logged ("audit: key shut out who=m1 zone=default from=" PLACE
                   " key=bb88471d65e2659b" BROKEN);
    caller_key = KEY2;
    put_broken (LK_SIDE_CLIENTS, "b");
    assert_logged ("audit: key shut out who=? zone=? from=" PLACE
                   " key=54fcba24e9324996" BROKEN);
    assert_logged ("audit: address shut out who=? zone=? from=" PLACE
                   " key=?" BROKEN);
    router.now_ms += LK_SHUT_OUT_MS;
    caller_address = "10.7.7.8";
    for (int i = 0; i < LK_HANDSHAKES_MAX; i++) {
        lk_offenders_ended (&router, caller_address);
    }
    assert_logged ("audit: address shut out who=? zone=? from=10.7.7.8 key=? "
                   "seconds=10 why=\"handshakes that go nowhere\"");
    /*  Without a session; the same again is not told yet. */
    caller_key = KEY1;
    put_broken (LK_SIDE_CLIENTS, "c");
    ck_assert (is_out (KEY1));
    ck_assert_int_eq (count_logged ("audit:"), 4);
    router.now_ms += LK_REFUSALS_LOG_MS;
    put_broken (LK_SIDE_CLIENTS, "c");
    ck_assert_int_eq (count_logged ("audit: key shut out who=m1 "), 2);
    lk_log_set_sink (NULL);
}
END_TEST

START_TEST (told)
{
    come ("a");
    put_broken (LK_SIDE_CLIENTS, "a");
    router.now_ms += 1000;
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "ROUTERSTATUS", "");
    const char *answer = next ("lock");
    ck_assert_ptr_nonnull (
        strstr (answer, "\"shut_out\":1,\"shut_outs\":1,\"offenders\":[{"
                        "\"key\":\"" KEY1 "\",\"reason\":\"a frame that cannot "
                        "be read\",\"left_ms\":9000,\"times\":1}]"));
    router.now_ms += LK_SHUT_OUT_MS;
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "ROUTERSTATUS", "");
    answer = next ("lock");
    ck_assert_ptr_nonnull (strstr (answer, "\"shut_out\":0,\"shut_outs\":1"));
    ck_assert_ptr_null (strstr (answer, "offenders"));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("garbage");
    tcase_add_checked_fixture (tests, set_up_far, tear_down);
    tcase_add_test (tests, a_broken_frame);
    tcase_add_test (tests, unknown_commands);
    tcase_add_test (tests, lies_and_bodies);
    tcase_add_test (tests, honest_mistakes);
    tcase_add_test (tests, others_are_not_meant);
    tcase_add_test (tests, a_key_that_costs_nothing);
    tcase_add_test (tests, of_this_machine);
    tcase_add_test (tests, ten_a_second);
    tcase_add_test (tests, handshakes);
    tcase_add_test (tests, a_key_with_a_session);
    tcase_add_test (tests, logged_once);
    tcase_add_test (tests, told);
    Suite *suite = suite_create ("router_garbage");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
