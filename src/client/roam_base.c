/*  roam_base.c - an application on another machine: which registration
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/roam_private.h"

lk_roam_place *
lk_roam_find_place (const lk_roam *self, uint64_t number)
{
    for (size_t i = 0; number != 0 && i < LK_ROAM_PLACES; i++) {
        if (self->place[i].number == number) {
            return (lk_roam_place *) &self->place[i];
        }
    }
    return NULL;
}

const lk_roam_place *
lk_roam_latest (const lk_roam *self)
{
    return lk_roam_find_place (self, self->number);
}

const lk_roam_place *
lk_roam_current (const lk_roam *self)
{
    return lk_roam_find_place (self, self->current);
}

void
lk_roam_send (lk_roam *self, const lk_roam_place *place, lk_roam_letter letter)
{
    letter.server = place->server;
    letter.number = place->number;
    letter.drawn = place->drawn;
    self->config.say (self->config.context, &letter);
}
