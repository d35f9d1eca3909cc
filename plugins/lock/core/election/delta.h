/*  delta.h - the own table becomes another one, by the slices that it lacks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Of another leader than the first: its table is an older one, mostly, of this
 *  term or a former one. lockkeeper-protocol(7), 9.6.
 */

#ifndef LK_DELTA_H
#define LK_DELTA_H

#include "election.h"

/*  Notes what the own table lacks of the one that the offer is of, and adds it
 *  to the answer, if that is little. */
void lk_delta_compare (lk_election *election, const lk_lock_message *offer,
                       lk_msg_filled *answer);

/*  Whether the chunk is of what was found lacking; and whether that came to
 *  something else than was offered. */
bool lk_delta_is_meant (const lk_election *election,
                        const lk_lock_message *chunk);
bool lk_delta_has_failed (const lk_election *election,
                          const lk_lock_message *chunk);

/*  All of it is in the doorway's staging: the own table becomes the one that
 *  was offered. What is in it stays as it was until then, and if something
 *  else came. */
void lk_delta_install (lk_election *election, const lk_msg_chunk *last);

#endif
