/*  book_carried.c - requests that others say, and what became of them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A carrier has each LOCK said by the server that serves it, gives it back,
 *  and knows until when it is believed in: src/client/far_locks.c.
 */

#include "client/book_private.h"

#include "client/letter.h"

void
lk_book_set_carrier (lk_book *self, lk_book_open_fn *open, void *user)
{
    self->open = open;
    self->carrier = user;
    self->is_carried = true;
}

void
lk_book_carry (lk_lock *lock)
{
    lock->carried++;
}

void
lk_book_let_go (lk_lock *lock)
{
    LK_ASSERT (lock->carried > 0);
    lock->carried--;
    lk_book_sweep (lock);
}

/*  An end that comes sooner is to be looked for sooner. */
void
lk_book_lend (lk_lock *lock, int64_t until_ms, int64_t lease_ms)
{
    lock->lease_ms = lease_ms;
    if (lock->lease == NULL) {
        lock->lease = lk_lease_own (&lock->book->shelf, until_ms);
        return;
    }
    const bool is_sooner = until_ms < lk_lease_until (lock->lease);
    lk_lease_move (lock->lease, until_ms);
    if (is_sooner && lk_book_holds (lock)) {
        lk_book_reconsider (lock);
    }
}

/*  After a change of type the token may be another one. */
static void
note_grant (lk_lock *lock, const lk_grant *grant)
{
    if (!grant->is_set) {
        lock->token = grant->token;
        lock->ordinal = grant->ordinal;
    }
}

/*  Its time is not longer for that. */
void
lk_book_goes_on (lk_lock *lock, const lk_message *message, int64_t now_ms)
{
    lk_grant grant;
    if (!lk_letter_read_grant (message, &grant)) {
        return;
    }
    note_grant (lock, &grant);
    if (!lk_book_held (lock, now_ms)) {
        return;
    }
    if (grant.until_ms < lock->until_ms) {
        lock->until_ms = grant.until_ms;
    }
    lk_book_set_danger (lock, false, LK_OK, now_ms);
    lk_book_reconsider (lock);
}

void
lk_book_gave_back (lk_lock *lock, int64_t now_ms)
{
    lk_book_occur (lock, LK_ON_UNLOCKED, LK_OK, now_ms);
}

void
lk_book_turned (lk_lock *lock, const lk_message *message, int64_t now_ms)
{
    lk_grant grant;
    if (lk_letter_read_grant (message, &grant)) {
        note_grant (lock, &grant);
        lk_book_occur (lock, LK_ON_CHANGED, LK_OK, now_ms);
    }
}

/*  Where a static lock is left behind. */
void
lk_book_not_turned (lk_lock *lock, const lk_message *message, int64_t now_ms)
{
    lk_err error = LK_INVALID;
    if (message != NULL) {
        error = lk_book_read_failure (lock->book, message);
    } else {
        lk_book_set_remark (lock->book,
                            "the server that granted the static lock is in use "
                            "no more, and no other one changes its type");
    }
    if (lk_book_holds (lock)) {
        lk_book_refuse_change (lock, error, now_ms);
    }
}

void
lk_book_fail_asked (lk_book *self, lk_err error, const char *why,
                    int64_t now_ms)
{
    lk_lock *lock, *next;
    HASH_ITER (hh, self->locks, lock, next) {
        if (lock->life == LK_LIFE_ASKED) {
            lk_book_set_remark (self, why);
            lk_book_occur (lock, LK_ON_EXPIRED, error, now_ms);
        }
    }
}

/*  A claim finds nothing where the lease was cut short by the credential,
 *  whichever is seen first. */
void
lk_book_lose (lk_lock *lock, lk_err error, int64_t now_ms)
{
    if (lk_book_holds (lock)) {
        const lk_err expiry = lk_book_expiry (lock, now_ms);
        lk_book_occur (
            lock, error != LK_OK ? LK_ON_LOST : LK_ON_EXPIRED,
            error != LK_OK && expiry != LK_CREDENTIAL ? error : expiry, now_ms);
    }
}
