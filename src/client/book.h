/*  book.h - what a session has asked for and holds
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The library's core: it takes the time, messages of the lock service and
 *  the user's wishes, and makes messages to send and events for the user. It
 *  knows no socket and reads no clock. session.c is the shell around it.
 *
 *  Every LOCK and UNLOCK is repeated with its serial until it is answered, so
 *  that neither a lost message nor a restarted service loses or leaks a lock.
 */

#ifndef LK_BOOK_H
#define LK_BOOK_H

#include "client/lease.h"
#include "util/map.h"

#include <lockkeeper/lockkeeper.h>
#include <lockkeeper/message.h>

#define LK_REPEAT_MS 1000 /* until what is unanswered is sent again */
#define LK_MARGIN_MS 5000 /* over the wait, until we give up ourselves */

/*  The life of a lock. book.c has the table of what happens in each. */
typedef enum {
    LK_LIFE_ASKED,    /* LOCK is open */
    LK_LIFE_HELD,     /* LOCKED came, nothing has ended it */
    LK_LIFE_ENDED,    /* the user was told LOST, the service may keep it */
    LK_LIFE_GIVING,   /* UNLOCK is open, the user is told when it is done */
    LK_LIFE_DROPPING, /* UNLOCK is open, nobody waits for that */
    LK_LIFE_CLOSED,   /* nothing is open */
    LK_LIFE_COUNT
} lk_life;

typedef struct lk_book lk_book;

struct lk_lock {
    lk_book *book;
    lk_session *session; /* for session.c */
    uint64_t serial;     /* even, of its LOCK; its UNLOCK has the next one */
    lk_life life;
    bool by_key;      /* no lock of ours: UNLOCK with a key */
    bool user_has_it; /* else it goes when it is closed */
    bool released;    /* RELEASED was told */
    unsigned events;  /* that wait to be taken */
    char *object;
    int64_t wait_ms;
    int64_t duration_ms;
    int64_t asked_at;
    int64_t repeat_at; /* INT64_MAX: nothing is open */
    uint64_t token;
    uint64_t key;
    int64_t until_ms; /* of the duration; INT64_MAX: no limit */
    lk_lease *lease;
    lk_err error; /* why it failed or was lost */
    void *user;
    UT_hash_handle hh;
};

/*  Serials start at `serial`, which must be even. */
lk_book *lk_book_new (uint64_t serial);
void lk_book_destroy (lk_book **self_p);

/*  The user's wishes. `object` is copied. */
lk_lock *lk_book_lock (lk_book *self, const char *object,
                       const lk_lock_options *options, int64_t now_ms);
lk_lock *lk_book_unlock_by_key (lk_book *self, const char *object, uint64_t key,
                                int64_t now_ms);
void lk_book_release (lk_book *self, lk_lock *lock, int64_t now_ms);

/*  The user lets go of the pointer; what is open is given back unseen. */
void lk_book_forget (lk_book *self, lk_lock *lock, int64_t now_ms);

/*  Frees it as it is: nothing of it is repeated any more. */
void lk_book_discard (lk_book *self, lk_lock *lock);

/*  A message of the lock service or the router; false if it is none for the
 *  book. */
bool lk_book_message (lk_book *self, const lk_message *message, int64_t now_ms);

/*  Ends what has run out, repeats what is due. */
void lk_book_tick (lk_book *self, int64_t now_ms);

/*  The service or the router is back: repeats all that is open. */
void lk_book_repeat (lk_book *self, int64_t now_ms);

/*  The router refuses us for good: whatever is open fails now. */
void lk_book_give_up (lk_book *self, int64_t now_ms);

/*  When lk_book_tick is due at the latest; INT64_MAX: never. */
int64_t lk_book_deadline (const lk_book *self);

/*  Whether the user may still act as the holder. */
bool lk_book_held (const lk_lock *lock, int64_t now_ms);

/*  The next message to send, NULL: none. The caller owns it. */
lk_message *lk_book_next_message (lk_book *self);

/*  The next event for the user; false: none. */
bool lk_book_next_event (lk_book *self, lk_lock_event *event);
bool lk_book_has_event (const lk_book *self);

/*  Forgets the events of a lock, for who learned of them otherwise. */
void lk_book_drop_events (lk_book *self, lk_lock *lock);

/*  How many requests and locks are not closed. */
size_t lk_book_open_count (const lk_book *self);

/*  The next lock after `lock` (NULL: the first) in the order of asking. */
lk_lock *lk_book_next_lock (const lk_book *self, const lk_lock *lock);

/*  What was said last about a request that is not granted; "" if nothing. */
const char *lk_book_remark (const lk_book *self);

#endif
