/*  apply_gone.c - what a session that is over leaves behind
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "apply.h"
#include "entry.h"
#include "queues.h"

#include <string.h>

/*  Of the operation's host and up to its session: that counts, not `gone`,
 *  which the streams of other homes raise, too, in an order that is not the
 *  same on all leaders. Kept ones are not the session's.
 *  Protocol 9.10: Static locks. */
static bool
is_gone (const lk_entry *entry, lk_request_id gone)
{
    return entry->crowd->id[0] == gone.host
           && entry->crowd->id[1] <= gone.session && !entry->kept;
}

/*  Drops those of one queue; false if the queue went with them. */
static bool
drop_gone (lk_table *self, lk_queue *queue, lk_request_id gone)
{
    lk_entry *entry = queue->first;
    size_t left = 0;
    while (entry) {
        lk_entry *next = entry->next;
        if (!is_gone (entry, gone)) {
            left++;
        } else {
            lk_entry_remove (self, entry);
        }
        entry = next;
    }
    return left > 0;
}

/*  The tickets of a crowd, which may go with the last of them. */
static lk_entry **
list_crowd (const lk_crowd *crowd)
{
    lk_entry **list = lk_alloc (crowd->entries.count * sizeof (lk_entry *));
    size_t count = 0;
    const lk_index_link *link = lk_index_first (&crowd->entries);
    for (; link; link = lk_index_next (&crowd->entries, link)) {
        list[count++] = (lk_entry *) link;
    }
    return list;
}

/*  Drops what stands alone in its queue; notes the other queues. */
static void
drop_crowd (lk_table *self, uint8_t home, const lk_crowd *crowd,
            lk_queues *others)
{
    size_t count = crowd->entries.count;
    lk_entry **list = list_crowd (crowd);
    for (size_t i = 0; i < count; i++) {
        lk_queue *queue = list[i]->queue;
        if (lk_queue_home (self, queue) != home || list[i]->kept) {
            continue;
        }
        if (queue->first->next) {
            lk_queues_add (others, queue);
        } else {
            lk_entry_remove (self, list[i]);
        }
    }
    lk_free (list);
}

void
lk_table_carry_over (lk_table *self, const lk_decree *decree, int64_t now_ms)
{
    uint64_t gone[LK_HOSTS_MAX];
    for (lk_host host = 0; host < LK_HOSTS_MAX; host++) {
        gone[host] = lk_table_gone (self, host);
    }
    self->decree = *decree;
    memset (self->gone, 0, sizeof self->gone);
    lk_table_set_gone (self, gone);
    memset (self->reported, 0, sizeof self->reported);
    memset (self->reporting, 0, sizeof self->reporting);
    memset (self->parts, 0, sizeof self->parts);
    memset (self->sequence, 0, sizeof self->sequence);
    memset (self->hash, 0, sizeof self->hash);
    memset (self->slice, 0, sizeof self->slice);
    lk_table_rehome (self, now_ms);
}

void
lk_apply_gone (lk_table *self, uint8_t home, const lk_op *op, lk_tells *tells)
{
    lk_request_id gone = op->ticket.request;
    lk_crowd *crowd;
    lk_crowd *next;
    lk_queues others = {0};
    if (self->gone[home][gone.host] < gone.session) {
        self->gone[home][gone.host] = gone.session;
    }
    HASH_ITER (hh, self->crowds, crowd, next) {
        if (crowd->id[0] == gone.host && crowd->id[1] <= gone.session) {
            drop_crowd (self, home, crowd, &others);
        }
    }
    lk_queues_sort (&others);
    for (size_t i = 0; i < others.count; i++) {
        if (drop_gone (self, others.item[i], gone)) {
            lk_apply_grant (self, home, others.item[i], tells);
        }
    }
    lk_free (others.item);
}
