/*  script_doorway.c - scripts about whose table the next leaders get
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

#include "decree.h"

/*  -------------------------------------------------------- voted out */

/*  The proposer does not hear the only leader, which votes and holds the
 *  table, so another member gets it. The host that is no member hears only
 *  from the old leader, which must not grant it anything any more. */
static void
let_hear (sim_world *world, lk_host hears, lk_host cut_off)
{
    sim_plot *plot = &world->plot;
    lk_host outsider = (lk_host) (world->base.count - 1);

    plot->kept.to = hears;
    plot->kept.as.ping.has_echo = false;
    plot->kept.as.ping.vouch = 0;
    sim_network_deliver_at (world, &plot->kept, world->now + 1);
    for (int i = 0; i < 2; i++) {
        lk_host other = i ? hears : cut_off;
        sim_network_cut (world, other, outsider, 3000);
        sim_network_cut (world, outsider, other, 3000);
    }
}

bool
sim_voted_out (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    lk_decree decree;
    bool ping = message->kind == LK_MSG_PING && message->from == plot->who
                && message->to < world->member_count;

    if (plot->act == 0 && world->now > 3000 && sim_act_age (world) > 4000
        && sim_leaders (world, &decree) != 0) {
        plot->who = decree.leader[0];
        plot->kept.kind = LK_MSG_COUNT;
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && ping) {
        plot->kept = *message;
        return true;
    } else if (plot->act == 1 && message->kind == LK_MSG_AGREED
               && message->from != plot->who && message->to != plot->who
               && plot->kept.kind == LK_MSG_PING) {
        plot->whom = message->to;
        let_hear (world, message->from, message->to);
        sim_begin_act (world, 2);
    } else if (plot->act == 2 && ping && message->to == plot->whom) {
        return true;
    } else if (plot->act > 0
               && (message->kind == LK_MSG_READY
                   || sim_act_age (world) > 8000)) {
        sim_begin_act (world, 0);
    }
    return false;
}

/*  -------------------------------------------------------- slow fill */

/*  One of the new leaders gets its table later than the others. */
bool
sim_slow_fill (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    if (plot->act == 0 && world->now > 3000 && sim_act_age (world) > 2500) {
        sim_stir (world);
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && message->kind == LK_MSG_FILL) {
        plot->whom = message->to;
        sim_begin_act (world, 2);
        return true;
    } else if (plot->act == 2) {
        if (message->kind == LK_MSG_FILL && message->to == plot->whom) {
            return sim_act_age (world) < 900;
        }
        if (sim_act_age (world) > 3000) {
            sim_begin_act (world, 0);
        }
    } else if (plot->act == 1 && sim_act_age (world) > 6000) {
        sim_begin_act (world, 0);
    }
    return false;
}

/*  -------------------------------------------------------- one holder */

/*  Two of three leaders forget their tables; the third is left with `friend`
 *  alone, or with nobody. */
static bool
leave_holder (sim_world *world, bool with_friend)
{
    sim_plot *plot = &world->plot;
    lk_decree decree;
    lk_host friend = LK_NOBODY;

    sim_leaders (world, &decree);
    if (decree.leader_count < 3 || decree.reclaim) {
        return false;
    }
    plot->who = decree.leader[2];
    plot->term = decree.term;
    for (lk_host host = 0; host < world->member_count; host++) {
        if (lk_decree_place (&decree, host) < 0) {
            friend = host;
        }
    }
    sim_network_isolate (world, plot->who, true, true, SIM_FOREVER);
    if (with_friend) {
        sim_network_link (world, plot->who, friend, true);
    }
    plot->whom = friend;
    sim_host_crash (world, decree.leader[0], false, 40);
    sim_host_crash (world, decree.leader[1], false, 60);
    return true;
}

static void
check_no_reclaim (sim_world *world, const lk_lock_message *message)
{
    const sim_plot *plot = &world->plot;

    if (message->as.decree.decree.reclaim) {
        sim_checker_fail (&world->checker,
                          "RECLAIM by decree %llu, although h%d has the "
                          "tickets and is heard",
                          (unsigned long long) message->term.number, plot->who);
    }
}

/*  The one leader that has the tickets is out of the proposer's sight, but
 *  another voter hears it: that one has to be the proposer. */
bool
sim_holder_out_of_sight (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    if (plot->act == 0 && world->now > 12000 && sim_act_age (world) > 6000
        && leave_holder (world, true)) {
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && message->kind == LK_MSG_ACTIVE
               && sim_term_compare (message->term, plot->term) > 0) {
        check_no_reclaim (world, message);
        sim_begin_act (world, 2);
    } else if (plot->act == 2 && sim_act_age (world) > 3000) {
        sim_network_mend (world);
        sim_begin_act (world, 0);
    }
    return false;
}

/*  The same when a proposer has begun a reclaim and is gone before anybody
 *  else has its decree: some voters have the empty table of that term, one
 *  has all tickets. */
bool
sim_holder_comes_back (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    if (plot->act == 0 && world->now > 12000 && sim_act_age (world) > 6000
        && leave_holder (world, false)) {
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && message->kind == LK_MSG_ACTIVE
               && message->as.decree.decree.reclaim) {
        plot->term = message->term;
        sim_network_mend (world);
        sim_host_crash (world, message->from, false, 9000);
        sim_begin_act (world, 2);
        return true;
    } else if (plot->act == 2 && message->kind == LK_MSG_VOTED
               && message->from == plot->who) {
        plot->voted = message->term;
    } else if (plot->act == 2 && message->kind == LK_MSG_ACTIVE
               && sim_term_compare (message->term, plot->term) > 0) {
        if (sim_term_compare (message->term, plot->voted) == 0) {
            check_no_reclaim (world, message);
        }
        sim_begin_act (world, 0);
    } else if (plot->act > 0 && sim_act_age (world) > 12000) {
        sim_network_mend (world);
        sim_begin_act (world, 0);
    }
    return false;
}
