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

#include "zoned.h"

/*  The next ticket of a zone, NULL: of all; NULL at the end. Begin with *cursor
 *  0; what is in it is for that walk alone, less than 2^53, and of a zone
 *  depends on nothing but its tickets. */
lk_entry *lk_walk_next (lk_table *table, const lk_zoned *zone, size_t *cursor);

/*  The cursor of the first ticket of an object; and whether a ticket is still
 *  of its place in the walk. */
size_t lk_walk_to (const lk_zoned *zone, lk_name object);
bool lk_walk_is_at (const lk_zoned *zone, const lk_entry *entry, size_t cursor);

#endif
