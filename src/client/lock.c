/*  lock.c - what applications do with locks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/session.h"
#include "net/clock.h"
#include "util/utf8.h"

#include <string.h>

#define RELEASE_MS 5000 /* how long a release waits for its confirmation */

/*  Milliseconds, a thousand years: waits and durations at most. */
#define TIME_MAX (INT64_C (1) << 45)

static int64_t
time_after (int64_t wait_ms)
{
    int64_t now_ms = lk_clock_ms ();
    return wait_ms < 0 || wait_ms > INT64_MAX - now_ms ? INT64_MAX
                                                       : now_ms + wait_ms;
}

/*  -------------------------------------------------------- events */

static lk_event_kind
take_event (lk_session *self, lk_lock_event *event)
{
    if (!lk_book_next_event (self->book, event)) {
        *event = (lk_lock_event) {.kind = LK_EVENT_NONE};
    } else if (event->kind == LK_EVENT_FAILED) {
        (void) lk_session_fail (self, event->error, NULL);
    } else if (event->kind == LK_EVENT_LOST) {
        (void) lk_session_fail (self, event->error, lk_err_text (event->error));
    }
    return event->kind;
}

lk_event_kind
lk_session_poll (lk_session *self, int wait_ms, lk_lock_event *event)
{
    int64_t until_ms = time_after (wait_ms);
    lk_session_work (self);
    while (take_event (self, event) == LK_EVENT_NONE
           && lk_clock_ms () < until_ms) {
        lk_session_wait (self, until_ms);
    }
    return event->kind;
}

/*  -------------------------------------------------------- asking */

static bool
is_object (const char *object, size_t len)
{
    return len > 0 && len <= LK_OBJECT_LEN_MAX && lk_utf8_is_text (object, len);
}

lk_err
lk_lock_request (lk_session *self, const char *object, size_t len,
                 const lk_lock_options *options, lk_lock **lock_p)
{
    const lk_lock_options defaults = {.wait_ms = LK_FOREVER};
    if (options == NULL) {
        options = &defaults;
    }
    if (!is_object (object, len)) {
        return lk_session_fail (self, LK_INVALID,
                                "the name of a lock is 1 to 4096 bytes of "
                                "UTF-8 text");
    }
    if (options->wait_ms < LK_FOREVER || options->wait_ms > TIME_MAX
        || options->duration_ms < 0 || options->duration_ms > TIME_MAX) {
        return lk_session_fail (self, LK_INVALID,
                                "a wait or duration is out of range");
    }
    if (lk_attach_get_state (self->attach) == LK_ATTACH_REFUSED) {
        return lk_session_fail (self, LK_REFUSED, self->problem);
    }
    char *text = lk_memdup (object, len);
    lk_lock *lock = lk_book_lock (self->book, text, options, lk_clock_ms ());
    lock->session = self;
    lk_free (text);
    lk_session_work (self);
    *lock_p = lock;
    return LK_OK;
}

lk_err
lk_lock_wait (lk_session *self, const char *object, int64_t wait_ms,
              lk_lock **lock_p)
{
    lk_lock_options options = {.wait_ms = wait_ms};
    lk_lock *lock = NULL;
    lk_err error =
        lk_lock_request (self, object, strlen (object), &options, &lock);
    if (error != LK_OK) {
        return error;
    }
    while (lock->life == LK_LIFE_ASKED) {
        lk_session_wait (self, INT64_MAX);
    }
    lk_book_drop_events (self->book, lock);
    if (lock->life != LK_LIFE_HELD) {
        error = lk_session_fail (self, lock->error, NULL);
        lk_lock_forget (&lock);
        return error;
    }
    *lock_p = lock;
    return LK_OK;
}

/*  -------------------------------------------------------- giving back */

lk_err
lk_lock_release_start (lk_lock *self)
{
    lk_book_release (self->book, self, lk_clock_ms ());
    lk_session_work (self->session);
    return LK_OK;
}

void
lk_lock_forget (lk_lock **self_p)
{
    lk_lock *self = *self_p;
    *self_p = NULL;
    if (self != NULL) {
        lk_session *session = self->session;
        lk_book_forget (self->book, self, lk_clock_ms ());
        lk_session_work (session);
    }
}

/*  Waits until nothing of it is open; false if that takes too long. */
static bool
await_closed (lk_lock *self, int64_t until_ms)
{
    while (self->life != LK_LIFE_CLOSED && lk_clock_ms () < until_ms) {
        lk_session_wait (self->session, until_ms);
    }
    return self->life == LK_LIFE_CLOSED;
}

lk_err
lk_lock_release (lk_lock **self_p)
{
    lk_lock *self = *self_p;
    if (self == NULL) {
        return LK_OK;
    }
    lk_session *session = self->session;
    lk_book_release (self->book, self, lk_clock_ms ());
    bool closed = await_closed (self, time_after (RELEASE_MS));
    lk_lock_forget (self_p);
    return closed ? LK_OK
                  : lk_session_fail (session, LK_TIMEDOUT,
                                     "nobody confirmed the release in time");
}

lk_err
lk_session_unlock (lk_session *self, const char *object, uint64_t key,
                   int64_t wait_ms)
{
    if (!is_object (object, strlen (object))) {
        return lk_session_fail (self, LK_INVALID,
                                "the name of a lock is 1 to 4096 bytes of "
                                "UTF-8 text");
    }
    lk_lock *lock =
        lk_book_unlock_by_key (self->book, object, key, lk_clock_ms ());
    lock->session = self;
    bool closed = await_closed (lock, time_after (wait_ms));
    lk_err error = closed ? lock->error : LK_TIMEDOUT;
    lk_book_discard (self->book, lock);
    return error == LK_OK ? LK_OK : lk_session_fail (self, error, NULL);
}

/*  -------------------------------------------------------- questions */

bool
lk_lock_held (const lk_lock *self)
{
    return lk_book_held (self, lk_clock_ms ());
}

uint64_t
lk_lock_token (const lk_lock *self)
{
    return self->token;
}

uint64_t
lk_lock_key (const lk_lock *self)
{
    return self->key;
}

int64_t
lk_lock_left (const lk_lock *self)
{
    if (self->until_ms == INT64_MAX) {
        return -1;
    }
    int64_t left = self->until_ms - lk_clock_ms ();
    return left > 0 ? left : 0;
}

const char *
lk_lock_object (const lk_lock *self)
{
    return self->object;
}

void
lk_lock_set_user (lk_lock *self, void *user)
{
    self->user = user;
}

void *
lk_lock_user (const lk_lock *self)
{
    return self->user;
}
