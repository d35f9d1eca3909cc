/*  outbox.h - what waits to leave on one connection
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A frame that comes alone leaves as the very frame it is. Small ones that
 *  come while others wait are packed with them into one. There is a bound
 *  (bounds.h), and a budget with others: what is over it is the caller's again,
 *  to be answered.
 */

#ifndef LK_OUTBOX_H
#define LK_OUTBOX_H

#include "budget.h"

#include "net/part.h"
#include "util/bytes.h"

#include <lockkeeper/error.h>

typedef struct lk_parcel lk_parcel;

typedef struct {
    lk_parcel *first;  /* with the last as its `prev` */
    size_t count;      /* of parcels */
    size_t size;       /* of all their bytes */
    lk_parcel *spare;  /* the last that was sent, to be used again; or NULL */
    lk_budget *budget; /* that it is part of; NULL: of none */
} lk_outbox;

/*  All that waits in it is part of that budget from now on. */
void lk_outbox_charge (lk_outbox *self, lk_budget *budget);

/*  Adds a whole frame, and takes it; the frame is empty then. LK_OVERLOADED
 *  if there is no room: then nothing was taken. */
lk_err lk_outbox_add (lk_outbox *self, lk_part *frame)
    __attribute__ ((warn_unused_result));

/*  Adds a copy of whole messages. */
lk_err lk_outbox_pack (lk_outbox *self, lk_slice messages)
    __attribute__ ((warn_unused_result));

/*  The same of what has to be told even if the receiver does not keep up: it
 *  has room of its own behind the bound, and stays in its order. */
lk_err lk_outbox_tell (lk_outbox *self, lk_slice messages)
    __attribute__ ((warn_unused_result));

/*  The next frame to send, NULL if there is none; it stays in the outbox
 *  until it is dropped. */
lk_part *lk_outbox_first (lk_outbox *self);
void lk_outbox_drop (lk_outbox *self);

/*  Moves the next frame to the end of another one, whatever that has. */
void lk_outbox_shift (lk_outbox *self, lk_outbox *to);

/*  In one whose frames were all moved there: the parcel behind that one, or the
 *  first if it is NULL; and its frame, NULL if there is none. */
lk_parcel *lk_outbox_step (const lk_outbox *self, const lk_parcel *parcel);
lk_part *lk_outbox_behind (const lk_outbox *self, const lk_parcel *parcel);

/*  Drops all. */
void lk_outbox_clear (lk_outbox *self);

#endif
