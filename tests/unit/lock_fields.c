/*  lock_fields.c - each field of what applications ask: values, and refusals
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lock_fake.h"

#include "lib/refusals.h"

#include <lockkeeper/lockkeeper.h>

/*  The core's event for a message with that body; ' stands for ". */
static const lk_app_request *
say (const char *command, const char *body, lk_event_type type)
{
    static uint64_t serial;
    give (lk_refusal_message ("a@h1", command, ++serial, body));
    const lk_app_request *request = &last_event (type)->request;
    ck_assert_uint_eq (bus.count, 0);
    ck_assert_uint_eq (request->unlock ? request->unlock : request->serial,
                       serial);
    return request;
}

static const lk_app_request *
lock (const char *body)
{
    return say ("LOCK", body, LK_ON_LOCK);
}

static void
name_is (lk_name name, const char *text, size_t size)
{
    ck_assert_uint_eq (name.size, size);
    ck_assert_mem_eq (name.data, text, size);
}

#define NAME_IS(name, text) name_is (name, text, sizeof (text) - 1)

/*  -------------------------------------------------------- LOCK */

START_TEST (held_since_before)
{
    const lk_app_request *request =
        lock ("{'object': 'o', 'token': '0000000000000007', 'lease_until': 99,"
              " 'key': '0000000000000037'}");
    ck_assert_uint_eq (request->token, 7);
    ck_assert_uint_eq (request->key, 55);
    ck_assert_int_eq (request->lease_until_ms, 99);
}
END_TEST

START_TEST (defaults)
{
    const lk_lock_mode plain = {.type = LK_EXCLUSIVE};
    const lk_app_request *request = lock ("{'object': 'o'}");
    NAME_IS (request->object, "\0\0o");
    NAME_IS (request->owner, "a@h1");
    ck_assert_int_eq (request->wait_ms, -1);
    ck_assert_int_eq (request->duration_ms, 0);
    ck_assert_int_eq (request->linger_ms, 0);
    ck_assert_uint_eq (request->pid, 0);
    ck_assert_uint_eq (request->turn, 0);
    ck_assert_uint_eq (request->key, 0);
    ck_assert_uint_eq (request->token, 0);
    ck_assert_uint_eq (request->rest_count, 0);
    ck_assert_uint_eq (request->reason.size, 0);
    ck_assert_mem_eq (&request->mode, &plain, sizeof plain);
}
END_TEST

START_TEST (names)
{
    char body[2 * LK_OBJECT_LEN_MAX + 700], part[256], name[8193];
    memset (part, 'z', 255);
    part[255] = '\0';
    memset (name, 'a', 8192);
    name[8192] = '\0';
    snprintf (body, sizeof body,
              "{'object_hex': '%s', 'zone': '%s', 'context': '%s'}", name, part,
              part);
    const lk_app_request *request = lock (body);
    ck_assert_uint_eq (request->object.size, 2 * 256 + 4096);
    ck_assert_int_eq (request->object.data[4607], (char) 0xaa);
    request = lock ("{'object': 'o', 'zone': '', 'context': 'c'}");
    NAME_IS (request->object, "\0c\0o");
    request = lock ("{'object_hex': '0000', 'zone': 'z'}");
    NAME_IS (request->object, "z\0\0\0\0");
}
END_TEST

START_TEST (times)
{
    const lk_app_request *request =
        lock ("{'object': 'o', 'wait': 35184372088832, 'duration': "
              "35184372088832, 'linger': 35184372088832, 'pid': 4294967295}");
    ck_assert_int_eq (request->wait_ms, INT64_C (1) << 45);
    ck_assert_int_eq (request->duration_ms, INT64_C (1) << 45);
    ck_assert_int_eq (request->linger_ms, INT64_C (1) << 45);
    ck_assert_uint_eq (request->pid, UINT32_MAX);
    request = lock ("{'object': 'o', 'wait': 0, 'key': '00000000000000AA'}");
    ck_assert_int_eq (request->wait_ms, 0);
    ck_assert_uint_eq (request->key, 0xaa);
}
END_TEST

START_TEST (modes)
{
    const lk_lock_mode *mode =
        &lock ("{'object': 'o', 'type': 'semaphore', 'limit': 1000000000, "
               "'bound': 1000000000}")
             ->mode;
    ck_assert_int_eq (mode->type, LK_SEMAPHORE);
    ck_assert_uint_eq (mode->limit, LK_LIMIT_MAX);
    ck_assert_uint_eq (mode->bound, LK_LIMIT_MAX);
    mode = &lock ("{'object': 'o', 'type': 'semaphore', 'bound': 3}")->mode;
    ck_assert_uint_eq (mode->limit, 0);
    ck_assert_uint_eq (mode->bound, 3);
    mode = &lock ("{'object': 'o', 'type': 'shared', 'policy': 'hard', "
                  "'limit': 0, 'static': false}")
                ->mode;
    ck_assert_int_eq (mode->type, LK_SHARED);
    ck_assert (!mode->soft && !mode->is_static);
    mode = &lock ("{'object': 'o', 'type': 'exclusive', 'policy': 'soft', "
                  "'quiet': 86400000}")
                ->mode;
    ck_assert (mode->soft);
    ck_assert_uint_eq (mode->quiet_ms, LK_QUIET_MAX_MS);
    mode = &lock ("{'object': 'o', 'static': true, 'linger': 0}")->mode;
    ck_assert (mode->is_static && !mode->lenient);
    mode = &lock ("{'object': 'o', 'lenient': true, 'duration': 9}")->mode;
    ck_assert (mode->lenient && !mode->is_static);
}
END_TEST

/*  A change of type goes to the lock of that serial. */
START_TEST (turns)
{
    give (lk_refusal_message ("a@h1", "LOCK", 7, "{'object': 'o', 'turn': 0}"));
    ck_assert_uint_eq (last_event (LK_ON_LOCK)->request.turn, 0);
    give (lk_refusal_message (
        "a@h1", "LOCK", 7,
        "{'object': 'o', 'turn': 1, 'type': 'shared', 'wait': 9}"));
    const lk_app_request *request = &last_event (LK_ON_LOCK)->request;
    ck_assert_uint_eq (request->serial, 7);
    ck_assert_uint_eq (request->turn, 1);
    ck_assert_int_eq (request->mode.type, LK_SHARED);
    ck_assert_int_eq (request->wait_ms, 9);
    ck_assert_uint_eq (bus.count, 0);
}
END_TEST

/*  -------------------------------------------------------- sets */

START_TEST (sets)
{
    const lk_app_request *request =
        lock ("{'locks': [{'object': 'p'}, {'object_hex': '00'}, {'object': "
              "'o', 'zone': 'y'}], 'zone': 'z', 'wait': 5, 'duration': 6, "
              "'type': 'shared'}");
    NAME_IS (request->object, "z\0\0p");
    ck_assert_uint_eq (request->rest_count, 2);
    NAME_IS (request->rest[0], "z\0\0\0");
    NAME_IS (request->rest[1], "z\0\0o");
    ck_assert_int_eq (request->wait_ms, 5);
    ck_assert_int_eq (request->duration_ms, 6);
    ck_assert_int_eq (request->mode.type, LK_SHARED);
}
END_TEST

START_TEST (largest_set)
{
    char body[128 * 20 + 40] = "{'locks': [";
    for (int i = 0; i < 128; i++) {
        const size_t used = strlen (body);
        snprintf (body + used, sizeof body - used, "%s{'object': '%d'}",
                  i > 0 ? "," : "", i);
    }
    memcpy (body + strlen (body), "]}", 3);
    const lk_app_request *request = lock (body);
    ck_assert_uint_eq (request->rest_count, LK_SET_MAX - 1);
    NAME_IS (request->rest[126], "\0\0"
                                 "127");
}
END_TEST

/*  A set of one is none to the core, which answers as it was asked. */
START_TEST (sets_of_one)
{
    const lk_app_request *request = lock ("{'locks': [{'object': 'o'}]}");
    ck_assert_uint_eq (request->rest_count, 0);
    ck_assert (request->listed);
    ck_assert (!lock ("{'object': 'o'}")->listed);
}
END_TEST

/*  -------------------------------------------------------- the others */

START_TEST (forces)
{
    const lk_app_request *request =
        say ("UNLOCK",
             "{'object': 'o', 'zone': 'z', 'force': true, 'reason': 'it hangs',"
             " 'token': '00000000000000aa', 'wait': 3}",
             LK_ON_FORCE);
    NAME_IS (request->object, "z\0\0o");
    NAME_IS (request->reason, "it hangs");
    ck_assert_uint_eq (request->token, 0xaa);
    ck_assert_int_eq (request->wait_ms, 3);
    ck_assert_uint_eq (request->key, 0);
    request = say ("UNLOCK", "{'object': 'o', 'force': true}", LK_ON_FORCE);
    ck_assert_uint_eq (request->reason.size, 0);
    ck_assert_uint_eq (request->token, 0);
    ck_assert_int_eq (request->wait_ms, -1);
}
END_TEST

START_TEST (checks)
{
    const lk_app_request *request =
        say ("LOCKCHECK",
             "{'object_hex': 'ff', 'token': '00000000000000aa', 'wait': 3}",
             LK_ON_CHECK);
    NAME_IS (request->object, "\0\0\xff");
    ck_assert_uint_eq (request->token, 0xaa);
    ck_assert_int_eq (request->wait_ms, 3);
}
END_TEST

START_TEST (unlocks)
{
    const lk_app_request *request = say (
        "UNLOCK", "{'object': 'o', 'key': '00000000000000aa', 'force': false}",
        LK_ON_UNLOCK_BY_KEY);
    ck_assert_uint_eq (request->key, 0xaa);
    ck_assert_int_eq (request->wait_ms, -1);
    ck_assert_uint_eq (request->owner.size, 0);
    request = say ("UNLOCK",
                   "{'object': 'o', 'request': 9223372036854775807, 'key': "
                   "'00000000000000ab', 'wait': 7}",
                   LK_ON_UNLOCK);
    ck_assert_uint_eq (request->serial, INT64_MAX);
    ck_assert_uint_eq (request->key, 0xab);
    ck_assert_int_eq (request->wait_ms, 7);
    NAME_IS (request->owner, "a@h1");
}
END_TEST

/*  -------------------------------------------------------- refusals */

START_TEST (refuses)
{
    for (size_t i = 0; i < lk_refusal_count; i++) {
        const lk_refused_row *row = &lk_refusals[i];
        give (lk_refusal_message ("a@h1", row->command, 5, row->body));
        ck_assert_msg (bus.count == 1, "%s %.200s", row->command, row->body);
        const lk_message *failed = only_sent ("a@h1", "LOCKFAILED");
        check_text (failed, "error", "invalid");
        check_text (failed, "text", row->text);
        ck_assert_uint_eq (lk_message_serial (failed), 5);
        forget_sent ();
    }
    ck_assert_uint_eq (node.count, 0);
}
END_TEST

static void
refuses_serial (uint64_t serial)
{
    static const char *const commands[] = {"LOCK", "UNLOCK", "LOCKCHECK"};
    for (size_t i = 0; i < 3; i++) {
        give (lk_refusal_message ("a@h1", commands[i], serial,
                                  "{'object': 'o'}"));
        const lk_message *failed = only_sent ("a@h1", "LOCKFAILED");
        check_text (failed, "text",
                    "a request needs a serial from 1 to 2^63 - 1");
        check_text (failed, "object", "o");
        ck_assert_uint_eq (lk_message_serial (failed), serial);
        forget_sent ();
    }
}

/*  A larger one could not be the field `request` of its UNLOCK. */
START_TEST (refuses_without_serial)
{
    refuses_serial (0);
    refuses_serial ((uint64_t) INT64_MAX + 1);
    refuses_serial (UINT64_MAX);
    ck_assert_uint_eq (node.count, 0);
}
END_TEST

/*  The name may be left out. */
START_TEST (unlocks_its_own)
{
    give (lk_refusal_message ("a@h1", "UNLOCK", 9, "{'request': 7}"));
    const lk_app_request *request = &last_event (LK_ON_UNLOCK)->request;
    ck_assert_uint_eq (request->serial, 7);
    ck_assert_uint_eq (request->unlock, 9);
    ck_assert_uint_eq (request->object.size, 0);
    give (lk_refusal_message ("a@h1", "UNLOCK", 11,
                              "{'object': 'o', 'request': 8}"));
    request = &last_event (LK_ON_UNLOCK)->request;
    NAME_IS (request->object, "\0\0o");
    ck_assert_uint_eq (bus.count, 0);
}
END_TEST

/*  -------------------------------------------------------- suite */

int
main (void)
{
    const TTest *const fields[] = {
        defaults,
        held_since_before,
        names,
        times,
        modes,
        turns,
        sets,
        largest_set,
        sets_of_one,
        forces,
        checks,
        unlocks,
        refuses,
        refuses_without_serial,
        unlocks_its_own,
    };
    const group groups[] = {GROUP ("fields", fields, set_up)};
    return run_groups ("lock_fields", groups, 1);
}
