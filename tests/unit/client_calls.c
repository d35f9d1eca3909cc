/*  client_calls.c - the library's calls for locks of every kind, over real
 *  sockets
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client_fake.h"

#include "client/wish.h"

#include "lib/suite.h"

#include <lockkeeper/canal.h>

/*  -------------------------------------------------------- the lock service */

static int units;              /* of the semaphore that are out */
static atomic_int locks, ends; /* LOCK and UNLOCK that were heard */
static uint64_t tokens;

static void
refuse (const lk_message *message, const char *error)
{
    lk_message *answer = lk_message_reply (message, "LOCKFAILED");
    lk_message_set_text (answer, "error", error);
    lk_message_set_number (answer, "turn",
                           lk_message_number (message, "turn", 0));
    send_back (answer, "lock@h1");
}

static void
add_rows (const lk_message *message, lk_message *answer)
{
    lk_message *row;
    for (size_t at = 0; (row = lk_message_row (message, "locks", at)); at++) {
        lk_message_set_hex (row, "token", ++tokens);
        lk_message_set_hex (row, "key", 77);
        lk_message_add_row (answer, "locks", &row);
    }
}

static void
grant (const lk_message *message)
{
    lk_message *answer = lk_message_reply (message, "LOCKED");
    if (lk_message_has (message, "locks")) {
        add_rows (message, answer);
    } else {
        lk_message_set_hex (answer, "token", ++tokens);
        lk_message_set_hex (answer, "key", 77);
    }
    lk_message_set_text (answer, "type", lk_message_text (message, "type"));
    lk_message_set_number (answer, "turn",
                           lk_message_number (message, "turn", 0));
    lk_message_set_flag (answer, "static", lk_message_flag (message, "static"));
    lk_message_set_number (answer, "ordinal", units);
    lk_message_set_number (answer, "session", 3);
    lk_message_set_number (answer, "lease_until", lk_clock_ms () + 60000);
    send_back (answer, "lock@h1");
}

static void
serve_lock (const lk_message *message)
{
    const char *object = lk_message_text (message, "object");
    const int64_t limit = lk_message_number (message, "limit", 0);
    atomic_fetch_add (&locks, 1);
    if (object && strcmp (object, "later") == 0) {
        return; /* it waits */
    }
    if (object && strcmp (object, "crowded") == 0
        && lk_message_has (message, "turn")) {
        refuse (message, "deadlock");
    } else if ((object && strcmp (object, "taken") == 0)
               || (limit > 0 && units >= limit)) {
        refuse (message, "full");
    } else {
        units += limit > 0;
        grant (message);
    }
}

static void
serve_unlock (const lk_message *message)
{
    const char *object = lk_message_text (message, "object");
    const bool force = lk_message_flag (message, "force");
    atomic_fetch_add (&ends, 1);
    if (force && strcmp (object, "free") == 0) {
        refuse (message, "unknown");
        return;
    }
    units -= object && strcmp (object, "db") == 0;
    lk_message *answer = lk_message_reply (message, "UNLOCKED");
    lk_message_set_flag (answer, "late",
                         object && strcmp (object, "slow") == 0);
    send_back (answer, "lock@h1");
}

static void
serve_all (const lk_message *message)
{
    uint64_t token = 0;
    if (lk_message_is (message, "LOCK")) {
        serve_lock (message);
    } else if (lk_message_is (message, "UNLOCK")) {
        serve_unlock (message);
    } else if (lk_message_is (message, "LOCKCHECK")) {
        lk_message *answer = lk_message_reply (message, "LOCKCHECK");
        (void) lk_message_hex (message, "token", &token);
        lk_message_set_flag (answer, "held", token == 10);
        lk_message_set_hex (answer, "newest", 10);
        send_back (answer, "lock@h1");
    }
}

/*  -------------------------------------------------------- one lock */

static const lk_lock_options at_once = {0};

START_TEST (acquiring)
{
    lk_session *session = open_session ();
    lk_lock *first = NULL, *lock = NULL;
    lk_lock_event event;
    ck_assert_int_eq (lk_lock_request (session, "a", 1, NULL, &first), LK_OK);
    ck_assert_int_eq (lk_lock_acquire (session, "a\0b", 3, NULL, &lock), LK_OK);
    ck_assert (lk_lock_held (lock));
    ck_assert_int_eq (lk_session_poll (session, HANG_MS, &event),
                      LK_EVENT_GRANTED);
    ck_assert_ptr_eq (event.lock, first); /* that of the other is not told */
    ck_assert_int_eq (lk_session_poll (session, 0, &event), LK_EVENT_NONE);
    ck_assert_int_eq (lk_lock_release (&lock), LK_OK);
    lock = first;
    ck_assert_int_eq (lk_lock_acquire (session, "taken", 5, &at_once, &lock),
                      LK_FULL);
    ck_assert_ptr_null (lock);
    ck_assert_int_eq (lk_session_poll (session, 0, &event), LK_EVENT_NONE);
    lk_session_destroy (&session);
}
END_TEST

START_TEST (given_back_late)
{
    lk_session *session = open_session ();
    lk_lock *lock = NULL;
    ck_assert_int_eq (lk_lock_wait (session, "slow", 1000, &lock), LK_OK);
    ck_assert_int_eq (lk_lock_release (&lock), LK_LATE);
    ck_assert_ptr_null (lock);
    lk_session_destroy (&session);
}
END_TEST

START_TEST (entered_twice)
{
    const lk_lock_options options = {.wait_ms = 1000, .reentrant = true};
    lk_session *session = open_session ();
    lk_lock *outer = NULL, *inner = NULL;
    lk_lock_event event;
    ck_assert_int_eq (lk_lock_acquire (session, "a", 1, &options, &outer),
                      LK_OK);
    ck_assert_int_eq (lk_lock_acquire (session, "a", 1, &options, &inner),
                      LK_OK);
    ck_assert_ptr_eq (outer, inner);
    ck_assert_int_eq (lk_lock_release (&inner), LK_OK);
    ck_assert (lk_lock_held (outer));
    ck_assert_int_eq (atomic_load (&locks), 1);
    ck_assert_int_eq (atomic_load (&ends), 0);
    ck_assert_int_eq (lk_lock_release (&outer), LK_OK);
    ck_assert_int_eq (atomic_load (&ends), 1);
    ck_assert_int_eq (lk_session_poll (session, 0, &event), LK_EVENT_NONE);
    lk_session_destroy (&session);
}
END_TEST

/*  -------------------------------------------------------- other types */

START_TEST (changing)
{
    const lk_lock_options shared = {.wait_ms = 1000, .mode.type = LK_SHARED};
    lk_session *session = open_session ();
    lk_lock *lock = NULL;
    lk_lock_event event;
    ck_assert_int_eq (lk_lock_acquire (session, "a", 1, &shared, &lock), LK_OK);
    const uint64_t token = lk_lock_token (lock);
    ck_assert_int_eq (lk_lock_change (lock, LK_EXCLUSIVE, 1000), LK_OK);
    ck_assert_uint_gt (lk_lock_token (lock), token);
    ck_assert_int_eq (lk_lock_get_type (lock), LK_EXCLUSIVE);
    ck_assert_int_eq (lk_lock_change_start (lock, LK_SHARED, 1000), LK_OK);
    ck_assert_int_eq (lk_lock_get_type (lock), LK_SHARED);
    ck_assert_int_eq (lk_session_poll (session, HANG_MS, &event),
                      LK_EVENT_CHANGED);
    ck_assert_int_eq (lk_session_poll (session, 0, &event), LK_EVENT_NONE);
    ck_assert_int_eq (lk_lock_release (&lock), LK_OK);

    ck_assert_int_eq (lk_lock_acquire (session, "crowded", 7, &shared, &lock),
                      LK_OK);
    ck_assert_int_eq (lk_lock_change (lock, LK_EXCLUSIVE, 1000), LK_DEADLOCK);
    ck_assert (lk_lock_held (lock));
    ck_assert_int_eq (lk_session_poll (session, 0, &event), LK_EVENT_NONE);
    ck_assert_int_eq (lk_lock_change_start (lock, LK_EXCLUSIVE, 1000), LK_OK);
    ck_assert_int_eq (lk_session_poll (session, HANG_MS, &event),
                      LK_EVENT_UNCHANGED);
    ck_assert_int_eq (event.error, LK_DEADLOCK);
    lk_session_destroy (&session);
}
END_TEST

START_TEST (what_cannot_change)
{
    static const lk_object_name pair[] = {{"a", 0}, {"b", 0}};
    const lk_lock_options unit = {.mode = {.type = LK_SEMAPHORE, .limit = 9}};
    lk_session *session = open_session ();
    lk_lock *lock = NULL;
    ck_assert_int_eq (lk_lock_request (session, "later", 5, NULL, &lock),
                      LK_OK);
    ck_assert_int_eq (lk_lock_change (lock, LK_SHARED, 0), LK_INVALID);
    lk_lock_forget (&lock);
    ck_assert_int_eq (lk_lock_acquire (session, "s", 1, &unit, &lock), LK_OK);
    ck_assert_int_eq (lk_lock_change (lock, LK_SHARED, 0), LK_INVALID);
    lk_lock_forget (&lock);
    ck_assert_int_eq (lk_lock_acquire_all (session, pair, 2, NULL, &lock),
                      LK_OK);
    ck_assert_int_eq (lk_lock_change (lock, LK_SHARED, 0), LK_INVALID);
    lk_lock_forget (&lock);
    ck_assert_int_eq (lk_lock_acquire (session, "b", 1, NULL, &lock), LK_OK);
    ck_assert_int_eq (lk_lock_change (lock, LK_SEMAPHORE, 0), LK_INVALID);
    ck_assert_int_eq (lk_lock_change (lock, LK_SHARED, -2), LK_INVALID);
    lk_session_destroy (&session);
}
END_TEST

/*  -------------------------------------------------------- left behind */

START_TEST (leaving)
{
    const lk_lock_options fixed = {.mode.is_static = true};
    const lk_lock_options lingering = {.linger_ms = 100};
    lk_session *session = open_session ();
    lk_lock *lock = NULL;
    ck_assert_int_eq (lk_lock_acquire (session, "a", 1, NULL, &lock), LK_OK);
    ck_assert_int_eq (lk_lock_leave (&lock), LK_INVALID);
    ck_assert_int_eq (lk_lock_release (&lock), LK_OK);
    ck_assert_int_eq (atomic_load (&ends), 1);
    ck_assert_int_eq (lk_lock_acquire (session, "a", 1, &fixed, &lock), LK_OK);
    ck_assert_int_eq (lk_lock_leave (&lock), LK_OK);
    ck_assert_ptr_null (lock);
    ck_assert_int_eq (lk_lock_acquire (session, "b", 1, &lingering, &lock),
                      LK_OK);
    ck_assert_int_eq (lk_lock_leave (&lock), LK_OK);
    ck_assert_int_eq (lk_lock_acquire (session, "c", 1, &fixed, &lock), LK_OK);
    lk_session_destroy (&session); /* leaves it, too */
    ck_assert_int_eq (atomic_load (&ends), 1);
}
END_TEST

/*  -------------------------------------------------------- sets */

START_TEST (all_or_nothing)
{
    static const lk_object_name pair[] = {{"b", 0}, {"a\0\xff", 3}};
    lk_session *session = open_session ();
    lk_lock *lock = NULL;
    lk_lock_event event;
    size_t len;
    ck_assert_int_eq (lk_lock_acquire_all (session, pair, 2, NULL, &lock),
                      LK_OK);
    ck_assert_uint_eq (lk_lock_count (lock), 2);
    ck_assert_str_eq (lk_lock_object_at (lock, 0, &len), "b");
    ck_assert_uint_eq (len, 1);
    ck_assert_int_eq (memcmp (lk_lock_object_at (lock, 1, &len), "a\0\xff", 4),
                      0);
    ck_assert_uint_eq (len, 3);
    ck_assert_uint_eq (lk_lock_token_at (lock, 0), 1);
    ck_assert_uint_eq (lk_lock_token_at (lock, 1), 2);
    ck_assert_int_eq (lk_lock_release (&lock), LK_OK);
    ck_assert_int_eq (lk_lock_request_all (session, pair, 1, NULL, &lock),
                      LK_OK);
    ck_assert_int_eq (lk_session_poll (session, HANG_MS, &event),
                      LK_EVENT_GRANTED);
    ck_assert_uint_eq (lk_lock_count (lock), 1);
    ck_assert_uint_eq (lk_lock_token (lock), 3);
    lk_session_destroy (&session);
}
END_TEST

/*  -------------------------------------------------------- locks of others */

static lk_err
force (lk_session *session, const lk_lock_name *name, const char *reason)
{
    const lk_taking how = {.reason = reason};
    return lk_session_force (session, name, &how, 1000);
}

START_TEST (of_others)
{
    static const char long_text[LK_REASON_MAX + 2] = {[0 ... LK_REASON_MAX] =
                                                          'a'};
    const lk_lock_name busy = {.object = "busy"}, idle = {.object = "free"};
    const lk_lock_name none = {.object = ""};
    const lk_lock_name strange = {.object = "a", .context = "\xff"};
    lk_session *session = open_session ();
    uint64_t newest = 0;
    ck_assert_int_eq (force (session, &busy, "why"), LK_OK);
    ck_assert_int_eq (force (session, &idle, NULL), LK_UNKNOWN);
    ck_assert_int_eq (force (session, &none, NULL), LK_INVALID);
    ck_assert_int_eq (force (session, &busy, long_text), LK_INVALID);
    ck_assert_int_eq (force (session, &busy, "\xff"), LK_INVALID);
    ck_assert_int_eq (lk_session_check (session, &busy, 10, 1000, NULL), LK_OK);
    ck_assert_int_eq (lk_session_check (session, &busy, 9, 1000, &newest),
                      LK_DENIED);
    ck_assert_uint_eq (newest, 10);
    ck_assert_int_eq (lk_session_check (session, &strange, 9, 1000, &newest),
                      LK_INVALID);
    ck_assert_int_eq (lk_session_unlock (session, &strange, 9, NULL, 1000),
                      LK_INVALID);
    lk_session_destroy (&session);
}
END_TEST

/*  -------------------------------------------------------- canal */

/*  The example of the ancestor, step by step. */
START_TEST (canal_as_it_was)
{
    static const struct {
        uint32_t resources;
        bool release;
        lk_err error;
        uint32_t ordinal;
    } steps[] = {
        {1, false, LK_OK, 1},   {1, false, LK_OK, 2},   {1, false, LK_OK, 3},
        {1, false, LK_FULL, 0}, {2, false, LK_OK, 4},   {1, false, LK_FULL, 0},
        {1, true, LK_OK, 0},    {1, false, LK_FULL, 0}, {2, true, LK_OK, 0},
        {1, false, LK_OK, 3},   {1, false, LK_FULL, 0},
    };
    lk_session *session = open_session ();
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        uint32_t ordinal = 0;
        const lk_err error =
            steps[i].release
                ? lk_canal_release (session, "db", 3, steps[i].resources)
                : lk_canal_acquire (session, "db", 3, steps[i].resources,
                                    &ordinal);
        ck_assert_int_eq (error, steps[i].error);
        ck_assert_uint_eq (ordinal, steps[i].ordinal);
    }
    lk_session_destroy (&session);
    ck_assert_int_eq (units, 0); /* all are back */
}
END_TEST

/*  Those of another name, and locks that are none of a canal, stay. */
START_TEST (canal_has_its_own)
{
    const lk_lock_options unit = {.mode = {.type = LK_SEMAPHORE, .limit = 9}};
    lk_lock_options again = unit;
    lk_session *session = open_session ();
    lk_lock *lock = NULL;
    again.reentrant = true;
    ck_assert_int_eq (lk_lock_acquire (session, "db", 2, &unit, &lock), LK_OK);
    ck_assert_int_eq (lk_canal_release (session, "db", 3, 3), LK_UNKNOWN);
    ck_assert_int_eq (lk_canal_acquire (session, "db", 3, 3, NULL), LK_OK);
    ck_assert_int_eq (lk_canal_acquire (session, "other", 3, 3, NULL), LK_OK);
    ck_assert_int_eq (lk_lock_acquire (session, "other", 5, &again, &lock),
                      LK_OK);
    ck_assert_int_eq (atomic_load (&locks), 4); /* a unit more */
    ck_assert_int_eq (lk_lock_release (&lock), LK_OK);
    ck_assert_int_eq (lk_lock_acquire (session, "db", 2, &again, &lock), LK_OK);
    ck_assert_int_eq (atomic_load (&locks), 4); /* the first one */
    ck_assert_int_eq (lk_canal_release (session, "db", 3, 3), LK_OK);
    ck_assert_int_eq (lk_canal_release (session, "db", 3, 3), LK_UNKNOWN);
    ck_assert (lk_lock_held (lock));
    ck_assert_int_eq (lk_canal_acquire (session, "db", 0, 1, NULL), LK_INVALID);
    ck_assert_int_eq (lk_canal_acquire (session, "db", 1, 0, NULL), LK_INVALID);
    ck_assert_int_eq (lk_canal_acquire (session, "db", 65536, 65537, NULL),
                      LK_INVALID);
    ck_assert_int_eq (lk_canal_release (session, "other", 1, 0), LK_INVALID);
    ck_assert_int_eq (lk_canal_acquire (session, "", 1, 1, NULL), LK_INVALID);
    lk_session_destroy (&session);
}
END_TEST

/*  -------------------------------------------------------- wishes */

START_TEST (what_makes_no_sense)
{
    static char context[300];
    static const lk_lock_options wrong[] = {
        {.wait_ms = -2},
        {.wait_ms = LK_WISH_TIME_MAX + 1},
        {.duration_ms = -1},
        {.linger_ms = -1},
        {.context = context},
        {.context = "\xff"},
        {.mode.lenient = true},
        {.duration_ms = 9, .mode = {.lenient = true, .is_static = true}},
        {.mode.type = LK_LOCK_TYPE_COUNT},
        {.mode.type = LK_SEMAPHORE},
        {.mode = {.type = LK_SEMAPHORE, .limit = LK_LIMIT_MAX + 1}},
        {.mode = {.type = LK_SEMAPHORE, .bound = LK_LIMIT_MAX + 1}},
        {.mode.limit = 1},
        {.mode = {.type = LK_SHARED, .bound = 1}},
        {.mode = {.type = LK_SHARED, .soft = true}},
        {.mode.quiet_ms = 1},
        {.mode = {.soft = true, .quiet_ms = LK_QUIET_MAX_MS + 1}},
    };
    lk_session *session = open_session ();
    lk_lock *const stray = (lk_lock *) context; /* nobody's */
    lk_lock *lock = stray;
    memset (context, 'a', 256);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_int_eq (lk_lock_acquire (session, "a", 1, &wrong[i], &lock),
                          LK_INVALID);
        ck_assert_str_ne (lk_session_problem (session), "");
        ck_assert_ptr_null (lock);
        lock = stray;
    }
    ck_assert_int_eq (lk_lock_request (session, "a", 0, NULL, &lock),
                      LK_INVALID);
    ck_assert_ptr_null (lock);
    lock = stray;
    ck_assert_int_eq (lk_lock_request_all (session, NULL, 0, NULL, &lock),
                      LK_INVALID);
    ck_assert_ptr_null (lock);
    lk_session_destroy (&session);
    ck_assert_int_eq (atomic_load (&locks), 0);
}
END_TEST

START_TEST (what_makes_no_set)
{
    static const lk_lock_options wrong[] = {
        {.duration_ms = 9, .mode.lenient = true},
        {.mode.is_static = true},
        {.mode = {.soft = true, .quiet_ms = 1}},
        {.reentrant = true},
        {.key = 1},
        {.wait_ms = -2},
    };
    static const lk_object_name same[] = {{"b", 0}, {"a", 0}, {"b\0", 1}};
    static const lk_object_name empty[] = {{"b", 0}, {"", 0}};
    static const lk_object_name missing[] = {{"b", 0}, {NULL, 0}};
    static const lk_object_name many[LK_SET_MAX + 1];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *problem = lk_wish_check_set (same, 2, &wrong[i]);
        ck_assert (problem || lk_wish_check_options (&wrong[i]));
    }
    ck_assert_ptr_null (lk_wish_check_set (same, 2, &at_once));
    ck_assert_ptr_nonnull (lk_wish_check_set (same, 3, &at_once));
    ck_assert_ptr_nonnull (lk_wish_check_set (same, 0, &at_once));
    ck_assert_ptr_nonnull (lk_wish_check_set (empty, 2, &at_once));
    ck_assert_ptr_nonnull (lk_wish_check_set (missing, 2, &at_once));
    ck_assert_ptr_nonnull (lk_wish_check_set (many, LK_SET_MAX + 1, &at_once));
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("calls");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    serve = serve_all;
    tcase_set_timeout (tcase, 2 * HANG_MS / 1000);
    tcase_add_test (tcase, acquiring);
    tcase_add_test (tcase, given_back_late);
    tcase_add_test (tcase, entered_twice);
    tcase_add_test (tcase, changing);
    tcase_add_test (tcase, what_cannot_change);
    tcase_add_test (tcase, leaving);
    tcase_add_test (tcase, all_or_nothing);
    tcase_add_test (tcase, of_others);
    tcase_add_test (tcase, canal_as_it_was);
    tcase_add_test (tcase, canal_has_its_own);
    tcase_add_test (tcase, what_makes_no_sense);
    tcase_add_test (tcase, what_makes_no_set);
    Suite *suite = suite_create ("client_calls");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
