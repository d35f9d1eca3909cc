/*  relays.h - questions of zones that other lock services are asked
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A table and nothing else: look/relay.c asks and answers.
 */

#ifndef LK_RELAYS_H
#define LK_RELAYS_H

#include "wire/lock_message.h"

#include <lockkeeper/message.h>

#define LK_RELAYS_MAX 64    /* at a time */
#define LK_RELAY_MS 3000    /* until what has come has to do */
#define LK_RELAY_ROWS 20000 /* of one question, of all hosts */

typedef struct lk_relay {
    lk_message *answer; /* to who asked, with what has come so far */
    uint64_t serial;    /* ours, of what the others are asked */
    int64_t until_ms;
    lk_hosts pending; /* who has not answered */
    int64_t count;    /* LOCKHISTORY: rows that are wanted; 0: all */
    size_t rows;
    bool failed; /* of LOCKLIST: whom we asked does not lead */
    struct lk_relay *prev, *next;
} lk_relay;

typedef struct {
    lk_relay *first;
    size_t count;
    uint64_t last_serial;
} lk_relays;

void lk_relays_clear (lk_relays *self);

/*  A new one, which takes the answer; NULL: there are too many. */
lk_relay *lk_relays_add (lk_relays *self, lk_message **answer);

/*  Takes it out of the table; the caller owns the answer. */
lk_message *lk_relays_remove (lk_relays *self, lk_relay *relay);

/*  NULL: there is none. */
lk_relay *lk_relays_find (const lk_relays *self, uint64_t serial);

/*  When the next one is late; INT64_MAX. */
int64_t lk_relays_deadline (const lk_relays *self);

#endif
