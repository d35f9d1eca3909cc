/*  journal_file.h - the table of a leader in an LMDB file
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  DIR/lock.journal has the tickets of the table that counts, those of one
 *  that may take its place, what belongs to the former, and whose file it is.
 *  LMDB keeps either all of a transaction or nothing, but looks at no byte that
 *  it reads: so each value carries a checksum, and a child process reads the
 *  whole file before it is used. One thread at a time may use it.
 */

#ifndef LK_JOURNAL_FILE_H
#define LK_JOURNAL_FILE_H

#include "journal_batch.h"
#include "net/problem.h"

typedef struct lk_journal_file lk_journal_file;

/*  Whose file it is, and how often it was opened: one that was copied away and
 *  back is known by that. */
typedef struct {
    uint64_t id; /* of the member; 0: nobody's, it is new */
    uint64_t opened;
} lk_journal_owner;

/*  Reads all of it, in a child process. LK_OK: it is whole, or not there;
 *  LK_INVALID: it is damaged; LK_SYSTEM and problem. */
lk_err lk_journal_file_check (const char *dir, lk_problem *problem);

/*  Removes it; no error if it is not there. */
lk_err lk_journal_file_remove (const char *dir, lk_problem *problem);

/*  Moves it to DIR/lock.journal.damaged, for people. */
lk_err lk_journal_file_put_aside (const char *dir, lk_problem *problem);

/*  Opens it, or makes an empty one. NULL and problem. */
lk_journal_file *lk_journal_file_open (const char *dir, lk_problem *problem);

/*  NULL-safe, nulls the pointer. */
void lk_journal_file_destroy (lk_journal_file **self_p);

lk_journal_owner lk_journal_file_owner (const lk_journal_file *self);

/*  Synced. */
lk_err lk_journal_file_own (lk_journal_file *self, lk_journal_owner owner,
                            lk_problem *problem);

/*  All of these, in one transaction, synced. */
lk_err lk_journal_file_write (lk_journal_file *self,
                              const lk_journal_batch *batches,
                              lk_problem *problem);

/*  -------------------------------------------------------- reading */

/*  The table that counts: begins to read it. False: there is none. What is read
 *  is borrowed until the reading ends. */
bool lk_journal_file_begin (lk_journal_file *self, lk_slice *head,
                            lk_slice *releases);

/*  The next of its tickets; false: there are no more. */
bool lk_journal_file_next (lk_journal_file *self, lk_slice *ticket);

void lk_journal_file_end (lk_journal_file *self);

#endif
