/*  history.c - what scripts do with histories: note, kill, judge, measure
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A tool for the tests beside it, not a test.
 */

#include "lib/history.h"
#include "lib/judge.h"
#include "lib/starving.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000
#define HANG_MS 90000 /* later than that nobody is, on any machine */
#define BEAT_NS (INT64_C (250) * NS_PER_MS)
#define STALL_NS (INT64_C (700) * NS_PER_MS)
#define STARVED_NS (INT64_C (100) * NS_PER_MS) /* of a beat, for a processor */

static const char usage[] =
    "usage: history fault FILE HOST WORD     something is done to a host\n"
    "       history heal FILE HOST           that is over\n"
    "       history kill FILE HOST WORD SIGNAL PID...  a fault, and a signal\n"
    "       history stalls FILE HOST...      notes when the machine stalls\n"
    "       history now                      the boot clock, in ns\n"
    "       history judge [--told] [--lease MS] [--grace MS] FILE...\n"
    "       history pause HOSTS FROM UNTIL OBJECT[,OBJECT...] FILE...\n"
    "       history event WHICH OBJECT AFTER FILE...  the first one's time\n"
    "       history holder OBJECT FILE...    the process it was last granted\n"
    "       history handovers OBJECT FILE... from a holder's end to the next\n";

static void
note_at (int64_t ns, const char *path, const char *host, lk_history_kind kind,
         const char *word)
{
    lk_history_event event = {.ns = ns, .kind = kind};
    snprintf (event.process, sizeof event.process, "%s", host);
    snprintf (event.word, sizeof event.word, "%s", word);
    const int fd = lk_history_open (path);
    if (fd < 0) {
        fprintf (stderr, "cannot open '%s': %s\n", path, strerror (errno));
        exit (2);
    }
    lk_history_note (fd, &event);
    close (fd);
}

static void
note (const char *path, const char *host, lk_history_kind kind,
      const char *word)
{
    note_at (0, path, host, kind, word);
}

/*  For ever: looks at the clock, and notes as a fault of all hosts if the
 *  machine left it, or a daemon, no time to do so. */
static void
run_stalls (int count, char **argument)
{
    const struct timespec beat = {.tv_nsec = BEAT_NS};
    const pid_t session = getsid (0);
    lk_starving_ns (session);
    for (int64_t before = lk_history_now ();;) {
        nanosleep (&beat, NULL);
        const int64_t now = lk_history_now ();
        const bool stalls =
            lk_starving_ns (session) > STARVED_NS || now - before > STALL_NS;
        for (int i = 1; i < count && stalls; i++) {
            note_at (before, argument[0], argument[i], LK_HISTORY_FAULT,
                     "stalled-apps");
            note_at (now, argument[0], argument[i], LK_HISTORY_HEALED, "-");
        }
        before = now;
    }
}

/*  Prints when it began. */
static int
run_kill (int count, char **argument)
{
    if (count < 5) {
        return 2;
    }
    const int number = (int) strtol (argument[3], NULL, 10);
    const int64_t began = lk_history_now ();
    note (argument[0], argument[1], LK_HISTORY_FAULT, argument[2]);
    for (int i = 4; i < count; i++) {
        const pid_t pid = (pid_t) strtol (argument[i], NULL, 10);
        if (pid <= 1 || kill (pid, number) != 0) {
            fprintf (stderr, "cannot signal '%s': %s\n", argument[i],
                     strerror (errno));
            return 1;
        }
    }
    printf ("%" PRId64 "\n", began);
    return 0;
}

static bool
read_all (lk_history *history, int count, char **path, const char *only)
{
    bool good = count > 0;
    for (int i = 0; i < count; i++) {
        good = lk_history_read (history, path[i], only) && good;
    }
    return good;
}

static int
run_judge (int count, char **argument)
{
    lk_judge_options options = {
        .noise_ms = HANG_MS, .grace_ms = 36000, .lease_ms = 8000};
    lk_history history = {.count = 0};
    while (count > 1 && strncmp (argument[0], "--", 2) == 0) {
        if (strcmp (argument[0], "--told") == 0) {
            options.told = true;
        } else {
            *(strcmp (argument[0], "--grace") == 0 ? &options.grace_ms
                                                   : &options.lease_ms) =
                strtol (argument[1], NULL, 10);
            count--, argument++;
        }
        count--, argument++;
    }
    if (!read_all (&history, count, argument, NULL)) {
        return 2;
    }
    const lk_verdict it = lk_judge (&history, &options, stdout);
    printf ("%zu requests: %zu granted, %zu failed, %zu taken back; %zu "
            "released, %zu lost, %zu over their duration; %zu processes ended "
            "with %zu requests open; %zu faults; %zu violations\n",
            it.requests, it.granted, it.failed, it.taken_back, it.released,
            it.lost, it.timedout, it.ended, it.orphaned, it.faults,
            it.violations);
    lk_history_clear (&history);
    return it.violations != 0;
}

/*  Prints the longest pause, ms. */
static int
run_pause (int count, char **argument)
{
    lk_history history = {.count = 0};
    if (count < 5
        || !read_all (&history, count - 4, argument + 4,
                      lk_history_word (LK_HISTORY_GRANTED))) {
        return 2;
    }
    const int64_t from = strtoll (argument[1], NULL, 10);
    const int64_t until = strtoll (argument[2], NULL, 10);
    int64_t longest = 0;
    for (char *object; (object = strsep (&argument[3], ",")) != NULL;) {
        const int64_t took =
            lk_judge_pause (&history, argument[0], object, from, until);
        longest = took > longest ? took : longest;
    }
    lk_history_clear (&history);
    printf ("%" PRId64 "\n", longest / NS_PER_MS);
    return 0;
}

/*  Prints its time, ns. */
static int
run_event (int count, char **argument)
{
    lk_history history = {.count = 0};
    if (count < 4
        || !read_all (&history, count - 3, argument + 3, argument[1])) {
        return 2;
    }
    const int64_t after = strtoll (argument[2], NULL, 10);
    for (size_t i = 0; i < history.count; i++) {
        const lk_history_event *event = &history.event[i];
        if (event->ns > after && strcmp (event->object, argument[1]) == 0
            && strcmp (lk_history_word (event->kind), argument[0]) == 0) {
            printf ("%" PRId64 "\n", event->ns);
            return 0;
        }
    }
    return 1;
}

static const lk_history_event *
last_grant (const lk_history *history, size_t end, const char *object)
{
    while (end-- > 0) {
        const lk_history_event *event = &history->event[end];
        if (event->kind == LK_HISTORY_GRANTED
            && strcmp (event->object, object) == 0) {
            return event;
        }
    }
    return NULL;
}

static int
run_holder (int count, char **argument)
{
    lk_history history = {.count = 0};
    if (count < 2
        || !read_all (&history, count - 1, argument + 1, argument[0])) {
        return 2;
    }
    const lk_history_event *grant =
        last_grant (&history, history.count, argument[0]);
    if (grant != NULL) {
        puts (grant->process);
    }
    return grant == NULL;
}

static int
by_size (const void *left, const void *right)
{
    const int64_t a = *(const int64_t *) left, b = *(const int64_t *) right;
    return (a > b) - (a < b);
}

/*  Prints how many, and of them the median, the least and the most, us. */
static int
run_handovers (int count, char **argument)
{
    enum { MOST = 1000 };
    static int64_t took[MOST];
    size_t seen = 0;
    lk_history history = {.count = 0};
    if (count < 2 || !read_all (&history, count - 1, argument + 1, NULL)) {
        return 2;
    }
    for (size_t i = 0; i < history.count && seen < MOST; i++) {
        const lk_history_event *event = &history.event[i];
        const lk_history_event *before = last_grant (&history, i, argument[0]);
        if (before != NULL && event->kind == LK_HISTORY_ENDED
            && strcmp (before->process, event->process) == 0) {
            size_t next = i;
            while (next < history.count
                   && last_grant (&history, next + 1, argument[0]) == before) {
                next++;
            }
            if (next < history.count) {
                took[seen++] = (history.event[next].ns - event->ns) / 1000;
            }
        }
    }
    if (seen == 0) {
        return 1;
    }
    qsort (took, seen, sizeof took[0], by_size);
    printf ("%zu %" PRId64 " %" PRId64 " %" PRId64 "\n", seen, took[seen / 2],
            took[0], took[seen - 1]);
    return 0;
}

static int
run (int count, char **argument)
{
    const char *verb = argument[0];
    if (strcmp (verb, "now") == 0) {
        printf ("%" PRId64 "\n", lk_history_now ());
        return 0;
    }
    if (strcmp (verb, "fault") == 0 && count == 4) {
        note (argument[1], argument[2], LK_HISTORY_FAULT, argument[3]);
        return 0;
    }
    if (strcmp (verb, "heal") == 0 && count == 3) {
        note (argument[1], argument[2], LK_HISTORY_HEALED, "-");
        return 0;
    }
    if (strcmp (verb, "stalls") == 0 && count > 1) {
        run_stalls (count - 1, argument + 1);
        return 0;
    }
    if (strcmp (verb, "kill") == 0) {
        return run_kill (count - 1, argument + 1);
    }
    if (strcmp (verb, "judge") == 0) {
        return run_judge (count - 1, argument + 1);
    }
    if (strcmp (verb, "pause") == 0) {
        return run_pause (count - 1, argument + 1);
    }
    if (strcmp (verb, "event") == 0) {
        return run_event (count - 1, argument + 1);
    }
    if (strcmp (verb, "holder") == 0) {
        return run_holder (count - 1, argument + 1);
    }
    if (strcmp (verb, "handovers") == 0) {
        return run_handovers (count - 1, argument + 1);
    }
    return 2;
}

int
main (int argc, char **argv)
{
    const int code = argc < 2 ? 2 : run (argc - 1, argv + 1);
    if (code == 2) {
        fputs (usage, stderr);
    }
    return code;
}
