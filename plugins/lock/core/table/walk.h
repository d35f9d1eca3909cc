/*  walk.h - through all tickets of a table, in parts, while it changes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  In an order of hashes that stays: a ticket that is there all the time comes
 *  once, unless others of its own object come ahead of it, or go.
 */

#ifndef LK_WALK_H
#define LK_WALK_H

#include "table.h"

/*  The next ticket; NULL at the end. Begin with *cursor 0; what is in it is for
 *  this function alone, and less than 2^53. */
lk_entry *lk_walk_next (lk_table *table, size_t *cursor);

/*  The cursor of the first ticket of an object; and whether a ticket is still
 *  of its place in the walk. */
size_t lk_walk_to (lk_name object);
bool lk_walk_is_at (const lk_entry *entry, size_t cursor);

#endif
