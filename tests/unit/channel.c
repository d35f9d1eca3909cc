/*  channel.c - what goes to another host: once, and in its order
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "channel.h"
#include "bounds.h"
#include "lib/suite.h"

#include <string.h>

/*  Two ends, each with a connection to the other. */
static lk_hop way[2];
static lk_channel end[2];
static lk_budget budget;
static lk_hops hops;

static void
set_up (void)
{
    budget = (lk_budget) {.most = LK_NEIGHBOURS_SIZE_MAX};
    hops = (lk_hops) {.first = NULL};
    for (int i = 0; i < 2; i++) {
        lk_channel_init (&end[i], (uint64_t) i + 1, &way[i], &budget);
        end[i].numbered = true;
    }
}

static void
tear_down (void)
{
    for (int i = 0; i < 2; i++) {
        lk_channel_clear (&end[i]);
    }
    ck_assert_uint_eq (budget.size, 0);
}

/*  They know each other's numbers. */
static void
introduce (void)
{
    ck_assert_int_eq (lk_channel_meet (&end[1], 1, 0), LK_CHANNEL_LEARNED);
    ck_assert_int_eq (lk_channel_meet (&end[0], 2, 1), LK_CHANNEL_LEARNED);
    ck_assert_int_eq (lk_channel_meet (&end[1], 1, 2), LK_CHANNEL_SAME);
    end[0].counted = end[1].counted = true;
}

static void
add (lk_channel *self, const char *text)
{
    lk_part frame;
    lk_part_init (&frame);
    lk_part_fill (&frame, text, strlen (text));
    ck_assert_int_eq (lk_outbox_add (&self->out.box, &frame), LK_OK);
    lk_part_clear (&frame);
}

/*  Sends the next frame: its first byte, or '-'. */
static char
sent (lk_channel *self, uint64_t *number)
{
    lk_part *frame = lk_channel_first (self, number);
    if (frame == NULL) {
        return '-';
    }
    const char first = *(const char *) lk_part_data (frame);
    lk_channel_sent (self);
    return first;
}

static void
send_three (void)
{
    static const char *const texts[] = {"a", "b", "c"};
    uint64_t number;
    for (uint64_t i = 0; i < 3; i++) {
        add (&end[0], texts[i]);
        ck_assert_int_eq (sent (&end[0], &number), 'a' + (int) i);
        ck_assert_uint_eq (number, i + 1);
    }
    ck_assert_int_eq (sent (&end[0], &number), '-');
    ck_assert_uint_eq (end[0].kept.count, 3);
}

START_TEST (nothing_leaves_before_it_is_counted)
{
    uint64_t number;
    add (&end[0], "a");
    ck_assert_int_eq (sent (&end[0], &number), '-');
    introduce ();
    ck_assert_int_eq (sent (&end[0], &number), 'a');
    ck_assert_uint_eq (number, 1);
}
END_TEST

START_TEST (an_old_one_has_no_numbers)
{
    uint64_t number;
    end[0].numbered = false;
    add (&end[0], "a");
    ck_assert_int_eq (sent (&end[0], &number), 'a');
    ck_assert_uint_eq (number, 0);
    ck_assert_uint_eq (end[0].kept.count, 0);
    ck_assert_uint_eq (budget.size, 0);
}
END_TEST

START_TEST (what_was_heard_is_not_kept)
{
    introduce ();
    send_three ();
    ck_assert (lk_channel_acked (&end[0], 2));
    ck_assert_uint_eq (end[0].kept.count, 1);
    ck_assert (lk_channel_acked (&end[0], 1));
    ck_assert (!lk_channel_acked (&end[0], 4));
    ck_assert_uint_eq (end[0].acked, 2);
    ck_assert (lk_channel_acked (&end[0], 3));
    ck_assert_uint_eq (budget.size, 0);
}
END_TEST

START_TEST (what_was_not_heard_is_said_again)
{
    uint64_t number;
    introduce ();
    send_three ();
    ck_assert (lk_channel_acked (&end[0], 1));
    lk_channel_again (&end[0]);
    ck_assert_uint_eq (lk_channel_next (&end[0]), 2);
    ck_assert_int_eq (sent (&end[0], &number), 'b');
    ck_assert_uint_eq (number, 2);
    add (&end[0], "d");
    ck_assert_int_eq (sent (&end[0], &number), 'c');
    ck_assert_int_eq (sent (&end[0], &number), 'd');
    ck_assert_uint_eq (number, 4);
    ck_assert_int_eq (sent (&end[0], &number), '-');
}
END_TEST

/*  It was heard by the earlier connection, while it is being said again. */
START_TEST (heard_ahead_of_what_is_said_again)
{
    uint64_t number;
    introduce ();
    send_three ();
    lk_channel_again (&end[0]);
    ck_assert_int_eq (sent (&end[0], &number), 'a');
    ck_assert (lk_channel_acked (&end[0], 2));
    /*  The other end was told that b comes next. */
    ck_assert (!end[0].counted);
    ck_assert_int_eq (sent (&end[0], &number), '-');
    lk_channel_again (&end[0]);
    end[0].counted = true;
    ck_assert_int_eq (sent (&end[0], &number), 'c');
    ck_assert_uint_eq (number, 3);
    ck_assert (lk_channel_acked (&end[0], 3) && end[0].counted);
}
END_TEST

START_TEST (the_next_one_alone_is_taken)
{
    introduce ();
    ck_assert (!lk_channel_take (&end[1], 0, 10));
    ck_assert (!lk_channel_take (&end[1], 2, 10));
    ck_assert (lk_channel_take (&end[1], 1, 10));
    ck_assert (!lk_channel_take (&end[1], 1, 10));
    ck_assert (lk_channel_take (&end[1], 2, 10));
    ck_assert_uint_eq (end[1].heard, 2);
}
END_TEST

START_TEST (nothing_is_taken_by_who_is_not_known)
{
    ck_assert_int_eq (lk_channel_meet (&end[1], 1, 0), LK_CHANNEL_LEARNED);
    ck_assert (!lk_channel_take (&end[1], 1, 10));
}
END_TEST

START_TEST (much_that_was_heard_is_told)
{
    introduce ();
    for (uint64_t i = 1; i <= LK_UNTOLD_FRAMES_MAX; i++) {
        ck_assert (!lk_channel_has_to_tell (&end[1]));
        ck_assert (lk_channel_take (&end[1], i, 1));
    }
    ck_assert (lk_channel_has_to_tell (&end[1]));
    lk_channel_told (&end[1]);
    ck_assert (lk_channel_take (&end[1], LK_UNTOLD_FRAMES_MAX + 1,
                                LK_UNTOLD_SIZE_MAX));
    ck_assert (lk_channel_has_to_tell (&end[1]));
}
END_TEST

START_TEST (no_more_is_kept_than_may_wait)
{
    uint64_t number;
    introduce ();
    for (int i = 0; i < LK_OUTBOX_FRAMES_MAX; i++) {
        add (&end[0], "x");
        ck_assert_int_eq (sent (&end[0], &number), 'x');
    }
    add (&end[0], "y");
    ck_assert_int_eq (sent (&end[0], &number), '-');
    ck_assert (lk_channel_acked (&end[0], 1));
    ck_assert_int_eq (sent (&end[0], &number), 'y');
}
END_TEST

START_TEST (who_has_begun_anew_is_found_out)
{
    introduce ();
    lk_channel_begin (&end[0], 3);
    /*  The word that it hears is for the former one. */
    ck_assert_int_eq (lk_channel_meet (&end[0], 2, 1), LK_CHANNEL_LEARNED);
    ck_assert (!end[0].bound);
    ck_assert_int_eq (lk_channel_meet (&end[0], 2, 1), LK_CHANNEL_OLD);
    /*  It speaks of another one. */
    ck_assert_int_eq (lk_channel_meet (&end[1], 3, 0), LK_CHANNEL_ANEW);
    lk_channel_begin (&end[1], 4);
    ck_assert_int_eq (lk_channel_meet (&end[1], 3, 0), LK_CHANNEL_LEARNED);
    ck_assert_int_eq (lk_channel_meet (&end[0], 4, 3), LK_CHANNEL_LEARNED);
    ck_assert_int_eq (lk_channel_meet (&end[1], 3, 4), LK_CHANNEL_SAME);
    ck_assert (end[0].bound && end[1].bound);
}
END_TEST

/*  A word that was long on its way changes nothing: else both would begin anew
 *  for ever. */
START_TEST (a_late_word_is_forgotten)
{
    ck_assert_int_eq (lk_channel_meet (&end[0], 9, 0), LK_CHANNEL_LEARNED);
    ck_assert_int_eq (lk_channel_meet (&end[0], 2, 1), LK_CHANNEL_OLD);
    ck_assert_int_eq (lk_channel_meet (&end[0], 2, 0), LK_CHANNEL_OLD);
    ck_assert_uint_eq (end[0].peer, 9);
    ck_assert (!end[0].bound);
    ck_assert_int_eq (lk_channel_meet (&end[0], 9, 1), LK_CHANNEL_SAME);
    ck_assert (end[0].bound);
}
END_TEST

/*  Each means a channel that the other has no more: a later number is learned
 *  whatever it was said to, or they would pass over each other for ever. */
START_TEST (both_mean_a_former_one)
{
    introduce ();
    lk_channel_begin (&end[0], 7);
    lk_channel_begin (&end[1], 8);
    ck_assert_int_eq (lk_channel_meet (&end[1], 5, 0), LK_CHANNEL_LEARNED);
    ck_assert_int_eq (lk_channel_meet (&end[0], 1, 0), LK_CHANNEL_LEARNED);
    ck_assert_int_eq (lk_channel_meet (&end[1], 7, 1), LK_CHANNEL_LEARNED);
    ck_assert_int_eq (lk_channel_meet (&end[0], 8, 5), LK_CHANNEL_LEARNED);
    ck_assert (!end[0].bound && !end[1].bound);
    ck_assert_int_eq (lk_channel_meet (&end[1], 7, 8), LK_CHANNEL_SAME);
    ck_assert_int_eq (lk_channel_meet (&end[0], 8, 7), LK_CHANNEL_SAME);
    ck_assert (end[0].bound && end[1].bound);
}
END_TEST

START_TEST (they_change_places)
{
    uint64_t number;
    introduce ();
    send_three ();
    lk_hops_add (&hops, &end[0].out);
    lk_channel_swap (&end[0], &end[1]);
    ck_assert_uint_eq (end[1].own, 1);
    ck_assert_ptr_eq (end[1].way, &way[1]);
    ck_assert_ptr_eq (end[1].out.hops, &hops);
    ck_assert_ptr_eq (end[1].out.channel, &end[1]);
    end[1].counted = true;
    lk_channel_again (&end[1]);
    ck_assert_int_eq (sent (&end[1], &number), 'a');
    ck_assert_uint_eq (end[0].kept.count, 0);
    lk_channel_swap (&end[0], &end[1]);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("channel");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, nothing_leaves_before_it_is_counted);
    tcase_add_test (tests, an_old_one_has_no_numbers);
    tcase_add_test (tests, what_was_heard_is_not_kept);
    tcase_add_test (tests, what_was_not_heard_is_said_again);
    tcase_add_test (tests, heard_ahead_of_what_is_said_again);
    tcase_add_test (tests, the_next_one_alone_is_taken);
    tcase_add_test (tests, nothing_is_taken_by_who_is_not_known);
    tcase_add_test (tests, much_that_was_heard_is_told);
    tcase_add_test (tests, no_more_is_kept_than_may_wait);
    tcase_add_test (tests, who_has_begun_anew_is_found_out);
    tcase_add_test (tests, a_late_word_is_forgotten);
    tcase_add_test (tests, both_mean_a_former_one);
    tcase_add_test (tests, they_change_places);

    Suite *suite = suite_create ("channel");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
