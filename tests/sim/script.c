/*  script.c - orders of events told by hand
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

#include "util/hash.h"

#include <string.h>

void
sim_begin_act (sim_world *world, int act)
{
    world->plot.act = act;
    world->plot.since = world->now;
    sim_tell (world, -1, "script %s: act %d", world->options.script->name, act);
}

int64_t
sim_act_age (const sim_world *world)
{
    return world->now - world->plot.since;
}

void
sim_stir (sim_world *world)
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

lk_host
sim_home_of (sim_world *world, uint8_t object, lk_decree *decree)
{
    lk_name name = sim_object_name (object);

    sim_leaders (world, decree);
    if (decree->leader_count == 0) {
        return LK_NOBODY;
    }
    return decree
        ->leader[lk_hash64 (name.data, name.size) % decree->leader_count];
}

/*  -------------------------------------------------------- all */

const sim_script sim_scripts[] = {
    {"late-locked", "a LOCKED comes after the report to a reclaim", 3, 1, 1,
     800, 8000, 50, true, 0, sim_late_locked, false, LK_JOURNAL_OFF, 0, NULL,
     0},
    {"late-mark", "a decree reaches who has promised a later one", 5, 1, 1,
     1500, 5000, 300, true, 0, sim_late_mark, false, LK_JOURNAL_OFF, 0, NULL,
     0},
    {"heard-by-another", "a host is heard again by who called it silent", 3, 1,
     3, 1500, 5000, 4, true, 0, sim_heard_by_another, false, LK_JOURNAL_OFF, 0,
     NULL, 0},
    {"heard-while-answering", "the same while that answer is under way", 3, 1,
     3, 1500, 5000, 4, true, 0, sim_heard_while_answering, false,
     LK_JOURNAL_OFF, 0, NULL, 0},
    {"heard-while-asking", "the home hears a host while its question travels",
     3, 1, 3, 1500, 5000, 4, true, 0, sim_heard_while_asking, false,
     LK_JOURNAL_OFF, 0, NULL, 0},
    {"silent-before", "a leader says silent in one term, and hears in the next",
     3, 1, 3, 1500, 5000, 4, true, 0, sim_silent_before, false, LK_JOURNAL_OFF,
     0, NULL, 0},
    {"leader-with-holder", "a holder is cut off together with the home", 5, 1,
     3, 1500, 5000, 50, true, 0, sim_leader_with_holder, false, LK_JOURNAL_OFF,
     0, NULL, 0},
    {"two-reclaims", "a reclaim is cut short by another takeover", 5, 1, 3, 800,
     8000, 50, false, 0, sim_two_reclaims, false, LK_JOURNAL_OFF, 0, NULL, 0},
    {"report-lost", "a holder's report to a reclaim does not arrive", 3, 1, 3,
     800, 3000, 30, true, 0, sim_report_lost, false, LK_JOURNAL_OFF, 0, NULL,
     0},
    {"heard-by-former", "new leaders never heard a host that the former do", 5,
     1, 3, 1500, 5000, 30, true, 0, sim_heard_by_former, false, LK_JOURNAL_OFF,
     0, NULL, 0},
    {"late-fill", "a leader restarts, and is sent its old table once more", 5,
     0, 3, 1500, 5000, 200, true, 0, sim_late_fill, false, LK_JOURNAL_OFF, 0,
     NULL, 0},
    {"many-tickets", "takeovers of a table in several chunks", 3, 1, 3, 2000,
     8000, 200, true, 1500, sim_many_tickets, false, LK_JOURNAL_OFF, 0, NULL,
     0},
    {"proposer-dies", "at each message of an election", 5, 0, 3, 1500, 5000,
     200, true, 0, sim_proposer_dies, false, LK_JOURNAL_OFF, 0, NULL, 0},
    {"restart-after-fill", "a leader forgets what it said it has", 5, 0, 3,
     1500, 5000, 200, true, 0, sim_restart_after_fill, false, LK_JOURNAL_OFF, 0,
     NULL, 0},
    {"leader-vanishes", "there are new leaders in good time", 5, 0, 3, 1500,
     5000, 200, true, 0, sim_leader_vanishes, false, LK_JOURNAL_OFF, 0, NULL,
     0},
    {"one-way-link", "leaders that can be are found, and it is quiet", 3, 0, 3,
     1500, 5000, 200, true, 0, sim_one_way_link, false, LK_JOURNAL_OFF, 0, NULL,
     0},
    {"voted-out", "a leader is out of office while it is asked for locks", 3, 1,
     1, 2600, 8000, 300, true, 0, sim_voted_out, false, LK_JOURNAL_OFF, 0, NULL,
     0},
    {"slow-fill", "one of the new leaders gets its table late", 5, 0, 3, 1500,
     5000, 200, true, 0, sim_slow_fill, false, LK_JOURNAL_OFF, 0, NULL, 0},
    {"holder-out-of-sight", "who has the tickets is heard by one voter only", 5,
     0, 3, 800, 5000, 200, true, 0, sim_holder_out_of_sight, false,
     LK_JOURNAL_OFF, 0, NULL, 0},
    {"holder-comes-back", "... and a reclaim has been begun without it", 5, 0,
     3, 800, 5000, 200, true, 0, sim_holder_comes_back, false, LK_JOURNAL_OFF,
     0, NULL, 0},
    {"another-boot", "echoes of a leader's clock before it booted", 3, 1, 1,
     800, 3000, 200, true, 0, sim_another_boot, false, LK_JOURNAL_OFF, 0, NULL,
     0},
    {"two-changes", "of one decree's members, half-marked each", 4, 1, 3, 1500,
     5000, 200, true, 0, sim_two_changes, false, LK_JOURNAL_OFF, 0, NULL, 0},
    {"last-mark", "a member is removed, and has the decree first", 5, 1, 3,
     1500, 5000, 200, true, 0, sim_last_mark, false, LK_JOURNAL_OFF, 0, NULL,
     0},
    {"always-late", "one kind of message, by the seed", 5, 1, 3, 1500, 5000,
     200, true, 0, sim_always_late, false, LK_JOURNAL_OFF, 0, NULL, 0},
    {"asleep", "a service sleeps over the end of its lease", 3, 1, 3, 1500,
     5000, 300, true, 0, sim_asleep, false, LK_JOURNAL_OFF, 0, NULL, 0},
    {"slow-holder", "a host with a slow clock is cut off", 3, 1, 1, 1500, 8000,
     50, true, 0, sim_slow_holder, false, LK_JOURNAL_OFF, 0, NULL, 0},
    {"leaders-alone", "all leaders are cut off together", 7, 0, 3, 800, 8000,
     200, true, 0, sim_leaders_alone, false, LK_JOURNAL_OFF, 0, NULL, 0},
    {"wrong-table", "one leader's table is not what it should be", 5, 1, 3,
     2000, 8000, 100, false, 0, sim_wrong_table, false, LK_JOURNAL_OFF, 0, NULL,
     0},
    {"upgrade-untold", "a lock is exclusive, and its proxy says shared", 3, 1,
     1, 800, 8000, 50, true, 0, sim_upgrade_untold, true, LK_JOURNAL_OFF, 0,
     NULL, 0},
    {"late-turns", "each LOCK comes once more, after other turns", 3, 1, 3,
     1500, 5000, 60, true, 0, sim_late_turns, true, LK_JOURNAL_OFF, 0, NULL, 0},
    {"taken-away", "operators end locks all the time", 3, 1, 3, 1500, 5000, 50,
     true, 0, sim_taken_away, true, LK_JOURNAL_OFF, 0, NULL, 0},
    {"set-moves", "leaders change between two locks of a set", 5, 1, 3, 1500,
     5000, 200, true, 0, sim_set_moves, true, LK_JOURNAL_OFF, 0, NULL, 0},
    {"kept-untold", "a static lock that nobody knows of", 3, 1, 3, 1500, 5000,
     100, true, 0, sim_kept_untold, true, LK_JOURNAL_OFF, 0, NULL, 0},
    {"kept-outlives", "a static lock after its host and its leaders", 3, 1, 3,
     800, 3000, 20, true, 0, sim_kept_outlives, true, LK_JOURNAL_OFF, 0, NULL,
     0},
    {"restarts", "of lock services whose applications hold something", 5, 1, 3,
     1500, 5000, 60, true, 0, sim_restarts, false, LK_JOURNAL_OFF, 0, NULL, 0},
    {"restarts-disturbed", "... and of others, with messages lost and late", 5,
     1, 3, 1500, 5000, 100, true, 0, sim_restarts_disturbed, false,
     LK_JOURNAL_OFF, 0, NULL, 0},
    {"restarts-kinds", "... with locks of every kind", 5, 1, 3, 1500, 5000, 100,
     true, 0, sim_restarts_disturbed, true, LK_JOURNAL_OFF, 0, NULL, 0},
    {"same-number", "hosts that come and go have one number", 3, 1, 3, 800,
     3000, 300, true, 0, sim_same_number, false, LK_JOURNAL_OFF, 0, NULL, 0},
    {"remote-claim-in-doubt",
     "the server of a claim ends before it is answered", 3, 2, 3, 1500, 5000,
     50, true, 0, sim_remote_idle, false, LK_JOURNAL_OFF, 4,
     sim_mail_claim_in_doubt, 0},
    {"remote-moves-late", "moves of moves, and each message of them is late", 3,
     2, 3, 1500, 5000, 50, true, 0, sim_remote_moves_late, false,
     LK_JOURNAL_OFF, 4, sim_mail_moves_late, 0},
    {"remote-former-server", "applications go to and fro between two servers",
     3, 2, 3, 1500, 5000, 50, true, 0, sim_remote_moves_late, false,
     LK_JOURNAL_OFF, 4, sim_mail_idle, 0},
    {"remote-moved-untold", "a takeover between a move and its MOVED", 3, 2, 3,
     1500, 5000, 50, true, 0, sim_remote_moved_untold, false, LK_JOURNAL_OFF, 4,
     sim_mail_idle, 0},
    {"remote-suspended", "servers whose clock stands still for a while", 3, 3,
     3, 1500, 5000, 50, true, 0, sim_remote_suspended, false, LK_JOURNAL_OFF, 4,
     sim_mail_idle, 0},
    {"remote-move-in-reclaim", "all leaders end while something is claimed", 3,
     2, 3, 1500, 5000, 50, true, 0, sim_remote_idle, false, LK_JOURNAL_OFF, 4,
     sim_mail_move_in_reclaim, 0},
    {"remote-last-moment", "claims at a host whose session is over soon", 3, 2,
     3, 1500, 5000, 50, true, 0, sim_remote_last_moment, false, LK_JOURNAL_OFF,
     4, sim_mail_idle, 0},
    {"two-hosts", "and an arbiter: all pairs of failures, by the seed", 3, 0, 3,
     800, 3000, 300, true, 0, sim_two_hosts, false, LK_JOURNAL_OFF, 0, NULL, 1},
    {"two-hosts-far", "... which is far away", 3, 0, 3, 800, 3000, 300, true, 0,
     sim_two_hosts_far, false, LK_JOURNAL_OFF, 0, NULL, 1},
    {"two-hosts-promised", "... and both ask it for votes", 3, 0, 3, 800, 3000,
     300, true, 0, sim_two_promised, false, LK_JOURNAL_OFF, 0, NULL, 1},
    {"rolling", "services restart one by one, and lead no more before", 5, 1, 3,
     1500, 5000, 60, false, 0, sim_rolling, false, LK_JOURNAL_OFF, 0, NULL, 0},
    {"roll-hasty", "... each as soon as the one before is up", 3, 1, 3, 1500,
     5000, 60, false, 0, sim_roll_hasty, false, LK_JOURNAL_OFF, 0, NULL, 0},
    {"roll-all", "... all at once", 3, 1, 3, 1500, 5000, 60, false, 0,
     sim_roll_all, false, LK_JOURNAL_OFF, 0, NULL, 0},
    {"leave-last-holder", "the last leader that has the tickets is to leave", 5,
     1, 3, 1500, 5000, 60, false, 0, sim_leave_last_holder, false,
     LK_JOURNAL_OFF, 0, NULL, 0},
    {"leave-two", "two leaders are to leave at nearly the same time", 5, 1, 3,
     1500, 5000, 60, false, 0, sim_leave_two, false, LK_JOURNAL_OFF, 0, NULL,
     0},
    {"leave-cut", "a leader that leaves is cut off in the midst of it", 5, 1, 3,
     1500, 5000, 60, true, 0, sim_leave_cut, false, LK_JOURNAL_OFF, 0, NULL, 0},
    {"leave-in-reclaim", "the first leader is to leave while all is claimed", 5,
     1, 3, 1500, 5000, 60, true, 0, sim_leave_in_reclaim, false, LK_JOURNAL_OFF,
     0, NULL, 0},
    {"leave-and-change", "a leader leaves, and members come and go", 5, 1, 3,
     1500, 5000, 60, false, 0, sim_leave_and_change, false, LK_JOURNAL_OFF, 0,
     NULL, 0},
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

bool
sim_plot_takes_mail (sim_world *world, const sim_mail *mail)
{
    const sim_script *script = world->options.script;

    return script && script->takes_mail && world->stormy
           && script->takes_mail (world, mail);
}

void
sim_plot_isolated (sim_world *world, uint8_t host)
{
    const sim_script *script = world->options.script;

    if (script && !script->isolates && world->stormy) {
        sim_checker_fail (&world->checker,
                          "ISOLATED: h%d, which was connected all the time",
                          host);
    }
}
