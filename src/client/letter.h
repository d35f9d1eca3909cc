/*  letter.h - the messages that a session sends to its lock service
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  lockkeeper-protocol(7) has their fields.
 */

#ifndef LK_LETTER_H
#define LK_LETTER_H

#include "client/book.h"

/*  LOCK, with what is left of the wait at `now_ms`. The caller owns it. */
lk_message *lk_letter_lock (const lk_lock *lock, int64_t now_ms);

/*  LOCK of a held lock for its change of type, likewise. */
lk_message *lk_letter_change (const lk_lock *lock, int64_t now_ms);

/*  LOCK of a lock that is held, for a lock service that does not know it. */
lk_message *lk_letter_resume (const lk_lock *lock, int64_t now_ms);

/*  What ends it: UNLOCK of our own request, with its key if that is known; or
 *  UNLOCK by a key, or by force, or LOCKCHECK, as the deed is. */
lk_message *lk_letter_end (const lk_lock *lock);

/*  LOCK from a machine without a router, under that serial; of what is held:
 *  for how long that is certain, `left_ms`, else 0. And its UNLOCK. */
lk_message *lk_letter_far_lock (const lk_lock *lock, uint64_t serial,
                                int64_t left_ms, int64_t now_ms);
lk_message *lk_letter_far_unlock (const lk_lock *lock, uint64_t serial);

/*  The change of its type, as that turn. */
lk_message *lk_letter_turn (const lk_lock *lock, uint64_t serial, uint32_t turn,
                            int64_t now_ms);

/*  UNLOCK for a grant (LOCKED) that nobody here has asked for any more. */
lk_message *lk_letter_give_back (const lk_message *grant);

/*  What a grant says. */
typedef struct {
    uint64_t token; /* of a set: not read yet, nor the key */
    uint64_t key;
    uint64_t session;
    int64_t until_ms; /* of the duration, boot clock; INT64_MAX: no limit */
    int64_t lease_until_ms;
    int64_t lease_ms;       /* length of a lease; 0: not said */
    const char *lease_page; /* belongs to the message; NULL: none */
    lk_lock_type type;      /* LK_LOCK_TYPE_COUNT: not said */
    uint32_t ordinal;
    uint32_t turn;
    bool is_static;
    bool is_set;
    bool is_far; /* to a machine without a router: of a registration, which has
                    the lease */
} lk_grant;

/*  False if it lacks its session or registration; or its token or key, and is
 *  no set. */
bool lk_letter_read_grant (const lk_message *message, lk_grant *grant);

/*  Of a set: token and key of its first name, into the grant; tokens of its
 *  other names, into the lock (true if there are none), and whether they are
 *  there. False if one is missing. */
bool lk_letter_read_first (const lk_message *message, const lk_lock *lock,
                           lk_grant *grant);
bool lk_letter_has_others (const lk_message *message, const lk_lock *lock);
bool lk_letter_read_others (const lk_message *message, lk_lock *lock);

#endif
