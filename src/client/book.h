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
#include "util/heap.h"
#include "util/index.h"
#include "util/map.h"
#include "wire/address.h"

#include <lockkeeper/lockkeeper.h>
#include <lockkeeper/message.h>

#define LK_REPEAT_MS 1000 /* until what is unanswered is sent again */
#define LK_MARGIN_MS 5000 /* over the wait, until we give up ourselves */

/*  The life of a lock. book_life.c has the table of what happens in each. */
typedef enum {
    LK_LIFE_ASKED,    /* LOCK is open */
    LK_LIFE_HELD,     /* LOCKED came, nothing has ended it */
    LK_LIFE_CHANGING, /* held, and LOCK is open for another type */
    LK_LIFE_UNDOING,  /* likewise, to take back an upgrade, unseen */
    LK_LIFE_ENDED,    /* the user was told LOST, the service may keep it */
    LK_LIFE_GIVING,   /* UNLOCK is open, the user is told when it is done */
    LK_LIFE_DROPPING, /* UNLOCK is open, nobody waits for that */
    LK_LIFE_LEFT,     /* held, and no more of this process; remembered, since
                         LOCKED may come once more */
    LK_LIFE_CLOSED,   /* nothing is open */
    LK_LIFE_COUNT
} lk_life;

/*  What an entry of the book is about. All but the first are no lock of ours:
 *  they are GIVING until they are answered. */
typedef enum {
    LK_DEED_LOCK,
    LK_DEED_UNLOCK, /* by its key, whoever holds it */
    LK_DEED_FORCE,  /* an operator's UNLOCK */
    LK_DEED_CHECK   /* LOCKCHECK */
} lk_deed;

typedef struct lk_book lk_book;

/*  One name of a set behind its first. */
typedef struct {
    char *object; /* a NUL behind it */
    size_t len;
    uint64_t token;
    uint64_t key;
} lk_further;

/*  The change of type that was asked for last. */
typedef struct {
    lk_lock_type type;
    lk_lock_type from;
    int64_t wait_ms;
    int64_t asked_at;
    bool tries; /* LOCK asks for what can be had without waiting */
} lk_type_change;

/*  Whether a lock may soon be lost: what the lock service says, what the lease
 *  page says, whether the service that it is of has ended, and what the user
 *  was told. */
typedef struct {
    bool said;
    lk_err why; /* as it said */
    bool seen;
    bool orphan;
    bool told;
    int64_t look_at; /* at the page, next; INT64_MAX: never */
} lk_danger;

/*  The holder that a deed waits for, as its home said last. */
typedef struct {
    char host[LK_HOST_LEN_MAX + 1];
    int64_t left_ms;
    int64_t silent_ms;
    unsigned said; /* so often */
} lk_blocker;

struct lk_lock {
    lk_index_link by_name;
    lk_book *book;
    lk_session *session; /* for session.c */
    lk_deed deed;
    uint64_t serial; /* even, of its LOCK; what ends it has the next one */
    lk_life life;
    unsigned users;   /* requests that gave this pointer, not forgotten yet; 0:
                        it goes when it is closed */
    unsigned given;   /* how many of them gave it back already */
    bool released;    /* RELEASED was told for the last one */
    bool is_unit;     /* canal.c keeps it */
    unsigned carried; /* LOCKs that a carrier still has */
    unsigned events;  /* that wait to be taken */
    int64_t pid;      /* of the process that it is for; 0: this one */
    char *object;     /* a NUL behind it */
    size_t len;
    lk_further *others; /* of a set */
    size_t other_count;
    char *context;
    lk_lock_options wish; /* its context is the one above */
    int64_t asked_at;
    bool tries;         /* LOCK asks for what can be had without waiting */
    int64_t repeat_at;  /* INT64_MAX: nothing is open */
    uint32_t due_place; /* in the book's heap */
    uint64_t token;     /* also what to CHECK or FORCE */
    uint64_t key;       /* of a set: that of its first name */
    lk_lock_type type;
    uint32_t ordinal;
    uint32_t turn; /* of the last change that was asked for */
    lk_type_change change;
    bool is_static;   /* held without a lease */
    int64_t until_ms; /* of the duration; INT64_MAX: no limit */
    lk_lease *lease;
    int64_t lease_ms; /* its length; 0: unknown */
    lk_danger danger;
    bool resuming; /* held, and the new lock service is asked to go on */
    lk_err error;  /* why it failed or was lost, or the last change failed */
    lk_err loss;   /* why it was lost; LK_OK: not before it was given back */
    bool granted;  /* GRANTED was told */
    bool late;     /* given back after its duration */
    bool checked;  /* CHECK: it is held with that token */
    bool now;      /* UNLOCK, FORCE: at once, whoever believes in it */
    lk_blocker blocker;
    uint64_t newest;
    char *reason; /* FORCE: ours; else an operator's; NULL: none */
    void *user;
    UT_hash_handle hh;
};

/*  Serials start at `serial`, which must be even. */
lk_book *lk_book_new (uint64_t serial);
void lk_book_destroy (lk_book **self_p);

/*  LOCK and UNLOCK of locks are not sent as messages from now on: `open` is
 *  told that the one of `lock` is open, again and again, and has it said and
 *  answered (book_carried.c has what it tells in return). It may not call the
 *  book back. NULL: nothing is said any more. */
typedef void (lk_book_open_fn) (void *user, lk_lock *lock, int64_t now_ms);
void lk_book_set_carrier (lk_book *self, lk_book_open_fn *open, void *user);

/*  It has a LOCK of that lock, which is there until it has not. */
void lk_book_carry (lk_lock *lock);
void lk_book_let_go (lk_lock *lock);

/*  The lock is believed in until then, by a lease of that length; ahead of its
 *  LOCKED, too. */
void lk_book_lend (lk_lock *lock, int64_t until_ms, int64_t lease_ms);

/*  Another lock service goes on with it, by that LOCKED. */
void lk_book_goes_on (lk_lock *lock, const lk_message *message, int64_t now_ms);

/*  Its open LOCK has another serial from now on. */
void lk_book_renumber (lk_lock *lock);

/*  It is given back, though no message says so now. */
void lk_book_gave_back (lk_lock *lock, int64_t now_ms);

/*  The change of type that is open is made, by that LOCKED; or has failed, as
 *  that message says, NULL: since no server can make it. */
void lk_book_turned (lk_lock *lock, const lk_message *message, int64_t now_ms);
void lk_book_not_turned (lk_lock *lock, const lk_message *message,
                         int64_t now_ms);

/*  Fails all requests that wait, for that reason, in those words, and gives
 *  them back. */
void lk_book_fail_asked (lk_book *self, lk_err error, const char *why,
                         int64_t now_ms);

/*  It is held no more, for that reason; LK_OK: its lease is over. */
void lk_book_lose (lk_lock *lock, lk_err error, int64_t now_ms);

/*  Locks asked for from now on are for that process; 0: for this one. */
void lk_book_act_for (lk_book *self, int64_t pid);

/*  The user's wishes, which make sense (wish.h). Everything is copied. */

/*  Names count from 1; with `reentrant`, the lock may be one that is there. */
lk_lock *lk_book_lock (lk_book *self, const lk_object_name *names, size_t count,
                       const lk_lock_options *options, int64_t now_ms);
lk_lock *lk_book_unlock_by_key (lk_book *self, const lk_lock_name *name,
                                uint64_t key, bool now, int64_t now_ms);
lk_lock *lk_book_force (lk_book *self, const lk_lock_name *name,
                        const lk_taking *how, int64_t now_ms);
lk_lock *lk_book_check (lk_book *self, const lk_lock_name *name, uint64_t token,
                        int64_t now_ms);

/*  Of a lock that is held (lk_book_holds), no set and no semaphore. */
void lk_book_change (lk_book *self, lk_lock *lock, lk_lock_type type,
                     int64_t wait_ms, int64_t now_ms);
void lk_book_release (lk_book *self, lk_lock *lock, int64_t now_ms);

/*  One of several requests that gave this lock gives it back; false if there
 *  is no other: release it then. */
bool lk_book_count_down (lk_lock *lock, int64_t now_ms);

/*  Of what was given back: LK_OK if it was held until then, or never; LK_LATE;
 *  or why it was lost. */
lk_err lk_book_ending (const lk_lock *lock);

/*  The user lets go of the pointer; what is open is given back unseen. With
 *  other requests that gave this lock, it is only counted. */
void lk_book_forget (lk_book *self, lk_lock *lock, int64_t now_ms);

/*  The user leaves a lock that is held as it is. */
void lk_book_leave (lk_book *self, lk_lock *lock, int64_t now_ms);

/*  The session ends: whatever the user has of it is given back unseen, but a
 *  static lock that is held stays so. */
void lk_book_abandon (lk_book *self, lk_lock *lock, int64_t now_ms);

/*  Frees it as it is: nothing of it is repeated any more. */
void lk_book_discard (lk_book *self, lk_lock *lock);

/*  A message of the lock service or the router; false if it is none for the
 *  book. */
bool lk_book_message (lk_book *self, const lk_message *message, int64_t now_ms);

/*  Ends what has run out, repeats what is due. */
void lk_book_tick (lk_book *self, int64_t now_ms);

/*  Whether the lock service is gone, or the router: what ends with the host's
 *  lease is lost as DISCONNECTED then. */
void lk_book_desert (lk_book *self, bool deserted);

/*  The credential of the session ends soon: what is held is in danger. */
void lk_book_set_credential (lk_book *self, bool ends, int64_t now_ms);

/*  A lease that lasts until then is cut short by the credential: what is lost
 *  at its end, be it a spare ahead of it, is lost as CREDENTIAL. INT64_MAX:
 *  never. */
void lk_book_set_credential_end (lk_book *self, int64_t ends_ms);

/*  The lock service has ended, whether or not there is another one by now: what
 *  is held is in danger, for its lease is not prolonged any more, and is lost
 *  as DISCONNECTED then. */
void lk_book_orphan (lk_book *self, int64_t now_ms);

/*  The service or the router is back: repeats all that is open, and says what
 *  is held of a service that has ended, which that one may go on with. */
void lk_book_repeat (lk_book *self, int64_t now_ms);

/*  The router refuses us for good: whatever is open fails now. */
void lk_book_give_up (lk_book *self, int64_t now_ms);

/*  When lk_book_tick is due at the latest; INT64_MAX: never. */
int64_t lk_book_deadline (const lk_book *self);

/*  Whether it was granted, and nothing that was said or seen has ended it. */
bool lk_book_holds (const lk_lock *lock);

/*  Until when the user may act as the holder if nothing more is heard; 0: not
 *  at all. */
int64_t lk_book_until (const lk_lock *lock);

/*  How long it has to stop then, if it is guarded; or would have. */
int64_t lk_book_spare (const lk_lock *lock);

/*  Whether the user may still act as the holder. */
bool lk_book_held (const lk_lock *lock, int64_t now_ms);

/*  Why the user, who was the holder, may not act as such; LK_OK: he may, or
 *  never was. */
lk_err lk_book_loss (const lk_lock *lock, int64_t now_ms);

/*  The next message to send, NULL: none. The caller owns it. */
lk_message *lk_book_next_message (lk_book *self);

/*  The next event for the user; false: none. */
bool lk_book_next_event (lk_book *self, lk_lock_event *event);
bool lk_book_has_event (const lk_book *self);

/*  Takes an event of that kind of a lock out, if there is one, for who learned
 *  of it otherwise; NONE: all of its events. */
void lk_book_drop_events (lk_book *self, lk_lock *lock, lk_event_kind kind);

/*  How many requests and locks are not closed, but for those that were left. */
size_t lk_book_open_count (const lk_book *self);

/*  The next lock after `lock` (NULL: the first) in the order of asking. */
lk_lock *lk_book_next_lock (const lk_book *self, const lk_lock *lock);

/*  The newest unit of a canal of that name; NULL: none. */
lk_lock *lk_book_newest_unit (const lk_book *self, const char *object);

/*  What was said last about a request that is not granted; "" if nothing. */
const char *lk_book_remark (const lk_book *self);

#endif
