/*  cluster.c - how many hosts there are, and what that makes of the cluster
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cluster.h"

#include "util/assert.h"

void
lk_cluster_init (lk_cluster *self)
{
    self->total = 1;
    self->live = 1;
}

bool
lk_cluster_set (lk_cluster *self, size_t total, size_t live)
{
    LK_ASSERT (live >= 1 && live <= total);
    if (self->total == total && self->live == live) {
        return false;
    }
    self->total = total;
    self->live = live;
    return true;
}

bool
lk_cluster_up (const lk_cluster *self)
{
    return self->live >= self->total / 2 + 1;
}

bool
lk_cluster_complete (const lk_cluster *self)
{
    return self->live == self->total;
}

const char *
lk_cluster_up_command (const lk_cluster *self)
{
    return lk_cluster_up (self) ? "CLUSTERUP" : "CLUSTERDOWN";
}

const char *
lk_cluster_complete_command (const lk_cluster *self)
{
    return lk_cluster_complete (self) ? "CLUSTERCOMPLETE" : "CLUSTERINCOMPLETE";
}
