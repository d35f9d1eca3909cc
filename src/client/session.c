/*  session.c - a session with a lock service, whatever the way there
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/session.h"

#include "net/clock.h"
#include "net/where.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define CONNECT_MS 5000
#define GIVE_BACK_MS 1000 /* how long destroy waits for UNLOCKED */

/*  -------------------------------------------------------- work */

void
lk_session_say (lk_session *self)
{
    self->way->calls->say (self->way);
}

void
lk_session_work (lk_session *self)
{
    self->way->calls->work (self->way);
}

static bool
is_ours (const lk_session *self)
{
    return self->way->calls->is_ours (self->way);
}

static lk_way_state
state_of (const lk_session *self)
{
    return self->way->calls->state (self->way);
}

const char *
lk_session_objection (const lk_session *self, const lk_lock_options *options)
{
    return self->way->calls->objection (options);
}

const char *
lk_session_turn_objection (const lk_session *self, const lk_lock *lock)
{
    return self->way->calls->turn_objection (self->way, lock);
}

bool
lk_session_hear (lk_session *self)
{
    struct epoll_event event;
    if (!is_ours (self)) {
        return false;
    }
    if (epoll_wait (lk_session_fd (self), &event, 1, 0) > 0
        || lk_clock_ms () >= self->way->calls->deadline (self->way)) {
        lk_session_work (self);
    }
    return true;
}

void
lk_session_wait (lk_session *self, int64_t until_ms)
{
    self->way->calls->wait (self->way, until_ms);
}

lk_err
lk_session_fail (lk_session *self, lk_err error, const char *text)
{
    if (text == NULL) {
        text = lk_book_remark (self->book);
    }
    if (text[0] == '\0') {
        text = lk_err_text (error);
    }
    snprintf (self->problem, sizeof self->problem, "%.*s",
              (int) sizeof self->problem - 1, text);
    return error;
}

lk_err
lk_session_lose (lk_session *self, lk_err error)
{
    return lk_session_fail (self, error, self->way->calls->loss (error));
}

/*  Another credential may have come meanwhile. */
lk_err
lk_session_check_refused (lk_session *self)
{
    lk_way_problem problem;
    if (state_of (self) == LK_WAY_REFUSED) {
        lk_session_work (self);
    }
    if (state_of (self) != LK_WAY_REFUSED) {
        return LK_OK;
    }
    self->way->calls->problem (self->way, &problem);
    return lk_session_fail (
        self, problem.number == EKEYREJECTED ? LK_CREDENTIAL : LK_REFUSED,
        problem.text);
}

/*  -------------------------------------------------------- life */

/*  Serials unlike those of a former process of the same name and number. */
static uint64_t
first_serial (void)
{
    return ((uint64_t) lk_clock_ms () & 0xffffffff) << 16;
}

/*  Of this thread's last session that could not be had. */
static _Thread_local lk_way_problem failure;

static void
on_refused (void *user, const char *reason)
{
    (void) lk_session_fail (user, LK_REFUSED, reason);
}

/*  By the client file, if there is one; `endpoint`: NULL, or its own. */
static lk_way *
new_way (const lk_way_options *options, const char *client,
         const char *endpoint, lk_problem *problem)
{
    if (client == NULL) {
        return lk_near_new (options, lk_where (endpoint), problem);
    }
    lk_client_file *file = lk_alloc (sizeof *file);
    lk_way *way = NULL;
    if (lk_client_file_read (file, client, problem) == LK_OK
        && (endpoint == NULL
            || lk_client_file_redirect (file, endpoint, problem) == LK_OK)) {
        way = lk_far_new (options, file, problem);
    }
    lk_client_file_clear (file);
    lk_free (file);
    return way;
}

static lk_session *
new_session (const lk_session_options *options, const char *name)
{
    lk_problem problem = {.text = ""};
    const char *endpoint = options->endpoint;
    failure = (lk_way_problem) {.text = ""};
    lk_session *self = lk_alloc (sizeof *self);
    self->book = lk_book_new (first_serial ());
    const lk_way_options wish = {
        .name = name, .book = self->book, .refused = on_refused, .user = self};
    const char *client = lk_where_client (options->client, &endpoint);
    self->way = new_way (&wish, client, endpoint, &problem);
    if (self->way == NULL) {
        lk_book_destroy (&self->book);
        lk_free (self);
        failure.number = problem.number;
        snprintf (failure.text, sizeof failure.text, "%s", problem.text);
        errno = failure.number != 0 ? failure.number : EINVAL;
        return NULL;
    }
    return self;
}

static bool
await_service (lk_session *self, int connect_ms)
{
    int64_t until_ms = lk_clock_ms () + connect_ms;
    while (state_of (self) == LK_WAY_SEEKING && lk_clock_ms () < until_ms) {
        lk_session_wait (self, until_ms);
    }
    return state_of (self) == LK_WAY_READY;
}

lk_session *
lk_session_new (const lk_session_options *options)
{
    const lk_session_options defaults = {0};
    if (options == NULL) {
        options = &defaults;
    }
    lk_session *self = new_session (
        options,
        options->name != NULL ? options->name : program_invocation_short_name);
    if (self != NULL
        && !await_service (self, options->connect_ms > 0 ? options->connect_ms
                                                         : CONNECT_MS)) {
        self->way->calls->problem (self->way, &failure);
        lk_session_destroy (&self);
        errno = failure.number != 0 ? failure.number : ETIMEDOUT;
    }
    return self;
}

/*  The router tells the lock service that we are gone, so nothing leaks if
 *  this does not get through. One that is just being restarted tells it late,
 *  so that it is worth waiting for. */
static void
give_back_all (lk_session *self)
{
    int64_t now_ms = lk_clock_ms ();
    int64_t until_ms = now_ms + GIVE_BACK_MS;
    lk_lock *lock, *next = lk_book_next_lock (self->book, NULL);
    while ((lock = next) != NULL) {
        next = lk_book_next_lock (self->book, lock);
        lk_book_abandon (self->book, lock, now_ms);
    }
    while (lk_book_open_count (self->book) > 0 && lk_clock_ms () < until_ms
           && is_ours (self)) {
        lk_session_wait (self, until_ms);
    }
}

void
lk_session_destroy (lk_session **self_p)
{
    lk_session *self = *self_p;
    *self_p = NULL;
    if (self == NULL) {
        return;
    }
    int problem = errno;
    give_back_all (self);
    self->way->calls->destroy (self->way);
    lk_book_destroy (&self->book);
    lk_free (self);
    errno = problem;
}

/*  -------------------------------------------------------- questions */

const char *
lk_session_problem (const lk_session *self)
{
    return self != NULL ? self->problem : failure.text;
}

const char *
lk_session_host (const lk_session *self)
{
    return self->way->calls->host (self->way);
}

void
lk_session_act_for (lk_session *self, int64_t pid)
{
    lk_book_act_for (self->book, pid);
}

int
lk_session_fd (const lk_session *self)
{
    return self->way->calls->fd (self->way);
}

int
lk_session_timeout (const lk_session *self)
{
    if (lk_book_has_event (self->book)) {
        return 0;
    }
    return lk_clock_poll_ms (self->way->calls->deadline (self->way));
}

const char *
lk_version (void)
{
    return LK_VERSION;
}
