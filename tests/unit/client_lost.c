/*  client_lost.c - the library's book: whoever gives back what was lost is told
 *  so, whatever comes first
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client_book.h"
#include "lib/suite.h"

/*  -------------------------------------------------------- crossing */

/*  The service told the loss before it heard the UNLOCK. */
START_TEST (lost_ahead_of_the_release)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    say (&w, "UNLOCKED", lock->serial, "lost");
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_LOST);
    ck_assert_int_eq (lk_book_ending (lock), LK_LOST);
    say (&w, "UNLOCKED", w.serial, NULL);
    expect_no_event (&w);
    ck_assert_int_eq (lk_book_ending (lock), LK_LOST);
    tear_down (&w);
}
END_TEST

/*  What the service keeps until it is given back is given back until that is
 *  answered. */
START_TEST (ended_ahead_of_the_release)
{
    static const struct {
        const char *word;
        lk_err error;
    } kept[] = {{"shutdown", LK_SHUTDOWN},
                {"timedout", LK_LATE},
                {"forced", LK_FORCED},
                {"released", LK_RELEASED}};
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    say (&w, "UNLOCKED", lock->serial, kept[_i].word);
    expect_no_event (&w);
    pass (&w, LK_REPEAT_MS + 100);
    expect_sent (&w, "UNLOCK");
    say (&w, "UNLOCKED", w.serial, NULL);
    expect_event (&w, LK_EVENT_RELEASED, lock, kept[_i].error);
    tear_down (&w);
}
END_TEST

START_TEST (ended_ahead_of_being_forgotten)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    const uint64_t serial = lock->serial;
    lk_book_forget (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    say (&w, "UNLOCKED", serial, "timedout");
    pass (&w, LK_REPEAT_MS + 100);
    expect_sent (&w, "UNLOCK");
    say (&w, "UNLOCKED", w.serial, NULL);
    ck_assert_ptr_null (lk_book_next_lock (w.book, NULL));
    tear_down (&w);
}
END_TEST

/*  Nobody was told that he has it. */
START_TEST (taken_back_and_lost)
{
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, LK_FOREVER);
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    say_locked (&w, lock->serial, 55, -1);
    say (&w, "UNLOCKED", lock->serial, "lost");
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_OK);
    tear_down (&w);
}
END_TEST

/*  -------------------------------------------------------- by the clock */

START_TEST (given_back_after_its_lease)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    w.now += LEASE - 1;
    ck_assert_int_eq (lk_book_loss (lock, w.now), LK_OK);
    w.now++;
    ck_assert_int_eq (lk_book_loss (lock, w.now), LK_ISOLATED);
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    say (&w, "UNLOCKED", w.serial, NULL);
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_ISOLATED);
    tear_down (&w);
}
END_TEST

START_TEST (given_back_in_time)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    w.now += LEASE - 1;
    lk_book_release (w.book, lock, w.now);
    pass (&w, 2 * LEASE);
    expect_no_event (&w);
    say (&w, "UNLOCKED", lock->serial + 1, NULL);
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_OK);
    tear_down (&w);
}
END_TEST

START_TEST (given_back_without_a_service)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    lk_book_desert (w.book, true);
    w.now += LEASE;
    lk_book_release (w.book, lock, w.now);
    ck_assert_int_eq (lk_book_ending (lock), LK_DISCONNECTED);
    tear_down (&w);
}
END_TEST

/*  -------------------------------------------------------- other failures */

/*  A change that failed is no loss. */
START_TEST (refused_a_change_and_released)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_as (&w, LK_SHARED);
    lk_book_change (w.book, lock, LK_EXCLUSIVE, 0, w.now);
    expect_sent (&w, "LOCK");
    lk_message *message = lk_message_new ("app@.", "LOCKFAILED");
    lk_message_set_text (message, "error", "deadlock");
    lk_message_set_number (message, "turn", 1);
    deliver (&w, message, lock->serial);
    expect_event (&w, LK_EVENT_UNCHANGED, lock, LK_DEADLOCK);
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    say (&w, "UNLOCKED", w.serial, NULL);
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_OK);
    tear_down (&w);
}
END_TEST

START_TEST (failed_and_released)
{
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, 0);
    say (&w, "LOCKFAILED", lock->serial, "full");
    expect_event (&w, LK_EVENT_FAILED, lock, LK_FULL);
    lk_book_release (w.book, lock, w.now);
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_OK);
    tear_down (&w);
}
END_TEST

/*  -------------------------------------------------------- entered again */

START_TEST (each_of_several_is_told)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    for (int i = 0; i < 2; i++) {
        join (&w, lock);
        expect_event (&w, LK_EVENT_GRANTED, lock, LK_OK);
    }
    say (&w, "UNLOCKED", lock->serial, "released");
    expect_event (&w, LK_EVENT_LOST, lock, LK_RELEASED);
    ck_assert (lk_book_count_down (lock, w.now));
    ck_assert_int_eq (lk_book_ending (lock), LK_RELEASED);
    lk_book_release (w.book, lock, w.now);
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_RELEASED);
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    say (&w, "UNLOCKED", w.serial, NULL);
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_RELEASED);
    tear_down (&w);
}
END_TEST

START_TEST (each_of_several_is_told_by_the_clock)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_until (&w, START + 500);
    join (&w, lock);
    expect_event (&w, LK_EVENT_GRANTED, lock, LK_OK);
    w.now += 500;
    ck_assert (lk_book_count_down (lock, w.now));
    ck_assert_int_eq (lk_book_ending (lock), LK_LATE);
    tear_down (&w);
}
END_TEST

/*  Nobody enters what is over by the clock, though it was not told yet. */
START_TEST (not_entered_after_its_lease)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    w.now += LEASE;
    lk_lock *other = wish (&w, &again);
    ck_assert_ptr_ne (other, lock);
    expect_no_event (&w);
    tear_down (&w);
}
END_TEST

/*  -------------------------------------------------------- credentials */

static const struct {
    int64_t after_ms; /* the lease, the credential ends */
    lk_err told, error;
} cuts[] = {{0, LK_LOST, LK_CREDENTIAL},
            {0, LK_OK, LK_CREDENTIAL},
            {1, LK_LOST, LK_LOST},
            {1, LK_OK, LK_ISOLATED}};

/*  A lease that the credential cuts short, or one that it outlasts. */
START_TEST (cut_short)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    lk_book_set_credential_end (w.book, START + LEASE + cuts[_i].after_ms);
    lk_book_lose (lock, cuts[_i].told, w.now);
    expect_event (&w, LK_EVENT_LOST, lock, cuts[_i].error);
    tear_down (&w);
}
END_TEST

static Suite *
make_suite (void)
{
    Suite *suite = suite_create ("client_lost");
    TCase *lost = tcase_create ("lost");
    tcase_add_test (lost, lost_ahead_of_the_release);
    tcase_add_loop_test (lost, ended_ahead_of_the_release, 0, 4);
    tcase_add_test (lost, ended_ahead_of_being_forgotten);
    tcase_add_test (lost, taken_back_and_lost);
    tcase_add_test (lost, given_back_after_its_lease);
    tcase_add_test (lost, given_back_in_time);
    tcase_add_test (lost, given_back_without_a_service);
    tcase_add_test (lost, refused_a_change_and_released);
    tcase_add_test (lost, failed_and_released);
    tcase_add_test (lost, each_of_several_is_told);
    tcase_add_test (lost, each_of_several_is_told_by_the_clock);
    tcase_add_test (lost, not_entered_after_its_lease);
    tcase_add_loop_test (lost, cut_short, 0, sizeof cuts / sizeof cuts[0]);
    suite_add_tcase (suite, lost);
    return suite;
}

int
main (void)
{
    return lk_suite_run (make_suite ());
}
