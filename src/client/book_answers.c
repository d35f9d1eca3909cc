/*  book_answers.c - messages of the lock service, and what they mean for a lock
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/book_private.h"

#include "client/letter.h"

static void
store_grant (lk_lock *lock, const lk_grant *grant)
{
    lk_book *self = lock->book;
    lock->token = grant->token;
    lock->key = grant->key;
    lock->until_ms = grant->until_ms;
    lk_lease_drop (&lock->lease);
    lock->lease = lk_lease_take (self->lease, grant->lease_page, grant->session,
                                 grant->lease_until_ms);
    lk_lease_drop (&self->lease);
    self->lease = lk_lease_take (lock->lease, grant->lease_page, grant->session,
                                 grant->lease_until_ms);
}

static void
give_back (lk_book *self, const lk_message *grant)
{
    lk_message *message = lk_letter_give_back (grant);
    if (message != NULL) {
        lk_message_queue_add (&self->messages, message);
    }
}

/*  A request that a restarted service knows anew may be granted twice, each
 *  time with its own key; what we do not hold goes back. */
static void
take_grant (lk_lock *lock, const lk_message *message, int64_t now_ms)
{
    lk_grant_use use = lk_book_grant_use (lock);
    lk_grant grant;
    if (!lk_letter_read_grant (message, &grant)) {
        return;
    }
    if (use == LK_GRANT_SECOND && grant.key != lock->key) {
        give_back (lock->book, message);
    } else if (use == LK_GRANT_WANTED) {
        lk_book_set_remark (lock->book, "");
        store_grant (lock, &grant);
        lk_book_occur (lock, LK_ON_GRANTED, LK_OK, now_ms);
    } else if (use == LK_GRANT_KEY && !lock->by_key && lock->token == 0) {
        store_grant (lock, &grant);
        lk_book_send_open (lock, now_ms);
    }
}

/*  An UNLOCK is over when the service says that there is nothing to unlock;
 *  any other failure is a reason to ask again. */
static void
take_failure (lk_lock *lock, bool of_unlock, lk_err error, int64_t now_ms)
{
    if (!of_unlock) {
        lk_book_occur (lock, LK_ON_REFUSED, error, now_ms);
    } else if (error == LK_DENIED || error == LK_INVALID
               || error == LK_UNKNOWN) {
        lock->error = error;
        lk_book_occur (lock, LK_ON_UNLOCKED, error, now_ms);
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

static void
take_unlocked (lk_lock *lock, lk_err error, int64_t now_ms)
{
    if (error == LK_OK && lock->life == LK_LIFE_HELD) {
        error = LK_RELEASED;
    }
    lk_book_occur (lock, error == LK_OK ? LK_ON_UNLOCKED : LK_ON_LOST, error,
                   now_ms);
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
    if (lock == NULL) {
        if (lk_message_is (message, "LOCKED")) {
            give_back (self, message);
            return true;
        }
        return false;
    }
    if (lk_message_is (message, "LOCKED")) {
        take_grant (lock, message, now_ms);
    } else if (lk_message_is (message, "UNLOCKED")) {
        take_unlocked (lock, error_of (message), now_ms);
    } else if (lk_message_is (message, "LOCKFAILED")) {
        note_remark (self, message);
        take_failure (lock, serial % 2 == 1, error_of (message), now_ms);
    } else if (lk_message_is (message, "INVALID")) {
        note_remark (self, message);
        take_failure (lock, serial % 2 == 1, LK_INVALID, now_ms);
    } else if (lk_message_is (message, "UNKNOWN")) {
        /*  No lock service now; it may come: go on asking. */
        note_remark (self, message);
    } else {
        return false;
    }
    return true;
}
