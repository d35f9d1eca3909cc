/*  election.c - when to hold an election, and what time does to one
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Dates are found in date.c, votes counted in vote.c, decrees brought into
 *  force in activation.c.
 */

#include "election.h"

#include "date.h"
#include "node_private.h"
#include "vote.h"

#include <string.h>

#define PAUSE_MS 300        /* no living leaders for so long */
#define STEP_MS 150         /* between the ranks of proposers */
#define KNOWN_STEP_MS 25    /* the same when an end is known, without pause */
#define FEW_LEADERS_MS 3000 /* before an election to fill up */
#define OTHERS_TURN_MS 1200 /* left to somebody else whom we promised */
#define HURRY 8             /* dates without agreement; each stops others */
#define FAILS 4             /* in a row; then the pause doubles, ... */
#define DOUBLED_MOST 6      /* ... so often: up to 96 s */
#define SEQUENCE_FULL ((uint64_t) 1 << 31)

void
lk_election_init (lk_election *self)
{
    memset (self, 0, sizeof *self);
    self->quorum_ms = LK_LONG_AGO;
    self->bad_since_ms = LK_LONG_AGO;
    self->few_since_ms = LK_LONG_AGO;
    self->next_try_ms = LK_LONG_AGO;
    self->holder = LK_NOBODY;
    self->refused = LK_NOBODY;
}

/*  Whether a leader is known to have ended. */
static bool
has_ended_leader (const lk_node *node)
{
    const lk_decree *active = &node->facts.active;
    for (size_t place = 0; place < active->leader_count; place++) {
        if (node->peer[active->leader[place]].ended) {
            return true;
        }
    }
    return false;
}

void
lk_election_settle (lk_node *node)
{
    lk_election *self = &node->election;
    int64_t later = node->now_ms + node->config.dead_after_ms + PAUSE_MS;
    self->bad_since_ms = LK_LONG_AGO;
    self->failed = 0;
    self->hurry = has_ended_leader (node) ? HURRY : 0;
    if (self->hurry == 0 && self->next_try_ms < later) {
        self->next_try_ms = later;
    }
}

/*  -------------------------------------------------------- failing */

/*  All that is seen of the others and may decide on an election. */
static uint64_t
find_view (const lk_node *node)
{
    lk_hosts heard = lk_node_hears (node) & ~LK_HOST_BIT (node->config.self);
    uint64_t view = heard;
    while (heard) {
        const lk_peer *peer = &node->peer[lk_hosts_take (&heard)];
        const uint64_t words[] = {view, peer->sees, peer->incarnation,
                                  peer->eligible};
        view = lk_siphash (node->config.seed, words, sizeof words);
    }
    return view;
}

/*  Until the next try. As long as nothing changes, one that failed often will
 *  fail again, and each takes a number. */
static int64_t
pause_ms (lk_node *node)
{
    const lk_election *self = &node->election;
    const unsigned more = self->failed > FAILS ? self->failed - FAILS : 0;
    if (more == 0 && self->hurry > 0) {
        return lk_rng_between (&node->rng, 20, 120);
    }
    return lk_rng_between (&node->rng, 300, 1500)
           << (more < DOUBLED_MOST ? more : DOUBLED_MOST);
}

static void
forget_failures (lk_node *node)
{
    lk_election *self = &node->election;
    if (self->failed > FAILS && find_view (node) != self->view) {
        self->failed = 0;
        const int64_t soon_ms = node->now_ms + pause_ms (node);
        if (soon_ms < self->next_try_ms) {
            self->next_try_ms = soon_ms;
        }
    }
}

void
lk_election_give_up (lk_node *node, const char *why)
{
    lk_election *self = &node->election;
    lk_out_trace (node, LK_TRACE_INFO, "election given up: term=%llu why=%s",
                  (unsigned long long) self->term.number, why);
    if (self->state > LK_ELECTION_PAUSE) {
        lk_lock_message *message = lk_out_message (node, LK_MSG_RETIRE);
        message->term = self->term;
        lk_out_broadcast (node, message, node->known);
        lk_doorway_retired (node, self->term);
        if (lk_term_equal (node->facts.promised, self->term)) {
            node->promised_ms = LK_LONG_AGO;
        }
        self->failed++;
        self->view = find_view (node);
    } else if (self->hurry > 0) {
        self->hurry--;
    }
    self->state = LK_ELECTION_IDLE;
    self->next_try_ms = node->now_ms + pause_ms (node);
}

/*  -------------------------------------------------------- whose turn */

static bool
is_member (const lk_node *node)
{
    return lk_hosts_has (node->facts.active.members, node->config.self);
}

/*  Somebody else is at it: whoever got our promise a moment ago. */
static bool
is_others_turn (lk_node *node)
{
    if (lk_term_equal (node->facts.promised, node->facts.active.term)) {
        return false;
    }
    int64_t turn_ms = OTHERS_TURN_MS;
    if (node->facts.promised.proposer != node->config.id) {
        turn_ms += lk_rng_between (&node->rng, 0, 300);
    }
    return node->now_ms - node->promised_ms < turn_ms;
}

/*  Why there is an election: for whoever reads the log afterwards. */
static void
say_missing (lk_node *node)
{
    lk_host host = lk_missing_leader (node);
    if (host != LK_NOBODY) {
        const char *why = !lk_peer_heard (node, host)
                              ? node->peer[host].ended ? "ended" : "silent"
                              : "not well";
        lk_out_trace (node, LK_TRACE_NOTICE, "leader missed: host=%s why=%s",
                      lk_out_host (node, host), why);
    }
}

static void
miss_leaders (lk_node *node)
{
    lk_election *self = &node->election;
    self->few_since_ms = LK_LONG_AGO;
    if (self->bad_since_ms == LK_LONG_AGO) {
        int64_t first_ms = self->hurry > 0
                               ? lk_date_rank (node) * KNOWN_STEP_MS
                               : PAUSE_MS + lk_date_rank (node) * STEP_MS
                                     + lk_rng_between (&node->rng, 0, 80);
        self->bad_since_ms = node->now_ms;
        if (self->next_try_ms < node->now_ms + first_ms) {
            self->next_try_ms = node->now_ms + first_ms;
        }
    }
    if (!lk_is_quorum (node->facts.active.members, lk_node_hears (node))
        || node->now_ms < self->next_try_ms || is_others_turn (node)) {
        return;
    }
    self->next_try_ms =
        node->now_ms + 500 + lk_rng_between (&node->rng, 0, 500);
    say_missing (node);
    lk_date_ask (node, LK_WHY_LOST);
}

/*  Whether enough members hear it and are heard by it, as far as they say. */
static bool
has_quorum (const lk_node *node, lk_host host)
{
    lk_hosts echo = node->peer[host].sees | LK_HOST_BIT (host);
    lk_hosts others = lk_node_sees (node)
                      & ~(LK_HOST_BIT (host) | LK_HOST_BIT (node->config.self));
    while (others) {
        lk_host other = lk_hosts_take (&others);
        if (!lk_hosts_has (node->peer[other].sees, host)) {
            echo &= ~LK_HOST_BIT (other);
        }
    }
    return lk_is_quorum (node->facts.active.members, echo);
}

/*  A member that all leaders see and are seen by, and that may lead. */
static bool
could_lead (const lk_node *node, lk_host host)
{
    const lk_decree *active = &node->facts.active;
    const lk_peer *peer = &node->peer[host];
    if (lk_decree_place (active, host) >= 0 || !peer->eligible
        || !lk_peer_heard (node, host) || !has_quorum (node, host)) {
        return false;
    }
    for (size_t place = 0; place < active->leader_count; place++) {
        lk_host leader = active->leader[place];
        if (!lk_hosts_has (peer->sees, leader)
            || (leader != node->config.self
                && !lk_hosts_has (node->peer[leader].sees, host))) {
            return false;
        }
    }
    return true;
}

/*  A takeover during a reclaim would begin that again: it waits. */
static bool
leaders_are_few (const lk_node *node)
{
    const lk_decree *active = &node->facts.active;
    lk_hosts members = active->members;
    if (active->leader_count >= node->config.leaders_max
        || active->leader[0] != node->config.self || node->table.reclaim != 0) {
        return false;
    }
    while (members) {
        if (could_lead (node, lk_hosts_take (&members))) {
            return true;
        }
    }
    return false;
}

/*  Leaders are few, and were for some time. */
static bool
are_few_by_now (lk_node *node)
{
    lk_election *self = &node->election;
    if (!leaders_are_few (node)) {
        self->few_since_ms = LK_LONG_AGO;
    } else if (self->few_since_ms == LK_LONG_AGO) {
        self->few_since_ms = node->now_ms;
    }
    return self->few_since_ms != LK_LONG_AGO
           && node->now_ms - self->few_since_ms > FEW_LEADERS_MS;
}

static void
see_leaders (lk_node *node)
{
    lk_election *self = &node->election;
    self->bad_since_ms = LK_LONG_AGO;
    self->hurry = 0;
    if (lk_change_is_due (node)) {
        lk_change_try (node);
        lk_date_ask (node, LK_WHY_CHANGE);
        return;
    }
    bool few = are_few_by_now (node);
    if (node->now_ms < self->next_try_ms) {
        return;
    }
    int place = lk_node_place (node);
    if (place >= 0 && node->table.sequence[place] > SEQUENCE_FULL) {
        lk_date_ask (node, LK_WHY_FULL);
    } else if (few) {
        self->few_since_ms = LK_LONG_AGO;
        lk_date_ask (node, LK_WHY_FILL);
    }
}

/*  -------------------------------------------------------- states */

static void
run_idle (lk_node *node)
{
    if (!is_member (node)) {
        return;
    }
    forget_failures (node);
    if (lk_sees_leaders (node)) {
        see_leaders (node);
    } else {
        miss_leaders (node);
    }
}

/*  Who knew of no end yet when it was asked may know of it now. */
static void
run_pause (lk_node *node)
{
    lk_election *self = &node->election;
    if (lk_is_quorum (node->facts.active.members, self->agreed)
        && (node->now_ms >= self->vote_at_ms || lk_date_all_agreed (node))) {
        lk_vote_start (node);
    } else if (node->now_ms > self->until_ms) {
        lk_election_give_up (node, "no agreement");
    } else if (self->hurry > 0 && node->now_ms - self->sent_ms >= LK_BUSY_MS) {
        lk_date_send (node);
    }
}

static void
run_voting (lk_node *node)
{
    lk_election *self = &node->election;
    lk_vote_repeat (node);
    lk_vote_count (node);
    if (self->state == LK_ELECTION_VOTING && node->now_ms > self->until_ms) {
        lk_election_give_up (node, "no quorum");
    }
}

static void
run_elected (lk_node *node)
{
    lk_election *self = &node->election;
    lk_vote_repeat (node);
    if (node->now_ms > self->until_ms) {
        lk_election_give_up (node, "doorway");
    } else if (node->now_ms - self->sent_ms > 300) {
        lk_elected_send (node);
    }
}

static void
run_activating (lk_node *node)
{
    lk_election *self = &node->election;
    lk_vote_repeat (node);
    if (node->now_ms > self->until_ms) {
        lk_election_give_up (node, "not activated");
    } else if (node->now_ms - self->sent_ms > 300) {
        lk_active_send (node);
    }
}

void
lk_election_run (lk_node *node)
{
    static void (*const run[LK_ELECTION_STATES]) (lk_node *) = {
        [LK_ELECTION_IDLE] = run_idle,
        [LK_ELECTION_PAUSE] = run_pause,
        [LK_ELECTION_VOTING] = run_voting,
        [LK_ELECTION_ELECTED] = run_elected,
        [LK_ELECTION_ACTIVATING] = run_activating,
    };
    lk_election *self = &node->election;
    lk_ready_repeat (node);
    if (self->state > LK_ELECTION_PAUSE
        && !lk_term_equal (node->facts.promised, self->term)) {
        lk_election_give_up (node, "promised more");
    }
    run[self->state](node);
}

bool
lk_election_is_busy (const lk_node *node)
{
    const lk_election *self = &node->election;
    return self->state != LK_ELECTION_IDLE || self->ready_again > 0;
}

int64_t
lk_election_deadline (const lk_node *node)
{
    const lk_election *self = &node->election;
    int64_t when = INT64_MAX;
    if (self->state == LK_ELECTION_PAUSE) {
        when = node->now_ms < self->vote_at_ms ? self->vote_at_ms
                                               : self->sent_ms + LK_BUSY_MS;
    } else if (self->state == LK_ELECTION_IDLE
               && self->bad_since_ms != LK_LONG_AGO) {
        when = self->next_try_ms;
    }
    return when > node->now_ms ? when : INT64_MAX;
}

/*  Somebody without whom the own election cannot come to its end. */
static bool
is_needed (const lk_election *self, lk_host host)
{
    return self->state == LK_ELECTION_ELECTED
           && (host == self->holder
               || lk_decree_place (&self->decree, host) >= 0);
}

/*  A proposer that has ended has retired; who has ended leads nothing. */
void
lk_election_host_gone (lk_node *node, lk_host host)
{
    lk_election *self = &node->election;
    if (node->promised_to == host) {
        node->promised_ms = LK_LONG_AGO;
    }
    if (lk_decree_place (&node->facts.active, host) >= 0) {
        self->hurry = HURRY;
        self->bad_since_ms = LK_LONG_AGO;
        self->next_try_ms = node->now_ms;
        lk_ping_now (node); /* a leader is not well by itself any more */
        lk_date_reconsider (node);
    }
    if (is_needed (self, host)) {
        self->hurry = HURRY;
        lk_election_give_up (node, "a leader ended");
    } else if (self->state == LK_ELECTION_VOTING) {
        self->voted &= ~LK_HOST_BIT (host);
    }
}

/*  -------------------------------------------------------- others say */

void
lk_on_retire (lk_node *node, const lk_lock_message *message)
{
    lk_doorway_retired (node, message->term);
    if (lk_term_equal (node->facts.promised, message->term)
        && !lk_term_equal (node->facts.active.term, message->term)) {
        node->promised_ms = LK_LONG_AGO;
    }
}

void
lk_on_rerun (lk_node *node, const lk_lock_message *message)
{
    lk_on_retire (node, message);
    node->election.next_try_ms = node->now_ms;
    node->election.bad_since_ms = node->now_ms;
    lk_election_run (node);
}
