/*  client_ends.c - the library's book: how locks of every kind end, sets, and
 *  locks of others
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client_book.h"

#include "lib/vector.h"

#include "lib/suite.h"

/*  -------------------------------------------------------- late */

START_TEST (late_by_the_service)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    lk_message *message = lk_message_new ("app@.", "UNLOCKED");
    lk_message_set_text (message, "object", "thing");
    lk_message_set_flag (message, "late", true);
    deliver (&w, message, w.serial);
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_LATE);
    tear_down (&w);
}
END_TEST

static lk_lock *
get_lenient (world *self)
{
    const lk_lock_options options = {
        .wait_ms = LK_FOREVER, .duration_ms = 500, .mode = {.lenient = true}};
    lk_lock *lock = wish (self, &options);
    say_locked (self, lock->serial, 55, START + 500);
    expect_event (self, LK_EVENT_GRANTED, lock, LK_OK);
    return lock;
}

/*  Its home asks it back when somebody waits. */
START_TEST (lenient_until_it_is_asked_back)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_lenient (&w);
    pass (&w, 3000);
    ck_assert (lk_book_held (lock, w.now));
    expect_no_event (&w);
    say (&w, "UNLOCKED", lock->serial, "timedout");
    expect_event (&w, LK_EVENT_LOST, lock, LK_TIMEDOUT);
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    say (&w, "UNLOCKED", w.serial, NULL);
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_LATE);
    tear_down (&w);
}
END_TEST

START_TEST (lenient_and_late_all_the_same)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_lenient (&w);
    w.now += 500;
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    say (&w, "UNLOCKED", w.serial, NULL);
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_LATE);
    tear_down (&w);

    set_up (&w);
    lock = get_lenient (&w);
    pass (&w, LEASE + WORD_MS);
    expect_event (&w, LK_EVENT_LOST, lock, LK_ISOLATED);
    tear_down (&w);
}
END_TEST

/*  -------------------------------------------------------- losses */

/*  It is stopping, and waits for us. */
START_TEST (shutdown_waits_for_the_unlock)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    say (&w, "UNLOCKED", lock->serial, "shutdown");
    expect_event (&w, LK_EVENT_LOST, lock, LK_SHUTDOWN);
    say (&w, "UNLOCKED", lock->serial, "shutdown");
    expect_nothing_sent (&w);
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    say (&w, "UNLOCKED", w.serial, NULL);
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_SHUTDOWN);
    tear_down (&w);
}
END_TEST

START_TEST (forced_with_a_reason)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    lk_message *message = lk_message_new ("app@.", "UNLOCKED");
    lk_message_set_text (message, "object", "thing");
    lk_message_set_text (message, "error", "forced");
    lk_message_set_text (message, "reason", "maintenance");
    deliver (&w, message, lock->serial);
    expect_event (&w, LK_EVENT_LOST, lock, LK_FORCED);
    ck_assert_str_eq (lk_lock_reason (lock), "maintenance");
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    deliver (&w, lk_message_new ("app@.", "UNLOCKED"), lock->serial + 1);
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_FORCED);
    tear_down (&w);
}
END_TEST

/*  -------------------------------------------------------- static */

static lk_lock *
get_static (world *self, int64_t until)
{
    const lk_lock_options options = {.wait_ms = LK_FOREVER,
                                     .mode = {.is_static = true}};
    lk_lock *lock = wish (self, &options);
    lk_message *message = new_locked ();
    lk_message_set_flag (message, "static", true);
    lk_message_set_number (message, "until", until);
    lk_message_set_number (message, "lease", LEASE);
    deliver (self, message, lock->serial);
    expect_event (self, LK_EVENT_GRANTED, lock, LK_OK);
    return lock;
}

START_TEST (static_without_a_lease)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_static (&w, START + 10 * LEASE);
    pass (&w, 2 * LEASE);
    ck_assert (lk_book_held (lock, w.now));
    expect_no_event (&w);
    pass (&w, 8 * LEASE);
    expect_event (&w, LK_EVENT_LOST, lock, LK_TIMEDOUT);
    tear_down (&w);
}
END_TEST

/*  A second LOCKED, which was on its way, does not give it back. */
START_TEST (static_and_left)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_static (&w, -1);
    const uint64_t serial = lock->serial;
    lk_book_leave (w.book, lock, w.now);
    ck_assert_uint_eq (lk_book_open_count (w.book), 0);
    say_locked (&w, serial, 55, -1);
    pass (&w, 2 * LEASE);
    expect_nothing_sent (&w);
    expect_no_event (&w);
    say_locked (&w, serial, 56, -1);
    expect_letter (&w, "UNLOCK", serial + 1, "{\"request\":102}");
    say (&w, "UNLOCKED", serial, "released");
    ck_assert_ptr_null (lk_book_next_lock (w.book, NULL));
    expect_no_event (&w);
    tear_down (&w);
}
END_TEST

START_TEST (static_at_the_end_of_a_session)
{
    world w;
    set_up (&w);
    lk_lock *kept = get_static (&w, -1);
    lk_lock *plain = get (&w);
    join (&w, kept); /* is of the same type */
    lk_book_abandon (w.book, kept, w.now);
    expect_nothing_sent (&w);
    lk_book_abandon (w.book, plain, w.now);
    expect_sent (&w, "UNLOCK");
    expect_no_event (&w);
    ck_assert_uint_eq (lk_book_open_count (w.book), 1);
    tear_down (&w);
}
END_TEST

/*  -------------------------------------------------------- sets */

static const lk_object_name pair[] = {{"b", 0}, {"\xff", 1}};

static lk_lock *
ask_pair (world *self)
{
    const lk_lock_options options = {.wait_ms = 500, .context = "red"};
    lk_lock *lock = lk_book_lock (self->book, pair, 2, &options, self->now);
    expect_letter (self, "LOCK", lock->serial,
                   "{\"locks\":[{\"object\":\"b\"},{\"object_hex\":\"ff\"}],"
                   "\"context\":\"red\",\"type\":\"exclusive\",\"wait\":500,"
                   "\"duration\":0,\"pid\":1}");
    return lock;
}

static void
add_row (lk_message *message, const char *field, const char *name,
         uint64_t token)
{
    lk_message *row = lk_message_row_new ();
    lk_message_set_text (row, field, name);
    lk_message_set_hex (row, "token", token);
    lk_message_set_hex (row, "key", token + 1);
    lk_message_add_row (message, "locks", &row);
}

static lk_message *
new_pair (uint64_t token)
{
    lk_message *message = lk_message_new ("app@.", "LOCKED");
    lk_message_set_number (message, "session", 3);
    lk_message_set_number (message, "lease_until", START + LEASE);
    add_row (message, "object_hex", "ff", 11);
    add_row (message, "object", "b", token);
    return message;
}

START_TEST (set_is_granted_whole)
{
    size_t len;
    world w;
    set_up (&w);
    lk_lock *lock = ask_pair (&w);
    deliver (&w, new_pair (0), lock->serial);
    say_locked (&w, lock->serial, 55, -1); /* that is no set */
    expect_no_event (&w);
    expect_nothing_sent (&w);
    deliver (&w, new_pair (12), lock->serial);
    expect_event (&w, LK_EVENT_GRANTED, lock, LK_OK);
    ck_assert_uint_eq (lk_lock_count (lock), 2);
    ck_assert_uint_eq (lk_lock_token (lock), 12);
    ck_assert_uint_eq (lk_lock_token_at (lock, 1), 11);
    ck_assert_str_eq (lk_lock_object_at (lock, 1, &len), "\xff");
    ck_assert_uint_eq (len, 1);
    ck_assert_uint_eq (lk_lock_key (lock), 13);
    deliver (&w, new_pair (12), lock->serial);
    expect_nothing_sent (&w);
    deliver (&w, new_pair (20), lock->serial); /* with another key */
    expect_letter (&w, "UNLOCK", lock->serial + 1, "{\"request\":102}");
    ck_assert_uint_eq (lk_lock_token (lock), 12);
    lk_book_release (w.book, lock, w.now);
    expect_letter (&w, "UNLOCK", lock->serial + 1, "{\"request\":102}");
    say (&w, "UNLOCKED", lock->serial + 1, NULL);
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_OK);
    tear_down (&w);
}
END_TEST

START_TEST (names_that_begin_alike)
{
    static const lk_object_name alike[] = {{"b", 0}, {"bb", 0}};
    const lk_lock_options options = {0};
    world w;
    set_up (&w);
    lk_lock *lock = lk_book_lock (w.book, alike, 2, &options, w.now);
    lk_message *message = new_locked ();
    add_row (message, "object", "bb", 2);
    deliver (&w, message, lock->serial);
    expect_no_event (&w);
    message = new_locked ();
    add_row (message, "object", "b", 1);
    deliver (&w, message, lock->serial);
    expect_no_event (&w);
    message = new_locked ();
    add_row (message, "object", "bb", 2);
    add_row (message, "object", "b", 1);
    deliver (&w, message, lock->serial);
    expect_event (&w, LK_EVENT_GRANTED, lock, LK_OK);
    ck_assert_uint_eq (lk_lock_token_at (lock, 0), 1);
    ck_assert_uint_eq (lk_lock_token_at (lock, 1), 2);
    tear_down (&w);
}
END_TEST

START_TEST (set_that_nobody_asked_for)
{
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, LK_FOREVER);
    deliver (&w, new_pair (12), lock->serial); /* that was one name */
    expect_no_event (&w);
    deliver (&w, new_pair (12), 50);
    expect_letter (&w, "UNLOCK", 51, "{\"request\":50}");
    lk_lock *waits = ask_pair (&w);
    lk_book_release (w.book, waits, w.now);
    expect_letter (&w, "UNLOCK", 105, "{\"request\":104}");
    deliver (&w, new_pair (12), 104); /* it was on its way */
    expect_no_event (&w);
    tear_down (&w);
}
END_TEST

/*  -------------------------------------------------------- locks of others */

static const lk_lock_name red = {.object = "a\0b", .len = 3, .context = "red"};

START_TEST (forcing)
{
    world w;
    set_up (&w);
    lk_lock *deed = lk_book_force (
        w.book, &red, &(lk_taking) {.token = 9, .reason = "why"}, w.now);
    expect_letter (&w, "UNLOCK", 103,
                   "{\"object_hex\":\"610062\",\"context\":\"red\","
                   "\"force\":true,\"reason\":\"why\","
                   "\"token\":\"0000000000000009\"}");
    say (&w, "LOCKFAILED", 103, "overloaded");
    ck_assert_int_eq (deed->life, LK_LIFE_GIVING);
    say_locked (&w, 102, 55, -1); /* it is no lock of ours */
    say (&w, "LOCKJEOPARDY", 102, NULL);
    say (&w, "LOCKCHECK", 103, NULL);
    ck_assert_int_eq (deed->life, LK_LIFE_GIVING);
    say (&w, "UNLOCKED", 103, NULL);
    ck_assert_int_eq (deed->life, LK_LIFE_CLOSED);
    ck_assert_int_eq (deed->error, LK_OK);

    deed = lk_book_force (w.book, &stranger, &(lk_taking) {0}, w.now);
    say_locked (&w, 104, 55, -1);
    pass (&w, 1000);
    for (int i = 0; i < 2; i++) {
        expect_letter (&w, "UNLOCK", 105,
                       "{\"object\":\"thing\",\"force\":true}");
    }
    say (&w, "LOCKFAILED", 105, "unknown");
    ck_assert_int_eq (deed->error, LK_UNKNOWN);
    tear_down (&w);
}
END_TEST

START_TEST (checking)
{
    world w;
    set_up (&w);
    lk_lock *deed = lk_book_check (w.book, &red, 9, w.now);
    expect_letter (&w, "LOCKCHECK", 103,
                   "{\"object_hex\":\"610062\",\"context\":\"red\","
                   "\"token\":\"0000000000000009\"}");
    say (&w, "LOCKCHECK", 103, NULL); /* says nothing */
    ck_assert_int_eq (deed->life, LK_LIFE_GIVING);
    lk_message *message = lk_message_new ("app@.", "LOCKCHECK");
    lk_message_set_hex (message, "newest", 10);
    deliver (&w, message, 103);
    ck_assert_int_eq (deed->life, LK_LIFE_CLOSED);
    ck_assert (!deed->checked);
    ck_assert_uint_eq (deed->newest, 10);

    deed = lk_book_check (w.book, &red, 9, w.now);
    message = lk_message_new ("app@.", "LOCKCHECK");
    lk_message_set_hex (message, "newest", 9);
    lk_message_set_flag (message, "held", true);
    deliver (&w, message, 105);
    ck_assert (deed->checked);
    tear_down (&w);
}
END_TEST

/*  -------------------------------------------------------- as on the page */

/*  An example of lockkeeper-protocol(7), as the answer to that serial. */
static void
hear (world *self, const char *example, uint64_t serial)
{
    deliver (self, lk_vector_message (lk_vector_find (example)), serial);
}

static lk_lock *
get_example (world *self, const char *example, lk_lock_type type)
{
    const lk_object_name names[] = {{"backup/db-1", 0}, {"backup/db-2", 0}};
    const lk_lock_options options = {.wait_ms = LK_FOREVER, .mode.type = type};
    const bool is_set = strcmp (example, "app-locked-set") == 0;
    self->now = 86400000;
    lk_lock *lock =
        lk_book_lock (self->book, names, is_set ? 2 : 1, &options, self->now);
    lk_message *locked = lk_vector_message (lk_vector_find (example));
    lk_message_set_text (locked, "lease_page", NULL); /* there is none here */
    deliver (self, locked, lock->serial);
    expect_event (self, LK_EVENT_GRANTED, lock, LK_OK);
    return lock;
}

START_TEST (examples_of_the_page)
{
    world w;
    set_up (&w);
    lk_lock *set = get_example (&w, "app-locked-set", LK_EXCLUSIVE);
    ck_assert_uint_eq (lk_lock_token_at (set, 1), 0x700000005);
    lk_lock *unit = get_example (&w, "app-locked-semaphore", LK_SEMAPHORE);
    ck_assert_uint_eq (lk_lock_ordinal (unit), 2);
    lk_lock *kept = get_example (&w, "app-locked-static", LK_EXCLUSIVE);
    ck_assert (kept->is_static && !set->is_static);
    ck_assert_int_eq (kept->lease_ms, 8000);
    hear (&w, "app-lockjeopardy", set->serial);
    expect_event (&w, LK_EVENT_JEOPARDY, set, LK_OK);
    hear (&w, "app-unlocked-lost", set->serial);
    expect_event (&w, LK_EVENT_LOST, set, LK_ISOLATED);
    hear (&w, "app-unlocked-forced", kept->serial);
    expect_event (&w, LK_EVENT_LOST, kept, LK_FORCED);
    ck_assert_str_eq (lk_lock_reason (kept), "hung since noon");
    lk_book_release (w.book, unit, w.now);
    hear (&w, "app-unlocked-late", unit->serial + 1);
    expect_event (&w, LK_EVENT_RELEASED, unit, LK_LATE);
    lk_lock *deed = lk_book_check (w.book, &stranger, 1, w.now);
    hear (&w, "app-lockcheck-answer", deed->serial + 1);
    ck_assert (deed->life == LK_LIFE_CLOSED && !deed->checked);
    ck_assert_uint_eq (deed->newest, 0x700000009);
    tear_down (&w);
}
END_TEST

START_TEST (examples_of_changes)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_example (&w, "app-locked", LK_EXCLUSIVE);
    lk_book_change (w.book, lock, LK_SHARED, 0, w.now);
    hear (&w, "app-locked-turn", lock->serial);
    expect_event (&w, LK_EVENT_CHANGED, lock, LK_OK);
    lk_book_change (w.book, lock, LK_EXCLUSIVE, 0, w.now);
    lk_message *refused =
        lk_vector_message (lk_vector_find ("app-lockfailed-turn"));
    lk_message_set_number (refused, "turn", 2);
    deliver (&w, refused, lock->serial);
    expect_event (&w, LK_EVENT_UNCHANGED, lock, LK_DEADLOCK);
    tear_down (&w);
}
END_TEST

static Suite *
make_suite (void)
{
    Suite *suite = suite_create ("client_ends");
    TCase *kinds = tcase_create ("kinds");
    tcase_add_test (kinds, late_by_the_service);
    tcase_add_test (kinds, lenient_until_it_is_asked_back);
    tcase_add_test (kinds, lenient_and_late_all_the_same);
    tcase_add_test (kinds, shutdown_waits_for_the_unlock);
    tcase_add_test (kinds, forced_with_a_reason);
    tcase_add_test (kinds, static_without_a_lease);
    tcase_add_test (kinds, static_and_left);
    tcase_add_test (kinds, static_at_the_end_of_a_session);
    tcase_add_test (kinds, set_is_granted_whole);
    tcase_add_test (kinds, names_that_begin_alike);
    tcase_add_test (kinds, set_that_nobody_asked_for);
    tcase_add_test (kinds, forcing);
    tcase_add_test (kinds, checking);
    tcase_add_test (kinds, examples_of_the_page);
    tcase_add_test (kinds, examples_of_changes);
    suite_add_tcase (suite, kinds);
    return suite;
}

int
main (void)
{
    return lk_suite_run (make_suite ());
}
