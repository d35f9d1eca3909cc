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

/*  UNLOCK: of our own request, and with its key if that is known. */
lk_message *lk_letter_unlock (const lk_lock *lock);

/*  UNLOCK for a grant (LOCKED) that nobody here has asked for any more. */
lk_message *lk_letter_give_back (const lk_message *grant);

/*  What a grant says; false if it lacks its token, key or session. */
typedef struct {
    uint64_t token;
    uint64_t key;
    uint64_t session;
    int64_t until_ms; /* of the duration, boot clock; INT64_MAX: no limit */
    int64_t lease_until_ms;
    const char *lease_page; /* belongs to the message; NULL: none */
} lk_grant;

bool lk_letter_read_grant (const lk_message *message, lk_grant *grant);

#endif
