/*  core.c - what all rooms of the core share
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "core.h"

#include "node_private.h"

void
lk_node_config_init (lk_node_config *self)
{
    memset (self, 0, sizeof *self);
    self->eligible = true;
    self->candidate.priority = 8;
    self->leaders_max = 3;
    self->dead_after_ms = 1000;
    self->leader_lease_ms = 2000;
    self->host_lease_ms = 8000;
    self->grace_ms = 60000;
    self->digest_ms = 10000;
}

int64_t
lk_with_margin (int64_t ms)
{
    return ms + ms / 4;
}

int64_t
lk_stopping_ms (const lk_node *node)
{
    return node->config.host_lease_ms / 4;
}

int64_t
lk_grace_ms (const lk_node *node, int64_t duration_ms)
{
    int64_t grace_ms = node->config.grace_ms;
    if (grace_ms < duration_ms) {
        grace_ms = duration_ms;
    }
    return grace_ms < lk_stopping_ms (node) ? lk_stopping_ms (node) : grace_ms;
}

uint64_t
lk_node_make_key (lk_node *node)
{
    uint64_t key = 0;
    while (key == 0) {
        node->keys_made++;
        key = lk_siphash (node->config.seed, &node->keys_made,
                          sizeof node->keys_made);
    }
    return key;
}

bool
lk_core_learn (lk_node *node, const lk_decree *decree, uint8_t reclaim)
{
    int order = lk_term_compare (decree->term, node->in_force.term);
    if (order < 0 || decree->leader_count == 0) {
        return false;
    }
    if (order == 0) {
        node->in_reclaim &= reclaim;
        return false;
    }
    node->in_force = *decree;
    node->in_reclaim = reclaim;
    return true;
}
