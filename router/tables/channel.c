/*  channel.c - what goes to another host, whatever the way
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "channel.h"

void
lk_channel_init (lk_channel *self, lk_hop *way, lk_budget *budget)
{
    *self = (lk_channel) {.out = {.side = LK_SIDE_MESH, .channel = self},
                          .way = way};
    lk_outbox_charge (&self->out.box, budget);
}

void
lk_channel_clear (lk_channel *self)
{
    lk_hop_clear (&self->out);
    self->out.deaf = false;
}
