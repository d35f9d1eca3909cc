/*  book_life.c - what happens to a lock, and when
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Whatever happens to a lock is one of the columns below; the table says what
 *  is done then, in each state of its life.
 */

#include "client/book_private.h"

#include "client/letter.h"

#include <stdio.h>

#define WORD_MS 50 /* for the lock service to say why a lease ended */
#define REPEAT_STEP_MS 100
#define DEFAULT_SPARE_MS 500 /* where the length of a lease is not known */

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
    SHIFT, /* LOCK for another type */
    MADE,  /* of that type, CHANGED */
    STAY,  /* of the type that it had, UNCHANGED */
    UNDO,  /* UNCHANGED, and LOCK to be shared, unseen */
    REST,  /* held as before, unseen */
    WARN,  /* JEOPARDY */
    CALM,  /* SAFE */
    LEAVE, /* held on, without the user */
    GIVE,  /* UNLOCK, RELEASED follows */
    DROP,  /* UNLOCK unseen */
    DONE,  /* closed, RELEASED */
    GONE,  /* it was lost before; closed, RELEASED unless it is kept */
    CLOSE, /* closed, unseen */
    UNSEE  /* goes on without the user */
} action;

/* clang-format off */
static const action table[LK_LIFE_COUNT][LK_ON_COUNT] = {
    /*  on                grant  refuse unlock lost   expiry
                          change made   stays  late   danger safe
                          leave  free   forget */
    [LK_LIFE_ASKED]    = {GRANT, FAIL,  NONE,  FAIL,  QUIT,
                          NONE,  NONE,  NONE,  NONE,  NONE,  NONE,
                          NONE,  GIVE,  DROP},
    [LK_LIFE_HELD]     = {BACK,  NONE,  LOSE,  LOSE,  END,
                          SHIFT, NONE,  NONE,  NONE,  WARN,  CALM,
                          LEAVE, GIVE,  DROP},
    [LK_LIFE_CHANGING] = {BACK,  NONE,  LOSE,  LOSE,  END,
                          SHIFT, MADE,  STAY,  UNDO,  WARN,  CALM,
                          LEAVE, GIVE,  DROP},
    [LK_LIFE_UNDOING]  = {BACK,  NONE,  LOSE,  LOSE,  END,
                          SHIFT, REST,  REST,  NONE,  WARN,  CALM,
                          LEAVE, GIVE,  DROP},
    [LK_LIFE_ENDED]    = {BACK,  CLOSE, CLOSE, OVER,  NONE,
                          NONE,  NONE,  NONE,  NONE,  NONE,  NONE,
                          NONE,  GIVE,  DROP},
    [LK_LIFE_GIVING]   = {LEARN, DONE,  DONE,  GONE,  NONE,
                          NONE,  NONE,  NONE,  NONE,  NONE,  NONE,
                          NONE,  NONE,  UNSEE},
    [LK_LIFE_DROPPING] = {LEARN, CLOSE, CLOSE, OVER,  NONE,
                          NONE,  NONE,  NONE,  NONE,  NONE,  NONE,
                          NONE,  NONE,  UNSEE},
    [LK_LIFE_LEFT]     = {BACK,  NONE,  CLOSE, CLOSE, NONE,
                          NONE,  NONE,  NONE,  NONE,  NONE,  NONE,
                          NONE,  NONE,  NONE},
    [LK_LIFE_CLOSED]   = {BACK,  NONE,  NONE,  NONE,  NONE,
                          NONE,  NONE,  NONE,  NONE,  NONE,  NONE,
                          NONE,  DONE,  UNSEE},
};
/* clang-format on */

bool
lk_book_holds (const lk_lock *lock)
{
    return lock->life == LK_LIFE_HELD || lock->life == LK_LIFE_CHANGING
           || lock->life == LK_LIFE_UNDOING;
}

/*  -------------------------------------------------------- time */

static int64_t
later (int64_t time_ms, int64_t by_ms)
{
    return time_ms > INT64_MAX - by_ms ? INT64_MAX : time_ms + by_ms;
}

static int64_t
sooner (int64_t one_ms, int64_t other_ms)
{
    return one_ms < other_ms ? one_ms : other_ms;
}

/*  Repeats come together, so that many requests do not make many ticks. */
static int64_t
repeat_after (int64_t now_ms)
{
    int64_t when_ms = now_ms + LK_REPEAT_MS + REPEAT_STEP_MS - 1;
    return when_ms - when_ms % REPEAT_STEP_MS;
}

/*  When a duration ends the lock by our own clock. A lenient one is asked back
 *  by its home. */
static int64_t
ends_at (const lk_lock *lock)
{
    return lock->wish.mode.lenient ? INT64_MAX : lock->until_ms;
}

/*  Of a lease that is not renewed others wait for the end, by clocks that are
 *  a fifth faster: so by then all is stopped. Five parts in 32, of which the
 *  last one is for late timers. */
int64_t
lk_book_spare (const lk_lock *lock)
{
    return lock->lease_ms > 0 ? lock->lease_ms * 5 / 32 : DEFAULT_SPARE_MS;
}

/*  When the lease ends it, for who holds it. */
static int64_t
lease_ends_at (const lk_lock *lock)
{
    const int64_t until_ms = lk_lease_until (lock->lease);
    return lock->wish.guarded && until_ms != 0 ? until_ms - lk_book_spare (lock)
                                               : until_ms;
}

/*  When a lock ends, or a request is given up, by our own clock. */
static int64_t
expires_at (const lk_lock *lock)
{
    if (lock->life == LK_LIFE_ASKED && lock->wish.wait_ms >= 0) {
        return later (later (lock->asked_at, lock->wish.wait_ms), LK_MARGIN_MS);
    }
    if (lk_book_holds (lock)) {
        return lock->is_static ? ends_at (lock)
                               : sooner (ends_at (lock), lease_ends_at (lock));
    }
    return INT64_MAX;
}

/*  When we give up to wait for another type. A downgrade does not wait. */
static int64_t
overdue_at (const lk_lock *lock)
{
    const lk_type_change *change = &lock->change;
    if (lock->life != LK_LIFE_CHANGING || change->type != LK_EXCLUSIVE
        || change->wait_ms < 0) {
        return INT64_MAX;
    }
    return later (later (change->asked_at, change->wait_ms), LK_MARGIN_MS);
}

static int64_t
look_at (const lk_lock *lock)
{
    return lk_book_holds (lock) ? lock->danger.look_at : INT64_MAX;
}

/*  When that is told. The lock service, which knows why a lease ended, has the
 *  first word as long as there is one; but not of a guarded lock, which ends
 *  before. */
static int64_t
told_at (const lk_lock *lock)
{
    int64_t expires = expires_at (lock);
    bool by_lease = lk_book_holds (lock) && expires < ends_at (lock);
    const bool has_word = !lock->wish.guarded && !lock->book->deserted
                          && !lock->danger.orphan && !lock->book->is_carried;
    return by_lease && has_word ? later (expires, WORD_MS) : expires;
}

void
lk_book_reconsider (lk_lock *lock)
{
    lk_heap *heap = &lock->book->due;
    int64_t due = sooner (told_at (lock), overdue_at (lock));
    due = sooner (due, sooner (look_at (lock), lock->repeat_at));
    if (due != INT64_MAX) {
        lk_heap_put (heap, lock, due);
    } else {
        lk_heap_take (heap, lock);
    }
}

int64_t
lk_book_deadline (const lk_book *self)
{
    return lk_heap_next_ms (&self->due);
}

int64_t
lk_book_until (const lk_lock *lock)
{
    return lk_book_holds (lock) ? expires_at (lock) : 0;
}

bool
lk_book_held (const lk_lock *lock, int64_t now_ms)
{
    return now_ms < lk_book_until (lock);
}

/*  Or it will be by the end of the lease, for which a guarded lock is lost a
 *  spare ahead. */
static bool
credential_is_over (const lk_lock *lock, int64_t now_ms)
{
    const int64_t ends_ms = lock->book->credential_ends_ms;
    return ends_ms != INT64_MAX
           && (now_ms >= ends_ms || lk_lease_until (lock->lease) >= ends_ms);
}

lk_err
lk_book_expiry (const lk_lock *lock, int64_t now_ms)
{
    if (!lk_book_holds (lock) || now_ms >= ends_at (lock)) {
        return LK_TIMEDOUT;
    }
    if (credential_is_over (lock, now_ms)) {
        return LK_CREDENTIAL;
    }
    if (lock->book->deserted || lock->danger.orphan) {
        return LK_DISCONNECTED;
    }
    return lock->danger.why == LK_QUORUM ? LK_QUORUM : LK_ISOLATED;
}

lk_err
lk_book_loss (const lk_lock *lock, int64_t now_ms)
{
    return lk_book_holds (lock) && !lk_book_held (lock, now_ms)
               ? lk_book_expiry (lock, now_ms)
               : lock->loss;
}

/*  -------------------------------------------------------- danger */

static void
weigh_danger (lk_lock *lock, int64_t now_ms)
{
    const bool danger = lock->danger.said || lock->danger.seen
                        || lock->danger.orphan
                        || (lock->book->credential_ends && !lock->is_static);
    if (danger != lock->danger.told) {
        lk_book_occur (lock, danger ? LK_ON_DANGER : LK_ON_SAFE, LK_OK, now_ms);
    }
}

/*  There is danger when less than half of the lease is left: the host renews
 *  it much sooner. */
static void
look_at_lease (lk_lock *lock, int64_t now_ms)
{
    if (lock->is_static || lock->lease_ms <= 0) {
        lock->danger.look_at = INT64_MAX;
        return;
    }
    const int64_t half_at = lk_lease_until (lock->lease) - lock->lease_ms / 2;
    lock->danger.seen = now_ms > half_at;
    lock->danger.look_at =
        lock->danger.seen ? now_ms + lock->lease_ms / 16 + 1 : half_at + 1;
    weigh_danger (lock, now_ms);
}

void
lk_book_set_danger (lk_lock *lock, bool danger, lk_err why, int64_t now_ms)
{
    lock->danger.said = danger;
    lock->danger.why = why;
    weigh_danger (lock, now_ms);
}

void
lk_book_weigh_credential (lk_lock *lock, int64_t now_ms)
{
    if (lk_book_holds (lock)) {
        weigh_danger (lock, now_ms);
    }
}

/*  A static lock has no lease; what is not held is asked for once more. */
void
lk_book_orphan_lock (lk_lock *lock, int64_t now_ms)
{
    if (lk_book_holds (lock) && !lock->is_static) {
        lock->danger.orphan = true;
        weigh_danger (lock, now_ms);
        lk_book_reconsider (lock);
    }
}

bool
lk_book_may_resume (const lk_lock *lock)
{
    return lk_book_holds (lock) && lock->danger.orphan && !lock->is_static;
}

/*  -------------------------------------------------------- actions */

/*  Each of the requests that gave this lock. */
static void
tell_all (lk_lock *lock, lk_event_kind kind, lk_err error)
{
    for (unsigned i = 0; i < lock->users; i++) {
        lk_book_tell (lock, kind, error);
    }
}

static lk_message *
open_letter (const lk_lock *lock, int64_t now_ms)
{
    if (lock->life == LK_LIFE_ASKED) {
        return lk_letter_lock (lock, now_ms);
    }
    if (!lk_book_holds (lock)) {
        return lk_letter_end (lock);
    }
    return lock->resuming ? lk_letter_resume (lock, now_ms)
                          : lk_letter_change (lock, now_ms);
}

void
lk_book_send_open (lk_lock *lock, int64_t now_ms)
{
    lk_book *self = lock->book;
    if (!self->is_carried || lock->deed != LK_DEED_LOCK) {
        lk_message_queue_add (&self->messages, open_letter (lock, now_ms));
    } else if (self->open != NULL) {
        self->open (self->carrier, lock, now_ms);
    }
    lock->repeat_at = repeat_after (now_ms);
    lk_book_reconsider (lock);
}

static void
open_lock (lk_lock *lock, lk_life life, int64_t now_ms)
{
    lock->life = life;
    lock->resuming = lock->resuming && lk_book_holds (lock);
    lk_book_send_open (lock, now_ms);
}

static void
settle (lk_lock *lock, lk_life life)
{
    lock->life = life;
    lock->resuming = lock->resuming && lk_book_holds (lock);
    if (!lock->resuming) {
        lock->repeat_at = INT64_MAX;
    }
}

/*  What was asked for meanwhile is asked of this one. */
void
lk_book_resumed (lk_lock *lock, int64_t now_ms)
{
    lock->resuming = false;
    lock->danger.orphan = false;
    if (lock->life == LK_LIFE_HELD) {
        settle (lock, LK_LIFE_HELD);
    } else {
        lk_book_send_open (lock, now_ms);
    }
    look_at_lease (lock, now_ms);
    weigh_danger (lock, now_ms);
    lk_book_reconsider (lock);
}

void
lk_book_set_remark (lk_book *self, const char *text)
{
    snprintf (self->remark, sizeof self->remark, "%s", text);
}

static void
hold (lk_lock *lock, int64_t now_ms)
{
    settle (lock, LK_LIFE_HELD);
    lock->granted = true;
    lock->danger = (lk_danger) {0};
    tell_all (lock, LK_EVENT_GRANTED, LK_OK);
    look_at_lease (lock, now_ms);
    lk_book_reconsider (lock);
}

static void
quit (lk_lock *lock, lk_err error, int64_t now_ms)
{
    lock->error = error;
    if (lock->book->remark[0] == '\0') {
        lk_book_set_remark (lock->book, "the lock service does not answer");
    }
    tell_all (lock, LK_EVENT_FAILED, error);
    open_lock (lock, LK_LIFE_DROPPING, now_ms);
}

/*  Whether the service keeps what it ended, until it is given back: for its
 *  grace, while it stops, or while we do. */
static bool
is_kept (lk_err error)
{
    return error == LK_TIMEDOUT || error == LK_SHUTDOWN || error == LK_FORCED
           || error == LK_RELEASED;
}

static void
lose (lk_lock *lock, lk_life life, lk_err error)
{
    settle (lock, life);
    lock->error = lock->loss = error;
    lock->late |= error == LK_TIMEDOUT;
    lk_book_tell (lock, LK_EVENT_LOST, error);
}

/*  A session whose lease ran out is over for the service, too, as soon as it
 *  looks at the clock; but if we could not read the page, ours may be wrong,
 *  another service may just go on with it; a guarded lock is over before. What
 *  is carried is given back. */
static bool
is_over (const lk_lock *lock, lk_err error)
{
    if (lock->wish.guarded || lock->book->is_carried
        || (lock->resuming && !lock->book->deserted)) {
        return false;
    }
    return (error == LK_ISOLATED || error == LK_QUORUM
            || error == LK_DISCONNECTED)
           && lk_lease_lives (lock->lease);
}

/*  -------------------------------------------------------- other types */

/*  It counts as shared from here on. */
static void
shift (lk_lock *lock, lk_life life, int64_t now_ms)
{
    lock->turn++;
    lock->change.from = lock->type;
    if (lock->change.type == LK_SHARED) {
        lock->type = LK_SHARED;
    }
    open_lock (lock, life, now_ms);
}

static void
tell_change (lk_lock *lock, lk_event_kind kind, lk_err error)
{
    lock->error = error;
    lk_book_tell (lock, kind, error);
}

/*  LK_OK: it is of the type that was wanted. */
static void
end_change (lk_lock *lock, lk_err error)
{
    settle (lock, LK_LIFE_HELD);
    if (error == LK_OK) {
        lock->type = lock->change.type;
        tell_change (lock, LK_EVENT_CHANGED, LK_OK);
    } else {
        lock->type = lock->change.from;
        tell_change (lock, LK_EVENT_UNCHANGED, error);
    }
}

static void
undo (lk_lock *lock, lk_err error, int64_t now_ms)
{
    tell_change (lock, LK_EVENT_UNCHANGED, error);
    lock->change = (lk_type_change) {.type = LK_SHARED};
    shift (lock, LK_LIFE_UNDOING, now_ms);
}

/*  -------------------------------------------------------- as it says */

/*  The lock service may tell of the credential ahead of the book. */
static lk_err
why_danger (const lk_lock *lock)
{
    return lock->book->credential_ends
                   || (lock->danger.said && lock->danger.why == LK_CREDENTIAL)
               ? LK_CREDENTIAL
               : LK_OK;
}

static void
tell_danger (lk_lock *lock, bool danger)
{
    lock->danger.told = danger;
    lk_book_tell (lock, danger ? LK_EVENT_JEOPARDY : LK_EVENT_SAFE,
                  danger ? why_danger (lock) : LK_OK);
}

static void
finish (lk_lock *lock)
{
    settle (lock, LK_LIFE_CLOSED);
    if (!lock->released) {
        lock->released = true;
        lk_book_tell (lock, LK_EVENT_RELEASED, lk_book_ending (lock));
    }
}

/*  The service said so when it had not heard yet that it is given back. */
static void
finish_lost (lk_lock *lock, lk_err error)
{
    lock->error = error;
    if (lock->granted && lock->loss == LK_OK) {
        lock->loss = error;
        lock->late |= error == LK_TIMEDOUT;
    }
    if (!is_kept (error)) {
        finish (lock);
    }
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
        hold (lock, now_ms);
        break;
    case FAIL:
        settle (lock, LK_LIFE_CLOSED);
        lock->error = error;
        tell_all (lock, LK_EVENT_FAILED, error);
        break;
    case QUIT:
        quit (lock, error, now_ms);
        break;
    case LOSE:
        lose (lock, is_kept (error) ? LK_LIFE_ENDED : LK_LIFE_CLOSED, error);
        break;
    case END:
        lose (lock, is_over (lock, error) ? LK_LIFE_CLOSED : LK_LIFE_ENDED,
              error);
        break;
    case OVER:
        if (!is_kept (error)) {
            settle (lock, LK_LIFE_CLOSED);
        }
        break;
    case SHIFT:
        shift (lock, LK_LIFE_CHANGING, now_ms);
        break;
    case MADE:
    case STAY:
        end_change (lock, what == MADE ? LK_OK : error);
        break;
    case UNDO:
        undo (lock, error, now_ms);
        break;
    case REST:
        settle (lock, LK_LIFE_HELD);
        break;
    case WARN:
    case CALM:
        tell_danger (lock, what == WARN);
        break;
    case LEAVE:
        settle (lock, LK_LIFE_LEFT);
        break;
    case GIVE:
        open_lock (lock, LK_LIFE_GIVING, now_ms);
        break;
    case DROP:
        open_lock (lock, LK_LIFE_DROPPING, now_ms);
        break;
    case DONE:
        finish (lock);
        break;
    case GONE:
        finish_lost (lock, error);
        break;
    case CLOSE:
        settle (lock, LK_LIFE_CLOSED);
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
    lk_book_sweep (lock);
}

void
lk_book_sweep (lk_lock *lock)
{
    if (lock->life == LK_LIFE_CLOSED && lock->users == 0
        && lock->carried == 0) {
        lk_book_destroy_lock (lock);
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

/*  -------------------------------------------------------- time passes */

static void
tick_lock (lk_lock *lock, int64_t now_ms)
{
    if (now_ms >= told_at (lock)) {
        lk_book_occur (lock, LK_ON_EXPIRED, lk_book_expiry (lock, now_ms),
                       now_ms);
        return;
    }
    if (now_ms >= look_at (lock)) {
        look_at_lease (lock, now_ms);
    }
    if (now_ms >= overdue_at (lock)) {
        lk_book_occur (lock, LK_ON_OVERDUE, LK_TIMEDOUT, now_ms);
    } else if (now_ms >= lock->repeat_at) {
        lk_book_send_open (lock, now_ms);
    }
    lk_book_reconsider (lock);
}

void
lk_book_tick (lk_book *self, int64_t now_ms)
{
    lk_lock *lock;
    while ((lock = lk_heap_due (&self->due, now_ms)) != NULL) {
        lk_heap_take (&self->due, lock);
        tick_lock (lock, now_ms);
    }
}
