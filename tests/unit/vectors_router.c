/*  vectors_router.c - the examples of tests/vectors are what routers say
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Examples that a router hears are put in as they are; what it says then has
 *  to be an example, field by field. The router is that of h1, or of h2.
 */

#include "router_fake.h"

#include "gossip.h"

#include "util/alloc.h"

#include "lib/suite.h"
#include "lib/vector.h"

#define IN "in-neighbour" /* the connection of a neighbour to us */

/*  -------------------------------------------------------- in and out */

static void
hear (lk_side side, const char *connection, const char *example)
{
    put (side, connection, &lk_vector_find (example)->frame);
}

/*  The next message for a connection; the caller owns it. */
static lk_message *
said (const char *connection, const char *example, bool *crossed)
{
    lk_frame_header header;
    char problem[128], from[LK_ADDRESS_LEN_MAX + 1];
    ck_assert_msg (next_header (connection, &header), "%s: nothing was said",
                   example);
    *crossed = header.crossed;
    lk_message *message = lk_message_read (&header, problem, sizeof problem);
    ck_assert_ptr_nonnull (message);
    lk_slice_keep (header.from, from, sizeof from);
    lk_message_set_from (message, from);
    return message;
}

static void
compare (lk_message *message, bool crossed, const char *example)
{
    const lk_vector *wanted = lk_vector_find (example);
    const char *own =
        json_string_value (json_object_get (wanted->body, "version"));
    const char *version = lk_message_text (message, "version");
    if (own && version && strcmp (version, LK_VERSION) == 0) {
        lk_message_set_text (message, "version", own);
    }
    const char *difference = lk_vector_differs (wanted, message);
    ck_assert_msg (difference[0] == '\0', "%s", difference);
    ck_assert_msg (crossed == wanted->crossed, "%s: crossed", example);
    lk_message_destroy (&message);
}

/*  The next message for a connection is the example. */
static void
says (const char *connection, const char *example)
{
    bool crossed;
    lk_message *message = said (connection, example, &crossed);
    compare (message, crossed, example);
}

static void
is_quiet (const char *connection)
{
    ck_assert_str_eq (next (connection), "");
}

/*  -------------------------------------------------------- hosts */

static void
set_up_h1 (void)
{
    begin ("h1", "10.0.0.1:7200", 0x5d3c8a9e01f72b64u);
}

static void
set_up_h2 (void)
{
    begin ("h2", "10.0.0.2:7200", 0xe07b4412c9aa6d18u);
}

/*  The neighbours that h1 is configured with; the first is dialled by "out1",
 *  and stands; h2 has not connected to us yet. */
static void
dial (bool two)
{
    const char *const addresses[] = {"10.0.0.2:7200",
                                     two ? "10.0.0.3:7200" : NULL, NULL};
    lk_neighbour_configure (&router, addresses);
    lk_neighbour_work (&router);
    our_own ("out1", true);
}

#define OF(host, number, incarnation)                                          \
    "{\"host\":\"" host "\",\"address\":\"10.0.0." number ":7200\","           \
    "\"version\":\"0.1.0\",\"incarnation\":\"" incarnation "\","               \
    "\"ways\":true}"
#define H2 OF ("h2", "2", "e07b4412c9aa6d18")

/*  h2 takes us, and we take it: live. */
static void
link_h2 (void)
{
    says ("out1", "connect");
    hear (LK_SIDE_MESH, "out1", "accept");
    say (LK_SIDE_MESH, IN, "router@h2", "router@.", "CONNECT", H2);
    assert_starts (next (IN), "router@h1 > router@. ACCEPT 0 ");
    says ("out1", "count-first");
    hear (LK_SIDE_MESH, IN, "count");
    assert_starts (next ("out1"), "router@h1 > router@. COUNT 0 ");
}

static void
start_greeter (void)
{
    hear (LK_SIDE_LOCAL, "greeter", "register");
    says ("greeter", "ready");
    drain ("greeter");
}

static void
start_lock (int pid)
{
    char body[256];
    snprintf (body, sizeof body,
              "{\"service\":\"lock\",\"version\":\"0.1.0\",\"pid\":%d,"
              "\"application\":false,\"subscribe\":[]}",
              pid);
    say (LK_SIDE_LOCAL, "lock", "lock@.", "router@.", "REGISTER", body);
    drain ("lock");
}

/*  -------------------------------------------------------- own host */

START_TEST (sessions)
{
    hear (LK_SIDE_LOCAL, "greeter", "register");
    says ("greeter", "ready");
    hear (LK_SIDE_LOCAL, "other", "register");
    says ("other", "refuse");
    hear (LK_SIDE_LOCAL, "greeter", "unregister");
    ck_assert_uint_eq (lk_route_count (&router.route), 0);
}
END_TEST

START_TEST (small_questions)
{
    static const char *const pairs[][2] = {{"alive", "absolutely"},
                                           {"commands", "commands-answer"},
                                           {"log", "log-answer"}};
    start_greeter ();
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        hear (LK_SIDE_LOCAL, "greeter", pairs[i][0]);
        says ("greeter", pairs[i][1]);
        is_quiet ("greeter");
    }
}
END_TEST

START_TEST (what_is_not_delivered)
{
    start_greeter ();
    lk_bytes frame = {0};
    add (&frame, "greeter@h1", "nobody@.", "HELLO", 13, "{}");
    add (&frame, "greeter@h1", "router@.", "HELLO", 13, "{}");
    add (&frame, "lock@h1", "nobody@.", "HELLO", 14, "{}");
    put (LK_SIDE_LOCAL, "greeter", &frame);
    says ("greeter", "transmissionreport");
    says ("greeter", "unknown");
    says ("greeter", "invalid");
    lk_bytes_clear (&frame);
}
END_TEST

START_TEST (the_end_of_a_service)
{
    start_greeter ();
    hear (LK_SIDE_LOCAL, "greeter", "subscribe");
    start_lock (4020);
    drain ("greeter");
    lk_session_end (&router,
                    lk_route_by_service (&router.route, lk_slice_of ("lock")),
                    "process ended");
    says ("greeter", "status-down");
    is_quiet ("greeter");
}
END_TEST

START_TEST (orders)
{
    start_greeter ();
    start_lock (4020);
    dial (false);
    link_h2 ();
    drain ("out1");
    hear (LK_SIDE_LOCAL, "greeter", "reloadconfig");
    ck_assert_int_eq (reloaded, 1);
    hear (LK_SIDE_LOCAL, "greeter", "stop");
    ck_assert_int_eq (stopped, 1);
    is_quiet ("out1");
    lk_route_by_service (&router.route, lk_slice_of ("greeter"))->user = 0;
    hear (LK_SIDE_LOCAL, "greeter", "shutdown");
    ck_assert_int_eq (stopped, 2);
    says ("lock", "stop-service");
    says ("out1", "shutdown-mesh");
}
END_TEST

START_TEST (own_commands_of_services)
{
    start_greeter ();
    say (LK_SIDE_LOCAL, "backup", "backup-4711@.", "router@.", "REGISTER",
         "{\"service\":\"backup-4711\",\"pid\":4712,\"application\":true}");
    drain ("backup");
    dial (false);
    link_h2 ();
    drain ("greeter");
    drain ("out1");
    hear (LK_SIDE_LOCAL, "backup", "hello");
    says ("greeter", "hello");
    hear (LK_SIDE_LOCAL, "greeter", "greeting");
    says ("backup", "greeting");
    lk_bytes frame = {0};
    add (&frame, "backup-4711@h1", "greeter@*", "HELLO", 16,
         "{\"name\":\"all\"}");
    put (LK_SIDE_LOCAL, "backup", &frame);
    says ("out1", "hello-mesh");
    lk_bytes_clear (&frame);
}
END_TEST

/*  -------------------------------------------------------- the cluster */

/*  Two of three hosts are linked. */
static void
link_two_of_three (void)
{
    start_greeter ();
    start_lock (4020);
    dial (true);
    link_h2 ();
    drain ("out1");
    hear (LK_SIDE_MESH, IN, "status-mesh");
    drain ("greeter");
}

/*  Counters are what they are; each has to be there. */
static void
settle_counters (lk_message *status)
{
    json_t *wanted = lk_vector_find ("routerstatus-answer")->body;
#define SETTLE(name)                                                           \
    ck_assert_int_ge (lk_message_number (status, #name, -1), 0);               \
    lk_message_set_number (                                                    \
        status, #name, json_integer_value (json_object_get (wanted, #name)));
    LK_ROUTER_COUNTERS (SETTLE)
#undef SETTLE
}

START_TEST (questions_about_the_cluster)
{
    bool crossed;
    link_two_of_three ();
    hear (LK_SIDE_LOCAL, "greeter", "clusterstatus");
    says ("greeter", "clusterup");
    says ("greeter", "clusterincomplete");
    hear (LK_SIDE_LOCAL, "greeter", "servicestatus");
    says ("greeter", "status");
    say (LK_SIDE_MESH, "x", "router@h2", "router@.", "CONNECT",
         OF ("h2", "9", "0000000000000099"));
    hear (LK_SIDE_LOCAL, "greeter", "routerstatus");
    lk_message *status = said ("greeter", "routerstatus-answer", &crossed);
    settle_counters (status);
    compare (status, crossed, "routerstatus-answer");
    is_quiet ("greeter");
}
END_TEST

/*  h3 as well, whose own connection to us is "in-h3". */
static void
link_h3 (void)
{
    static const char body[] = OF ("h3", "3", "0000000000000033");
    our_own ("out2", true);
    say (LK_SIDE_MESH, "out2", "router@h3", "router@.", "ACCEPT", body);
    say (LK_SIDE_MESH, "in-h3", "router@h3", "router@.", "CONNECT", body);
}

START_TEST (events_of_hosts)
{
    start_greeter ();
    hear (LK_SIDE_LOCAL, "greeter", "subscribe");
    dial (true);
    drain ("greeter");
    link_h2 ();
    says ("greeter", "newremoteconnection");
    drain ("greeter");
    link_h3 ();
    assert_starts (next ("greeter"), "router@h1 > greeter@h1 NEWREMOTE");
    assert_starts (next ("greeter"), "router@h1 > greeter@h1 CLUSTERUP");
    says ("greeter", "clustercomplete");
    router.now_ms += 600;
    say (LK_SIDE_MESH, IN, "router@h2", "router@.", "ALIVE", "");
    router.now_ms += 600;
    lk_neighbour_work (&router);
    says ("greeter", "hangup");
    drain ("greeter");
    hear (LK_SIDE_MESH, IN, "disconnected-mesh");
    says ("greeter", "disconnected");
    says ("greeter", "clusterdown");
}
END_TEST

/*  -------------------------------------------------------- the mesh */

START_TEST (a_link_begins)
{
    dial (false);
    says ("out1", "connect");
    hear (LK_SIDE_MESH, "out1", "accept");
    is_quiet ("out1");
    ck_assert_str_eq (lk_mesh_link_state_name (router.mesh.link[0]->state),
                      "accepted");
}
END_TEST

START_TEST (heartbeats)
{
    dial (false);
    link_h2 ();
    drain ("out1");
    router.now_ms += 250;
    lk_neighbour_work (&router);
    says ("out1", "alive-heard");
}
END_TEST

START_TEST (gossip)
{
    start_lock (4020);
    hear (LK_SIDE_LOCAL, "lock", "cluster");
    dial (true);
    link_h2 ();
    hear (LK_SIDE_MESH, "caller", "gossip-question");
    says ("caller", "gossip-answer");
    link_h3 ();
    drain ("out1");
    lk_gossip_work (&router);
    is_quiet ("out1");
    router.now_ms += 250;
    lk_gossip_work (&router);
    says ("out1", "gossip");
}
END_TEST

START_TEST (a_host_is_forgotten)
{
    start_greeter ();
    lk_gossip_remember (&router, "h3", "10.0.0.3:7200");
    lk_gossip_remember (&router, "h4", "10.0.0.4:7200");
    drain ("greeter");
    hear (LK_SIDE_LOCAL, "greeter", "forget");
    assert_starts (next ("greeter"), "router@h1 > greeter@h1 CLUSTER");
    assert_starts (next ("greeter"), "router@h1 > greeter@h1 CLUSTER");
    says ("greeter", "forget-answer");
    ck_assert_uint_eq (router.mesh.count, 1);
}
END_TEST

/*  -------------------------------------------------------- keys */

/*  Of the example. */
static const char *
field_of (const char *example, const char *field)
{
    return json_string_value (
        json_object_get (lk_vector_find (example)->body, field));
}

/*  The same but for keys that were drawn. */
static void
says_drawn (const char *connection, const char *example)
{
    static const char *const drawn[] = {"key", "server_key", "secret_key"};
    bool crossed;
    lk_message *message = said (connection, example, &crossed);
    for (size_t i = 0; i < 3; i++) {
        const char *text = lk_message_text (message, drawn[i]);
        if (text != NULL) {
            ck_assert (lk_curve_is_key (text));
            lk_message_set_text (message, drawn[i],
                                 field_of (example, drawn[i]));
        }
    }
    compare (message, crossed, example);
}

/*  That of a row of "keys-answer". */
static const char *
key_of (size_t row)
{
    return json_string_value (json_object_get (
        json_array_get (
            json_object_get (lk_vector_find ("keys-answer")->body, "keys"),
            row),
        "key"));
}

static void
add_key (const char *host, const char *public_key, bool ours)
{
    lk_curve_key key = {.pending_ms = 0};
    lk_problem why;
    if (ours) {
        lk_curve_make (&key.pair);
    }
    snprintf (key.host, sizeof key.host, "%s", host);
    snprintf (key.pair.public_key, sizeof key.pair.public_key, "%s",
              public_key);
    ck_assert_int_eq (lk_curve_ring_append (&router.keyring.ring, &key, &why),
                      LK_OK);
}

/*  h1 and h2 have theirs, and a lock service tells of the settings. */
static void
have_keys (void)
{
    router.keyring.security = LK_SECURITY_CURVE;
    add_key ("h1", key_of (0), true);
    add_key ("h2", key_of (1), false);
    router.keyring.served = router.keyring.ring.key[0].pair;
    start_greeter ();
    start_lock (4020);
    dial (true);
    link_h2 ();
    drain ("greeter");
    drain ("lock");
    drain ("out1");
}

/*  The states of all keys, the newest first. */
static const char *
keys_are (void)
{
    static char text[512];
    bool crossed;
    lk_message *row;
    text[0] = '\0';
    drain ("greeter");
    hear (LK_SIDE_LOCAL, "greeter", "keys");
    lk_message *answer = said ("greeter", "keys-answer", &crossed);
    for (size_t i = 0; (row = lk_message_row (answer, "keys", i)) != NULL;
         i++) {
        size_t used = strlen (text);
        snprintf (text + used, sizeof text - used, "%s%s %s", i > 0 ? ", " : "",
                  lk_message_text (row, "host"),
                  lk_message_text (row, "state"));
        lk_message_destroy (&row);
    }
    lk_message_destroy (&answer);
    return text;
}

static void
settings_have (const char *body)
{
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "HOSTKEYS", body);
}

static void
start_lock_with (const char *settings)
{
    start_lock (4020);
    say (LK_SIDE_LOCAL, "lock", "lock@h1", "router@.", "SUBSCRIBE",
         "{\"commands\":[\"STATUS\"]}");
    drain ("lock");
    caller_key = json_string_value (
        json_object_get (lk_vector_find ("status-far")->body, "key"));
    hear (LK_SIDE_LOCAL, "lock", settings);
    is_quiet ("lock");
}

START_TEST (another_machine)
{
    start_lock_with ("clientkeys");
    hear (LK_SIDE_CLIENTS, "far", "register-far");
    ck_assert_ptr_nonnull (strstr (next ("far"), " READY 1 "));
    says ("lock", "status-far");
}
END_TEST

START_TEST (by_a_credential)
{
    start_lock_with ("clientkeys-zones");
    router.now_s = 1795042600;
    hear (LK_SIDE_CLIENTS, "far", "register-credential");
    says ("far", "ready-credential");
    says ("lock", "status-credential");
}
END_TEST

/*  An answer of an issuer of this host. */
static void
issuer_answers (unsigned serial, const char *command, const char *vector)
{
    char *body = json_dumps (lk_vector_find (vector)->body, JSON_COMPACT);
    lk_bytes frame = {0};
    add (&frame, "issuer@h1", "router@.", command, serial, body);
    put (LK_SIDE_LOCAL, "issuer", &frame);
    lk_bytes_clear (&frame);
    free (body);
}

START_TEST (log_ins)
{
    start_lock_with ("clientkeys");
    enter ("issuer", "");
    caller_address = "10.0.0.9";
    hear (LK_SIDE_CLIENTS, "far", "login");
    says ("issuer", "login-issuer");
    issuer_answers (1, "LOGIN", "login-answer");
    says ("far", "login-answer");
    hear (LK_SIDE_CLIENTS, "far", "login");
    drain ("issuer");
    issuer_answers (2, "LOGINFAILED", "loginfailed");
    says ("far", "loginfailed");
    hear (LK_SIDE_CLIENTS, "far", "register-far");
    drain ("far");
    lk_person *person = &router.route.far->person;
    person->since = 1790000000;
    snprintf (person->zone, sizeof person->zone, "lab");
    snprintf (person->user, sizeof person->user, "ann");
    hear (LK_SIDE_CLIENTS, "far", "renew");
    says ("issuer", "renew-issuer");
}
END_TEST

START_TEST (keys_of_hosts)
{
    have_keys ();
    hear (LK_SIDE_LOCAL, "greeter", "keys");
    says ("greeter", "keys-answer");
    hear (LK_SIDE_MESH, IN, "newkey");
    ck_assert_str_eq (keys_are (), "h1 in use, h2 accepted");
    hear (LK_SIDE_LOCAL, "lock", "hostkeys");
    is_quiet ("lock");
    /*  Of two services the first is believed. */
    say (LK_SIDE_LOCAL, "greeter", "greeter@h1", "router@.", "HOSTKEYS",
         "{\"keys\":[]}");
    ck_assert_ptr_nonnull (
        strstr (next ("greeter"), "another service tells the keys"));
    hear (LK_SIDE_MESH, IN, "newkey");
    says ("lock", "hostkeys-pending");
    ck_assert_str_eq (keys_are (), "h4 pending, h1 in use, h2 accepted");
    /*  Not for h2, nor as another's. */
    say (LK_SIDE_MESH, IN, "router@h2", "router@.", "NEWKEY",
         "{\"host\":\"h2\",\"key\":"
         "\"JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6\"}");
    ck_assert_str_eq (keys_are (), "h4 pending, h1 in use, h2 accepted");
    hear (LK_SIDE_LOCAL, "greeter", "rotatekeys");
    says_drawn ("greeter", "rotatekeys-answer");
    assert_starts (next ("lock"), "router@h1 > lock@h1 HOSTKEYS 0 {\"pending");
    ck_assert_str_eq (keys_are (),
                      "h1 pending, h4 pending, h1 in use, h2 accepted");
    hear (LK_SIDE_LOCAL, "greeter", "rotatekeys");
    ck_assert_ptr_nonnull (strstr (next ("greeter"), "the last one yet"));
}
END_TEST

/*  Which count the settings say. */
START_TEST (keys_are_withdrawn)
{
    char body[512];
    have_keys ();
    settings_have ("{\"keys\":[],\"open\":true}");
    ck_assert_str_eq (keys_are (), "h1 in use, h2 accepted");
    hear (LK_SIDE_LOCAL, "greeter", "rotatekeys");
    drain ("greeter");
    drain ("lock");
    snprintf (body, sizeof body,
              "{\"keys\":[\"h1 %s\",\"h1 %s\",\"h2 %s\",\"h3 %s\"]}",
              router.keyring.ring.key[0].pair.public_key, key_of (0),
              key_of (1), field_of ("enrol", "key"));
    settings_have (body);
    ck_assert_str_eq (keys_are (),
                      "h3 accepted, h1 in use, h1 former, h2 accepted");
    /*  Only some hosts may change the settings: so none comes from others. */
    hear (LK_SIDE_MESH, IN, "newkey");
    ck_assert_str_eq (keys_are (),
                      "h3 accepted, h1 in use, h1 former, h2 accepted");
    router.keyring.ring.key[3].is_used = true;
    router.keyring.is_old = false;
    ck_assert (lk_mesh_link_is_live (router.mesh.link[0]));
    snprintf (body, sizeof body, "{\"keys\":[\"h1 %s\"]}",
              router.keyring.ring.key[1].pair.public_key);
    settings_have (body);
    ck_assert_str_eq (keys_are (), "h1 in use");
    ck_assert (router.keyring.is_old && router.keyring.must_cut);
    ck_assert (!lk_mesh_link_is_linked (router.mesh.link[0]));
    /*  The last one of ours is kept, whatever they say. */
    settings_have ("{\"keys\":[\"h2 rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]"
                   "yf7\"]}");
    ck_assert_str_eq (keys_are (), "h2 accepted, h1 in use");
    /*  Only a service of the right user says that. */
    say (LK_SIDE_LOCAL, "cli", "cli-7@.", "router@.", "REGISTER",
         "{\"service\":\"cli-7\",\"pid\":7,\"application\":true}");
    drain ("cli");
    say (LK_SIDE_LOCAL, "cli", "cli-7@h1", "router@.", "HOSTKEYS", body);
    ck_assert_ptr_nonnull (strstr (next ("cli"), "told by services"));
    ck_assert_str_eq (keys_are (), "h2 accepted, h1 in use");
}
END_TEST

/*  The pair of all serves others until each host has its own. */
START_TEST (from_the_pair_of_all)
{
    char body[512];
    lk_keyring *keyring = &router.keyring;
    start_greeter ();
    start_lock (4020);
    /*  A router without keys does not answer that. */
    hear (LK_SIDE_LOCAL, "lock", "hostkeys");
    is_quiet ("lock");
    router.keyring.security = LK_SECURITY_CURVE;
    add_key ("", key_of (0), true);
    dial (false);
    link_h2 ();
    drain ("greeter");
    hear (LK_SIDE_LOCAL, "greeter", "rotatekeys");
    drain ("greeter");
    ck_assert_str_eq (keys_are (), "h1 pending,  in use");
    const char *own = keyring->ring.key[0].pair.public_key;
    snprintf (body, sizeof body, "{\"keys\":[\"h1 %s\",\"* %s\"]}", own,
              key_of (0));
    settings_have (body);
    ck_assert_str_eq (keys_are (), "h1 in use,  former");
    ck_assert_str_eq (
        lk_curve_ring_served (&keyring->ring, keyring->serves_own)->public_key,
        key_of (0));
    snprintf (body, sizeof body, "{\"keys\":[\"h1 %s\",\"* %s\",\"h2 %s\"]}",
              own, key_of (0), key_of (1));
    settings_have (body);
    own = lk_curve_ring_newest (&keyring->ring, "h1")->pair.public_key;
    ck_assert_str_eq (
        lk_curve_ring_served (&keyring->ring, keyring->serves_own)->public_key,
        own);
    snprintf (body, sizeof body, "{\"keys\":[\"h1 %s\",\"h2 %s\"]}", own,
              key_of (1));
    settings_have (body);
    ck_assert_str_eq (keys_are (), "h2 accepted, h1 in use");
}
END_TEST

/*  Once, by the pair of its invitation, and not by another. */
START_TEST (a_host_is_invited)
{
    char name[LK_CURVE_USER_SIZE];
    have_keys ();
    snprintf (router.cluster_name, sizeof router.cluster_name, "demo");
    lk_curve_ring_newest (&router.keyring.ring, "h2")->address[0] = '\0';
    hear (LK_SIDE_MESH, "out1", "accept");
    hear (LK_SIDE_LOCAL, "lock", "hostkeys");
    hear (LK_SIDE_LOCAL, "greeter", "invite");
    says_drawn ("greeter", "invite-answer");
    drain ("out1");
    guest = NULL;
    hear (LK_SIDE_MESH, "guest", "enrol");
    assert_starts (next ("guest"), "router@h1 > router@. INVALID");
    snprintf (name, sizeof name, LK_KEYRING_GUEST "%s",
              router.keyring.invitation[0].pair.public_key);
    guest = name;
    hear (LK_SIDE_MESH, "guest", "enrol");
    says ("guest", "enrol-answer");
    says ("lock", "hostkeys-pending");
    assert_starts (next ("out1"), "router@h1 > router@h2 NEWKEY");
    ck_assert_str_eq (keys_are (), "h4 pending, h1 in use, h2 accepted");
    hear (LK_SIDE_MESH, "guest", "enrol");
    ck_assert_ptr_nonnull (strstr (next ("guest"), "has a key already"));
    hear (LK_SIDE_LOCAL, "greeter", "keys");
    drain ("greeter");
    say (LK_SIDE_LOCAL, "greeter", "greeter@h1", "router@.", "FORGET",
         "{\"name\":\"h4\"}");
    drain ("greeter");
    ck_assert_str_eq (keys_are (), "h1 in use, h2 accepted");
}
END_TEST

/*  Neither who dials us nor whom we dial is another than its key says. */
START_TEST (nobody_comes_as_another)
{
    router.keyring.security = LK_SECURITY_CURVE;
    add_key ("h1", key_of (0), true);
    add_key ("h2", key_of (1), false);
    add_key ("h3", field_of ("enrol", "key"), false);
    dial (false);
    drain ("out1");
    all_others = LK_CURVE_MEMBER " h3";
    hear (LK_SIDE_MESH, "out1", "accept");
    ck_assert_str_eq (lk_mesh_link_state_name (router.mesh.link[0]->state),
                      "refused");
    ck_assert_str_eq (router.mesh.link[0]->reason,
                      "its key is that of another host");
    say (LK_SIDE_MESH, IN, "router@h2", "router@.", "CONNECT", H2);
    ck_assert_ptr_nonnull (
        strstr (next (IN), "its key is that of another host"));
    ck_assert_uint_eq (router.refusals.count, 2);
    lk_curve_ring_remove (&router.keyring.ring, &router.keyring.ring.key[2]);
    say (LK_SIDE_MESH, IN, "router@h3", "router@.", "CONNECT",
         OF ("h3", "3", "e07b4412c9aa6d18"));
    ck_assert_ptr_nonnull (strstr (next (IN), "its key is withdrawn"));
    all_others = NULL;
}
END_TEST

START_TEST (h2_takes_h1)
{
    start_lock (4021);
    hear (LK_SIDE_MESH, IN, "connect");
    says (IN, "accept");
    lk_neighbour_work (&router);
    our_own ("out1", true);
    assert_starts (next ("out1"), "router@h2 > router@. CONNECT 0 ");
    say (LK_SIDE_MESH, "out1", "router@h1", "router@.", "ACCEPT",
         OF ("h1", "1", "5d3c8a9e01f72b64"));
    assert_starts (next ("out1"), "router@h2 > router@. COUNT 0 ");
    say (LK_SIDE_MESH, IN, "router@h1", "router@.", "COUNT",
         "{\"channel\":\"0000000000000007\",\"peer\":\"412c9aa6d1800001\","
         "\"next\":1,\"heard\":0}");
    assert_starts (next ("out1"), "router@h2 > router@. COUNT 0 ");
    says ("out1", "status-mesh");
    is_quiet ("out1");
    hear (LK_SIDE_MESH, IN, "alive-mesh");
    is_quiet (IN);
    hear (LK_SIDE_MESH, IN, "shutdown-mesh");
    ck_assert_int_eq (stopped, 1);
    say (LK_SIDE_MESH, "x", "router@h1", "router@.", "CONNECT",
         OF ("h1", "9", "0000000000000099"));
    says ("x", "refuse-mesh");
    lk_neighbour_leave (&router);
    says ("out1", "disconnected-mesh");
}
END_TEST

START_TEST (a_refusal_is_understood)
{
    dial (false);
    says ("out1", "connect");
    hear (LK_SIDE_MESH, "out1", "refuse-mesh");
    ck_assert_str_eq (lk_mesh_link_state_name (router.mesh.link[0]->state),
                      "refused");
    ck_assert_str_eq (router.mesh.link[0]->reason,
                      "another live host is called 'h1'");
}
END_TEST

/*  -------------------------------------------------------- suite */

int
main (void)
{
    TCase *h1 = tcase_create ("h1");
    tcase_add_checked_fixture (h1, set_up_h1, tear_down);
    tcase_add_test (h1, sessions);
    tcase_add_test (h1, small_questions);
    tcase_add_test (h1, what_is_not_delivered);
    tcase_add_test (h1, the_end_of_a_service);
    tcase_add_test (h1, orders);
    tcase_add_test (h1, own_commands_of_services);
    tcase_add_test (h1, questions_about_the_cluster);
    tcase_add_test (h1, events_of_hosts);
    tcase_add_test (h1, a_link_begins);
    tcase_add_test (h1, heartbeats);
    tcase_add_test (h1, a_refusal_is_understood);
    tcase_add_test (h1, gossip);
    tcase_add_test (h1, a_host_is_forgotten);
    TCase *h2 = tcase_create ("h2");
    tcase_add_checked_fixture (h2, set_up_h2, tear_down);
    tcase_add_test (h1, another_machine);
    tcase_add_test (h1, by_a_credential);
    tcase_add_test (h1, log_ins);
    tcase_add_test (h1, keys_of_hosts);
    tcase_add_test (h1, keys_are_withdrawn);
    tcase_add_test (h1, from_the_pair_of_all);
    tcase_add_test (h1, nobody_comes_as_another);
    tcase_add_test (h1, a_host_is_invited);
    tcase_add_test (h2, h2_takes_h1);

    Suite *suite = suite_create ("vectors_router");
    suite_add_tcase (suite, h1);
    suite_add_tcase (suite, h2);
    return lk_suite_run (suite);
}
