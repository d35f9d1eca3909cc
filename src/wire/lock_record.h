/*  lock_record.h - what a leader's journal has, and its form on disk
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each value on disk stands for itself, packed as in lockkeeper-protocol(7),
 *  8.7, with hosts by name and id, since numbers are a process's own.
 */

#ifndef LK_LOCK_RECORD_H
#define LK_LOCK_RECORD_H

#include "util/arena.h"
#include "util/bytes.h"
#include "wire/hostmap.h"
#include "wire/lock_message.h"

/*  Beside its tickets: all that makes a table on disk a table again. */
typedef struct {
    lk_decree decree; /* no leaders: there is no table */
    uint8_t reclaim;
    uint64_t sequence[LK_LEADERS_MAX];
    uint64_t hash[LK_LEADERS_MAX];
    uint64_t gone[LK_HOSTS_MAX];
    uint64_t mark; /* of the whole table, with all of its tickets */
    const lk_release *releases; /* NULL: as they were */
    size_t release_count;
    bool late; /* it may lack what was acknowledged */
} lk_record_head;

typedef enum {
    LK_RECORD_CHANGES, /* tickets of the table as they are now, and gone ones */
    LK_RECORD_PART,    /* tickets of another one that may take its place */
    LK_RECORD_WHOLE,   /* ... which it does now: all of them were there */
    LK_RECORD_NONE     /* the table is gone; one that comes goes on coming */
} lk_record_kind;

/*  One record of the journal. All of it is on disk, or nothing. */
typedef struct {
    lk_record_kind kind;
    uint64_t number;     /* one more each time */
    bool first;          /* PART: those before are of no use */
    lk_record_head head; /* CHANGES, WHOLE, NONE */
    lk_ticket *tickets;  /* CHANGES, PART */
    size_t ticket_count;
    lk_request_id *gone; /* CHANGES */
    size_t gone_count;
} lk_record;

/*  -------------------------------------------------------- on disk */

/*  Names a ticket, whatever number its host has. */
#define LK_RECORD_KEY_SIZE 24

void lk_record_key (lk_request_id request, const lk_hostmap *hostmap,
                    char key[LK_RECORD_KEY_SIZE]);

/*  Appended to `out`. The requests that ended a lock stand for themselves, and
 *  are not in the head. */
void lk_record_pack_ticket (const lk_ticket *ticket, const lk_hostmap *hostmap,
                            lk_bytes *out);
void lk_record_pack_head (const lk_record_head *head, const lk_hostmap *hostmap,
                          lk_bytes *out);
void lk_record_pack_releases (const lk_record_head *head,
                              const lk_hostmap *hostmap, lk_bytes *out);

/*  Reads what was packed, interning its hosts; what is read points into `arena`
 *  and into the bytes. False: it makes no sense. */
bool lk_record_unpack_ticket (lk_slice bytes, lk_hostmap *hostmap,
                              lk_arena *arena, lk_ticket *ticket);
bool lk_record_unpack_head (lk_slice bytes, lk_hostmap *hostmap,
                            lk_arena *arena, lk_record_head *head);
bool lk_record_unpack_releases (lk_slice bytes, lk_hostmap *hostmap,
                                lk_arena *arena, lk_record_head *head);

#endif
