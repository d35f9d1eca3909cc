/*  script_free.c - the judge of plans: a name that nobody has is had soon
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Looks at plain applications alone. A name is free when nobody holds it,
 *  gives it back or asks for it by a service that has ended: and then someone
 *  who asks for it by one that has been up for a while has it within a bound.
 */

#include "world.h"

#include "node_view.h"

#define FIRST_MS 6000 /* till then leaders are elected for the first time */
#define FREE_MS 600   /* a letter that is lost is sent again in 400 */

/*  -------------------------------------------------------- hosts */

static void
note_downs (sim_world *world)
{
    for (uint8_t host = 0; host < world->base.count; host++) {
        if (!sim_host_is_up (world, host)) {
            world->plot.down_at[host] = world->now;
        }
    }
}

static bool
is_settled (const sim_world *world, uint8_t host)
{
    return world->now - world->plot.down_at[host] > FREE_MS;
}

/*  -------------------------------------------------------- names */

static bool
is_a_clients (const sim_world *world, uint8_t object)
{
    for (uint8_t host = 0; host < world->base.count; host++) {
        const sim_client *client = &world->clients.item[host];
        for (size_t i = 0; client->lock && i < client->object_count; i++) {
            if (client->objects[i] == object) {
                return true;
            }
        }
    }
    return false;
}

/*  Somebody asks for it who may have it at once, and nobody has to do with it
 *  who may not. */
static bool
is_free (const sim_world *world, uint8_t object)
{
    bool asked = false;

    for (uint8_t host = 0; host < world->base.count; host++) {
        for (size_t i = 0; i < SIM_APPS_MAX * SIM_REQUESTS_MAX; i++) {
            const sim_app *app = &world->apps.app[host][i / SIM_REQUESTS_MAX];
            const sim_request *it = &app->request[i % SIM_REQUESTS_MAX];
            if (it->state == SIM_REQUEST_NONE || it->object != object) {
                continue;
            }
            if (it->state != SIM_REQUEST_ASKED || !it->delivered
                || !is_settled (world, host)) {
                return false;
            }
            asked = true;
        }
    }
    return asked && !is_a_clients (world, object);
}

/*  By somebody of a process that is gone, and nobody's any more: that takes a
 *  lease. */
static bool
is_formers (sim_world *world, uint8_t object)
{
    lk_decree decree;
    lk_ticket ticket;
    size_t cursor = 0;

    sim_leaders (world, &decree);
    for (size_t place = 0; place < decree.leader_count; place++) {
        lk_node *leader = world->base.node[decree.leader[place]];
        for (cursor = 0;
             leader
             && lk_node_next_ticket_of (leader, sim_object_name (object),
                                        &cursor, &ticket);) {
            const lk_node *node = world->base.node[ticket.request.host];
            if (ticket.token != 0
                && (!node
                    || ticket.request.session
                           != lk_node_core (node)->facts.session)) {
                return true;
            }
        }
    }
    return false;
}

void
sim_free_judge (sim_world *world)
{
    world->apps.habits.vanish = 0;  /* a service may hear late of that ... */
    world->apps.habits.limited = 0; /* ... and has others wait after that */
    note_downs (world);
    for (uint8_t object = 0; object < SIM_OBJECTS; object++) {
        int64_t *free_at = &world->plot.free_at[object];
        if (world->now < FIRST_MS || !is_free (world, object)
            || is_formers (world, object)) {
            *free_at = world->now;
        } else if (world->now - *free_at > FREE_MS) {
            sim_checker_fail (&world->checker,
                              "FREE: nobody has '%.*s', nor got it in %lld ms",
                              (int) sim_object_word (object).size,
                              sim_object_word (object).data,
                              (long long) (world->now - *free_at));
        }
    }
}
