/*  frame.c - tests of the binary header, of addresses and of the examples
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/frame.h"
#include "lib/suite.h"
#include "lib/vector.h"
#include "lib/whole.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static lk_frame_header header;
static const char *problem;
static lk_bytes frame;

static void
tear_down (void)
{
    lk_bytes_clear (&frame);
}

/*  Adds a message with that body. */
static void
add (const char *to, uint64_t serial, const char *body)
{
    const lk_frame_envelope envelope = {
        .to = to, .from = "b@h1", .command = "CMD", .serial = serial};
    const size_t start = lk_frame_begin (&frame, &envelope);
    lk_bytes_add (&frame, body, strlen (body));
    ck_assert_int_eq (lk_frame_finish (&frame, start), LK_OK);
}

static lk_frame_result
first (void)
{
    size_t at = 0;
    return lk_frame_next (frame.data, frame.size, &at, &header, &problem);
}

static void
slice_eq (lk_slice slice, const char *text)
{
    ck_assert_msg (lk_slice_is (slice, text), "'%.*s' is not '%s'",
                   (int) slice.size, slice.data, text);
}

/*  -------------------------------------------------------- good frames */

START_TEST (packed)
{
    lk_frame_envelope envelope = {
        .to = "lock@h2", .from = "lock@h1", .command = "CMD", .packed = true};
    const size_t start = lk_frame_begin (&frame, &envelope);
    lk_bytes_add (&frame, "\0\xff", 2);
    ck_assert_int_eq (lk_frame_finish (&frame, start), LK_OK);
    ck_assert_int_eq (frame.data[3], 2);
    ck_assert_int_eq (first (), LK_FRAME_MESSAGE);
    ck_assert_int_eq (header.body_kind, LK_BODY_PACKED);
    ck_assert_uint_eq (header.body.size, 2);
    lk_bytes_cut (&frame, 0);
    ck_assert_int_eq (
        lk_frame_finish (&frame, lk_frame_begin (&frame, &envelope)), LK_OK);
    ck_assert_int_eq (frame.data[3], 0);
    ck_assert_int_eq (first (), LK_FRAME_MESSAGE);
    ck_assert_int_eq (header.body_kind, LK_BODY_NONE);
}
END_TEST

START_TEST (walk)
{
    add ("lock@h2", 7, "{\"a\":1}");
    add ("*@*", UINT64_MAX, "");
    size_t at = 0;
    ck_assert_int_eq (
        lk_frame_next (frame.data, frame.size, &at, &header, &problem),
        LK_FRAME_MESSAGE);
    slice_eq (header.to, "lock@h2");
    slice_eq (header.to_parts.service, "lock");
    slice_eq (header.to_parts.host, "h2");
    slice_eq (header.from, "b@h1");
    slice_eq (header.from_parts.service, "b");
    slice_eq (header.from_parts.host, "h1");
    slice_eq (header.command, "CMD");
    slice_eq (header.body, "{\"a\":1}");
    ck_assert_uint_eq (header.serial, 7);
    ck_assert_int_eq (header.body_kind, LK_BODY_JSON);
    ck_assert (!header.crossed);
    ck_assert_ptr_eq (header.whole.data, frame.data);
    ck_assert_uint_eq (header.whole.size, at);

    ck_assert_int_eq (
        lk_frame_next (frame.data, frame.size, &at, &header, &problem),
        LK_FRAME_MESSAGE);
    slice_eq (header.to_parts.service, "*");
    slice_eq (header.to_parts.host, "*");
    slice_eq (header.body, "");
    ck_assert_uint_eq (header.serial, UINT64_MAX);
    ck_assert_int_eq (header.body_kind, LK_BODY_NONE);
    ck_assert_int_eq (
        lk_frame_next (frame.data, frame.size, &at, &header, &problem),
        LK_FRAME_END);
    ck_assert (lk_frame_is_whole (frame.data, frame.size, &problem));
}
END_TEST

START_TEST (crossed_in_place)
{
    add ("*@*", 1, "{}");
    add ("*@*", 2, "{}");
    lk_bytes before = {0};
    lk_bytes_add (&before, frame.data, frame.size);
    size_t at = 0;
    lk_frame_next (frame.data, frame.size, &at, &header, &problem);
    const size_t second = at;
    lk_frame_next (frame.data, frame.size, &at, &header, &problem);
    lk_frame_set_crossed (frame.data, &header);
    ck_assert (header.crossed);
    for (size_t i = 0; i < frame.size; i++) {
        const char was = before.data[i];
        const char want = i == second + 3 ? (char) (was | 4) : was;
        ck_assert_int_eq (frame.data[i], want);
    }
    at = second;
    ck_assert_int_eq (
        lk_frame_next (frame.data, frame.size, &at, &header, &problem),
        LK_FRAME_MESSAGE);
    ck_assert (header.crossed);
    lk_bytes_clear (&before);
}
END_TEST

START_TEST (written_crossed)
{
    const lk_frame_envelope envelope = {
        .to = "*@*", .from = "b@h1", .command = "CMD", .crossed = true};
    lk_frame_finish (&frame, lk_frame_begin (&frame, &envelope));
    ck_assert_int_eq (first (), LK_FRAME_MESSAGE);
    ck_assert (header.crossed);
}
END_TEST

/*  -------------------------------------------------------- limits */

static lk_err
add_large (size_t body_size)
{
    const lk_frame_envelope envelope = {
        .to = "a@.", .from = "b@.", .command = "C"};
    const size_t start = lk_frame_begin (&frame, &envelope);
    memset (lk_bytes_grow (&frame, body_size), ' ', body_size);
    return lk_frame_finish (&frame, start);
}

START_TEST (body_limit)
{
    ck_assert_int_eq (add_large (LK_BODY_SIZE_MAX), LK_OK);
    ck_assert_int_eq (first (), LK_FRAME_MESSAGE);
    const size_t size = frame.size;
    ck_assert_int_eq (add_large (LK_BODY_SIZE_MAX + 1), LK_OVERLOADED);
    ck_assert_uint_eq (frame.size, size);
}
END_TEST

START_TEST (body_over_limit)
{
    add_large (LK_BODY_SIZE_MAX);
    lk_bytes_add (&frame, " ", 1);
    lk_bytes_put32 (frame.data + 4, (uint32_t) frame.size);
    ck_assert_int_eq (first (), LK_FRAME_BROKEN);
    ck_assert_str_eq (problem, "the body is over its limit");
}
END_TEST

/*  What carries one for others is a little longer, and nothing else is. */
START_TEST (relay_limit)
{
    static const struct {
        const char *command;
        bool packed;
        size_t extra;
    } rows[] = {{LK_RELAY, true, LK_RELAY_EXTRA_MAX},
                {LK_RELAY, false, 0},
                {"RELAYS", true, 0},
                {"RELA", true, 0}};
    const size_t most = LK_BODY_SIZE_MAX + rows[_i].extra;
    const lk_frame_envelope envelope = {.to = "a@.",
                                        .from = "b@.",
                                        .command = rows[_i].command,
                                        .packed = rows[_i].packed};
    for (size_t more = 0; more < 2; more++) {
        lk_bytes_cut (&frame, 0);
        const size_t start = lk_frame_begin (&frame, &envelope);
        memset (lk_bytes_grow (&frame, most + more), ' ', most + more);
        ck_assert_int_eq (lk_frame_finish (&frame, start),
                          more ? LK_OVERLOADED : LK_OK);
        ck_assert (more || first () == LK_FRAME_MESSAGE);
    }
    const size_t start = lk_frame_begin (&frame, &envelope);
    memset (lk_bytes_grow (&frame, most), ' ', most);
    ck_assert_int_eq (lk_frame_finish (&frame, start), LK_OK);
    lk_bytes_add (&frame, " ", 1);
    lk_bytes_put32 (frame.data + 4, (uint32_t) frame.size);
    ck_assert_int_eq (first (), LK_FRAME_BROKEN);
}
END_TEST

START_TEST (frame_limit)
{
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq (add_large (LK_BODY_SIZE_MAX), LK_OK);
    }
    ck_assert_int_eq (add_large (LK_BODY_SIZE_MAX), LK_OVERLOADED);
    ck_assert (lk_frame_is_whole (frame.data, frame.size, &problem));
    ck_assert_int_eq (add_large (LK_FRAME_SIZE_MAX - frame.size - 27), LK_OK);
    ck_assert_uint_eq (frame.size, LK_FRAME_SIZE_MAX);
    ck_assert (lk_frame_is_whole (frame.data, frame.size, &problem));
    lk_bytes_add (&frame, "", 1);
    ck_assert (!lk_frame_is_whole (frame.data, frame.size, &problem));
    ck_assert_str_eq (problem, "the frame is over its limit");
}
END_TEST

START_TEST (writes_no_nonsense)
{
    static const lk_frame_envelope bad[] = {
        {.to = "nowhere", .from = "b@h1", .command = "CMD"},
        {.to = "a@h1", .from = "*@h1", .command = "CMD"},
        {.to = "a@h1", .from = "", .command = "CMD"},
        {.to = "a@h1", .from = "b@h1", .command = "TWO WORDS"}};
    lk_frame_begin (&frame, &bad[_i]);
}
END_TEST

/*  Its router sets it, or takes it off; nothing else changes by that. */
START_TEST (privileged)
{
    add ("lock@h2", 5, "{\"a\":1}");
    ck_assert_int_eq (first (), LK_FRAME_MESSAGE);
    ck_assert (!header.privileged);
    lk_frame_set_crossed (frame.data, &header);
    lk_frame_set_privileged (frame.data, &header, true);
    ck_assert_int_eq (first (), LK_FRAME_MESSAGE);
    ck_assert (header.privileged && header.crossed);
    lk_frame_set_privileged (frame.data, &header, false);
    ck_assert (!header.privileged);
    ck_assert_int_eq (first (), LK_FRAME_MESSAGE);
    ck_assert (!header.privileged && header.crossed);
    ck_assert_int_eq (header.body_kind, LK_BODY_JSON);
}
END_TEST

/*  -------------------------------------------------------- broken frames */

static const struct {
    size_t at;
    uint8_t value;
    const char *problem;
} broken[] = {
    {0, 'l', "no tag"},
    {1, 'k', "no tag"},
    {2, 0, "another version of the protocol"},
    {2, 2, "another version of the protocol"},
    {3, 3, "a body of an unknown kind"},
    {3, 0, "the body is not of its kind"},
    {3, 17, "reserved bits are set"},
    {3, 0x81, "reserved bits are set"},
    {4, 1, "cut short"},
    {7, 42, "cut short"},
    {7, 19, "its parts are longer than the whole"},
    {7, 0, "its parts are longer than the whole"},
    {7, 34, "the body is not of its kind"},
    {16, 255, "its parts are longer than the whole"},
    {16, 0, "the receiver is no address"},
    {17, 0, "the sender is no address"},
    {18, 0, "the command is no name"},
    {20, '@', "the receiver is no address"},
    {20, '\0', "the receiver is no address"},
    {23, '@', "the receiver is no address"},
    {26, '/', "the receiver is no address"},
    {27, '*', "the sender is no address"},
    {29, ' ', "the sender is no address"},
    {31, '\n', "the command is no name"},
};

START_TEST (one_byte_broken)
{
    add ("lock@h2", 5, "{\"a\":1}");
    add ("lock@h2", 6, "{\"a\":1}");
    ck_assert_uint_eq (frame.size % 2, 0);
    frame.size /= 2;
    ck_assert_int_eq (first (), LK_FRAME_MESSAGE);
    frame.data[broken[_i].at] = (char) broken[_i].value;
    size_t at = 0;
    ck_assert_int_eq (
        lk_frame_next (frame.data, frame.size, &at, &header, &problem),
        LK_FRAME_BROKEN);
    ck_assert_str_eq (problem, broken[_i].problem);
    ck_assert_uint_eq (at, 0);
    ck_assert_ptr_null (header.to.data);
    ck_assert_uint_eq (header.serial, broken[_i].at < 3 ? 0 : 5);
}
END_TEST

/*  No byte behind the end may be read: the sanitizer sees it. */
START_TEST (every_cut)
{
    add ("lock@h2", 5, "{\"a\":1}");
    for (size_t size = 0; size < frame.size; size++) {
        char *copy = malloc (size ? size : 1);
        memcpy (copy, frame.data, size);
        ck_assert (!lk_frame_is_whole (copy, size, &problem));
        ck_assert_ptr_nonnull (problem);
        free (copy);
    }
    ck_assert (!lk_frame_is_whole (frame.data, 0, &problem));
    ck_assert_str_eq (problem, "an empty frame");
}
END_TEST

START_TEST (broken_behind_good)
{
    add ("lock@h2", 5, "{}");
    const size_t good = frame.size;
    lk_bytes_add (&frame, "LK", 2);
    size_t at = 0;
    ck_assert_int_eq (
        lk_frame_next (frame.data, frame.size, &at, &header, &problem),
        LK_FRAME_MESSAGE);
    ck_assert_int_eq (
        lk_frame_next (frame.data, frame.size, &at, &header, &problem),
        LK_FRAME_BROKEN);
    ck_assert_uint_eq (at, good);
    ck_assert (!lk_frame_is_whole (frame.data, frame.size, &problem));
}
END_TEST

/*  -------------------------------------------------------- addresses */

#define NAME_63                                                                \
    "123456789012345678901234567890123456789012345678901234567890123"

static bool
splits (const char *text)
{
    lk_address parts;
    return lk_address_split (lk_slice_of (text), &parts);
}

static bool
splits_sender (const char *text)
{
    lk_address parts;
    return lk_address_split_sender (lk_slice_of (text), &parts);
}

START_TEST (receivers)
{
    static const char *const good[] = {"lock@h2",
                                       "lock@.",
                                       "lock@?",
                                       "lock@*",
                                       "*@*",
                                       "*@.",
                                       "*@h2",
                                       "A-Za-z_0.9@h-1.example.org",
                                       NAME_63 "@" NAME_63,
                                       "-@_"};
    static const char *const bad[] = {"",
                                      "@",
                                      "lock",
                                      "lock@",
                                      "@h2",
                                      "lo ck@h2",
                                      "lock@h2@h3",
                                      "**@h2",
                                      "?@h2",
                                      ".@h2",
                                      "..@h2",
                                      "lock@..",
                                      "lock@**",
                                      "lock@h/2",
                                      "l\xc3\xb6k@h2",
                                      NAME_63 "4@h2",
                                      "lock@" NAME_63 "4",
                                      "lock@:1"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        ck_assert_msg (splits (good[i]), "'%s' is one", good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg (!splits (bad[i]), "'%s' is none", bad[i]);
    }
    ck_assert (!lk_address_is_name ((lk_slice) {"a\0b", 3}));
}
END_TEST

START_TEST (senders)
{
    ck_assert (splits_sender ("lock@h2"));
    ck_assert (splits_sender ("lock@."));
    ck_assert (!splits_sender ("*@h2"));
    ck_assert (!splits_sender ("lock@*"));
    ck_assert (!splits_sender ("lock@?"));
    ck_assert (!splits_sender (""));
}
END_TEST

START_TEST (commands)
{
    ck_assert (lk_address_is_command (lk_slice_of ("ELECTION_DATE")));
    ck_assert (lk_address_is_command (
        lk_slice_of ("1234567890123456789012345678901")));
    ck_assert (!lk_address_is_command (
        lk_slice_of ("12345678901234567890123456789012")));
    ck_assert (!lk_address_is_command (lk_slice_of ("")));
    ck_assert (!lk_address_is_command (lk_slice_of ("A*")));
}
END_TEST

/*  -------------------------------------------------------- examples */

START_TEST (examples)
{
    size_t count;
    const lk_vector *all = lk_vectors (&count);
    for (size_t i = 0; i < count; i++) {
        const lk_vector *one = &all[i];
        size_t at = 0;
        ck_assert_msg (lk_frame_next (one->frame.data, one->frame.size, &at,
                                      &header, &problem)
                           == LK_FRAME_MESSAGE,
                       "%s: %s", one->name, problem);
        ck_assert_uint_eq (at, one->frame.size);
        slice_eq (header.to, one->to);
        slice_eq (header.from, one->from);
        slice_eq (header.command, one->command);
        ck_assert_uint_eq (header.serial, one->serial);
        ck_assert_int_eq (header.crossed, one->crossed);
        ck_assert_uint_eq (header.ttl_s, one->ttl);

        const lk_frame_envelope envelope = {.to = one->to,
                                            .from = one->from,
                                            .command = one->command,
                                            .serial = one->serial,
                                            .ttl_s = (uint8_t) one->ttl,
                                            .crossed = one->crossed,
                                            .packed = header.body_kind
                                                      == LK_BODY_PACKED};
        lk_bytes_cut (&frame, 0);
        const size_t start = lk_frame_begin (&frame, &envelope);
        lk_bytes_add (&frame, header.body.data, header.body.size);
        lk_frame_finish (&frame, start);
        ck_assert_uint_eq (frame.size, one->frame.size);
        ck_assert_mem_eq (frame.data, one->frame.data, frame.size);
    }
    ck_assert_uint_ge (count, 80);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("frame");
    tcase_add_checked_fixture (tests, NULL, tear_down);
    tcase_add_test (tests, privileged);
    tcase_add_test (tests, walk);
    tcase_add_test (tests, packed);
    tcase_add_test (tests, crossed_in_place);
    tcase_add_test (tests, written_crossed);
    tcase_add_test (tests, body_limit);
    tcase_add_test (tests, body_over_limit);
    tcase_add_loop_test (tests, relay_limit, 0, 4);
    tcase_add_test (tests, frame_limit);
    tcase_add_loop_test_raise_signal (tests, writes_no_nonsense, SIGABRT, 0, 4);
    tcase_add_loop_test (tests, one_byte_broken, 0,
                         sizeof broken / sizeof broken[0]);
    tcase_add_test (tests, every_cut);
    tcase_add_test (tests, broken_behind_good);
    tcase_add_test (tests, receivers);
    tcase_add_test (tests, senders);
    tcase_add_test (tests, commands);
    tcase_add_test (tests, examples);

    Suite *suite = suite_create ("frame");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
