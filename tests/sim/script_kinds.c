/*  script_kinds.c - scripts about locks of a kind, at single messages
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What random faults hit too seldom: between the home's doing and its proxy's
 *  knowing of it.
 */

#include "world.h"

#define AGAIN_MS 4000 /* until the same is done once more */

/*  A leader is lost, or all there are: with one there is a reclaim then. */
static void
lose (sim_world *world, lk_host host)
{
    sim_host_crash (world, host, false, sim_between (world, 800, 2500));
    sim_begin_act (world, 1);
}

static bool
is_time (sim_world *world)
{
    sim_plot *plot = &world->plot;

    if (plot->act == 1 && sim_act_age (world) > AGAIN_MS) {
        sim_begin_act (world, 0);
    }
    return plot->act == 0 && world->now > 2500;
}

/*  -------------------------------------------------------- changes of type */

/*  A lock was made exclusive, and nobody hears of it: its home, the only
 *  leader, ends with what it said. Its proxy claims it as it knows it. */
bool
sim_upgrade_untold (sim_world *world, const lk_lock_message *message)
{
    const lk_msg_reply *reply = &message->as.reply;

    if (!is_time (world) || message->kind != LK_MSG_LOCKED || reply->turn == 0
        || reply->type != LK_EXCLUSIVE) {
        return false;
    }
    lose (world, message->from);
    return true;
}

/*  Each LOCK comes once more, much later: by then what it asks for was had,
 *  changed and changed back, or given back. */
bool
sim_late_turns (sim_world *world, const lk_lock_message *message)
{
    if (message->kind == LK_MSG_LOCK && world->now > 1000) {
        sim_network_deliver_at (world, message,
                                world->now + sim_between (world, 50, 3000));
    }
    return false;
}

/*  -------------------------------------------------------- taken away */

/*  Operators end locks all the time, and give who holds them time to stop. */
bool
sim_taken_away (sim_world *world, const lk_lock_message *message)
{
    (void) message;
    world->apps.habits.force = 100;
    world->apps.habits.oust = 0;
    return false;
}

/*  -------------------------------------------------------- sets */

/*  One of a set is held, and leaders change before its proxy goes on to the
 *  next: its home may be another then. */
bool
sim_set_moves (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    const lk_request_id *request = &message->as.request.ticket.request;
    const lk_request_id *told = &message->as.reply.request;

    if (!is_time (world)) {
        return false;
    }
    if (message->kind == LK_MSG_LOCK && message->as.request.ticket.rest > 0) {
        plot->who = request->host;
        plot->term = (lk_term) {request->session, request->serial};
    } else if (message->kind == LK_MSG_LOCKED && told->host == plot->who
               && told->session == plot->term.number
               && told->serial == plot->term.proposer) {
        bool told_first = sim_chance (world, 500);
        lose (world, message->from);
        return !told_first;
    }
    return false;
}

/*  -------------------------------------------------------- static locks */

/*  A static lock is its proxy's no more, and the proxy ends before it hears
 *  so: nobody knows of the lock, and an operator ends it. */
bool
sim_kept_untold (sim_world *world, const lk_lock_message *message)
{
    if (!is_time (world) || message->kind != LK_MSG_LOCKED
        || !message->as.reply.kept) {
        return false;
    }
    lose (world, message->as.reply.request.host);
    return true;
}

/*  The holder's host reboots; when its session is long over there are other
 *  leaders. The lock is what it was. */
bool
sim_kept_outlives (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    if (plot->act == 0 && world->now > 2500 && message->kind == LK_MSG_LOCKED
        && message->as.reply.kept) {
        plot->who = message->as.reply.request.host;
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && sim_act_age (world) > 100) {
        sim_host_crash (world, plot->who, true, 1500);
        sim_begin_act (world, 2);
    } else if (plot->act == 2 && sim_act_age (world) > 7000) {
        sim_stir (world);
        sim_begin_act (world, 3);
    } else if (plot->act == 3 && sim_act_age (world) > AGAIN_MS) {
        sim_begin_act (world, 0);
    }
    return false;
}
