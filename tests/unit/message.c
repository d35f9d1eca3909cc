/*  message.c - tests of messages, their fields, rows and frames
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/suite.h"
#include "lib/vector.h"
#include "wire/message_frame.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static lk_message *message;
static lk_bytes frame;

static void
set_up (void)
{
    message = lk_message_new ("lock@h2", "LOCK");
}

static void
tear_down (void)
{
    lk_message_destroy (&message);
    lk_bytes_clear (&frame);
}

/*  A message with that body, as if it came from somebody; NULL if refused. */
static lk_message *
receive (const char *body, size_t size, char problem[128])
{
    const lk_frame_header header = {.to = lk_slice_of ("a@h1"),
                                    .from = lk_slice_of ("b@h2"),
                                    .command = lk_slice_of ("CMD"),
                                    .body = {body, size},
                                    .body_kind = LK_BODY_JSON,
                                    .serial = 9};
    return lk_message_read (&header, problem, 128);
}

/*  -------------------------------------------------------- envelope */

START_TEST (envelope)
{
    ck_assert_str_eq (lk_message_to (message), "lock@h2");
    ck_assert_str_eq (lk_message_from (message), "");
    ck_assert_str_eq (lk_message_command (message), "LOCK");
    ck_assert (lk_message_is (message, "LOCK"));
    ck_assert (!lk_message_is (message, "LOCKED"));
    ck_assert_uint_eq (lk_message_serial (message), 0);
    ck_assert_str_eq (lk_message_body (message), "{}");
}
END_TEST

START_TEST (reply)
{
    lk_message_set_from (message, "app@h1");
    lk_message_set_serial (message, UINT64_MAX);
    lk_message *answer = lk_message_reply (message, "LOCKED");
    ck_assert_str_eq (lk_message_to (answer), "app@h1");
    ck_assert_str_eq (lk_message_command (answer), "LOCKED");
    ck_assert_uint_eq (lk_message_serial (answer), UINT64_MAX);
    lk_message_destroy (&answer);
    ck_assert_ptr_null (answer);
    lk_message_destroy (&answer);
}
END_TEST

START_TEST (no_address)
{
    lk_message_new ("lock", "LOCK");
}
END_TEST

START_TEST (no_command)
{
    lk_message_new ("lock@h1", "12345678901234567890123456789012");
}
END_TEST

START_TEST (no_sender)
{
    lk_message_set_from (message, "lock@*");
}
END_TEST

START_TEST (not_sent_yet)
{
    (void) !lk_message_write (message, &frame);
}
END_TEST

/*  -------------------------------------------------------- fields */

START_TEST (fields)
{
    uint64_t hex = 0;
    lk_message_set_text (message, "text", "gr\xc3\xbc\xc3\x9f \"x\"");
    lk_message_set_number (message, "number", INT64_MIN);
    lk_message_set_flag (message, "flag", true);
    lk_message_set_hex (message, "hex", 0xfedcba9876543210u);
    lk_message_add_item (message, "list", "one");
    lk_message_add_item (message, "list", "two");
    ck_assert_str_eq (lk_message_text (message, "text"),
                      "gr\xc3\xbc\xc3\x9f \"x\"");
    ck_assert_int_eq (lk_message_number (message, "number", 1), INT64_MIN);
    ck_assert (lk_message_flag (message, "flag"));
    ck_assert (lk_message_hex (message, "hex", &hex));
    ck_assert_uint_eq (hex, 0xfedcba9876543210u);
    ck_assert_str_eq (lk_message_item (message, "list", 0), "one");
    ck_assert_str_eq (lk_message_item (message, "list", 1), "two");
    ck_assert_ptr_null (lk_message_item (message, "list", 2));
    ck_assert_uint_eq (lk_message_item_count (message, "list"), 2);
    ck_assert_str_eq (lk_message_body (message),
                      "{\"text\":\"gr\xc3\xbc\xc3\x9f \\\"x\\\"\","
                      "\"number\":-9223372036854775808,\"flag\":true,"
                      "\"hex\":\"fedcba9876543210\","
                      "\"list\":[\"one\",\"two\"]}");
}
END_TEST

START_TEST (absent_fields)
{
    uint64_t hex = 5;
    ck_assert_ptr_null (lk_message_text (message, "x"));
    ck_assert_int_eq (lk_message_number (message, "x", -7), -7);
    ck_assert (!lk_message_flag (message, "x"));
    ck_assert (!lk_message_hex (message, "x", &hex));
    ck_assert_ptr_null (lk_message_item (message, "x", 0));
    ck_assert_uint_eq (lk_message_item_count (message, "x"), 0);
    ck_assert (!lk_message_has (message, "x"));
    ck_assert_uint_eq (hex, 5);
}
END_TEST

START_TEST (other_types)
{
    uint64_t hex;
    lk_message_set_text (message, "text", "1");
    lk_message_set_number (message, "number", 1);
    ck_assert (lk_message_has (message, "text"));
    ck_assert_int_eq (lk_message_number (message, "text", -7), -7);
    ck_assert (!lk_message_flag (message, "number"));
    ck_assert (!lk_message_hex (message, "text", &hex));
    ck_assert (!lk_message_hex (message, "number", &hex));
    ck_assert_ptr_null (lk_message_text (message, "number"));
    ck_assert_ptr_null (lk_message_item (message, "text", 0));
}
END_TEST

START_TEST (set_again)
{
    lk_message_set_text (message, "x", "1");
    ck_assert_str_eq (lk_message_body (message), "{\"x\":\"1\"}");
    lk_message_set_number (message, "x", 2);
    ck_assert_str_eq (lk_message_body (message), "{\"x\":2}");
    lk_message_add_item (message, "x", "3");
    ck_assert_str_eq (lk_message_body (message), "{\"x\":[\"3\"]}");
    lk_message_set_text (message, "x", NULL);
    ck_assert_str_eq (lk_message_body (message), "{}");
}
END_TEST

/*  What is no text stays away, so that a receiver misses it. */
START_TEST (no_text)
{
    lk_message_set_text (message, "x", "good");
    lk_message_set_text (message, "x", "bad \xff");
    lk_message_set_text (message, "y", "bad \xed\xa0\x80");
    lk_message_add_item (message, "z", "bad \xc0\xaf");
    ck_assert_str_eq (lk_message_body (message), "{\"z\":[]}");
}
END_TEST

/*  -------------------------------------------------------- rows */

START_TEST (rows)
{
    for (int i = 0; i < 3; i++) {
        lk_message *row = lk_message_row_new ();
        lk_message_set_number (row, "n", i);
        lk_message_add_row (message, "rows", &row);
        ck_assert_ptr_null (row);
    }
    ck_assert_uint_eq (lk_message_item_count (message, "rows"), 3);
    ck_assert_str_eq (lk_message_body (message),
                      "{\"rows\":[{\"n\":0},{\"n\":1},{\"n\":2}]}");
    lk_message *second = lk_message_row (message, "rows", 1);
    ck_assert_int_eq (lk_message_number (second, "n", -1), 1);
    lk_message_set_number (second, "n", 5);
    lk_message_destroy (&second);
    second = lk_message_row (message, "rows", 1);
    ck_assert_int_eq (lk_message_number (second, "n", -1), 1);
    lk_message_destroy (&second);
    ck_assert_ptr_null (lk_message_row (message, "rows", 3));
    ck_assert_ptr_null (lk_message_row (message, "none", 0));
}
END_TEST

/*  -------------------------------------------------------- bodies */

static const struct {
    const char *body;
    size_t size;
} refused[] = {
#define BODY(text)                                                             \
    {                                                                          \
        text, sizeof text - 1                                                  \
    }
    BODY (""),
    BODY (" "),
    BODY ("x"),
    BODY ("null"),
    BODY ("\"text\""),
    BODY ("[1]"),
    BODY ("{"),
    BODY ("{\"a\":1"),
    BODY ("{\"a\":1,}"),
    BODY ("{\"a\":1} {}"),
    BODY ("{\"a\":1}x"),
    BODY ("{\"a\":1}\0"),
    BODY ("{'a':1}"),
    BODY ("{\"a\":1,\"a\":1}"),
    BODY ("{\"o\":{\"a\":1,\"a\":1}}"),
    BODY ("{\"a\":\"\\u0000\"}"),
    BODY ("{\"a\\u0000\":1}"),
    BODY ("{\"a\":\"\0\"}"),
    BODY ("{\"a\":\"\xff\"}"),
    BODY ("{\"a\":\"\xc0\xaf\"}"),
    BODY ("{\"a\":\"\\ud800\"}"),
    BODY ("{\"a\":9223372036854775808}"),
    BODY ("{\"a\":1e999}"),
    BODY ("{\"a\":01}"),
    BODY ("{\"a\":[[[[[[[[1]]]]]]]]}"),
    BODY ("{\"a\":NaN}"),
#undef BODY
};

START_TEST (refused_bodies)
{
    char problem[128] = "";
    ck_assert_msg (!receive (refused[_i].body, refused[_i].size, problem),
                   "'%s' was taken", refused[_i].body);
    ck_assert_str_ne (problem, "");
}
END_TEST

START_TEST (accepted_bodies)
{
    static const char *const good[] = {
        "{}",
        " { } ",
        "{\"a\":[[[[[[[1]]]]]]]}",
        "{\"a\":\"[[[[[[[[[[ \\\" [[[[[[[[[[[\"}",
        "{\"a\":1.5,\"b\":null}",
        "{\"\":{}}"};
    char problem[128];
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        lk_message *one = receive (good[i], strlen (good[i]), problem);
        ck_assert_msg (one, "'%s': %s", good[i], problem);
        ck_assert_str_eq (lk_message_from (one), "b@h2");
        ck_assert_uint_eq (lk_message_serial (one), 9);
        lk_message_destroy (&one);
    }
}
END_TEST

/*  Also what is far deeper than a stack. */
START_TEST (very_deep)
{
    char problem[128];
    const size_t size = LK_BODY_SIZE_MAX;
    char *body = malloc (size);
    memset (body, '[', size);
    ck_assert_ptr_null (receive (body, size, problem));
    ck_assert_str_eq (problem, "nested too deep");
    free (body);
}
END_TEST

START_TEST (body_over_limit)
{
    char *text = malloc (LK_BODY_SIZE_MAX);
    memset (text, 'x', LK_BODY_SIZE_MAX - 1);
    text[LK_BODY_SIZE_MAX - 1] = '\0';
    lk_message_set_from (message, "app@h1");
    lk_message_set_text (message, "x", text);
    ck_assert_int_eq (lk_message_write (message, &frame), LK_OVERLOADED);
    ck_assert_uint_eq (frame.size, 0);
    free (text);
}
END_TEST

/*  -------------------------------------------------------- examples */

START_TEST (examples)
{
    size_t count;
    const lk_vector *all = lk_vectors (&count);
    for (size_t i = 0; i < count; i++) {
        const lk_vector *one = &all[i];
        lk_message *read = lk_vector_message (one);
        ck_assert_str_eq (lk_message_to (read), one->to);
        ck_assert_str_eq (lk_message_from (read), one->from);
        ck_assert_str_eq (lk_message_command (read), one->command);
        ck_assert_uint_eq (lk_message_serial (read), one->serial);

        char problem[128];
        json_t *body = lk_json_read (lk_slice_of (lk_message_body (read)),
                                     problem, sizeof problem);
        lk_slice packed; /* lock_packed.c has these */
        ck_assert_msg (lk_message_packed (read, &packed)
                           || json_equal (body, one->body),
                       "%s: another body", one->name);
        json_decref (body);

        lk_bytes_cut (&frame, 0);
        ck_assert_int_eq (lk_message_write (read, &frame), LK_OK);
        if (one->crossed) {
            frame.data[3] |= 4;
        }
        ck_assert_msg (frame.size == one->frame.size
                           && memcmp (frame.data, one->frame.data, frame.size)
                                  == 0,
                       "%s: another frame", one->name);
        lk_message_destroy (&read);
    }
}
END_TEST

/*  Built with the public functions, it is the example's very bytes. */
START_TEST (built_like_the_example)
{
    const lk_vector *want = lk_vector_find ("app-lock");
    lk_message *lock = lk_message_new ("lock@.", "LOCK");
    lk_message_set_from (lock, "backup-4711@h1");
    lk_message_set_serial (lock, 1);
    lk_message_set_ttl (lock, 10);
    lk_message_set_text (lock, "object", "backup/db-1");
    lk_message_set_number (lock, "wait", 10000);
    lk_message_set_number (lock, "duration", 0);
    lk_message_set_number (lock, "pid", 4711);
    lk_message_set_text (lock, "type", "exclusive");
    ck_assert_int_eq (lk_message_write (lock, &frame), LK_OK);
    ck_assert_uint_eq (frame.size, want->frame.size);
    ck_assert_mem_eq (frame.data, want->frame.data, frame.size);
    lk_message_destroy (&lock);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("message");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, envelope);
    tcase_add_test (tests, reply);
    tcase_add_test_raise_signal (tests, no_address, SIGABRT);
    tcase_add_test_raise_signal (tests, no_command, SIGABRT);
    tcase_add_test_raise_signal (tests, no_sender, SIGABRT);
    tcase_add_test_raise_signal (tests, not_sent_yet, SIGABRT);
    tcase_add_test (tests, fields);
    tcase_add_test (tests, absent_fields);
    tcase_add_test (tests, other_types);
    tcase_add_test (tests, set_again);
    tcase_add_test (tests, no_text);
    tcase_add_test (tests, rows);
    tcase_add_loop_test (tests, refused_bodies, 0,
                         sizeof refused / sizeof refused[0]);
    tcase_add_test (tests, accepted_bodies);
    tcase_add_test (tests, very_deep);
    tcase_add_test (tests, body_over_limit);
    tcase_add_test (tests, examples);
    tcase_add_test (tests, built_like_the_example);

    Suite *suite = suite_create ("message");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
