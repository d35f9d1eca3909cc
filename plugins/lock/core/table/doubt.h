/*  doubt.h - tickets that an old journal says are held
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Kept tickets are held. All others count as held only once their holders
 *  claim them, in a reclaim. lockkeeper-protocol(7), 9.18.
 */

#ifndef LK_DOUBT_H
#define LK_DOUBT_H

#include "table.h"

/*  The table may lack the last operations: what is held is unproved, nobody
 *  waits any more. */
void lk_table_doubt (lk_table *self);

/*  For the table's own files: those go that do not go together with what is
 *  claimed, and the unproved ticket of the same request. */
void lk_doubt_make_way (lk_table *self, const lk_ticket *claim);

/*  ... those of a home that are still unproved go. */
void lk_doubt_end (lk_table *self, uint8_t home);

#endif
