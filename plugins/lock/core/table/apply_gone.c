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
    return entry->group->id[0] == gone.host
           && entry->group->id[1] <= gone.session && !entry->kept;
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

/*  The tickets of a group, which may go with the last of them. */
static lk_entry **
list_group (const lk_group *group)
{
    lk_entry **list = lk_alloc (group->entries.count * sizeof (lk_entry *));
    size_t count = 0;
    const lk_index_link *link = lk_index_first (&group->entries);
    for (; link; link = lk_index_next (&group->entries, link)) {
        list[count++] = (lk_entry *) link;
    }
    return list;
}

/*  Drops what stands alone in its queue; notes the other queues. */
static void
drop_group (lk_table *self, uint8_t home, const lk_group *group,
            lk_queues *others)
{
    size_t count = group->entries.count;
    lk_entry **list = list_group (group);
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
lk_apply_gone (lk_table *self, uint8_t home, const lk_op *op,
               lk_notices *notices)
{
    lk_request_id gone = op->ticket.request;
    lk_group *group;
    lk_group *next;
    lk_queues others = {0};
    if (self->gone[home][gone.host] < gone.session) {
        self->gone[home][gone.host] = gone.session;
    }
    HASH_ITER (hh, self->groups, group, next) {
        if (group->id[0] == gone.host && group->id[1] <= gone.session) {
            drop_group (self, home, group, &others);
        }
    }
    lk_queues_sort (&others);
    for (size_t i = 0; i < others.count; i++) {
        if (drop_gone (self, others.item[i], gone)) {
            lk_apply_grant (self, home, others.item[i], notices);
        }
    }
    lk_free (others.item);
}
