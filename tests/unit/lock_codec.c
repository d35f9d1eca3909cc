/*  lock_codec.c - tests of the messages between lock services: the rules
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Every field of every example is left out and replaced in turn. The values
 *  of the examples are in lock_values.c.
 */

#include "codec_fake.h"

#include "lib/suite.h"
#include "peers.h"
#include "wire/message_frame.h"
#include "wire/message_private.h"

#include <ctype.h>
#include <lockkeeper/lockkeeper.h>
#include <stdio.h>

/*  What LOCKSTARTED names around the core. */
static lk_err
check_cluster (const lk_message *message, lk_lock_kind kind)
{
    lk_charter cluster;
    uint8_t level;
    return kind != LK_MSG_STARTED
                   || (lk_charter_read (&cluster, message)
                       && lk_level_read (message, &level))
               ? LK_OK
               : LK_INVALID;
}

/*  Decodes the message with that body instead of its own, which is given
 *  away. */
static lk_err
decode_body (lk_message *message, json_t *body)
{
    lk_lock_message read;
    json_t *own = lk_message_tree (message);
    message->tree = body;
    lk_err error = lk_lock_decode (message, &hostmap, H1, &read);
    if (error == LK_OK) {
        error = check_cluster (message, read.kind);
        lk_lock_message_clear (&read);
    }
    message->tree = own;
    json_decref (body);
    return error;
}

/*  -------------------------------------------------------- examples */

START_TEST (examples)
{
    size_t count;
    const lk_vector *all = lk_vectors (&count);
    for (size_t i = 0; i < count; i++) {
        if (!lk_example_is_lock (&all[i])) {
            continue;
        }
        take (all[i].name);
        lk_message *again = lk_example_encode (&all[i], &got, &hostmap);
        json_t *body = lk_message_tree (again);
        ck_assert_msg (json_equal (body, all[i].body), "%s: another body: %s",
                       all[i].name, lk_message_body (again));
        lk_message_set_from (again, all[i].from);
        lk_bytes frame = {0};
        ck_assert_int_eq (lk_message_write (again, &frame), LK_OK);
        ck_assert_msg (frame.size == all[i].frame.size
                           && memcmp (frame.data, all[i].frame.data, frame.size)
                                  == 0,
                       "%s: another frame", all[i].name);
        lk_bytes_clear (&frame);
        lk_message_destroy (&again);
        lk_lock_message_clear (&got);
    }
}
END_TEST

START_TEST (every_kind_has_one)
{
    for (int kind = 0; kind < LK_MSG_COUNT; kind++) {
        char name[64];
        snprintf (name, sizeof name, "lock-%s",
                  lk_lock_kind_name ((lk_lock_kind) kind));
        take (name);
        ck_assert_int_eq (got.kind, kind);
        ck_assert_str_eq (lk_vector_find (name)->command,
                          lk_lock_kind_command ((lk_lock_kind) kind));
        lk_lock_message_clear (&got);
    }
}
END_TEST

START_TEST (kind_names)
{
#define NAME(kind, command, name) #kind,
    static const char *const upper[] = {LK_LOCK_KINDS (NAME)};
#undef NAME
    for (int kind = 0; kind < LK_MSG_COUNT; kind++) {
        const char *name = lk_lock_kind_name ((lk_lock_kind) kind);
        const char *want = upper[kind] + strlen ("LK_MSG_");
        ck_assert_uint_eq (strlen (name), strlen (want));
        for (size_t i = 0; name[i]; i++) {
            ck_assert_int_eq (name[i], tolower (want[i]));
        }
    }
}
END_TEST

/*  -------------------------------------------------------- every field */

/*  Of that object. Tickets are all that is in a table; in a request, or in the
 *  operation that it becomes, they are the rest of a set. */
static bool
may_be_absent (const json_t *object, const char *name)
{
    static const char *const names[] = {
        "to_id",    "zone",     "context", "by",    "echo",     "table",
        "origin",   "holder",   "type",    "soft",  "limit",    "destination",
        "bound",    "quiet_ms", "lenient", "rest",  "static",   "turn",
        "kept",     "ordinal",  "keep",    "force", "upgrade",  "packed",
        "protocol", "resume",   "now",     "heir",  "releases", "settings",
        "lacks",    "sealed",   "journal", "late",  "unproved", "remote",
        "moved",    "onto",     "next"};
    if (strcmp (name, "tickets") == 0) {
        const char *op = json_string_value (json_object_get (object, "op"));
        return json_object_get (object, "queue") || (op && !strcmp (op, "add"));
    }
    if (strcmp (name, "reason") == 0) {
        return json_object_get (object, "error") != NULL;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp (name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

typedef struct {
    const char *example;
    lk_message *message;
    json_t *root;
    int fields;
} walk;

static lk_err
decode_now (walk *self)
{
    return decode_body (self->message, json_deep_copy (self->root));
}

/*  Leaves the field out, puts one of another type there, and one it does not
 *  know beside it. */
static void
try_field (walk *self, json_t *object, const char *name)
{
    static const char *const others[] = {"{}", "[[]]", "null", "1.5"};
    json_t *value = json_incref (json_object_get (object, name));
    /*  "table" is a text in one message and an object in another. */
    const bool optional =
        may_be_absent (object, name)
        && !(json_is_string (value) && strcmp (name, "table") == 0);
    self->fields++;

    json_object_del (object, name);
    ck_assert_msg ((decode_now (self) == LK_OK) == optional, "%s without '%s'",
                   self->example, name);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        json_object_set_new (object, name,
                             json_loads (others[i], JSON_DECODE_ANY, NULL));
        ck_assert_msg (decode_now (self) == LK_INVALID, "%s with '%s': %s",
                       self->example, name, others[i]);
    }
    json_object_set_new (object, name, value);
    json_object_set_new (object, "unheard-of", json_integer (1));
    ck_assert_int_eq (decode_now (self), LK_OK);
    json_object_del (object, "unheard-of");
}

static void
try_all (walk *self, json_t *value)
{
    if (json_is_array (value)) {
        for (size_t i = 0; i < json_array_size (value); i++) {
            try_all (self, json_array_get (value, i));
        }
    } else if (json_is_object (value)) {
        json_t *names = json_deep_copy (value);
        const char *name;
        json_t *ignored;
        json_object_foreach (names, name, ignored) {
            try_field (self, value, name);
            try_all (self, json_object_get (value, name));
        }
        json_decref (names);
    }
}

START_TEST (every_field)
{
    size_t count;
    int fields = 0;
    const lk_vector *all = lk_vectors (&count);
    for (size_t i = 0; i < count; i++) {
        if (lk_example_is_lock (&all[i])) {
            walk one = {.example = all[i].name,
                        .message = lk_vector_message (&all[i])};
            one.root = json_deep_copy (lk_message_tree (one.message));
            try_all (&one, one.root);
            json_decref (one.root);
            lk_message_destroy (&one.message);
            fields += one.fields;
        }
    }
    ck_assert_int_gt (fields, 300);
}
END_TEST

/*  -------------------------------------------------------- ranges */

#define T ":1f0e6a5b9c3d2871\""
static const struct {
    const char *example;
    const char *object; /* where it is (in the first of a list); NULL: on top */
    const char *field;
    const char *value;
    bool good;
} ranges[] = {
    {"lock-acked", NULL, "home", "4", true},
    {"lock-acked", NULL, "home", "5", false},
    {"lock-acked", NULL, "home", "-1", false},
    {"lock-acked", NULL, "sequence", "9007199254740991", true},
    {"lock-acked", NULL, "sequence", "9007199254740992", false},
    {"lock-acked", NULL, "sequence", "-1", false},
    {"lock-acked", NULL, "hash", "\"9E1C5AD2037B84F6\"", true},
    {"lock-acked", NULL, "hash", "\"9e1c5ad2037b84f\"", false},
    {"lock-acked", NULL, "hash", "\"9e1c5ad2037b84fg\"", false},
    {"lock-acked", NULL, "stage", "\"filled\"", false},
    {"lock-acked", NULL, "stage", "\"ops\"", false},
    {"lock-acked", NULL, "stage", "\"nonsense\"", false},
    {"lock-acked", NULL, "id", "\"0000000000000000\"", false},
    {"lock-acked", NULL, "term", "\"0" T, true},
    {"lock-acked", NULL, "term", "\"2097151" T, true},
    {"lock-acked", NULL, "term", "\"2097152" T, false},
    {"lock-acked", NULL, "term", "\"-7" T, false},
    {"lock-acked", NULL, "term", "\"07" T, false},
    {"lock-acked", NULL, "term", "\"7\"", false},
    {"lock-acked", NULL, "term", "\"\"", false},
    {"lock-acked", NULL, "term", "\":\"", false},
    {"lock-acked", NULL, "term", "\"7:\"", false},
    {"lock-acked", NULL, "term", "\"7:1:2\"", false},
    {"lock-host", NULL, "host", "\"h3\"", true},
    {"lock-host", NULL, "host", "\"h9:0000000000000001\"", true},
    {"lock-host", NULL, "host", "\"h3:0000000000000000\"", false},
    {"lock-host", NULL, "host", "\"h3:\"", false},
    {"lock-host", NULL, "host", "\"h3:1\"", false},
    {"lock-host", NULL, "host", "\"\"", false},
    {"lock-host", NULL, "host", "\".\"", false},
    {"lock-host", NULL, "host", "\"*\"", false},
    {"lock-host", NULL, "host", "\":3b72f8d05e4961ca\"", false},
    {"lock-started", "candidate", "priority", "0", true},
    {"lock-started", "candidate", "priority", "15", true},
    {"lock-started", "candidate", "priority", "16", false},
    {"lock-started", "candidate", "random", "268435455", true},
    {"lock-started", "candidate", "random", "268435456", false},
    {"lock-started", "candidate", "port", "65535", true},
    {"lock-started", "candidate", "port", "65536", false},
    {"lock-started", "candidate", "pid", "4294967295", true},
    {"lock-started", "candidate", "pid", "4294967296", false},
    {"lock-started", "candidate", "address", "\"00\"", false},
    {"lock-started", "active", "reclaim", "true", false},
    {"lock-started", "active", "term", "\"0" T, false},
    {"lock-started", "active", "term", "\"7" T, false},
    {"lock-started", "active", "members", "[]", true},
    {"lock-started", "active", "leaders", "[\"h1\"]", false},
    {"lock-started", "active", "members", "[\"h1\",\"h1\"]", false},
    {"lock-started", "active", "members", "[1]", false},
    {"lock-started", "active", "members", "[\"h1:\"]", false},
    {"lock-ping", "active", "leaders", "[]", false},
    {"lock-ping", "active", "leaders", "[\"h1\"]", true},
    {"lock-ping", "active", "leaders", "[\"h1\",\"h1\"]", false},
    {"lock-ping", "active", "leaders", "[\"h9\"]", false},
    {"lock-ping", "active", "leaders",
     "[\"h1\",\"h2\",\"h3\",\"h4\",\"h5\",\"h6\"]", false},
    {"lock-ping", "active", "members", "[\"h1\",\"h2\"]", false},
    {"lock-ping", "echo", "at", "-9007199254740991", true},
    {"lock-ping", NULL, "reclaim", "31", true},
    {"lock-ping", NULL, "reclaim", "32", false},
    {"lock-date", NULL, "in_ms", "-1", false},
    {"lock-date", NULL, "reason", "\"full\"", true},
    {"lock-date", NULL, "reason", "\"why\"", false},
    {"lock-locked", NULL, "left_ms", "0", true},
    {"lock-locked", NULL, "left_ms", "-2", false},
    {"lock-locked", NULL, "request", "\"h1/3/1\"", true},
    {"lock-locked", NULL, "request", "\"h1/3\"", false},
    {"lock-locked", NULL, "request", "\"h1/3/1/1\"", false},
    {"lock-locked", NULL, "request", "\"h1//1\"", false},
    {"lock-locked", NULL, "request", "\"/3/1\"", false},
    {"lock-locked", NULL, "request", "\"h1/3/-1\"", false},
    {"lock-locked", NULL, "request", "\"h1/9007199254740992/1\"", false},
    {"lock-locked", NULL, "request", "\"h1/3/18446744073709551616\"", false},
    {"lock-locked", NULL, "object", "\"\"", false},
    {"lock-locked", NULL, "zone", "\"\"", true},
    {"lock-locked", NULL, "token", "\"0000000000000000\"", false},
    {"lock-locked", NULL, "object_hex", "\"6f\"", false},
    {"lock-locked-shared", NULL, "object_hex", "\"6f\"", true},
    {"lock-locked-shared", NULL, "object_hex", "\"6F00\"", true},
    {"lock-locked-shared", NULL, "object_hex", "\"6f0\"", false},
    {"lock-locked-shared", NULL, "object_hex", "\"\"", false},
    {"lock-locked-shared", NULL, "object_hex", "\"6x\"", false},
    {"lock-locked-shared", NULL, "object", "\"o\"", false},
    {"lock-locked-shared", NULL, "type", "\"exclusive\"", true},
    {"lock-locked-shared", NULL, "type", "\"common\"", false},
    {"lock-locked-shared", NULL, "ordinal", "-1", false},
    {"lock-locked-shared", NULL, "turn", "4294967296", false},
    {"lock-lock-semaphore", NULL, "limit", "1000000000", true},
    {"lock-lock-semaphore", NULL, "limit", "1000000001", false},
    {"lock-lock-semaphore", NULL, "bound", "1000000001", false},
    {"lock-lock-soft", NULL, "quiet_ms", "86400000", true},
    {"lock-lock-soft", NULL, "quiet_ms", "86400001", false},
    {"lock-lock-set", NULL, "rest", "127", true},
    {"lock-lock-set", NULL, "rest", "128", false},
    {"lock-unlock-force", NULL, "token", "\"7\"", false},
    {"lock-lock", NULL, "duration_ms", "-1", false},
    {"lock-unlocked", NULL, "error", "\"never heard of\"", true},
    {"lock-lockfailed", NULL, "error", "\"ok\"", false},
    {"lock-fill", NULL, "gone",
     "[{\"host\":\"h1\",\"session\":1},{\"host\":\"h1\",\"session\":2}]",
     false},
    {"lock-fill", NULL, "tickets", "[]", true},
    {"lock-report", "tickets", "age_ms", "-1", false},
    {"lock-report", "tickets", "duration_ms", "-1", false},
    {"lock-report", "tickets", "pid", "4294967296", false},
    {"lock-report", "tickets", "token", "\"7\"", false},
    {"lock-ops", "ops", "duration_ms", "-1", false},
    {"lock-ops", "ops", "op", "\"gone\"", false},
    {"lock-fill", "gone", "session", "-1", false},
    {"lock-fill", NULL, "tickets", "[1]", false},
    {"lock-ops", NULL, "ops", "[]", true},
    {"lock-ops", NULL, "ops", "[{\"op\":\"open\"}]", false},
    {"lock-ops", NULL, "ops", "[{\"op\":\"close\"}]", false},
    {"lock-ops-confirm", NULL, "ops", "[{\"op\":\"open\"}]", true},
    {"lock-ops-drop", NULL, "ops", "[]", false},
};
#undef T

START_TEST (range)
{
    lk_message *message =
        lk_vector_message (lk_vector_find (ranges[_i].example));
    json_t *body = json_deep_copy (lk_message_tree (message));
    json_t *object =
        ranges[_i].object ? json_object_get (body, ranges[_i].object) : body;
    if (json_is_array (object)) {
        object = json_array_get (object, 0);
    }
    json_object_set_new (object, ranges[_i].field,
                         json_loads (ranges[_i].value, JSON_DECODE_ANY, NULL));
    ck_assert_msg (
        decode_body (message, body) == (ranges[_i].good ? LK_OK : LK_INVALID),
        "%s: %s: %s", ranges[_i].example, ranges[_i].field, ranges[_i].value);
    lk_message_destroy (&message);
}
END_TEST

/*  `count` copies of the first item of a list are good, one more is not. */
static void
try_count (const char *example, const char *field, size_t count)
{
    lk_message *message = lk_vector_message (lk_vector_find (example));
    json_t *body = json_deep_copy (lk_message_tree (message));
    json_t *list = json_object_get (body, field);
    while (json_array_size (list) < count) {
        json_array_append (list, json_array_get (list, 0));
    }
    ck_assert_int_eq (decode_body (message, json_deep_copy (body)), LK_OK);
    json_array_append (list, json_array_get (list, 0));
    ck_assert_int_eq (decode_body (message, body), LK_INVALID);
    lk_message_destroy (&message);
}

START_TEST (counts)
{
    try_count ("lock-ops", "ops", LK_BATCH_MAX);
    try_count ("lock-fill", "tickets", LK_CHUNK_MAX);
    try_count ("lock-report", "tickets", LK_REPORT_MAX);
    try_count ("lock-lock-set", "tickets", LK_SET_MAX - 1);
}
END_TEST

static lk_err
decode_object (const char *zone, size_t object_len)
{
    lk_message *message = lk_vector_message (lk_vector_find ("lock-locked"));
    char object[8000];
    memset (object, 'x', object_len);
    object[object_len] = '\0';
    lk_message_set_text (message, "zone", zone);
    lk_message_set_text (message, "object", object);
    const lk_err error = lk_lock_decode (message, &hostmap, H1, &got);
    lk_message_destroy (&message);
    return error;
}

static lk_err
decode_reason (size_t size)
{
    lk_message *message =
        lk_vector_message (lk_vector_find ("lock-unlock-force"));
    char reason[LK_REASON_MAX + 2];
    memset (reason, 'r', size);
    reason[size] = '\0';
    lk_message_set_text (message, "reason", reason);
    const lk_err error = lk_lock_decode (message, &hostmap, H1, &got);
    lk_message_destroy (&message);
    return error;
}

START_TEST (reason_sizes)
{
    ck_assert_int_eq (decode_reason (LK_REASON_MAX + 1), LK_INVALID);
    ck_assert_int_eq (decode_reason (LK_REASON_MAX), LK_OK);
    ck_assert_uint_eq (got.as.request.reason.size, LK_REASON_MAX);
}
END_TEST

START_TEST (object_sizes)
{
    char zone[257];
    memset (zone, 'z', 256);
    zone[255] = '\0';
    ck_assert_int_eq (decode_object (zone, 4096), LK_OK);
    ck_assert_uint_eq (got.as.reply.object.size, 255 + 1 + 1 + 4096);
    ck_assert_int_eq (decode_object (zone, 4097), LK_INVALID);
    zone[255] = 'z';
    zone[256] = '\0';
    ck_assert_int_eq (decode_object (zone, 4096), LK_INVALID);
}
END_TEST

/*  -------------------------------------------------------- whose it is */

START_TEST (another_receiver)
{
    lk_message *message = lk_vector_message (lk_vector_find ("lock-vote"));
    lk_message_set_hex (message, "to_id", ID2);
    ck_assert_int_eq (lk_lock_decode (message, &hostmap, H1, &got), LK_REFUSED);
    lk_message_set_text (message, "to_id", NULL);
    ck_assert_int_eq (lk_lock_decode (message, &hostmap, H1, &got), LK_OK);
    lk_message_destroy (&message);
}
END_TEST

START_TEST (another_sender)
{
    static const char *const bad[] = {"app@h2", "lock@."};
    lk_message *message = lk_vector_message (lk_vector_find ("lock-vote"));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        lk_message_set_from (message, bad[i]);
        ck_assert_int_eq (lk_lock_decode (message, &hostmap, H1, &got),
                          LK_INVALID);
    }
    lk_message_set_from (message, "lock@h2");
    lk_message_set_hex (message, "id", 99);
    ck_assert_int_eq (lk_lock_decode (message, &hostmap, H1, &got), LK_OK);
    ck_assert_int_eq (got.from, 3);
    ck_assert_uint_eq (lk_hostmap_id (&hostmap, 3), 99);
    lk_message_destroy (&message);
}
END_TEST

START_TEST (unknown_ids)
{
    lk_hostmap_init (&hostmap);
    lk_hostmap_intern (&hostmap, "h1", ID1);
    lk_hostmap_intern (&hostmap, "h3", 0);
    take ("lock-ping");
    ck_assert_uint_eq (hostmap.count, 3);
    ck_assert_uint_eq (lk_hostmap_id (&hostmap, 1), ID3);
    got.to = lk_hostmap_intern (&hostmap, "h4", 0);
    got.as.ping.sees = LK_HOST_BIT (got.to);
    lk_message *again = lk_lock_encode (&got, &hostmap, 0);
    ck_assert_str_eq (lk_message_to (again), "lock@h4");
    ck_assert_str_eq (lk_message_item (again, "sees", 0), "h4");
    ck_assert (!lk_message_has (again, "to_id"));
    lk_message_destroy (&again);
}
END_TEST

START_TEST (broken_leaves_no_trace)
{
    lk_hostmap before;
    lk_message *message = lk_vector_message (lk_vector_find ("lock-host"));
    lk_message_set_text (message, "host", "h9:0000000000000009");
    lk_message_set_number (message, "session", -1);
    before = hostmap;
    ck_assert_int_eq (lk_lock_decode (message, &hostmap, H1, &got), LK_INVALID);
    ck_assert_mem_eq (&hostmap, &before, sizeof hostmap);
    lk_message_set_number (message, "session", 1);
    ck_assert_int_eq (lk_lock_decode (message, &hostmap, H1, &got), LK_OK);
    ck_assert_uint_eq (hostmap.count, 4);
    lk_message_destroy (&message);
}
END_TEST

START_TEST (too_many_hosts)
{
    for (int i = 0; hostmap.count < LK_HOSTS_MAX; i++) {
        char name[16];
        snprintf (name, sizeof name, "more%d", i);
        lk_hostmap_intern (&hostmap, name, 1);
    }
    take ("lock-host");
    lk_message *message = lk_vector_message (lk_vector_find ("lock-host"));
    lk_message_set_text (message, "host", "h9");
    ck_assert_int_eq (lk_lock_decode (message, &hostmap, H1, &got), LK_FULL);
    lk_message_destroy (&message);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("lock_codec");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, examples);
    tcase_add_test (tests, every_kind_has_one);
    tcase_add_test (tests, kind_names);
    tcase_add_test (tests, every_field);
    tcase_add_loop_test (tests, range, 0, sizeof ranges / sizeof ranges[0]);
    tcase_add_test (tests, counts);
    tcase_add_test (tests, object_sizes);
    tcase_add_test (tests, reason_sizes);
    tcase_add_test (tests, another_receiver);
    tcase_add_test (tests, another_sender);
    tcase_add_test (tests, unknown_ids);
    tcase_add_test (tests, broken_leaves_no_trace);
    tcase_add_test (tests, too_many_hosts);

    Suite *suite = suite_create ("lock_codec");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
