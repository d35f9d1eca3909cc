/*  noted.h - an index of some of a table's queues
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_NOTED_H
#define LK_NOTED_H

#include "table.h"

/*  Begins empty; by the hash of each queue. */
void lk_noted_init (lk_index *index);

/*  A queue that is not in it; and one that is. */
void lk_noted_add (lk_index *index, lk_queue *queue);
void lk_noted_remove (lk_index *index, const lk_queue *queue);

#endif
