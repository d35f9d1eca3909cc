/*  better.c - a better host takes the place of a leader once things are calm
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each exchange makes the leaders better by an order that has an end, so a row
 *  of them is short; and one that fails again and again is trusted less each
 *  time. Protocol 9.5.8.
 */

#include "better.h"

#include "able.h"
#include "election_private.h"
#include "places.h"
#include "retry.h"

#include <string.h>

#define TICKETS_MAX 1000  /* that a leader is filled with without a pause */
#define LONGEST_STEADY 48 /* times what is steady, after many misses; ... */
#define MISSES_KEPT 144   /* ... which are forgotten then */

void
lk_better_init (lk_better *self, int64_t now_ms)
{
    memset (self, 0, sizeof *self);
    for (size_t host = 0; host < LK_HOSTS_MAX; host++) {
        self->host[host].since_ms = LK_LONG_AGO;
    }
    self->looked_ms = LK_LONG_AGO;
    self->view_ms = self->term_ms = now_ms;
    lk_better_reset (self);
}

void
lk_better_reset (lk_better *self)
{
    self->leaves = self->comes = LK_NOBODY;
}

void
lk_better_forget (lk_better *self, lk_host host)
{
    self->host[host] = (lk_steadiness) {.since_ms = LK_LONG_AGO};
    if (self->leaves == host || self->comes == host) {
        lk_better_reset (self);
    }
}

/*  -------------------------------------------------------- watching */

static void
miss (const lk_election *election, lk_steadiness *steady)
{
    steady->missed += steady->missed < UINT8_MAX;
    steady->missed_ms = election->core->now_ms;
}

static void
watch_host (lk_election *election, lk_host host)
{
    const lk_core *core = election->core;
    lk_steadiness *steady = &election->better.host[host];
    const uint64_t incarnation = core->peer[host].incarnation;
    const bool heard = lk_peer_heard (core, host);
    const bool was_heard = steady->since_ms != LK_LONG_AGO;
    const bool is_other = was_heard && incarnation != steady->incarnation;
    if (was_heard && (!heard || is_other)
        && lk_decree_place (&core->facts.active, host) >= 0) {
        miss (election, steady);
    }
    if (!heard) {
        steady->since_ms = LK_LONG_AGO;
    } else if (!was_heard || is_other) {
        steady->since_ms = core->now_ms;
        steady->incarnation = incarnation;
    }
    if (core->now_ms - steady->missed_ms
        > MISSES_KEPT * core->config.steady_ms) {
        steady->missed = 0;
    }
}

/*  It was counted as missed when it was asked for. */
static void
watch_term (lk_election *election)
{
    lk_better *self = &election->better;
    const lk_decree *active = &election->core->facts.active;
    if (lk_term_equal (self->term, active->term)) {
        return;
    }
    self->term = active->term;
    self->term_ms = election->core->now_ms;
    if (self->comes != LK_NOBODY
        && lk_decree_place (active, self->comes) >= 0) {
        self->host[self->comes].missed -= self->host[self->comes].missed > 0;
        lk_better_reset (self);
    }
}

void
lk_better_watch (lk_election *election)
{
    lk_better *self = &election->better;
    const lk_core *core = election->core;
    lk_hosts members = core->facts.active.members;
    watch_term (election);
    if (core->now_ms - self->looked_ms < LK_PING_MS) {
        return;
    }
    self->looked_ms = core->now_ms;
    const uint64_t view = lk_election_view (election, members);
    if (view != self->view) {
        self->view = view;
        self->view_ms = core->now_ms;
    }
    members &= ~LK_HOST_BIT (core->config.self);
    while (members) {
        watch_host (election, lk_hosts_take (&members));
    }
}

/*  -------------------------------------------------------- the exchange */

/*  What was missed as a leader lately has to be heard for twice as long, each
 *  time. */
static bool
is_steady (const lk_election *election, lk_host host)
{
    const lk_core *core = election->core;
    const lk_steadiness *steady = &election->better.host[host];
    const int64_t longest_ms = LONGEST_STEADY * core->config.steady_ms;
    int64_t wanted_ms = core->config.steady_ms;
    for (uint8_t i = 0; i < steady->missed && wanted_ms < longest_ms; i++) {
        wanted_ms *= 2;
    }
    if (wanted_ms > longest_ms) {
        wanted_ms = longest_ms;
    }
    return steady->since_ms != LK_LONG_AGO
           && core->now_ms - steady->since_ms >= wanted_ms;
}

/*  One in place of the other, beside the other leaders. */
typedef struct {
    lk_host leaves;
    lk_host comes;
    int lower;       /* its priority, by so much */
    uint64_t spread; /* ... its places with them, and those of */
    uint64_t former; /* the one that leaves */
} exchange;

static bool
is_worth_it (const exchange *self)
{
    return self->lower > 0 || (self->lower == 0 && self->spread > self->former);
}

/*  For one that comes, the leader that is placed worst leaves. */
static bool
is_better (const exchange *a, const exchange *b)
{
    return a->lower != b->lower     ? a->lower > b->lower
           : a->spread != b->spread ? a->spread > b->spread
                                    : a->former < b->former;
}

static exchange
look_at (const lk_election *election, lk_host leaves, lk_host comes)
{
    const lk_core *core = election->core;
    const lk_hosts others =
        lk_decree_leaders (&core->facts.active) & ~LK_HOST_BIT (leaves);
    return (exchange) {
        .leaves = leaves,
        .comes = comes,
        .lower = core->peer[leaves].candidate.priority
                 - core->peer[comes].candidate.priority,
        .spread = lk_places_spread (&core->places, others, comes),
        .former = lk_places_spread (&core->places, others, leaves)};
}

/*  The best for the place of this leader, if it is better than that one. */
static void
look_at_place (const lk_election *election, lk_host leader, exchange *best)
{
    lk_hosts members = election->core->facts.active.members;
    while (members) {
        const lk_host host = lk_hosts_take (&members);
        const exchange other = look_at (election, leader, host);
        if (election->core->peer[host].candidate.priority > 0
            && is_worth_it (&other)
            && (best->leaves == LK_NOBODY || is_better (&other, best))
            && lk_able_to_join (election, host) && is_steady (election, host)) {
            *best = other;
        }
    }
}

/*  The first leader goes only if that is best. */
static exchange
find_exchange (const lk_election *election)
{
    const lk_decree *active = &election->core->facts.active;
    exchange best = {.leaves = LK_NOBODY, .comes = LK_NOBODY};
    for (size_t place = active->leader_count; place > 0; place--) {
        look_at_place (election, active->leader[place - 1], &best);
    }
    return best;
}

/*  -------------------------------------------------------- whether to */

static bool
all_may_lead (const lk_election *election)
{
    const lk_decree *active = &election->core->facts.active;
    for (size_t place = 0; place < active->leader_count; place++) {
        if (!lk_able_to_lead (election, active->leader[place])) {
            return false;
        }
    }
    return true;
}

static bool
is_calm (const lk_election *election)
{
    const lk_core *core = election->core;
    const lk_better *self = &election->better;
    const lk_table *table = lk_leader_table (election->leader);
    return core->config.settle_ms > 0
           && core->facts.active.leader[0] == core->config.self
           && lk_term_equal (core->facts.promised, core->facts.active.term)
           && core->now_ms - self->view_ms >= core->config.settle_ms
           && core->now_ms - self->term_ms >= core->config.steady_ms
           && election->change.wish == LK_WISH_NONE && core->in_reclaim == 0
           && table->reclaim == 0 && table->count < TICKETS_MAX
           && all_may_lead (election)
           && lk_able_to_elect (election, core->facts.active.members);
}

bool
lk_better_is_due (lk_election *election)
{
    lk_better *self = &election->better;
    if (!is_calm (election)) {
        return false;
    }
    const exchange best = find_exchange (election);
    if (best.leaves == LK_NOBODY) {
        return false;
    }
    self->leaves = best.leaves;
    self->comes = best.comes;
    miss (election, &self->host[best.comes]); /* if it comes to nothing */
    lk_out_trace (election->core, LK_TRACE_NOTICE,
                  "better leader: host=%s leaves=%s",
                  lk_out_host (election->core, best.comes),
                  lk_out_host (election->core, best.leaves));
    return true;
}
