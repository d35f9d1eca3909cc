/*  host.c - a host: the shell around one lock service
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "calm.h"
#include "world.h"

#include "node_view.h"

#define INTRODUCE_MS 2000
#define ALL_EVERY 64 /* steps: each ticket of a node is looked at */

int64_t
sim_host_clock (const sim_world *self, uint8_t host)
{
    return self->host[host].offset + self->now * self->host[host].rate / 1000;
}

int64_t
sim_true_time (const sim_world *self, uint8_t host, int64_t clock)
{
    int64_t rate = self->host[host].rate;

    if (clock == SIM_FOREVER) {
        return SIM_FOREVER;
    }
    if (clock <= self->host[host].offset) {
        return 0;
    }
    return ((clock - self->host[host].offset) * 1000 + rate - 1) / rate;
}

bool
sim_host_is_up (const sim_world *self, uint8_t host)
{
    return self->base.node[host] != NULL;
}

bool
sim_host_is_paused (const sim_world *self, uint8_t host)
{
    return self->now < self->host[host].paused_until;
}

lk_hosts
sim_leaders (const sim_world *self, lk_decree *decree)
{
    const lk_decree *best = lk_world_decree (&self->base);
    lk_hosts leaders = 0;

    for (size_t i = 0; i < best->leader_count; i++) {
        leaders |= LK_HOST_BIT (best->leader[i]);
    }
    if (decree) {
        *decree = *best;
    }
    return leaders;
}

/*  -------------------------------------------------------- life */

/*  The service starts with what is on the disk, and knows nothing else. */
static void
start (sim_world *self, uint8_t place)
{
    sim_host *host = &self->host[place];
    lk_node_config *config = &self->base.host[place].config;
    lk_event event = {.type = LK_ON_TICK};
    lk_rng former;

    host->process++;
    former = sim_dice_take (self, SIM_DIE_START,
                            (uint64_t) place << 32 | host->process);
    config->seed[0] = lk_rng_next (&self->rng);
    config->seed[1] = lk_rng_next (&self->rng);
    self->rng = former;
    host->tick_at = SIM_FOREVER;
    host->batch = 0;
    host->paused_until = 0;
    lk_world_start (&self->base, place, sim_host_clock (self, place));
    sim_desk_open (self, place);
    sim_client_service_up (self, place);
    sim_journal_loaded (self, place);
    sim_tell (self, place, "starts, process %u", host->process);
    sim_host_step (self, place, &event);
}

void
sim_host_up (sim_world *self, uint8_t place)
{
    const sim_host *host = &self->host[place];

    if (!sim_host_is_up (self, place) && !host->gone_for_good && !host->dried
        && !host->reserved && !host->sworn_dead) {
        start (self, place);
    }
}

static void
end_service (sim_world *self, uint8_t place, bool reboot, int64_t away)
{
    sim_host *host = &self->host[place];
    const bool in_order =
        host->leaving && lk_node_is_stopped (self->base.node[place]);

    /*  What it told as its last words was in its table. */
    sim_checker_tables (&self->checker, self->base.node, self->base.count);
    sim_journal_end (self, place, in_order);
    lk_node_destroy (&self->base.node[place]);
    self->base.host[place].doom = -1;
    host->tick_at = SIM_FOREVER;
    host->leaving = false;
    host->drains = false;
    host->changes = 0;
    host->edits = (lk_settings_id) {0};
    sim_tell (self, place, reboot ? "reboots" : "ends");
    sim_apps_service_gone (self, place, reboot);
    sim_desk_close (self, place);
    sim_client_service_gone (self, place, reboot);
    sim_checker_service_gone (&self->checker, place, reboot);
    sim_storm_report_gone (self, place);
    if (reboot) {
        host->offset = sim_between (self, 1000000, 9000000);
    }
    if (away != SIM_FOREVER) {
        sim_post (self, self->now + away, SIM_EVENT_UP, place, 0);
    }
}

void
sim_host_crash (sim_world *self, uint8_t place, bool reboot, int64_t away)
{
    sim_host *host = &self->host[place];

    if (!sim_host_is_up (self, place) || self->base.host[place].doom == 0) {
        return;
    }
    if (self->stepping == place) {
        self->base.host[place].doom = 0;
        host->doom_reboot = reboot;
        host->doom_away = away;
        return;
    }
    end_service (self, place, reboot, away);
}

/*  Of the host that had its number nothing is left; its applications begin
 *  anew, as after a reboot. */
static void
clear_place (sim_world *self, uint8_t place)
{
    sim_apps_service_gone (self, place, true);
    sim_client_service_gone (self, place, true);
    sim_checker_service_gone (&self->checker, place, true);
}

void
sim_host_arrive (sim_world *self, uint8_t place, uint8_t former, int64_t away)
{
    bool again = self->lives[place] > 0;
    lk_rng die = self->rng;

    if (again) {
        clear_place (self, place);
    }
    sim_arbiters_renumber (self, place, former);
    sim_host_draw (self, place, false, self->now + away);
    if (!again) {
        sim_apps_begin_on (self, place);
    }
    sim_client_begin (self, place);
    self->rng = die;
}

void
sim_host_lose (sim_world *self, uint8_t place)
{
    self->host[place].gone_for_good = true;
    sim_host_crash (self, place, true, SIM_FOREVER);
}

void
sim_host_lose_disk (sim_world *self, uint8_t place, int64_t away)
{
    uint8_t fresh = sim_forget_find_number (self);

    LK_ASSERT (fresh < SIM_HOSTS_MAX);
    sim_host_lose (self, place);
    sim_tell (self, place, "loses its disk, will be h%d", fresh);
    sim_host_arrive (self, fresh, place, away);
}

void
sim_host_stop (sim_world *self, uint8_t place, bool for_good, int64_t away)
{
    sim_host *host = &self->host[place];
    lk_event event = {.type = for_good ? LK_ON_STOP : LK_ON_HALT};

    if (!sim_host_is_up (self, place) || sim_host_is_paused (self, place)
        || host->leaving || sim_drain_takes (self, place, for_good, away)) {
        return;
    }
    host->leaving = true;
    host->leave_away = away;
    sim_host_step (self, place, &event);
}

void
sim_host_pause (sim_world *self, uint8_t place, int64_t duration)
{
    sim_host *host = &self->host[place];
    int64_t until = self->now + duration;

    /*  What waits for the end of a pause has its place in the queue already,
     *  so that no pause can be made longer or shorter later. */
    if (until > self->storm_end) {
        until = self->storm_end;
    }
    if (!sim_host_is_paused (self, place)) {
        host->paused_until = until;
        sim_tell (self, place, "paused till %lld", (long long) until);
    }
}

void
sim_host_freeze (sim_world *self, uint8_t place, int64_t duration)
{
    if (!sim_host_is_paused (self, place)) {
        sim_host_pause (self, place, duration);
        self->host[place].frozen_until = self->host[place].paused_until;
        sim_client_look (self, place);
    }
}

/*  All on it sleeps, its clock stands still, and nobody reads that. */
void
sim_host_suspend (sim_world *self, uint8_t place, int64_t duration)
{
    sim_host *host = &self->host[place];

    if (!sim_host_is_paused (self, place) && sim_host_is_up (self, place)) {
        sim_host_freeze (self, place, duration);
        sim_checker_suspended (&self->checker, place,
                               host->paused_until - self->now);
        host->offset -= (host->paused_until - self->now) * host->rate / 1000;
    }
}

bool
sim_host_is_frozen (const sim_world *self, uint8_t host)
{
    return self->now < self->host[host].frozen_until;
}

/*  What the daemon's shell does when a router was found or a host appears:
 *  here every now and then, as often as links come and go. */
void
sim_host_introduce (sim_world *self, uint8_t place)
{
    sim_post (self, self->now + INTRODUCE_MS, SIM_EVENT_INTRODUCE, place, 0);
    if (sim_host_is_up (self, place) && !sim_host_is_paused (self, place)) {
        lk_world_introduce (&self->base, place, self->host[place].process);
        sim_places_tell (self, place);
    }
}

/*  -------------------------------------------------------- effects */

/*  What is new on the disk, in words. */
static void
tell_facts (sim_world *self, uint8_t place, const lk_facts *facts)
{
    const lk_facts *former = &self->base.host[place].disk;

    if (sim_term_compare (facts->promised, former->promised) != 0) {
        sim_tell (self, place, "promises term %llu%s",
                  (unsigned long long) facts->promised.number,
                  facts->promised.proposer == self->base.host[place].config.id
                      ? ", its own"
                      : "");
    }
    if (facts->session != former->session) {
        sim_tell (self, place, "takes session %llu for its applications",
                  (unsigned long long) facts->session);
    }
}

/*  A service that cannot write its facts ends, and reveals nothing. A host
 *  may also end while it writes: then the disk has what was there before, or
 *  what nobody else has heard of. */
static bool
is_written (sim_world *self, uint8_t place)
{
    if (!self->stormy) {
        return true;
    }
    if (sim_chance (self, self->storm.disk_fails)) {
        self->totals.disk++;
        sim_tell (self, place, "cannot write its facts");
        sim_host_crash (self, place, false, sim_between (self, 20, 4000));
        return false;
    }
    if (sim_chance (self, self->storm.power_fails)) {
        bool written = sim_chance (self, 500);
        self->totals.power++;
        sim_tell (self, place, "loses power %s its facts are on disk",
                  written ? "as" : "before");
        sim_host_crash (self, place, true, sim_between (self, 20, 4000));
        return written;
    }
    return true;
}

static bool
writes (lk_world *base, lk_host place, const lk_facts *facts)
{
    sim_world *self = (sim_world *) base;
    const lk_world_host *host = &base->host[place];

    if (!is_written (self, place)) {
        return false;
    }
    if (facts->promised.proposer == host->config.id
        && sim_term_compare (facts->promised, host->disk.promised) != 0) {
        self->totals.elections++;
        sim_calm_elects (self, place);
    }
    tell_facts (self, place, facts);
    sim_settings_check_disk (self, place, facts);
    sim_checker_facts (&self->checker, place, facts, false);
    return true;
}

static bool
keeps (lk_world *base, lk_host place)
{
    return is_written ((sim_world *) base, place);
}

static void
tell_message (sim_world *self, uint8_t place, const lk_lock_message *message)
{
    char story[SIM_STORY_SIZE];

    if (message->kind == LK_MSG_PING || message->kind == LK_MSG_STARTED) {
        return;
    }
    sim_story_of (message, story);
    sim_tell (self, place, "-> h%d %s", message->to, story);
    for (size_t i = 0;
         message->kind == LK_MSG_OPS && i < message->as.ops.op_count; i++) {
        sim_story_op (&message->as.ops.ops[i], story);
        sim_tell (self, place, "%s", story);
    }
}

static void
send (lk_world *base, lk_host place, const lk_lock_message *message)
{
    sim_world *self = (sim_world *) base;

    sim_checker_sent (&self->checker, place, message);
    if (self->options.verbose) {
        tell_message (self, place, message);
    }
    sim_network_send (self, message);
}

static void
records (lk_world *base, lk_host place)
{
    sim_journal_record ((sim_world *) base, place);
}

static void
note (lk_world *base, lk_host place, const lk_effect *effect)
{
    sim_world *self = (sim_world *) base;
    int64_t until;

    switch (effect->type) {
    case LK_DO_PERSIST:
    case LK_DO_KEEP:
    case LK_DO_RECORD:
    case LK_DO_SEND:
        break; /* see above */
    case LK_DO_TELL:
        if (!sim_remote_answered (self, place, &effect->answer)
            && !sim_desk_carry_out (self, place, effect)) {
            sim_apps_answered (self, place, &effect->answer);
        }
        break;
    case LK_DO_LEASE:
        until = effect->lease_until_ms > 0
                    ? sim_true_time (self, place, effect->lease_until_ms)
                    : 0;
        sim_checker_lease (&self->checker, place, effect->session, until);
        sim_apps_lease (self, place, until, effect->lease_until_ms);
        (void) sim_desk_carry_out (self, place, effect);
        sim_client_sees (self, place);
        sim_client_look (self, place);
        break;
    case LK_DO_STATUS:
        break; /* see note_status */
    case LK_DO_DROPPED:
    case LK_DO_ENDED:
        break; /* for people */
    case LK_DO_CHANGED:
        self->host[place].changes--;
        if (self->host[place].edits.version != 0) {
            sim_settings_answered (self, place, effect->error);
        } else {
            self->totals.changed += effect->error == LK_OK;
        }
        sim_tell (self, place, "change answered: %s, %s",
                  lk_err_word (effect->error), effect->text);
        break;
    case LK_DO_ALERT:
        sim_tell (self, place, "%s", effect->text);
        sim_plot_alerted (self, place, effect->message);
        break;
    case LK_DO_TRACE:
        sim_tell (self, place, "%s", effect->text);
        break;
    }
}

static void
schedule (sim_world *self, uint8_t place)
{
    sim_host *host = &self->host[place];
    int64_t at =
        sim_true_time (self, place, lk_node_deadline (self->base.node[place]));
    const bool is_due = at <= self->now;

    if (is_due) {
        at = self->now + 1;
    }
    if (at >= host->tick_at) {
        return;
    }
    host->spins = is_due ? host->spins + 1 : 0;
    if (host->spins > 1000) {
        sim_checker_fail (&self->checker,
                          "h%d wants to be woken again and again", place);
    }
    if (self->late_ms > 0) {
        at += sim_between (self, 0, self->late_ms);
    }
    host->tick_at = at;
    sim_post (self, at, SIM_EVENT_TICK, place, 0);
}

static void
mix_digest (sim_world *self, uint64_t value)
{
    self->digest = (self->digest ^ value) * 0x9e3779b97f4a7c15u;
    self->digest ^= self->digest >> 29;
}

static void
take_step (lk_world *base, lk_host place, const lk_event *event,
           lk_effects *effects)
{
    sim_world *self = (sim_world *) base;

    lk_node_step (base->node[place], event, effects);
    self->totals.steps++;
    lk_node_check (base->node[place], self->totals.steps % ALL_EVERY == 0
                                          && self->totals.wrong_table == 0);
    mix_digest (self, (uint64_t) self->now << 16 ^ effects->count << 8
                          ^ (uint64_t) event->type << 4 ^ place);
}

void
sim_hosts_init (sim_world *self)
{
    static const lk_world_layer layer = {.writes = writes,
                                         .keeps = keeps,
                                         .records = records,
                                         .send = send,
                                         .note = note};

    self->base.layer = &layer;
    self->base.take_step = take_step;
}

/*  Some services wake up for each event. A wake-up of the others has all that
 *  comes before its end, which is behind what has a place in the queue. */
static bool
is_followed (sim_world *self, uint8_t place, const lk_event *event)
{
    sim_host *host = &self->host[place];

    if (host->batch_ms < 0 || event->type == LK_ON_FLUSH) {
        return false;
    }
    if (host->batch++ == 0) {
        sim_post (self, self->now + host->batch_ms, SIM_EVENT_FLUSH, place, 0);
    }
    return true;
}

/*  What its node knows when all that the step has to write is on disk. */
static void
note_status (sim_world *self, uint8_t place, const lk_effects *effects)
{
    lk_node_status status;

    for (size_t i = 0; i < effects->count; i++) {
        if (effects->item[i].type == LK_DO_STATUS) {
            lk_node_get_status (self->base.node[place], &status);
            sim_checker_in_force (&self->checker, &status.decree);
            return;
        }
    }
}

void
sim_host_flush (sim_world *self, uint8_t place)
{
    sim_host *host = &self->host[place];
    lk_event event = {.type = LK_ON_FLUSH};

    if (!sim_host_is_up (self, place) || host->batch == 0) {
        return;
    }
    if (sim_host_is_paused (self, place)) {
        sim_post (self, host->paused_until, SIM_EVENT_FLUSH, place, 0);
        return;
    }
    self->totals.batches += host->batch > 1;
    host->batch = 0;
    sim_host_step (self, place, &event);
}

void
sim_host_step (sim_world *self, uint8_t place, lk_event *event)
{
    const sim_host *host = &self->host[place];
    lk_effects effects;
    lk_node *node;
    bool goes_on;

    event->more = is_followed (self, place, event);
    event->now_ms = sim_host_clock (self, place);
    self->stepping = place;
    goes_on = lk_world_step (&self->base, place, event, &effects);
    self->stepping = -1;
    node = self->base.node[place];
    sim_checker_count (&self->checker, place, node);
    sim_checker_leads (&self->checker, place, node,
                       sim_true_time (self, place, sim_leads_until (node)));
    sim_checker_drains (&self->checker, place, node);
    sim_checker_arbiter (&self->checker, place, node);
    if (!goes_on) {
        end_service (self, place, host->doom_reboot, host->doom_away);
        return;
    }
    sim_journal_look (self, place);
    note_status (self, place, &effects);
    if (host->leaving && lk_node_is_stopped (node)) {
        end_service (self, place, false, host->leave_away);
    } else {
        schedule (self, place);
        sim_drain_look (self, place);
        if (!self->ballast.present) {
            sim_checker_stepped (&self->checker, place, node);
        }
    }
}
