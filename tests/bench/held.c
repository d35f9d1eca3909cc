/*  held.c - very many names, held by who knows the protocol page only
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  held ENDPOINT COUNT: says "held MS" when it has them all. Then it does what
 *  its input says:
 *
 *  gap PID SIGNAL MS   signals that process, locks and unlocks one name after
 *                      the other, and says "gap MS": the longest time without
 *                      a pair, from the blow on
 *
 *  With the end of the input it ends, without an UNLOCK.
 */

#include "lib/raw.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_MS 20000
#define FLIGHT 512
#define SESSION_LOCKS 50000 /* of one session: it may have 100,000 */
#define SESSIONS_MAX 32

static lk_raw *sessions[SESSIONS_MAX];
static uint64_t serial = 1000;

static double
clock_ms (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

static void
say_lock (lk_raw *raw, const char *prefix, unsigned long number)
{
    lk_raw_say (raw, "lock@.", "LOCK", ++serial,
                "{\"object\":\"%s-%08lu\",\"wait\":-1,\"duration\":0,"
                "\"pid\":%d,\"type\":\"exclusive\"}",
                prefix, number, (int) getpid ());
}

static void
hear (lk_raw *raw, const char *command)
{
    const lk_frame_header *message = lk_raw_hear (raw, ANSWER_MS);
    if (!message) {
        lk_raw_fail ("no answer");
    }
    if (message->command.size != strlen (command)
        || memcmp (message->command.data, command, strlen (command)) != 0) {
        lk_raw_fail ("%.*s %.*s", (int) message->command.size,
                     message->command.data, (int) message->body.size,
                     message->body.data);
    }
}

static void
hold (lk_raw *raw, unsigned long first, unsigned long end)
{
    unsigned long asked = first;
    for (unsigned long heard = first; heard < end; heard++) {
        while (asked < end && asked < heard + FLIGHT) {
            say_lock (raw, "held/job", asked++);
        }
        hear (raw, "LOCKED");
    }
}

/*  Each time another name, so that all homes are asked. */
static void
find_gap (lk_raw *raw, int pid, int number, int ms)
{
    double last = clock_ms ();
    double longest = 0;
    const double end = last + ms;
    kill (pid, number);
    for (unsigned long i = 0; last < end; i++) {
        say_lock (raw, "held/gap", i);
        hear (raw, "LOCKED");
        const uint64_t lock = serial;
        lk_raw_say (raw, "lock@.", "UNLOCK", ++serial, "{\"request\":%llu}",
                    (unsigned long long) lock);
        hear (raw, "UNLOCKED");
        const double now = clock_ms ();
        longest = now - last > longest ? now - last : longest;
        last = now;
    }
    printf ("gap %.1f\n", longest);
    fflush (stdout);
}

int
main (int argc, char **argv)
{
    char line[80];
    const unsigned long count = argc == 3 ? strtoul (argv[2], NULL, 10) : 0;
    if (count == 0 || count > (unsigned long) SESSION_LOCKS * SESSIONS_MAX) {
        lk_raw_fail ("usage: held ENDPOINT COUNT");
    }
    const double begin = clock_ms ();
    for (unsigned long first = 0; first < count; first += SESSION_LOCKS) {
        const unsigned long end = first + SESSION_LOCKS;
        lk_raw **raw = &sessions[first / SESSION_LOCKS];
        *raw = lk_raw_open (argv[1], "held");
        hold (*raw, first, end < count ? end : count);
    }
    printf ("held %.1f\n", clock_ms () - begin);
    fflush (stdout);
    while (fgets (line, sizeof line, stdin)) {
        int pid, number, ms;
        if (sscanf (line, "gap %d %d %d", &pid, &number, &ms) == 3) {
            find_gap (sessions[0], pid, number, ms);
        }
    }
    _exit (0);
}
