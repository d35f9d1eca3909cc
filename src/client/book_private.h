/*  book_private.h - what the files of the book share
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      book_entry.c    an entry is added, told of, freed
 *      book_life.c     the table of what happens to a lock, and time
 *      book.c          the user's wishes -> that
 *      book_answers.c  messages of the lock service -> that
 *      book_carried.c  what a carrier of its requests tells -> that
 */

#ifndef LK_BOOK_PRIVATE_H
#define LK_BOOK_PRIVATE_H

#include "client/book.h"
#include "client/queues.h"

struct lk_book {
    lk_lock *locks; /* all, by serial, in the order of asking */
    lk_index names; /* likewise, by their (first) names */
    lk_heap due;    /* whoever has to be looked at; maybe too early */
    uint64_t serial;
    int64_t pid;           /* of new locks */
    lk_lease *lease;       /* the latest that was seen */
    lk_lease_shelf *shelf; /* of those that a carrier lends */
    lk_book_open_fn *open; /* the carrier; NULL: messages are sent */
    void *carrier;
    bool is_carried;      /* there is, or was one */
    bool deserted;        /* the lock service, or the way there, is gone */
    bool credential_ends; /* soon */
    int64_t credential_ends_ms; /* leases, too; INT64_MAX: never */
    lk_message_queue messages;
    lk_event_queue events;
    char remark[400];
};

/*  -------------------------------------------------------- entries */

/*  A length of 0: up to the NUL. */
size_t lk_book_name_len (const char *object, size_t len);

/*  A new one of that name, under the next serial. */
lk_lock *lk_book_add_lock (lk_book *self, const lk_lock_name *name,
                           int64_t now_ms);

/*  The names of a set behind its first. */
void lk_book_add_others (lk_lock *lock, const lk_object_name *names,
                         size_t count);

/*  Enters it into the book under the next serial. */
void lk_book_enter_serial (lk_lock *lock);

/*  Tells the user of a lock. */
void lk_book_tell (lk_lock *lock, lk_event_kind kind, lk_err error);

/*  Frees it at once. */
void lk_book_destroy_lock (lk_lock *lock);

/*  -------------------------------------------------------- their life */

/*  What can happen to a lock. */
typedef enum {
    LK_ON_GRANTED,   /* LOCKED */
    LK_ON_REFUSED,   /* LOCKFAILED of the LOCK */
    LK_ON_UNLOCKED,  /* UNLOCKED, or there is nothing (more) to unlock */
    LK_ON_LOST,      /* UNLOCKED with an error: the service ended it */
    LK_ON_EXPIRED,   /* by our own clock: the wait, the lease, the duration */
    LK_ON_CHANGE,    /* the user wants another type */
    LK_ON_CHANGED,   /* LOCKED of the change of type */
    LK_ON_UNCHANGED, /* LOCKFAILED of it */
    LK_ON_OVERDUE,   /* by our own clock: the wait for it */
    LK_ON_DANGER,    /* it may soon be lost */
    LK_ON_SAFE,      /* that is over */
    LK_ON_LEAVE,     /* the user leaves it held */
    LK_ON_RELEASE,   /* the user gives it back */
    LK_ON_FORGET,    /* the user lets go of the pointer */
    LK_ON_COUNT
} lk_occurrence;

/*  What the answer to a LOCK is for, as the table says. */
typedef enum {
    LK_GRANT_WANTED, /* the lock is held from now on */
    LK_GRANT_KEY,    /* UNLOCK is open, and can do with the key */
    LK_GRANT_SECOND  /* there is one already: another one goes back */
} lk_grant_use;

lk_grant_use lk_book_grant_use (const lk_lock *lock);

/*  Does what the table says; the lock may be freed then. */
void lk_book_occur (lk_lock *lock, lk_occurrence what, lk_err error,
                    int64_t now_ms);

/*  The LOCK that is open goes on as another request, which waits. */
void lk_book_wait_on (lk_lock *lock, int64_t now_ms);

/*  The open change of type has failed, or is waited for from now on. */
void lk_book_refuse_change (lk_lock *lock, lk_err error, int64_t now_ms);

/*  The error that a failure names; its text is kept for the user. */
lk_err lk_book_read_failure (lk_book *self, const lk_message *message);

/*  Sends the LOCK or UNLOCK that is open, once more. */
void lk_book_send_open (lk_lock *lock, int64_t now_ms);

/*  Why its lease is over. */
lk_err lk_book_expiry (const lk_lock *lock, int64_t now_ms);

/*  Frees it if nobody has any use for it. */
void lk_book_sweep (lk_lock *lock);

/*  What ends it, and when, may be another than was known. */
void lk_book_reconsider (lk_lock *lock);

/*  The book says of the credential what a held lock is told, if it was not. */
void lk_book_weigh_credential (lk_lock *lock, int64_t now_ms);

/*  Notes what the lock service says of the danger of a held lock, and why;
 *  LK_OK: it does not say. */
void lk_book_set_danger (lk_lock *lock, bool danger, lk_err why,
                         int64_t now_ms);

/*  The lock service that granted it has ended. */
void lk_book_orphan_lock (lk_lock *lock, int64_t now_ms);

/*  Whether another lock service can go on with it: it is held, and its own has
 *  ended. A static lock needs nobody. */
bool lk_book_may_resume (const lk_lock *lock);

/*  The one that is there now goes on with it, by the lease that it has now. */
void lk_book_resumed (lk_lock *lock, int64_t now_ms);

void lk_book_set_remark (lk_book *self, const char *text);

#endif
