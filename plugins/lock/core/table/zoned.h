/*  zoned.h - the queues of each zone, for its lists
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A list of a zone looks at nothing else: so it takes no time for what others
 *  have, and cannot show that. The default zone, which knows of others, and may
 *  have all locks of a cluster, has no index of its own.
 */

#ifndef LK_ZONED_H
#define LK_ZONED_H

#include "table.h"

/*  NULL: the default zone, or one that has no tickets. */
lk_zoned *lk_zoned_find (const lk_table *table, const char *name, size_t size);

/*  A queue that begins; and one that ends. */
void lk_zoned_join (lk_table *table, lk_queue *queue);
void lk_zoned_leave (lk_table *table, const lk_queue *queue);

#endif
