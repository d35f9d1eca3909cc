/*  clock.c - the clock that is read, and that the loop sleeps by, is the boot
 *  clock
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The clocks of a host that was never suspended are equal, so the linker puts
 *  the calls below in place of the system's (--wrap, see the Makefile): here
 *  the boot clock is far ahead.
 */

#include "net/clock.h"
#include "lib/suite.h"
#include "net/loop.h"

#include <check.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>

#define NOW_MS INT64_C (5000000000123)

int __real_clock_gettime (clockid_t clock, struct timespec *time);
int __wrap_clock_gettime (clockid_t clock, struct timespec *time);
int __real_timerfd_create (clockid_t clock, int flags);
int __wrap_timerfd_create (clockid_t clock, int flags);

static clockid_t slept_by = -1;

int
__wrap_clock_gettime (clockid_t clock, struct timespec *time)
{
    if (clock != CLOCK_BOOTTIME) {
        return __real_clock_gettime (clock, time);
    }
    *time = (struct timespec) {.tv_sec = NOW_MS / 1000,
                               .tv_nsec = NOW_MS % 1000 * 1000000 + 999999};
    return 0;
}

int
__wrap_timerfd_create (clockid_t clock, int flags)
{
    slept_by = clock;
    return __real_timerfd_create (clock, flags);
}

START_TEST (the_boot_clock_is_read)
{
    ck_assert_int_eq (lk_clock_ms (), NOW_MS);
}
END_TEST

START_TEST (time_to_poll)
{
    ck_assert_int_eq (lk_clock_poll_ms (INT64_MAX), -1);
    ck_assert_int_eq (lk_clock_poll_ms (NOW_MS - 1), 0);
    ck_assert_int_eq (lk_clock_poll_ms (NOW_MS), 0);
    ck_assert_int_eq (lk_clock_poll_ms (NOW_MS + 7), 7);
    ck_assert_int_eq (lk_clock_poll_ms (INT64_MAX - 1), INT_MAX);
}
END_TEST

START_TEST (the_loop_sleeps_by_the_boot_clock)
{
    lk_loop *loop = lk_loop_new ();
    ck_assert_int_eq (slept_by, CLOCK_BOOTTIME);
    lk_loop_destroy (&loop);
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("clock");
    tcase_add_test (tcase, the_boot_clock_is_read);
    tcase_add_test (tcase, time_to_poll);
    tcase_add_test (tcase, the_loop_sleeps_by_the_boot_clock);
    Suite *suite = suite_create ("clock");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
