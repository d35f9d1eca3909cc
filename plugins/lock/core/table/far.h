/*  far.h - tickets of applications on other machines
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Owner and serial name such a request for ever, whichever host carries it: of
 *  each there is one ticket of an object at most. An application that takes a
 *  serial for two objects has two, since homes do not know of each other's.
 *  lockkeeper-protocol(7), 9.20.
 */

#ifndef LK_FAR_H
#define LK_FAR_H

#include "table.h"

uint32_t lk_far_hash (const lk_far_id *remote);

/*  A new ticket; nothing if it is not a remote one. */
void lk_far_join (lk_table *table, lk_entry *entry, const lk_far_id *remote);
void lk_far_leave (lk_table *table, lk_entry *entry);

#endif
