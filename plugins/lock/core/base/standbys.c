/*  standbys.c - what the first leader says of who leads next
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "standbys.h"

void
lk_standbys_take (lk_core *core, lk_host from, const lk_msg_ping *ping)
{
    const lk_decree *decree = &core->in_force;
    if (ping->ready && lk_term_equal (ping->table.term, decree->term)
        && lk_decree_place (decree, from) == 0) {
        core->next = ping->next;
        core->next_term = decree->term;
    }
}

lk_standbys
lk_standbys_in_force (const lk_core *core)
{
    return lk_term_equal (core->next_term, core->in_force.term)
               ? core->next
               : (lk_standbys) {.count = 0};
}

void
lk_standbys_forget (lk_standbys *self, lk_host host)
{
    uint8_t kept = 0;
    for (uint8_t i = 0; i < self->count; i++) {
        if (self->host[i] != host) {
            self->host[kept++] = self->host[i];
        }
    }
    self->count = kept;
}
