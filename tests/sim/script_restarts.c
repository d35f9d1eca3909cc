/*  script_restarts.c - scripts about lock services that are restarted
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Those of hosts whose applications hold something, again and again; and what
 *  is in the way of a lock that goes on.
 */

#include "world.h"

#define PAUSE_MS 700

static bool
is_leader (const sim_world *world, lk_host host)
{
    lk_decree decree;

    return sim_leaders (world, &decree) >> host & 1;
}

static void
restart_any (sim_world *world)
{
    if (world->now > 2000 && sim_act_age (world) > PAUSE_MS) {
        world->apps.habits.resume = 800;
        sim_begin_act (world, 0);
        sim_storm_restart (world);
    }
}

/*  Nothing else happens: all that is asked for in time goes on. */
bool
sim_restarts (sim_world *world, const lk_lock_message *message)
{
    (void) message;
    restart_any (world);
    return false;
}

static bool
orders_resume (const lk_lock_message *message)
{
    for (size_t i = 0;
         message->kind == LK_MSG_OPS && i < message->as.ops.op_count; i++) {
        if (message->as.ops.ops[i].kind == LK_OP_RESUME) {
            return true;
        }
    }
    return false;
}

static bool
is_resume (const lk_lock_message *message)
{
    return (message->kind == LK_MSG_LOCK || message->kind == LK_MSG_UNLOCK)
           && message->as.request.resume;
}

/*  One of the two is restarted, too; or all leaders are, and begin with
 *  nothing. */
static void
restart_more (sim_world *world, const lk_lock_message *message)
{
    lk_decree decree;
    lk_host host = sim_chance (world, 500) ? message->from : message->to;

    if (!sim_chance (world, 100)) {
        sim_host_crash (world, host, false, sim_between (world, 5, 900));
        return;
    }
    sim_leaders (world, &decree);
    for (size_t i = 0; i < decree.leader_count; i++) {
        sim_host_crash (world, decree.leader[i], false,
                        sim_between (world, 5, 900));
    }
}

/*  What is said of it is lost, late, or said twice, or there is another restart
 *  at that moment. */
bool
sim_restarts_disturbed (sim_world *world, const lk_lock_message *message)
{
    restart_any (world);
    if (!is_resume (message) && !orders_resume (message)
        && !(message->kind == LK_MSG_LOCKED && !is_leader (world, message->to)
             && sim_chance (world, 100))) {
        return false;
    }
    if (orders_resume (message) && sim_chance (world, 150)) {
        sim_host_crash (world, message->from, false, 2000);
        return true;
    }
    if (sim_chance (world, 300)) {
        sim_network_deliver_at (world, message,
                                world->now + sim_between (world, 20, 4000));
    }
    if (sim_chance (world, 80)) {
        restart_more (world, message);
    }
    return sim_chance (world, 200);
}
