/*  book_answers.c - messages of the lock service, and what they mean for a lock
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/book_private.h"

#include "client/letter.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- LOCKED */

static void
store_lease (lk_lock *lock, const lk_grant *grant)
{
    lk_book *self = lock->book;
    if (grant->is_far) {
        return; /* which was lent already */
    }
    lock->lease_ms = grant->lease_ms;
    lk_lease_drop (&lock->lease);
    lock->lease = lk_lease_take (self->lease, grant->lease_page, grant->session,
                                 grant->lease_until_ms);
    lk_lease_drop (&self->lease);
    self->lease = lk_lease_take (lock->lease, grant->lease_page, grant->session,
                                 grant->lease_until_ms);
}

static void
store_grant (lk_lock *lock, const lk_grant *grant)
{
    lock->token = grant->token;
    lock->key = grant->key;
    if (grant->type != LK_LOCK_TYPE_COUNT) {
        lock->type = grant->type;
    }
    lock->ordinal = grant->ordinal;
    lock->turn = grant->turn;
    lock->is_static = grant->is_static;
    lock->until_ms = grant->until_ms;
    store_lease (lock, grant);
}

/*  Who cannot see the lease could not tell when it ends, and would lose the
 *  lock after one lease, by surprise: rather none at all, and why. */
static bool
is_unseen (const lk_lock *lock)
{
    LK_ASSERT (lock->lease != NULL);
    const char *problem = lk_lease_problem (lock->lease);
    if (problem == NULL || lock->is_static) {
        return false;
    }
    char text[512];
    snprintf (text, sizeof text,
              "%s; this is the lease page of the lock service (its option "
              "--run), which all who use locks have to read",
              problem);
    lk_book_set_remark (lock->book, text);
    return true;
}

static void
give_back (lk_book *self, const lk_message *grant)
{
    lk_message_queue_add (&self->messages, lk_letter_give_back (grant));
}

/*  Whether it is the answer to the change of type that is open. */
static bool
is_of_change (const lk_lock *lock, uint32_t turn)
{
    return turn > 0 && turn == lock->turn && lk_book_holds (lock);
}

static void
take_change (lk_lock *lock, const lk_grant *grant, int64_t now_ms)
{
    if (grant->type == lock->change.type || grant->type == LK_LOCK_TYPE_COUNT) {
        lock->token = grant->token;
        lock->ordinal = grant->ordinal;
        lk_book_occur (lock, LK_ON_CHANGED, LK_OK, now_ms);
    }
}

/*  It goes on. Its time is not longer for that, and what it is of a type that
 *  is open is not known yet. */
static void
take_resumed (lk_lock *lock, const lk_grant *grant, int64_t now_ms)
{
    if (!lk_book_held (lock, now_ms)) {
        return; /* it was over already, which the next tick says */
    }
    lock->token = grant->token;
    lock->ordinal = grant->ordinal;
    if (grant->until_ms < lock->until_ms) {
        lock->until_ms = grant->until_ms;
    }
    store_lease (lock, grant);
    if (is_unseen (lock)) {
        lk_book_occur (lock, LK_ON_EXPIRED, LK_SYSTEM, now_ms);
    } else {
        lk_book_resumed (lock, now_ms);
    }
}

/*  A set is granted by a row for each of its names, any other lock by what
 *  the message itself says. */
static bool
read_grant (const lk_message *message, lk_lock *lock, lk_grant *grant)
{
    return lk_letter_read_grant (message, grant)
           && grant->is_set == (lock->other_count > 0)
           && (!grant->is_set || lk_letter_read_first (message, lock, grant));
}

/*  A request that a restarted service knows anew may be granted twice, each
 *  time with its own key; what we do not hold goes back. */
static void
take_grant (lk_lock *lock, const lk_message *message, int64_t now_ms)
{
    lk_grant_use use = lk_book_grant_use (lock);
    lk_grant grant;
    if (!read_grant (message, lock, &grant)) {
        return;
    }
    if (use == LK_GRANT_SECOND && grant.key != lock->key) {
        give_back (lock->book, message);
    } else if (use == LK_GRANT_SECOND && lock->resuming) {
        take_resumed (lock, &grant, now_ms);
    } else if (use == LK_GRANT_SECOND && is_of_change (lock, grant.turn)) {
        take_change (lock, &grant, now_ms);
    } else if (use == LK_GRANT_WANTED
               && lk_letter_read_others (message, lock)) {
        lk_book_set_remark (lock->book, "");
        store_grant (lock, &grant);
        if (is_unseen (lock)) {
            lk_book_occur (lock, LK_ON_EXPIRED, LK_SYSTEM, now_ms);
        } else {
            lk_book_occur (lock, LK_ON_GRANTED, LK_OK, now_ms);
        }
    } else if (use == LK_GRANT_KEY && lock->deed == LK_DEED_LOCK
               && lock->token == 0) {
        store_grant (lock, &grant);
        lk_book_send_open (lock, now_ms);
    }
}

/*  -------------------------------------------------------- LOCKFAILED */

/*  An UNLOCK is over when the service says that there is nothing to unlock, or
 *  that the session ended ahead of it; any other failure is a reason to ask
 *  again. One that was repeated while its answer was under way finds nothing
 *  more. */
static void
fail_unlock (lk_lock *lock, lk_err error, int64_t now_ms)
{
    if (lock->life == LK_LIFE_CLOSED) {
        return;
    }
    if (lock->granted && (error == LK_ISOLATED || error == LK_QUORUM)) {
        lk_book_occur (lock, LK_ON_LOST, error, now_ms);
    } else if (error == LK_DENIED || error == LK_INVALID
               || error == LK_UNKNOWN) {
        lock->error = error;
        lk_book_occur (lock, LK_ON_UNLOCKED, error, now_ms);
    }
}

/*  The lock service cannot go on with it; unless it is only too busy. */
static void
fail_resume (lk_lock *lock, lk_err error, int64_t now_ms)
{
    if (error != LK_OVERLOADED) {
        lk_book_occur (lock, LK_ON_LOST, error == LK_UNKNOWN ? LK_LOST : error,
                       now_ms);
    }
}

/*  A lock that a try finds full is waited for then, if the try came ahead of a
 *  short wait; but LOCK that was repeated when its wait was over is a try,
 *  too. */
static void
refuse (lk_lock *lock, lk_err error, int64_t now_ms)
{
    const int64_t wait_ms = lock->wish.wait_ms;
    if (error == LK_FULL && wait_ms > 0) {
        lk_book_set_remark (lock->book, "");
        error = LK_TIMEDOUT;
        if (lock->life == LK_LIFE_ASKED && lock->tries
            && now_ms < lock->asked_at + wait_ms) {
            lk_book_wait_on (lock, now_ms);
            return;
        }
    }
    lk_book_occur (lock, LK_ON_REFUSED, error, now_ms);
}

/*  The same of another type, which is waited for with the next turn. */
void
lk_book_refuse_change (lk_lock *lock, lk_err error, int64_t now_ms)
{
    lk_type_change *change = &lock->change;
    if (error == LK_FULL && change->wait_ms > 0) {
        lk_book_set_remark (lock->book, "");
        error = LK_TIMEDOUT;
        if (lock->life == LK_LIFE_CHANGING && change->tries
            && now_ms < change->asked_at + change->wait_ms) {
            change->tries = false;
            lk_book_occur (lock, LK_ON_CHANGE, LK_OK, now_ms);
            return;
        }
    }
    lk_book_occur (lock, LK_ON_UNCHANGED, error, now_ms);
}

/*  INVALID does not repeat the turn; but what is open then is the change. */
static void
take_failure (lk_lock *lock, const lk_message *message, lk_err error,
              int64_t now_ms)
{
    const int64_t turn = lk_message_is (message, "INVALID")
                             ? lock->turn
                             : lk_message_number (message, "turn", 0);
    if (lk_message_serial (message) % 2 == 1) {
        fail_unlock (lock, error, now_ms);
    } else if (lock->resuming && !lk_message_has (message, "turn")) {
        fail_resume (lock, error, now_ms);
    } else if (lk_book_holds (lock)) {
        if (turn == lock->turn) {
            lk_book_refuse_change (lock, error, now_ms);
        }
    } else {
        refuse (lock, error, now_ms);
    }
}

static lk_err
error_of (const lk_message *message)
{
    const char *word = lk_message_text (message, "error");
    return word == NULL ? LK_OK : lk_err_from_word (word);
}

static void
note_remark (lk_book *self, const lk_message *message)
{
    const char *text = lk_message_text (message, "text");
    if (text == NULL) {
        text = lk_message_text (message, "reason");
    }
    lk_book_set_remark (self, text != NULL ? text : "");
}

lk_err
lk_book_read_failure (lk_book *self, const lk_message *message)
{
    note_remark (self, message);
    return lk_message_is (message, "INVALID") ? LK_INVALID : error_of (message);
}

/*  -------------------------------------------------------- UNLOCKED */

/*  Says why it was taken away, for as long as we have it. */
static void
note_reason (lk_lock *lock, const lk_message *message)
{
    const char *reason = lk_message_text (message, "reason");
    if (reason != NULL && lock->deed == LK_DEED_LOCK) {
        lk_free (lock->reason);
        lock->reason = lk_strdup (reason);
    }
}

static void
take_unlocked (lk_lock *lock, const lk_message *message, int64_t now_ms)
{
    lk_err error = error_of (message);
    note_reason (lock, message);
    lock->late |= lk_message_flag (message, "late");
    if (error == LK_OK && lk_book_holds (lock)) {
        error = LK_RELEASED;
    }
    lk_book_occur (lock, error == LK_OK ? LK_ON_UNLOCKED : LK_ON_LOST, error,
                   now_ms);
}

/*  -------------------------------------------------------- all of them */

static void
take_checked (lk_lock *lock, const lk_message *message, int64_t now_ms)
{
    uint64_t newest;
    if (lock->deed != LK_DEED_CHECK
        || !lk_message_hex (message, "newest", &newest)) {
        return;
    }
    lock->newest = newest;
    lock->checked = lk_message_flag (message, "held");
    lk_book_occur (lock, LK_ON_UNLOCKED, LK_OK, now_ms);
}

/*  A holder is stopping, for our deed. */
static void
take_stopping (lk_lock *lock, const lk_message *message)
{
    const char *host = lk_message_text (message, "host");
    lk_blocker *blocker = &lock->blocker;
    if (host != NULL && lock->life == LK_LIFE_GIVING) {
        snprintf (blocker->host, sizeof blocker->host, "%s", host);
        blocker->left_ms = lk_message_number (message, "left", -1);
        blocker->silent_ms = lk_message_number (message, "silent", -1);
        blocker->said++;
    }
}

static bool
take_answer (lk_lock *lock, const lk_message *message, int64_t now_ms)
{
    const bool of_unlock = lk_message_serial (message) % 2 == 1;
    if (lk_message_is (message, "LOCKED")) {
        take_grant (lock, message, now_ms);
    } else if (lk_message_is (message, "UNLOCKED")) {
        take_unlocked (lock, message, now_ms);
    } else if (lk_message_is (message, "LOCKFAILED")
               || lk_message_is (message, "INVALID")) {
        const lk_err error = lk_book_read_failure (lock->book, message);
        take_failure (lock, message, error, now_ms);
    } else if (lk_message_is (message, "TRANSMISSIONREPORT")) {
        /*  No lock service now; it may come: go on asking. */
        note_remark (lock->book, message);
    } else if (lk_message_is (message, "LOCKJEOPARDY") && !of_unlock) {
        lk_book_set_danger (lock, lk_message_flag (message, "danger"),
                            error_of (message), now_ms);
    } else if (lk_message_is (message, "LOCKSTOPPING") && of_unlock) {
        take_stopping (lock, message);
    } else if (lk_message_is (message, "LOCKCHECK") && of_unlock) {
        take_checked (lock, message, now_ms);
    } else {
        return false;
    }
    return true;
}

bool
lk_book_message (lk_book *self, const lk_message *message, int64_t now_ms)
{
    uint64_t serial = lk_message_serial (message);
    uint64_t lock_serial = serial & ~(uint64_t) 1;
    lk_lock *lock;
    if (serial % 2 == 1 && lk_message_is (message, "LOCKED")) {
        return false; /* no LOCK of ours has such a serial */
    }
    HASH_FIND (hh, self->locks, &lock_serial, sizeof lock_serial, lock);
    if (lock != NULL) {
        return take_answer (lock, message, now_ms);
    }
    if (lk_message_is (message, "LOCKED")) {
        give_back (self, message);
        return true;
    }
    return false;
}
