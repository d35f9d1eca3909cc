/*  starving.c - tests: daemons that wait for a processor are seen
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/starving.h"

#include "lib/suite.h"

#include <check.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BEAT_NS 100000000
#define HANG_BEATS 600

static pid_t session;

static void
spin (const char *name)
{
    prctl (PR_SET_PDEATHSIG, SIGKILL);
    prctl (PR_SET_NAME, name);
    for (;;) {
    }
}

/*  Two that spin on one processor. */
static void
begin_session (const char *name)
{
    cpu_set_t cpus;
    ck_assert_int_eq (sched_getaffinity (0, sizeof cpus, &cpus), 0);
    int cpu = 0;
    while (!CPU_ISSET (cpu, &cpus)) {
        cpu++;
    }
    CPU_ZERO (&cpus);
    CPU_SET (cpu, &cpus);
    session = fork ();
    ck_assert_int_ne (session, -1);
    if (session == 0) {
        setsid ();
        sched_setaffinity (0, sizeof cpus, &cpus);
        (void) fork ();
        spin (name);
    }
    lk_starving_ns (session);
}

static void
end_session (void)
{
    kill (-session, SIGKILL);
    waitpid (session, NULL, 0);
}

static int64_t
starved_in_a_beat (void)
{
    const struct timespec beat = {.tv_nsec = BEAT_NS};
    nanosleep (&beat, NULL);
    return lk_starving_ns (session);
}

START_TEST (who_waits_is_seen)
{
    begin_session ("lockkeeper-test");
    int beats = 0;
    while (starved_in_a_beat () < BEAT_NS / 5) {
        ck_assert_int_lt (++beats, HANG_BEATS);
    }
}
END_TEST

START_TEST (others_do_not_count)
{
    begin_session ("another");
    for (int beats = 0; beats < 3; beats++) {
        ck_assert_int_eq (starved_in_a_beat (), 0);
    }
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("starving");
    tcase_add_checked_fixture (tests, NULL, end_session);
    tcase_set_timeout (tests, 90);
    tcase_add_test (tests, who_waits_is_seen);
    tcase_add_test (tests, others_do_not_count);

    Suite *suite = suite_create ("starving");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
