/*  unsaved.h - tickets that a journal has not, or not as they are
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A table whose leader has a journal lists the requests of all tickets that
 *  were added, changed or removed since it was last asked for them.
 */

#ifndef LK_UNSAVED_H
#define LK_UNSAVED_H

#include "table.h"

/*  For the table's own files: the ticket is new, changed or about to go. */
void lk_unsaved_add (lk_table *table, lk_entry *entry);

/*  The list begins, empty; what is in the table is in the journal. */
void lk_unsaved_begin (lk_table *table);

/*  A ticket of the list; NULL: that request's is gone. `place` is less than
 *  table->unsaved_count. */
lk_entry *lk_unsaved_entry (const lk_table *table, size_t place);

/*  The list is empty again: the journal is given all of it. */
void lk_unsaved_clear (lk_table *table);

#endif
