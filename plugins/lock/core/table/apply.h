/*  apply.h - what operations do to a table
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For the files that do it: lk_table_apply () calls the others.
 */

#ifndef LK_APPLY_H
#define LK_APPLY_H

#include "table.h"

/*  -------------------------------------------------------- grants, tells */

/*  The number of the operation that a home applies: unlike any other's. */
uint64_t lk_apply_stamp (const lk_table *table, uint8_t home);

/*  Notes what the operation did, for the chain and for the home to tell. */
void lk_apply_tell (lk_table *table, lk_notices *notices,
                    const lk_notice *notice);

/*  That a request has moved, to who said it before. Protocol 9.20: Moving. */
void lk_apply_tell_moved (lk_table *table, lk_notices *notices,
                          lk_request_id request);

/*  A lock as it is now, since later operations are acknowledged later. */
void lk_apply_tell_locked (lk_table *table, lk_notices *notices,
                           const lk_entry *entry);

/*  From now on it is held, or held otherwise. */
void lk_apply_activate (lk_table *table, uint8_t home, lk_entry *entry,
                        lk_notices *notices);

/*  Whoever may have the object now gets it, unless its home is still in
 *  reclaim. A home grants what it orders itself. */
void lk_apply_grant (lk_table *table, uint8_t home, lk_queue *queue,
                     lk_notices *notices);

/*  ... and whoever cannot have it yet is found again when that may have
 *  changed. */
void lk_apply_grant_or_note (lk_table *table, uint8_t home, lk_queue *queue,
                             lk_notices *notices);

/*  It is the turn of the first one of a set, from this one on, that is not
 *  held; but not if it is at another home: its proxy asks there. */
void lk_apply_queue_first (lk_table *table, uint8_t home, lk_request_id request,
                           lk_notices *notices);

/*  Whoever waits for one name of a set waits for the next one when it has it,
 *  and holds none behind: so sets never wait for each other in a circle. */
void lk_apply_go_on (lk_table *table, uint8_t home, lk_notices *notices);

/*  -------------------------------------------------------- operations */

void lk_apply_gone (lk_table *table, uint8_t home, const lk_op *op,
                    lk_notices *notices);

/*  False: it claims what does not go together with other claims. */
bool lk_apply_report (lk_table *table, uint8_t home, const lk_op *op,
                      int64_t now_ms, lk_notices *notices);

/*  Ahead of a claim in a report: what it takes the place of, as that of an
 *  application on another machine, goes; it may become a claim of another
 *  request. False: it is left out. apply_far.c. */
bool lk_apply_make_way (lk_table *table, lk_ticket *claim, lk_notices *notices);

void lk_apply_open (lk_table *table, uint8_t home, lk_notices *notices);

#endif
