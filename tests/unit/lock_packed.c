/*  lock_packed.c - tests of the packed bodies between lock services
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each example of tests/vectors says the same packed; and nothing that is
 *  broken is taken, nor does any harm.
 */

#include "lib/example.h"
#include "lib/lock_copy.h"
#include "lib/suite.h"
#include "util/alloc.h"
#include "wire/message_frame.h"

#include <check.h>
#include <lockkeeper/lockkeeper.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_SIZE 18

static lk_hostmap hostmap;
static lk_lock_message got;
static lk_arena arena;

static void
set_up (void)
{
    lk_example_hostmap (&hostmap);
    lk_arena_init (&arena);
    memset (&got, 0, sizeof got);
}

static void
tear_down (void)
{
    lk_lock_message_clear (&got);
    lk_arena_clear (&arena);
}

/*  Calls `visit` with each example between lock services, in `got`. */
static int
each_example (void (*visit) (const lk_vector *example))
{
    size_t count;
    int examples = 0;
    const lk_vector *all = lk_vectors (&count);
    for (size_t i = 0; i < count; i++) {
        if (lk_example_is_lock (&all[i])) {
            lk_example_take (all[i].name, &hostmap, &got);
            visit (&all[i]);
            lk_lock_message_clear (&got);
            examples++;
        }
    }
    ck_assert_int_gt (examples, 50);
    return examples;
}

/*  A message with that body, as it arrives. */
static lk_message *
arrive_as (lk_frame_envelope envelope, const char *body, size_t size)
{
    lk_frame_header header;
    const char *why;
    char problem[128];
    size_t at = 0;
    lk_bytes frame = {0};
    const size_t start = lk_frame_begin (&frame, &envelope);
    lk_bytes_add (&frame, body, size);
    ck_assert_int_eq (lk_frame_finish (&frame, start), LK_OK);
    ck_assert_int_eq (
        lk_frame_next (frame.data, frame.size, &at, &header, &why),
        LK_FRAME_MESSAGE);
    lk_message *message = lk_message_read (&header, problem, sizeof problem);
    ck_assert_ptr_nonnull (message);
    lk_bytes_clear (&frame);
    return message;
}

static lk_message *
arrive (const char *from, const char *command, const char *body, size_t size)
{
    const lk_frame_envelope envelope = {
        .to = "lock@h1", .from = from, .command = command, .packed = true};
    return arrive_as (envelope, body, size);
}

static lk_slice
body_of (const lk_message *message)
{
    lk_slice body;
    ck_assert (lk_message_packed (message, &body));
    return body;
}

/*  What comes of these bytes instead of an example's. The hostmap is as it was
 *  if nothing comes of them, and an example's afterwards. */
static lk_err
take (const lk_vector *example, const char *body, size_t size)
{
    lk_lock_message read;
    const lk_hostmap before = hostmap;
    lk_message *message = arrive (example->from, example->command, body, size);
    const lk_err error = lk_lock_read (message, &hostmap, H1, &arena, &read);
    if (error == LK_OK) {
        lk_message *again = lk_lock_pack (&read, &hostmap, read.from);
        lk_message_destroy (&again);
    } else {
        ck_assert_mem_eq (&hostmap, &before, sizeof hostmap);
    }
    (void) lk_message_body (message);
    lk_message_destroy (&message);
    lk_arena_reset (&arena);
    lk_example_hostmap (&hostmap);
    return error;
}

static lk_message *
pack (const lk_vector *example)
{
    lk_message *packed = lk_lock_pack (&got, &hostmap, got.from);
    lk_message_set_from (packed, example->from);
    return packed;
}

/*  -------------------------------------------------------- both notations */

/*  What is read from `there`, to be destroyed, is what the example says. */
static void
is_example (lk_message *there, const lk_vector *example)
{
    lk_lock_message read;
    ck_assert_int_eq (lk_lock_read (there, &hostmap, H1, &arena, &read), LK_OK);
    ck_assert_uint_eq (hostmap.count, 3);
    lk_message *again = lk_example_encode (example, &read, &hostmap);
    lk_message_set_from (again, example->from);
    ck_assert_str_eq (lk_vector_differs (example, again), "");
    lk_message_destroy (&again);
    lk_message_destroy (&there);
    lk_arena_reset (&arena);
}

static void
says_the_same (const lk_vector *example)
{
    lk_message *packed = pack (example);
    const lk_slice body = body_of (packed);
    is_example (arrive (example->from, example->command, body.data, body.size),
                example);
    lk_message_destroy (&packed);
}

START_TEST (same_as_json)
{
    each_example (says_the_same);
}
END_TEST

/*  What we write is what the page says, byte by byte; and it is read. */
static void
is_vector (const lk_vector *example)
{
    char name[80];
    if (got.kind == LK_MSG_STARTED) {
        return; /* always JSON */
    }
    snprintf (name, sizeof name, "packed-%s", example->name + strlen ("lock-"));
    const lk_vector *vector = lk_vector_find (name);
    lk_message *packed = pack (example);
    lk_bytes frame = {0};
    ck_assert_int_eq (lk_message_write (packed, &frame), LK_OK);
    ck_assert_msg (frame.size == vector->frame.size
                       && memcmp (frame.data, vector->frame.data, frame.size)
                              == 0,
                   "%s: another frame", name);
    is_example (lk_vector_message (vector), example);
    ck_assert (json_equal (vector->body, example->body));
    lk_bytes_clear (&frame);
    lk_message_destroy (&packed);
}

START_TEST (vectors)
{
    each_example (is_vector);
}
END_TEST

/*  Printed, by somebody who knows no host. */
static void
prints_the_same (const lk_vector *example)
{
    lk_message *packed = pack (example);
    const lk_frame_envelope envelope = {
        .to = "lock@h1", .from = example->from, .command = example->command};
    const char *text = lk_message_body (packed);
    is_example (arrive_as (envelope, text, strlen (text)), example);
    lk_message_destroy (&packed);
}

START_TEST (printed)
{
    each_example (prints_the_same);
}
END_TEST

/*  For one that is older than some fields, and from one: as long as it is. */
static void
is_of_level (const lk_vector *example, uint8_t level)
{
    lk_message *packed = lk_lock_write (&got, &hostmap, got.from, level);
    const lk_slice body = body_of (packed);
    ck_assert_uint_eq ((uint8_t) body.data[0], level);
    ck_assert_int_eq (take (example, body.data, body.size), LK_OK);
    lk_message_destroy (&packed);
}

static void
is_of_each_level (const lk_vector *example)
{
    for (uint8_t level = 1; level <= LK_PACKED_LEVEL; level++) {
        is_of_level (example, level);
        lk_example_take (example->name, &hostmap, &got);
    }
    lk_message *json = lk_lock_write (&got, &hostmap, got.from, 0);
    lk_slice body;
    ck_assert (!lk_message_packed (json, &body));
    lk_message_destroy (&json);
    lk_message *later = lk_lock_write (&got, &hostmap, got.from, UINT8_MAX);
    ck_assert_uint_eq ((uint8_t) body_of (later).data[0], LK_PACKED_LEVEL);
    lk_message_destroy (&later);
}

START_TEST (levels)
{
    each_example (is_of_each_level);
}
END_TEST

static void
is_shorter (const lk_vector *example)
{
    lk_message *packed = pack (example);
    const size_t json = strlen (lk_message_body (packed));
    ck_assert_msg (2 * body_of (packed).size < json, "%s: %zu of %zu bytes",
                   example->name, body_of (packed).size, json);
    lk_message_destroy (&packed);
}

START_TEST (shorter)
{
    each_example (is_shorter);
}
END_TEST

/*  -------------------------------------------------------- broken ones */

static void
cut_everywhere (const lk_vector *example)
{
    lk_message *packed = pack (example);
    const lk_slice body = body_of (packed);
    for (size_t size = 1; size < body.size; size++) {
        ck_assert_msg (take (example, body.data, size) == LK_INVALID,
                       "%s, %zu of %zu bytes", example->name, size, body.size);
    }
    lk_message_destroy (&packed);
}

START_TEST (cut)
{
    each_example (cut_everywhere);
}
END_TEST

static void
one_byte_more (const lk_vector *example)
{
    lk_message *packed = pack (example);
    const lk_slice body = body_of (packed);
    char *longer = lk_memdup (body.data, body.size);
    ck_assert_int_eq (take (example, longer, body.size), LK_OK);
    ck_assert_int_eq (take (example, longer, body.size + 1), LK_INVALID);
    lk_free (longer);
    lk_message_destroy (&packed);
}

START_TEST (longer)
{
    each_example (one_byte_more);
}
END_TEST

/*  Most bits make it another message or none; all that matters is that it is
 *  one of these. Sanitizers look on. */
static void
flip_all_bits (const lk_vector *example)
{
    lk_message *packed = pack (example);
    const lk_slice body = body_of (packed);
    char *copy = lk_memdup (body.data, body.size);
    for (size_t bit = 0; bit < 8 * body.size; bit++) {
        copy[bit / 8] = (char) (copy[bit / 8] ^ 1 << bit % 8);
        (void) take (example, copy, body.size);
        copy[bit / 8] = (char) (copy[bit / 8] ^ 1 << bit % 8);
    }
    ck_assert_int_eq (take (example, copy, body.size), LK_OK);
    lk_free (copy);
    lk_message_destroy (&packed);
}

START_TEST (flipped)
{
    each_example (flip_all_bits);
}
END_TEST

/*  Bytes put in place of all behind the head of an ACKED, which are:
 *  term (number, proposer), flags (no origin, no destination), home, sequence,
 *  hash. */
#define TERM "\x07\x1f\x0e\x6a\x5b\x9c\x3d\x28\x71"
#define HASH "12345678"
static const struct {
    const char *bytes;
    size_t size;
    bool good;
} values[] = {
#define ROW(text, good)                                                        \
    {                                                                          \
        text, sizeof (text) - 1, good                                          \
    }
    ROW (TERM "\0\0\x09" HASH, true),
    ROW (TERM "\0\x04\x09" HASH, true),
    ROW (TERM "\0\x05\x09" HASH, false), /* home */
    ROW (TERM "\0\x84\x00\x09" HASH, false),
    ROW (TERM "\0\0\xff\xff\xff\xff\xff\xff\xff\x0f" HASH, true),
    ROW (TERM "\0\0\x80\x80\x80\x80\x80\x80\x80\x10" HASH, false),
    ROW (TERM "\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" HASH, false),
    ROW (TERM "\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02" HASH, false),
    ROW (TERM "\0\0\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01" HASH, false),
    ROW (TERM "\0\0\x80\x00" HASH, false),
    ROW ("\xff\xff\x7f"
         "ABCDEFGH"
         "\0\0\x09" HASH,
         true),
    ROW ("\x80\x80\x80\x01"
         "ABCDEFGH"
         "\0\0\x09" HASH,
         false),
    /*  with an origin: the sender, a new host, and one that is none */
    ROW (TERM "\x01\x00\x04\x09" HASH, true),
    ROW (TERM "\x01\x01\x02h9ABCDEFGH\x04\x09" HASH, true),
    ROW (TERM "\x01\x01\x02h9\0\0\0\0\0\0\0\0\x04\x09" HASH, true),
    ROW (TERM "\x01\x02\x02h9ABCDEFGH\x04\x09" HASH, false),
    ROW (TERM "\x01\x01\x02h\0ABCDEFGH\x04\x09" HASH, false),
    ROW (TERM "\x01\x01\x01*ABCDEFGH\x04\x09" HASH, false),
    ROW (TERM "\x01\x01\x00"
              "ABCDEFGH\x04\x09" HASH,
         false),
    ROW (TERM "\x01\x01\x04\x09" HASH, false), /* not named before */
    ROW (TERM "\x01\x02\x04\x09" HASH, false),
    ROW (TERM "\x01\xff\x04\x09" HASH, false),
#undef ROW
};

START_TEST (ranges)
{
    char body[256];
    const lk_vector *example = lk_vector_find ("lock-acked");
    lk_example_take ("lock-acked", &hostmap, &got);
    lk_message *packed = pack (lk_vector_find ("lock-acked"));
    memcpy (body, body_of (packed).data, HEAD_SIZE);
    lk_message_destroy (&packed);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        memcpy (body + HEAD_SIZE, values[i].bytes, values[i].size);
        const lk_err error = take (example, body, HEAD_SIZE + values[i].size);
        ck_assert_msg ((error == LK_OK) == values[i].good, "row %zu: %d", i,
                       error);
    }
}
END_TEST

/*  Level, kind, id, to_id. */
START_TEST (heads)
{
    static const struct {
        size_t at;
        char byte;
        lk_err error;
    } rows[] = {
        {0, 0, LK_INVALID},          {0, 3, LK_INVALID},
        {1, LK_MSG_OPS, LK_INVALID}, {1, LK_MSG_COUNT, LK_INVALID},
        {1, (char) 255, LK_INVALID}, {2, 1, LK_OK}, /* another sender */
        {10, 1, LK_REFUSED},                        /* another receiver */
    };
    char body[256];
    const lk_vector *example = lk_vector_find ("lock-acked");
    lk_example_take ("lock-acked", &hostmap, &got);
    lk_message *packed = pack (lk_vector_find ("lock-acked"));
    const lk_slice whole = body_of (packed);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        memcpy (body, whole.data, whole.size);
        body[rows[i].at] = rows[i].byte;
        ck_assert_int_eq (take (example, body, whole.size), rows[i].error);
    }
    memset (body, 0, HEAD_SIZE);
    memcpy (body, whole.data, 2);
    ck_assert_int_eq (take (example, body, whole.size), LK_INVALID);
    memcpy (body + 2, whole.data + 2, 8); /* its receiver is not known */
    ck_assert_int_eq (take (example, body, whole.size), LK_OK);
    lk_message_destroy (&packed);
}
END_TEST

/*  -------------------------------------------------------- fields of it */

/*  It has no fields for who does not know it; who writes one begins anew. */
START_TEST (no_fields)
{
    uint64_t id;
    lk_slice body;
    lk_example_take ("lock-acked", &hostmap, &got);
    lk_message *packed = pack (lk_vector_find ("lock-acked"));
    ck_assert_ptr_null (lk_message_text (packed, "stage"));
    ck_assert_int_eq (lk_message_number (packed, "home", -7), -7);
    ck_assert (!lk_message_hex (packed, "id", &id));
    ck_assert (!lk_message_has (packed, "id"));
    lk_message_set_text (packed, "a", "b");
    ck_assert (!lk_message_packed (packed, &body));
    ck_assert_str_eq (lk_message_body (packed), "{\"a\":\"b\"}");
    lk_message_destroy (&packed);
    packed = arrive ("lock@h2", "VOTE", "nonsense", 8);
    ck_assert_str_eq (lk_message_body (packed), "{}");
    ck_assert (!lk_lock_sender (packed, &id));
    lk_message_destroy (&packed);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("lock_packed");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, same_as_json);
    tcase_add_test (tests, vectors);
    tcase_add_test (tests, printed);
    tcase_add_test (tests, levels);
    tcase_add_test (tests, shorter);
    tcase_add_test (tests, cut);
    tcase_add_test (tests, longer);
    tcase_add_test (tests, flipped);
    tcase_add_test (tests, ranges);
    tcase_add_test (tests, heads);
    tcase_add_test (tests, no_fields);

    Suite *suite = suite_create ("lock_packed");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
