/*  script_elections.c - scripts about leaders and proposers that are lost
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

/*  -------------------------------------------------------- late mark */

/*  A decree that was filled reaches a member that has promised a later one,
 *  and its answer reaches the proposer. */
bool
sim_late_mark (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    if (plot->act == 0 && world->now > 3000) {
        sim_stir (world);
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && message->kind == LK_MSG_ACTIVE) {
        plot->who = message->from;
        plot->whom = message->to;
        plot->term = message->term;
        for (int copy = 0; copy < 6; copy++) {
            sim_network_deliver_at (
                world, message, world->now + sim_between (world, 200, 4000));
        }
        sim_network_split (world, LK_HOST_BIT (message->from), 5000);
        sim_begin_act (world, 2);
        return true;
    } else if (plot->act == 2 && message->from == plot->whom
               && message->to == plot->who
               && (message->kind == LK_MSG_ACTIVATED
                   || message->kind == LK_MSG_DESIST)) {
        sim_network_deliver_at (world, message, world->now + 2);
        return true;
    } else if (plot->act == 2 && sim_act_age (world) > 9000) {
        sim_begin_act (world, 0);
    }
    return false;
}

/*  -------------------------------------------------------- elections */

/*  The messages of an election. Its proposer sends or gets them, or (NEITHER)
 *  others do while it waits. */
typedef enum { SENT, GOT, NEITHER } sim_part;

static const struct {
    lk_lock_kind kind;
    sim_part part;
} election[] = {{LK_MSG_DATE, SENT},         {LK_MSG_AGREED, GOT},
                {LK_MSG_VOTE, SENT},         {LK_MSG_VOTED, GOT},
                {LK_MSG_ELECTED, SENT},      {LK_MSG_ENTERING, NEITHER},
                {LK_MSG_ENTERED, NEITHER},   {LK_MSG_GETMAX, NEITHER},
                {LK_MSG_MAXTICKET, NEITHER}, {LK_MSG_FILL, NEITHER},
                {LK_MSG_FILLED, NEITHER},    {LK_MSG_EXITING, GOT},
                {LK_MSG_ACTIVE, SENT},       {LK_MSG_ACTIVATED, GOT},
                {LK_MSG_READY, SENT}};
#define ELECTION_COUNT ((int) (sizeof election / sizeof election[0]))

static lk_host
proposer_at (const sim_plot *plot, sim_part part,
             const lk_lock_message *message)
{
    switch (part) {
    case SENT:
        return message->from;
    case GOT:
        return message->to;
    case NEITHER:
        break;
    }
    return plot->whom;
}

bool
sim_proposer_dies (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    int stage = (int) ((world->seed + (uint64_t) plot->count) % ELECTION_COUNT);

    if (message->kind == LK_MSG_VOTE) {
        plot->whom = message->from;
    }
    if (plot->act == 0 && world->now > 3000 && sim_act_age (world) > 2500) {
        sim_stir (world);
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && message->kind == election[stage].kind) {
        bool passes = sim_chance (world, 500);
        sim_host_crash (world,
                        proposer_at (plot, election[stage].part, message),
                        false, sim_between (world, 20, 5000));
        plot->count++;
        sim_begin_act (world, 0);
        return !passes;
    } else if (plot->act == 1 && sim_act_age (world) > 6000) {
        plot->count++;
        sim_begin_act (world, 0);
    }
    return false;
}

/*  A leader that serves restarts, and gets the tables it was filled with once
 *  more: what it has acknowledged since then is not in them. A mere offer says
 *  nothing to a leader whose table is gone. */
bool
sim_late_fill (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    if (plot->act == 0 && world->now > 3000 && sim_act_age (world) > 2500) {
        sim_stir (world);
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && message->kind == LK_MSG_FILL
               && message->as.chunk.offer == 0) {
        plot->whom = message->to;
        plot->limit_ms = sim_between (world, 300, 2000);
        for (int copy = 0; copy < 6; copy++) {
            sim_network_deliver_at (world, message,
                                    world->now + plot->limit_ms
                                        + sim_between (world, 20, 400));
        }
        sim_begin_act (world, 2);
    } else if (plot->act == 2 && sim_act_age (world) > plot->limit_ms) {
        sim_host_crash (world, plot->whom, false, sim_between (world, 5, 60));
        sim_begin_act (world, 0);
    } else if (plot->act == 1 && sim_act_age (world) > 6000) {
        sim_begin_act (world, 0);
    }
    return false;
}

/*  Leaders end and come back empty, one after the other. */
bool
sim_many_tickets (sim_world *world, const lk_lock_message *message)
{
    (void) message;
    if (sim_act_age (world) > 6000) {
        sim_stir (world);
        sim_begin_act (world, world->plot.act + 1);
    }
    return false;
}

/*  A leader forgets, by a restart, the table that it has said it has. */
bool
sim_restart_after_fill (sim_world *world, const lk_lock_message *message)
{
    static const lk_lock_kind kinds[] = {LK_MSG_FILLED, LK_MSG_EXITING,
                                         LK_MSG_FILL};
    sim_plot *plot = &world->plot;
    lk_lock_kind kind = kinds[(world->seed + (uint64_t) plot->count) % 3];

    if (plot->act == 0 && world->now > 3000 && sim_act_age (world) > 2500) {
        sim_stir (world);
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && message->kind == kind) {
        sim_network_deliver_at (world, message, world->now + 3);
        sim_host_crash (world,
                        kind == LK_MSG_FILL ? message->to : message->from,
                        false, sim_between (world, 4, 60));
        plot->count++;
        sim_begin_act (world, 0);
        return true;
    } else if (plot->act == 1 && sim_act_age (world) > 6000) {
        sim_begin_act (world, 0);
    }
    return false;
}

/*  -------------------------------------------------------- how soon */

/*  A leader's service ends and routers say so, or its host is cut off in
 *  silence: how long until the next decree is in force? */
static void
lose_leader (sim_world *world)
{
    sim_plot *plot = &world->plot;
    lk_decree decree;

    sim_leaders (world, &decree);
    plot->term = decree.term;
    plot->who = decree.leader[sim_between (world, 0, decree.leader_count - 1)];
    if (++plot->count % 2) {
        plot->limit_ms = 500;
        world->storm.gone_told = 1000;
        sim_host_crash (world, plot->who, false, 6000);
    } else {
        plot->limit_ms = world->base.host[0].config.dead_after_ms + 2000;
        sim_network_isolate (world, plot->who, true, true, 6000);
    }
}

bool
sim_leader_vanishes (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    (void) message;
    if (plot->act == 0 && sim_act_age (world) > 15000
        && sim_leaders (world, NULL) != 0) {
        lose_leader (world);
        sim_begin_act (world, 1);
    } else if (plot->act == 1) {
        const lk_decree *latest = sim_checker_latest (&world->checker);
        if (latest && sim_term_compare (latest->term, plot->term) > 0) {
            sim_begin_act (world, 0);
        } else if (sim_act_age (world) > plot->limit_ms) {
            sim_checker_fail (&world->checker,
                              "SLOW: no new leaders %lld ms after h%d was %s",
                              (long long) plot->limit_ms, plot->who,
                              plot->count % 2 ? "ended" : "cut off");
        }
    }
    return false;
}

/*  -------------------------------------------------------- how quiet */

#define SETTLED_MS 12000 /* a reclaim may have begun, whose end is waited for */

/*  A link is cut in one direction for good: leaders that can be are found, and
 *  no election follows. */
bool
sim_one_way_link (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    lk_decree decree;

    (void) message;
    if (plot->act == 0 && world->now > 3000
        && sim_leaders (world, &decree) != 0) {
        plot->who = decree.leader[sim_between (world, 0, 1)];
        plot->whom = (lk_host) sim_between (world, 0, 2);
        sim_network_cut (world, plot->who, plot->whom, SIM_FOREVER);
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && sim_act_age (world) > SETTLED_MS) {
        plot->count = (int) world->totals.elections;
        sim_begin_act (world, 2);
    } else if (plot->act == 2 && plot->count != (int) world->totals.elections) {
        sim_checker_fail (&world->checker,
                          "RESTLESS: an election, %lld ms after the link from "
                          "h%d to h%d was cut",
                          (long long) (SETTLED_MS + sim_act_age (world)),
                          plot->who, plot->whom);
    }
    return false;
}
