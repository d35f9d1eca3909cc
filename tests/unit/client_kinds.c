/*  client_kinds.c - the library's book: locks of every kind, and what becomes of
 *  them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client_book.h"

#include "lib/memory_file.h"

#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- letters */

/*  The next message has that command, serial and body; the process's number
 *  is 1. */
static void
expect_letter (world *self, const char *command, uint64_t serial,
               const char *body)
{
    lk_message *message = lk_book_next_message (self->book);
    ck_assert_ptr_nonnull (message);
    ck_assert_str_eq (lk_message_command (message), command);
    ck_assert_uint_eq (lk_message_serial (message), serial);
    if (lk_message_has (message, "pid")) {
        lk_message_set_number (message, "pid", 1);
    }
    ck_assert_str_eq (lk_message_body (message), body);
    lk_message_destroy (&message);
}

static lk_message *
new_locked (void)
{
    lk_message *message = lk_message_new ("app@.", "LOCKED");
    lk_message_set_text (message, "object", "thing");
    lk_message_set_hex (message, "token", 7);
    lk_message_set_hex (message, "key", 55);
    lk_message_set_number (message, "session", 3);
    lk_message_set_number (message, "until", -1);
    lk_message_set_number (message, "lease_until", START + LEASE);
    return message;
}

static lk_lock *
wish (world *self, const lk_lock_options *options)
{
    lk_lock *lock = lk_book_lock (self->book, &thing, 1, options, self->now);
    expect_sent (self, "LOCK");
    return lock;
}

static void
grant_as (world *self, const lk_lock *lock, const char *type)
{
    lk_message *message = new_locked ();
    lk_message_set_text (message, "type", type);
    deliver (self, message, lock->serial);
}

static lk_lock *
get_as (world *self, lk_lock_type type)
{
    const lk_lock_options options = {.wait_ms = LK_FOREVER,
                                     .mode = {.type = type, .limit = 0}};
    lk_lock *lock = wish (self, &options);
    grant_as (self, lock, type == LK_SHARED ? "shared" : "exclusive");
    expect_event (self, LK_EVENT_GRANTED, lock, LK_OK);
    return lock;
}

/*  -------------------------------------------------------- asking */

START_TEST (what_is_asked)
{
    static const struct {
        lk_lock_options options;
        const char *body;
    } cases[] = {
        {{0},
         "{\"object\":\"thing\",\"type\":\"exclusive\",\"wait\":0,"
         "\"duration\":0,\"pid\":1}"},
        {{.wait_ms = LK_FOREVER, .mode = {.type = LK_SHARED}, .context = "red"},
         "{\"object\":\"thing\",\"context\":\"red\",\"type\":\"shared\","
         "\"wait\":-1,\"duration\":0,\"pid\":1}"},
        {{.mode = {.type = LK_SEMAPHORE, .limit = 3, .bound = 5}},
         "{\"object\":\"thing\",\"type\":\"semaphore\",\"limit\":3,"
         "\"bound\":5,\"wait\":0,\"duration\":0,\"pid\":1}"},
        {{.wait_ms = 70, .mode = {.soft = true, .quiet_ms = 50}},
         "{\"object\":\"thing\",\"type\":\"exclusive\",\"policy\":\"soft\","
         "\"quiet\":50,\"wait\":70,\"duration\":0,\"pid\":1}"},
        {{.duration_ms = 9, .mode = {.lenient = true, .is_static = true}},
         "{\"object\":\"thing\",\"type\":\"exclusive\",\"lenient\":true,"
         "\"static\":true,\"wait\":0,\"duration\":9,\"pid\":1}"},
        {{.linger_ms = 8, .key = 0xabc},
         "{\"object\":\"thing\",\"type\":\"exclusive\",\"wait\":0,"
         "\"duration\":0,\"linger\":8,\"key\":\"0000000000000abc\","
         "\"pid\":1}"},
    };
    world w;
    set_up (&w);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const lk_lock *lock =
            lk_book_lock (w.book, &thing, 1, &cases[i].options, w.now);
        expect_letter (&w, "LOCK", lock->serial, cases[i].body);
    }
    tear_down (&w);
}
END_TEST

START_TEST (names_are_bytes)
{
    const lk_object_name name = {"a\0\xff", 3};
    const lk_lock_options options = {0};
    world w;
    set_up (&w);
    lk_lock *lock = lk_book_lock (w.book, &name, 1, &options, w.now);
    expect_letter (&w, "LOCK", lock->serial,
                   "{\"object_hex\":\"6100ff\",\"type\":\"exclusive\","
                   "\"wait\":0,\"duration\":0,\"pid\":1}");
    lk_book_discard (w.book, lock);
    lk_message *message = new_locked ();
    lk_message_set_text (message, "object", NULL);
    lk_message_set_text (message, "object_hex", "6100ff");
    deliver (&w, message, 102); /* nobody knows of it any more */
    expect_letter (&w, "UNLOCK", 103,
                   "{\"request\":102,\"object_hex\":\"6100ff\","
                   "\"key\":\"0000000000000037\"}");
    tear_down (&w);
}
END_TEST

START_TEST (what_is_granted)
{
    const lk_lock_options options = {.mode = {LK_SEMAPHORE, .limit = 4}};
    world w;
    set_up (&w);
    lk_lock *lock = wish (&w, &options);
    lk_message *message = new_locked ();
    lk_message_set_text (message, "type", "semaphore");
    lk_message_set_number (message, "ordinal", 3);
    lk_message_set_number (message, "until", START + 100);
    deliver (&w, message, lock->serial);
    expect_event (&w, LK_EVENT_GRANTED, lock, LK_OK);
    ck_assert_int_eq (lk_lock_get_type (lock), LK_SEMAPHORE);
    ck_assert_uint_eq (lk_lock_ordinal (lock), 3);
    ck_assert_uint_eq (lk_lock_count (lock), 1);
    ck_assert_uint_eq (lk_lock_token_at (lock, 0), 7);
    ck_assert_uint_eq (lk_lock_token_at (lock, 1), 0);
    ck_assert_str_eq (lk_lock_object_at (lock, 0, NULL), "thing");
    ck_assert_ptr_null (lk_lock_object_at (lock, 1, NULL));
    ck_assert_str_eq (lk_lock_reason (lock), "");
    tear_down (&w);
}
END_TEST

/*  -------------------------------------------------------- other types */

static void
answer_change (world *self, const lk_lock *lock, uint32_t turn,
               const char *type)
{
    lk_message *message = new_locked ();
    lk_message_set_hex (message, "token", 8);
    lk_message_set_text (message, "type", type);
    lk_message_set_number (message, "turn", turn);
    deliver (self, message, lock->serial);
}

static void
refuse_change (world *self, const lk_lock *lock, uint32_t turn,
               const char *error)
{
    lk_message *message = lk_message_new ("app@.", "LOCKFAILED");
    lk_message_set_text (message, "object", "thing");
    lk_message_set_text (message, "error", error);
    lk_message_set_text (message, "text", "because");
    lk_message_set_number (message, "turn", turn);
    deliver (self, message, lock->serial);
}

static void
expect_change (world *self, const lk_lock *lock, const char *body)
{
    expect_letter (self, "LOCK", lock->serial, body);
}

START_TEST (upgraded)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_as (&w, LK_SHARED);
    lk_book_change (w.book, lock, LK_EXCLUSIVE, 500, w.now);
    expect_change (&w, lock,
                   "{\"object\":\"thing\",\"type\":\"exclusive\",\"wait\":500,"
                   "\"turn\":1,\"pid\":1}");
    ck_assert_int_eq (lk_lock_get_type (lock), LK_SHARED);
    ck_assert (lk_book_held (lock, w.now));
    pass (&w, 1000);
    expect_change (&w, lock,
                   "{\"object\":\"thing\",\"type\":\"exclusive\",\"wait\":0,"
                   "\"turn\":1,\"pid\":1}");
    grant_as (&w, lock, "shared"); /* once more, of the LOCK before */
    answer_change (&w, lock, 1, "shared");
    expect_no_event (&w);
    answer_change (&w, lock, 1, "exclusive");
    expect_event (&w, LK_EVENT_CHANGED, lock, LK_OK);
    ck_assert_int_eq (lk_lock_get_type (lock), LK_EXCLUSIVE);
    ck_assert_uint_eq (lk_lock_token (lock), 8);
    answer_change (&w, lock, 1, "exclusive");
    pass (&w, 5000);
    expect_no_event (&w);
    expect_nothing_sent (&w);
    ck_assert (lk_book_held (lock, w.now));
    tear_down (&w);
}
END_TEST

START_TEST (upgrade_refused)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_as (&w, LK_SHARED);
    lk_book_change (w.book, lock, LK_EXCLUSIVE, LK_FOREVER, w.now);
    expect_sent (&w, "LOCK");
    refuse_change (&w, lock, 0, "full");
    expect_no_event (&w);
    refuse_change (&w, lock, 1, "deadlock");
    expect_event (&w, LK_EVENT_UNCHANGED, lock, LK_DEADLOCK);
    ck_assert_str_eq (lk_book_remark (w.book), "because");
    ck_assert (lk_book_held (lock, w.now));
    ck_assert_int_eq (lk_lock_get_type (lock), LK_SHARED);
    answer_change (&w, lock, 1, "exclusive");
    expect_no_event (&w);
    ck_assert_int_eq (lk_lock_get_type (lock), LK_SHARED);
    tear_down (&w);
}
END_TEST

/*  Then it is taken back, so that nobody has an exclusive lock that he does
 *  not know of. */
START_TEST (upgrade_without_answer)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_as (&w, LK_SHARED);
    lock->until_ms = INT64_MAX;
    lk_book_change (w.book, lock, LK_EXCLUSIVE, 500, w.now);
    for (int i = 0; i < 6; i++) {
        expect_sent (&w, "LOCK");
        pass (&w, i < 5 ? 1000 : 500);
        ck_assert (i == 5 || !lk_book_has_event (w.book));
    }
    expect_event (&w, LK_EVENT_UNCHANGED, lock, LK_TIMEDOUT);
    expect_change (&w, lock,
                   "{\"object\":\"thing\",\"type\":\"shared\",\"wait\":0,"
                   "\"turn\":2,\"pid\":1}");
    answer_change (&w, lock, 1, "exclusive");
    ck_assert_int_eq (lk_lock_get_type (lock), LK_SHARED);
    ck_assert_uint_eq (lk_lock_token (lock), 7);
    pass (&w, 1000);
    expect_sent (&w, "LOCK");
    answer_change (&w, lock, 2, "shared");
    expect_no_event (&w);
    ck_assert_int_eq (lock->life, LK_LIFE_HELD);
    pass (&w, 1000);
    expect_nothing_sent (&w);
    tear_down (&w);
}
END_TEST

START_TEST (downgraded_at_once)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_as (&w, LK_EXCLUSIVE);
    lk_book_change (w.book, lock, LK_SHARED, 0, w.now);
    expect_sent (&w, "LOCK");
    ck_assert_int_eq (lk_lock_get_type (lock), LK_SHARED);
    pass (&w, 7000); /* it is asked for without end */
    expect_sent (&w, "LOCK");
    expect_no_event (&w);
    answer_change (&w, lock, 1, "shared");
    expect_event (&w, LK_EVENT_CHANGED, lock, LK_OK);
    tear_down (&w);

    set_up (&w);
    lock = get_as (&w, LK_EXCLUSIVE);
    lk_book_change (w.book, lock, LK_SHARED, 0, w.now);
    say (&w, "INVALID", lock->serial, NULL);
    expect_event (&w, LK_EVENT_UNCHANGED, lock, LK_INVALID);
    ck_assert_int_eq (lk_lock_get_type (lock), LK_EXCLUSIVE);
    tear_down (&w);
}
END_TEST

START_TEST (last_change_counts)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_as (&w, LK_SHARED);
    lk_book_change (w.book, lock, LK_SHARED, 0, w.now);
    expect_event (&w, LK_EVENT_CHANGED, lock, LK_OK);
    expect_nothing_sent (&w); /* it is of that type */
    lk_book_change (w.book, lock, LK_EXCLUSIVE, LK_FOREVER, w.now);
    expect_sent (&w, "LOCK");
    lk_book_change (w.book, lock, LK_SHARED, LK_FOREVER, w.now);
    expect_change (&w, lock,
                   "{\"object\":\"thing\",\"type\":\"shared\",\"wait\":-1,"
                   "\"turn\":2,\"pid\":1}");
    answer_change (&w, lock, 1, "exclusive");
    refuse_change (&w, lock, 1, "full");
    expect_no_event (&w);
    answer_change (&w, lock, 2, "shared");
    expect_event (&w, LK_EVENT_CHANGED, lock, LK_OK);
    ck_assert_int_eq (lk_lock_get_type (lock), LK_SHARED);
    tear_down (&w);
}
END_TEST

/*  Though it is what is wanted once more. */
START_TEST (answer_to_a_change_before)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_as (&w, LK_SHARED);
    lk_book_change (w.book, lock, LK_EXCLUSIVE, LK_FOREVER, w.now);
    lk_book_change (w.book, lock, LK_SHARED, LK_FOREVER, w.now);
    lk_book_change (w.book, lock, LK_EXCLUSIVE, LK_FOREVER, w.now);
    answer_change (&w, lock, 1, "exclusive");
    expect_no_event (&w);
    answer_change (&w, lock, 3, "exclusive");
    expect_event (&w, LK_EVENT_CHANGED, lock, LK_OK);
    tear_down (&w);
}
END_TEST

START_TEST (lost_while_changing)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_as (&w, LK_SHARED);
    lk_book_change (w.book, lock, LK_EXCLUSIVE, LK_FOREVER, w.now);
    expect_sent (&w, "LOCK");
    say (&w, "UNLOCKED", lock->serial, "isolated");
    expect_event (&w, LK_EVENT_LOST, lock, LK_ISOLATED);
    answer_change (&w, lock, 1, "exclusive");
    refuse_change (&w, lock, 1, "full");
    pass (&w, 10000);
    expect_no_event (&w);
    expect_nothing_sent (&w);
    tear_down (&w);
}
END_TEST

START_TEST (refused_for_good_while_changing)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_as (&w, LK_SHARED);
    lk_book_change (w.book, lock, LK_EXCLUSIVE, LK_FOREVER, w.now);
    lk_book_give_up (w.book, w.now);
    expect_event (&w, LK_EVENT_UNCHANGED, lock, LK_REFUSED);
    ck_assert (lk_book_held (lock, w.now));
    tear_down (&w);
}
END_TEST

/*  -------------------------------------------------------- danger */

static void
say_danger (world *self, const lk_lock *lock, bool danger)
{
    lk_message *message = lk_message_new ("app@.", "LOCKJEOPARDY");
    lk_message_set_text (message, "object", "thing");
    lk_message_set_flag (message, "danger", danger);
    deliver (self, message, lock->serial);
}

START_TEST (danger_is_told)
{
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, LK_FOREVER);
    say_danger (&w, lock, true); /* not held yet */
    say_locked (&w, lock->serial, 55, -1);
    expect_event (&w, LK_EVENT_GRANTED, lock, LK_OK);
    say_danger (&w, lock, true);
    say_danger (&w, lock, true);
    expect_event (&w, LK_EVENT_JEOPARDY, lock, LK_OK);
    ck_assert (lk_lock_in_jeopardy (lock));
    ck_assert (lk_book_held (lock, w.now));
    say_danger (&w, lock, false);
    expect_event (&w, LK_EVENT_SAFE, lock, LK_OK);
    ck_assert (!lk_lock_in_jeopardy (lock));
    say_danger (&w, lock, true);
    expect_event (&w, LK_EVENT_JEOPARDY, lock, LK_OK);
    say (&w, "UNLOCKED", lock->serial, "quorum");
    say_danger (&w, lock, false);
    expect_event (&w, LK_EVENT_LOST, lock, LK_QUORUM);
    expect_no_event (&w);
    tear_down (&w);
}
END_TEST

static lk_memory_file page;

static void
write_page (int64_t until_ms)
{
    struct {
        char tag[8];
        uint64_t session;
        int64_t until_ms;
    } text = {{'L', 'K', 'L', 'E', 'A', 'S', 'E', '1'}, 3, until_ms};
    lk_memory_file_set (&page, &text, sizeof text);
}

static lk_lock *
get_by_page (world *self)
{
    lk_lock *lock = ask (self, LK_FOREVER);
    lk_message *message = new_locked ();
    lk_memory_file_open (&page);
    write_page (self->now + LEASE);
    lk_message_set_text (message, "lease_page", page.path);
    lk_message_set_number (message, "lease", LEASE);
    deliver (self, message, lock->serial);
    expect_event (self, LK_EVENT_GRANTED, lock, LK_OK);
    return lock;
}

/*  Service or router stopped: nobody says so, the page shows it. */
START_TEST (danger_is_seen)
{
    world w;
    set_up (&w);
    lk_lock *lock = get_by_page (&w);
    pass (&w, LEASE / 2);
    write_page (w.now + LEASE);
    pass (&w, LEASE / 2);
    expect_no_event (&w);
    ck_assert_int_eq (lk_book_deadline (w.book), w.now + 1);
    pass (&w, 1);
    expect_event (&w, LK_EVENT_JEOPARDY, lock, LK_OK);
    say_danger (&w, lock, true);
    write_page (w.now + LEASE);
    pass (&w, LEASE / 8);
    expect_no_event (&w); /* the service has not taken it back */
    say_danger (&w, lock, false);
    expect_event (&w, LK_EVENT_SAFE, lock, LK_OK);
    pass (&w, LEASE);
    expect_event (&w, LK_EVENT_LOST, lock, LK_ISOLATED);
    expect_no_event (&w);
    tear_down (&w);
}
END_TEST

/*  -------------------------------------------------------- re-entrance */

static const lk_lock_options again = {.wait_ms = LK_FOREVER, .reentrant = true};

static lk_lock *
join (world *self, lk_lock *lock)
{
    lk_lock *other = lk_book_lock (self->book, &thing, 1, &again, self->now);
    ck_assert_ptr_eq (other, lock);
    expect_nothing_sent (self);
    return other;
}

START_TEST (counted_up_and_down)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    join (&w, lock);
    expect_event (&w, LK_EVENT_GRANTED, lock, LK_OK);
    join (&w, lock);
    expect_event (&w, LK_EVENT_GRANTED, lock, LK_OK);

    ck_assert (lk_book_count_down (lock)); /* at once */
    lk_book_release (w.book, lock, w.now); /* with an event */
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_OK);
    lk_book_forget (w.book, lock, w.now);
    ck_assert (lk_book_held (lock, w.now));
    expect_nothing_sent (&w);

    ck_assert (!lk_book_count_down (lock));
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    ck_assert (!lk_book_held (lock, w.now));
    say (&w, "UNLOCKED", w.serial, NULL);
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_OK);
    lk_book_forget (w.book, lock, w.now);
    ck_assert_ptr_null (lk_book_next_lock (w.book, NULL));
    tear_down (&w);
}
END_TEST

/*  One that was given back and forgotten is not counted twice. */
START_TEST (three_in_any_order)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    join (&w, lock);
    join (&w, lock);
    lk_book_release (w.book, lock, w.now);
    lk_book_forget (w.book, lock, w.now);
    lk_book_release (w.book, lock, w.now);
    ck_assert (lk_book_held (lock, w.now));
    expect_nothing_sent (&w);
    lk_book_release (w.book, lock, w.now);
    expect_sent (&w, "UNLOCK");
    tear_down (&w);
}
END_TEST

START_TEST (joined_while_waiting)
{
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, LK_FOREVER);
    join (&w, lock);
    expect_no_event (&w);
    say_locked (&w, lock->serial, 55, -1);
    expect_event (&w, LK_EVENT_GRANTED, lock, LK_OK);
    expect_event (&w, LK_EVENT_GRANTED, lock, LK_OK);
    say (&w, "UNLOCKED", lock->serial, "isolated");
    expect_event (&w, LK_EVENT_LOST, lock, LK_ISOLATED);
    expect_no_event (&w);
    lk_book_forget (w.book, lock, w.now);
    ck_assert_ptr_eq (lk_book_next_lock (w.book, NULL), lock);
    lk_book_forget (w.book, lock, w.now);
    ck_assert_ptr_null (lk_book_next_lock (w.book, NULL));

    lock = ask (&w, LK_FOREVER);
    join (&w, lock);
    say (&w, "LOCKFAILED", lock->serial, "overloaded");
    expect_event (&w, LK_EVENT_FAILED, lock, LK_OVERLOADED);
    expect_event (&w, LK_EVENT_FAILED, lock, LK_OVERLOADED);
    lk_book_forget (w.book, lock, w.now);
    lk_book_forget (w.book, lock, w.now);
    expect_nothing_sent (&w);
    ck_assert_ptr_null (lk_book_next_lock (w.book, NULL));
    tear_down (&w);
}
END_TEST

START_TEST (another_lock_is_not_joined)
{
    static const lk_object_name names[] = {{"thing", 0}, {"other", 0}};
    lk_lock_options options = again;
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    ck_assert_ptr_ne (lk_book_lock (w.book, &names[1], 1, &again, w.now), lock);
    options.context = "red";
    ck_assert_ptr_ne (lk_book_lock (w.book, names, 1, &options, w.now), lock);
    options = again;
    options.mode.type = LK_SHARED;
    ck_assert_ptr_ne (lk_book_lock (w.book, names, 1, &options, w.now), lock);
    options = again;
    options.reentrant = false;
    ck_assert_ptr_ne (lk_book_lock (w.book, names, 1, &options, w.now), lock);
    lk_book_release (w.book, lock, w.now);
    ck_assert_ptr_ne (lk_book_lock (w.book, names, 1, &again, w.now), lock);
    tear_down (&w);
}
END_TEST

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
    pass (&w, LEASE);
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
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_OK);
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
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_OK);
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
    expect_sent (&w, "UNLOCK");
    ck_assert_uint_eq (w.key, 56);
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
    const lk_lock_options options = {.wait_ms = 5, .context = "red"};
    lk_lock *lock = lk_book_lock (self->book, pair, 2, &options, self->now);
    expect_letter (self, "LOCK", lock->serial,
                   "{\"locks\":[{\"object\":\"b\"},{\"object_hex\":\"ff\"}],"
                   "\"context\":\"red\",\"type\":\"exclusive\",\"wait\":5,"
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
    lk_message_set_hex (row, "key", 1);
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
    deliver (&w, new_pair (12), lock->serial);
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
    lk_lock *deed = lk_book_force (w.book, &red, 9, "why", w.now);
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

    deed = lk_book_force (w.book, &stranger, 0, NULL, w.now);
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

static Suite *
make_suite (void)
{
    Suite *suite = suite_create ("client_kinds");
    TCase *kinds = tcase_create ("kinds");
    tcase_add_test (kinds, what_is_asked);
    tcase_add_test (kinds, names_are_bytes);
    tcase_add_test (kinds, what_is_granted);
    tcase_add_test (kinds, upgraded);
    tcase_add_test (kinds, upgrade_refused);
    tcase_add_test (kinds, upgrade_without_answer);
    tcase_add_test (kinds, downgraded_at_once);
    tcase_add_test (kinds, last_change_counts);
    tcase_add_test (kinds, answer_to_a_change_before);
    tcase_add_test (kinds, lost_while_changing);
    tcase_add_test (kinds, refused_for_good_while_changing);
    tcase_add_test (kinds, danger_is_told);
    tcase_add_test (kinds, danger_is_seen);
    tcase_add_test (kinds, counted_up_and_down);
    tcase_add_test (kinds, three_in_any_order);
    tcase_add_test (kinds, joined_while_waiting);
    tcase_add_test (kinds, another_lock_is_not_joined);
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
    suite_add_tcase (suite, kinds);
    return suite;
}

int
main (void)
{
    SRunner *runner = srunner_create (make_suite ());
    srunner_run_all (runner, CK_NORMAL);
    int failed = srunner_ntests_failed (runner);
    srunner_free (runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
