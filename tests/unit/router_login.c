/*  router_login.c - tests of a router that passes log-ins on to issuers
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "login.h"
#include "router_fake.h"

#include "util/alloc.h"

#include "lib/suite.h"

#define KEY1 "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
#define KEY2 "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
#define ONE "far-bb88471d65e2659b-one"
#define LOGIN "{\"zone\":\"lab\",\"user\":\"ann\",\"password\":\"pw-1\"}"
#define PASSED                                                                 \
    "{\"zone\":\"lab\",\"user\":\"ann\",\"key\":\"" KEY2                       \
    "\",\"address\":\"10.7.7.7\",\"password\":\"pw-1\"}"

static void
set_up_far (void)
{
    set_up ();
    enter ("lock", "");
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "CLIENTKEYS",
         "{\"keys\":[\"m1 " KEY1 "\"],\"discovery\":\"anyone\"}");
    caller_key = KEY2;
    caller_address = "10.7.7.7";
    all_others = "member h";
}

static void
clear_far (void)
{
    tear_down ();
    all_others = NULL;
}

static void
logs_in (const char *connection)
{
    say (LK_SIDE_CLIENTS, connection, "x@.", "router@.", "LOGIN", LOGIN);
}

/*  A host whose router has told of an issuer; its connection from here. */
static const char *
issues (const char *host)
{
    static char out[3][32];
    static int count;
    char *own = out[count++ % 3];
    char in[32], from[80], body[100];
    all_others = NULL; /* it has no key in the settings */
    snprintf (own, sizeof out[0], "%s", link_host (host));
    all_others = "member h";
    snprintf (in, sizeof in, "in-%s", host);
    snprintf (from, sizeof from, "router@%s", host);
    snprintf (body, sizeof body,
              "{\"service\":\"issuer@%s\",\"status\":\"up\",\"pid\":7}", host);
    say (LK_SIDE_MESH, in, from, "router@h1", "STATUS", body);
    return own;
}

/*  An answer of the issuer of another host, by the word of whose router it
 *  is a service. */
static void
answers (const char *host, unsigned serial, const char *command,
         const char *body)
{
    char in[32], from[80];
    lk_bytes frame = {0};
    const lk_frame_envelope envelope = {.to = "router@h1",
                                        .from = from,
                                        .command = command,
                                        .serial = serial,
                                        .privileged = true};
    snprintf (in, sizeof in, "in-%s", host);
    snprintf (from, sizeof from, "issuer@%s", host);
    const size_t start = lk_frame_begin (&frame, &envelope);
    lk_bytes_add (&frame, body, strlen (body));
    ck_assert_int_eq (lk_frame_finish (&frame, start), LK_OK);
    put (LK_SIDE_MESH, in, &frame);
    lk_bytes_clear (&frame);
}

/*  Of this host. */
static void
answers_here (unsigned serial, const char *command, const char *body)
{
    lk_bytes frame = {0};
    add (&frame, "issuer@h1", "router@.", command, serial, body);
    put (LK_SIDE_LOCAL, "issuer", &frame);
    lk_bytes_clear (&frame);
}

#define PASSED_LAST                                                            \
    "{\"zone\":\"lab\",\"user\":\"ann\",\"key\":\"" KEY2                       \
    "\",\"address\":\"10.7.7.7\",\"password\":\"pw-1\",\"last\":true}"
#define NO_ISSUER                                                              \
    "router@h1 > x@. LOGINFAILED 42 {\"error\":\"unknown\",\"reason\":\"no "   \
    "host "                                                                    \
    "of the cluster issues credentials\"}"
#define UNKNOWN_ZONE "{\"error\":\"unknown\",\"reason\":\"not here\"}"

/*  -------------------------------------------------------- of this host */

START_TEST (passed_on)
{
    enter ("issuer", "");
    logs_in ("a");
    assert_next ("issuer", "router@h1 > issuer@h1 LOGIN 1 " PASSED);
    assert_next ("a", "");
    answers_here (1, "LOGIN", "{\"credential\":\"line\"}");
    assert_next ("a", "router@h1 > x@. LOGIN 42 {\"credential\":\"line\"}");
    answers_here (1, "LOGIN", "{\"credential\":\"line\"}");
    assert_next ("a", "");
    assert_next ("issuer", "");
    ck_assert_uint_eq (router.logins.count, 0);
}
END_TEST

/*  Nothing of it can be read afterwards in what is the router's. */
START_TEST (wiped)
{
    static const char password[] = "\"pw-1\"";
    lk_bytes frame = {0};
    lk_part part;
    const lk_identity identity = by ("a");
    enter ("issuer", "");
    add (&frame, "x@.", "router@.", "LOGIN", 42, LOGIN);
    lk_part_init (&part);
    lk_part_fill (&part, frame.data, frame.size);
    ck_assert_ptr_nonnull (memmem (lk_part_data (&part), lk_part_size (&part),
                                   password, sizeof password - 1));
    lk_forward_frame (&router, LK_SIDE_CLIENTS, &identity, &part);
    ck_assert_ptr_null (memmem (lk_part_data (&part), lk_part_size (&part),
                                password, sizeof password - 1));
    ck_assert_ptr_null (memmem (router.scratch.data, router.scratch.size,
                                password, sizeof password - 1));
    lk_part_clear (&part);
    lk_bytes_clear (&frame);
    ck_assert_ptr_nonnull (strstr (next ("issuer"), password));
}
END_TEST

START_TEST (failed)
{
    enter ("issuer", "");
    logs_in ("a");
    answers_here (1, "LOGINFAILED",
                  "{\"error\":\"overloaded\",\"reason\":\"wait\",\"wait\":8}");
    assert_next ("a", "router@h1 > x@. LOGINFAILED 42 {\"error\":\"overloaded\""
                      ",\"reason\":\"wait\",\"wait\":8}");
    logs_in ("a");
    answers_here (2, "LOGINFAILED", "{}");
    assert_next ("a", "router@h1 > x@. LOGINFAILED 42 {\"error\":\"invalid\"}");
    logs_in ("a");
    answers_here (3, "LOGIN", "{}");
    ck_assert_ptr_nonnull (strstr (next ("a"), "issued nonsense"));
    /*  One that does not know the command. */
    logs_in ("a");
    answers_here (4, "UNKNOWN", "{}");
    assert_next ("a", NO_ISSUER);
}
END_TEST

/*  The first that does not issue for it refuses it as one that is not there,
 *  with its own words and in its own time. */
START_TEST (issued_nowhere)
{
    const char *two = issues ("h2");
    enter ("issuer", "");
    drain (two);
    logs_in ("a");
    drain ("issuer");
    answers_here (1, "LOGINFAILED", UNKNOWN_ZONE);
    drain (two);
    answers ("h2", 1, "LOGINFAILED", UNKNOWN_ZONE);
    assert_next ("a", "");
    assert_next (two, "");
    assert_next ("issuer", "router@h1 > issuer@h1 LOGIN 1 " PASSED_LAST);
    answers_here (1, "LOGINFAILED", "{\"error\":\"denied\",\"reason\":\"no\"}");
    assert_next ("a", "router@h1 > x@. LOGINFAILED 42 {\"error\":\"denied\","
                      "\"reason\":\"no\"}");
    /*  Where others must not be told passwords, too. */
    logs_in ("a");
    drain ("issuer");
    all_others = "";
    answers_here (2, "LOGINFAILED", UNKNOWN_ZONE);
    assert_next ("a", "");
    assert_starts (next ("issuer"), "router@h1 > issuer@h1 LOGIN 2 ");
    answers_here (2, "LOGINFAILED", UNKNOWN_ZONE);
    ck_assert_ptr_nonnull (strstr (next ("a"), "\"error\":\"unknown\""));
    ck_assert_uint_eq (router.logins.count, 0);
}
END_TEST

START_TEST (no_answer)
{
    enter ("issuer", "");
    const int64_t begun_ms = router.now_ms;
    logs_in ("a");
    ck_assert_int_eq (lk_router_deadline (&router),
                      begun_ms + LK_ASKED_LOGIN_MS);
    router.now_ms += LK_ASKED_LOGIN_MS - 1;
    lk_login_work (&router);
    assert_next ("a", "");
    router.now_ms++;
    lk_login_work (&router);
    ck_assert_ptr_nonnull (strstr (next ("a"), "\"error\":\"timedout\""));
    answers_here (1, "LOGIN", "{\"credential\":\"line\"}");
    assert_next ("a", "");
}
END_TEST

START_TEST (no_issuer)
{
    logs_in ("a");
    assert_next ("a", NO_ISSUER);
    ck_assert_uint_eq (router.logins.count, 0);
}
END_TEST

START_TEST (nonsense)
{
    char body[1400];
    enter ("issuer", "");
    static const char *const wrong[] = {
        "{}",
        "{\"user\":\"ann\"}",
        "{\"user\":\"ann\",\"password\":\"\"}",
        "{\"user\":\"\",\"password\":\"x\"}",
        "{\"user\":\"ann\",\"password\":7}",
        "{\"zone\":7,\"user\":\"ann\",\"password\":\"x\"}",
        "{\"zone\":\"a234567890123456789012345678901234567890123456789012345678"
        "901234\",\"user\":\"ann\",\"password\":\"x\"}",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        say (LK_SIDE_CLIENTS, "a", "x@.", "router@.", "LOGIN", wrong[i]);
        assert_starts (next ("a"), "router@h1 > x@. LOGINFAILED 42 {\"error\":"
                                   "\"invalid\",");
        router.now_ms += 1000;
    }
    snprintf (body, sizeof body, "{\"user\":\"ann\",\"password\":\"%01024d\"}",
              7);
    say (LK_SIDE_CLIENTS, "a", "x@.", "router@.", "LOGIN", body);
    ck_assert_ptr_nonnull (strstr (next ("a"), "invalid"));
    assert_next ("issuer", "");
    /*  The zone may be left out. */
    say (LK_SIDE_CLIENTS, "a", "x@.", "router@.", "LOGIN",
         "{\"user\":\"ann\",\"password\":\"x\"}");
    ck_assert_ptr_nonnull (strstr (next ("issuer"), "\"zone\":\"default\""));
}
END_TEST

START_TEST (so_many)
{
    char address[32];
    enter ("issuer", "");
    caller_key = KEY1; /* which may say more than ten a second */
    for (int i = 0; i < LK_ASKED_LOGINS_MAX; i++) {
        snprintf (address, sizeof address, "10.7.7.%d",
                  i / LK_ASKED_LOGINS_OF_ADDRESS_MAX);
        caller_address = address;
        logs_in ("a");
        assert_next ("a", "");
    }
    caller_address = "10.7.7.9";
    logs_in ("a");
    assert_next ("a", "router@h1 > x@. LOGINFAILED 42 {\"error\":\"overloaded\""
                      ",\"reason\":\"too many log in just now\",\"wait\":1}");
    answers_here (1, "LOGINFAILED", "{\"error\":\"denied\"}");
    drain ("a");
    caller_address = "10.7.7.1";
    logs_in ("a");
    ck_assert_ptr_nonnull (strstr (next ("a"), "overloaded"));
    caller_address = "10.7.7.0";
    logs_in ("a");
    assert_next ("a", "");
}
END_TEST

START_TEST (local_sessions)
{
    enter ("issuer", "");
    enter ("app", "");
    say (LK_SIDE_LOCAL, "app", "app@h1", "router@.", "LOGIN", LOGIN);
    ck_assert_ptr_nonnull (strstr (next ("app"), "the public key of a client"));
    say (LK_SIDE_LOCAL, "app", "app@h1", "router@.", "LOGIN",
         "{\"user\":\"ann\",\"password\":\"x\",\"key\":\"" KEY1 "\"}");
    const char *asked = next ("issuer");
    ck_assert_ptr_nonnull (strstr (asked, "\"key\":\"" KEY1 "\""));
    ck_assert_ptr_nonnull (strstr (asked, "\"address\":\"uid-7@h1\""));
    answers_here (1, "LOGIN", "{\"credential\":\"line\"}");
    assert_next ("app",
                 "router@h1 > app@h1 LOGIN 42 {\"credential\":\"line\"}");
    say (LK_SIDE_LOCAL, "app", "app@h1", "router@.", "RENEW", "");
    ck_assert_ptr_nonnull (strstr (next ("app"), "no credential of a log-in"));
    say (LK_SIDE_LOCAL, "x", "x@.", "router@.", "LOGIN", LOGIN);
    ck_assert_ptr_nonnull (strstr (next ("x"), "register first"));
}
END_TEST

/*  -------------------------------------------------------- the log */

#define REFUSED_ANN                                                            \
    "audit: login refused who=ann zone=lab from=10.7.7.7 "                     \
    "key=54fcba24e9324996 why=\""

START_TEST (its_own_refusals)
{
    keep_log ();
    logs_in ("a");
    assert_logged (REFUSED_ANN "no host of the cluster issues credentials\"");
    logs_in ("a");
    ck_assert_int_eq (count_logged ("audit:"), 1);
    say (LK_SIDE_CLIENTS, "a", "x@.", "router@.", "LOGIN",
         "{\"zone\":\"a b\",\"user\":\"x zone=lab\",\"password\":7}");
    assert_logged ("audit: login refused who=? zone=? from=10.7.7.7 "
                   "key=54fcba24e9324996 why=\"'zone', 'user' and 'password' "
                   "are to be");
    enter ("app", "");
    say (LK_SIDE_LOCAL, "app", "app@h1", "router@.", "LOGIN", LOGIN);
    assert_logged ("audit: login refused who=ann zone=lab from=uid-7@h1 key=? "
                   "why=\"'key' is to be");
    enter ("issuer", "");
    logs_in ("a");
    router.now_ms += LK_ASKED_LOGIN_MS;
    lk_login_work (&router);
    assert_logged (REFUSED_ANN "the issuer did not answer in time\"");
    ck_assert_int_eq (count_logged ("audit:"), 4);
    ck_assert_int_eq (count_logged ("pw-1"), 0);
    lk_log_set_sink (NULL);
}
END_TEST

/*  The issuer tells of them. */
START_TEST (refusals_of_an_issuer)
{
    keep_log ();
    enter ("issuer", "");
    logs_in ("a");
    answers_here (1, "LOGINFAILED", "{\"error\":\"denied\"}");
    ck_assert_ptr_nonnull (strstr (next ("a"), "denied"));
    ck_assert_int_eq (count_logged ("audit:"), 0);
    lk_log_set_sink (NULL);
}
END_TEST

/*  Nobody fills a disk with them. */
START_TEST (refusals_are_few)
{
    char body[100];
    keep_log ();
    caller_key = KEY1; /* which may say more than ten a second */
    for (int i = 0; i < LK_REFUSALS_LINES + 5; i++) {
        snprintf (body, sizeof body, "{\"user\":\"u%d\",\"password\":\"x\"}",
                  i);
        say (LK_SIDE_CLIENTS, "a", "x@.", "router@.", "LOGIN", body);
        drain ("a");
    }
    ck_assert_int_eq (count_logged ("login refused who=u"), LK_REFUSALS_LINES);
    lk_log_set_sink (NULL);
}
END_TEST

/*  -------------------------------------------------------- of others */

/*  In the order of their names, behind this host. */
START_TEST (one_after_the_other)
{
    const char *three = issues ("h3"), *two = issues ("h2");
    enter ("issuer", "");
    drain (two);
    drain (three);
    logs_in ("a");
    assert_starts (next ("issuer"), "router@h1 > issuer@h1 LOGIN 1 ");
    assert_next (two, "");
    answers_here (1, "LOGINFAILED", UNKNOWN_ZONE);
    assert_next (two, "router@h1 > issuer@h2 LOGIN 1 " PASSED);
    assert_next (three, "");
    answers_here (1, "LOGIN", "{\"credential\":\"late\"}");
    answers ("h3", 1, "LOGIN", "{\"credential\":\"unasked\"}");
    assert_next ("a", "");
    answers ("h2", 1, "LOGINFAILED", UNKNOWN_ZONE);
    assert_next (three, "router@h1 > issuer@h3 LOGIN 1 " PASSED);
    answers ("h3", 1, "LOGIN", "{\"credential\":\"line\"}");
    assert_next ("a", "router@h1 > x@. LOGIN 42 {\"credential\":\"line\"}");
    logs_in ("a");
    answers_here (2, "LOGINFAILED", UNKNOWN_ZONE);
    answers ("h2", 2, "LOGINFAILED", "{\"error\":\"denied\"}");
    ck_assert_ptr_nonnull (strstr (next ("a"), "denied"));
    ck_assert_uint_eq (router.logins.count, 0);
}
END_TEST

/*  Its router says so. */
START_TEST (one_is_not_there)
{
    const char *two = issues ("h2"), *three = issues ("h3");
    lk_bytes frame = {0};
    logs_in ("a");
    assert_starts (next (two), "router@h1 > issuer@h2 LOGIN 1 ");
    add (&frame, "router@h3", "router@h1", "UNKNOWN", 1, "{}");
    put (LK_SIDE_MESH, "in-h3", &frame);
    assert_next (three, "");
    lk_bytes_cut (&frame, 0);
    add (&frame, "router@h2", "router@h1", "UNKNOWN", 1, "{}");
    put (LK_SIDE_MESH, "in-h2", &frame);
    assert_starts (next (three), "router@h1 > issuer@h3 LOGIN 1 ");
    lk_bytes_clear (&frame);
}
END_TEST

START_TEST (no_password_without_keys)
{
    const char *two = issues ("h2");
    all_others = "";
    logs_in ("a");
    assert_next (two, "");
    ck_assert_ptr_nonnull (strstr (next ("a"), "with keys only"));
    all_others = NULL;
    logs_in ("a");
    assert_next (two, "");
    ck_assert_ptr_nonnull (strstr (next ("a"), "with keys only"));
    all_others = "member h2";
    logs_in ("a");
    ck_assert_ptr_nonnull (strstr (next (two), "pw-1"));
}
END_TEST

/*  -------------------------------------------------------- not one */

START_TEST (nobody_else_answers)
{
    static const char application[] =
        "{\"service\":\"issuer\",\"version\":\"1\",\"pid\":1,"
        "\"application\":true}";
    enter ("issuer", "");
    enter ("other", "");
    logs_in ("a");
    drain ("issuer");
    lk_bytes frame = {0};
    add (&frame, "other@h1", "router@.", "LOGIN", 1, "{\"credential\":\"l\"}");
    add (&frame, "other@h1", "router@.", "LOGINFAILED", 1, "{}");
    add (&frame, "other@h1", "router@.", "UNKNOWN", 1, "{}");
    put (LK_SIDE_LOCAL, "other", &frame);
    lk_bytes_clear (&frame);
    say (LK_SIDE_CLIENTS, "b", "issuer@h1", "router@.", "LOGINFAILED", "{}");
    assert_next ("a", "");
    ck_assert_uint_eq (router.logins.count, 1);
    say (LK_SIDE_LOCAL, "issuer", "issuer@h1", "router@.", "UNREGISTER", "");
    say (LK_SIDE_LOCAL, "y", "issuer@.", "router@.", "REGISTER", application);
    ck_assert_ptr_nonnull (strstr (next ("y"), "that name is for a service"));
    /*  A process of another host asks its own router. */
    const char *two = issues ("h2");
    say (LK_SIDE_MESH, "in-h2", "other@h2", "router@h1", "LOGIN", LOGIN);
    assert_next (two, "");
    ck_assert_uint_eq (router.logins.count, 1);
}
END_TEST

/*  -------------------------------------------------------- renewal */

START_TEST (renewed)
{
    enter ("issuer", "");
    caller_key = KEY1;
    say (LK_SIDE_CLIENTS, "a", ONE "@.", "router@.", "REGISTER",
         "{\"service\":\"" ONE "\",\"version\":\"1\",\"pid\":4711,"
         "\"application\":true}");
    assert_starts (next ("a"), "router@h1 > " ONE "@. READY 42 ");
    lk_person *person =
        &lk_route_by_service (&router.route, lk_slice_of (ONE))->person;
    say (LK_SIDE_CLIENTS, "a", ONE "@h1", "router@.", "RENEW", "");
    ck_assert_ptr_nonnull (strstr (next ("a"), "no credential of a log-in"));
    *person = (lk_person) {.zone = "lab", .user = "ann", .role = LK_ROLE_USER};
    say (LK_SIDE_CLIENTS, "a", ONE "@h1", "router@.", "RENEW", "");
    ck_assert_ptr_nonnull (strstr (next ("a"), "no credential of a log-in"));
    keep_log ();
    caller_address = "10.7.7.8";
    say (LK_SIDE_CLIENTS, "a", ONE "@h1", "router@.", "RENEW", "");
    drain ("a");
    assert_logged ("audit: renew refused who=ann zone=lab from=10.7.7.8 "
                   "key=bb88471d65e2659b why=\"your session has no credential");
    lk_log_set_sink (NULL);
    caller_address = "10.7.7.7";
    person->since = 1700000000;
    say (LK_SIDE_CLIENTS, "a", ONE "@h1", "router@.", "RENEW",
         "{\"user\":\"bob\",\"since\":1}");
    assert_next ("issuer", "router@h1 > issuer@h1 RENEW 1 {\"zone\":\"lab\","
                           "\"user\":\"ann\",\"key\":\"" KEY1
                           "\",\"address\":\"10.7.7.7\",\"since\":1700000000}");
    answers_here (1, "LOGIN", "{\"credential\":\"line\"}");
    assert_next ("a",
                 "router@h1 > " ONE "@h1 LOGIN 42 {\"credential\":\"line\"}");
    /*  It has no password, and goes anywhere. */
    const char *two = issues ("h2");
    all_others = NULL;
    say (LK_SIDE_CLIENTS, "a", ONE "@h1", "router@.", "RENEW", "");
    answers_here (2, "LOGINFAILED", UNKNOWN_ZONE);
    assert_starts (next (two), "router@h1 > issuer@h2 RENEW 2 ");
    answers ("h2", 2, "LOGINFAILED", UNKNOWN_ZONE);
    ck_assert_ptr_nonnull (
        strstr (next ("a"), "\"no host that is there issues for that zone\""));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("login");
    tcase_add_checked_fixture (tests, set_up_far, clear_far);
    tcase_add_test (tests, passed_on);
    tcase_add_test (tests, wiped);
    tcase_add_test (tests, failed);
    tcase_add_test (tests, issued_nowhere);
    tcase_add_test (tests, no_answer);
    tcase_add_test (tests, no_issuer);
    tcase_add_test (tests, nonsense);
    tcase_add_test (tests, so_many);
    tcase_add_test (tests, local_sessions);
    tcase_add_test (tests, its_own_refusals);
    tcase_add_test (tests, refusals_of_an_issuer);
    tcase_add_test (tests, refusals_are_few);
    tcase_add_test (tests, one_after_the_other);
    tcase_add_test (tests, one_is_not_there);
    tcase_add_test (tests, no_password_without_keys);
    tcase_add_test (tests, nobody_else_answers);
    tcase_add_test (tests, renewed);
    Suite *suite = suite_create ("router_login");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
