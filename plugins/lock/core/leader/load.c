/*  load.c - a leader's table from before this process, as its journal has it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "load.h"

#include "digest.h"
#include "doubt.h"
#include "leader_private.h"
#include "unsaved.h"
#include "util/alloc.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    lk_ticket *item;
    size_t count;
    size_t room;
    lk_arena names;
} tickets;

static lk_name
copy_name (tickets *self, lk_name name)
{
    name.data = lk_arena_dup (&self->names, name.data, name.size);
    return name;
}

static void
read_all (tickets *self, const lk_node_config *config)
{
    lk_ticket ticket;
    while (config->read_record (config->reader, &ticket)) {
        if (self->count == self->room) {
            self->room = self->room ? self->room * 2 : 1024;
            self->item =
                lk_realloc (self->item, self->room * sizeof *self->item);
        }
        ticket.object = copy_name (self, ticket.object);
        ticket.owner = copy_name (self, ticket.owner);
        self->item[self->count++] = ticket;
    }
}

static int
compare (uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/*  As they came to their places in the queues. */
static int
by_place (const void *one, const void *other)
{
    const lk_ticket *a = one;
    const lk_ticket *b = other;
    int order = compare (a->token, b->token);
    if (order == 0 && a->token != 0) {
        order = compare (a->ordinal, b->ordinal);
    }
    return order ? order : compare (a->number, b->number);
}

static void
fill (lk_table *table, const lk_record_head *head, const tickets *all,
      int64_t now_ms)
{
    lk_table_begin (table, &head->decree);
    for (size_t i = 0; i < all->count; i++) {
        lk_table_restore (table, &all->item[i], now_ms);
    }
    table->reclaim = head->reclaim;
    memcpy (table->sequence, head->sequence, sizeof table->sequence);
    memcpy (table->hash, head->hash, sizeof table->hash);
    lk_table_set_gone (table, head->gone);
}

static void
take (lk_leader *lead, lk_table *table, const lk_record_head *head)
{
    lk_table_move (&lead->table, table);
    lk_unsaved_begin (&lead->table);
    if (head->late) {
        lk_table_doubt (&lead->table);
    }
    lead->place =
        lk_decree_place (&lead->table.decree, lead->core->config.self);
    lead->sealed = true;
    lead->late = head->late;
    lk_leader_learn_releases (lead, head->releases, head->release_count);
    lead->recorder.releases = lead->home.released_next;
    lk_stream_restart (&lead->stream);
}

/*  protocol 9.18 */
void
lk_load_table (lk_leader *lead)
{
    const lk_node_config *config = &lead->core->config;
    const lk_record_head *head = config->recorded;
    tickets all = {0};
    lk_table table;
    if (!head || lk_decree_place (&head->decree, config->self) < 0) {
        return;
    }
    lk_arena_init (&all.names);
    read_all (&all, config);
    if (all.count > 0) {
        qsort (all.item, all.count, sizeof *all.item, by_place);
    }
    lk_table_init (&table);
    fill (&table, head, &all, lead->core->now_ms);
    if (lk_digest_mark (&table) == head->mark) {
        take (lead, &table, head);
    } else {
        lead->damaged = true;
    }
    lk_table_clear (&table);
    lk_free (all.item);
    lk_arena_clear (&all.names);
}

void
lk_leader_say_loaded (lk_leader *lead)
{
    if (lead->damaged) {
        lk_out_trace (lead->core, LK_TRACE_ERROR,
                      "the journal's table is not what was recorded: it is "
                      "filled anew");
    } else if (lead->sealed) {
        lk_out_trace (
            lead->core, LK_TRACE_NOTICE, "journal: term=%llu tickets=%zu%s",
            (unsigned long long) lead->table.decree.term.number,
            lead->table.count, lead->late ? " may lack the last" : "");
    }
}
