/*  script_hosts.c - scripts about hosts that hold locks and are cut off
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

/*  The host that is no member in the scripts that have one. */
#define OUTSIDER 3

/*  -------------------------------------------------------- late LOCKED */

/*  The only leader grants, and vanishes; the LOCKED comes when the host has
 *  reported to the decree that reclaims. */
bool
sim_late_locked (sim_world *world, const lk_lock_message *message)
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
        sim_begin_act (world, 1);
        return true;
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

    if (plot->act == 1 && (now || sim_act_age (world) > silent_ms)) {
        sim_network_link (world, OUTSIDER, then, true);
        sim_begin_act (world, 2);
    } else if (plot->act == 2 && sim_act_age (world) > 600) {
        sim_network_link (world, OUTSIDER, first, false);
        sim_begin_act (world, 3);
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
        lk_host home = sim_home_of (world, object, &decree);
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
        sim_begin_act (world, 1);
        return;
    }
}

bool
sim_heard_by_another (sim_world *world, const lk_lock_message *message)
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
bool
sim_heard_while_answering (sim_world *world, const lk_lock_message *message)
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
bool
sim_heard_while_asking (sim_world *world, const lk_lock_message *message)
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

/*  The same when that one leads with the home in the next term, in which it has
 *  not said so. */
bool
sim_silent_before (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    if (plot->act == 0 && world->now > 2500) {
        leave_one (world, false);
    } else if (plot->act == 1 && message->kind == LK_MSG_SILENT
               && message->from == plot->whom) {
        sim_network_link (world, OUTSIDER, plot->whom, true);
        sim_network_isolate (world, plot->who, true, true, SIM_FOREVER);
        sim_begin_act (world, 2);
    }
    return false;
}

/*  -------------------------------------------------------- reclaims */

/*  All leaders forget their tables at once; when what hosts report has just
 *  been gathered, one of the new leaders ends, too. Hosts that were there all
 *  the time lose nothing. */
static bool
end_leaders (sim_world *world, bool all)
{
    lk_decree decree;

    sim_leaders (world, &decree);
    world->plot.term = decree.term;
    for (size_t i = 0; i < decree.leader_count && (all || i == 0); i++) {
        sim_host_crash (world, decree.leader[i], false,
                        sim_between (world, 20, 200));
    }
    return decree.leader_count > 0;
}

bool
sim_two_reclaims (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    const lk_decree *latest = sim_checker_latest (&world->checker);

    (void) message;
    if (plot->act == 0 && sim_act_age (world) > 9000
        && end_leaders (world, true)) {
        plot->limit_ms = sim_between (world, 300, 3000);
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && latest->reclaim
               && sim_term_compare (latest->term, plot->term) > 0) {
        sim_begin_act (world, 2);
    } else if (plot->act == 2 && sim_act_age (world) > plot->limit_ms) {
        end_leaders (world, false);
        sim_begin_act (world, 3);
    } else if (plot->act == 3 && sim_act_age (world) > 15000) {
        sim_begin_act (world, 0);
    }
    return false;
}

/*  All leaders forget their tables, and nothing that one of the holders has to
 *  report arrives: it must not be vouched for. */
bool
sim_report_lost (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    if (plot->act == 0 && world->now > 3000
        && (sim_apps_holds (world, OUTSIDER, 0)
            || sim_apps_holds (world, OUTSIDER, 1)
            || sim_apps_holds (world, OUTSIDER, 2))
        && message->from == OUTSIDER && end_leaders (world, true)) {
        sim_begin_act (world, 1);
    }
    return plot->act == 1 && message->kind == LK_MSG_REPORT
           && (message->from == OUTSIDER || message->origin == OUTSIDER);
}

/*  -------------------------------------------------------- the holder */

/*  A holder's host is heard by one leader alone, for long; then that leader
 *  and the host are cut off, and others lead, who never heard it. */
bool
sim_heard_by_former (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    lk_host outsider = (lk_host) (world->base.count - 1);
    int64_t silent_ms = world->options.script->host_lease_ms * 3 / 2;
    lk_decree decree;

    (void) message;
    if (plot->act == 0 && world->now > 2500
        && sim_leaders (world, &decree) != 0) {
        plot->who = decree.leader[0];
        for (lk_host host = 0; host < world->member_count; host++) {
            sim_network_link (world, outsider, host, host == plot->who);
        }
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && sim_act_age (world) > silent_ms
               && (sim_apps_holds (world, outsider, 0)
                   || sim_apps_holds (world, outsider, 1)
                   || sim_apps_holds (world, outsider, 2))) {
        sim_network_split (
            world, LK_HOST_BIT (plot->who) | LK_HOST_BIT (outsider), 15000);
        sim_begin_act (world, 2);
    }
    return false;
}

/*  A holder's host is cut off together with the home of its lock. */
bool
sim_leader_with_holder (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    lk_decree decree;

    (void) message;
    if (plot->act == 1) {
        if (sim_act_age (world) > 12000) {
            sim_begin_act (world, 0);
        }
        return false;
    }
    for (uint8_t host = 0; host < world->base.count; host++) {
        for (uint8_t object = 0; object < SIM_OBJECTS; object++) {
            lk_host home = sim_home_of (world, object, &decree);
            if (world->now > 2500 && home != LK_NOBODY && home != host
                && sim_apps_holds (world, host, object)) {
                sim_network_split (world,
                                   LK_HOST_BIT (home) | LK_HOST_BIT (host),
                                   sim_between (world, 3000, 11000));
                sim_begin_act (world, 1);
                return false;
            }
        }
    }
    return false;
}
