/*  crowd.h - a session with its tickets
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_CROWD_H
#define LK_CROWD_H

#include "table.h"

/*  Sessions come from the proxies whose tickets they find, and serials, too, so
 *  that nobody aims at another's: a cheap hash will do. */
uint32_t lk_crowd_hash (const uint64_t id[2]);

/*  A ticket is in its session's index, and is not any more: the session may go
 *  with it. */
void lk_crowd_join (lk_table *table, lk_entry *entry, lk_request_id request);
void lk_crowd_leave (lk_table *table, lk_entry *entry);

/*  Nothing is kept of a host that has no tickets. */
void lk_crowd_forget (lk_table *table, lk_host host);

/*  Among those that end with the session: all but kept ones. */
void lk_crowd_count (lk_entry *entry);
void lk_crowd_uncount (lk_entry *entry);

#endif
