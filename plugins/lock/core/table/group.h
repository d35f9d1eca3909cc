/*  group.h - a session with its tickets
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_GROUP_H
#define LK_GROUP_H

#include "table.h"

/*  Sessions come from the proxies whose tickets they find, and serials, too, so
 *  that nobody aims at another's: a cheap hash will do. */
uint32_t lk_group_hash (const uint64_t id[2]);

/*  A ticket is in its session's index, and is not any more: the session may go
 *  with it. */
void lk_group_join (lk_table *table, lk_entry *entry, lk_request_id request);
void lk_group_leave (lk_table *table, lk_entry *entry);

/*  Nothing is kept of a host that has no tickets. */
void lk_group_forget (lk_table *table, lk_host host);

/*  Among those that end with the session: all but kept ones. */
void lk_group_count (lk_entry *entry);
void lk_group_uncount (lk_entry *entry);

#endif
