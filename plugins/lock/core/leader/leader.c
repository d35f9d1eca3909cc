/*  leader.c - this host as a leader: its table comes, is in force, and goes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "leader.h"

#include "leader_private.h"
#include "load.h"
#include "ousted.h"

#include <string.h>

static void
init_home (lk_home *self)
{
    memset (self, 0, sizeof *self);
    self->asked_ms = LK_LONG_AGO;
    self->digest_ms = LK_LONG_AGO;
    self->ripe_ms = INT64_MAX;
    for (size_t i = 0; i < LK_RELEASES_KEPT; i++) {
        self->released[i].by.host = LK_NOBODY;
        self->refused[i].by.host = LK_NOBODY;
    }
}

static void
clear_home (lk_home *self)
{
    lk_free (self->ended);
    lk_free (self->ended_far);
    lk_ousted_clear (&self->ousted);
}

/*  For another term: what was ended by key or by force is remembered. */
static void
restart_home (lk_home *self)
{
    lk_release released[LK_RELEASES_KEPT];
    const size_t next = self->released_next;
    memcpy (released, self->released, sizeof released);
    clear_home (self);
    init_home (self);
    memcpy (self->released, released, sizeof released);
    self->released_next = next;
}

void
lk_leader_init (lk_leader *lead, lk_core *core)
{
    memset (lead, 0, sizeof *lead);
    lead->core = core;
    lk_table_init (&lead->table);
    lk_table_init (&lead->copy);
    lead->place = -1;
    lk_stream_init (&lead->stream);
    lk_shortcut_init (&lead->shortcut);
    init_home (&lead->home);
    lk_record_init (&lead->recorder);
    lk_load_table (lead);
}

void
lk_leader_clear (lk_leader *lead)
{
    lk_stream_clear (&lead->stream);
    lk_shortcut_clear (&lead->shortcut);
    clear_home (&lead->home);
    lk_table_clear (&lead->table);
    lk_copy_drop (lead);
}

const lk_decree *
lk_leader_decree (const lk_leader *lead)
{
    return &lead->table.decree;
}

lk_table *
lk_leader_table (lk_leader *lead)
{
    return &lead->table;
}

bool
lk_leader_is_sealed (const lk_leader *lead)
{
    return lead->sealed;
}

bool
lk_leader_is_late (const lk_leader *lead)
{
    return lead->late;
}

void
lk_leader_install (lk_leader *lead, lk_table *table, lk_table_source source)
{
    lk_table_move (&lead->table, table);
    if (lk_table_is_filled (&lead->table)) {
        lk_copy_drop (lead);
    }
    lead->place =
        lk_decree_place (&lead->table.decree, lead->core->config.self);
    lead->ready = false;
    lead->sealed = false;
    lead->late = false;
    lk_stream_restart (&lead->stream);
    lk_shortcut_restart (&lead->shortcut);
    restart_home (&lead->home);
    for (size_t host = 0; host < LK_HOSTS_MAX; host++) {
        lead->core->peer[host].condemned = 0;
    }
    int place = lk_leader_place (lead);
    LK_ASSERT (place >= 0 || !lk_table_is_filled (&lead->table));
    if (place >= 0) {
        lk_table_watch_home (&lead->table, (uint8_t) place,
                             lead->core->config.host_lease_ms);
    }
    lk_record_installed (lead, source);
    lk_out_status (lead->core);
}

void
lk_leader_drop_old (lk_leader *lead)
{
    const lk_decree *decree = &lead->core->in_force;
    if (lk_table_is_filled (&lead->table)
        && lk_term_compare (lead->table.decree.term, decree->term) < 0
        && lk_decree_place (decree, lead->core->config.self) < 0) {
        lk_table none;
        lk_table_init (&none);
        lk_copy_keep (lead);
        lk_leader_install (lead, &none, LK_TABLE_NEW);
    }
}
