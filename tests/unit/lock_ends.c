/*  lock_ends.c - what a lock service does when something ends
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  An application, the router, itself.
 */

#include "lock_fake.h"

#include <signal.h>
#include <sys/wait.h>

START_TEST (ends_applications)
{
    uint32_t app = ask ("a@h1", 4, "o");
    report_status ("b@h1", "up", 50);
    report_status ("b@h1", "down", 50);
    report_status ("a@h2", "down", 50);
    ck_assert_uint_eq (node.count, 1);
    report_status ("a@h2", "up", 50);
    ck_assert_ptr_null (lk_apps_find (&lockd.apps, "a@h2"));
    report_status ("a@h1", "down", 50);
    ck_assert_uint_eq (last_event (LK_ON_APP_GONE)->request.app, app);
    add_answer (LK_ANSWER_LOCKED, app, 4, LK_OK);
    tick ();
    ck_assert_uint_eq (bus.count, 0);
}
END_TEST

START_TEST (ends_one_whose_name_is_taken)
{
    report_status ("a@h1", "up", 50);
    uint32_t app = ask ("a@h1", 4, "o");
    report_status ("a@h1", "up", 50);
    ck_assert_uint_eq (node.count, 1);
    report_status ("a@h1", "up", 51);
    ck_assert_uint_eq (last_event (LK_ON_APP_GONE)->request.app, app);
    ck_assert_uint_ne (ask ("a@h1", 4, "o"), app);
}
END_TEST

START_TEST (survives_the_router)
{
    uint32_t lost = ask ("a@h1", 4, "o");
    uint32_t back = ask ("b@h1", 4, "o");
    uint32_t asks = ask ("c@h1", 4, "o");
    lk_lockd_service.detach (&lockd, "router lost");
    add_answer (LK_ANSWER_LOCKED, back, 4, LK_OK);
    add_answer (LK_ANSWER_LOCKED, asks, 4, LK_OK);
    bus.now_ms += 3000;
    bus.refuses = LK_DISCONNECTED;
    tick ();
    last_event (LK_ON_TICK);
    bus.refuses = LK_OK;
    attach ();
    forget_sent ();
    report_status ("b@h1", "up", 50);
    only_sent ("b@h1", "LOCKED");
    forget_sent ();
    ck_assert_uint_eq (ask ("c@h1", 4, "o"), asks);
    only_sent ("c@h1", "LOCKED");
    size_t before = node.count;
    bus.now_ms += LK_LOCKD_RETURN_MS;
    tick ();
    ck_assert_uint_eq (node.count, before + 2);
    ck_assert_int_eq (node.event[before].type, LK_ON_APP_GONE);
    ck_assert_uint_eq (node.event[before].request.app, lost);
}
END_TEST

/*  Its message waited for us, and it may be gone by now: the router has to say
 *  that it is there, and then it is heard when it asks again. */
START_TEST (hears_only_who_is_there)
{
    static const char *const requests[][2] = {
        {"LOCK", NULL}, {"UNLOCK", "key"}, {"LOCKCHECK", "token"}};
    for (size_t i = 0; i < 3; i++) {
        lk_message *message = new_message ("late@h1", requests[i][0], 4);
        lk_message_set_text (message, "object", "o");
        if (requests[i][1]) {
            lk_message_set_hex (message, requests[i][1], 5);
        }
        give_any (message);
        check_text (only_sent ("router@.", "SERVICESTATUS"), "service",
                    "late@h1");
        forget_sent ();
        ck_assert_uint_eq (node.count, 0);
        ck_assert_ptr_null (lk_apps_find (&lockd.apps, "late@h1"));
    }
    report_status ("late@h1", "up", getpid ());
    give_any (new_lock ("late@h1", 4, "o"));
    ck_assert_int_eq (last_event (LK_ON_LOCK)->request.serial, 4);
}
END_TEST

/*  Nor is what it said before counted as a sign of it. */
START_TEST (hears_only_who_came_back)
{
    uint32_t app = ask ("a@h1", 4, "o");
    lk_lockd_service.detach (&lockd, "router lost");
    attach ();
    forget_sent ();
    size_t before = node.count;
    give_any (new_lock ("a@h1", 5, "o"));
    only_sent ("router@.", "SERVICESTATUS");
    ck_assert_uint_eq (node.count, before);
    bus.now_ms += LK_LOCKD_RETURN_MS;
    tick ();
    ck_assert_int_eq (node.event[before].type, LK_ON_APP_GONE);
    ck_assert_uint_eq (node.event[before].request.app, app);
}
END_TEST

/*  STATUS down of an application whose connection ended, not its process. */
static void
report_cut (const char *service, pid_t pid)
{
    lk_message *event = lk_message_new ("lock@h1", "STATUS");
    lk_message_set_from (event, "router@h1");
    lk_message_set_text (event, "service", service);
    lk_message_set_text (event, "status", "down");
    lk_message_set_text (event, "reason", "connection ended");
    lk_message_set_number (event, "pid", pid);
    lk_lockd_service.event (&lockd, event);
    lk_message_destroy (&event);
}

/*  A process that is alive believes in its locks: it keeps them. */
START_TEST (keeps_what_is_cut_off)
{
    report_status ("a@h1", "up", getpid ());
    uint32_t app = ask ("a@h1", 4, "o");
    size_t before = node.count;
    report_cut ("a@h1", getpid ());
    ck_assert_uint_eq (node.count, before);
    bus.now_ms += LK_LOCKD_RETURN_MS;
    tick ();
    bus.now_ms += LK_LOCKD_RETURN_MS;
    tick ();
    ck_assert_uint_eq (node.count, before + 2); /* two ticks, no more */
    report_status ("a@h1", "down", getpid ());
    ck_assert_uint_eq (last_event (LK_ON_APP_GONE)->request.app, app);
}
END_TEST

START_TEST (ends_what_is_cut_off_and_dead)
{
    pid_t pid = fork ();
    if (pid == 0) {
        _exit (0);
    }
    siginfo_t ended;
    ck_assert_int_eq (waitid (P_PID, (id_t) pid, &ended, WEXITED | WNOWAIT),
                      0); /* it stays a zombie */
    report_status ("a@h1", "up", pid);
    uint32_t app = ask ("a@h1", 4, "o");
    report_cut ("a@h1", pid);
    ck_assert_uint_eq (last_event (LK_ON_APP_GONE)->request.app, app);
    ck_assert_int_eq (waitpid (pid, NULL, 0), pid);
}
END_TEST

/*  Nobody else tells when that one ends: it is looked after again and again. */
START_TEST (ends_what_is_cut_off_and_dies_later)
{
    pid_t pid = fork ();
    if (pid == 0) {
        pause ();
        _exit (0);
    }
    report_status ("a@h1", "up", pid);
    uint32_t app = ask ("a@h1", 4, "o");
    report_cut ("a@h1", pid);
    for (int looks = 0; looks < 3; looks++) {
        bus.now_ms += LK_LOCKD_RETURN_MS;
        tick ();
        last_event (LK_ON_TICK);
    }
    ck_assert_int_eq (kill (pid, SIGKILL), 0);
    ck_assert_int_eq (waitpid (pid, NULL, 0), pid);
    bus.now_ms += LK_LOCKD_RETURN_MS;
    size_t before = node.count;
    tick ();
    ck_assert_int_eq (node.event[before].type, LK_ON_APP_GONE);
    ck_assert_uint_eq (node.event[before].request.app, app);
}
END_TEST

START_TEST (flushes_once_per_wake_up)
{
    lk_message *message[3];
    size_t flushes = node.flushes;
    report_status ("a@h1", "up", 77);
    for (size_t i = 0; i < 3; i++) {
        message[i] = new_lock ("a@h1", 4 + i, "o");
        lk_lockd_service.message (&lockd, message[i]);
        lk_message_destroy (&message[i]);
    }
    ck_assert_uint_eq (node.flushes, flushes);
    bus.wake_ms = 0;
    settle ();
    ck_assert_uint_eq (node.flushes, flushes + 1);
    ck_assert_int_eq (bus.wake_ms, bus.now_ms + 250);
    settle (); /* nothing came */
    ck_assert_uint_eq (node.flushes, flushes + 1);
}
END_TEST

START_TEST (sends_again_what_was_too_much)
{
    uint32_t app = ask ("a@h1", 4, "o");
    add_answer (LK_ANSWER_FAILED, app, 4, LK_FULL);
    bus.refuses = LK_OVERLOADED;
    tick ();
    ck_assert_int_le (bus.wake_ms, bus.now_ms + 100);
    bus.now_ms = bus.wake_ms;
    tick ();
    bus.refuses = LK_OK;
    bus.now_ms = bus.wake_ms;
    tick ();
    check_text (only_sent ("a@h1", "LOCKFAILED"), "error", "full");
    bus.now_ms += 1000;
    tick ();
    ck_assert_uint_eq (bus.count, 1);
}
END_TEST

static void
does_nothing (void)
{
    size_t steps = node.count;
    tick ();
    give (new_lock ("a@h1", 40, "o"));
    ck_assert_uint_eq (node.count, steps);
}

static void
has_ended (void)
{
    ck_assert_int_eq (bus.stopped, 1);
    does_nothing ();
}

START_TEST (stops_in_order)
{
    uint32_t app = ask ("a@h1", 4, "o");
    add_answer (LK_ANSWER_FAILED, app, 4, LK_SHUTDOWN);
    node.stopped = true;
    lk_lockd_service.leave (&lockd, "interrupt");
    last_event (LK_ON_STOP);
    check_text (only_sent ("a@h1", "LOCKFAILED"), "error", "shutdown");
    has_ended ();
}
END_TEST

/*  Whoever holds a lock is understood until it has given it back. */
START_TEST (stops_when_holders_have)
{
    uint32_t app = ask ("a@h1", 4, "o");
    add_answer (LK_ANSWER_UNLOCKED, app, 4, LK_SHUTDOWN);
    lk_lockd_service.leave (&lockd, "interrupt");
    check_text (only_sent ("a@h1", "UNLOCKED"), "error", "shutdown");
    ck_assert_int_eq (bus.stopped, 0);
    tick ();
    last_event (LK_ON_TICK);
    forget_sent ();
    add_answer (LK_ANSWER_UNLOCKED, app, 4, LK_OK);
    node.stopped = true;
    unlock ("a@h1", 5, 4);
    ck_assert_uint_eq (last_event (LK_ON_UNLOCK)->request.serial, 4);
    ck_assert (!lk_message_has (only_sent ("a@h1", "UNLOCKED"), "error"));
    has_ended ();
}
END_TEST

/*  What is held goes on with the next one. */
START_TEST (stops_for_the_next_one)
{
    ask ("a@h1", 4, "o");
    node.stopped = true;
    lk_lockd_service.leave (&lockd, "stop");
    last_event (LK_ON_HALT);
    has_ended ();
}
END_TEST

START_TEST (stops_when_others_lead)
{
    lk_lockd_service.leave (&lockd, "signal");
    ck_assert (last_event (LK_ON_DRAIN)->add);
    ck_assert_int_eq (last_event (LK_ON_DRAIN)->until_ms, bus.now_ms + 10000);
    ask ("a@h1", 4, "o"); /* it serves on */
    lk_lockd_service.settle (&lockd);
    last_event (LK_ON_LOCK);
    node.drained = true;
    tick ();
    last_event (LK_ON_HALT);
    has_ended ();
}
END_TEST

START_TEST (stops_when_nobody_comes_to_lead)
{
    lk_lockd_service.leave (&lockd, "signal");
    bus.now_ms += 9999;
    tick ();
    last_event (LK_ON_TICK);
    bus.now_ms++;
    tick ();
    last_event (LK_ON_HALT);
    has_ended ();
}
END_TEST

START_TEST (stops_at_once_if_it_leads_not)
{
    node.drained = true;
    lk_lockd_service.leave (&lockd, "signal");
    last_event (LK_ON_HALT);
}
END_TEST

START_TEST (stops_for_good_and_drains)
{
    lk_lockd_service.leave (&lockd, "interrupt");
    last_event (LK_ON_STOP);
    ck_assert (node.drains);
}
END_TEST

START_TEST (stops_at_once_without_a_router)
{
    ask ("a@h1", 4, "o");
    lk_lockd_service.leave (&lockd, "interrupt");
    ck_assert_int_eq (bus.stopped, 0);
    lk_lockd_service.detach (&lockd, "router lost");
    has_ended ();
}
END_TEST

START_TEST (stops_at_once_when_the_router_is_lost)
{
    lk_lockd_service.detach (&lockd, "router lost");
    lk_lockd_service.leave (&lockd, "signal");
    last_event (LK_ON_HALT);
    has_ended ();
}
END_TEST

START_TEST (stops_at_once_when_told_twice)
{
    ask ("a@h1", 4, "o");
    lk_lockd_service.leave (&lockd, "interrupt");
    lk_lockd_service.detach (&lockd, "interrupt");
    last_event (LK_ON_HALT);
    does_nothing ();
}
END_TEST

/*  -------------------------------------------------------- suite */

int
main (void)
{
    const TTest *const endings[] = {
        ends_applications,
        ends_one_whose_name_is_taken,
        survives_the_router,
        hears_only_who_is_there,
        hears_only_who_came_back,
        keeps_what_is_cut_off,
        ends_what_is_cut_off_and_dead,
        ends_what_is_cut_off_and_dies_later,
        sends_again_what_was_too_much,
        flushes_once_per_wake_up,
        stops_in_order,
        stops_when_holders_have,
        stops_for_the_next_one,
        stops_when_others_lead,
        stops_when_nobody_comes_to_lead,
        stops_at_once_if_it_leads_not,
        stops_for_good_and_drains,
        stops_at_once_without_a_router,
        stops_at_once_when_the_router_is_lost,
        stops_at_once_when_told_twice,
    };
    const group groups[] = {
        GROUP ("endings", endings, set_up),
    };
    return run_groups ("lock_ends", groups, sizeof groups / sizeof groups[0]);
}
