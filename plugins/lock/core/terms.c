/*  terms.c - the numbers of terms are not used up
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "terms.h"

#include "node_private.h"

void
lk_terms_init (lk_terms *self, int64_t now_ms)
{
    *self = (lk_terms) {.left = LK_TERMS_MOST, .since_ms = now_ms};
}

static uint64_t
promised_by (const lk_node *node, lk_host host)
{
    return host == node->config.self ? node->facts.promised.number
                                     : node->peer[host].promised.number;
}

/*  Whether a quorum of its decree has promised that number, or a higher one. */
static bool
is_backed (const lk_node *node, uint64_t number)
{
    lk_hosts backing = 0;
    lk_hosts members = node->facts.active.members;
    while (members) {
        const lk_host host = lk_hosts_take (&members);
        if (promised_by (node, host) >= number) {
            backing |= LK_HOST_BIT (host);
        }
    }
    return lk_is_quorum (node->facts.active.members, backing);
}

/*  The highest number that is promised here, or by a quorum: in which there is
 *  somebody who does not lie. */
static uint64_t
base (const lk_node *node)
{
    uint64_t highest = node->facts.promised.number;
    lk_hosts members = node->facts.active.members;
    while (members) {
        const uint64_t number = promised_by (node, lk_hosts_take (&members));
        if (number > highest && is_backed (node, number)) {
            highest = number;
        }
    }
    return highest;
}

static uint64_t
gained (const lk_node *node)
{
    return (uint64_t) (node->now_ms - node->terms.since_ms) / LK_TERM_EVERY_MS;
}

static uint64_t
left (const lk_node *node)
{
    const uint64_t sum = node->terms.left + gained (node);
    return sum < LK_TERMS_MOST ? sum : LK_TERMS_MOST;
}

static bool
is_member (const lk_node *node)
{
    return lk_hosts_has (node->facts.active.members, node->config.self);
}

uint64_t
lk_terms_limit (const lk_node *node)
{
    return is_member (node) ? base (node) + left (node) : LK_TERM_NUMBER_MAX;
}

bool
lk_terms_suffice (const lk_node *node)
{
    return left (node) > LK_TERMS_MOST - LK_TERMS_OWN;
}

void
lk_terms_spend (lk_node *node, uint64_t number)
{
    lk_terms *self = &node->terms;
    const uint64_t free = base (node);
    if (!is_member (node) || number <= free) {
        return;
    }
    const uint64_t before = left (node);
    const uint64_t cost = number - free;
    self->since_ms =
        before == LK_TERMS_MOST
            ? node->now_ms
            : self->since_ms + (int64_t) gained (node) * LK_TERM_EVERY_MS;
    self->left = cost < before ? before - cost : 0;
}
