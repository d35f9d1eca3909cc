/*  ousted.h - holders whose lock was taken away at once, by an operator
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  They are told until they say UNLOCK. The ticket is gone: a home remembers
 *  the last few of them, and one that takes over knows of none.
 */

#ifndef LK_OUSTED_H
#define LK_OUSTED_H

#include "leader.h"

#define LK_OUSTED_MAX 16

typedef struct {
    lk_request_id request; /* host LK_NOBODY: none */
    uint64_t token;
    lk_err error;
    int64_t said_ms;
    uint16_t object_size;
    uint16_t reason_size;
    char text[LK_NAME_SIZE_MAX + LK_REASON_MAX]; /* the object, the reason */
} lk_ousted;

typedef struct {
    lk_ousted *item; /* a ring of LK_OUSTED_MAX; NULL: there was none yet */
    size_t next;
} lk_ousteds;

void lk_ousted_clear (lk_ousteds *self);

/*  Tells the holder, now and until it is heard. */
void lk_ousted_add (lk_leader *lead, const lk_entry *holder,
                    const lk_msg_request *request);

/*  Says it once more, if that is one. */
bool lk_ousted_again (lk_leader *lead, lk_request_id request);

/*  It has said UNLOCK. */
void lk_ousted_heard (lk_ousteds *self, lk_request_id request);

/*  Says again what is due. */
void lk_ousted_run (lk_leader *lead);

/*  That number is another host's from now on. */
void lk_ousted_forget (lk_ousteds *self, lk_host host);

#endif
