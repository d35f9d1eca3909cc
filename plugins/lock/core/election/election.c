/*  election.c - what time, and what is heard, does to an election
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Why one is held is in reason.c. Dates are found in date.c, votes counted in
 *  vote.c, decrees brought into force in activation.c: they tell what has come
 *  of it, and none of them runs the election.
 */

#include "election.h"

#include "date.h"
#include "election_private.h"
#include "reason.h"
#include "retry.h"
#include "vote.h"

#include <string.h>

#define DATE_MS 150 /* till a date is said again, unless there is a hurry */

void
lk_election_init (lk_election *self, lk_core *core, lk_leader *leader)
{
    memset (self, 0, sizeof *self);
    self->core = core;
    self->leader = leader;
    lk_change_init (&self->change);
    lk_settings_init (&self->settings, core);
    lk_doorway_init (&self->doorway);
    self->promised_before_start = core->facts.promised;
    self->promised_ms = LK_LONG_AGO;
    self->promised_to = LK_NOBODY;
    self->quorum_ms = LK_LONG_AGO;
    self->bad_since_ms = LK_LONG_AGO;
    self->few_since_ms = LK_LONG_AGO;
    self->leaves_since_ms = LK_LONG_AGO;
    self->next_try_ms = core->now_ms + lk_rng_between (&core->rng, 50, 300);
    self->holder = LK_NOBODY;
    self->refused = LK_NOBODY;
}

void
lk_election_clear (lk_election *self)
{
    lk_change_clear (&self->change);
    lk_settings_clear (&self->settings);
    lk_doorway_clear (&self->doorway);
}

/*  -------------------------------------------------------- states */

static bool
is_member (const lk_election *election)
{
    return lk_hosts_has (election->core->facts.active.members,
                         election->core->config.self);
}

static void
run_idle (lk_election *election)
{
    /*  protocol 9.15 */
    if (is_member (election) && lk_promise_waits_ms (election) == 0) {
        lk_election_forget_failures (election);
        lk_reason_look (election);
    }
}

/*  A member that knew of no end yet when it was asked may know of it now; or
 *  the date was lost. Protocol 9.5.1. */
static void
run_pause (lk_election *election)
{
    /*  protocol 9.15 */
    if (!is_member (election)) {
        lk_election_give_up (election, "no member any more");
    } else if (lk_is_quorum (election->core->facts.active.members,
                             election->agreed)
               && (election->core->now_ms >= election->vote_at_ms
                   || lk_date_all_agreed (election))) {
        lk_vote_start (election);
    } else if (election->core->now_ms > election->until_ms) {
        lk_election_give_up (election, "no agreement");
    } else if (election->core->now_ms - election->sent_ms
               >= (election->hurry > 0 ? LK_BUSY_MS : DATE_MS)) {
        lk_date_send (election);
    }
}

static void
run_voting (lk_election *election)
{
    lk_vote_repeat (election);
    lk_vote_count (election);
    if (election->state == LK_ELECTION_VOTING
        && election->core->now_ms > election->until_ms) {
        lk_election_give_up (election, "no quorum");
    }
}

static void
run_elected (lk_election *election)
{
    lk_vote_repeat (election);
    if (election->core->now_ms > election->until_ms) {
        lk_election_give_up (election, "doorway");
    } else if (election->core->now_ms - election->sent_ms > 300) {
        lk_elected_send (election);
    }
}

static void
run_activating (lk_election *election)
{
    lk_vote_repeat (election);
    if (election->core->now_ms > election->until_ms) {
        lk_election_give_up (election, "not activated");
    } else if (election->core->now_ms - election->sent_ms > 300) {
        lk_active_send (election);
    }
}

void
lk_election_run (lk_election *election)
{
    static void (*const run[LK_ELECTION_STATES]) (lk_election *) = {
        [LK_ELECTION_IDLE] = run_idle,
        [LK_ELECTION_PAUSE] = run_pause,
        [LK_ELECTION_VOTING] = run_voting,
        [LK_ELECTION_ELECTED] = run_elected,
        [LK_ELECTION_ACTIVATING] = run_activating,
    };
    lk_ready_repeat (election);
    /*  protocol 9.5.5 */
    if (election->state > LK_ELECTION_PAUSE
        && !lk_term_equal (election->core->facts.promised, election->term)) {
        lk_election_give_up (election, "promised more");
    }
    run[election->state](election);
}

bool
lk_election_is_busy (const lk_election *election)
{
    return election->state != LK_ELECTION_IDLE || election->ready_again > 0;
}

int64_t
lk_election_deadline (const lk_election *election)
{
    int64_t when = INT64_MAX;
    if (election->state == LK_ELECTION_PAUSE) {
        when = election->core->now_ms < election->vote_at_ms
                   ? election->vote_at_ms
                   : election->sent_ms + LK_BUSY_MS;
    } else if (election->state == LK_ELECTION_IDLE
               && election->bad_since_ms != LK_LONG_AGO) {
        when = election->next_try_ms;
    }
    return when > election->core->now_ms ? when : INT64_MAX;
}

/*  Somebody without whom the own election cannot come to its end. */
static bool
is_needed (const lk_election *self, lk_host host)
{
    return self->state == LK_ELECTION_ELECTED
           && (host == self->holder
               || lk_decree_place (&self->decree, host) >= 0);
}

/*  A proposer that has ended has retired; who has ended leads nothing.
 *  Protocol 9.5.1. */
void
lk_election_host_gone (lk_election *election, lk_host host)
{
    /*  protocol 9.5.2 */
    if (election->promised_to == host) {
        election->promised_ms = LK_LONG_AGO;
    }
    if (lk_decree_place (&election->core->facts.active, host) >= 0) {
        election->hurry = LK_HURRY;
        election->bad_since_ms = LK_LONG_AGO;
        election->next_try_ms = election->core->now_ms;
        lk_ping_now (
            election->core); /* a leader is not well by itself any more */
        lk_date_reconsider (election);
    }
    /*  protocol 9.5.5 */
    if (is_needed (election, host)) {
        election->hurry = LK_HURRY;
        lk_election_give_up (election, "a leader ended");
    } else if (election->state == LK_ELECTION_VOTING) {
        election->voted &= ~LK_HOST_BIT (host);
    }
}

/*  -------------------------------------------------------- others say */

/*  protocol 9.5.2 */
void
lk_on_retire (lk_election *election, const lk_lock_message *message)
{
    lk_doorway_retired (election, message->term);
    if (lk_term_equal (election->core->facts.promised, message->term)
        && !lk_term_equal (election->core->facts.active.term, message->term)) {
        election->promised_ms = LK_LONG_AGO;
    }
}

/*  protocol 9.7 */
void
lk_on_rerun (lk_election *election, const lk_lock_message *message)
{
    lk_on_retire (election, message);
    election->next_try_ms = election->core->now_ms;
    election->bad_since_ms = election->core->now_ms;
    lk_election_run (election);
}

void
lk_on_agreed (lk_election *election, const lk_lock_message *message)
{
    if (lk_date_take (election, message->from, message->as.date.in_ms)) {
        lk_election_run (election);
    }
}

void
lk_on_change (lk_election *election, const lk_event *event)
{
    if (lk_change_begin (election, event)) {
        lk_election_run (election);
    }
}

/*  -------------------------------------------------------- questions */

void
lk_election_stop (lk_election *election)
{
    if (election->state != LK_ELECTION_IDLE) {
        lk_election_give_up (election, "stopping");
    }
    lk_change_stop (election);
}

int64_t
lk_election_waits_ms (const lk_election *election)
{
    return is_member (election) ? lk_promise_waits_ms (election) : 0;
}

const char *
lk_election_phase (const lk_election *election)
{
    switch (election->state) {
    case LK_ELECTION_PAUSE:
        return "pause";
    case LK_ELECTION_VOTING:
        return "voting";
    default:
        return election->core->in_force.leader_count > 0 ? "elected"
                                                         : "booting";
    }
}

lk_hosts
lk_election_asked (const lk_election *election)
{
    lk_hosts hosts = lk_election_members (election);
    if (election->state >= LK_ELECTION_ELECTED) {
        hosts |= election->decree.members | election->previous.members;
    }
    if (lk_doorway_is_busy (election)) {
        hosts |= election->doorway.order.decree.members;
    }
    return hosts;
}

bool
lk_election_is_first (const lk_election *election, lk_host host)
{
    return election->state >= LK_ELECTION_ELECTED
           && election->decree.leader[0] == host;
}
