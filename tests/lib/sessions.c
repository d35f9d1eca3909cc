/*  sessions.c - many sessions of one process
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/sessions.h"

#include "net/clock.h"
#include "util/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#define READY_MS 20000
#define LOOK_MS 10 /* between looks at who has something to say */
#define EVENTS 256

void
lk_sessions_die (const char *what, const lk_session *session)
{
    fprintf (stderr, "%s: %s\n", what, lk_session_problem (session));
    exit (1);
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

void
lk_sessions_open (lk_sessions *self, size_t count, const char *file)
{
    allow_descriptors ();
    self->epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
    self->member = lk_alloc (count * sizeof *self->member);
    while (self->count < count) {
        lk_session *session = lk_sessions_begin (NULL, file);
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = self->count};
        (void) epoll_ctl (self->epoll_fd, EPOLL_CTL_ADD,
                          lk_session_fd (session), &event);
        self->member[self->count++].session = session;
        lk_sessions_serve (self);
    }
}

void
lk_sessions_close (lk_sessions *self)
{
    while (self->count > 0) {
        lk_session_destroy (&self->member[--self->count].session);
    }
    close (self->epoll_fd);
    lk_free (self->member);
}
