/*  watch.c - the tickets that a home has to look at when it is time
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "entry.h"
#include "grant.h"

#define WATCH_LOOKS 10000 /* tickets at a time */

/*  Whether time does something to it, whoever knows of it. */
static bool
is_timed (const lk_entry *entry)
{
    return entry->token != 0 ? entry->duration_ms > 0
                             : lk_grant_is_quiet (entry);
}

/*  A new one has nothing to end before. */
static int64_t
first_look (const lk_table *self, const lk_entry *entry)
{
    if (entry->token == 0) {
        return entry->since_ms + entry->quiet_ms + 1;
    }
    const lk_memo *memo = lk_entry_remembered (self, entry);
    bool is_new = !memo || memo->granted_ms == 0;
    return self->now_ms + (is_new ? entry->duration_ms : 0);
}

static void
watch_time (lk_table *self, lk_entry *entry, int64_t look_ms)
{
    (void) lk_entry_memo (self, entry);
    lk_heap_put (&self->timed, entry, look_ms);
}

/*  A lenient lock ends when its time is over and somebody waits for it. */
static void
look_at_lenient (lk_table *self, const lk_queue *queue)
{
    lk_entry *entry = lk_queue_is_lenient (queue) ? queue->first : NULL;
    for (; entry && entry->token != 0; entry = entry->next) {
        if (entry->lenient) {
            watch_time (self, entry, self->now_ms);
        }
    }
}

void
lk_entry_watch (lk_table *self, lk_entry *entry)
{
    const lk_queue *queue = entry->queue;
    if (self->watch_home == LK_LEADERS_MAX
        || lk_queue_home (self, queue) != self->watch_home) {
        return;
    }
    if (!entry->kept && !entry->confirmed) {
        lk_heap_put (&self->audits, entry,
                     entry->since_ms + self->watch_after_ms);
    }
    if (is_timed (entry)) {
        watch_time (self, entry, first_look (self, entry));
    }
    if (entry == queue->waiting || entry->upgrade) {
        look_at_lenient (self, queue);
    }
}

void
lk_table_unwatch (lk_table *self, lk_entry *entry)
{
    lk_heap_take (&self->audits, entry);
    if (entry->memo) {
        lk_heap_take (&self->timed, entry);
    }
}

/*  Whether its proxy knows of it nobody said in this term. */
static void
watch_copy (lk_table *self, lk_entry *entry)
{
    entry->confirmed = false;
    lk_entry_watch (self, entry);
    if (is_timed (entry)) {
        watch_time (self, entry, 0);
    }
}

bool
lk_table_is_watching (const lk_table *self)
{
    return self->watch_lot < LK_LOTS;
}

/*  Whole lots, between which the table may change. */
void
lk_table_watch_more (lk_table *self)
{
    size_t looks = 0;
    while (lk_table_is_watching (self) && looks < WATCH_LOOKS) {
        const lk_index *queues = &self->queues[self->watch_lot];
        const lk_index_link *link = lk_index_first (queues);
        looks += self->tickets[self->watch_lot];
        for (; link; link = lk_index_next (queues, link)) {
            lk_entry *entry = ((const lk_queue *) link)->first;
            for (; entry; entry = entry->next) {
                watch_copy (self, entry);
            }
        }
        self->watch_lot += self->decree.leader_count;
    }
}

void
lk_table_watch_home (lk_table *self, uint8_t home, int64_t after_ms)
{
    self->watch_home = home;
    self->watch_lot = home;
    self->watch_after_ms = after_ms;
    lk_table_watch_more (self);
}

void
lk_table_rehome (lk_table *self, int64_t now_ms)
{
    lk_heap_clear (&self->audits);
    lk_heap_clear (&self->timed);
    self->watch_home = LK_LEADERS_MAX;
    self->watch_lot = LK_LOTS;
    for (size_t home = 0; home < LK_LEADERS_MAX; home++) {
        self->open_ms[home] = now_ms;
    }
    for (lk_group *group = self->groups; group; group = group->hh.next) {
        group->silent_by = 0;
    }
}
