/*  journal.h - the journal of this host's lock service
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A thread writes records, all that wait in one transaction, so that nothing
 *  waits for the disk but what has to.
 */

#ifndef LK_JOURNAL_H
#define LK_JOURNAL_H

#include "journal_file.h"

typedef struct lk_journal lk_journal;

/*  Takes the file. NULL and problem: there is no thread to be had. */
lk_journal *lk_journal_new (lk_journal_file **file_p, lk_problem *problem);

/*  Waits until all is written. NULL-safe, nulls the pointer. */
void lk_journal_destroy (lk_journal **self_p);

/*  Takes the batch. */
void lk_journal_put (lk_journal *self, lk_journal_batch **batch_p);

/*  Readable when there is something to take. */
int lk_journal_fd (const lk_journal *self);

/*  The number of the last record on disk. LK_SYSTEM and problem: one could not
 *  be written, and none is any more. */
lk_err lk_journal_take (lk_journal *self, uint64_t *number,
                        lk_problem *problem);

#endif
