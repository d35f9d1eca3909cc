/*  client_hears.c - the library's calls, over real sockets: the first one after
 *  a loss tells it, though nobody polls
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client_fake.h"

#include "lib/suite.h"

#include <poll.h>
#include <sys/wait.h>

/*  -------------------------------------------------------- the lock service */

static atomic_int locks;
static uint64_t first; /* the serial of the first LOCK */
static int64_t until_ms;

static void
grant (const lk_message *message)
{
    lk_message *answer = lk_message_reply (message, "LOCKED");
    lk_message_set_hex (answer, "token", 5);
    lk_message_set_hex (answer, "key", 77);
    lk_message_set_text (answer, "type", lk_message_text (message, "type"));
    lk_message_set_flag (answer, "static", lk_message_flag (message, "static"));
    lk_message_set_number (answer, "session", 3);
    lk_message_set_number (answer, "until", -1);
    lk_message_set_number (answer, "lease_until", until_ms);
    send_back (answer, "lock@h1");
}

static void
take_first_away (const lk_message *message)
{
    lk_message *loss = lk_message_reply (message, "UNLOCKED");
    lk_message_set_serial (loss, first);
    lk_message_set_text (loss, "error", "forced");
    send_back (loss, "lock@h1");
}

/*  A request for "end" ends the first lock; so does UNLOCK of "crossed". */
static void
serve_lock (const lk_message *message, const char *object)
{
    if (strcmp (object, "end") == 0) {
        take_first_away (message);
        return;
    }
    if (atomic_fetch_add (&locks, 1) == 0) {
        first = lk_message_serial (message);
    }
    grant (message);
}

static void
serve_all (const lk_message *message)
{
    const char *object = lk_message_text (message, "object");
    if (lk_message_is (message, "UNLOCK")) {
        if (strcmp (object, "crossed") == 0) {
            take_first_away (message);
        }
        send_back (lk_message_reply (message, "UNLOCKED"), "lock@h1");
    } else if (lk_message_is (message, "LOCK")) {
        serve_lock (message, object);
    }
}

/*  -------------------------------------------------------- the user */

static lk_session *session;

static void
begin (void)
{
    atomic_store (&locks, 0);
    until_ms = lk_clock_ms () + 60000;
    set_up ();
    session = open_session ();
}

static void
end (void)
{
    lk_session_destroy (&session);
    tear_down ();
}

static lk_lock *
get (const char *name, const lk_lock_options *options)
{
    lk_lock *lock = NULL;
    ck_assert_int_eq (
        lk_lock_acquire (session, name, strlen (name), options, &lock), LK_OK);
    ck_assert (lk_lock_held (lock));
    ck_assert_int_gt (lk_lock_until (lock), lk_clock_ms ());
    return lock;
}

/*  It is taken away, and the message of that has arrived; nobody read it. */
static void
take_away (void)
{
    struct pollfd fd = {.fd = lk_session_fd (session), .events = POLLIN};
    lk_lock *end = NULL;
    ck_assert_int_eq (lk_lock_request (session, "end", 3, NULL, &end), LK_OK);
    ck_assert_int_eq (poll (&fd, 1, -1), 1);
}

static void
expect_event (lk_event_kind kind, lk_err error)
{
    lk_lock_event event;
    ck_assert_int_eq (lk_session_poll (session, -1, &event), kind);
    ck_assert_int_eq (event.error, error);
}

/*  -------------------------------------------------------- each call */

START_TEST (held)
{
    lk_lock *lock = get ("thing", NULL);
    take_away ();
    ck_assert (!lk_lock_held (lock));
    expect_event (LK_EVENT_LOST, LK_FORCED); /* told as ever */
    ck_assert_int_eq (lk_lock_release (&lock), LK_FORCED);
    ck_assert_str_eq (lk_session_problem (session), lk_err_text (LK_FORCED));
}
END_TEST

START_TEST (until)
{
    const lk_lock *lock = get ("thing", NULL);
    take_away ();
    ck_assert_int_eq (lk_lock_until (lock), 0);
}
END_TEST

START_TEST (released)
{
    static const char *const names[] = {"thing", "crossed"};
    lk_lock *lock = get (names[_i], NULL);
    lk_lock_event event;
    if (_i == 0) {
        take_away ();
    }
    ck_assert_int_eq (lk_lock_release (&lock), LK_FORCED);
    ck_assert_ptr_null (lock);
    ck_assert_int_eq (lk_session_poll (session, 0, &event), LK_EVENT_NONE);
}
END_TEST

START_TEST (released_without_waiting)
{
    lk_lock *lock = get ("thing", NULL);
    take_away ();
    ck_assert_int_eq (lk_lock_release_start (lock), LK_OK);
    expect_event (LK_EVENT_LOST, LK_FORCED);
    expect_event (LK_EVENT_RELEASED, LK_FORCED);
    lk_lock_forget (&lock);
}
END_TEST

START_TEST (changed)
{
    lk_lock *lock = get ("thing", NULL);
    take_away ();
    ck_assert_int_eq (lk_lock_change (lock, LK_SHARED, 0), LK_FORCED);
}
END_TEST

START_TEST (left)
{
    const lk_lock_options fixed = {.mode.is_static = true};
    lk_lock *lock = get ("thing", &fixed);
    take_away ();
    ck_assert_int_eq (lk_lock_leave (&lock), LK_FORCED);
    ck_assert_ptr_nonnull (lock);
}
END_TEST

START_TEST (entered_again)
{
    const lk_lock_options again = {.wait_ms = LK_FOREVER, .reentrant = true};
    lk_lock *outer = get ("thing", &again), *inner = get ("thing", &again);
    ck_assert_ptr_eq (inner, outer);
    take_away ();
    lk_lock *other = get ("thing", &again); /* another lock, that is held */
    ck_assert_ptr_ne (other, outer);
    ck_assert_int_eq (lk_lock_release (&inner), LK_FORCED);
    ck_assert_int_eq (lk_lock_release (&outer), LK_FORCED);
    ck_assert_int_eq (lk_lock_release (&other), LK_OK);
}
END_TEST

/*  -------------------------------------------------------- other ends */

START_TEST (released_after_the_lease)
{
    until_ms = lk_clock_ms () + 300;
    lk_lock *lock = NULL;
    ck_assert_int_eq (lk_lock_wait (session, "thing", -1, &lock), LK_OK);
    while (lk_clock_ms () < until_ms) {
        (void) poll (NULL, 0, 10);
    }
    ck_assert_int_eq (lk_lock_release (&lock), LK_ISOLATED);
}
END_TEST

/*  Nothing of its parent's is held in a child, which takes nothing away from
 *  there either. */
START_TEST (in_a_child)
{
    lk_lock *lock = get ("thing", NULL);
    take_away ();
    pid_t pid = fork ();
    if (pid == 0) {
        _exit (lk_lock_held (lock) ? 1 : 0);
    }
    int status;
    ck_assert_int_eq (waitpid (pid, &status, 0), pid);
    ck_assert_int_eq (status, 0);
    ck_assert (!lk_lock_held (lock));
    expect_event (LK_EVENT_LOST, LK_FORCED);
}
END_TEST

/*  A child may see until when its parent had it, as the guard of `run` does. */
START_TEST (held_by_the_parent_alone)
{
    lk_lock *lock = get ("thing", NULL);
    pid_t pid = fork ();
    if (pid == 0) {
        _exit (lk_lock_held (lock) || lk_lock_until (lock) != until_ms);
    }
    int status;
    ck_assert_int_eq (waitpid (pid, &status, 0), pid);
    ck_assert_int_eq (status, 0);
    ck_assert (lk_lock_held (lock));
    ck_assert_int_eq (lk_lock_release (&lock), LK_OK);
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("hears");
    tcase_add_checked_fixture (tcase, begin, end);
    serve = serve_all;
    tcase_set_timeout (tcase, 2 * HANG_MS / 1000);
    tcase_add_test (tcase, held);
    tcase_add_test (tcase, until);
    tcase_add_loop_test (tcase, released, 0, 2);
    tcase_add_test (tcase, released_without_waiting);
    tcase_add_test (tcase, changed);
    tcase_add_test (tcase, left);
    tcase_add_test (tcase, entered_again);
    tcase_add_test (tcase, released_after_the_lease);
    tcase_add_test (tcase, in_a_child);
    tcase_add_test (tcase, held_by_the_parent_alone);
    Suite *suite = suite_create ("client_hears");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
