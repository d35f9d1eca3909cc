/*  client_child.c - the command of a runner, and the guard that ends it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  As `lockkeeper run` and its guard (src/cli/run/guard.h), at their latest: a
 *  child works until its own end, or until it is killed in the last moment that
 *  they may need. The guard looks at the lease page although the runner is
 *  stopped, and takes one that it does not hear of for a whole lease for lost.
 */

#include "client.h"

#include "world.h"

static int64_t
sooner (int64_t one, int64_t other)
{
    return one < other ? one : other;
}

/*  From then on, by the host's clock, the child has the time to stop. */
static int64_t
killed_at (const sim_world *world, uint8_t host, int64_t clock)
{
    const sim_client *self = &world->clients.item[host];

    return clock == 0 ? SIM_FOREVER
                      : sim_true_time (world, host,
                                       clock + lk_book_spare (self->lock));
}

/*  When the library says that the lock is over, as the guard asks it; a page
 *  may be over before its time. */
static int64_t
killed_in_time (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    const int64_t until = lk_book_until (self->lock);

    if (!lk_book_holds (self->lock)) {
        return SIM_FOREVER; /* it was told so */
    }
    if (until == 0 && self->over_clock == 0) {
        self->over_clock = sim_host_clock (world, host);
    } else if (until != 0) {
        self->over_clock = 0;
    }
    return killed_at (world, host, until == 0 ? self->over_clock : until);
}

static int64_t
killed_as_deaf (const sim_world *world, uint8_t host)
{
    const sim_client *self = &world->clients.item[host];

    return self->paused_clock == 0
               ? SIM_FOREVER
               : killed_at (world, host,
                            self->paused_clock + self->lock->lease_ms);
}

bool
sim_child_works (const sim_world *world, uint8_t host)
{
    return world->clients.item[host].child_until > world->now;
}

/*  All objects that it works with are taken until then. */
void
sim_child_say (sim_world *world, uint8_t host, int64_t until)
{
    sim_client *self = &world->clients.item[host];

    for (size_t i = 0; i < self->object_count; i++) {
        sim_checker_works (&world->checker, sim_client_who (host, self),
                           sim_object_name (self->objects[i]), self->lock->type,
                           until);
    }
}

void
sim_child_watch (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    int64_t until = self->child_ends;

    if (!self->number || !self->lock || self->child_until == 0) {
        return;
    }
    until = sooner (until, killed_in_time (world, host));
    until = sooner (until, killed_as_deaf (world, host));
    until = sooner (until, killed_at (world, host, self->lost_clock));
    if (self->child_until > world->now) { /* who was killed stays so */
        self->child_until = until;
    }
    /*  It stands still along with its host. */
    sim_child_say (world, host,
                   sim_host_is_frozen (world, host) ? 0 : self->child_until);
}

void
sim_child_start (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    const int64_t longest = sim_chance (world, 500) ? 30000 : 6000;

    self->lost_clock = self->over_clock = self->paused_clock = 0;
    self->child_ends = world->now + sim_between (world, 100, longest);
    self->child_until = self->child_ends;
    sim_child_watch (world, host);
}

void
sim_child_lost (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];

    if (self->lost_clock == 0) {
        self->lost_clock = sim_host_clock (world, host);
    }
    sim_child_watch (world, host);
}

void
sim_child_forget (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];

    if (self->child_until != 0) {
        sim_child_say (world, host, 0);
        self->child_until = 0;
    }
}
