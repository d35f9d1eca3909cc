/*  script.c - orders of events told by hand
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

#include "util/hash.h"

#include <string.h>

/*  The host that is no member in the scripts that have one. */
#define OUTSIDER 3

static void
begin_act (sim_world *world, int act)
{
    world->plot.act = act;
    world->plot.since = world->now;
    sim_tell (world, -1, "script %s: act %d", world->options.script->name, act);
}

static int64_t
act_age (const sim_world *world)
{
    return world->now - world->plot.since;
}

/*  Ends a leader's service, so that there will be an election. */
static void
stir (sim_world *world)
{
    lk_decree decree;

    sim_leaders (world, &decree);
    if (decree.leader_count > 0) {
        sim_host_crash (
            world,
            decree.leader[sim_between (world, 0, decree.leader_count - 1)],
            false, sim_between (world, 1000, 4000));
    }
}

/*  The leader that orders an object's tickets; LK_NOBODY without any. */
static lk_host
home_of (sim_world *world, uint8_t object, lk_decree *decree)
{
    lk_name name = sim_object_name (object);

    sim_leaders (world, decree);
    if (decree->leader_count == 0) {
        return LK_NOBODY;
    }
    return decree
        ->leader[lk_hash64 (name.data, name.size) % decree->leader_count];
}

/*  -------------------------------------------------------- late LOCKED */

/*  The only leader grants, and vanishes; the LOCKED comes when the host has
 *  reported to the decree that reclaims. */
static bool
late_locked (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    if (plot->act == 0 && world->now > 2500 && message->kind == LK_MSG_LOCKED
        && message->to == OUTSIDER
        && (message->destination == LK_NOBODY
            || message->destination == OUTSIDER)) {
        plot->who = message->from;
        sim_network_deliver_at (world, message,
                                world->now + sim_between (world, 2500, 7000));
        sim_network_split (world, LK_HOST_BIT (message->from), SIM_FOREVER);
        begin_act (world, 1);
        return true;
    }
    return false;
}

/*  -------------------------------------------------------- late mark */

/*  A decree that was filled reaches a member that has promised a later one,
 *  and its answer reaches the proposer. */
static bool
late_mark (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    if (plot->act == 0 && world->now > 3000) {
        stir (world);
        begin_act (world, 1);
    } else if (plot->act == 1 && message->kind == LK_MSG_ACTIVE) {
        plot->who = message->from;
        plot->whom = message->to;
        plot->term = message->term;
        for (int copy = 0; copy < 6; copy++) {
            sim_network_deliver_at (
                world, message, world->now + sim_between (world, 200, 4000));
        }
        sim_network_split (world, LK_HOST_BIT (message->from), 5000);
        begin_act (world, 2);
        return true;
    } else if (plot->act == 2 && message->from == plot->whom
               && message->to == plot->who
               && (message->kind == LK_MSG_ACTIVATED
                   || message->kind == LK_MSG_DESIST)) {
        sim_network_deliver_at (world, message, world->now + 2);
        return true;
    } else if (plot->act == 2 && act_age (world) > 9000) {
        begin_act (world, 0);
    }
    return false;
}

/*  -------------------------------------------------------- heard again */

/*  A leader has said that a host is silent, then hears it again, and then it
 *  is the only one who does. `first` hears the host while the others find it
 *  silent, `then` is the one that hears it again. */
static void
heard_again (sim_world *world, lk_host first, lk_host then, bool now)
{
    sim_plot *plot = &world->plot;
    int64_t silent_ms = (plot->count + 1600);

    if (plot->act == 1 && (now || act_age (world) > silent_ms)) {
        sim_network_link (world, OUTSIDER, then, true);
        begin_act (world, 2);
    } else if (plot->act == 2 && act_age (world) > 600) {
        sim_network_link (world, OUTSIDER, first, false);
        begin_act (world, 3);
    }
}

/*  Finds what the outsider holds, and cuts it off from all leaders but one:
 *  from its home and `whom`, or from its home and `who`. */
static void
leave_one (sim_world *world, bool spare_last)
{
    sim_plot *plot = &world->plot;
    const sim_script *script = world->options.script;
    lk_decree decree;

    for (uint8_t object = 0; object < SIM_OBJECTS; object++) {
        lk_host home = home_of (world, object, &decree);
        if (!sim_apps_holds (world, OUTSIDER, object)
            || decree.leader_count < 3) {
            continue;
        }
        plot->who = plot->whom = LK_NOBODY;
        for (int i = 0; i < 3; i++) {
            lk_host leader = decree.leader[i];
            if (leader != home && plot->who == LK_NOBODY) {
                plot->who = leader;
            } else if (leader != home) {
                plot->whom = leader;
            }
        }
        plot->count =
            (int) ((script->leader_lease_ms + script->host_lease_ms) * 5 / 4);
        sim_network_link (world, OUTSIDER, home, false);
        sim_network_link (world, OUTSIDER, spare_last ? plot->who : plot->whom,
                          false);
        plot->term.number = home;
        begin_act (world, 1);
        return;
    }
}

static bool
heard_by_another (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    (void) message;
    if (plot->act == 0 && world->now > 2500) {
        leave_one (world, false);
    }
    heard_again (world, plot->who, plot->whom, false);
    return false;
}

/*  The same, while its answer that the host is silent is still under way. */
static bool
heard_while_answering (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    bool answer = message->kind == LK_MSG_SILENT && message->from == plot->whom
                  && plot->act >= 1 && plot->act <= 2;

    if (plot->act == 0 && world->now > 2500) {
        leave_one (world, false);
    }
    heard_again (world, plot->who, plot->whom, answer);
    if (answer) {
        sim_network_deliver_at (world, message, world->now + 1500);
    }
    return answer;
}

/*  The home hears the host again while its question is under way. */
static bool
heard_while_asking (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    if (plot->act == 0 && world->now > 2500) {
        leave_one (world, true);
    }
    heard_again (world, plot->whom, (lk_host) plot->term.number, false);
    if (plot->act >= 1 && message->kind == LK_MSG_HOST
        && message->to == plot->whom) {
        sim_network_deliver_at (world, message, world->now + 11000);
        return true;
    }
    return false;
}

/*  -------------------------------------------------------- the holder */

/*  A holder's host is cut off together with the home of its lock. */
static bool
leader_with_holder (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    lk_decree decree;

    (void) message;
    if (plot->act == 1) {
        if (act_age (world) > 12000) {
            begin_act (world, 0);
        }
        return false;
    }
    for (uint8_t host = 0; host < world->host_count; host++) {
        for (uint8_t object = 0; object < SIM_OBJECTS; object++) {
            lk_host home = home_of (world, object, &decree);
            if (world->now > 2500 && home != LK_NOBODY && home != host
                && sim_apps_holds (world, host, object)) {
                sim_network_split (world,
                                   LK_HOST_BIT (home) | LK_HOST_BIT (host),
                                   sim_between (world, 3000, 11000));
                begin_act (world, 1);
                return false;
            }
        }
    }
    return false;
}

/*  -------------------------------------------------------- elections */

/*  Those messages of an election that its proposer sends or gets. */
static const struct {
    lk_lock_kind kind;
    bool sent;
} election[] = {
    {LK_MSG_DATE, true},   {LK_MSG_AGREED, false},    {LK_MSG_VOTE, true},
    {LK_MSG_VOTED, false}, {LK_MSG_ELECTED, true},    {LK_MSG_EXITING, false},
    {LK_MSG_ACTIVE, true}, {LK_MSG_ACTIVATED, false}, {LK_MSG_READY, true}};
#define ELECTION_COUNT ((int) (sizeof election / sizeof election[0]))

static bool
proposer_dies (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    int stage = (int) ((world->seed + (uint64_t) plot->count) % ELECTION_COUNT);

    if (plot->act == 0 && world->now > 3000 && act_age (world) > 2500) {
        stir (world);
        begin_act (world, 1);
    } else if (plot->act == 1 && message->kind == election[stage].kind) {
        bool passes = sim_chance (world, 500);
        sim_host_crash (world,
                        election[stage].sent ? message->from : message->to,
                        false, sim_between (world, 20, 5000));
        plot->count++;
        begin_act (world, 0);
        return !passes;
    } else if (plot->act == 1 && act_age (world) > 6000) {
        begin_act (world, 0);
    }
    return false;
}

/*  A leader forgets, by a restart, the table that it has said it has. */
static bool
restart_after_fill (sim_world *world, const lk_lock_message *message)
{
    static const lk_lock_kind kinds[] = {LK_MSG_FILLED, LK_MSG_EXITING,
                                         LK_MSG_FILL};
    sim_plot *plot = &world->plot;
    lk_lock_kind kind = kinds[(world->seed + (uint64_t) plot->count) % 3];

    if (plot->act == 0 && world->now > 3000 && act_age (world) > 2500) {
        stir (world);
        begin_act (world, 1);
    } else if (plot->act == 1 && message->kind == kind) {
        sim_network_deliver_at (world, message, world->now + 3);
        sim_host_crash (world,
                        kind == LK_MSG_FILL ? message->to : message->from,
                        false, sim_between (world, 4, 60));
        plot->count++;
        begin_act (world, 0);
        return true;
    } else if (plot->act == 1 && act_age (world) > 6000) {
        begin_act (world, 0);
    }
    return false;
}

/*  -------------------------------------------------------- all */

const sim_script sim_scripts[] = {
    {"late-locked", "a LOCKED comes after the report to a reclaim", 3, 1, 1,
     800, 8000, 50, late_locked},
    {"late-mark", "a decree reaches who has promised a later one", 5, 1, 1,
     1500, 5000, 300, late_mark},
    {"heard-by-another", "a host is heard again by who called it silent", 3, 1,
     3, 1500, 5000, 4, heard_by_another},
    {"heard-while-answering", "the same while that answer is under way", 3, 1,
     3, 1500, 5000, 4, heard_while_answering},
    {"heard-while-asking", "the home hears a host while its question travels",
     3, 1, 3, 1500, 5000, 4, heard_while_asking},
    {"leader-with-holder", "a holder is cut off together with the home", 5, 1,
     3, 1500, 5000, 50, leader_with_holder},
    {"proposer-dies", "at each message of an election", 5, 0, 3, 1500, 5000,
     200, proposer_dies},
    {"restart-after-fill", "a leader forgets what it said it has", 5, 0, 3,
     1500, 5000, 200, restart_after_fill},
};
const size_t sim_script_count = sizeof sim_scripts / sizeof sim_scripts[0];

const sim_script *
sim_script_find (const char *name)
{
    for (size_t i = 0; i < sim_script_count; i++) {
        if (strcmp (sim_scripts[i].name, name) == 0) {
            return &sim_scripts[i];
        }
    }
    return NULL;
}

bool
sim_plot_takes (sim_world *world, const lk_lock_message *message)
{
    const sim_script *script = world->options.script;

    return script && script->takes (world, message);
}
