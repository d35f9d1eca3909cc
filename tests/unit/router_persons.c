/*  router_persons.c - tests of who is behind a session, and what it may say
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "callers.h"
#include "clients.h"
#include "router_fake.h"

#include "lib/suite.h"

#define KEY1 "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
#define KEY2 "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
#define ONE "far-bb88471d65e2659b-one"
#define NOW 1795000000
#define NOT_YOURS "{\"reason\":\"that is not yours to say\"}"

static lk_issuer issuer, other_issuer;

static void
set_up_zones (void)
{
    char body[400];
    set_up ();
    router.now_s = NOW;
    lk_issuer_make (&issuer);
    lk_issuer_make (&other_issuer);
    enter ("lock", "\"STATUS\"");
    snprintf (body, sizeof body,
              "{\"keys\":[\"m1 %s\"],\"zones\":[\"red\",\"blue\"],"
              "\"issuers\":[\"red %s\",\"default %s\"]}",
              KEY2, issuer.public_key, issuer.public_key);
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "CLIENTKEYS", body);
    drain ("lock");
    caller_key = KEY1;
}

/*  -------------------------------------------------------- processes */

/*  An application registers; what is answered. */
static const char *
comes (lk_side side, const char *connection, const char *more)
{
    char from[80], body[1200];
    const char *name = side == LK_SIDE_CLIENTS ? ONE : "backup-4711";
    snprintf (from, sizeof from, "%s@.", name);
    snprintf (body, sizeof body,
              "{\"service\":\"%s\",\"version\":\"1\",\"pid\":4711,"
              "\"application\":true%s}",
              name, more);
    say (side, connection, from, "router@.", "REGISTER", body);
    const char *answer = next (connection);
    const char *command = strstr (answer, "@. ");
    return command != NULL ? command + strlen ("@. ") : answer;
}

static void
set_line (const char *owner, id_t id, const char *zone, lk_role role)
{
    lk_local_zone line = {.is_group = owner[0] == '@', .id = id, .role = role};
    snprintf (line.zone, sizeof line.zone, "%s", zone);
    lk_zones_set_local (&router.zones, &line, 1);
}

static const struct {
    lk_side side;
    const char *connection;
    const char *owner;
    id_t id;
    const char *zone;
    lk_role role;
    const char *said; /* by READY */
} locals[] = {
    {LK_SIDE_LOCAL, "user", "", 0, "red", LK_ROLE_USER,
     "\"role\":\"user\",\"user\":\"1000\"}"},
    {LK_SIDE_ADMIN, "user", "", 1000, "red", LK_ROLE_USER,
     "\"role\":\"admin\",\"user\":\"1000\"}"},
    {LK_SIDE_LOCAL, "root", "", 0, "red", LK_ROLE_USER,
     "\"role\":\"admin\",\"user\":\"0\"}"},
    {LK_SIDE_LOCAL, "own", "", OWN_USER, "red", LK_ROLE_USER,
     "\"role\":\"admin\",\"user\":\"7\"}"},
    {LK_SIDE_LOCAL, "user", "", 1000, "red", LK_ROLE_OPERATOR,
     "\"zone\":\"red\",\"role\":\"operator\",\"user\":\"1000\"}"},
    {LK_SIDE_LOCAL, "user", "", 1000, "default", LK_ROLE_OBSERVER,
     "\"role\":\"observer\",\"user\":\"1000\"}"},
    {LK_SIDE_LOCAL, "user", "@", 50, "red", LK_ROLE_USER,
     "\"zone\":\"red\",\"role\":\"user\",\"user\":\"1000\"}"},
    {LK_SIDE_LOCAL, "user", "@", 1000, "red", LK_ROLE_USER,
     "\"role\":\"user\",\"user\":\"1000\"}"},
};

START_TEST (of_this_host)
{
    set_line (locals[_i].owner, locals[_i].id, locals[_i].zone,
              locals[_i].role);
    const char *ready = comes (locals[_i].side, locals[_i].connection, "");
    const char *fields = strstr (ready, "\"address\":\"10.0.0.1:1\",");
    ck_assert_ptr_nonnull (fields);
    ck_assert_str_eq (fields + strlen ("\"address\":\"10.0.0.1:1\","),
                      locals[_i].said);
}
END_TEST

/*  A process says a command to the router. */
static const char *
told (lk_side side, const char *connection, const char *command)
{
    static char answer[2048];
    const char *name = side == LK_SIDE_CLIENTS ? ONE "@h1" : "backup-4711@h1";
    say (side, connection, name, "router@.", command, "{}");
    snprintf (answer, sizeof answer, "%s", next (connection));
    return answer;
}

static const char *const of_admins[] = {
    "CLUSTER",  "FORGET", "INVITE",     "KEYS",         "CLIENTKEYS",
    "HOSTKEYS", "STOP",   "ROTATEKEYS", "RELOADCONFIG", "SHUTDOWN",
};

START_TEST (users_are_no_admins)
{
    assert_starts (comes (LK_SIDE_LOCAL, "user", ""), "READY ");
    for (size_t i = 0; i < sizeof of_admins / sizeof of_admins[0]; i++) {
        ck_assert_ptr_nonnull (
            strstr (told (LK_SIDE_LOCAL, "user", of_admins[i]),
                    "INVALID 42 {\"reason\":\"that needs the role admin, you "
                    "are user\"}"));
    }
    ck_assert_int_eq (stopped + reloaded, 0);
    ck_assert_ptr_nonnull (
        strstr (told (LK_SIDE_LOCAL, "user", "COMMANDS"), "\"STOP\""));
    ck_assert_ptr_nonnull (
        strstr (told (LK_SIDE_LOCAL, "user", "LOG"), " LOG 42 "));
}
END_TEST

START_TEST (observers_are_no_users)
{
    set_line ("", 1000, "default", LK_ROLE_OBSERVER);
    assert_starts (comes (LK_SIDE_LOCAL, "user", ""), "READY ");
    ck_assert_ptr_nonnull (
        strstr (told (LK_SIDE_LOCAL, "user", "LOG"),
                "that needs the role user, you are observer"));
    ck_assert_ptr_nonnull (
        strstr (told (LK_SIDE_LOCAL, "user", "ROUTERSTATUS"), " 42 {"));
}
END_TEST

START_TEST (admins_are)
{
    assert_starts (comes (LK_SIDE_ADMIN, "user", ""), "READY ");
    (void) told (LK_SIDE_ADMIN, "user", "RELOADCONFIG");
    (void) told (LK_SIDE_ADMIN, "user", "STOP");
    (void) told (LK_SIDE_ADMIN, "user", "SHUTDOWN");
    ck_assert_int_eq (reloaded, 1);
    ck_assert_int_eq (stopped, 2);
    ck_assert_ptr_nonnull (
        strstr (told (LK_SIDE_ADMIN, "user", "KEYS"), " KEYS 42 "));
    /*  Services are of the same users as ever. */
    say (LK_SIDE_ADMIN, "user2", "x@.", "router@.", "REGISTER",
         "{\"service\":\"x\",\"version\":\"1\",\"pid\":3}");
    ck_assert_ptr_nonnull (strstr (next ("user2"), " REFUSE 42 "));
}
END_TEST

/*  -------------------------------------------------------- another zone */

static void
come_red (void)
{
    set_line ("", 1000, "red", LK_ROLE_OPERATOR);
    assert_starts (comes (LK_SIDE_LOCAL, "user",
                          ",\"subscribe\":[\"STATUS:lock\",\"SERVERS\"]"),
                   "READY ");
}

START_TEST (what_other_zones_may_say)
{
    static const char *const nobody[] = {"greeter@.", "lock@h2", "router@h2",
                                         "lock@?",    "x@h1",    "lock@h9"};
    static const char *const all[] = {"lock@*", "*@.", "*@*", "router@*"};
    const char *out = link_host ("h2");
    enter ("greeter", "\"NEWS\"");
    come_red ();
    drain ("user");
    drain ("lock");
    drain (out);
    for (size_t i = 0; i < sizeof nobody / sizeof nobody[0]; i++) {
        say (LK_SIDE_LOCAL, "user", "backup-4711@h1", nobody[i], "NEWS", "{}");
        assert_next ("user", "router@h1 > *@. INVALID 42 " NOT_YOURS);
    }
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        say (LK_SIDE_LOCAL, "user", "backup-4711@h1", all[i], "NEWS", "{}");
        assert_next ("user", "");
    }
    assert_next ("greeter", "");
    assert_next ("lock", "");
    assert_next (out, "");
    say (LK_SIDE_LOCAL, "user", "backup-4711@h1", "lock@.", "LOCK", "{}");
    assert_next ("lock", "backup-4711@h1 > lock@. LOCK 42 {}");
    say (LK_SIDE_LOCAL, "user", "backup-4711@h1", "lock@h1", "LOCK", "{}");
    assert_next ("lock", "backup-4711@h1 > lock@h1 LOCK 42 {}");
}
END_TEST

START_TEST (what_other_zones_are_told)
{
    static const char *const not [] = {"CLUSTERSTATUS", "ROUTERSTATUS", "LOG",
                                       "STOP", "FORGET"};
    come_red ();
    ck_assert_ptr_nonnull (strstr (next ("user"), "\"service\":\"lock@h1\""));
    ck_assert_ptr_nonnull (strstr (next ("user"), " SERVERS 0"));
    for (size_t i = 0; i < sizeof not / sizeof not [0]; i++) {
        ck_assert_ptr_nonnull (
            strstr (told (LK_SIDE_LOCAL, "user", not [i]), NOT_YOURS));
    }
    ck_assert_ptr_nonnull (
        strstr (told (LK_SIDE_LOCAL, "user", "COMMANDS"),
                "[\"ABSOLUTELY\",\"ALIVE\",\"COMMANDS\",\"INVALID\","
                "\"LOGIN\",\"REGISTER\",\"RENEW\",\"SERVERS\","
                "\"SERVICESTATUS\",\"SUBSCRIBE\","
                "\"TRANSMISSIONREPORT\",\"UNKNOWN\",\"UNREGISTER\"]"));
    /*  Its own lock service, and no other's. */
    const char *out = link_host ("h2");
    say (LK_SIDE_MESH, "in-h2", "router@h2", "router@h1", "STATUS",
         "{\"service\":\"lock@h2\",\"status\":\"up\"}");
    drain (out);
    ck_assert_ptr_nonnull (router.directory.first);
    assert_next ("user", "");
    say (LK_SIDE_LOCAL, "user", "backup-4711@h1", "router@.", "SERVICESTATUS",
         "{\"service\":\"lock@h2\"}");
    ck_assert_ptr_nonnull (strstr (next ("user"), NOT_YOURS));
    say (LK_SIDE_LOCAL, "user", "backup-4711@h1", "router@.", "SERVICESTATUS",
         "{\"service\":\"lock\"}");
    ck_assert_ptr_nonnull (strstr (next ("user"), "\"status\":\"up\""));
    say (LK_SIDE_LOCAL, "user", "backup-4711@h1", "router@.", "SUBSCRIBE",
         "{\"commands\":[\"LOCKREADY\"]}");
    ck_assert_ptr_nonnull (strstr (next ("user"), NOT_YOURS));
    /*  One that comes later. */
    ck_assert_ptr_nonnull (
        strstr (told (LK_SIDE_LOCAL, "user", "UNREGISTER"), ""));
    assert_starts (comes (LK_SIDE_LOCAL, "user", ",\"subscribe\":[\"STATUS\"]"),
                   "REFUSE 42 " NOT_YOURS);
    assert_starts (
        comes (LK_SIDE_LOCAL, "user", ",\"subscribe\":[\"STATUS:lock\"]"),
        "READY ");
    ck_assert_ptr_nonnull (strstr (next ("user"), "\"service\":\"lock@h1\""));
    assert_next ("user", "");
}
END_TEST

/*  -------------------------------------------------------- the flag */

START_TEST (the_router_alone_sets_the_flag)
{
    enter_keeper ();
    assert_starts (comes (LK_SIDE_LOCAL, "user", ""), "READY ");
    say_flagged (LK_SIDE_LOCAL, "user", "backup-4711@h1", "keeper@.", "NEWS",
                 "{}");
    ck_assert (!is_privileged ("keeper"));
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "keeper@.", "NEWS", "{}");
    ck_assert (is_privileged ("keeper"));
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "*@.", "NEWS", "{}");
    ck_assert (!is_privileged ("keeper"));
    /*  Others take it for a broken frame. */
    say (LK_SIDE_LOCAL, "keeper", "keeper@h1", "backup-4711@h1", "NEWS", "{}");
    ck_assert (!is_privileged ("user"));
    say (LK_SIDE_LOCAL, "user", "backup-4711@h1", "router@.", "UNREGISTER", "");
    assert_starts (comes (LK_SIDE_ADMIN, "user", ""), "READY ");
    say (LK_SIDE_ADMIN, "user", "backup-4711@h1", "keeper@.", "NEWS", "{}");
    ck_assert (is_privileged ("keeper"));
}
END_TEST

START_TEST (the_flag_between_hosts)
{
    const char *out = link_host ("h2");
    enter_keeper ();
    drain (out);
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "x@h2", "NEWS", "{}");
    ck_assert (!is_privileged (out));
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "x@*", "NEWS", "{}");
    ck_assert (!is_privileged (out));
    lk_mesh_by_host (&router.mesh, lk_slice_of ("h2"))->privileged = true;
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "x@h2", "NEWS", "{}");
    ck_assert (is_privileged (out));
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "x@*", "NEWS", "{}");
    ck_assert (is_privileged (out));
    assert_starts (comes (LK_SIDE_LOCAL, "user", ""), "READY ");
    say_flagged (LK_SIDE_LOCAL, "user", "backup-4711@h1", "x@h2", "NEWS", "{}");
    ck_assert (!is_privileged (out));
    say_flagged (LK_SIDE_MESH, "in-h2", "x@h2", "keeper@h1", "NEWS", "{}");
    ck_assert (is_privileged ("keeper"));
    /*  A command of another host's process. */
    say (LK_SIDE_MESH, "in-h2", "x@h2", "router@h1", "FORGET",
         "{\"name\":\"h9\"}");
    ck_assert_ptr_nonnull (
        strstr (next (out), "that needs the role admin, you are user"));
    say_flagged (LK_SIDE_MESH, "in-h2", "x@h2", "router@h1", "FORGET",
                 "{\"name\":\"h9\"}");
    ck_assert_ptr_nonnull (strstr (next (out), " FORGET 42 "));
    say (LK_SIDE_MESH, "in-h2", "x@h2", "router@h1", "ROUTERSTATUS", "");
    ck_assert_ptr_nonnull (strstr (next (out), " ROUTERSTATUS 42 "));
}
END_TEST

/*  -------------------------------------------------------- credentials */

/*  As it is in REGISTER. */
static const char *
credential (const char *zone, const char *user, lk_role role, int64_t from,
            int64_t until)
{
    static char field[LK_CREDENTIAL_SIZE + 32];
    char line[LK_CREDENTIAL_SIZE];
    lk_credential one = {.role = role, .not_before = from, .not_after = until};
    snprintf (one.zone, sizeof one.zone, "%s", zone);
    snprintf (one.user, sizeof one.user, "%s", user);
    snprintf (one.key, sizeof one.key, KEY1);
    lk_credential_sign (&one, &issuer, line);
    snprintf (field, sizeof field, ",\"credential\":\"%s\"", line);
    return field;
}

static const char *
red (int64_t until)
{
    return credential ("red", "alice", LK_ROLE_USER, NOW - 10, until);
}

static const lk_local *
session (void)
{
    return lk_route_by_service (&router.route, lk_slice_of (ONE));
}

START_TEST (who_has_none)
{
    char user[LK_CURVE_USER_SIZE];
    ck_assert (lk_callers_admit (&router, KEY1, "1.2.3.4", user));
    assert_starts (comes (LK_SIDE_CLIENTS, "a", ""),
                   "REFUSE 42 {\"reason\":\"log in first\"}");
    ck_assert_ptr_nonnull (strstr (told (LK_SIDE_CLIENTS, "a", "SERVERS"),
                                   "{\"reason\":\"log in first\"}"));
    ck_assert_ptr_nonnull (
        strstr (told (LK_SIDE_CLIENTS, "a", "ALIVE"), " ABSOLUTELY 42"));
    ck_assert_ptr_nonnull (
        strstr (told (LK_SIDE_CLIENTS, "a", "COMMANDS"), "register first"));
    say (LK_SIDE_CLIENTS, "a", ONE "@.", "lock@h1", "LOCK", "{}");
    ck_assert_ptr_nonnull (strstr (next ("a"), "register first"));
    /*  Without any issuer or authority nobody is let in. */
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "CLIENTKEYS",
         "{\"keys\":[],\"zones\":[\"red\"]}");
    ck_assert (!lk_callers_admit (&router, KEY1, "1.2.3.4", user));
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "CLIENTKEYS",
         "{\"keys\":[],\"zones\":[\"red authority=corp\"]}");
    ck_assert (lk_callers_admit (&router, KEY1, "1.2.3.4", user));
}
END_TEST

/*  Another role begins with another session. */
START_TEST (roles_of_keys)
{
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "CLIENTKEYS",
         "{\"keys\":[\"m1 " KEY1 " operator\"]}");
    assert_starts (comes (LK_SIDE_CLIENTS, "a", ""), "READY 42 ");
    ck_assert_int_eq (session ()->person.role, LK_ROLE_OPERATOR);
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "CLIENTKEYS",
         "{\"keys\":[\"m1 " KEY1 " operator\",\"m2 " KEY2 "\"]}");
    ck_assert_ptr_nonnull (session ());
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "CLIENTKEYS",
         "{\"keys\":[\"m1 " KEY1 "\"]}");
    ck_assert_ptr_null (session ());
    assert_starts (comes (LK_SIDE_CLIENTS, "b", ""), "READY 42 ");
    ck_assert_int_eq (session ()->person.role, LK_ROLE_USER);
}
END_TEST

START_TEST (one_that_counts)
{
    assert_starts (comes (LK_SIDE_CLIENTS, "a", red (NOW + 60)), "READY 42 ");
    const char *status = next ("lock");
    ck_assert_ptr_nonnull (
        strstr (status, "\"key\":\"" KEY1 "\",\"zone\":\"red\",\"user\":"
                        "\"alice\",\"role\":\"user\",\"until\":1795000060}"));
    say (LK_SIDE_CLIENTS, "a", ONE "@h1", "lock@.", "LOCK", "{}");
    assert_next ("lock", ONE "@h1 > lock@. LOCK 42 {}");
    ck_assert_ptr_nonnull (
        strstr (told (LK_SIDE_CLIENTS, "a", "ROUTERSTATUS"), NOT_YOURS));
}
END_TEST

START_TEST (admins_of_zones)
{
    assert_starts (
        comes (LK_SIDE_CLIENTS, "a",
               credential ("red", "bob", LK_ROLE_ADMIN, NOW, NOW + 60)),
        "READY ");
    ck_assert_int_eq (session ()->person.role, LK_ROLE_OPERATOR);
    (void) told (LK_SIDE_CLIENTS, "a", "UNREGISTER");
    assert_starts (
        comes (LK_SIDE_CLIENTS, "a",
               credential ("default", "bob", LK_ROLE_ADMIN, NOW, NOW + 60)),
        "READY ");
    ck_assert_int_eq (session ()->person.role, LK_ROLE_ADMIN);
    ck_assert_str_eq (session ()->person.zone, "");
    ck_assert_ptr_nonnull (
        strstr (told (LK_SIDE_CLIENTS, "a", "STOP"), NOT_YOURS));
    ck_assert_int_eq (stopped, 0);
}
END_TEST

/*  Refusals of a credential that does not count. */
static void
is_refused (const char *field, const char *reason)
{
    char wanted[200];
    snprintf (wanted, sizeof wanted, "REFUSE 42 {\"reason\":\"%s\"}", reason);
    ck_assert_str_eq (comes (LK_SIDE_CLIENTS, "a", field), wanted);
    ck_assert_ptr_null (session ());
}

START_TEST (ones_that_do_not)
{
    static char changed[LK_CREDENTIAL_SIZE + 32];
    is_refused (red (NOW), "the credential has ended");
    is_refused (credential ("red", "alice", LK_ROLE_USER, NOW + 61, NOW + 99),
                "the credential does not count yet");
    is_refused (credential ("blue", "alice", LK_ROLE_USER, NOW, NOW + 60),
                "the issuer of the credential does not speak for that zone");
    is_refused (",\"credential\":\"x\"", "that is no credential");
    snprintf (changed, sizeof changed, "%s", red (NOW + 60));
    memcpy (strstr (changed, "alice"), "clare", 5);
    is_refused (changed, "the credential was changed since it was issued");
    snprintf (changed, sizeof changed, "%s", red (NOW + 60));
    caller_key = KEY2;
    say (LK_SIDE_CLIENTS, "b", "far-54fcba24e9324996-x@.", "router@.",
         "REGISTER", "{}");
    drain ("b");
    is_refused (changed, "the credential is of another key");
    caller_key = KEY1;
    const lk_issuer mine = issuer;
    issuer = other_issuer;
    is_refused (red (NOW + 60),
                "the issuer of the credential does not speak for that zone");
    issuer = mine;
}
END_TEST

START_TEST (it_is_renewed)
{
    assert_starts (comes (LK_SIDE_CLIENTS, "a", red (NOW + 60)), "READY 42 ");
    drain ("lock");
    keep_log ();
    const char *ready = comes (LK_SIDE_CLIENTS, "a", red (NOW + 600));
    ck_assert_ptr_nonnull (strstr (ready, "\"credential_left\":600}"));
    ck_assert_ptr_nonnull (strstr (next ("lock"), "\"until\":1795000600}"));
    ck_assert_str_eq (
        comes (LK_SIDE_CLIENTS, "a",
               credential ("red", "bob", LK_ROLE_USER, NOW, NOW + 900)),
        "REFUSE 42 {\"reason\":\"that is another user's session, or another "
        "zone's: begin a new one\"}");
    ck_assert_int_eq (session ()->person.until, NOW + 600);
    router.now_s = NOW + 600;
    assert_starts (comes (LK_SIDE_CLIENTS, "a", red (NOW + 600)),
                   "REFUSE 42 {\"reason\":\"the credential has ended\"}");
    assert_next ("lock", "");
    assert_logged ("audit: session renewed who=alice zone=red from=? role=user "
                   "until=1795000600 serial=");
    assert_logged (
        "audit: credential refused who=bob zone=red from=? service=");
    assert_logged (" why=\"that is another user's session, or another zone's: "
                   "begin a new one\"");
    lk_log_set_sink (NULL);
}
END_TEST

START_TEST (it_ends)
{
    assert_starts (comes (LK_SIDE_CLIENTS, "a", red (NOW + 60)), "READY 42 ");
    router.now_s = NOW + 119;
    ck_assert_int_eq (lk_router_deadline (&router), router.now_ms + 1000);
    lk_clients_work (&router);
    ck_assert_ptr_nonnull (session ());
    keep_log ();
    router.now_s++;
    lk_clients_work (&router);
    ck_assert_ptr_null (session ());
    assert_logged ("audit: session cut off who=alice zone=red from=? serial=");
    assert_logged (" why=\"its credential has ended\"");
    lk_log_set_sink (NULL);
    ck_assert_uint_eq (hung_up, 1);
    ck_assert_int_eq (router.route.far_until_s, INT64_MAX);
}
END_TEST

START_TEST (it_is_revoked)
{
    char body[300];
    assert_starts (comes (LK_SIDE_CLIENTS, "a", red (NOW + 60)), "READY 42 ");
    snprintf (body, sizeof body,
              "{\"keys\":[],\"zones\":[\"red\"],\"issuers\":[\"red %s\"],"
              "\"revoked\":[\"%016llx 1795000060\"]}",
              issuer.public_key,
              (unsigned long long) session ()->person.serial);
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "CLIENTKEYS", body);
    ck_assert_ptr_null (session ());
    ck_assert_uint_eq (hung_up, 1);
    /*  Another one counts, as long as its issuer does. */
    assert_starts (comes (LK_SIDE_CLIENTS, "a", red (NOW + 60)), "READY 42 ");
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "CLIENTKEYS",
         "{\"keys\":[],\"zones\":[\"red authority=corp\"]}");
    ck_assert_ptr_null (session ());
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("persons");
    tcase_add_checked_fixture (tcase, set_up_zones, tear_down);
    tcase_add_loop_test (tcase, of_this_host, 0,
                         sizeof locals / sizeof locals[0]);
    tcase_add_test (tcase, users_are_no_admins);
    tcase_add_test (tcase, observers_are_no_users);
    tcase_add_test (tcase, admins_are);
    tcase_add_test (tcase, what_other_zones_may_say);
    tcase_add_test (tcase, what_other_zones_are_told);
    tcase_add_test (tcase, the_router_alone_sets_the_flag);
    tcase_add_test (tcase, the_flag_between_hosts);
    tcase_add_test (tcase, who_has_none);
    tcase_add_test (tcase, one_that_counts);
    tcase_add_test (tcase, roles_of_keys);
    tcase_add_test (tcase, admins_of_zones);
    tcase_add_test (tcase, ones_that_do_not);
    tcase_add_test (tcase, it_is_renewed);
    tcase_add_test (tcase, it_ends);
    tcase_add_test (tcase, it_is_revoked);
    Suite *suite = suite_create ("router_persons");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
