/*  record.h - what a leader has, as its journal gets it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One record after the other has what changed in the table; the next one is
 *  made when the last one is on disk, so what comes in between travels
 *  together. A leader acknowledges no operation of a synchronous journal ahead
 *  of its record, and of another no operation that changes a kept lock.
 *  lockkeeper-protocol(7), 9.18.
 */

#ifndef LK_RECORD_H
#define LK_RECORD_H

#include "leader.h"

/*  How far the streams are, and their chains there. */
typedef struct {
    uint64_t sequence[LK_LEADERS_MAX];
    uint64_t hash[LK_LEADERS_MAX];
} lk_reach;

typedef struct {
    uint64_t number;    /* of the last record */
    uint64_t done;      /* of the last one on disk */
    uint64_t installed; /* since this one the own table is on disk */
    bool is_changed;    /* something, since the last one */
    bool is_urgent;     /* ... and somebody waits for it */
    int64_t due_ms;     /* else it goes then */
    bool is_over;       /* nothing is acknowledged any more */
    size_t releases;    /* that the journal was given, ever */
    uint64_t vital[LK_LEADERS_MAX]; /* the last operation of each home that is
                                       to be on disk in any case */
    lk_reach given;                 /* with the last record, */
    lk_reach known;                 /* on disk */
} lk_recorder;

void lk_record_init (lk_recorder *self);

/*  An operation of that home was applied. */
void lk_record_applied (lk_leader *lead, uint8_t home);

/*  The own table is another one now. */
void lk_record_installed (lk_leader *lead, lk_table_source source);

/*  All records up to that one are on disk; true: all that were given are. */
bool lk_record_done (lk_leader *lead, uint64_t number);

/*  Up to which operation of a home this leader may acknowledge, and the chain
 *  there. */
uint64_t lk_record_reached (const lk_leader *lead, uint8_t home,
                            uint64_t *hash);

#endif
