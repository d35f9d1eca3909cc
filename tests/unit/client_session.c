/*  client_session.c - the library over real sockets, with a router and a lock
 *  service that are played by a thread
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client_fake.h"

#include "lib/suite.h"

#include <errno.h>
#include <poll.h>

/*  -------------------------------------------------------- the lock service */

typedef enum { GRANT, REFUSE, SILENT, FORGE } how;

static atomic_int behaviour, locks, unlocks;
static _Atomic uint64_t serial; /* of the last LOCK */

static const char *sender = "lock@h1";

static void
answer_lock (const lk_message *message)
{
    int count = atomic_fetch_add (&locks, 1);
    bool granted = atomic_load (&behaviour) != REFUSE;
    lk_message *answer =
        lk_message_reply (message, granted ? "LOCKED" : "LOCKFAILED");
    lk_message_set_text (answer, "object", lk_message_text (message, "object"));
    if (granted) {
        lk_message_set_hex (answer, "token", (uint64_t) count + 1);
        lk_message_set_hex (answer, "key", 77);
        lk_message_set_number (answer, "session", 3);
        int64_t duration_ms = lk_message_number (message, "duration", 0);
        lk_message_set_number (
            answer, "until",
            duration_ms > 0 ? lk_clock_ms () + duration_ms - 100 : -1);
        lk_message_set_number (answer, "lease_until", lk_clock_ms () + 5000);
        lk_message_set_text (answer, "lease_page", fake.page_path);
    } else {
        lk_message_set_text (answer, "error", "full");
        lk_message_set_text (answer, "text", "h2 holds it");
    }
    send_back (answer, sender);
}

/*  Those who are not the lock service of this host say that it is granted. */
static void
forge_locked (const lk_message *message)
{
    static const char *const others[] = {"lock@h2",  "lock1@h1", "loc@h1",
                                         "lock@h11", "app@h1",   "router@h2"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        sender = others[i];
        answer_lock (message);
    }
    sender = "lock@h1";
}

static void
answer_unlock (const lk_message *message)
{
    uint64_t key = 0;
    atomic_fetch_add (&unlocks, 1);
    (void) lk_message_hex (message, "key", &key);
    bool denied = key != 77 && !lk_message_has (message, "request");
    lk_message *answer =
        lk_message_reply (message, denied ? "LOCKFAILED" : "UNLOCKED");
    lk_message_set_text (answer, "object", lk_message_text (message, "object"));
    if (denied) {
        lk_message_set_text (answer, "error", "denied");
    }
    send_back (answer, "lock@h1");
}

static void
serve_all (const lk_message *message)
{
    bool silent = atomic_load (&behaviour) == SILENT;
    if (lk_message_is (message, "LOCK")) {
        atomic_store (&serial, lk_message_serial (message));
    }
    if (lk_message_is (message, "LOCK") && silent) {
        atomic_fetch_add (&locks, 1);
    } else if (lk_message_is (message, "LOCK")
               && atomic_load (&behaviour) == FORGE) {
        forge_locked (message);
    } else if (lk_message_is (message, "LOCK")) {
        answer_lock (message);
    } else if (lk_message_is (message, "UNLOCK") && !silent) {
        answer_unlock (message);
    }
}

/*  -------------------------------------------------------- tests */

START_TEST (blocking_use)
{
    lk_session *session = open_session ();
    lk_lock *lock = NULL;
    ck_assert_str_eq (lk_session_host (session), "h1");
    ck_assert_int_eq (lk_lock_wait (session, "thing", HANG_MS, &lock), LK_OK);
    ck_assert (lk_lock_held (lock));
    ck_assert_uint_eq (lk_lock_token (lock), 1);
    ck_assert_uint_eq (lk_lock_key (lock), 77);
    ck_assert_int_eq (lk_lock_left (lock), -1);
    ck_assert_str_eq (lk_lock_object (lock), "thing");
    ck_assert_int_eq (lk_lock_release (&lock), LK_OK);
    ck_assert_ptr_null (lock);
    ck_assert_int_eq (atomic_load (&unlocks), 1);
    lk_session_destroy (&session);
    ck_assert_ptr_null (session);
}
END_TEST

START_TEST (nobody_else_grants)
{
    lk_session *session = open_session ();
    lk_lock *lock = NULL;
    lk_lock_event event;
    atomic_store (&behaviour, FORGE);
    ck_assert_int_eq (lk_lock_request (session, "thing", 5, NULL, &lock),
                      LK_OK);
    ck_assert_int_eq (lk_session_poll (session, 500, &event), LK_EVENT_NONE);
    ck_assert_int_gt (atomic_load (&locks), 0);
    ck_assert (!lk_lock_held (lock));
    atomic_store (&behaviour, GRANT); /* it is asked again */
    ck_assert_int_eq (lk_session_poll (session, HANG_MS, &event),
                      LK_EVENT_GRANTED);
    lk_lock_forget (&lock);
    lk_session_destroy (&session);
}
END_TEST

/*  A serial names a request for ever: a process may have the name and number
 *  of one before it. */
START_TEST (serials_of_their_own)
{
    uint64_t before = 0;
    for (int i = 0; i < 3; i++) {
        lk_session *session = open_session ();
        lk_lock *lock = NULL;
        ck_assert_int_eq (lk_lock_wait (session, "thing", HANG_MS, &lock),
                          LK_OK);
        ck_assert_uint_ne (atomic_load (&serial), before);
        before = atomic_load (&serial);
        ck_assert_int_eq (lk_lock_release (&lock), LK_OK);
        lk_session_destroy (&session);
        usleep (2000);
    }
}
END_TEST

/*  What is left is what the service said, and gets less. */
START_TEST (time_that_is_left)
{
    lk_session *session = open_session ();
    const lk_lock_options options = {.wait_ms = LK_FOREVER, .duration_ms = 400};
    lk_lock *lock = NULL;
    lk_lock_event event;
    ck_assert_int_eq (lk_lock_request (session, "thing", 5, &options, &lock),
                      LK_OK);
    ck_assert_int_eq (lk_session_poll (session, HANG_MS, &event),
                      LK_EVENT_GRANTED);
    int64_t left_ms = lk_lock_left (lock);
    ck_assert_int_le (left_ms, 300);
    ck_assert_int_eq (lk_session_poll (session, HANG_MS, &event),
                      LK_EVENT_LOST);
    ck_assert_int_eq (event.error, LK_TIMEDOUT);
    ck_assert_int_eq (lk_lock_left (lock), 0);
    lk_lock_forget (&lock);
    lk_session_destroy (&session);
}
END_TEST

START_TEST (refusals_are_told)
{
    static const char long_name[LK_OBJECT_LEN_MAX + 1];
    const lk_lock_name stranger = {.object = "thing"};
    lk_session *session = open_session ();
    lk_lock *lock = NULL;
    atomic_store (&behaviour, REFUSE);
    ck_assert_int_eq (lk_lock_wait (session, "thing", 0, &lock), LK_FULL);
    ck_assert_ptr_null (lock);
    ck_assert_str_eq (lk_session_problem (session), "h2 holds it");
    ck_assert_int_eq (lk_lock_wait (session, "", 0, &lock), LK_INVALID);
    ck_assert_int_eq (
        lk_lock_request (session, long_name, sizeof long_name, NULL, &lock),
        LK_INVALID);
    ck_assert_int_eq (lk_session_unlock (session, &stranger, 76, NULL, 1000),
                      LK_DENIED);
    ck_assert_int_eq (lk_session_unlock (session, &stranger, 77, NULL, 1000),
                      LK_OK);
    lk_session_destroy (&session);
}
END_TEST

/*  A program's own loop: nothing but poll (2), fd and timeout. */
static lk_event_kind
loop_until_event (lk_session *session, lk_lock_event *event)
{
    while (lk_session_poll (session, 0, event) == LK_EVENT_NONE) {
        struct pollfd fd = {lk_session_fd (session), POLLIN, 0};
        (void) poll (&fd, 1, lk_session_timeout (session));
    }
    return event->kind;
}

START_TEST (event_loop_use)
{
    lk_session *session = open_session ();
    lk_lock *lock = NULL;
    lk_lock_event event;
    ck_assert_int_eq (lk_lock_request (session, "thing", 5, NULL, &lock),
                      LK_OK);
    lk_lock_set_user (lock, &event);
    ck_assert_int_eq (loop_until_event (session, &event), LK_EVENT_GRANTED);
    ck_assert_ptr_eq (event.lock, lock);
    ck_assert_ptr_eq (lk_lock_user (lock), &event);
    ck_assert_int_eq (lk_lock_release_start (lock), LK_OK);
    ck_assert_int_eq (loop_until_event (session, &event), LK_EVENT_RELEASED);
    lk_lock_forget (&lock);
    lk_session_destroy (&session);
}
END_TEST

/*  Not LOCKED, which said that it lasts for 5 s. */
START_TEST (the_page_ends_it)
{
    lk_session *session = open_session ();
    lk_lock *lock = NULL;
    lk_lock_event event;
    set_lease (3000);
    ck_assert_int_eq (lk_lock_wait (session, "thing", HANG_MS, &lock), LK_OK);
    const int64_t until_ms = lk_lock_until (lock) + 300;
    lk_lease_page_set (fake.page, 3, until_ms);
    ck_assert_int_eq (lk_lock_until (lock), until_ms);
    ck_assert_int_eq (lk_session_poll (session, HANG_MS, &event),
                      LK_EVENT_LOST);
    ck_assert_int_ge (lk_clock_ms (), until_ms);
    ck_assert_int_eq (event.error, LK_ISOLATED);
    ck_assert (!lk_lock_held (lock));
    lk_lock_forget (&lock);
    lk_session_destroy (&session);
}
END_TEST

START_TEST (another_session_ends_it)
{
    lk_session *session = open_session ();
    lk_lock *lock = NULL;
    ck_assert_int_eq (lk_lock_wait (session, "thing", HANG_MS, &lock), LK_OK);
    lk_lease_page_set (fake.page, 4, lk_clock_ms () + 60000);
    ck_assert (!lk_lock_held (lock));
    lk_session_destroy (&session);
}
END_TEST

START_TEST (router_comes_back)
{
    lk_session *session = open_session ();
    lk_lock *held = NULL, *asked = NULL;
    lk_lock_event event;
    ck_assert_int_eq (lk_lock_wait (session, "one", HANG_MS, &held), LK_OK);
    atomic_store (&behaviour, SILENT);
    ck_assert_int_eq (lk_lock_request (session, "two", 3, NULL, &asked), LK_OK);
    ck_assert_int_eq (lk_session_poll (session, 100, &event), LK_EVENT_NONE);
    stop_fake ();
    atomic_store (&behaviour, GRANT);
    ck_assert_int_eq (lk_session_poll (session, 300, &event), LK_EVENT_NONE);
    ck_assert (lk_lock_held (held));
    start_fake ();
    ck_assert_int_eq (lk_session_poll (session, HANG_MS, &event),
                      LK_EVENT_GRANTED);
    ck_assert_ptr_eq (event.lock, asked);
    ck_assert_int_eq (atomic_load (&fake.registered), 2);
    ck_assert_int_eq (lk_lock_release (&held), LK_OK);
    lk_session_destroy (&session);
}
END_TEST

START_TEST (a_service_that_says_nothing)
{
    lk_session *session = open_session ();
    lk_lock *lock = NULL;
    lk_lock_event event;
    lk_lock_options options = {.wait_ms = HANG_MS};
    atomic_store (&behaviour, SILENT);
    ck_assert_int_eq (lk_lock_request (session, "thing", 5, &options, &lock),
                      LK_OK);
    while (atomic_load (&locks) < 2) {
        ck_assert_int_eq (lk_session_poll (session, 20, &event), LK_EVENT_NONE);
    }
    atomic_store (&behaviour, GRANT);
    ck_assert_int_eq (lk_session_poll (session, HANG_MS, &event),
                      LK_EVENT_GRANTED);
    lk_session_destroy (&session);
    ck_assert_int_eq (atomic_load (&unlocks), 1);
}
END_TEST

START_TEST (no_router)
{
    lk_session_options options = {.endpoint = "ipc:///tmp/lk-test-none",
                                  .connect_ms = 200};
    ck_assert_ptr_null (lk_session_new (&options));
    ck_assert_int_eq (errno, ENOENT);
    options.endpoint = "nonsense";
    ck_assert_ptr_null (lk_session_new (&options));
    ck_assert_int_eq (errno, EINVAL);
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("session");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    serve = serve_all;
    tcase_set_timeout (tcase, 2 * HANG_MS / 1000);
    tcase_add_test (tcase, blocking_use);
    tcase_add_test (tcase, time_that_is_left);
    tcase_add_test (tcase, nobody_else_grants);
    tcase_add_test (tcase, serials_of_their_own);
    tcase_add_test (tcase, refusals_are_told);
    tcase_add_test (tcase, event_loop_use);
    tcase_add_test (tcase, the_page_ends_it);
    tcase_add_test (tcase, another_session_ends_it);
    tcase_add_test (tcase, router_comes_back);
    tcase_add_test (tcase, a_service_that_says_nothing);
    tcase_add_test (tcase, no_router);
    Suite *suite = suite_create ("client_session");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
