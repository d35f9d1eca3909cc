/*  lock.c - what applications do with locks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/session.h"
#include "client/wish.h"
#include "net/clock.h"

#include <string.h>

#define RELEASE_MS 5000 /* how long a release waits for its confirmation */

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
    } else if (event->kind == LK_EVENT_FAILED
               || event->kind == LK_EVENT_UNCHANGED) {
        (void) lk_session_fail (self, event->error, NULL);
    } else if (event->kind == LK_EVENT_LOST) {
        (void) lk_session_lose (self, event->error);
    }
    return event->kind;
}

lk_event_kind
lk_session_poll (lk_session *self, int wait_ms, lk_lock_event *event)
{
    if (take_event (self, event) != LK_EVENT_NONE) {
        return event->kind;
    }
    int64_t until_ms = time_after (wait_ms);
    lk_session_work (self);
    while (take_event (self, event) == LK_EVENT_NONE
           && lk_clock_ms () < until_ms) {
        lk_session_wait (self, until_ms);
    }
    return event->kind;
}

/*  -------------------------------------------------------- asking */

static const lk_lock_options defaults = {.wait_ms = LK_FOREVER};

/*  Names and options make sense: asks. */
static lk_err
ask (lk_session *self, const lk_object_name *names, size_t count,
     const lk_lock_options *options, lk_lock **lock_p)
{
    const char *problem = lk_wish_check_options (options);
    if (problem == NULL) {
        problem = lk_session_objection (self, options);
    }
    if (problem != NULL) {
        return lk_session_fail (self, LK_INVALID, problem);
    }
    const lk_err error = lk_session_check_refused (self);
    if (error != LK_OK) {
        return error;
    }
    if (options->reentrant) {
        (void) lk_session_hear (self); /* whether it is still held */
    }
    lk_lock *lock =
        lk_book_lock (self->book, names, count, options, lk_clock_ms ());
    lock->session = self;
    lk_session_say (self);
    *lock_p = lock;
    return LK_OK;
}

lk_err
lk_lock_request (lk_session *self, const char *object, size_t len,
                 const lk_lock_options *options, lk_lock **lock_p)
{
    const lk_object_name name = {object, len};
    const char *problem = lk_wish_check_name (object, len);
    *lock_p = NULL;
    if (problem != NULL) {
        return lk_session_fail (self, LK_INVALID, problem);
    }
    return ask (self, &name, 1, options != NULL ? options : &defaults, lock_p);
}

lk_err
lk_lock_request_all (lk_session *self, const lk_object_name *names,
                     size_t count, const lk_lock_options *options,
                     lk_lock **lock_p)
{
    *lock_p = NULL;
    if (options == NULL) {
        options = &defaults;
    }
    const char *problem = lk_wish_check_set (names, count, options);
    if (problem != NULL) {
        return lk_session_fail (self, LK_INVALID, problem);
    }
    return ask (self, names, count, options, lock_p);
}

/*  Waits for the answer; the user is told by what is returned. */
static lk_err
await_grant (lk_session *self, lk_lock **lock_p)
{
    lk_lock *lock = *lock_p;
    while (lock->life == LK_LIFE_ASKED) {
        lk_session_wait (self, INT64_MAX);
    }
    if (!lk_book_holds (lock)) {
        lk_err error = lk_session_fail (self, lock->error, NULL);
        lk_book_drop_events (self->book, lock, LK_EVENT_GRANTED);
        lk_book_drop_events (self->book, lock, LK_EVENT_FAILED);
        lk_lock_forget (lock_p);
        return error;
    }
    lk_book_drop_events (self->book, lock, LK_EVENT_GRANTED);
    return LK_OK;
}

lk_err
lk_lock_acquire (lk_session *self, const char *object, size_t len,
                 const lk_lock_options *options, lk_lock **lock_p)
{
    lk_err error = lk_lock_request (self, object, len, options, lock_p);
    return error == LK_OK ? await_grant (self, lock_p) : error;
}

lk_err
lk_lock_acquire_all (lk_session *self, const lk_object_name *names,
                     size_t count, const lk_lock_options *options,
                     lk_lock **lock_p)
{
    lk_err error = lk_lock_request_all (self, names, count, options, lock_p);
    return error == LK_OK ? await_grant (self, lock_p) : error;
}

lk_err
lk_lock_wait (lk_session *self, const char *object, int64_t wait_ms,
              lk_lock **lock_p)
{
    const lk_lock_options options = {.wait_ms = wait_ms};
    return lk_lock_acquire (self, object, strlen (object), &options, lock_p);
}

/*  -------------------------------------------------------- changing */

/*  Whether it is held, after all that has arrived: LK_OK, or why it was lost;
 *  LK_INVALID and `problem` if it never was. */
static lk_err
check_held (const lk_lock *self, const char *problem)
{
    (void) lk_session_hear (self->session);
    const lk_err loss = lk_book_loss (self, lk_clock_ms ());
    if (loss != LK_OK) {
        return lk_session_lose (self->session, loss);
    }
    return lk_book_holds (self)
               ? LK_OK
               : lk_session_fail (self->session, LK_INVALID, problem);
}

static const char *
check_change (const lk_lock *self, lk_lock_type type, int64_t wait_ms)
{
    if (self->other_count > 0) {
        return "a set cannot change its type";
    }
    if (self->type == LK_SEMAPHORE
        || (type != LK_EXCLUSIVE && type != LK_SHARED)) {
        return "only between exclusive and shared can a type change";
    }
    return wait_ms < LK_FOREVER || wait_ms > LK_WISH_TIME_MAX
               ? "a wait is out of range"
               : NULL;
}

lk_err
lk_lock_change_start (lk_lock *self, lk_lock_type type, int64_t wait_ms)
{
    lk_err error =
        check_held (self, "a lock that is not held cannot change its type");
    if (error != LK_OK) {
        return error;
    }
    const char *problem = check_change (self, type, wait_ms);
    if (problem == NULL) {
        problem = lk_session_turn_objection (self->session, self);
    }
    if (problem != NULL) {
        return lk_session_fail (self->session, LK_INVALID, problem);
    }
    lk_book_change (self->book, self, type, wait_ms, lk_clock_ms ());
    lk_session_say (self->session);
    return LK_OK;
}

lk_err
lk_lock_change (lk_lock *self, lk_lock_type type, int64_t wait_ms)
{
    lk_err error = lk_lock_change_start (self, type, wait_ms);
    if (error != LK_OK) {
        return error;
    }
    while (self->life == LK_LIFE_CHANGING) {
        lk_session_wait (self->session, INT64_MAX);
    }
    lk_book_drop_events (self->book, self, LK_EVENT_CHANGED);
    lk_book_drop_events (self->book, self, LK_EVENT_UNCHANGED);
    return self->error == LK_OK
               ? LK_OK
               : lk_session_fail (self->session, self->error, NULL);
}

const char *
lk_lock_lease_page (const lk_lock *self, uint64_t *session)
{
    return lk_book_holds (self) && !self->is_static
               ? lk_lease_page_path (self->lease, session)
               : NULL;
}

/*  -------------------------------------------------------- giving back */

lk_err
lk_lock_release_start (lk_lock *self)
{
    (void) lk_session_hear (self->session);
    lk_book_release (self->book, self, lk_clock_ms ());
    lk_session_say (self->session);
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
        lk_session_say (session);
    }
}

lk_err
lk_lock_leave (lk_lock **self_p)
{
    static const char problem[] = "what can be left is a static or lingering "
                                  "lock that is held and was requested once";
    lk_lock *self = *self_p;
    lk_err error = check_held (self, problem);
    if (error != LK_OK) {
        return error;
    }
    if ((!self->is_static && self->wish.linger_ms == 0) || self->users > 1) {
        return lk_session_fail (self->session, LK_INVALID, problem);
    }
    lk_book_leave (self->book, self, lk_clock_ms ());
    *self_p = NULL;
    return LK_OK;
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

static lk_err
fail_ending (const lk_lock *self)
{
    const lk_err error = lk_book_ending (self);
    return error == LK_OK ? LK_OK : lk_session_lose (self->session, error);
}

lk_err
lk_lock_release (lk_lock **self_p)
{
    lk_lock *self = *self_p;
    *self_p = NULL;
    if (self == NULL) {
        return LK_OK;
    }
    lk_session *session = self->session;
    (void) lk_session_hear (session);
    if (lk_book_count_down (self, lk_clock_ms ())) {
        return fail_ending (self);
    }
    lk_book_release (self->book, self, lk_clock_ms ());
    const bool closed = await_closed (self, time_after (RELEASE_MS));
    const lk_err error = fail_ending (self);
    lk_lock_forget (&self);
    return closed || error != LK_OK
               ? error
               : lk_session_fail (session, LK_TIMEDOUT,
                                  "nobody confirmed the release in time");
}

/*  -------------------------------------------------------- locks of others */

/*  Its name, as it is said to the book. */
static lk_err
check_name (lk_session *self, const lk_lock_name *name)
{
    const size_t len = name->len > 0 || name->object == NULL
                           ? name->len
                           : strlen (name->object);
    const char *problem = lk_wish_check_name (name->object, len);
    if (problem == NULL) {
        problem = lk_wish_check_context (name->context);
    }
    return problem == NULL ? LK_OK
                           : lk_session_fail (self, LK_INVALID, problem);
}

static const lk_taking in_time = {0};

static void
say_stopping (const lk_lock *lock, const lk_taking *how)
{
    const lk_blocker *blocker = &lock->blocker;
    if (how->stopping != NULL) {
        how->stopping (how->user,
                       &(lk_stopping) {.host = blocker->host,
                                       .left_ms = blocker->left_ms,
                                       .silent_ms = blocker->silent_ms});
    }
}

/*  Waits for the answer to what was asked about the lock of others. The entry
 *  is the caller's to discard. */
static lk_err
await_answer (lk_session *self, lk_lock *lock, const lk_taking *how,
              int64_t wait_ms)
{
    const int64_t until_ms = time_after (wait_ms);
    unsigned said = 0;
    lock->session = self;
    while (lock->life != LK_LIFE_CLOSED && lk_clock_ms () < until_ms) {
        lk_session_wait (self, until_ms);
        if (lock->blocker.said != said) {
            said = lock->blocker.said;
            say_stopping (lock, how);
        }
    }
    lk_err error = lock->life == LK_LIFE_CLOSED ? lock->error : LK_TIMEDOUT;
    return error == LK_OK ? LK_OK : lk_session_fail (self, error, NULL);
}

lk_err
lk_session_unlock (lk_session *self, const lk_lock_name *name, uint64_t key,
                   const lk_taking *how, int64_t wait_ms)
{
    lk_err error = check_name (self, name);
    how = how != NULL ? how : &in_time;
    if (error == LK_OK) {
        lk_lock *lock = lk_book_unlock_by_key (self->book, name, key, how->now,
                                               lk_clock_ms ());
        error = await_answer (self, lock, how, wait_ms);
        lk_book_discard (self->book, lock);
    }
    return error;
}

lk_err
lk_session_force (lk_session *self, const lk_lock_name *name,
                  const lk_taking *how, int64_t wait_ms)
{
    lk_err error = check_name (self, name);
    how = how != NULL ? how : &in_time;
    if (error == LK_OK && !lk_wish_is_reason (how->reason)) {
        error = lk_session_fail (self, LK_INVALID,
                                 "a reason is up to 255 bytes of UTF-8 text");
    }
    if (error == LK_OK) {
        lk_lock *lock = lk_book_force (self->book, name, how, lk_clock_ms ());
        error = await_answer (self, lock, how, wait_ms);
        lk_book_discard (self->book, lock);
    }
    return error;
}

lk_err
lk_session_check (lk_session *self, const lk_lock_name *name, uint64_t token,
                  int64_t wait_ms, uint64_t *newest_p)
{
    lk_err error = check_name (self, name);
    if (error != LK_OK) {
        return error;
    }
    lk_lock *lock = lk_book_check (self->book, name, token, lk_clock_ms ());
    error = await_answer (self, lock, &in_time, wait_ms);
    if (error == LK_OK && newest_p != NULL) {
        *newest_p = lock->newest;
    }
    if (error == LK_OK && !lock->checked) {
        error = lk_session_fail (self, LK_DENIED,
                                 "nobody holds the lock with that token");
    }
    lk_book_discard (self->book, lock);
    return error;
}

/*  -------------------------------------------------------- questions */

/*  As of a time before the session looks at its own: what is over by then it
 *  has told to be lost, so that it cannot be held again later. */
bool
lk_lock_held (const lk_lock *self)
{
    const int64_t now_ms = lk_clock_ms ();
    return lk_session_hear (self->session) && lk_book_held (self, now_ms);
}

int64_t
lk_lock_until (const lk_lock *self)
{
    (void) lk_session_hear (self->session);
    return lk_book_until (self);
}

int64_t
lk_lock_spare (const lk_lock *self)
{
    return lk_book_spare (self);
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

lk_lock_type
lk_lock_get_type (const lk_lock *self)
{
    return self->type;
}

uint32_t
lk_lock_ordinal (const lk_lock *self)
{
    return self->ordinal;
}

bool
lk_lock_in_jeopardy (const lk_lock *self)
{
    return lk_book_holds (self) && self->danger.told;
}

const char *
lk_lock_reason (const lk_lock *self)
{
    return self->reason != NULL ? self->reason : "";
}

const char *
lk_lock_object (const lk_lock *self)
{
    return self->object;
}

size_t
lk_lock_count (const lk_lock *self)
{
    return self->other_count + 1;
}

const char *
lk_lock_object_at (const lk_lock *self, size_t at, size_t *len_p)
{
    const bool is_there = at <= self->other_count;
    const lk_further *other = at > 0 && is_there ? &self->others[at - 1] : NULL;
    if (len_p != NULL) {
        *len_p = other != NULL ? other->len : is_there ? self->len : 0;
    }
    return other != NULL ? other->object : is_there ? self->object : NULL;
}

uint64_t
lk_lock_token_at (const lk_lock *self, size_t at)
{
    if (at > self->other_count) {
        return 0;
    }
    return at > 0 ? self->others[at - 1].token : self->token;
}

uint64_t
lk_lock_key_at (const lk_lock *self, size_t at)
{
    if (at > self->other_count) {
        return 0;
    }
    return at > 0 ? self->others[at - 1].key : self->key;
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
