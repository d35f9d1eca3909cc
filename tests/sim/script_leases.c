/*  script_leases.c - scripts about time: old echoes, and what is always late
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

#include "choice.h"

/*  -------------------------------------------------------- another boot */

#define KEEP_MS 13000 /* how long pings are kept for later */
#define BACK_MS 22000 /* how far its clock goes back by that */

/*  Whom the leader comes before when nobody has the tickets; LK_NOBODY. */
static lk_host
comes_behind (const sim_world *world, lk_host leader)
{
    const lk_candidate *own = &world->base.host[leader].config.candidate;

    for (lk_host host = 0; host < world->member_count; host++) {
        const lk_candidate *other = &world->base.host[host].config.candidate;
        if (own->priority != other->priority
                ? own->priority < other->priority
                : lk_candidate_compare (own, other) < 0) {
            return host;
        }
    }
    return LK_NOBODY;
}

static bool
find_parts (sim_world *world)
{
    sim_plot *plot = &world->plot;
    lk_decree decree;

    if (sim_leaders (world, &decree) == 0) {
        return false;
    }
    plot->who = decree.leader[0];
    plot->with = comes_behind (world, plot->who);
    if (plot->with == LK_NOBODY) {
        sim_host_crash (world, plot->who, false, 3000);
        return false;
    }
    plot->whom = (lk_host) (3 - plot->who - plot->with);
    return true;
}

/*  The host starts anew, and its clock shows once more what it did. */
static void
reboot (sim_world *world)
{
    const sim_plot *plot = &world->plot;
    sim_host *host = &world->host[plot->who];
    int64_t offset = host->offset - BACK_MS * host->rate / 1000;

    sim_network_isolate (world, plot->whom, true, true, SIM_FOREVER);
    sim_host_crash (world, plot->who, true, 30);
    host->offset = offset;
}

/*  The only leader reboots and leads again; then it is left alone with hosts
 *  that ask it for locks, and hears the echoes of its former self, which were
 *  sent before all others promised somebody else. */
bool
sim_another_boot (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    lk_hosts two;

    if (plot->act == 0 && world->now > 3000 && sim_act_age (world) > 3000
        && find_parts (world)) {
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && message->kind == LK_MSG_PING
               && message->from == plot->whom && message->to == plot->who) {
        sim_network_deliver_at (world, message, world->now + BACK_MS);
    } else if (plot->act == 1 && sim_act_age (world) > KEEP_MS) {
        sim_begin_act (world, 2);
    } else if (plot->act == 2 && message->from != plot->who) {
        reboot (world);
        sim_begin_act (world, 3);
    } else if (plot->act == 3
               && sim_act_age (world) > BACK_MS - KEEP_MS + 100) {
        two = LK_HOST_BIT (plot->with) | LK_HOST_BIT (plot->whom);
        sim_network_mend (world);
        sim_network_split (world, two, SIM_FOREVER);
        sim_begin_act (world, 4);
    }
    return false;
}

/*  -------------------------------------------------------- leaders alone */

#define ALONE_MS 6000 /* the others begin a reclaim, and lead */

/*  The leaders still hear each other, and acknowledge all that their hosts ask
 *  for. Their sessions go on for a while. */
bool
sim_leaders_alone (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    lk_hosts leaders = sim_leaders (world, NULL);

    (void) message;
    if (plot->act % 2 == 0 && leaders != 0 && world->now > 3000
        && sim_act_age (world) > 3000) {
        sim_network_split (world, leaders, SIM_FOREVER);
        sim_begin_act (world, plot->act + 1);
    } else if (plot->act % 2 == 1 && sim_act_age (world) > ALONE_MS) {
        sim_network_mend (world);
        sim_begin_act (world, plot->act + 1);
    }
    return false;
}

/*  -------------------------------------------------------- asleep */

#define OUTSIDER 3 /* in the script that has one, no member */

/*  A host gets no ping for nearly as long as its lease lasts, and its service
 *  sleeps over the end of that: LOCKED waits for it when it wakes up. */
bool
sim_asleep (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    int64_t lease_ms = world->options.script->host_lease_ms;

    if (plot->act == 0 && world->now > 3000 && sim_act_age (world) > 2000) {
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && sim_act_age (world) > lease_ms * 9 / 10) {
        sim_host_pause (world, OUTSIDER, lease_ms / 3);
        sim_begin_act (world, 2);
    } else if (plot->act == 2 && sim_act_age (world) > lease_ms / 2) {
        sim_begin_act (world, 0);
    }
    return plot->act > 0 && message->kind == LK_MSG_PING
           && message->to == OUTSIDER;
}

/*  -------------------------------------------------------- slow holder */

/*  Of those that do not lead; LK_NOBODY: nobody leads. */
static lk_host
find_slowest (sim_world *world)
{
    const lk_hosts leaders = sim_leaders (world, NULL);
    lk_host slowest = LK_NOBODY;

    for (lk_host host = 0; leaders != 0 && host < world->base.count; host++) {
        if (!lk_hosts_has (leaders, host)
            && (slowest == LK_NOBODY
                || world->host[host].rate < world->host[slowest].rate)) {
            slowest = host;
        }
    }
    return slowest;
}

/*  The host with the slowest clock is cut off, for longer than others wait for
 *  it: who holds a lock there stops just in time. */
bool
sim_slow_holder (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    int64_t lease_ms = world->options.script->host_lease_ms;

    (void) message;
    if (plot->act == 0 && world->now > 3000 && sim_act_age (world) > 3000) {
        plot->who = find_slowest (world);
        sim_begin_act (world, plot->who != LK_NOBODY);
    }
    if (plot->act == 1) {
        sim_network_isolate (world, plot->who, false, true, lease_ms * 3 / 2);
        sim_begin_act (world, 2);
    } else if (plot->act == 2 && sim_act_age (world) > lease_ms * 3 / 2) {
        sim_begin_act (world, 0);
    }
    return false;
}

/*  -------------------------------------------------------- always late */

/*  By the seed, one kind of message is always late. */
bool
sim_always_late (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    uint64_t kind = world->seed % (LK_MSG_COUNT - 1) + 1;
    int64_t late_ms = (int64_t) 40 << world->seed / LK_MSG_COUNT % 7;

    if (world->now > 3000 && sim_act_age (world) > plot->limit_ms) {
        plot->limit_ms = sim_between (world, 3000, 9000);
        sim_stir (world);
        sim_begin_act (world, plot->act + 1);
    }
    if (message->kind != kind || world->now < 1500) {
        return false;
    }
    sim_network_deliver_at (
        world, message, world->now + sim_between (world, late_ms / 2, late_ms));
    return true;
}
