/*  client_short.c - waits that are shorter than an answer takes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client_book.h"

#include "lib/suite.h"

/*  -------------------------------------------------------- of a lock */

START_TEST (begins_with_a_try)
{
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, 2);
    ck_assert_int_eq (w.wait, 0);
    say_locked (&w, lock->serial, 55, -1);
    expect_event (&w, LK_EVENT_GRANTED, lock, LK_OK);
    expect_nothing_sent (&w);
    tear_down (&w);
}
END_TEST

START_TEST (then_waits)
{
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, 99);
    const uint64_t first = lock->serial;
    pass (&w, 9);
    say (&w, "LOCKFAILED", first, "full");
    expect_no_event (&w);
    ck_assert_str_eq (lk_book_remark (w.book), "");
    expect_sent (&w, "LOCK");
    ck_assert_uint_eq (w.serial, lock->serial);
    ck_assert_uint_gt (lock->serial, first);
    ck_assert_int_eq (w.wait, 90);
    say (&w, "LOCKFAILED", first, "full"); /* once more */
    say_locked (&w, first, 44, -1);        /* is none of ours any more */
    lk_message *back = lk_book_next_message (w.book);
    ck_assert_str_eq (lk_message_command (back), "UNLOCK");
    ck_assert_int_eq (lk_message_number (back, "request", 0), (int64_t) first);
    lk_message_destroy (&back);
    expect_no_event (&w);
    pass (&w, 1100);
    expect_sent (&w, "LOCK");
    ck_assert_uint_eq (w.serial, lock->serial);
    say_locked (&w, lock->serial, 55, -1);
    expect_event (&w, LK_EVENT_GRANTED, lock, LK_OK);
    ck_assert (lk_book_held (lock, w.now));
    tear_down (&w);
}
END_TEST

START_TEST (ends_as_the_wait_does)
{
    static const struct {
        int64_t wait_ms, after_ms;
        lk_err error;
    } cases[] = {
        {0, 0, LK_FULL}, {2, 2, LK_TIMEDOUT}, {1000, 1100, LK_TIMEDOUT}};
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, cases[_i].wait_ms);
    pass (&w, cases[_i].after_ms);
    say (&w, "LOCKFAILED", lock->serial, "full");
    expect_event (&w, LK_EVENT_FAILED, lock, cases[_i].error);
    ck_assert_int_eq (lock->life, LK_LIFE_CLOSED);
    tear_down (&w);
}
END_TEST

START_TEST (taken_back_meanwhile)
{
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, 50);
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    say (&w, "LOCKFAILED", lock->serial, "full");
    expect_nothing_sent (&w);
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_OK);
    tear_down (&w);
}
END_TEST

START_TEST (refused_for_another_reason)
{
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, 50);
    say (&w, "LOCKFAILED", lock->serial, "overloaded");
    expect_event (&w, LK_EVENT_FAILED, lock, LK_OVERLOADED);
    expect_nothing_sent (&w);
    tear_down (&w);
}
END_TEST

/*  -------------------------------------------------------- of another type */

/*  The open turn is not to be had at once. */
static void
find_full (world *self, lk_lock *lock, uint32_t turn, int64_t wait_ms)
{
    expect_sent (self, "LOCK");
    ck_assert_int_eq (self->wait, wait_ms);
    ck_assert_uint_eq (lock->turn, turn);
    lk_message *message = lk_message_new ("app@.", "LOCKFAILED");
    lk_message_set_text (message, "error", "full");
    lk_message_set_number (message, "turn", turn);
    deliver (self, message, lock->serial);
}

START_TEST (changes_begin_with_a_try)
{
    const lk_lock_options shared = {.wait_ms = LK_FOREVER,
                                    .mode.type = LK_SHARED};
    world w;
    set_up (&w);
    lk_lock *lock = wish (&w, &shared);
    lk_message *granted = new_locked ();
    lk_message_set_text (granted, "type", "shared");
    deliver (&w, granted, lock->serial);
    expect_event (&w, LK_EVENT_GRANTED, lock, LK_OK);
    lk_book_change (w.book, lock, LK_EXCLUSIVE, 5, w.now);
    w.now += 4;
    find_full (&w, lock, 1, 0);
    expect_no_event (&w);
    find_full (&w, lock, 2, 1);
    expect_event (&w, LK_EVENT_UNCHANGED, lock, LK_TIMEDOUT);
    ck_assert_int_eq (lock->life, LK_LIFE_HELD);
    lk_book_change (w.book, lock, LK_EXCLUSIVE, 5, w.now);
    w.now += 5;
    find_full (&w, lock, 3, 0);
    expect_event (&w, LK_EVENT_UNCHANGED, lock, LK_TIMEDOUT);
    lk_book_change (w.book, lock, LK_EXCLUSIVE, 0, w.now);
    find_full (&w, lock, 4, 0);
    expect_event (&w, LK_EVENT_UNCHANGED, lock, LK_FULL);
    expect_nothing_sent (&w);
    tear_down (&w);
}
END_TEST

static Suite *
make_suite (void)
{
    Suite *suite = suite_create ("client_short");
    TCase *waits = tcase_create ("waits");
    tcase_add_test (waits, begins_with_a_try);
    tcase_add_test (waits, then_waits);
    tcase_add_loop_test (waits, ends_as_the_wait_does, 0, 3);
    tcase_add_test (waits, taken_back_meanwhile);
    tcase_add_test (waits, refused_for_another_reason);
    tcase_add_test (waits, changes_begin_with_a_try);
    suite_add_tcase (suite, waits);
    return suite;
}

int
main (void)
{
    return lk_suite_run (make_suite ());
}
