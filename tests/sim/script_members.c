/*  script_members.c - scripts about changes of membership
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

/*  -------------------------------------------------------- two changes */

/*  Somebody who is up and a member, other than these; LK_NOBODY. */
static lk_host
another (const sim_world *world, lk_hosts members, lk_hosts but)
{
    for (lk_host host = 0; host < world->base.count; host++) {
        if ((members & ~but & LK_HOST_BIT (host))
            && sim_host_is_up (world, host)) {
            return host;
        }
    }
    return LK_NOBODY;
}

/*  The first proposer is to add the outsider, the second to remove the first:
 *  it says so now. */
static bool
is_mark (const sim_world *world, const lk_lock_message *message)
{
    return message->kind == LK_MSG_ACTIVE
           && message->as.decree.decree.members != world->plot.members;
}

/*  Each has its decree on its own disk alone, and ends before it says any other
 *  thing. */
static bool
half_mark (sim_world *world, const lk_lock_message *message, int64_t away)
{
    if (message->kind == LK_MSG_ACTIVE) {
        return false;
    }
    sim_host_crash (world, message->from, false, away);
    return true;
}

static void
meet_again (sim_world *world)
{
    const sim_plot *plot = &world->plot;
    lk_hosts with_second = LK_HOST_BIT (plot->whom);
    lk_host third =
        another (world, plot->members, with_second | LK_HOST_BIT (plot->who));

    if (third != LK_NOBODY) {
        with_second |= LK_HOST_BIT (third);
    }
    sim_network_split (world, with_second, 12000);
    sim_post (world, world->now + 100, SIM_EVENT_UP, plot->who, 0);
}

/*  Two changes of one decree, each marked by its proposer only. What follows
 *  from either must not come into force beside the other. */
bool
sim_two_changes (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    const lk_decree *latest = sim_checker_latest (&world->checker);
    lk_host outsider = (lk_host) (world->base.count - 1);

    if (plot->act == 0 && world->now > 6000 && latest && !latest->reclaim) {
        plot->members = latest->members;
        plot->who = another (world, plot->members, 0);
        plot->whom = another (world, plot->members, LK_HOST_BIT (plot->who));
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && message->from != plot->who) {
        sim_ask_change (world, plot->who, outsider, true);
        sim_begin_act (world, 2);
    } else if (plot->act == 2 && message->from == plot->who
               && is_mark (world, message)) {
        sim_begin_act (world, 3);
        return true;
    } else if (plot->act == 3 && message->from == plot->who) {
        if (half_mark (world, message, SIM_FOREVER)) {
            sim_begin_act (world, 4);
        }
        return true;
    } else if (plot->act == 4 && sim_act_age (world) > 100
               && message->from != plot->whom) {
        sim_ask_change (world, plot->whom, plot->who, false);
        sim_begin_act (world, 5);
    } else if (plot->act == 5 && message->from == plot->whom
               && is_mark (world, message)) {
        sim_begin_act (world, 6);
        return true;
    } else if (plot->act == 6 && message->from == plot->whom) {
        if (half_mark (world, message, 400)) {
            meet_again (world);
            sim_begin_act (world, 7);
        }
        return true;
    } else if ((plot->act == 2 || plot->act == 5)
               && sim_act_age (world) > 9000) {
        sim_host_up (world, plot->who);
        sim_begin_act (world, 7);
    }
    return false;
}

/*  -------------------------------------------------------- one goes */

/*  A member is removed, and only a quorum with the one that goes has the
 *  decree on its disk. */
bool
sim_last_mark (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    const lk_decree *latest = sim_checker_latest (&world->checker);
    bool mark = is_mark (world, message);

    if (plot->act == 0 && world->now > 6000 && latest && !latest->reclaim) {
        plot->members = latest->members;
        plot->who = another (world, plot->members, 0);
        plot->whom = another (world, plot->members, LK_HOST_BIT (plot->who));
        plot->with =
            another (world, plot->members,
                     LK_HOST_BIT (plot->who) | LK_HOST_BIT (plot->whom));
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && message->from != plot->who) {
        sim_ask_change (world, plot->who, plot->whom, false);
        sim_begin_act (world, 2);
    } else if (plot->act == 2 && mark && message->from == plot->who) {
        return message->to != plot->whom && message->to != plot->with;
    } else if (plot->act == 2 && sim_act_age (world) > 12000) {
        sim_begin_act (world, 3);
    }
    return false;
}
