/*  register.c - what a lock guards: registers that know fencing tokens
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

#include "util/alloc.h"

#include <string.h>

void
sim_registers_reset (sim_registers *self)
{
    for (uint32_t i = 0; i < self->count; i++) {
        self->visit[i].next_free = i + 1;
    }
    self->first_free = 0;
    memset (self->item, 0, sizeof self->item);
}

void
sim_registers_clear (sim_registers *self)
{
    lk_free (self->visit);
    memset (self, 0, sizeof *self);
}

/*  Mostly quick; what takes longer than leases must not harm either. */
static int64_t
draw_way (sim_world *world)
{
    if (!world->stormy || sim_chance (world, 800)) {
        return sim_between (world, 1, 20);
    }
    return sim_chance (world, 700) ? sim_between (world, 20, 2000)
                                   : sim_between (world, 2000, 20000);
}

static void
send (sim_world *world, uint32_t place)
{
    sim_post (world, world->now + draw_way (world), SIM_EVENT_ERRAND,
              world->registers.visit[place].host, place);
}

void
sim_register_ask (sim_world *world, const sim_visit *visit)
{
    sim_registers *self = &world->registers;
    uint32_t place = self->first_free;

    if (place == self->count) {
        self->count = self->count ? self->count * 2 : 16;
        self->visit =
            lk_realloc (self->visit, self->count * sizeof *self->visit);
        for (uint32_t i = place; i < self->count; i++) {
            self->visit[i].next_free = i + 1;
        }
    }
    self->first_free = self->visit[place].next_free;
    self->visit[place] = *visit;
    send (world, place);
}

/*  Reads are guarded, too: a writer that has read must be the last that an
 *  older one can be refused for. */
static void
serve (sim_world *world, sim_visit *visit)
{
    sim_registers *self = &world->registers;

    visit->done = true;
    visit->refused = visit->token < self->item[visit->object].token;
    if (visit->refused) {
        world->totals.refused++;
        return;
    }
    self->item[visit->object].token = visit->token;
    if (visit->write) {
        world->totals.updates++;
        self->item[visit->object].value = visit->value;
        sim_checker_updated (&world->checker, sim_object_name (visit->object),
                             visit->value);
    } else {
        visit->value = self->item[visit->object].value;
    }
}

void
sim_register_arrive (sim_world *world, uint32_t place)
{
    sim_registers *self = &world->registers;
    sim_visit *visit = &self->visit[place];

    if (!visit->done) {
        serve (world, visit);
        send (world, place);
        return;
    }
    sim_client_visit_done (world, visit);
    visit->next_free = self->first_free;
    self->first_free = place;
}
