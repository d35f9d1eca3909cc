/*  sessions.c - many sessions of one process
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/sessions.h"

#include "net/clock.h"
#include "util/alloc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#define READY_MS 20000
#define LOOK_MS 10 /* between looks at who has something to say */
#define EVENTS 256
#define PARTS 16 /* of those that are opened, at a time */

void
lk_sessions_die (const char *what, const lk_session *session)
{
    fprintf (stderr, "%s: %s\n", what, lk_session_problem (session));
    _exit (1); /* other threads go on */
}

lk_session *
lk_sessions_begin (const char *endpoint, const char *file)
{
    const lk_session_options options = {.endpoint = endpoint,
                                        .client = file,
                                        .name = "crowd",
                                        .connect_ms = READY_MS};
    lk_session *session = lk_session_new (&options);
    if (session == NULL) {
        lk_sessions_die ("no session", NULL);
    }
    return session;
}

static void
take_events (lk_sessions *self, size_t place)
{
    lk_lock_event event;
    while (lk_session_poll (self->member[place].session, 0, &event)
           != LK_EVENT_NONE) {
        if (self->event != NULL) {
            self->event (self->user, place, &event);
        }
    }
}

void
lk_sessions_serve (lk_sessions *self)
{
    struct epoll_event events[EVENTS];
    const int ready = epoll_wait (self->epoll_fd, events, EVENTS, 1);
    for (int i = 0; i < ready; i++) {
        take_events (self, events[i].data.u64);
    }
    if (lk_clock_ms () < self->look_ms) {
        return;
    }
    self->look_ms = lk_clock_ms () + LOOK_MS;
    for (size_t i = 0; i < self->count; i++) {
        if (lk_session_timeout (self->member[i].session) == 0) {
            take_events (self, i);
        }
    }
}

static void
allow_descriptors (void)
{
    struct rlimit limit;
    (void) getrlimit (RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    (void) setrlimit (RLIMIT_NOFILE, &limit);
}

/*  A session waits for its first lease, so that many are opened at a time, each
 *  by a thread that keeps those it has. */
typedef struct {
    lk_sessions sessions;
    size_t count;
    const char *file;
    atomic_size_t *left; /* of all */
    pthread_t thread;
} part;

static void
add (lk_sessions *self, lk_session *session)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = self->count};
    (void) epoll_ctl (self->epoll_fd, EPOLL_CTL_ADD, lk_session_fd (session),
                      &event);
    self->member[self->count++].session = session;
}

static void
prepare (lk_sessions *self, size_t count)
{
    self->epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
    self->member = lk_alloc (count * sizeof *self->member);
    self->count = 0;
}

static void
forget (lk_sessions *self)
{
    close (self->epoll_fd);
    lk_free (self->member);
}

static void *
open_part (void *user)
{
    part *self = user;
    prepare (&self->sessions, self->count);
    while (self->sessions.count < self->count) {
        add (&self->sessions, lk_sessions_begin (NULL, self->file));
        (void) atomic_fetch_sub (self->left, 1);
        lk_sessions_serve (&self->sessions);
    }
    while (atomic_load (self->left) > 0) {
        lk_sessions_serve (&self->sessions);
    }
    return NULL;
}

void
lk_sessions_open (lk_sessions *self, size_t count, const char *file)
{
    part parts[PARTS] = {0};
    atomic_size_t left = count;
    allow_descriptors ();
    prepare (self, count);
    for (size_t i = 0; i < PARTS; i++) {
        parts[i].file = file;
        parts[i].left = &left;
        parts[i].count = count / PARTS + (i < count % PARTS);
        if (pthread_create (&parts[i].thread, NULL, open_part, &parts[i])
            != 0) {
            lk_sessions_die ("no thread", NULL);
        }
    }
    for (size_t i = 0; i < PARTS; i++) {
        (void) pthread_join (parts[i].thread, NULL);
        for (size_t k = 0; k < parts[i].count; k++) {
            add (self, parts[i].sessions.member[k].session);
        }
        forget (&parts[i].sessions);
    }
}

void
lk_sessions_close (lk_sessions *self)
{
    while (self->count > 0) {
        lk_session_destroy (&self->member[--self->count].session);
    }
    forget (self);
}
