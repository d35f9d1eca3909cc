/*  vote.c - asking for votes, giving one, counting them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "vote.h"

#include "able.h"
#include "choice.h"
#include "election_private.h"
#include "retry.h"

#define VOTING_MS 1500 /* then a voting is given up */
#define OTHERS_MS 200  /* for voters that are seen but did not vote yet */
#define RERUN_MS 3000  /* left to the one that was sent RERUN */

/*  -------------------------------------------------------- voters */

/*  A leader that drains leads on if nobody else may: all have promised now, and
 *  would serve nobody until it ends. Protocol 9.5.7. */
static bool
may_be_elected (const lk_election *election)
{
    const lk_core *core = election->core;
    const lk_decree *active = &core->facts.active;
    return lk_core_may_lead (core)
           || (core->config.eligible
               && lk_decree_place (active, core->config.self) >= 0
               && !lk_able_any (election, active->members));
}

static void
fill_vote (lk_election *election, lk_msg_voted *vote)
{
    *vote = (lk_msg_voted) {
        .candidate = election->core->config.candidate,
        .eligible = may_be_elected (election),
        .active = election->core->facts.active,
        .holds = lk_doorway_holds (election),
        .hears = lk_hears_holders (election->leader),
        .sees = lk_leader_sees (election->leader),
    };
}

/*  protocol 9.1 */
void
lk_on_vote (lk_election *election, const lk_lock_message *message)
{
    if (lk_promise_waits_ms (election) > 0) {
        return;
    }
    if (!lk_promise_fits (election, message->term)) {
        lk_desist (election, message);
        return;
    }
    lk_promise (election, message->term);
    election->promised_ms =
        election->core->now_ms; /* its proposer is still at it */
    election->promised_to = message->from;
    lk_lock_message *answer = lk_out_message (election->core, LK_MSG_VOTED);
    answer->term = message->term;
    fill_vote (election, &answer->as.voted);
    lk_out_send (election->core, answer, message->from);
}

/*  -------------------------------------------------------- asking */

static void
vote_send (lk_election *election)
{
    lk_lock_message *message = lk_out_message (election->core, LK_MSG_VOTE);
    message->term = election->term;
    lk_out_broadcast (election->core, message, election->core->known);
    election->vote_sent_ms = election->core->now_ms;
}

void
lk_vote_repeat (lk_election *election)
{
    if (election->core->now_ms - election->vote_sent_ms > 300) {
        vote_send (election);
    }
}

/*  Above all promises of members that it has seen, but for those that it would
 *  not follow itself. Protocol 9.4, 9.5.3. */
static uint64_t
next_number (const lk_election *election)
{
    const uint64_t limit = lk_terms_limit (election->core);
    uint64_t number = election->core->facts.promised.number;
    lk_hosts members = lk_election_members (election);
    if (election->core->facts.active.term.number > number) {
        number = election->core->facts.active.term.number;
    }
    while (members) {
        lk_host host = lk_hosts_take (&members);
        if (lk_peer_heard (election->core, host)
            && election->core->peer[host].promised.number > number
            && election->core->peer[host].promised.number < limit) {
            number = election->core->peer[host].promised.number;
        }
    }
    return number + 1;
}

void
lk_vote_start (lk_election *election)
{
    lk_host own = election->core->config.self;
    uint64_t number = next_number (election);
    if (number > LK_TERM_NUMBER_MAX) {
        lk_out_trace (election->core, LK_TRACE_ERROR,
                      "no more terms: promised=%llu",
                      (unsigned long long) (number - 1));
        lk_election_give_up (election, "no more terms");
        return;
    }
    /*  protocol 9.4 */
    if (!lk_terms_suffice (election->core)) {
        lk_out_trace (
            election->core, LK_TRACE_WARNING,
            "too many terms of late: promised=%llu",
            (unsigned long long) election->core->facts.promised.number);
        lk_election_give_up (election, "too many terms of late");
        return;
    }
    election->term =
        (lk_term) {.number = number, .proposer = election->core->config.id};
    lk_promise (election, election->term);
    election->promised_to = own;
    election->state = LK_ELECTION_VOTING;
    election->until_ms = election->core->now_ms + VOTING_MS;
    election->quorum_ms = LK_LONG_AGO;
    election->first_quorum_ms = LK_LONG_AGO;
    election->voted = LK_HOST_BIT (own);
    fill_vote (election, &election->vote[own]);
    lk_out_trace (election->core, LK_TRACE_INFO, "election: voting, term=%llu",
                  (unsigned long long) election->term.number);
    vote_send (election);
    lk_vote_count (election);
}

void
lk_on_voted (lk_election *election, const lk_lock_message *message)
{
    if (election->state != LK_ELECTION_VOTING
        || !lk_term_equal (message->term, election->term)) {
        return;
    }
    /*  protocol 9.3 */
    if (lk_trusts (election->leader, message->from)) {
        lk_hears_of (election->leader, &message->as.voted.active);
    }
    election->voted |= LK_HOST_BIT (message->from);
    election->vote[message->from] = message->as.voted;
    election->core->peer[message->from].candidate = message->as.voted.candidate;
    lk_vote_count (election);
}

void
lk_on_desist (lk_election *election, const lk_lock_message *message)
{
    lk_peer *peer = &election->core->peer[message->from];
    if (election->state > LK_ELECTION_PAUSE
        && lk_term_equal (message->term, election->term)) {
        if (message->as.desist.promised.number > peer->promised.number) {
            peer->promised = message->as.desist.promised;
        }
        /*  protocol 9.5.5 */
        lk_election_give_up (election, "desist");
    } else {
        lk_doorway_desist (election, message);
    }
}

/*  -------------------------------------------------------- counting */

/*  Whose votes count. A genesis knows its members by name alone: whoever votes
 *  under such a name and does not know it has lost its file, and with it what
 *  it may have promised. Protocol 9.1. */
static lk_hosts
voters (const lk_election *self, const lk_decree *previous)
{
    lk_hosts found = self->voted;
    lk_hosts voted = self->voted;
    while (previous->leader_count == 0 && voted) {
        lk_host host = lk_hosts_take (&voted);
        if (self->vote[host].active.members == 0) {
            found &= ~LK_HOST_BIT (host);
        }
    }
    return found;
}

/*  Notes since when q of D's members, and q of the new ones, have voted; false
 *  if they have not. Protocol 9.5.3, 9.15. */
static bool
note_quorum (lk_election *election, const lk_decree *previous, lk_hosts members)
{
    lk_hosts voted = voters (election, previous);
    if (!lk_is_quorum (previous->members, voted)
        || !lk_is_quorum (members, voted)) {
        election->quorum_ms = LK_LONG_AGO;
        return false;
    }
    bool other = election->first_quorum_ms == LK_LONG_AGO
                 || !lk_term_equal (election->quorum_decree, previous->term);
    if (other) {
        election->first_quorum_ms = election->core->now_ms;
        election->quorum_decree = previous->term;
    }
    if (other || election->quorum_ms == LK_LONG_AGO) {
        election->quorum_ms = election->core->now_ms;
    }
    return true;
}

/*  A voter that hears somebody with D's table who did not vote here.
 *  Protocol 9.7. */
static lk_host
knows_holder (const lk_election *election, const lk_decree *previous)
{
    lk_hosts voted =
        election->voted & ~LK_HOST_BIT (election->core->config.self);
    while (voted) {
        lk_host host = lk_hosts_take (&voted);
        if (lk_term_equal (election->vote[host].active.term, previous->term)
            && (election->vote[host].hears & ~election->voted) != 0) {
            return host;
        }
    }
    return LK_NOBODY;
}

/*  Whether a leader of D that did not vote may come with its journal.
 *  Protocol 9.18. */
static bool
awaits_journal (const lk_election *election, const lk_decree *previous)
{
    const lk_node_config *config = &election->core->config;
    const lk_hosts absent = lk_decree_leaders (previous) & ~election->voted;
    return config->journal != LK_JOURNAL_OFF && absent != 0
           && election->core->now_ms - election->first_quorum_ms
                  < config->journal_wait_ms;
}

/*  Nobody who voted holds D's tickets. D may still serve out of sight, until
 *  its leader lease is over; true when a reclaim may begin. Protocol 9.7. */
static bool
may_reclaim (lk_election *election, const lk_decree *previous, bool has_nothing)
{
    if (election->until_ms < election->core->now_ms + 500) {
        election->until_ms = election->core->now_ms + 500;
    }
    if (election->core->now_ms - election->first_quorum_ms
            < lk_with_margin (election->core->config.leader_lease_ms)
        || (has_nothing && awaits_journal (election, previous))) {
        return false;
    }
    if (!lk_term_equal (election->rerun_decree, previous->term)) {
        lk_host host = knows_holder (election, previous);
        if (host != LK_NOBODY) {
            election->rerun_decree = previous->term;
            lk_election_give_up (election, "another voter hears a holder");
            election->next_try_ms = election->core->now_ms + RERUN_MS;
            lk_lock_message *message =
                lk_out_message (election->core, LK_MSG_RERUN);
            message->term = election->term;
            lk_out_send (election->core, message, host);
            return false;
        }
    }
    return true;
}

/*  A reclaim that was not over begins again with the new decree.
 *  Protocol 9.7. */
static bool
is_in_reclaim (const lk_election *self, lk_host holder)
{
    return holder != LK_NOBODY && self->vote[holder].holds.reclaim;
}

/*  The decree that follows from the votes is LOCKLEADERS, stage elected. */
static void
elect (lk_election *election, const lk_choice *choice, bool reclaim)
{
    lk_decree decree = {.term = election->term,
                        .members = choice->members,
                        .reclaim = reclaim,
                        .settings =
                            lk_change_settings (election, choice->previous)};
    if (!lk_choose_leaders (choice, &decree)) {
        lk_election_give_up (election, "nobody can lead");
        return;
    }
    if (!lk_settings_suffice (election, decree.settings)) {
        const lk_settings_text *text = &election->change.text;
        lk_settings_keep (election, text->id, lk_settings_name (text));
    }
    election->decree = decree;
    election->previous = *choice->previous;
    election->holder = choice->holder;
    election->progress = 0;
    election->state = LK_ELECTION_ELECTED;
    election->until_ms = election->core->now_ms + VOTING_MS;
    lk_out_trace (election->core, LK_TRACE_INFO,
                  "election: elected, term=%llu leaders=%u%s",
                  (unsigned long long) decree.term.number, decree.leader_count,
                  reclaim ? " reclaim" : "");
    lk_elected_send (election);
}

/*  D, of those who are trusted and of its own members: whom one is asked to add
 *  may have been told anything. Protocol 9.3, 9.5.3. */
static lk_host
find_previous (const lk_election *election)
{
    lk_hosts trusted = lk_trusted (election->leader);
    lk_host best =
        lk_choose_previous (election->vote, election->voted & trusted);
    trusted |= election->vote[best].active.members;
    return lk_choose_previous (election->vote, election->voted & trusted);
}

void
lk_vote_count (lk_election *election)
{
    if (!lk_term_equal (election->core->facts.promised, election->term)) {
        return;
    }
    const lk_host best = find_previous (election);
    const lk_decree previous = election->vote[best].active;
    /*  protocol 9.5.5 */
    if (previous.term.number >= election->term.number) {
        lk_election_give_up (election, "newer decree");
        return;
    }
    /*  protocol 9.17 */
    if (!lk_settings_suffice (election, previous.settings)) {
        lk_settings_want (election, best, &previous);
        return;
    }
    lk_hosts members = lk_change_members (election, &previous);
    if (!note_quorum (election, &previous, members)) {
        return;
    }
    lk_hosts missing = (previous.members | members)
                       & lk_leader_sees (election->leader)
                       & ~(election->voted | election->core->places.arbiters);
    /*  protocol 9.5.3 */
    if (missing != 0
        && election->core->now_ms - election->quorum_ms < OTHERS_MS) {
        return;
    }
    lk_choice choice = {
        .vote = election->vote,
        .voted = election->voted,
        .previous = &previous,
        .members = members,
        .proposer = election->core->config.self,
        .leaders_max = election->core->config.leaders_max,
        .places = &election->core->places,
        .leaves = election->better.leaves,
        .comes = election->better.comes,
    };
    choice.holder = lk_choose_holder (&choice);
    bool lost = previous.leader_count > 0 && choice.holder == LK_NOBODY;
    if (lost) {
        choice.holder = lk_choose_late_holder (&choice);
    }
    if (!lost
        || may_reclaim (election, &previous, choice.holder == LK_NOBODY)) {
        elect (election, &choice,
               lost || is_in_reclaim (election, choice.holder));
    }
}
