/*  book.c - what a session has asked for and holds
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What happens to a lock is one of the columns below; the table says what
 *  is done then, in each state of its life.
 */

#include "client/book_private.h"

#include "client/letter.h"

#include <stdio.h>

#define REPEAT_STEP_MS 100

/*  -------------------------------------------------------- the table */

typedef enum {
    NONE,
    GRANT, /* held, GRANTED */
    BACK,  /* another grant of what we have: give that one back */
    LEARN, /* the key, for the UNLOCK that is open */
    FAIL,  /* closed, FAILED */
    QUIT,  /* FAILED, and UNLOCK unseen */
    LOSE,  /* LOST; closed unless the service keeps it for a grace */
    END,   /* LOST; the service may keep it unless its lease is over */
    OVER,  /* closed unless the service keeps it for a grace */
    GIVE,  /* UNLOCK, RELEASED follows */
    DROP,  /* UNLOCK unseen */
    DONE,  /* closed, RELEASED */
    CLOSE, /* closed, unseen */
    UNSEE  /* goes on without the user */
} action;

/* clang-format off */
static const action table[LK_LIFE_COUNT][LK_ON_COUNT] = {
    /*  on                grant  refuse unlock lost   expiry free   forget */
    [LK_LIFE_ASKED]    = {GRANT, FAIL,  NONE,  FAIL,  QUIT,  GIVE,  DROP},
    [LK_LIFE_HELD]     = {BACK,  NONE,  LOSE,  LOSE,  END,   GIVE,  DROP},
    [LK_LIFE_ENDED]    = {BACK,  CLOSE, CLOSE, OVER,  NONE,  GIVE,  DROP},
    [LK_LIFE_GIVING]   = {LEARN, DONE,  DONE,  DONE,  NONE,  NONE,  UNSEE},
    [LK_LIFE_DROPPING] = {LEARN, CLOSE, CLOSE, CLOSE, NONE,  NONE,  UNSEE},
    [LK_LIFE_CLOSED]   = {BACK,  NONE,  NONE,  NONE,  NONE,  DONE,  UNSEE},
};
/* clang-format on */

/*  -------------------------------------------------------- queues */

lk_message *
lk_book_next_message (lk_book *self)
{
    return lk_message_queue_take (&self->messages);
}

static void
tell (lk_lock *lock, lk_event_kind kind, lk_err error)
{
    lk_lock_event event = {kind, lock, error};
    if (lock->user_has_it) {
        lk_event_queue_add (&lock->book->events, &event);
        lock->events++;
    }
}

bool
lk_book_next_event (lk_book *self, lk_lock_event *event)
{
    if (!lk_event_queue_take (&self->events, event)) {
        return false;
    }
    event->lock->events--;
    return true;
}

bool
lk_book_has_event (const lk_book *self)
{
    return self->events.first != NULL;
}

void
lk_book_drop_events (lk_book *self, lk_lock *lock)
{
    if (lock->events > 0) {
        lk_event_queue_drop (&self->events, lock);
        lock->events = 0;
    }
}

/*  -------------------------------------------------------- time */

static int64_t
later (int64_t time_ms, int64_t by_ms)
{
    return time_ms > INT64_MAX - by_ms ? INT64_MAX : time_ms + by_ms;
}

/*  Repeats come together, so that many requests do not make many ticks. */
static int64_t
repeat_after (int64_t now_ms)
{
    int64_t when_ms = now_ms + LK_REPEAT_MS + REPEAT_STEP_MS - 1;
    return when_ms - when_ms % REPEAT_STEP_MS;
}

/*  When a lock ends, or a request is given up, by our own clock. */
static int64_t
expires_at (const lk_lock *lock)
{
    if (lock->life == LK_LIFE_ASKED && lock->wait_ms >= 0) {
        return later (later (lock->asked_at, lock->wait_ms), LK_MARGIN_MS);
    }
    if (lock->life == LK_LIFE_HELD) {
        int64_t lease_until = lk_lease_until (lock->lease);
        return lease_until < lock->until_ms ? lease_until : lock->until_ms;
    }
    return INT64_MAX;
}

static void
schedule (lk_book *self, const lk_lock *lock)
{
    int64_t expires = expires_at (lock);
    int64_t due = expires < lock->repeat_at ? expires : lock->repeat_at;
    if (due < self->tick_at) {
        self->tick_at = due;
    }
}

int64_t
lk_book_deadline (const lk_book *self)
{
    return self->tick_at;
}

bool
lk_book_held (const lk_lock *lock, int64_t now_ms)
{
    return lock->life == LK_LIFE_HELD && now_ms < expires_at (lock);
}

/*  -------------------------------------------------------- actions */

void
lk_book_send_open (lk_lock *lock, int64_t now_ms)
{
    lk_book *self = lock->book;
    if (lock->life == LK_LIFE_ASKED) {
        lk_message_queue_add (&self->messages, lk_letter_lock (lock, now_ms));
    } else {
        lk_message_queue_add (&self->messages, lk_letter_unlock (lock));
    }
    lock->repeat_at = repeat_after (now_ms);
    schedule (self, lock);
}

static void
destroy_lock (lk_lock *lock)
{
    lk_book *self = lock->book;
    lk_book_drop_events (self, lock);
    HASH_DEL (self->locks, lock);
    lk_lease_drop (&lock->lease);
    lk_free (lock->object);
    lk_free (lock);
}

static void
start_unlock (lk_lock *lock, lk_life life, int64_t now_ms)
{
    lock->life = life;
    lk_book_send_open (lock, now_ms);
}

static void
close_lock (lk_lock *lock)
{
    lock->life = LK_LIFE_CLOSED;
    lock->repeat_at = INT64_MAX;
}

void
lk_book_set_remark (lk_book *self, const char *text)
{
    snprintf (self->remark, sizeof self->remark, "%s", text);
}

static void
lose (lk_lock *lock, lk_life life, lk_err error)
{
    lock->life = life;
    lock->repeat_at = INT64_MAX;
    lock->error = error;
    tell (lock, LK_EVENT_LOST, error);
}

/*  A session whose lease ran out is over for the service, too, as soon as it
 *  looks at the clock; but if we could not read the page, ours may be wrong. */
static bool
is_over (const lk_lock *lock, lk_err error)
{
    return error == LK_ISOLATED && lk_lease_lives (lock->lease);
}

static void
act (lk_lock *lock, action what, lk_err error, int64_t now_ms)
{
    switch (what) {
    case NONE:
    case BACK: /* need the message itself: take_grant */
    case LEARN:
        break;
    case GRANT:
        lock->life = LK_LIFE_HELD;
        lock->repeat_at = INT64_MAX;
        schedule (lock->book, lock);
        tell (lock, LK_EVENT_GRANTED, LK_OK);
        break;
    case FAIL:
        close_lock (lock);
        lock->error = error;
        tell (lock, LK_EVENT_FAILED, error);
        break;
    case QUIT:
        lock->error = error;
        if (lock->book->remark[0] == '\0') {
            lk_book_set_remark (lock->book, "the lock service does not answer");
        }
        tell (lock, LK_EVENT_FAILED, error);
        start_unlock (lock, LK_LIFE_DROPPING, now_ms);
        break;
    case LOSE:
        lose (lock, error == LK_TIMEDOUT ? LK_LIFE_ENDED : LK_LIFE_CLOSED,
              error);
        break;
    case END:
        lose (lock, is_over (lock, error) ? LK_LIFE_CLOSED : LK_LIFE_ENDED,
              error);
        break;
    case OVER:
        if (error != LK_TIMEDOUT) {
            close_lock (lock);
        }
        break;
    case GIVE:
        start_unlock (lock, LK_LIFE_GIVING, now_ms);
        break;
    case DROP:
        start_unlock (lock, LK_LIFE_DROPPING, now_ms);
        break;
    case DONE:
        close_lock (lock);
        if (!lock->released) {
            lock->released = true;
            tell (lock, LK_EVENT_RELEASED, LK_OK);
        }
        break;
    case CLOSE:
        close_lock (lock);
        break;
    case UNSEE:
        if (lock->life == LK_LIFE_GIVING) {
            lock->life = LK_LIFE_DROPPING;
        }
        break;
    }
}

void
lk_book_occur (lk_lock *lock, lk_occurrence what, lk_err error, int64_t now_ms)
{
    LK_ASSERT (lock->life < LK_LIFE_COUNT && what < LK_ON_COUNT);
    act (lock, table[lock->life][what], error, now_ms);
    if (lock->life == LK_LIFE_CLOSED && !lock->user_has_it) {
        destroy_lock (lock);
    }
}

lk_grant_use
lk_book_grant_use (const lk_lock *lock)
{
    switch (table[lock->life][LK_ON_GRANTED]) {
    case GRANT:
        return LK_GRANT_WANTED;
    case LEARN:
        return LK_GRANT_KEY;
    default:
        return LK_GRANT_SECOND;
    }
}

/*  -------------------------------------------------------- wishes */

lk_book *
lk_book_new (uint64_t serial)
{
    LK_ASSERT (serial % 2 == 0);
    lk_book *self = lk_alloc (sizeof *self);
    self->serial = serial;
    self->tick_at = INT64_MAX;
    return self;
}

void
lk_book_destroy (lk_book **self_p)
{
    lk_book *self = *self_p;
    if (self == NULL) {
        return;
    }
    lk_lock *lock, *next;
    HASH_ITER (hh, self->locks, lock, next) {
        destroy_lock (lock);
    }
    lk_message *message;
    while ((message = lk_book_next_message (self)) != NULL) {
        lk_message_destroy (&message);
    }
    lk_lease_drop (&self->lease);
    lk_free (self);
    *self_p = NULL;
}

static lk_lock *
add_lock (lk_book *self, const char *object, int64_t now_ms)
{
    lk_lock *lock = lk_alloc (sizeof *lock);
    lock->book = self;
    self->serial += 2;
    lock->serial = self->serial;
    lock->user_has_it = true;
    lock->object = lk_strdup (object);
    lock->asked_at = now_ms;
    lock->until_ms = INT64_MAX;
    HASH_ADD (hh, self->locks, serial, sizeof lock->serial, lock);
    return lock;
}

lk_lock *
lk_book_lock (lk_book *self, const char *object, const lk_lock_options *options,
              int64_t now_ms)
{
    lk_lock *lock = add_lock (self, object, now_ms);
    lock->life = LK_LIFE_ASKED;
    lock->wait_ms = options->wait_ms < 0 ? LK_FOREVER : options->wait_ms;
    lock->duration_ms = options->duration_ms;
    lk_book_send_open (lock, now_ms);
    return lock;
}

lk_lock *
lk_book_unlock_by_key (lk_book *self, const char *object, uint64_t key,
                       int64_t now_ms)
{
    lk_lock *lock = add_lock (self, object, now_ms);
    lock->by_key = true;
    lock->key = key;
    start_unlock (lock, LK_LIFE_GIVING, now_ms);
    return lock;
}

void
lk_book_release (lk_book *self, lk_lock *lock, int64_t now_ms)
{
    LK_ASSERT (lock->book == self);
    lk_book_occur (lock, LK_ON_RELEASE, LK_OK, now_ms);
}

void
lk_book_forget (lk_book *self, lk_lock *lock, int64_t now_ms)
{
    LK_ASSERT (lock->book == self);
    lk_book_drop_events (self, lock);
    lock->user_has_it = false;
    lock->user = NULL;
    lk_book_occur (lock, LK_ON_FORGET, LK_OK, now_ms);
}

void
lk_book_discard (lk_book *self, lk_lock *lock)
{
    LK_ASSERT (lock->book == self);
    destroy_lock (lock);
}

/*  -------------------------------------------------------- time passes */

static lk_err
expiry_reason (const lk_lock *lock, int64_t now_ms)
{
    if (lock->life == LK_LIFE_HELD && now_ms < lock->until_ms) {
        return LK_ISOLATED;
    }
    return LK_TIMEDOUT;
}

void
lk_book_tick (lk_book *self, int64_t now_ms)
{
    if (now_ms < self->tick_at) {
        return;
    }
    self->tick_at = INT64_MAX;
    lk_lock *lock, *next;
    HASH_ITER (hh, self->locks, lock, next) {
        if (now_ms >= expires_at (lock)) {
            lk_book_occur (lock, LK_ON_EXPIRED, expiry_reason (lock, now_ms),
                           now_ms);
        } else if (now_ms >= lock->repeat_at) {
            lk_book_send_open (lock, now_ms);
        } else {
            schedule (self, lock);
        }
    }
}

void
lk_book_repeat (lk_book *self, int64_t now_ms)
{
    lk_lock *lock, *next;
    HASH_ITER (hh, self->locks, lock, next) {
        if (lock->repeat_at != INT64_MAX) {
            lk_book_send_open (lock, now_ms);
        }
    }
}

void
lk_book_give_up (lk_book *self, int64_t now_ms)
{
    lk_lock *lock, *next;
    HASH_ITER (hh, self->locks, lock, next) {
        if (lock->repeat_at != INT64_MAX) {
            lock->error = LK_REFUSED;
            lk_book_occur (lock, LK_ON_REFUSED, LK_REFUSED, now_ms);
        }
    }
}

/*  -------------------------------------------------------- questions */

size_t
lk_book_open_count (const lk_book *self)
{
    size_t count = 0;
    const lk_lock *lock = NULL;
    while ((lock = lk_book_next_lock (self, lock)) != NULL) {
        count += lock->life != LK_LIFE_CLOSED;
    }
    return count;
}

lk_lock *
lk_book_next_lock (const lk_book *self, const lk_lock *lock)
{
    return lock == NULL ? self->locks : lock->hh.next;
}

const char *
lk_book_remark (const lk_book *self)
{
    return self->remark;
}
