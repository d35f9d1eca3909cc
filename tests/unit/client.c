/*  client.c - the library's book of requests, with a lock service played by
 *  the test
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client_book.h"
#include "lib/suite.h"
#include "util/rng.h"

/*  -------------------------------------------------------- plain use */

START_TEST (granted_and_released)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    ck_assert_uint_eq (lock->token, 7);
    ck_assert_uint_eq (lock->key, 55);
    lk_book_release (w.book, lock, w.now);
    ck_assert (!lk_book_held (lock, w.now));
    expect_sent (&w, "UNLOCK");
    ck_assert_uint_eq (w.request, lock->serial);
    ck_assert_uint_eq (w.key, 55);
    ck_assert_uint_ne (w.serial, lock->serial);
    say (&w, "UNLOCKED", w.serial, NULL);
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_OK);
    expect_no_event (&w);
    ck_assert_uint_eq (lk_book_open_count (w.book), 0);
    lk_book_forget (w.book, lock, w.now);
    ck_assert_ptr_null (lk_book_next_lock (w.book, NULL));
    expect_nothing_sent (&w);
    tear_down (&w);
}
END_TEST

START_TEST (refused)
{
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, 0);
    say (&w, "LOCKFAILED", lock->serial, "full");
    expect_event (&w, LK_EVENT_FAILED, lock, LK_FULL);
    ck_assert_str_eq (lk_book_remark (w.book), "because");
    ck_assert_int_eq (lk_book_deadline (w.book), START + LK_REPEAT_MS);
    pass (&w, 60000);
    expect_nothing_sent (&w);
    expect_no_event (&w);
    lk_book_forget (w.book, lock, w.now);
    expect_nothing_sent (&w);
    tear_down (&w);
}
END_TEST

START_TEST (open_requests_are_repeated)
{
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, 10000);
    ck_assert_int_eq (w.wait, 10000);
    pass (&w, 999);
    expect_nothing_sent (&w);
    ck_assert_int_eq (lk_book_deadline (w.book), w.now + 1);
    pass (&w, 1);
    expect_sent (&w, "LOCK");
    ck_assert_uint_eq (w.serial, lock->serial);
    ck_assert_int_eq (w.wait, 9000);
    lk_book_repeat (w.book, w.now);
    expect_sent (&w, "LOCK");
    say_locked (&w, lock->serial, 55, -1);
    pass (&w, 3000);
    expect_nothing_sent (&w);
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    uint64_t serial = w.serial;
    say (&w, "LOCKFAILED", serial, "timedout");
    pass (&w, 1000);
    expect_sent (&w, "UNLOCK");
    ck_assert_uint_eq (w.serial, serial);
    tear_down (&w);
}
END_TEST

/*  -------------------------------------------------------- no answer */

START_TEST (unanswered_wait_ends)
{
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, 2000);
    for (int i = 1; i <= 6; i++) {
        pass (&w, 1000);
        expect_sent (&w, "LOCK");
        expect_no_event (&w);
    }
    ck_assert_int_eq (w.wait, 0);
    pass (&w, 1000);
    expect_event (&w, LK_EVENT_FAILED, lock, LK_TIMEDOUT);
    expect_sent (&w, "UNLOCK");
    lk_book_forget (w.book, lock, w.now);
    say_locked (&w, w.serial - 1, 66, -1); /* it comes too late */
    expect_sent (&w, "UNLOCK");
    ck_assert_uint_eq (w.key, 66);
    pass (&w, 1000);
    expect_sent (&w, "UNLOCK");
    expect_no_event (&w);
    say (&w, "UNLOCKED", w.serial, NULL);
    ck_assert_ptr_null (lk_book_next_lock (w.book, NULL));
    tear_down (&w);
}
END_TEST

START_TEST (taken_back_while_waiting)
{
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, LK_FOREVER);
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    ck_assert_uint_eq (w.key, 0);
    say_locked (&w, lock->serial, 66, -1); /* it was on its way */
    expect_no_event (&w);
    expect_sent (&w, "UNLOCK");
    ck_assert_uint_eq (w.key, 66);
    say (&w, "UNLOCKED", w.serial, NULL);
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_OK);
    tear_down (&w);
}
END_TEST

START_TEST (unlocking_what_is_gone_is_fine)
{
    static const char *const words[] = {"denied", "unknown", "invalid"};
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    say (&w, "LOCKFAILED", w.serial, words[_i]);
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_OK);
    tear_down (&w);
}
END_TEST

/*  The lock service had not given it back when the session of its host
 *  ended. */
START_TEST (unlocking_ends_with_the_session)
{
    static const char *const words[] = {"isolated", "quorum"};
    static const lk_err errors[] = {LK_ISOLATED, LK_QUORUM};
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    say (&w, "LOCKFAILED", w.serial, words[_i]);
    expect_event (&w, LK_EVENT_RELEASED, lock, errors[_i]);
    ck_assert_uint_eq (lk_book_open_count (w.book), 0);
    tear_down (&w);
}
END_TEST

START_TEST (no_service_is_no_answer)
{
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, 2000);
    lk_message *message = lk_message_new ("app@.", "TRANSMISSIONREPORT");
    lk_message_set_text (message, "reason", "no service 'lock'");
    deliver (&w, message, lock->serial);
    expect_no_event (&w);
    ck_assert_str_eq (lk_book_remark (w.book), "no service 'lock'");
    pass (&w, 1000);
    expect_sent (&w, "LOCK");
    tear_down (&w);
}
END_TEST

/*  -------------------------------------------------------- losses */

START_TEST (lost_is_told_once)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    say (&w, "UNLOCKED", lock->serial, "isolated");
    ck_assert (!lk_book_held (lock, w.now));
    say (&w, "UNLOCKED", lock->serial, "isolated");
    pass (&w, LEASE * 2);
    expect_event (&w, LK_EVENT_LOST, lock, LK_ISOLATED);
    expect_no_event (&w);
    expect_nothing_sent (&w);
    lk_book_release (w.book, lock, w.now);
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_ISOLATED);
    tear_down (&w);
}
END_TEST

START_TEST (lease_ends_by_the_clock)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    ck_assert_int_eq (lk_book_deadline (w.book), START + LEASE + WORD_MS);
    w.now += LEASE - 1;
    ck_assert (lk_book_held (lock, w.now));
    w.now += 1;
    ck_assert (!lk_book_held (lock, w.now));
    pass (&w, WORD_MS - 1);
    expect_no_event (&w); /* the lock service has the first word */
    pass (&w, 1);
    expect_event (&w, LK_EVENT_LOST, lock, LK_ISOLATED);
    say (&w, "UNLOCKED", lock->serial, "isolated");
    expect_no_event (&w);
    tear_down (&w);
}
END_TEST

START_TEST (the_service_says_why_its_lease_ended)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    pass (&w, LEASE);
    say (&w, "UNLOCKED", lock->serial, "quorum");
    expect_event (&w, LK_EVENT_LOST, lock, LK_QUORUM);
    pass (&w, WORD_MS);
    expect_no_event (&w);
    tear_down (&w);
}
END_TEST

/*  Nobody is there who could say more. */
START_TEST (lease_ends_without_a_service)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    lk_book_desert (w.book, true);
    pass (&w, LEASE - 1);
    ck_assert (lk_book_held (lock, w.now));
    pass (&w, 1);
    expect_event (&w, LK_EVENT_LOST, lock, LK_DISCONNECTED);
    tear_down (&w);

    set_up (&w);
    lock = get (&w);
    lk_book_desert (w.book, true);
    lk_book_desert (w.book, false);
    pass (&w, LEASE + WORD_MS);
    expect_event (&w, LK_EVENT_LOST, lock, LK_ISOLATED);
    tear_down (&w);
}
END_TEST

/*  That of before is told from the one that came after it. */
START_TEST (a_lease_that_nobody_prolongs)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    lk_book_orphan (w.book, w.now);
    lk_book_desert (w.book, false);
    expect_event (&w, LK_EVENT_JEOPARDY, lock, LK_OK);
    lk_lock *next = get (&w);
    pass (&w, LEASE - 1);
    expect_no_event (&w);
    ck_assert (lk_book_held (lock, w.now));
    pass (&w, 1);
    expect_event (&w, LK_EVENT_LOST, lock, LK_DISCONNECTED);
    pass (&w, WORD_MS);
    expect_event (&w, LK_EVENT_LOST, next, LK_ISOLATED);
    tear_down (&w);
}
END_TEST

static lk_message *
locked_by_the_next (void)
{
    lk_message *message = new_locked ();
    lk_message_set_number (message, "session", 4);
    lk_message_set_number (message, "lease_until", START + 2 * LEASE);
    return message;
}

/*  The next lock service is told of what is held, until it answers. */
START_TEST (another_service_goes_on)
{
    static const char body[] =
        "{\"object\":\"thing\",\"token\":\"0000000000000007\","
        "\"key\":\"0000000000000037\",\"type\":\"exclusive\","
        "\"lease_until\":1008000,\"duration\":0,\"pid\":1}";
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    lk_book_orphan (w.book, w.now);
    expect_event (&w, LK_EVENT_JEOPARDY, lock, LK_OK);
    expect_nothing_sent (&w);
    lk_book_repeat (w.book, w.now);
    expect_letter (&w, "LOCK", lock->serial, body);
    pass (&w, 1100);
    expect_letter (&w, "LOCK", lock->serial, body);
    expect_no_event (&w);
    lk_message *locked = locked_by_the_next ();
    lk_message_set_number (locked, "ordinal", 2);
    deliver (&w, locked, lock->serial);
    expect_event (&w, LK_EVENT_SAFE, lock, LK_OK);
    ck_assert_uint_eq (lk_lock_ordinal (lock), 2);
    pass (&w, LEASE);
    expect_nothing_sent (&w);
    expect_no_event (&w);
    ck_assert (lk_book_held (lock, w.now));
    tear_down (&w);
}
END_TEST

/*  Held, its lock service has ended, and the next one is asked to go on. */
static lk_lock *
get_and_resume (world *w)
{
    lk_lock *lock = get (w);
    lk_book_orphan (w->book, w->now);
    expect_event (w, LK_EVENT_JEOPARDY, lock, LK_OK);
    lk_book_repeat (w->book, w->now);
    expect_sent (w, "LOCK");
    return lock;
}

START_TEST (another_service_does_not_know_it)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_and_resume (&w);
    say (&w, "LOCKFAILED", lock->serial, "overloaded");
    expect_no_event (&w);
    say (&w, "UNLOCKED", lock->serial, "lost");
    expect_event (&w, LK_EVENT_LOST, lock, LK_LOST);
    tear_down (&w);

    set_up (&w);
    lock = get_and_resume (&w);
    say (&w, "LOCKFAILED", lock->serial, "unknown");
    expect_event (&w, LK_EVENT_LOST, lock, LK_LOST);
    tear_down (&w);
}
END_TEST

/*  It stays lost, and is given back, since it may be ours again by now. */
START_TEST (another_service_is_late)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_and_resume (&w);
    w.now += LEASE;
    deliver (&w, locked_by_the_next (), lock->serial);
    expect_no_event (&w);
    ck_assert (!lk_book_held (lock, w.now));
    lk_book_tick (w.book, w.now);
    expect_event (&w, LK_EVENT_LOST, lock, LK_DISCONNECTED);
    expect_nothing_sent (&w);
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    ck_assert_uint_eq (w.key, 55);
    tear_down (&w);
}
END_TEST

/*  UNLOCK takes its place, and a change of type waits for it. */
START_TEST (another_service_and_other_wishes)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    lk_book_orphan (w.book, w.now);
    lk_book_repeat (w.book, w.now);
    expect_sent (&w, "LOCK");
    lk_book_change (w.book, lock, LK_SHARED, 0, w.now);
    expect_sent (&w, "LOCK");
    ck_assert_uint_eq (w.key, 55);
    deliver (&w, locked_by_the_next (), lock->serial);
    expect_sent (&w, "LOCK");
    ck_assert_uint_eq (w.key, 0);
    lk_book_orphan (w.book, w.now);
    lk_book_repeat (w.book, w.now);
    expect_sent (&w, "LOCK");
    ck_assert_uint_eq (w.key, 55);
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    ck_assert_uint_eq (w.key, 55);
    tear_down (&w);
}
END_TEST

/*  By whichever call: that ends the grace. */
static void
give_back_after_duration (bool release)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_until (&w, START + 500);
    pass (&w, 500);
    expect_event (&w, LK_EVENT_LOST, lock, LK_TIMEDOUT);
    expect_nothing_sent (&w);
    if (release) {
        lk_book_release (w.book, lock, w.now);
    } else {
        lk_book_forget (w.book, lock, w.now);
    }
    expect_sent (&w, "UNLOCK");
    ck_assert_uint_eq (w.request, lock->serial);
    say (&w, "UNLOCKED", w.serial, NULL);
    if (release) {
        expect_event (&w, LK_EVENT_RELEASED, lock, LK_LATE);
        lk_book_forget (w.book, lock, w.now);
    }
    ck_assert_ptr_null (lk_book_next_lock (w.book, NULL));
    tear_down (&w);
}

START_TEST (after_its_duration_it_is_given_back)
{
    give_back_after_duration (false);
    give_back_after_duration (true);
}
END_TEST

/*  Our clock was first, then the service says so too: it keeps the lock for
 *  its grace all the same, until it is given back. */
START_TEST (after_its_duration_the_service_says_so_too)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_until (&w, START + 500);
    pass (&w, 500);
    expect_event (&w, LK_EVENT_LOST, lock, LK_TIMEDOUT);
    say (&w, "UNLOCKED", lock->serial, "timedout");
    expect_nothing_sent (&w);
    lk_book_forget (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    say (&w, "UNLOCKED", w.serial, NULL);
    ck_assert_ptr_null (lk_book_next_lock (w.book, NULL));
    tear_down (&w);
}
END_TEST

/*  The service waits so long for whoever has to stop first. */
START_TEST (given_back_to_a_service_that_stops)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    say (&w, "UNLOCKED", lock->serial, "shutdown");
    expect_event (&w, LK_EVENT_LOST, lock, LK_SHUTDOWN);
    expect_nothing_sent (&w);
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    ck_assert_uint_eq (w.request, lock->serial);
    say (&w, "UNLOCKED", w.serial, NULL);
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_SHUTDOWN);
    lk_book_forget (w.book, lock, w.now);
    ck_assert_ptr_null (lk_book_next_lock (w.book, NULL));
    tear_down (&w);
}
END_TEST

START_TEST (released_by_somebody_else)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    say (&w, "UNLOCKED", lock->serial, "released");
    expect_event (&w, LK_EVENT_LOST, lock, LK_RELEASED);
    ck_assert (!lk_book_held (lock, w.now));
    lock = get (&w);
    say (&w, "UNLOCKED", lock->serial, NULL); /* it does not say why */
    expect_event (&w, LK_EVENT_LOST, lock, LK_RELEASED);
    ck_assert (!lk_book_held (lock, w.now));
    tear_down (&w);
}
END_TEST

START_TEST (lost_before_it_was_told)
{
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, LK_FOREVER);
    say (&w, "UNLOCKED", lock->serial, "isolated");
    expect_event (&w, LK_EVENT_FAILED, lock, LK_ISOLATED);
    expect_no_event (&w);
    tear_down (&w);
}
END_TEST

/*  -------------------------------------------------------- strays */

START_TEST (grant_that_nobody_asked_for_goes_back)
{
    world w;
    set_up (&w);
    say_locked (&w, 4, 77, -1);
    expect_letter (&w, "UNLOCK", 5, "{\"request\":4}");
    expect_no_event (&w);
    tear_down (&w);
}
END_TEST

/*  The serial of an UNLOCK: giving that back would take the serial of the
 *  LOCK behind it. */
START_TEST (grant_of_no_request_is_none)
{
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, LK_FOREVER);
    say_locked (&w, lock->serial + 1, 66, -1);
    expect_no_event (&w);
    expect_nothing_sent (&w);
    say_locked (&w, lock->serial + 3, 66, -1);
    expect_nothing_sent (&w);
    tear_down (&w);
}
END_TEST

START_TEST (second_grant_goes_back)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    say_locked (&w, lock->serial, 55, -1);
    expect_nothing_sent (&w);
    say_locked (&w, lock->serial, 56, -1);
    expect_letter (&w, "UNLOCK", lock->serial + 1, "{\"request\":102}");
    ck_assert_uint_eq (lock->key, 55);
    ck_assert (lk_book_held (lock, w.now));
    expect_no_event (&w);
    tear_down (&w);
}
END_TEST

START_TEST (grant_without_key_is_none)
{
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, LK_FOREVER);
    say (&w, "LOCKED", lock->serial, NULL);
    expect_no_event (&w);
    ck_assert (!lk_book_held (lock, w.now));
    tear_down (&w);
}
END_TEST

START_TEST (unlock_by_key)
{
    world w;
    set_up (&w);
    lk_lock *lock = lk_book_unlock_by_key (w.book, &stranger, 99, false, w.now);
    expect_sent (&w, "UNLOCK");
    ck_assert_uint_eq (w.key, 99);
    ck_assert_uint_eq (w.request, 0);
    say (&w, "LOCKFAILED", w.serial, "denied");
    ck_assert_int_eq (lock->life, LK_LIFE_CLOSED);
    ck_assert_int_eq (lock->error, LK_DENIED);
    tear_down (&w);
}
END_TEST

/*  It was repeated just before the answer came. */
START_TEST (unlock_by_key_is_answered_twice)
{
    world w;
    set_up (&w);
    lk_lock *lock = lk_book_unlock_by_key (w.book, &stranger, 99, false, w.now);
    expect_sent (&w, "UNLOCK");
    say (&w, "UNLOCKED", w.serial, NULL);
    say (&w, "LOCKFAILED", w.serial, "unknown");
    ck_assert_int_eq (lock->life, LK_LIFE_CLOSED);
    ck_assert_int_eq (lock->error, LK_OK);
    tear_down (&w);
}
END_TEST

/*  -------------------------------------------------------- anything */

static void
do_anything (world *self, lk_rng *rng, lk_lock **lock)
{
    static const char *const errors[] = {NULL, "timedout", "isolated", "denied",
                                         "nonsense"};
    uint64_t serial = 102 + (uint64_t) lk_rng_between (rng, 0, 9);
    const char *error = errors[lk_rng_between (rng, 0, 4)];
    switch (lk_rng_between (rng, 0, 7)) {
    case 0:
        say_locked (self, serial, serial, self->now + 500);
        break;
    case 1:
        say (self, "UNLOCKED", serial, error);
        break;
    case 2:
        say (self, "LOCKFAILED", serial, error);
        break;
    case 3:
        pass (self, lk_rng_between (rng, 0, 4000));
        break;
    case 4:
        if (*lock != NULL) {
            lk_book_release (self->book, *lock, self->now);
        }
        break;
    case 5:
        if (*lock != NULL) {
            lk_book_forget (self->book, *lock, self->now);
            *lock = NULL;
        }
        break;
    default:
        if (*lock == NULL) {
            const lk_lock_options options = {
                .wait_ms = lk_rng_between (rng, -1, 3000)};
            *lock = lk_book_lock (self->book, &thing, 1, &options, self->now);
        }
    }
}

/*  A lock is granted at most once, ends at most once, and in that order. */
START_TEST (any_order_is_survived)
{
    world w;
    lk_rng rng;
    lk_lock *lock = NULL;
    set_up (&w);
    lk_rng_init (&rng, (uint64_t) _i);
    for (int i = 0; i < 2000; i++) {
        do_anything (&w, &rng, &lock);
        lk_message *message;
        while ((message = lk_book_next_message (w.book)) != NULL) {
            lk_message_destroy (&message);
        }
        while (lk_book_next_event (w.book, &w.event)) {
            ck_assert_ptr_eq (w.event.lock, lock);
            intptr_t seen = (intptr_t) lock->user;
            ck_assert_int_eq (seen & (1 << w.event.kind), 0);
            ck_assert_int_eq (seen & (1 << LK_EVENT_RELEASED), 0);
            if (w.event.kind == LK_EVENT_LOST) {
                ck_assert_int_ne (seen & (1 << LK_EVENT_GRANTED), 0);
            }
            lock->user = (void *) (seen | 1 << w.event.kind);
        }
    }
    tear_down (&w);
}
END_TEST

static Suite *
make_suite (void)
{
    Suite *suite = suite_create ("client");
    TCase *plain = tcase_create ("book");
    tcase_add_test (plain, granted_and_released);
    tcase_add_test (plain, refused);
    tcase_add_test (plain, open_requests_are_repeated);
    tcase_add_test (plain, unanswered_wait_ends);
    tcase_add_test (plain, taken_back_while_waiting);
    tcase_add_loop_test (plain, unlocking_what_is_gone_is_fine, 0, 3);
    tcase_add_loop_test (plain, unlocking_ends_with_the_session, 0, 2);
    tcase_add_test (plain, no_service_is_no_answer);
    tcase_add_test (plain, lost_is_told_once);
    tcase_add_test (plain, lease_ends_by_the_clock);
    tcase_add_test (plain, the_service_says_why_its_lease_ended);
    tcase_add_test (plain, lease_ends_without_a_service);
    tcase_add_test (plain, a_lease_that_nobody_prolongs);
    tcase_add_test (plain, another_service_goes_on);
    tcase_add_test (plain, another_service_does_not_know_it);
    tcase_add_test (plain, another_service_is_late);
    tcase_add_test (plain, another_service_and_other_wishes);
    tcase_add_test (plain, after_its_duration_it_is_given_back);
    tcase_add_test (plain, after_its_duration_the_service_says_so_too);
    tcase_add_test (plain, given_back_to_a_service_that_stops);
    tcase_add_test (plain, released_by_somebody_else);
    tcase_add_test (plain, lost_before_it_was_told);
    tcase_add_test (plain, grant_that_nobody_asked_for_goes_back);
    tcase_add_test (plain, grant_of_no_request_is_none);
    tcase_add_test (plain, second_grant_goes_back);
    tcase_add_test (plain, grant_without_key_is_none);
    tcase_add_test (plain, unlock_by_key);
    tcase_add_test (plain, unlock_by_key_is_answered_twice);
    tcase_add_loop_test (plain, any_order_is_survived, 1, 101);
    suite_add_tcase (suite, plain);
    return suite;
}

int
main (void)
{
    return lk_suite_run (make_suite ());
}
