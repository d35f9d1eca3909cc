/*  node_view.c - what tests and judges may see of a node
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "node_view.h"

#include "node_private.h"

lk_leader *
lk_node_leader (lk_node *self)
{
    return &self->leader;
}

lk_election *
lk_node_election (lk_node *self)
{
    return &self->election;
}

lk_proxy *
lk_node_proxy (lk_node *self)
{
    return &self->proxy;
}

const lk_core *
lk_node_core (const lk_node *self)
{
    return &self->core;
}

const lk_table *
lk_node_table (const lk_node *self)
{
    return lk_leader_see_table (&self->leader);
}

lk_leader_view
lk_node_view (const lk_node *self)
{
    return lk_leader_see (&self->leader);
}
