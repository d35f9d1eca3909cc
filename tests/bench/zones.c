/*  zones.c - LOCK and UNLOCK by several ways in turn
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  zones MS OBJECT NAME WAY [NAME WAY]...
 *
 *  A way is a router's endpoint, or the path of a client file. One session of
 *  each has and gives back an object, the ways in turn: NAME.latency and
 *  NAME.unlock. Then several have one each, for a slice of the time, the ways
 *  in turn: NAME.ops, pairs in a second. NAME.pairs: how many there were.
 */

#include "lib/figures.h"
#include "lib/sessions.h"
#include "net/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARM_PART 4 /* of the time, ahead of what counts */
#define WAYS_MAX 4
#define CROWD 4
#define SLICES 5

typedef struct {
    lk_session *session;
    char object[64];
    int64_t until_ms; /* of the slice */
    size_t pairs;
    pthread_t thread;
} member;

typedef struct {
    const char *name;
    member crowd[CROWD];
    lk_samples lock, unlock;
    size_t pairs, all;
    int64_t ns;
} way;

/*  -------------------------------------------------------- ways */

static void
open_way (way *self, const char *name, const char *where, const char *object)
{
    const bool is_endpoint = strstr (where, "://") != NULL;
    self->name = name;
    for (size_t i = 0; i < CROWD; i++) {
        member *it = &self->crowd[i];
        it->session = lk_sessions_begin (is_endpoint ? where : NULL,
                                         is_endpoint ? NULL : where);
        snprintf (it->object, sizeof it->object, "%s/%zu", object, i);
    }
}

static void
close_way (way *self)
{
    lk_samples_tell (&self->lock, self->name, "latency");
    lk_samples_tell (&self->unlock, self->name, "unlock");
    lk_figure (self->name, (double) self->pairs * 1e9 / (double) self->ns,
               "ops/s", "ops");
    lk_figure (self->name, (double) (self->all + self->pairs), "pairs",
               "pairs");
    lk_samples_clear (&self->lock);
    lk_samples_clear (&self->unlock);
    for (size_t i = 0; i < CROWD; i++) {
        lk_session_destroy (&self->crowd[i].session);
    }
}

/*  -------------------------------------------------------- one at a time */

static void
lock_once (member *self, int64_t *lock_ns, int64_t *unlock_ns)
{
    lk_lock *lock;
    const int64_t before_ns = lk_figures_now_ns ();
    if (lk_lock_acquire (self->session, self->object, strlen (self->object),
                         NULL, &lock)
        != LK_OK) {
        lk_sessions_die ("no lock", self->session);
    }
    const int64_t held_ns = lk_figures_now_ns ();
    if (lk_lock_release (&lock) != LK_OK) {
        lk_sessions_die ("not given back", self->session);
    }
    *lock_ns = held_ns - before_ns;
    *unlock_ns = lk_figures_now_ns () - held_ns;
}

static void
measure_latency (way *ways, size_t count, int64_t ms)
{
    const int64_t begun_ms = lk_clock_ms ();
    int64_t now_ms, lock_ns, unlock_ns;
    while ((now_ms = lk_clock_ms ()) < begun_ms + ms
           || ways[0].lock.count == 0) {
        for (size_t i = 0; i < count; i++) {
            lock_once (&ways[i].crowd[0], &lock_ns, &unlock_ns);
            ways[i].all++;
            if (now_ms >= begun_ms + ms / WARM_PART) {
                lk_samples_add (&ways[i].lock, lock_ns);
                lk_samples_add (&ways[i].unlock, unlock_ns);
            }
        }
    }
}

/*  -------------------------------------------------------- all of them */

static void *
work (void *argument)
{
    member *self = argument;
    int64_t lock_ns, unlock_ns;
    while (lk_clock_ms () < self->until_ms) {
        lock_once (self, &lock_ns, &unlock_ns);
        self->pairs++;
    }
    return NULL;
}

/*  Each has a lease when it begins: nobody served it meanwhile. */
static void
measure_slice (way *self, int64_t ms)
{
    int64_t lock_ns, unlock_ns;
    for (size_t i = 0; i < CROWD; i++) {
        lock_once (&self->crowd[i], &lock_ns, &unlock_ns);
        self->all++;
    }
    const int64_t begun_ns = lk_figures_now_ns ();
    for (size_t i = 0; i < CROWD; i++) {
        member *it = &self->crowd[i];
        it->until_ms = lk_clock_ms () + ms;
        it->pairs = 0;
        if (pthread_create (&it->thread, NULL, work, it) != 0) {
            lk_sessions_die ("no thread", it->session);
        }
    }
    for (size_t i = 0; i < CROWD; i++) {
        (void) pthread_join (self->crowd[i].thread, NULL);
        self->pairs += self->crowd[i].pairs;
    }
    self->ns += lk_figures_now_ns () - begun_ns;
}

int
main (int argc, char **argv)
{
    static way ways[WAYS_MAX];
    const int64_t ms = argc > 1 ? strtoll (argv[1], NULL, 10) : 0;
    const size_t count = argc > 3 ? (size_t) (argc - 3) / 2 : 0;
    if (argc % 2 != 1 || ms <= 0 || count == 0 || count > WAYS_MAX) {
        fprintf (stderr, "usage: %s MS OBJECT NAME WAY [NAME WAY]...\n",
                 argv[0]);
        return 2;
    }
    for (size_t i = 0; i < count; i++) {
        open_way (&ways[i], argv[3 + 2 * i], argv[4 + 2 * i], argv[2]);
    }
    measure_latency (ways, count, ms);
    for (size_t i = 0; i < SLICES * count; i++) {
        measure_slice (&ways[i % count], ms / 2 / SLICES);
    }
    for (size_t i = 0; i < count; i++) {
        close_way (&ways[i]);
    }
    return 0;
}
