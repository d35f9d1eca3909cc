/*  entry.h - one ticket of a table, and its place there
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For the table's own files: whoever changes a ticket takes it out of its
 *  queue first and puts it in again, so that queue and sum stay true.
 */

#ifndef LK_ENTRY_H
#define LK_ENTRY_H

#include "table.h"

/*  A new entry in its queue, where its token and number put it. */
lk_entry *lk_entry_new (lk_table *table, const lk_ticket *ticket,
                        int64_t now_ms);

/*  Frees it; returns its queue, NULL if that went with it. */
lk_queue *lk_entry_remove (lk_table *table, lk_entry *entry);

/*  Around each change of a ticket's token, number, key or mode. Put returns
 *  the digest of the grant that it is now. */
void lk_entry_take (lk_table *table, lk_entry *entry);
uint64_t lk_entry_put (lk_table *table, lk_entry *entry);

/*  In between: it is another request's of its host; or of its application on
 *  another machine, of a later registration, whose address is another one. */
void lk_entry_rename (lk_table *table, lk_entry *entry,
                      const lk_ticket *asking);

/*  The same of one that waits, where it is. */
void lk_entry_rename_waiting (lk_table *table, lk_entry *entry,
                              const lk_ticket *asking);

/*  Its mode, but for the bound. */
void lk_entry_set_mode (lk_entry *entry, const lk_lock_mode *mode);

/*  The object's stored bound is that, from now on; of a semaphore. */
void lk_entry_set_bound (lk_table *table, lk_queue *queue, uint32_t bound);

/*  If somebody waits in it: the table finds it again without a look at all. */
void lk_queue_note (lk_table *table, lk_queue *queue);

/*  As lk_table_queue, by its key and lk_hash64 () of that. */
lk_queue *lk_table_queue_by_hash (const lk_table *self, lk_name object,
                                  uint64_t hash);

/*  Time will do something to it: its home looks at it then (watch.c). */
void lk_entry_watch (lk_table *table, lk_entry *entry);

/*  It is kept: it is not its session's any more. */
void lk_entry_keep (lk_table *table, lk_entry *entry);

/*  Forgets what homes remember: the table's decree has become another, and all
 *  tickets may have other homes. */
void lk_table_rehome (lk_table *table, int64_t now_ms);

/*  The listing is made anew when it is next asked for. */
void lk_table_forget_listing (lk_table *table);

#endif
