/*  holders.h - who holds an object, by key and by token
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For objects that very many hold at once. Made when it is first asked for,
 *  and kept up to date from then on; most objects never need it.
 */

#ifndef LK_HOLDERS_H
#define LK_HOLDERS_H

#include "table.h"

void lk_holders_destroy (lk_holders **self_p);
void lk_holders_add (lk_holders *self, lk_entry *entry);

/*  While it still is as it was added. */
void lk_holders_remove (lk_holders *self, const lk_entry *entry);

/*  Who holds it with that key, or that token; NULL: nobody. */
lk_entry *lk_holder_by_key (lk_queue *queue, uint64_t key);
lk_entry *lk_holder_by_token (lk_queue *queue, uint64_t token);

/*  How many have that token: as many as one operation made holders. */
size_t lk_holders_with (lk_queue *queue, uint64_t token);

/*  The greatest token; 0: nobody holds it. */
uint64_t lk_holders_newest (lk_queue *queue);

#endif
