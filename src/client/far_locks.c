/*  far_locks.c - the book's requests, carried by roam
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The book thinks of each LOCK as one request of one lock service; which
 *  server has it, and how often it is said, is roam's. When roam says that it
 *  moved nothing is told to the book but its lease, and of a set that waits its
 *  new serial.
 */

#include "client/far.h"

#include "net/clock.h"
#include "util/assert.h"

/*  -------------------------------------------------------- from the book */

static lk_far_lock *
find (const lk_far_way *self, uint64_t serial)
{
    lk_far_lock *lock;
    HASH_FIND (hh, self->locks, &serial, sizeof serial, lock);
    return lock;
}

static void
ask (lk_far_way *self, lk_lock *lock, int64_t now_ms)
{
    lk_far_lock *it = lk_alloc (sizeof *it);
    *it = (lk_far_lock) {.serial = lock->serial,
                         .known = lk_roam_next_serial (self->roam),
                         .lock = lock};
    HASH_ADD (hh, self->locks, serial, sizeof it->serial, it);
    lk_book_carry (lock);
    it->roam = lk_roam_ask_for (
        self->roam, it,
        (lk_roam_kind_of_lock) {.is_static = lock->wish.mode.is_static,
                                .is_set = lock->other_count > 0},
        now_ms);
}

/*  Of what the book wants now; it says so again and again. */
static void
turn (lk_far_way *self, lk_far_lock *it, int64_t now_ms)
{
    if (it->turn != it->lock->turn
        && lk_roam_turn (self->roam, it->roam, now_ms) != 0) {
        it->turn = it->lock->turn;
    }
}

void
lk_far_open (void *user, lk_lock *lock, int64_t now_ms)
{
    lk_far_way *self = user;
    lk_far_lock *it = find (self, lock->serial);
    if (lock->life == LK_LIFE_ASKED) {
        if (it == NULL) {
            ask (self, lock, now_ms);
        }
    } else if (it != NULL && lk_book_holds (lock)) {
        turn (self, it, now_ms);
    } else if (it != NULL) {
        lk_roam_give_back (self->roam, it->roam, now_ms);
    }
}

const char *
lk_far_turn_objection (const lk_far_way *self, const lk_lock *lock)
{
    const lk_far_lock *it = find (self, lock->serial);
    return it == NULL || lk_roam_may_turn (self->roam, it->roam)
               ? NULL
               : "a static lock changes its type only as long as the server "
                 "that granted it is in use";
}

/*  -------------------------------------------------------- from roam */

static void
lend (const lk_far_way *self, const lk_far_lock *it)
{
    lk_book_lend (it->lock, lk_roam_until (self->roam, it->roam),
                  self->lease_ms);
}

void
lk_far_lend (lk_far_way *self)
{
    for (lk_far_lock *it = self->locks; it != NULL; it = it->hh.next) {
        if (it->roam->state == LK_ROAM_HELD) {
            lend (self, it);
        }
    }
}

/*  Whether what is heard is about that request, and not only the occasion. */
static bool
is_heard (const lk_far_way *self, const lk_far_lock *it)
{
    return self->heard != NULL
           && (lk_message_serial (self->heard) & ~(uint64_t) 1) == it->serial;
}

/*  Whether the book still means that LOCK. */
static bool
is_meant (const lk_far_lock *it)
{
    return it->lock->serial == it->serial;
}

static void
tell_book (lk_far_way *self, const lk_far_lock *it, int64_t now_ms)
{
    if (is_heard (self, it) && is_meant (it)) {
        (void) lk_book_message (self->book, self->heard, now_ms);
    }
}

static void
lose (lk_far_way *self, const lk_far_lock *it, int64_t now_ms)
{
    if (is_heard (self, it) && lk_message_is (self->heard, "UNLOCKED")) {
        tell_book (self, it, now_ms);
    } else {
        lk_book_lose (it->lock, is_heard (self, it) ? LK_LOST : LK_OK, now_ms);
    }
}

static void
remove (lk_far_way *self, lk_far_lock *it)
{
    while (it != NULL) {
        lk_far_lock *former = it->former;
        HASH_DEL (self->locks, it);
        lk_free (it);
        it = former;
    }
}

/*  Its UNLOCKED came, maybe ahead of those of what it was before. */
static void
finish (lk_far_way *self, lk_far_lock *it, int64_t now_ms)
{
    lk_lock *lock = it->lock;
    if (is_heard (self, it)) {
        tell_book (self, it, now_ms);
    } else if (is_meant (it)) {
        lk_book_gave_back (lock, now_ms);
    }
    remove (self, it);
    lk_book_let_go (lock);
}

/*  A set that waits: the former serial goes on alone, until that is given
 *  back. */
static void
begin_anew (lk_far_way *self, lk_far_lock *it)
{
    LK_ASSERT (is_meant (it));
    lk_far_lock *former = lk_alloc (sizeof *former);
    HASH_DEL (self->locks, it);
    *former = *it;
    former->is_former = true;
    HASH_ADD (hh, self->locks, serial, sizeof former->serial, former);
    lk_book_renumber (it->lock);
    it->serial = it->lock->serial;
    it->known = it->roam->serial;
    it->former = former;
    HASH_ADD (hh, self->locks, serial, sizeof it->serial, it);
}

void
lk_far_told (void *user, lk_roam_lock *roam, lk_roam_news news)
{
    lk_far_way *self = user;
    lk_far_lock *it = roam->user;
    const int64_t now_ms = lk_clock_ms ();
    switch (news) {
    case LK_ROAM_GRANTED:
        lend (self, it);
        tell_book (self, it, now_ms);
        break;
    case LK_ROAM_GOES_ON:
        lend (self, it);
        lk_book_goes_on (it->lock, self->heard, now_ms);
        break;
    case LK_ROAM_LOST:
        lose (self, it, now_ms);
        break;
    case LK_ROAM_REFUSED:
        tell_book (self, it, now_ms);
        break;
    case LK_ROAM_DONE:
        finish (self, it, now_ms);
        break;
    case LK_ROAM_ANEW:
        begin_anew (self, it);
        break;
    case LK_ROAM_TURNED:
        lk_book_turned (it->lock, self->heard, now_ms);
        break;
    case LK_ROAM_NOT_TURNED:
        lk_book_not_turned (it->lock, self->heard, now_ms);
        break;
    }
}

/*  -------------------------------------------------------- from a server */

/*  Whether it is of the registration that the request was made in last. */
static bool
is_current (const lk_message *message, const lk_far_lock *it)
{
    return (uint64_t) lk_message_number (message, "registration", 0)
           == it->roam->number;
}

/*  The router does not know of registrations. */
static void
sign (const lk_far_way *self, const lk_far_lock *it, lk_roam_letter *letter)
{
    const lk_roam_place *current = lk_roam_current (self->roam);
    if (current != NULL && current->number == it->roam->number) {
        letter->number = current->number;
        letter->drawn = current->drawn;
    }
}

static void
hear (lk_far_way *self, lk_far_lock *it, int server, const lk_message *message,
      int64_t now_ms)
{
    lk_roam_letter letter = {.server = server};
    if (lk_far_read_answer (message, it, &letter)) {
        if (lk_message_is (message, "INVALID")) {
            sign (self, it, &letter);
        }
        self->heard = message;
        self->is_leased |= letter.kind == LK_ROAM_LOCKED;
        lk_roam_hear (self->roam, &letter, now_ms);
        self->heard = NULL;
    } else if (!lk_message_is (message, "LOCKED")
               && !lk_message_flag (message, "moved") && is_meant (it)
               && is_current (message, it)) {
        (void) lk_book_message (self->book, message, now_ms);
    }
}

void
lk_far_answer (lk_far_way *self, int server, const lk_message *message,
               int64_t now_ms)
{
    lk_far_lock *it = find (self, lk_message_serial (message) & ~(uint64_t) 1);
    if (it != NULL) {
        hear (self, it, server, message, now_ms);
    } else if (lk_message_is (message, "LOCKED")) {
        lk_message *answer = lk_far_give_back (message);
        lk_servers_send (self->servers, server, &answer);
    } else {
        (void) lk_book_message (self->book, message, now_ms);
    }
}

void
lk_far_forget (lk_far_way *self)
{
    lk_far_lock *it, *next;
    HASH_ITER (hh, self->locks, it, next) {
        HASH_DEL (self->locks, it);
        lk_free (it);
    }
}
