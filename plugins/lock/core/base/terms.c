/*  terms.c - the numbers of terms are not used up
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "terms.h"

#include "core.h"

void
lk_terms_init (lk_terms *self, int64_t now_ms)
{
    *self = (lk_terms) {.left = LK_TERMS_MOST, .since_ms = now_ms};
}

static uint64_t
promised_by (const lk_core *core, lk_host host)
{
    return host == core->config.self ? core->facts.promised.number
                                     : core->peer[host].promised.number;
}

/*  Whether a quorum of its decree has promised that number, or a higher one. */
static bool
is_backed (const lk_core *core, uint64_t number)
{
    lk_hosts backing = 0;
    lk_hosts members = core->facts.active.members;
    while (members) {
        const lk_host host = lk_hosts_take (&members);
        if (promised_by (core, host) >= number) {
            backing |= LK_HOST_BIT (host);
        }
    }
    return lk_is_quorum (core->facts.active.members, backing);
}

/*  The highest number that is promised here, or by a quorum: in which there is
 *  somebody who does not lie. Protocol 9.4. */
static uint64_t
base (const lk_core *core)
{
    uint64_t highest = core->facts.promised.number;
    lk_hosts members = core->facts.active.members;
    while (members) {
        const uint64_t number = promised_by (core, lk_hosts_take (&members));
        if (number > highest && is_backed (core, number)) {
            highest = number;
        }
    }
    return highest;
}

static uint64_t
gained (const lk_core *core)
{
    return (uint64_t) (core->now_ms - core->terms.since_ms) / LK_TERM_EVERY_MS;
}

static uint64_t
left (const lk_core *core)
{
    const uint64_t sum = core->terms.left + gained (core);
    return sum < LK_TERMS_MOST ? sum : LK_TERMS_MOST;
}

static bool
is_member (const lk_core *core)
{
    return lk_hosts_has (core->facts.active.members, core->config.self);
}

/*  protocol 9.4 */
uint64_t
lk_terms_limit (const lk_core *core)
{
    return is_member (core) ? base (core) + left (core) : LK_TERM_NUMBER_MAX;
}

/*  protocol 9.4 */
bool
lk_terms_suffice (const lk_core *core)
{
    return left (core) > LK_TERMS_MOST - LK_TERMS_OWN;
}

/*  protocol 9.4 */
void
lk_terms_spend (lk_core *core, uint64_t number)
{
    lk_terms *self = &core->terms;
    const uint64_t free = base (core);
    if (!is_member (core) || number <= free) {
        return;
    }
    const uint64_t before = left (core);
    const uint64_t cost = number - free;
    self->since_ms =
        before == LK_TERMS_MOST
            ? core->now_ms
            : self->since_ms + (int64_t) gained (core) * LK_TERM_EVERY_MS;
    self->left = cost < before ? before - cost : 0;
}
