/*  client_kinds.c - the library's book: what is asked for and held, of every
 *  kind
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client_book.h"

#include "lib/memory_file.h"

#include "lib/suite.h"

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
        {{.wait_ms = 700, .mode = {.soft = true, .quiet_ms = 50}},
         "{\"object\":\"thing\",\"type\":\"exclusive\",\"policy\":\"soft\","
         "\"quiet\":50,\"wait\":700,\"duration\":0,\"pid\":1}"},
        {{.duration_ms = 9, .mode.lenient = true},
         "{\"object\":\"thing\",\"type\":\"exclusive\",\"lenient\":true,"
         "\"wait\":0,\"duration\":9,\"pid\":1}"},
        {{.duration_ms = 9, .mode.is_static = true},
         "{\"object\":\"thing\",\"type\":\"exclusive\",\"static\":true,"
         "\"wait\":0,\"duration\":9,\"pid\":1}"},
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
    say_locked (&w, lock->serial, 55, -1);
    lk_book_release (w.book, lock, w.now);
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
    lk_message_set_number (message, "ordinal", 2);
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
    ck_assert_uint_eq (lk_lock_ordinal (lock), 2);
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

/*  It says what a shared lock has, not what it was asked for with. */
START_TEST (what_was_soft_goes_on_shared)
{
    const lk_lock_options options = {.mode = {.soft = true, .quiet_ms = 50}};
    world w;
    set_up (&w);
    lk_lock *lock = wish (&w, &options);
    deliver (&w, new_locked (), lock->serial);
    expect_event (&w, LK_EVENT_GRANTED, lock, LK_OK);
    lk_book_change (w.book, lock, LK_SHARED, 0, w.now);
    answer_change (&w, lock, 1, "shared");
    expect_event (&w, LK_EVENT_CHANGED, lock, LK_OK);
    expect_sent (&w, "LOCK");
    lk_book_orphan (w.book, w.now);
    expect_event (&w, LK_EVENT_JEOPARDY, lock, LK_OK);
    lk_book_repeat (w.book, w.now);
    expect_letter (&w, "LOCK", lock->serial,
                   "{\"object\":\"thing\",\"token\":\"0000000000000008\","
                   "\"key\":\"0000000000000037\",\"type\":\"shared\","
                   "\"lease_until\":1008000,\"duration\":0,\"pid\":1}");
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
say_danger_by (world *self, const lk_lock *lock, bool danger, const char *error)
{
    lk_message *message = lk_message_new ("app@.", "LOCKJEOPARDY");
    lk_message_set_text (message, "object", "thing");
    lk_message_set_flag (message, "danger", danger);
    lk_message_set_text (message, "error", error);
    deliver (self, message, lock->serial);
}

static void
say_danger (world *self, const lk_lock *lock, bool danger)
{
    say_danger_by (self, lock, danger, "isolated");
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

/*  Nobody is told LOCKED who could not see it end. */
START_TEST (a_page_that_cannot_be_read)
{
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, LK_FOREVER);
    lk_message *message = new_locked ();
    lk_message_set_text (message, "lease_page", "/no/such/page");
    deliver (&w, message, lock->serial);
    expect_event (&w, LK_EVENT_FAILED, lock, LK_SYSTEM);
    ck_assert (!lk_book_held (lock, w.now));
    ck_assert_str_eq (lk_book_remark (w.book),
                      "cannot open '/no/such/page': no such file or directory; "
                      "this is the lease page of the lock service (its option "
                      "--run), which all who use locks have to read");
    expect_sent (&w, "UNLOCK");
    expect_no_event (&w);
    tear_down (&w);
}
END_TEST

/*  A static lock has no lease. */
START_TEST (a_static_lock_needs_no_page)
{
    world w;
    set_up (&w);
    lk_lock *lock = ask (&w, LK_FOREVER);
    lk_message *message = new_locked ();
    lk_message_set_text (message, "lease_page", "/no/such/page");
    lk_message_set_flag (message, "static", true);
    deliver (&w, message, lock->serial);
    expect_event (&w, LK_EVENT_GRANTED, lock, LK_OK);
    tear_down (&w);
}
END_TEST

/*  Which is told as such, whoever says so first. */
START_TEST (danger_by_the_credential)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    say_danger_by (&w, lock, true, "credential");
    expect_event (&w, LK_EVENT_JEOPARDY, lock, LK_CREDENTIAL);
    lk_book_set_credential (w.book, true, w.now);
    expect_no_event (&w);
    say_danger_by (&w, lock, false, "credential");
    expect_no_event (&w);
    lk_book_set_credential (w.book, false, w.now);
    expect_event (&w, LK_EVENT_SAFE, lock, LK_OK);
    lk_book_set_credential (w.book, true, w.now);
    expect_event (&w, LK_EVENT_JEOPARDY, lock, LK_CREDENTIAL);
    tear_down (&w);
}
END_TEST

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

START_TEST (counted_up_and_down)
{
    world w;
    set_up (&w);
    lk_lock *lock = get (&w);
    join (&w, lock);
    expect_event (&w, LK_EVENT_GRANTED, lock, LK_OK);
    join (&w, lock);
    expect_event (&w, LK_EVENT_GRANTED, lock, LK_OK);

    ck_assert (lk_book_count_down (lock, w.now)); /* at once */
    lk_book_release (w.book, lock, w.now);        /* with an event */
    expect_event (&w, LK_EVENT_RELEASED, lock, LK_OK);
    lk_book_forget (w.book, lock, w.now);
    ck_assert (lk_book_held (lock, w.now));
    expect_nothing_sent (&w);

    ck_assert (!lk_book_count_down (lock, w.now));
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
    tcase_add_test (kinds, what_was_soft_goes_on_shared);
    tcase_add_test (kinds, last_change_counts);
    tcase_add_test (kinds, answer_to_a_change_before);
    tcase_add_test (kinds, lost_while_changing);
    tcase_add_test (kinds, refused_for_good_while_changing);
    tcase_add_test (kinds, danger_is_told);
    tcase_add_test (kinds, danger_by_the_credential);
    tcase_add_test (kinds, danger_is_seen);
    tcase_add_test (kinds, a_page_that_cannot_be_read);
    tcase_add_test (kinds, a_static_lock_needs_no_page);
    tcase_add_test (kinds, counted_up_and_down);
    tcase_add_test (kinds, three_in_any_order);
    tcase_add_test (kinds, joined_while_waiting);
    tcase_add_test (kinds, another_lock_is_not_joined);
    suite_add_tcase (suite, kinds);
    return suite;
}

int
main (void)
{
    return lk_suite_run (make_suite ());
}
