/*  world.c - a cluster in one process: how a run begins, goes on and ends
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

#include "calm.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CALM_MS 42000     /* after the storm */
#define APPS_END_MS 28000 /* after the storm: then nobody asks any more */
#define SETTLED_MS 18000  /* after it: who died is forgotten everywhere */
#define WATCH_MS 500
#define IDLE_MS 2500         /* nobody has what somebody waits for, at most */
#define TABLES_EVERY 64      /* steps between looks into the tables ... */
#define BIG_TABLES_EVERY 256 /* ... and into those with ballast */

void
sim_world_init (sim_world *self)
{
    memset (self, 0, sizeof *self);
    sim_queue_init (&self->queue);
    sim_hosts_init (self);
    sim_calls_init (&self->calls);
}

void
sim_world_clear (sim_world *self)
{
    sim_queue_clear (&self->queue);
    lk_world_clear (&self->base);
    sim_calls_clear (&self->calls);
    sim_clients_clear (self);
    sim_registers_clear (&self->registers);
    sim_remotes_clear (self);
}

/*  -------------------------------------------------------- helpers */

void
sim_post (sim_world *self, int64_t at, sim_event_type type, uint8_t host,
          uint32_t what)
{
    sim_queue_put (&self->queue, (sim_event) {.at = at,
                                              .type = (uint8_t) type,
                                              .host = host,
                                              .what = what});
}

void
sim_tell (sim_world *self, int host, const char *format, ...)
{
    va_list arguments;

    if (!self->options.story) {
        return;
    }
    if (host < 0) {
        printf ("%8lld ---- ", (long long) self->now);
    } else {
        printf ("%8lld h%d   ", (long long) self->now, host);
    }
    va_start (arguments, format);
    vprintf (format, arguments);
    va_end (arguments);
    printf ("\n");
}

/*  -------------------------------------------------------- setting out */

static const struct {
    int64_t leader_ms;
    int64_t host_ms;
} leases[] = {{2000, 8000}, {2000, 8000}, {1500, 5000},
              {800, 3000},  {1000, 4000}, {2500, 8000}};

/*  What all hosts have in common. */
static void
draw_config (sim_world *self, lk_node_config *config)
{
    static const uint8_t leaders[] = {1, 3, 3, 5};
    const sim_script *script = self->options.script;
    int64_t lease = sim_between (self, 0, 5);

    lk_node_config_init (config);
    config->leaders_max = leaders[sim_between (self, 0, 3)];
    config->leader_lease_ms = leases[lease].leader_ms;
    config->host_lease_ms = leases[lease].host_ms;
    config->grace_ms = sim_between (self, 500, 4000);
    config->digest_ms = 300 + (int64_t) (self->seed % 7) * 1500;
    if (script) {
        config->leaders_max = (uint8_t) script->leaders_max;
        config->leader_lease_ms = script->leader_lease_ms;
        config->host_lease_ms = script->host_lease_ms;
    }
    if (self->options.leaders > 0) {
        config->leaders_max = (uint8_t) self->options.leaders;
    }
}

/*  An arbiter of a script would be the first whose turn it is, if it were no
 *  arbiter. */
static void
draw_candidate (sim_world *self, uint8_t place, lk_candidate *candidate)
{
    bool is_first = self->options.script && sim_is_arbiter (self, place);

    *candidate = (lk_candidate) {
        .priority =
            sim_chance (self, 600) ? 8 : (uint8_t) sim_between (self, 1, 15),
        .random = (uint32_t) sim_between (self, 0, (1 << 28) - 1),
        .address = {is_first ? 9 : 10, 0, 0, place},
        .port = 7000,
        .pid = place};
}

void
sim_host_draw (sim_world *self, uint8_t place, bool member, int64_t up_at)
{
    sim_host *host = &self->host[place];
    lk_world_host *base = &self->base.host[place];
    uint32_t processes = self->lives[place] ? host->process : 0;

    memset (host, 0, sizeof *host);
    lk_world_journal_destroy (&base->journal);
    *base = (lk_world_host) {.doom = -1};
    host->process = processes;
    sim_dice_take (self, SIM_DIE_HOST, self->lives[place] << 8 | place);
    host->rate = self->extreme_clocks ? (sim_chance (self, 500) ? 900 : 1100)
                                      : sim_between (self, 900, 1100);
    if (self->fair_clocks) {
        host->rate = sim_between (self, 970, 1030);
    }
    if (!self->wrong_clocks) {
        host->rate = 1000;
    }
    host->offset = sim_between (self, 1000000, 9000000);
    host->tick_at = SIM_FOREVER;
    host->machine = place;
    host->generation = self->generations.count - 1;
    base->config = self->common;
    base->config.generation = self->generations.item[host->generation].number;
    base->config.self = place;
    base->config.id = lk_rng_next (&self->rng) | 1;
    base->config.member = member;
    base->config.eligible = self->options.script || !sim_chance (self, 120);
    base->config.arbiter = sim_is_arbiter (self, place);
    draw_candidate (self, place, &base->config.candidate);
    if (base->config.member) {
        base->disk.active.members = LK_HOST_BIT (self->member_count) - 1;
    }
    host->batch_ms =
        self->options.script ? -1 : (int) sim_between (self, -3, 3);
    sim_journal_draw_host (self, place);
    if (base->config.arbiter) {
        base->config.journal = LK_JOURNAL_OFF;
    }
    sim_checker_facts (&self->checker, place, &base->disk, true);
    sim_post (self, up_at, SIM_EVENT_UP, place, 0);
    sim_post (self, self->now + 300, SIM_EVENT_INTRODUCE, place, 0);
}

static void
draw_hosts (sim_world *self)
{
    const sim_script *script = self->options.script;
    bool leadable = false;

    self->extreme_clocks = sim_chance (self, 500);
    self->fair_clocks = sim_chance (self, 300);
    self->wrong_clocks = sim_fault_happens (self, SIM_FAULT_CLOCKS);
    self->member_count = (size_t) sim_between (self, 1, 7);
    self->base.count = (size_t) sim_between (self, 0, 2);
    if (self->options.members > 0) {
        self->member_count = (size_t) self->options.members;
    }
    if (self->options.others >= 0) {
        self->base.count = (size_t) self->options.others;
    }
    if (self->member_count == 1 && self->base.count == 0) {
        self->base.count = 1;
    }
    if (script) {
        self->member_count = (size_t) script->members;
        self->base.count = (size_t) script->others;
    }
    sim_arbiters_draw (self);
    self->base.count += self->member_count;
    draw_config (self, &self->common);
    sim_journal_begin (self);
    for (uint8_t place = 0; place < self->base.count; place++) {
        sim_host_draw (self, place, place < self->member_count,
                       sim_between (self, 0, 300));
    }
    for (size_t place = 0; place < self->member_count; place++) {
        leadable |= sim_may_lead (self, (uint8_t) place);
    }
    if (!leadable) {
        self->base.host[sim_next_served (self, 0)].config.eligible = true;
    }
}

static void
begin_dining (sim_world *self, bool may)
{
    lk_rng former = sim_dice_take (self, SIM_DIE_DINERS, 0);
    sim_dining_begin (self, may && sim_chance (self, 150));
    self->rng = former;
}

/*  How long the storm is, and what it brings. */
static void
draw_course (sim_world *self)
{
    const sim_script *script = self->options.script;
    uint32_t ballast;

    sim_dice_take (self, SIM_DIE_SCENE, 1);
    sim_apps_begin (self);
    sim_clients_begin (self);
    sim_remotes_begin (self);
    sim_dice_take (self, SIM_DIE_STORM, 0);
    self->late_ms =
        sim_chance (self, 500) && sim_fault_happens (self, SIM_FAULT_LATE_TICKS)
            ? 3
            : 0;
    self->storm_end = sim_chance (self, 30) ? sim_between (self, 60000, 300000)
                                            : sim_between (self, 12000, 45000);
    ballast = (uint32_t) sim_between (self, 200, 1500);
    if (script) {
        self->apps.habits.give_back = script->give_back;
        self->storm_end = 40000;
        ballast = script->ballast;
    } else if (!sim_chance (self, 25)) {
        ballast = 0;
    }
    if (self->options.storm_ms > 0) {
        self->storm_end = self->options.storm_ms;
    }
    if (ballast && !sim_fault_happens (self, SIM_FAULT_BALLAST)) {
        ballast = 0;
    }
    sim_ballast_begin (self, ballast);
    begin_dining (self, !script && !ballast);
    if (!script) {
        sim_storm_begin (self);
        sim_dice_take (self, SIM_DIE_AMBUSH, 0);
        sim_ambush_begin (self);
        sim_forget_begin (self);
        sim_drain_begin (self);
        sim_places_begin (self);
    }
}

static void
set_out (sim_world *self, const sim_options *options, uint64_t seed)
{
    self->options = *options;
    if (options->script && options->script->remotes > 0) {
        self->options.apps = 0; /* they are on other machines */
    }
    self->seed = seed;
    self->dice_seed = seed * 0x9e3779b97f4a7c15u + 12345;
    self->dice = (sim_dice) {.event = {{{0}}}};
    self->faults.count = 0;
    self->now = 0;
    self->digest = seed;
    self->stepping = -1;
    self->stormy = true;
    self->totals = (sim_totals) {.seeds = 1};
    self->plot = (sim_plot) {.act = 0};
    self->storm = (sim_storm) {.gone_told = 0};
    self->forgetful = false;
    self->drains = false;
    self->places.known = false;
    self->stops = 0;
    self->generations = (sim_generations) {.count = 1};
    memset (self->lives, 0, sizeof self->lives);
    sim_queue_reset (&self->queue);
    memset (&self->network, 0, sizeof self->network);
    sim_calls_reset (&self->calls);
    sim_registers_reset (&self->registers);
    sim_checker_init (&self->checker);
    sim_ambush_off (&self->ambush);
    sim_dice_take (self, SIM_DIE_SCENE, 0);
    draw_hosts (self);
    self->checker.stopping_ms =
        self->common.host_lease_ms / 4 * 10 / 11 - 2; /* by any host's clock */
    sim_tell (self, -1, "%zu members and %zu others", self->member_count,
              self->base.count - self->member_count);
    if (self->arbiters != 0) {
        sim_tell (self, -1, "arbiters (bits): %llx, %lld/1000 leases away",
                  (unsigned long long) self->arbiters,
                  (long long) self->arbiter_way);
    }
    draw_course (self);
    sim_post (self, self->storm_end, SIM_EVENT_CALM, 0, 0);
}

/*  -------------------------------------------------------- going on */

/*  A process that wakes up may read what has come before it looks at the time,
 *  or after that. */
static void
tick (sim_world *self, const sim_event *cause)
{
    sim_host *host = &self->host[cause->host];
    lk_event event = {.type = LK_ON_TICK};

    if (!self->base.node[cause->host] || host->tick_at != cause->at) {
        return;
    }
    if (sim_host_is_paused (self, cause->host)) {
        host->tick_at = host->paused_until + sim_between (self, 0, 3);
        sim_post (self, host->tick_at, SIM_EVENT_TICK, cause->host, 0);
        return;
    }
    host->tick_at = SIM_FOREVER;
    sim_host_step (self, cause->host, &event);
}

static void
report_gone (sim_world *self, const sim_event *cause)
{
    lk_event event = {.type = LK_ON_HOST_GONE, .host = (lk_host) cause->what};

    if (sim_host_is_up (self, cause->host)
        && !sim_host_is_paused (self, cause->host)) {
        sim_host_step (self, cause->host, &event);
    }
}

static void
begin_calm (sim_world *self)
{
    sim_storm_end (self);
    sim_post (self, self->now + SETTLED_MS, SIM_EVENT_WATCH, 0, 0);
    sim_post (self, self->now + APPS_END_MS, SIM_EVENT_APPS_END, 0, 0);
    sim_post (self, self->now + CALM_MS, SIM_EVENT_END, 0, 0);
}

static void
end_storm (sim_world *self)
{
    self->stormy = false;
    sim_ambush_off (&self->ambush);
    if (sim_generation_is_pending (self)) {
        sim_post (self, self->now + 500, SIM_EVENT_CALM, 0, 0);
        return;
    }
    if (!sim_drought_begin (self)) {
        begin_calm (self);
    }
}

/*  A dead waiter costs nobody time, and neither does a message that is lost on
 *  a dead link: it goes another way. But a home that does not hear a host ends
 *  its former session by its own clock alone. */
static void
watch (sim_world *self)
{
    const lk_decree *latest = sim_checker_latest (&self->checker);
    lk_hosts alive = 0;

    if (self->checker.settled_at == 0) {
        self->checker.settled_at = self->now;
    }
    for (uint8_t host = 0; latest && host < self->base.count; host++) {
        if (sim_host_is_up (self, host)
            && sim_calm_reaches_all (self, latest, host)) {
            alive |= LK_HOST_BIT (host);
        }
    }
    sim_kinds_tidy (self);
    if (self->apps.open) {
        sim_checker_idle (&self->checker, alive, IDLE_MS);
    }
    sim_post (self, self->now + WATCH_MS, SIM_EVENT_WATCH, 0, 0);
}

/*  From here on nothing is granted; or it is over. */
static void
go_on_in_drought (sim_world *self, bool rains)
{
    if (rains) {
        sim_drought_check (self);
        begin_calm (self);
    } else {
        self->dry_grants = self->checker.grants;
    }
}

static void
end_apps (sim_world *self)
{
    sim_calm_check_releases (self);
    self->apps.open = false;
}

static void
happen_on_host (sim_world *self, const sim_event *event)
{
    switch ((sim_event_type) event->type) {
    case SIM_EVENT_TICK:
        tick (self, event);
        break;
    case SIM_EVENT_LETTER:
        sim_network_arrive (self, event->host, event->what);
        break;
    case SIM_EVENT_CALL:
        sim_call_arrive (self, event->host, event->what);
        break;
    case SIM_EVENT_APP:
        sim_apps_act (self, event->host, event->what);
        break;
    case SIM_EVENT_CLIENT:
        sim_client_wake (self, event->host);
        break;
    case SIM_EVENT_DESK:
        sim_desk_arrive (self, event->host);
        break;
    case SIM_EVENT_INTRODUCE:
        sim_host_introduce (self, event->host);
        break;
    case SIM_EVENT_FLUSH:
        sim_host_flush (self, event->host);
        break;
    case SIM_EVENT_RECORD:
        sim_journal_arrive (self, event->host, event->what);
        break;
    case SIM_EVENT_UP:
        sim_host_up (self, event->host);
        break;
    case SIM_EVENT_HALT:
        sim_host_stop (self, event->host, false, event->what);
        break;
    case SIM_EVENT_DRAIN:
        sim_drain_and_halt (self, event->host, event->what);
        break;
    case SIM_EVENT_GONE:
        report_gone (self, event);
        break;
    default:
        break;
    }
}

static void
happen (sim_world *self, const sim_event *event)
{
    switch ((sim_event_type) event->type) {
    case SIM_EVENT_ERRAND:
        sim_register_arrive (self, event->what);
        break;
    case SIM_EVENT_BALLAST:
        sim_ballast_act (self);
        break;
    case SIM_EVENT_FORGET:
        sim_forget_strike (self);
        break;
    case SIM_EVENT_REMOTE:
        sim_remote_wake (self, event->host);
        break;
    case SIM_EVENT_MAIL:
        sim_mail_arrive (self, event->what);
        break;
    case SIM_EVENT_MOVE:
        sim_places_move (self);
        break;
    case SIM_EVENT_OATH:
        sim_generation_look (self);
        break;
    case SIM_EVENT_DINER:
        sim_dining_act (self, event->what);
        break;
    case SIM_EVENT_STORM:
        sim_storm_strike (self);
        break;
    case SIM_EVENT_CALM:
        end_storm (self);
        break;
    case SIM_EVENT_WATCH:
        watch (self);
        break;
    case SIM_EVENT_DRY:
    case SIM_EVENT_RAIN:
        go_on_in_drought (self, event->type == SIM_EVENT_RAIN);
        break;
    case SIM_EVENT_APPS_END:
        end_apps (self);
        break;
    case SIM_EVENT_END:
    case SIM_EVENT_COUNT:
        sim_calm_check (self);
        break;
    default:
        happen_on_host (self, event);
    }
}

/*  What the leaders' tables are when something was violated. */
static void
tell_tables (sim_world *self)
{
    const lk_decree *latest = sim_checker_latest (&self->checker);
    char story[SIM_STORY_SIZE];
    lk_ticket ticket;

    for (size_t place = 0; latest && place < latest->leader_count; place++) {
        uint8_t host = latest->leader[place];
        size_t cursor = 0;
        sim_tell (self, host, "its table:");
        while (
            self->base.node[host]
            && lk_node_next_ticket (self->base.node[host], &cursor, &ticket)) {
            sim_story_ticket (&ticket, story);
            sim_tell (self, host, "%s", story);
        }
    }
}

/*  ... and what applications have, says the judge. */
static void
tell_claims (sim_world *self)
{
    const sim_checker *checker = &self->checker;

    for (size_t i = 0; i < checker->claim_count; i++) {
        const sim_claim *claim = &checker->claim[i];
        sim_tell (self, claim->who.host,
                  "app %u: %s, request %llu asked at %lld%s%s%s, token %llx "
                  "ordinal %u turn %u",
                  claim->who.app, sim_checker_title (checker, claim->object),
                  (unsigned long long) claim->who.serial,
                  (long long) claim->asked_at, claim->held ? ", held" : "",
                  sim_claim_believed (checker, claim) ? ", believed" : "",
                  claim->kept ? ", kept" : "",
                  (unsigned long long) claim->token, claim->ordinal,
                  claim->turn);
    }
}

static void
end_all (sim_world *self)
{
    sim_dining_end (self);
    if (sim_checker_failed (&self->checker) && self->options.verbose) {
        tell_tables (self);
        tell_claims (self);
    }
    lk_world_end_all (&self->base);
    sim_desks_clear (self);
    self->totals.grants = self->checker.grants;
    self->totals.takeovers = self->checker.takeovers;
    self->totals.reclaims = self->checker.reclaims;
    self->totals.simulated_ms = (uint64_t) self->now;
    self->totals.failures = sim_checker_failed (&self->checker);
}

bool
sim_world_run (sim_world *self, const sim_options *options, uint64_t seed)
{
    sim_event event;
    uint64_t grants = 0;

    set_out (self, options, seed);
    while (!sim_checker_failed (&self->checker)
           && sim_queue_take (&self->queue, &event)) {
        uint64_t every =
            self->ballast.present ? BIG_TABLES_EVERY : TABLES_EVERY;
        self->now = event.at;
        self->checker.now = event.at;
        sim_dice_for_event (self, event.type, event.host,
                            event.type == SIM_EVENT_APP ? event.what : 0);
        happen (self, &event);
        if (self->checker.grants != grants || self->totals.steps % every == 0) {
            grants = self->checker.grants;
            sim_checker_tables (&self->checker, self->base.node,
                                self->base.count);
        }
        if (event.type == SIM_EVENT_END) {
            break;
        }
    }
    end_all (self);
    return !sim_checker_failed (&self->checker);
}
