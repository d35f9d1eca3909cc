/*  journal.c - the journals of the lock services, and their disks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

#include "node_view.h"

/*  -------------------------------------------------------- which */

static lk_journal_mode
draw_mode (sim_world *self)
{
    return (lk_journal_mode) sim_between (self, 0, LK_JOURNAL_MODES - 1);
}

void
sim_journal_begin (sim_world *self)
{
    static const int64_t waits_ms[] = {500, 2000, 5000};
    const sim_script *script = self->options.script;
    const lk_rng former = sim_dice_take (self, SIM_DIE_JOURNAL, 0);

    self->common.journal =
        sim_chance (self, 300) ? LK_JOURNAL_OFF : draw_mode (self);
    if (self->common.journal != LK_JOURNAL_OFF
        && !sim_fault_happens (self, SIM_FAULT_JOURNAL)) {
        self->common.journal = LK_JOURNAL_OFF;
    }
    self->mixed_journals =
        sim_chance (self, 100) && self->common.journal != LK_JOURNAL_OFF;
    self->common.journal_wait_ms = waits_ms[sim_between (self, 0, 2)];
    if (script || self->options.journal >= 0) {
        self->mixed_journals = false;
        self->common.journal = script ? script->journal : self->common.journal;
    }
    if (self->options.journal >= 0) {
        self->common.journal = (lk_journal_mode) self->options.journal;
    }
    self->rng = former;
    sim_tell (self, -1, "journal: %s%s", lk_journal_words[self->common.journal],
              self->mixed_journals ? ", and others" : "");
}

/*  Some disks are fast, and some are not. */
void
sim_journal_draw_host (sim_world *self, uint8_t place)
{
    static const int disks_ms[] = {0, 2, 10, 60};
    const lk_rng former =
        sim_dice_take (self, SIM_DIE_JOURNAL,
                       (uint64_t) self->lives[place] << 8 | (place + 1u));

    self->host[place].disk_ms = disks_ms[sim_between (self, 0, 3)];
    if (self->mixed_journals) {
        self->base.host[place].config.journal = draw_mode (self);
    }
    self->rng = former;
}

/*  -------------------------------------------------------- writing */

void
sim_journal_record (sim_world *self, uint8_t place)
{
    const sim_host *host = &self->host[place];

    sim_tell (self, place, "records, %zu at once",
              lk_world_journal_waiting (self->base.host[place].journal));
    sim_post (self, self->now + sim_between (self, 0, host->disk_ms),
              SIM_EVENT_RECORD, place, host->process);
}

void
sim_journal_arrive (sim_world *self, uint8_t place, uint32_t process)
{
    const sim_host *host = &self->host[place];
    lk_world_journal *journal = self->base.host[place].journal;
    lk_event event = {.type = LK_ON_RECORDED};

    if (!sim_host_is_up (self, place) || host->process != process
        || lk_world_journal_waiting (journal) == 0) {
        return;
    }
    if (sim_host_is_paused (self, place)) {
        sim_post (self, host->paused_until, SIM_EVENT_RECORD, place, process);
        return;
    }
    event.record =
        lk_world_journal_write (journal, lk_world_journal_waiting (journal));
    sim_host_step (self, place, &event);
}

static void
spoil (sim_world *self, uint8_t place)
{
    lk_world_journal *journal = self->base.host[place].journal;

    if (self->stormy && !self->options.script && sim_chance (self, 30)
        && lk_world_journal_spoil (
            journal, (uint64_t) sim_between (self, 0, INT64_C (1) << 40))) {
        self->totals.damaged++;
        sim_tell (self, place, "its journal is damaged");
    }
}

void
sim_journal_end (sim_world *self, uint8_t place, bool in_order)
{
    lk_world_journal *journal = self->base.host[place].journal;
    size_t waiting;

    if (!journal) {
        return;
    }
    waiting = lk_world_journal_waiting (journal);
    if (!in_order || sim_chance (self, 100)) {
        waiting = (size_t) sim_between (self, 0, (int64_t) waiting);
    }
    lk_world_journal_write (journal, waiting);
    self->totals.lost_records += lk_world_journal_waiting (journal);
    lk_world_journal_lose (journal);
    spoil (self, place);
}

/*  -------------------------------------------------------- reading */

static void
note_table (sim_world *self, uint8_t place)
{
    const lk_node *node = self->base.node[place];
    const lk_leader_view view = lk_node_view (node);
    sim_host *host = &self->host[place];

    host->sealed = view.sealed;
    host->late = view.late;
    host->whole = lk_node_table (node)->reclaim == 0;
    host->filled = lk_node_table (node)->decree.term;
}

void
sim_journal_loaded (sim_world *self, uint8_t place)
{
    const lk_leader_view view = lk_node_view (self->base.node[place]);

    self->totals.loaded += view.sealed;
    note_table (self, place);
    if (view.damaged
        && !lk_world_journal_is_spoilt (self->base.host[place].journal)) {
        sim_checker_fail (&self->checker,
                          "JOURNAL: h%d's is not what was recorded", place);
    }
}

/*  Whether the decree that filled the holder's table took a journal, and the
 *  judge did not hear that it came into force: it may have, and what was not on
 *  disk is lacking all the same. */
static bool
has_from_disk (sim_world *self, const sim_host *holder)
{
    const sim_known_decree *former =
        sim_checker_find_decree (&self->checker, holder->filled);

    return former && former->from_disk && !former->in_force;
}

/*  A kept ticket that a former leader's journal has is in the table of the new
 *  decree, too. One that was not on disk yet has lost its place. */
static void
look_at_election (sim_world *self, uint8_t place)
{
    const lk_election_view election =
        lk_election_see (lk_node_election (self->base.node[place]));
    const sim_host *holder;
    sim_known_decree *known;

    if (election.holder == LK_NOBODY || election.decree.leader_count == 0
        || election.decree.term.number == self->host[place].elected) {
        return;
    }
    self->host[place].elected = election.decree.term.number;
    holder = &self->host[election.holder];
    known = sim_checker_learn (&self->checker, &election.decree);
    if (known && holder->sealed) {
        known->from_disk = true;
        known->from_journal =
            election.decree.reclaim && holder->late && holder->whole;
        self->totals.late_reclaims += known->from_journal;
        sim_tell (self, place, "takes the journal of h%d", election.holder);
    } else if (known) {
        known->from_disk |= has_from_disk (self, holder);
    }
}

/*  One that is alone does all of it in one step. */
void
sim_journal_look (sim_world *self, uint8_t place)
{
    look_at_election (self, place);
    note_table (self, place);
}

/*  -------------------------------------------------------- hosts */

bool
sim_journal_names (const sim_world *self, uint8_t place, uint8_t other)
{
    const lk_world_journal *journal = self->base.host[place].journal;

    return journal && lk_world_journal_names (journal, other);
}

void
sim_journal_forget (sim_world *self, uint8_t place, uint8_t other)
{
    lk_world_journal *journal = self->base.host[place].journal;

    if (journal) {
        lk_world_journal_forget (journal, other);
    }
}
