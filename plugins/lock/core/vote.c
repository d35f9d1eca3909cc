/*  vote.c - asking for votes, giving one, counting them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "vote.h"

#include "choice.h"
#include "node_private.h"

#define VOTING_MS 1500 /* then a voting is given up */
#define OTHERS_MS 200  /* for voters that are seen but did not vote yet */
#define RERUN_MS 3000  /* left to the one that was sent RERUN */

/*  -------------------------------------------------------- voters */

static void
fill_vote (lk_node *node, lk_msg_voted *vote)
{
    *vote = (lk_msg_voted) {
        .candidate = node->config.candidate,
        .eligible = node->config.eligible,
        .active = node->facts.active,
        .holds = lk_doorway_holds (node),
        .hears = lk_hears_holders (node),
        .sees = lk_node_sees (node),
    };
}

void
lk_on_vote (lk_node *node, const lk_lock_message *message)
{
    if (!lk_promise_fits (node, message->term)) {
        lk_desist (node, message);
        return;
    }
    lk_promise (node, message->term);
    node->promised_ms = node->now_ms; /* its proposer is still at it */
    node->promised_to = message->from;
    lk_lock_message *answer = lk_out_message (node, LK_MSG_VOTED);
    answer->term = message->term;
    fill_vote (node, &answer->as.voted);
    lk_out_send (node, answer, message->from);
}

/*  -------------------------------------------------------- asking */

static void
vote_send (lk_node *node)
{
    lk_lock_message *message = lk_out_message (node, LK_MSG_VOTE);
    message->term = node->election.term;
    lk_out_broadcast (node, message, node->known);
    node->election.vote_sent_ms = node->now_ms;
}

void
lk_vote_repeat (lk_node *node)
{
    if (node->now_ms - node->election.vote_sent_ms > 300) {
        vote_send (node);
    }
}

/*  Above all promises of members that it has seen, but for those that it would
 *  not follow itself. */
static uint64_t
next_number (const lk_node *node)
{
    const uint64_t limit = lk_terms_limit (node);
    uint64_t number = node->facts.promised.number;
    lk_hosts members = lk_election_members (node);
    if (node->facts.active.term.number > number) {
        number = node->facts.active.term.number;
    }
    while (members) {
        lk_host host = lk_hosts_take (&members);
        if (lk_peer_heard (node, host)
            && node->peer[host].promised.number > number
            && node->peer[host].promised.number < limit) {
            number = node->peer[host].promised.number;
        }
    }
    return number + 1;
}

void
lk_vote_start (lk_node *node)
{
    lk_election *self = &node->election;
    lk_host own = node->config.self;
    uint64_t number = next_number (node);
    if (number > LK_TERM_NUMBER_MAX) {
        lk_out_trace (node, LK_TRACE_ERROR, "no more terms: promised=%llu",
                      (unsigned long long) (number - 1));
        lk_election_give_up (node, "no more terms");
        return;
    }
    if (!lk_terms_suffice (node)) {
        lk_out_trace (node, LK_TRACE_WARNING,
                      "too many terms of late: promised=%llu",
                      (unsigned long long) node->facts.promised.number);
        lk_election_give_up (node, "too many terms of late");
        return;
    }
    self->term = (lk_term) {.number = number, .proposer = node->config.id};
    lk_promise (node, self->term);
    node->promised_to = own;
    self->state = LK_ELECTION_VOTING;
    self->until_ms = node->now_ms + VOTING_MS;
    self->quorum_ms = LK_LONG_AGO;
    self->first_quorum_ms = LK_LONG_AGO;
    self->voted = LK_HOST_BIT (own);
    fill_vote (node, &self->vote[own]);
    lk_out_trace (node, LK_TRACE_INFO, "election: voting, term=%llu",
                  (unsigned long long) self->term.number);
    vote_send (node);
    lk_vote_count (node);
}

void
lk_on_voted (lk_node *node, const lk_lock_message *message)
{
    lk_election *self = &node->election;
    if (self->state != LK_ELECTION_VOTING
        || !lk_term_equal (message->term, self->term)) {
        return;
    }
    if (lk_node_trusts (node, message->from)) {
        lk_node_hears_of (node, &message->as.voted.active);
    }
    self->voted |= LK_HOST_BIT (message->from);
    self->vote[message->from] = message->as.voted;
    node->peer[message->from].candidate = message->as.voted.candidate;
    lk_vote_count (node);
}

void
lk_on_desist (lk_node *node, const lk_lock_message *message)
{
    lk_election *self = &node->election;
    lk_peer *peer = &node->peer[message->from];
    if (self->state > LK_ELECTION_PAUSE
        && lk_term_equal (message->term, self->term)) {
        if (message->as.desist.promised.number > peer->promised.number) {
            peer->promised = message->as.desist.promised;
        }
        lk_election_give_up (node, "desist");
    } else {
        lk_doorway_desist (node, message);
    }
}

/*  -------------------------------------------------------- counting */

/*  Whose votes count. A genesis knows its members by name alone: whoever votes
 *  under such a name and does not know it has lost its file, and with it what
 *  it may have promised. */
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
 *  if they have not. */
static bool
note_quorum (lk_node *node, const lk_decree *previous, lk_hosts members)
{
    lk_election *self = &node->election;
    lk_hosts voted = voters (self, previous);
    if (!lk_is_quorum (previous->members, voted)
        || !lk_is_quorum (members, voted)) {
        self->quorum_ms = LK_LONG_AGO;
        return false;
    }
    bool other = self->first_quorum_ms == LK_LONG_AGO
                 || !lk_term_equal (self->quorum_decree, previous->term);
    if (other) {
        self->first_quorum_ms = node->now_ms;
        self->quorum_decree = previous->term;
    }
    if (other || self->quorum_ms == LK_LONG_AGO) {
        self->quorum_ms = node->now_ms;
    }
    return true;
}

/*  A voter that hears somebody with D's table who did not vote here. */
static lk_host
knows_holder (const lk_node *node, const lk_decree *previous)
{
    const lk_election *self = &node->election;
    lk_hosts voted = self->voted & ~LK_HOST_BIT (node->config.self);
    while (voted) {
        lk_host host = lk_hosts_take (&voted);
        if (lk_term_equal (self->vote[host].active.term, previous->term)
            && (self->vote[host].hears & ~self->voted) != 0) {
            return host;
        }
    }
    return LK_NOBODY;
}

/*  Nobody who voted holds D's tickets. D may still serve out of sight, until
 *  its leader lease is over; true when a reclaim may begin. */
static bool
may_reclaim (lk_node *node, const lk_decree *previous)
{
    lk_election *self = &node->election;
    if (self->until_ms < node->now_ms + 500) {
        self->until_ms = node->now_ms + 500;
    }
    if (node->now_ms - self->first_quorum_ms
        < lk_with_margin (node->config.leader_lease_ms)) {
        return false;
    }
    if (!lk_term_equal (self->rerun_decree, previous->term)) {
        lk_host host = knows_holder (node, previous);
        if (host != LK_NOBODY) {
            self->rerun_decree = previous->term;
            lk_election_give_up (node, "another voter hears a holder");
            self->next_try_ms = node->now_ms + RERUN_MS;
            lk_lock_message *message = lk_out_message (node, LK_MSG_RERUN);
            message->term = self->term;
            lk_out_send (node, message, host);
            return false;
        }
    }
    return true;
}

/*  A reclaim that was not over begins again with the new decree. */
static bool
is_in_reclaim (const lk_election *self, lk_host holder)
{
    return holder != LK_NOBODY && self->vote[holder].holds.reclaim;
}

/*  The decree that follows from the votes is LOCKLEADERS, stage elected. */
static void
elect (lk_node *node, const lk_choice *choice, bool reclaim)
{
    lk_election *self = &node->election;
    lk_decree decree = {
        .term = self->term, .members = choice->members, .reclaim = reclaim};
    if (!lk_choose_leaders (choice, &decree)) {
        lk_election_give_up (node, "nobody can lead");
        return;
    }
    self->decree = decree;
    self->previous = *choice->previous;
    self->holder = choice->holder;
    self->progress = 0;
    self->state = LK_ELECTION_ELECTED;
    self->until_ms = node->now_ms + VOTING_MS;
    lk_out_trace (node, LK_TRACE_INFO,
                  "election: elected, term=%llu leaders=%u%s",
                  (unsigned long long) decree.term.number, decree.leader_count,
                  reclaim ? " reclaim" : "");
    lk_elected_send (node);
}

/*  D, of those who are trusted and of its own members: whom one is asked to add
 *  may have been told anything. */
static lk_decree
find_previous (const lk_node *node)
{
    const lk_election *self = &node->election;
    lk_hosts trusted = lk_node_trusted (node);
    lk_host best = lk_choose_previous (self->vote, self->voted & trusted);
    trusted |= self->vote[best].active.members;
    best = lk_choose_previous (self->vote, self->voted & trusted);
    return self->vote[best].active;
}

void
lk_vote_count (lk_node *node)
{
    lk_election *self = &node->election;
    if (!lk_term_equal (node->facts.promised, self->term)) {
        return;
    }
    lk_decree previous = find_previous (node);
    if (previous.term.number >= self->term.number) {
        lk_election_give_up (node, "newer decree");
        return;
    }
    lk_hosts members = lk_change_members (node, &previous);
    if (!note_quorum (node, &previous, members)) {
        return;
    }
    lk_hosts missing =
        (previous.members | members) & lk_node_sees (node) & ~self->voted;
    if (missing != 0 && node->now_ms - self->quorum_ms < OTHERS_MS) {
        return;
    }
    lk_choice choice = {
        .vote = self->vote,
        .voted = self->voted,
        .previous = &previous,
        .members = members,
        .proposer = node->config.self,
        .leaders_max = node->config.leaders_max,
    };
    choice.holder = lk_choose_holder (&choice);
    bool lost = previous.leader_count > 0 && choice.holder == LK_NOBODY;
    if (!lost || may_reclaim (node, &previous)) {
        elect (node, &choice, lost || is_in_reclaim (self, choice.holder));
    }
}
