/*  far.c - locks had from a machine without a router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  far latency ENDPOINT FILE PREFIX MS
 *      LOCK and UNLOCK by the router at ENDPOINT, and by the first server of
 *      that client file, in turn: the times of both, by liblockkeeper, as
 *      PREFIX.local and PREFIX.remote.
 *
 *  far renew FILE COUNT
 *      So many sessions that hold nothing, and only renew their leases. Says
 *      "ready" when all are there, and ends with its input.
 */

#include "lib/figures.h"
#include "lib/sessions.h"
#include "net/clock.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WARM_PART 4 /* of the time, ahead of what counts */

/*  -------------------------------------------------------- latency */

typedef struct {
    lk_session *session;
    const char *name;
    lk_samples lock, unlock;
} side;

static void
lock_once (side *self, bool counts)
{
    lk_lock *lock;
    const int64_t before_ns = lk_figures_now_ns ();
    if (lk_lock_acquire (self->session, self->name, strlen (self->name), NULL,
                         &lock)
        != LK_OK) {
        lk_sessions_die ("no lock", self->session);
    }
    const int64_t held_ns = lk_figures_now_ns ();
    if (lk_lock_release (&lock) != LK_OK) {
        lk_sessions_die ("not given back", self->session);
    }
    if (counts) {
        lk_samples_add (&self->lock, held_ns - before_ns);
        lk_samples_add (&self->unlock, lk_figures_now_ns () - held_ns);
    }
}

static void
tell (side *self, const char *prefix, const char *what)
{
    char name[100];
    snprintf (name, sizeof name, "%s.%s", prefix, what);
    lk_samples_tell (&self->lock, name, "latency");
    lk_samples_tell (&self->unlock, name, "unlock");
    lk_samples_clear (&self->lock);
    lk_samples_clear (&self->unlock);
    lk_session_destroy (&self->session);
}

static int
measure_latency (const char *endpoint, const char *file, const char *prefix,
                 int64_t ms)
{
    side near = {.session = lk_sessions_begin (endpoint, NULL),
                 .name = "bench/far/1"};
    side far = {.session = lk_sessions_begin (NULL, file),
                .name = "bench/far/1"};
    const int64_t begun_ms = lk_clock_ms ();
    int64_t now_ms;
    while ((now_ms = lk_clock_ms ()) < begun_ms + ms) {
        const bool counts = now_ms >= begun_ms + ms / WARM_PART;
        lock_once (&near, counts);
        lock_once (&far, counts);
    }
    tell (&near, prefix, "local");
    tell (&far, prefix, "remote");
    return 0;
}

/*  -------------------------------------------------------- sessions */

static bool
is_over (void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char byte;
    return poll (&input, 1, 0) > 0 && read (STDIN_FILENO, &byte, 1) <= 0;
}

static int
renew (const char *file, size_t count)
{
    lk_sessions all = {.count = 0};
    lk_sessions_open (&all, count, file);
    puts ("ready");
    fflush (stdout);
    while (!is_over ()) {
        lk_sessions_serve (&all);
    }
    lk_sessions_close (&all);
    return 0;
}

int
main (int argc, char **argv)
{
    if (argc == 6 && strcmp (argv[1], "latency") == 0) {
        return measure_latency (argv[2], argv[3], argv[4],
                                strtoll (argv[5], NULL, 10));
    }
    if (argc == 4 && strcmp (argv[1], "renew") == 0) {
        return renew (argv[2], strtoul (argv[3], NULL, 10));
    }
    fputs ("usage: far latency ENDPOINT FILE PREFIX MS | far renew FILE "
           "COUNT\n",
           stderr);
    return 2;
}
