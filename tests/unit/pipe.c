/*  pipe.c - a service and its router in one loop
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/suite.h"
#include "net/link.h"
#include "wire/frame.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static lk_pipe it;
static lk_part part;
static char calls[32]; /* O: opened, M: messages */
static size_t messages;

static void
note (char what)
{
    const size_t size = strlen (calls);
    ck_assert_uint_lt (size + 1, sizeof calls);
    calls[size] = what;
    calls[size + 1] = '\0';
}

static void
on_sign (void *user)
{
    (void) user;
    note (lk_pipe_was_opened (&it) ? 'O' : 'M');
    ck_assert (!lk_pipe_was_opened (&it));
    while (lk_pipe_receive (&it, &part)) {
        messages++;
    }
}

static void
set_up (void)
{
    lk_pipe_init (&it);
    lk_part_init (&part);
    it.fn = on_sign;
    calls[0] = '\0';
    messages = 0;
}

static void
tear_down (void)
{
    lk_part_clear (&part);
    lk_pipe_clear (&it);
}

static void
fill (const char *text)
{
    lk_part_fill (&part, text, strlen (text));
}

static void
has (const char *text)
{
    ck_assert_uint_eq (lk_part_size (&part), strlen (text));
    ck_assert_mem_eq (lk_part_data (&part), text, strlen (text));
}

START_TEST (frames_keep_their_order_and_are_moved)
{
    lk_pipe_open (&it);
    fill ("one");
    ck_assert (lk_pipe_send (&it, &part));
    ck_assert_uint_eq (lk_part_size (&part), 0);
    fill ("two");
    ck_assert (lk_pipe_send (&it, &part));
    fill ("in");
    ck_assert (lk_pipe_give (&it, &part));
    ck_assert_uint_eq (lk_part_size (&part), 0);
    ck_assert (lk_pipe_take (&it, &part));
    has ("one");
    ck_assert (lk_pipe_take (&it, &part));
    has ("two");
    ck_assert (!lk_pipe_take (&it, &part));
    ck_assert (lk_pipe_receive (&it, &part));
    has ("in");
    ck_assert (!lk_pipe_receive (&it, &part));
}
END_TEST

START_TEST (a_service_is_told_once_that_it_is_open)
{
    ck_assert (!lk_pipe_deliver (&it));
    lk_pipe_open (&it);
    fill ("in");
    ck_assert (lk_pipe_give (&it, &part));
    fill ("in");
    ck_assert (lk_pipe_give (&it, &part));
    ck_assert (lk_pipe_deliver (&it));
    ck_assert_str_eq (calls, "O");
    ck_assert_uint_eq (messages, 2);
    ck_assert (!lk_pipe_deliver (&it));
    fill ("in");
    ck_assert (lk_pipe_give (&it, &part));
    ck_assert (lk_pipe_deliver (&it));
    ck_assert_str_eq (calls, "OM");
}
END_TEST

START_TEST (what_was_sent_before_the_end_is_taken)
{
    lk_pipe_open (&it);
    fill ("last");
    ck_assert (lk_pipe_send (&it, &part));
    fill ("in");
    ck_assert (lk_pipe_give (&it, &part));
    lk_pipe_close (&it);
    fill ("late");
    ck_assert (!lk_pipe_send (&it, &part));
    ck_assert (lk_pipe_give (&it, &part));
    ck_assert (!lk_pipe_receive (&it, &part));
    ck_assert (!lk_pipe_deliver (&it));
    ck_assert (lk_pipe_take (&it, &part));
    has ("last");
    ck_assert (!lk_pipe_take (&it, &part));
}
END_TEST

/*  All beyond that waits in the router, which has bounds of its own. */
START_TEST (so_much_waits_for_a_service)
{
    static char much[256 * 1024];
    size_t given = 0;
    lk_pipe_open (&it);
    lk_part_fill (&part, much, sizeof much);
    while (lk_pipe_give (&it, &part)) {
        given += sizeof much;
        lk_part_fill (&part, much, sizeof much);
    }
    ck_assert_uint_eq (given, LK_PIPE_SIZE_MAX);
    ck_assert_uint_eq (lk_part_size (&part), sizeof much);
    lk_part_clear (&part);
    ck_assert (lk_pipe_receive (&it, &part));
    ck_assert (lk_pipe_give (&it, &part));
    ck_assert (!lk_pipe_give (&it, &part));
}
END_TEST

/*  It is told so once, keeps nothing of what it had not read, and may open it
 *  anew. */
START_TEST (a_service_that_is_cut_off_opens_it_anew)
{
    lk_slice frame;
    lk_link link;
    lk_link_init_pipe (&link, &it);
    lk_link_join (&link, NULL, on_sign, NULL);
    ck_assert_int_eq (lk_link_open (&link, NULL), LK_OK);
    fill ("in");
    ck_assert (lk_pipe_give (&it, &part));
    lk_pipe_cut (&it);
    fill ("late");
    ck_assert (lk_pipe_give (&it, &part));
    ck_assert (!lk_pipe_send (&it, &part));
    ck_assert (lk_pipe_deliver (&it));
    ck_assert_str_eq (calls, "M");
    ck_assert_uint_eq (messages, 0);
    ck_assert_int_eq (lk_link_next (&link, &frame), LK_IO_ERROR);
    lk_link_drop (&link);
    ck_assert (!lk_pipe_deliver (&it));
    lk_pipe_cut (&it);
    ck_assert (!lk_pipe_deliver (&it));
    ck_assert_int_eq (lk_link_open (&link, NULL), LK_OK);
    fill ("again");
    ck_assert (lk_pipe_give (&it, &part));
    ck_assert (lk_pipe_deliver (&it));
    ck_assert_str_eq (calls, "MO");
    ck_assert_uint_eq (messages, 1);
    lk_link_clear (&link);
}
END_TEST

START_TEST (there_is_a_limit_for_the_router)
{
    size_t count = 0;
    lk_pipe_open (&it);
    fill ("x");
    while (count < 1000 && lk_pipe_send (&it, &part)) {
        count++;
        fill ("x");
    }
    ck_assert_uint_eq (count, 256);
    has ("x");
}
END_TEST

/*  -------------------------------------------------------- turns */

static lk_link service;
static uint64_t last; /* serial */

/*  Messages come one by one, and none is left out. */
static void
count_messages (lk_slice frame)
{
    lk_frame_header header;
    const char *problem;
    size_t at = 0;
    while (lk_frame_next (frame.data, frame.size, &at, &header, &problem)
           == LK_FRAME_MESSAGE) {
        ck_assert_uint_eq (header.serial, ++last);
    }
    ck_assert_uint_eq (at, frame.size);
    messages += frame.size;
}

static void
read_turn (void *user)
{
    lk_slice frame;
    (void) user;
    messages = 0;
    (void) lk_link_came_up (&service);
    while (lk_link_next (&service, &frame) == LK_IO_DONE) {
        count_messages (frame);
    }
}

static void
give_messages (uint64_t first, size_t count)
{
    lk_frame_envelope envelope = {
        .to = "lock@h1", .from = "a@h1", .command = "LOCK"};
    lk_bytes frame = {0};
    for (size_t i = 0; i < count; i++) {
        envelope.serial = first + i;
        const size_t start = lk_frame_begin (&frame, &envelope);
        ck_assert_int_eq (lk_frame_finish (&frame, start), LK_OK);
    }
    lk_part_fill (&part, frame.data, frame.size);
    ck_assert (lk_pipe_give (&it, &part));
    lk_bytes_clear (&frame);
}

START_TEST (a_service_reads_so_much_in_a_turn)
{
    enum { SMALL = 10, LARGE = 20000 };
    size_t turns = 0;
    last = 0;
    lk_link_init_pipe (&service, &it);
    lk_link_join (&service, NULL, read_turn, NULL);
    ck_assert_int_eq (lk_link_open (&service, NULL), LK_OK);
    give_messages (1, SMALL);
    give_messages (1 + SMALL, LARGE);
    give_messages (1 + SMALL + LARGE, SMALL);
    while (lk_pipe_deliver (&it)) {
        ck_assert_uint_lt (messages, 2 * LK_PIPE_TURN_SIZE + 100);
        turns++;
    }
    ck_assert_uint_eq (last, SMALL + LARGE + SMALL);
    ck_assert_uint_gt (turns, 10);

    give_messages (last + 1, LARGE);
    ck_assert (lk_pipe_deliver (&it));
    lk_link_drop (&service);
    ck_assert (!lk_pipe_deliver (&it));
    lk_link_clear (&service);
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("pipe");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_add_test (tcase, frames_keep_their_order_and_are_moved);
    tcase_add_test (tcase, a_service_is_told_once_that_it_is_open);
    tcase_add_test (tcase, what_was_sent_before_the_end_is_taken);
    tcase_add_test (tcase, so_much_waits_for_a_service);
    tcase_add_test (tcase, a_service_that_is_cut_off_opens_it_anew);
    tcase_add_test (tcase, there_is_a_limit_for_the_router);
    tcase_add_test (tcase, a_service_reads_so_much_in_a_turn);
    Suite *suite = suite_create ("pipe");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
