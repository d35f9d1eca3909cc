/*  script.h - orders of events told by hand
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  More than 20,000 random seeds missed orders that a script finds at once.
 *  A script sets the scene (a *plot*: few hosts, who leads first), then
 *  watches messages pass and cuts, kills or holds back as its story wants.
 *  The seed still draws clocks and delays.
 */

#ifndef SIM_SCRIPT_H
#define SIM_SCRIPT_H

#include "apps.h"

struct sim_world;
struct sim_mail;

typedef struct {
    const char *name;
    const char *story;
    int members;
    int others; /* hosts that are not members */
    int leaders_max;
    int64_t leader_lease_ms;
    int64_t host_lease_ms;
    int give_back;    /* per mille: see sim_habits */
    bool isolates;    /* hosts may lose their leases */
    uint32_t ballast; /* locks of the application with very many */
    bool (*takes) (struct sim_world *world, const lk_lock_message *message);
    bool kinds; /* applications ask for locks of every kind */
    lk_journal_mode journal;
    int remotes; /* applications on other machines, and then no others */
    bool (*takes_mail) (struct sim_world *world, const struct sim_mail *mail);
    int arbiters; /* the last of the members */
} sim_script;

/*  How far the story has come. */
typedef struct {
    int act;
    int64_t since; /* true time at which the act began */
    lk_host who;
    lk_host whom;
    lk_host with;
    lk_hosts members;
    lk_term term;
    lk_term voted;
    lk_hosts heard; /* of a wrong table */
    int count;
    int64_t limit_ms;
    lk_lock_message kept; /* a ping, which owns nothing */
    char served;          /* of two hosts: see script_two.c */
    lk_hosts alone;       /* ... that it is; 0: not known yet */
    bool reclaims;        /* nobody who is left has the tickets */
    bool in_reclaim;
    int64_t wrong_since; /* others are served; 0: not so */
    int lost_ends;       /* RETIRE and RERUN that are still to be lost */
    bool counts;         /* grants, from here on: */
    uint64_t grants[2];
    int64_t down_at[SIM_HOSTS_MAX]; /* last, or at first */
    int64_t free_at[SIM_OBJECTS];   /* nobody waits in vain since then */
} sim_plot;

extern const sim_script sim_scripts[];
extern const size_t sim_script_count;

/*  By name; NULL if there is none. */
const sim_script *sim_script_find (const char *name);

/*  Whether the script of this run has taken the message. */
bool sim_plot_takes (struct sim_world *world, const lk_lock_message *message);

/*  The same of a letter between a host and a remote application. */
bool sim_plot_takes_mail (struct sim_world *world, const struct sim_mail *mail);

/*  Looks at a name that somebody waits for and nobody has, of a script in which
 *  that is not to last. */
void sim_free_judge (struct sim_world *world);

/*  A host hears that a leader's table is wrong. */
void sim_plot_alerted (struct sim_world *world, uint8_t host,
                       const lk_lock_message *message);

/*  A lock of this host was told lost because its session is over. */
void sim_plot_isolated (struct sim_world *world, uint8_t host);

/*  -------------------------------------------------------- for scripts */

void sim_begin_act (struct sim_world *world, int act);
int64_t sim_act_age (const struct sim_world *world);

/*  Ends a leader's service, so that there will be an election. */
void sim_stir (struct sim_world *world);

/*  The leader that orders an object's tickets; LK_NOBODY without any. */
lk_host sim_home_of (struct sim_world *world, uint8_t object,
                     lk_decree *decree);

bool sim_wrong_table (struct sim_world *world, const lk_lock_message *message);
bool sim_late_locked (struct sim_world *world, const lk_lock_message *message);
bool sim_late_mark (struct sim_world *world, const lk_lock_message *message);
bool sim_heard_by_another (struct sim_world *world,
                           const lk_lock_message *message);
bool sim_heard_while_answering (struct sim_world *world,
                                const lk_lock_message *message);
bool sim_heard_while_asking (struct sim_world *world,
                             const lk_lock_message *message);
bool sim_silent_before (struct sim_world *world,
                        const lk_lock_message *message);
bool sim_two_reclaims (struct sim_world *world, const lk_lock_message *message);
bool sim_late_fill (struct sim_world *world, const lk_lock_message *message);
bool sim_many_tickets (struct sim_world *world, const lk_lock_message *message);
bool sim_leader_with_holder (struct sim_world *world,
                             const lk_lock_message *message);
bool sim_proposer_dies (struct sim_world *world,
                        const lk_lock_message *message);
bool sim_restart_after_fill (struct sim_world *world,
                             const lk_lock_message *message);
bool sim_leader_vanishes (struct sim_world *world,
                          const lk_lock_message *message);
bool sim_one_way_link (struct sim_world *world, const lk_lock_message *message);
bool sim_voted_out (struct sim_world *world, const lk_lock_message *message);
bool sim_slow_fill (struct sim_world *world, const lk_lock_message *message);
bool sim_holder_out_of_sight (struct sim_world *world,
                              const lk_lock_message *message);
bool sim_holder_comes_back (struct sim_world *world,
                            const lk_lock_message *message);
bool sim_another_boot (struct sim_world *world, const lk_lock_message *message);
bool sim_two_changes (struct sim_world *world, const lk_lock_message *message);
bool sim_last_mark (struct sim_world *world, const lk_lock_message *message);
bool sim_report_lost (struct sim_world *world, const lk_lock_message *message);
bool sim_heard_by_former (struct sim_world *world,
                          const lk_lock_message *message);
bool sim_upgrade_untold (struct sim_world *world,
                         const lk_lock_message *message);
bool sim_late_turns (struct sim_world *world, const lk_lock_message *message);
bool sim_taken_away (struct sim_world *world, const lk_lock_message *message);
bool sim_set_moves (struct sim_world *world, const lk_lock_message *message);
bool sim_kept_untold (struct sim_world *world, const lk_lock_message *message);
bool sim_kept_outlives (struct sim_world *world,
                        const lk_lock_message *message);
bool sim_restarts (struct sim_world *world, const lk_lock_message *message);
bool sim_restarts_disturbed (struct sim_world *world,
                             const lk_lock_message *message);
bool sim_same_number (struct sim_world *world, const lk_lock_message *message);
bool sim_asleep (struct sim_world *world, const lk_lock_message *message);
bool sim_slow_holder (struct sim_world *world, const lk_lock_message *message);
bool sim_leaders_alone (struct sim_world *world,
                        const lk_lock_message *message);
bool sim_always_late (struct sim_world *world, const lk_lock_message *message);
bool sim_rolling (struct sim_world *world, const lk_lock_message *message);
bool sim_roll_hasty (struct sim_world *world, const lk_lock_message *message);
bool sim_roll_all (struct sim_world *world, const lk_lock_message *message);
bool sim_leave_last_holder (struct sim_world *world,
                            const lk_lock_message *message);
bool sim_leave_two (struct sim_world *world, const lk_lock_message *message);
bool sim_leave_cut (struct sim_world *world, const lk_lock_message *message);
bool sim_leave_in_reclaim (struct sim_world *world,
                           const lk_lock_message *message);
bool sim_leave_and_change (struct sim_world *world,
                           const lk_lock_message *message);
bool sim_remote_idle (struct sim_world *world, const lk_lock_message *message);
bool sim_remote_moves_late (struct sim_world *world,
                            const lk_lock_message *message);
bool sim_remote_moved_untold (struct sim_world *world,
                              const lk_lock_message *message);
bool sim_remote_suspended (struct sim_world *world,
                           const lk_lock_message *message);
bool sim_remote_last_moment (struct sim_world *world,
                             const lk_lock_message *message);
bool sim_two_hosts (struct sim_world *world, const lk_lock_message *message);
bool sim_two_hosts_far (struct sim_world *world,
                        const lk_lock_message *message);
bool sim_two_promised (struct sim_world *world, const lk_lock_message *message);
bool sim_mail_idle (struct sim_world *world, const struct sim_mail *mail);
bool sim_mail_claim_in_doubt (struct sim_world *world,
                              const struct sim_mail *mail);
bool sim_mail_moves_late (struct sim_world *world, const struct sim_mail *mail);
bool sim_mail_move_in_reclaim (struct sim_world *world,
                               const struct sim_mail *mail);

#endif
