/*  journal_batch.h - a record as the journal's file takes it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Made by who knows the numbers of hosts, and written by a thread that does
 *  not.
 */

#ifndef LK_JOURNAL_BATCH_H
#define LK_JOURNAL_BATCH_H

#include "wire/lock_record.h"

/*  Bytes of `data`. */
typedef struct {
    size_t at;
    size_t size;
} lk_journal_piece;

typedef struct {
    char key[LK_RECORD_KEY_SIZE];
    lk_journal_piece value; /* size 0: it is gone */
} lk_journal_row;

typedef struct lk_journal_batch lk_journal_batch;

struct lk_journal_batch {
    uint64_t number;
    lk_record_kind kind;
    bool first;
    lk_journal_row *rows; /* of tickets */
    size_t row_count;
    lk_journal_piece head;     /* size 0: none; likewise */
    lk_journal_piece releases; /* as they were */
    lk_bytes data;
    lk_journal_batch *next; /* of a queue */
};

lk_journal_batch *lk_journal_batch_new (const lk_record *record,
                                        const lk_hostmap *hostmap);

/*  NULL-safe, nulls the pointer. */
void lk_journal_batch_destroy (lk_journal_batch **self_p);

#endif
