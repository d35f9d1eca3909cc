/*  core.c - what all rooms of the core share
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "core.h"

#include "places.h"

#include "util/hash.h"

#include <string.h>

void
lk_core_init (lk_core *core, const lk_node_config *config, int64_t now_ms)
{
    memset (core, 0, sizeof *core);
    core->config = *config;
    core->facts = config->facts;
    core->facts.session++;
    core->incarnation = core->facts.session;
    core->now_ms = now_ms;
    core->started_ms = now_ms;
    lk_rng_init (&core->rng, config->seed[0] ^ config->seed[1]);
    lk_terms_init (&core->terms, now_ms);
    core->known = LK_HOST_BIT (config->self);
    for (size_t host = 0; host < LK_HOSTS_MAX; host++) {
        lk_peer_init (&core->peer[host]);
    }
    core->peer[config->self].candidate = config->candidate;
    lk_core_take_places (core, &(lk_places) {.arbiters = 0});
    core->settings_ms = LK_LONG_AGO;
    core->drain_until_ms = LK_LONG_AGO;
    core->forgotten_ms = LK_LONG_AGO;
    core->pinged_ms = LK_LONG_AGO;
    core->next_ping_ms = now_ms;
    lk_outlet_init (&core->outlet);
}

void
lk_core_clear (lk_core *core)
{
    lk_outlet_clear (&core->outlet);
}

/*  protocol 9.5.7 */
bool
lk_core_is_draining (const lk_core *core)
{
    return core->drain_until_ms != LK_LONG_AGO;
}

bool
lk_core_may_lead (const lk_core *core)
{
    return core->config.eligible && !lk_core_is_draining (core)
           && !lk_hosts_has (core->places.arbiters, core->config.self);
}

void
lk_core_take_places (lk_core *core, const lk_places *places)
{
    lk_places_check (places);
    core->places = *places;
    if (core->config.arbiter) {
        core->places.arbiters |= LK_HOST_BIT (core->config.self);
    }
}

/*  protocol 9 */
int64_t
lk_with_margin (int64_t ms)
{
    return ms + ms / 4;
}

/*  protocol 9.14 */
int64_t
lk_stopping_ms (const lk_core *core)
{
    return core->config.host_lease_ms / 4;
}

/*  A home counts the duration with it, both by its own clock: so a holder whose
 *  clock is slow has had both, and its time to stop, before it is over.
 *  Protocol 9.11. */
int64_t
lk_grace_ms (const lk_core *core, int64_t duration_ms)
{
    const int64_t end_ms = lk_with_margin (duration_ms + lk_stopping_ms (core));
    int64_t grace_ms = end_ms - duration_ms;
    if (grace_ms < duration_ms) {
        grace_ms = duration_ms;
    }
    return grace_ms < core->config.grace_ms ? core->config.grace_ms : grace_ms;
}

uint64_t
lk_core_make_key (lk_core *core)
{
    uint64_t key = 0;
    while (key == 0) {
        core->keys_made++;
        key = lk_siphash (core->config.seed, &core->keys_made,
                          sizeof core->keys_made);
    }
    return key;
}

bool
lk_core_learn (lk_core *core, const lk_decree *decree, uint8_t reclaim)
{
    int order = lk_term_compare (decree->term, core->in_force.term);
    if (order < 0 || decree->leader_count == 0) {
        return false;
    }
    if (order == 0) {
        core->in_reclaim &= reclaim;
        return false;
    }
    if (!lk_settings_id_equal (core->in_force.settings, decree->settings)) {
        core->settings_ms = core->now_ms;
    }
    core->in_force = *decree;
    core->in_reclaim = reclaim;
    return true;
}
