/*  loop.c - readers, timers, hooks, signals, the end of processes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/loop.h"

#include "lib/suite.h"
#include "net/clock.h"
#include "net/pidfd.h"
#include "util/rng.h"

#include <check.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static lk_loop *loop;
static int ends[2];
static int calls;

static void
set_up (void)
{
    loop = lk_loop_new ();
    ck_assert_int_eq (pipe (ends), 0);
    calls = 0;
}

static void
tear_down (void)
{
    lk_loop_destroy (&loop);
    close (ends[0]);
    close (ends[1]);
}

static void
stop (void *user)
{
    lk_loop_stop (loop, *(int *) user);
}

static void
count (void *user)
{
    (void) user;
    calls++;
}

/*  -------------------------------------------------------- timers */

#define MANY 2000

typedef struct {
    lk_timer timer;
    int times;
} alarm_clock;

static alarm_clock clocks[MANY];
static int64_t latest_ms;
static int left;

static void
ring (void *user)
{
    alarm_clock *self = user;
    ck_assert (!lk_timer_is_set (&self->timer));
    ck_assert_int_ge (lk_clock_ms (), self->timer.when_ms);
    ck_assert_int_ge (self->timer.when_ms, latest_ms);
    latest_ms = self->timer.when_ms;
    self->times++;
    if (--left == 0) {
        lk_loop_stop (loop, 7);
    }
}

START_TEST (timers_fire_in_order)
{
    lk_rng rng;
    lk_rng_init (&rng, 1);
    int64_t start = lk_clock_ms ();
    left = 0;
    latest_ms = 0;
    for (int i = 0; i < MANY; i++) {
        clocks[i] = (alarm_clock) {.times = 0};
        lk_timer_init (&clocks[i].timer, loop, ring, &clocks[i]);
        lk_timer_set (&clocks[i].timer,
                      start + lk_rng_between (&rng, -50, 100));
    }
    for (int i = 0; i < MANY; i++) {
        if (i % 3 == 0) {
            lk_timer_clear (&clocks[i].timer);
        } else {
            if (i % 3 == 1) {
                lk_timer_set (&clocks[i].timer,
                              start + lk_rng_between (&rng, 0, 150));
            }
            left++;
        }
    }
    ck_assert_int_eq (lk_loop_run (loop), 7);
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq (clocks[i].times, i % 3 == 0 ? 0 : 1);
    }
}
END_TEST

static void
again (void *user)
{
    lk_timer *timer = user;
    calls++;
    lk_timer_set (timer, 0);
}

START_TEST (timer_that_sets_itself_starves_nobody)
{
    lk_timer timer;
    lk_timer_init (&timer, loop, again, &timer);
    lk_timer_set (&timer, 0);
    for (int i = 1; i <= 5; i++) {
        lk_loop_once (loop, 1000);
        ck_assert_int_eq (calls, i);
    }
    lk_timer_set (&timer, INT64_MAX);
    ck_assert (!lk_timer_is_set (&timer));
    lk_loop_once (loop, 0);
    ck_assert_int_eq (calls, 5);
}
END_TEST

START_TEST (timer_wakes_a_sleeping_loop)
{
    lk_timer timer, later;
    int64_t start = lk_clock_ms ();
    int code = 0;
    lk_timer_init (&later, loop, count, NULL);
    lk_timer_set (&later, start + 60000);
    lk_loop_once (loop, 0);
    lk_timer_init (&timer, loop, stop, &code);
    lk_timer_set (&timer, start + 30);
    ck_assert_int_eq (lk_loop_run (loop), 0);
    ck_assert_int_ge (lk_clock_ms () - start, 30);
    ck_assert_int_eq (calls, 0);
    lk_timer_clear (&later);
}
END_TEST

static void
count_when_due (void *user)
{
    const lk_timer *timer = user;
    ck_assert_int_ge (lk_clock_ms (), timer->when_ms);
    calls++;
}

/*  One that moves to later and later does not fire before; a loop that slept
 *  for long finds it due. */
START_TEST (timer_moved_to_later)
{
    lk_timer timer;
    lk_timer_init (&timer, loop, count_when_due, &timer);
    for (int i = 0; i < 10; i++) {
        lk_timer_set (&timer, lk_clock_ms () + 40);
        lk_loop_once (loop, 10);
    }
    calls = 0;
    lk_timer_set (&timer, lk_clock_ms () + 40);
    while (calls == 0) {
        lk_loop_once (loop, 1000);
    }
}
END_TEST

/*  -------------------------------------------------------- readers, hooks */

static void
read_one (void *user)
{
    char byte;
    (void) user;
    ck_assert_int_eq (read (ends[0], &byte, 1), 1);
    calls++;
}

START_TEST (reader_is_called_while_readable)
{
    lk_reader *reader = lk_loop_add_fd (loop, ends[0], read_one, NULL);
    lk_loop_once (loop, 0);
    ck_assert_int_eq (calls, 0);
    ck_assert_int_eq (write (ends[1], "ab", 2), 2);
    lk_loop_once (loop, -1);
    lk_loop_once (loop, -1);
    lk_loop_once (loop, 0);
    ck_assert_int_eq (calls, 2);
    lk_loop_remove (loop, &reader);
    ck_assert_ptr_null (reader);
    ck_assert_int_eq (write (ends[1], "c", 1), 1);
    lk_loop_once (loop, 0);
    ck_assert_int_eq (calls, 2);
}
END_TEST

static lk_reader *doomed[2];

static void
remove_both (void *user)
{
    (void) user;
    calls++;
    lk_loop_remove (loop, &doomed[0]);
    lk_loop_remove (loop, &doomed[1]);
}

START_TEST (readers_removed_in_a_callback)
{
    int more[2];
    ck_assert_int_eq (pipe (more), 0);
    doomed[0] = lk_loop_add_fd (loop, ends[0], remove_both, NULL);
    doomed[1] = lk_loop_add_fd (loop, more[0], remove_both, NULL);
    ck_assert_int_eq (write (ends[1], "a", 1), 1);
    ck_assert_int_eq (write (more[1], "a", 1), 1);
    lk_loop_once (loop, -1);
    lk_loop_once (loop, 0);
    ck_assert_int_eq (calls, 1);
    close (more[0]);
    close (more[1]);
}
END_TEST

static lk_hook *hook;

static void
remove_hook (void *user)
{
    (void) user;
    calls++;
    lk_loop_remove_hook (loop, &hook);
}

START_TEST (hooks_run_after_each_wake_up)
{
    lk_hook *other = lk_loop_add_hook (loop, count, NULL);
    hook = lk_loop_add_hook (loop, remove_hook, NULL);
    lk_loop_once (loop, 0);
    ck_assert_int_eq (calls, 2);
    lk_loop_once (loop, 0);
    ck_assert_int_eq (calls, 3);
    lk_loop_remove_hook (loop, &other);
}
END_TEST

START_TEST (stop_finishes_the_wake_up)
{
    int code = 3;
    lk_timer timer;
    lk_timer_init (&timer, loop, stop, &code);
    lk_timer_set (&timer, 0);
    lk_loop_add_hook (loop, count, NULL);
    ck_assert_int_eq (lk_loop_run (loop), 3);
    ck_assert_int_eq (calls, 1);
    code = 4;
    lk_timer_set (&timer, 0);
    ck_assert_int_eq (lk_loop_run (loop), 4);
}
END_TEST

START_TEST (idle_means_asleep)
{
    lk_hook *each = lk_loop_add_hook (loop, count, NULL);
    int64_t start = lk_clock_ms ();
    lk_loop_once (loop, 100);
    ck_assert_int_eq (calls, 1);
    ck_assert_int_ge (lk_clock_ms () - start, 99);
    lk_loop_remove_hook (loop, &each);
}
END_TEST

/*  -------------------------------------------------------- signals */

static int got_signal;

static void
take_signal (void *user, int number)
{
    (void) user;
    got_signal = number;
}

START_TEST (signals_are_read)
{
    lk_loop_on_signal (loop, take_signal, NULL);
    kill (getpid (), SIGTERM);
    lk_loop_once (loop, 1000);
    ck_assert_int_eq (got_signal, SIGTERM);
    kill (getpid (), SIGHUP);
    lk_loop_once (loop, 1000);
    ck_assert_int_eq (got_signal, SIGHUP);
}
END_TEST

/*  -------------------------------------------------------- processes */

static lk_process *watched;

static void
process_ended (void *user)
{
    calls++;
    lk_process_unwatch (&watched);
    lk_loop_stop (loop, *(int *) user);
}

START_TEST (end_of_a_process)
{
    int code = 5;
    pid_t pid = fork ();
    if (pid == 0) {
        pause ();
        _exit (0);
    }
    watched = lk_process_watch (loop, pid, process_ended, &code);
    ck_assert_ptr_nonnull (watched);
    lk_loop_once (loop, 0);
    ck_assert_int_eq (calls, 0);
    kill (pid, SIGKILL); /* no probe would find a zombie's end */
    ck_assert_int_eq (lk_loop_run (loop), 5);
    ck_assert_int_eq (calls, 1);
    waitpid (pid, NULL, 0);
    errno = 0;
    ck_assert_ptr_null (lk_process_watch (loop, pid, process_ended, &code));
    ck_assert_int_eq (errno, ESRCH);
}
END_TEST

/*  From now on the system says that of pidfd_open(2). */
static void
forbid_pidfds (int number)
{
    struct sock_filter code[] = {
        BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
        BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
        BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned) number),
        BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof code / sizeof code[0], code};
    ck_assert_int_eq (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq (prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

/*  Old kernels say the one, containers the other. */
START_TEST (end_of_a_process_without_pidfds)
{
    static const int numbers[] = {ENOSYS, EPERM};
    int code = 5;
    forbid_pidfds (numbers[_i]);
    pid_t pid = fork ();
    if (pid == 0) {
        pause ();
        _exit (0);
    }
    ck_assert (lk_process_is_alive (pid));
    watched = lk_process_watch (loop, pid, process_ended, &code);
    ck_assert_ptr_nonnull (watched);
    kill (pid, SIGKILL);
    waitpid (pid, NULL, 0);
    ck_assert (!lk_process_is_alive (pid));
    ck_assert_int_eq (lk_loop_run (loop), 5);
    ck_assert_int_eq (calls, 1);
    errno = 0;
    ck_assert_ptr_null (lk_process_watch (loop, pid, process_ended, &code));
    ck_assert_int_eq (errno, ESRCH);
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("loop");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_set_timeout (tcase, 60);
    tcase_add_test (tcase, timers_fire_in_order);
    tcase_add_test (tcase, timer_that_sets_itself_starves_nobody);
    tcase_add_test (tcase, timer_wakes_a_sleeping_loop);
    tcase_add_test (tcase, timer_moved_to_later);
    tcase_add_test (tcase, reader_is_called_while_readable);
    tcase_add_test (tcase, readers_removed_in_a_callback);
    tcase_add_test (tcase, hooks_run_after_each_wake_up);
    tcase_add_test (tcase, stop_finishes_the_wake_up);
    tcase_add_test (tcase, idle_means_asleep);
    tcase_add_test (tcase, signals_are_read);
    tcase_add_test (tcase, end_of_a_process);
    tcase_add_loop_test (tcase, end_of_a_process_without_pidfds, 0, 2);
    Suite *suite = suite_create ("loop");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
