/*  script_remotes.c - scripts about applications on other machines
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What random runs meet once in thousands of seeds: a server, a home or all
 *  leaders that end between two steps of a move, and clocks that stand still.
 *  lockkeeper-protocol(7), 9.20.
 */

#include "world.h"

#include "decree.h"

#define PAUSE_MS 900 /* between two of the same */

/*  -------------------------------------------------------- letters */

static bool
is_claim (const sim_mail *mail)
{
    return mail->to_host && mail->letter.kind == LK_ROAM_LOCK
           && mail->letter.token != 0 && mail->letter.turn == 0;
}

/*  Once in a while, when it is time for another one. */
static bool
is_due (sim_world *world)
{
    world->remotes.habits.move_ms = 900;
    return world->now > 3000 && sim_act_age (world) > PAUSE_MS
           && sim_chance (world, 400);
}

bool
sim_remote_idle (sim_world *world, const lk_lock_message *message)
{
    (void) world;
    (void) message;
    return false;
}

bool
sim_mail_idle (sim_world *world, const sim_mail *mail)
{
    (void) world;
    (void) mail;
    return false;
}

/*  -------------------------------------------------------- a dying server */

/*  The claim has come, or has not; its home has it, or has not. */
bool
sim_mail_claim_in_doubt (sim_world *world, const sim_mail *mail)
{
    if (!is_claim (mail) || !is_due (world)) {
        return false;
    }
    sim_begin_act (world, world->plot.act + 1);
    sim_mail_deliver_at (world, mail, world->now + 2);
    world->plot.who = mail->host;
    world->plot.limit_ms = world->now + sim_between (world, 3, 120);
    sim_post (world, world->plot.limit_ms, SIM_EVENT_HALT, mail->host,
              (uint32_t) sim_between (world, 300, 6000));
    return true;
}

/*  All of them end, some at once: those who come next begin with nothing. */
bool
sim_mail_move_in_reclaim (sim_world *world, const sim_mail *mail)
{
    lk_decree decree;

    if (!is_claim (mail) || !is_due (world)) {
        return false;
    }
    sim_begin_act (world, world->plot.act + 1);
    sim_leaders (world, &decree);
    for (size_t i = 0; i < decree.leader_count; i++) {
        sim_host_crash (world, decree.leader[i], false,
                        sim_between (world, 5, 900));
    }
    return false;
}

/*  -------------------------------------------------------- late messages */

static bool
is_of_move (const lk_lock_message *message)
{
    if (message->kind == LK_MSG_OPS) {
        for (size_t i = 0; i < message->as.ops.op_count; i++) {
            if (message->as.ops.ops[i].kind == LK_OP_RESUME) {
                return true;
            }
        }
    }
    if (message->kind == LK_MSG_LOCK || message->kind == LK_MSG_UNLOCK) {
        return message->as.request.ticket.remote.number > 1;
    }
    return message->kind == LK_MSG_LOCKED
           || (message->kind == LK_MSG_UNLOCKED && message->as.reply.moved);
}

bool
sim_remote_moves_late (sim_world *world, const lk_lock_message *message)
{
    world->remotes.habits.move_ms = 300;
    world->remotes.habits.servers =
        world->options.script->takes_mail == sim_mail_idle ? 2 : 0;
    if (!is_of_move (message) || !sim_chance (world, 300)) {
        return false;
    }
    sim_network_deliver_at (world, message,
                            world->now + sim_between (world, 20, 2500));
    return true;
}

bool
sim_mail_moves_late (sim_world *world, const sim_mail *mail)
{
    if (mail->letter.kind == LK_ROAM_LEASE || !sim_chance (world, 250)) {
        return false;
    }
    sim_mail_deliver_at (world, mail,
                         world->now + sim_between (world, 20, 2500));
    return true;
}

/*  -------------------------------------------------------- a takeover */

/*  The home ends when it has said so to one leader, or to nobody. */
bool
sim_remote_moved_untold (sim_world *world, const lk_lock_message *message)
{
    const bool moves =
        is_of_move (message)
        && (message->kind == LK_MSG_OPS
            || (message->kind == LK_MSG_UNLOCKED && message->as.reply.moved));

    if (!moves || !is_due (world)) {
        return false;
    }
    sim_begin_act (world, world->plot.act + 1);
    sim_host_crash (world, message->from, false,
                    sim_between (world, 500, 3000));
    return sim_chance (world, 500);
}

/*  -------------------------------------------------------- clocks */

/*  Only hosts that do not lead: a leader's lease rests on its clock. */
static lk_host
find_server (sim_world *world)
{
    const lk_host host = (lk_host) sim_between (
        world, (int64_t) world->member_count, (int64_t) world->base.count - 1);

    return lk_hosts_has (sim_leaders (world, NULL), host) ? LK_NOBODY : host;
}

/*  Meanwhile its session may be over for all others, and leaders begin with
 *  nothing. */
bool
sim_remote_suspended (sim_world *world, const lk_lock_message *message)
{
    const int64_t lease_ms = world->options.script->host_lease_ms;
    lk_decree decree;

    (void) message;
    world->remotes.habits.move_ms = 2500;
    world->remotes.habits.servers = 3;
    if (world->now < 3000 || sim_act_age (world) < 2500) {
        return false;
    }
    sim_begin_act (world, world->plot.act + 1);
    world->plot.who = find_server (world);
    if (world->plot.who == LK_NOBODY) {
        return false;
    }
    sim_host_suspend (world, world->plot.who,
                      sim_between (world, lease_ms / 8, lease_ms * 3));
    sim_leaders (world, &decree);
    for (size_t i = 0; world->plot.act % 3 == 0 && i < decree.leader_count;
         i++) {
        sim_host_crash (world, decree.leader[i], false,
                        sim_between (world, 5, 900));
    }
    return false;
}

/*  How long the host's lease lasts. */
static int64_t
lease_left (const sim_world *world, lk_host host)
{
    lk_node_status status;

    if (!world->base.node[host]) {
        return 0;
    }
    lk_node_get_status (world->base.node[host], &status);
    return status.lease_until_ms - sim_host_clock (world, host);
}

/*  It is cut off, and comes back when all register with it and claim. */
bool
sim_remote_last_moment (sim_world *world, const lk_lock_message *message)
{
    sim_plot *plot = &world->plot;

    (void) message;
    world->remotes.habits.hold_ms = 6000;
    if (plot->act % 3 == 0 && world->now > 3000 && sim_act_age (world) > 3000) {
        plot->whom = find_server (world);
        if (plot->whom != LK_NOBODY) {
            plot->limit_ms = sim_between (world, 20, 400);
            sim_network_isolate (world, plot->whom, true, true, SIM_FOREVER);
            sim_begin_act (world, plot->act + 1);
        }
    } else if (plot->act % 3 == 1
               && lease_left (world, plot->whom) < plot->limit_ms) {
        sim_remotes_go_to (world, plot->whom);
        plot->limit_ms = sim_between (world, 0, 250);
        sim_begin_act (world, plot->act + 1);
    } else if (plot->act % 3 == 2 && sim_act_age (world) > plot->limit_ms) {
        sim_network_mend (world);
        sim_begin_act (world, plot->act + 1);
    }
    return false;
}
