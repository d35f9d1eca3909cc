/*  script_leave.c - scripts about leaders that leave by a plan
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A service drains, halts when it has, and comes back. Where nothing else
 *  happens there is no reclaim, and others lead soon; no lock is told lost, or
 *  the judge of resumed ones says so.
 */

#include "world.h"

#define FIRST_MS 6000
#define SOON_MS 3000 /* until others lead, at most */

/*  -------------------------------------------------------- what must hold */

/*  Nothing but plans: all tickets are somewhere, all the time. */
static void
judge (sim_world *world)
{
    if (world->checker.reclaims > 0) {
        sim_checker_fail (&world->checker,
                          "RECLAIM: nobody has the tickets any more");
    }
}

static void
judge_soon (sim_world *world, lk_host host)
{
    if (world->host[host].drains && !world->host[host].drained
        && sim_act_age (world) > SOON_MS) {
        sim_checker_fail (&world->checker,
                          "STAYS: h%d was to lead no more %lld ms ago", host,
                          (long long) sim_act_age (world));
    }
}

/*  -------------------------------------------------------- helpers */

static bool
all_up (const sim_world *world)
{
    for (uint8_t host = 0; host < world->base.count; host++) {
        if (!sim_host_is_up (world, host)) {
            return false;
        }
    }
    return true;
}

/*  As many leaders as there may be, in a decree without a reclaim. */
static bool
is_full (const sim_world *world)
{
    const lk_decree *latest = sim_checker_latest (&world->checker);

    return latest && !latest->reclaim
           && latest->leader_count == world->common.leaders_max
           && all_up (world);
}

static void
drain (sim_world *world, lk_host host, int64_t in_ms)
{
    sim_post (world, world->now + in_ms, SIM_EVENT_DRAIN, host,
              (uint32_t) sim_between (world, 5, 600));
}

static lk_host
leader_at (const sim_world *world, size_t place)
{
    return sim_checker_latest (&world->checker)->leader[place];
}

/*  -------------------------------------------------------- one by one */

/*  The next one when the last is there again, and all is as before; or at once,
 *  as an administrator in a hurry has it. */
static void
roll (sim_world *world, bool hasty)
{
    sim_plot *plot = &world->plot;

    judge (world);
    sim_free_judge (world);
    if (plot->act == 0 && world->now > FIRST_MS && all_up (world)
        && sim_checker_latest (&world->checker)
        && (hasty || (is_full (world) && sim_act_age (world) > 500))) {
        world->apps.habits.resume = 1000;
        plot->who = (lk_host) (plot->count++ % world->member_count);
        plot->limit_ms = world->host[plot->who].process;
        drain (world, plot->who, 0);
        sim_begin_act (world, 1);
    } else if (plot->act == 1
               && world->host[plot->who].process > plot->limit_ms) {
        sim_begin_act (world, 0);
    } else if (plot->act == 1 && !hasty) {
        judge_soon (world, plot->who);
    }
}

bool
sim_rolling (sim_world *world, const lk_lock_message *message)
{
    (void) message;
    roll (world, false);
    return false;
}

bool
sim_roll_hasty (sim_world *world, const lk_lock_message *message)
{
    (void) message;
    roll (world, true);
    return false;
}

/*  All within 50 ms: one of them keeps the tickets until another is back. */
bool
sim_roll_all (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    (void) message;
    judge (world);
    if (world->now > FIRST_MS && is_full (world)
        && sim_act_age (world) > (plot->act == 0 ? 0 : 8000)) {
        world->apps.habits.resume = 1000;
        for (lk_host host = 0; host < world->member_count; host++) {
            drain (world, host, sim_between (world, 0, 50));
        }
        sim_begin_act (world, plot->act + 1);
    }
    return false;
}

/*  -------------------------------------------------------- few of them */

/*  Two of three leaders end, and the one that is left is to leave, too. */
bool
sim_leave_last_holder (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    (void) message;
    judge (world);
    if (plot->act % 2 == 0 && world->now > FIRST_MS && is_full (world)
        && sim_act_age (world) > 2000) {
        const size_t last = (size_t) sim_between (world, 0, 2);
        const lk_host ends[2] = {leader_at (world, (last + 1) % 3),
                                 leader_at (world, (last + 2) % 3)};
        world->apps.habits.resume = 1000;
        plot->who = leader_at (world, last);
        drain (world, plot->who, sim_between (world, 0, 30));
        sim_post (world, world->now, SIM_EVENT_HALT, ends[0], 1500);
        sim_post (world, world->now, SIM_EVENT_HALT, ends[1], 1500);
        sim_begin_act (world, plot->act + 1);
    } else if (plot->act % 2 == 1 && sim_act_age (world) > 4000) {
        sim_begin_act (world, plot->act + 1);
    }
    return false;
}

/*  Two leaders at once, or nearly so. */
bool
sim_leave_two (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    (void) message;
    judge (world);
    sim_free_judge (world);
    if (plot->act % 2 == 0 && world->now > FIRST_MS && is_full (world)
        && sim_act_age (world) > 2000) {
        const size_t stays = (size_t) sim_between (world, 0, 2);
        world->apps.habits.resume = 1000;
        plot->who = leader_at (world, (stays + 1) % 3);
        plot->whom = leader_at (world, (stays + 2) % 3);
        drain (world, plot->who, 0);
        drain (world, plot->whom, sim_between (world, 0, 600));
        sim_begin_act (world, plot->act + 1);
    } else if (plot->act % 2 == 1 && sim_act_age (world) > 2 * SOON_MS) {
        sim_begin_act (world, plot->act + 1);
    } else if (plot->act % 2 == 1) {
        judge_soon (world, plot->who);
    }
    return false;
}

/*  -------------------------------------------------------- cut off */

static bool
is_moment (const sim_plot *plot, const lk_lock_message *message)
{
    switch (plot->count % 3) {
    case 0:
        return message->kind == LK_MSG_VOTED && message->from == plot->who;
    case 1:
        return message->kind == LK_MSG_ELECTED;
    default:
        return message->kind == LK_MSG_ACTIVE;
    }
}

/*  The one that leaves is cut off behind its vote, or behind what the others
 *  say then; the tickets are theirs. */
bool
sim_leave_cut (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    if (world->checker.reclaims > 0) {
        sim_checker_fail (&world->checker,
                          "RECLAIM: nobody has the tickets any more");
    }
    if (plot->act == 0 && world->now > FIRST_MS && is_full (world)
        && sim_act_age (world) > 1500) {
        plot->who = leader_at (world, (size_t) sim_between (world, 0, 2));
        drain (world, plot->who, 0);
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && is_moment (plot, message)) {
        sim_network_isolate (world, plot->who, true, true,
                             sim_between (world, 500, 4000));
        plot->count++;
        sim_begin_act (world, 2);
    } else if (plot->act > 0 && sim_act_age (world) > 5000) {
        sim_begin_act (world, 0);
    }
    return false;
}

/*  -------------------------------------------------------- other plans */

static void
end_leaders (sim_world *world)
{
    for (size_t place = 0; place < world->common.leaders_max; place++) {
        sim_host_crash (world, leader_at (world, place), false, 300);
    }
}

/*  All leaders end. The first one in the reclaim is to leave: it waits until
 *  that is over, and does not have it begin again. */
bool
sim_leave_in_reclaim (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    const lk_decree *latest = sim_checker_latest (&world->checker);

    (void) message;
    if (plot->act == 0 && world->now > FIRST_MS && is_full (world)) {
        end_leaders (world);
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && latest && latest->reclaim
               && latest->leader_count == world->common.leaders_max
               && world->now
                      > world->checker.known[world->checker.latest].in_force_at
                            + 1500) {
        plot->count = (int) world->checker.reclaims;
        drain (world, latest->leader[0], 0);
        sim_begin_act (world, 2);
    } else if (plot->act == 2
               && world->checker.reclaims > (uint64_t) plot->count) {
        sim_checker_fail (&world->checker, "RECLAIM begun again by a plan");
    }
    return false;
}

/*  A leader is to leave while another member is removed, or added. */
bool
sim_leave_and_change (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;
    const lk_decree *latest = sim_checker_latest (&world->checker);

    (void) message;
    judge (world);
    sim_free_judge (world);
    if (plot->act == 0 && world->now > FIRST_MS && is_full (world)
        && sim_act_age (world) > 2500) {
        const lk_host outsider = (lk_host) (world->base.count - 1);
        world->apps.habits.resume = 1000;
        plot->who = leader_at (world, 0);
        plot->whom = leader_at (world, 1);
        plot->with = outsider;
        sim_begin_act (world, 1);
    } else if (plot->act == 1 && message->from != plot->who) {
        sim_ask_change (world, plot->who, plot->with,
                        !(latest->members >> plot->with & 1));
        drain (world, sim_chance (world, 500) ? plot->who : plot->whom,
               sim_between (world, 0, 400));
        sim_begin_act (world, 2);
    } else if (plot->act == 2 && sim_act_age (world) > 7000) {
        sim_begin_act (world, 0);
    }
    return false;
}
