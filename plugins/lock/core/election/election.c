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
#include "election_private.h"
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
lk_election_init (lk_election *self, lk_core *core, lk_leader *leader)
{
    memset (self, 0, sizeof *self);
    self->core = core;
    self->leader = leader;
    lk_change_init (&self->change);
    lk_doorway_init (&self->doorway);
    self->promised_before_start = core->facts.promised;
    self->promised_ms = LK_LONG_AGO;
    self->promised_to = LK_NOBODY;
    self->quorum_ms = LK_LONG_AGO;
    self->bad_since_ms = LK_LONG_AGO;
    self->few_since_ms = LK_LONG_AGO;
    self->next_try_ms = core->now_ms + lk_rng_between (&core->rng, 50, 300);
    self->holder = LK_NOBODY;
    self->refused = LK_NOBODY;
}

void
lk_election_clear (lk_election *self)
{
    lk_doorway_clear (&self->doorway);
}

/*  Whether a leader is known to have ended. */
static bool
has_ended_leader (const lk_election *election)
{
    const lk_decree *active = &election->core->facts.active;
    for (size_t place = 0; place < active->leader_count; place++) {
        if (election->core->peer[active->leader[place]].ended) {
            return true;
        }
    }
    return false;
}

/*  protocol 9.5.1 */
void
lk_election_settle (lk_election *election)
{
    int64_t later = election->core->now_ms
                    + election->core->config.dead_after_ms + PAUSE_MS;
    election->bad_since_ms = LK_LONG_AGO;
    election->failed = 0;
    election->hurry = has_ended_leader (election) ? HURRY : 0;
    if (election->hurry == 0 && election->next_try_ms < later) {
        election->next_try_ms = later;
    }
}

/*  -------------------------------------------------------- failing */

/*  All that is seen of the others and may decide on an election. */
static uint64_t
find_view (const lk_election *election)
{
    lk_hosts heard = lk_core_hears (election->core)
                     & ~LK_HOST_BIT (election->core->config.self);
    uint64_t view = heard;
    while (heard) {
        const lk_peer *peer = &election->core->peer[lk_hosts_take (&heard)];
        const uint64_t words[] = {view, peer->sees, peer->incarnation,
                                  peer->eligible};
        view = lk_siphash (election->core->config.seed, words, sizeof words);
    }
    return view;
}

/*  Until the next try. As long as nothing changes, one that failed often will
 *  fail again, and each takes a number. Protocol 9.5.5. */
static int64_t
pause_ms (lk_election *election)
{
    const unsigned more =
        election->failed > FAILS ? election->failed - FAILS : 0;
    if (more == 0 && election->hurry > 0) {
        return lk_rng_between (&election->core->rng, 20, 120);
    }
    return lk_rng_between (&election->core->rng, 300, 1500)
           << (more < DOUBLED_MOST ? more : DOUBLED_MOST);
}

/*  protocol 9.5.5 */
static void
forget_failures (lk_election *election)
{
    if (election->failed > FAILS && find_view (election) != election->view) {
        election->failed = 0;
        const int64_t soon_ms = election->core->now_ms + pause_ms (election);
        if (soon_ms < election->next_try_ms) {
            election->next_try_ms = soon_ms;
        }
    }
}

/*  protocol 9.5.5 */
void
lk_election_give_up (lk_election *election, const char *why)
{
    lk_out_trace (election->core, LK_TRACE_INFO,
                  "election given up: term=%llu why=%s",
                  (unsigned long long) election->term.number, why);
    if (election->state > LK_ELECTION_PAUSE) {
        lk_lock_message *message =
            lk_out_message (election->core, LK_MSG_RETIRE);
        message->term = election->term;
        lk_out_broadcast (election->core, message, election->core->known);
        lk_doorway_retired (election, election->term);
        if (lk_term_equal (election->core->facts.promised, election->term)) {
            election->promised_ms = LK_LONG_AGO;
        }
        election->failed++;
        election->view = find_view (election);
    } else if (election->hurry > 0) {
        election->hurry--;
    }
    election->state = LK_ELECTION_IDLE;
    election->next_try_ms = election->core->now_ms + pause_ms (election);
}

/*  -------------------------------------------------------- whose turn */

static bool
is_member (const lk_election *election)
{
    return lk_hosts_has (election->core->facts.active.members,
                         election->core->config.self);
}

/*  Somebody else is at it: whoever got our promise a moment ago.
 *  Protocol 9.5.2. */
static bool
is_others_turn (lk_election *election)
{
    if (lk_term_equal (election->core->facts.promised,
                       election->core->facts.active.term)) {
        return false;
    }
    int64_t turn_ms = OTHERS_TURN_MS;
    if (election->core->facts.promised.proposer != election->core->config.id) {
        turn_ms += lk_rng_between (&election->core->rng, 0, 300);
    }
    return election->core->now_ms - election->promised_ms < turn_ms;
}

/*  Why there is an election: for whoever reads the log afterwards. */
static void
say_missing (lk_election *election)
{
    lk_host host = lk_missing_leader (election->leader);
    if (host != LK_NOBODY) {
        const char *why =
            !lk_peer_heard (election->core, host)
                ? election->core->peer[host].ended ? "ended" : "silent"
                : "not well";
        lk_out_trace (election->core, LK_TRACE_NOTICE,
                      "leader missed: host=%s why=%s",
                      lk_out_host (election->core, host), why);
    }
}

/*  protocol 9.5.1 */
static void
miss_leaders (lk_election *election)
{
    election->few_since_ms = LK_LONG_AGO;
    if (election->bad_since_ms == LK_LONG_AGO) {
        int64_t first_ms =
            election->hurry > 0
                ? lk_date_rank (election) * KNOWN_STEP_MS
                : PAUSE_MS + lk_date_rank (election) * STEP_MS
                      + lk_rng_between (&election->core->rng, 0, 80);
        election->bad_since_ms = election->core->now_ms;
        if (election->next_try_ms < election->core->now_ms + first_ms) {
            election->next_try_ms = election->core->now_ms + first_ms;
        }
    }
    if (!lk_is_quorum (election->core->facts.active.members,
                       lk_core_hears (election->core))
        || election->core->now_ms < election->next_try_ms
        || is_others_turn (election)) {
        return;
    }
    election->next_try_ms = election->core->now_ms + 500
                            + lk_rng_between (&election->core->rng, 0, 500);
    say_missing (election);
    lk_date_ask (election, LK_WHY_LOST);
}

/*  Whether enough members hear it and are heard by it, as far as they say. */
static bool
has_quorum (const lk_election *election, lk_host host)
{
    lk_hosts echo = election->core->peer[host].sees | LK_HOST_BIT (host);
    lk_hosts others =
        lk_leader_sees (election->leader)
        & ~(LK_HOST_BIT (host) | LK_HOST_BIT (election->core->config.self));
    while (others) {
        lk_host other = lk_hosts_take (&others);
        if (!lk_hosts_has (election->core->peer[other].sees, host)) {
            echo &= ~LK_HOST_BIT (other);
        }
    }
    return lk_is_quorum (election->core->facts.active.members, echo);
}

/*  A member that all leaders see and are seen by, and that may lead.
 *  Protocol 9.5.6. */
static bool
could_lead (const lk_election *election, lk_host host)
{
    const lk_decree *active = &election->core->facts.active;
    const lk_peer *peer = &election->core->peer[host];
    if (lk_decree_place (active, host) >= 0 || !peer->eligible
        || !lk_peer_heard (election->core, host)
        || !has_quorum (election, host)) {
        return false;
    }
    for (size_t place = 0; place < active->leader_count; place++) {
        lk_host leader = active->leader[place];
        if (!lk_hosts_has (peer->sees, leader)
            || (leader != election->core->config.self
                && !lk_hosts_has (election->core->peer[leader].sees, host))) {
            return false;
        }
    }
    return true;
}

/*  A takeover during a reclaim would begin that again: it waits.
 *  Protocol 9.5.6. */
static bool
leaders_are_few (const lk_election *election)
{
    const lk_decree *active = &election->core->facts.active;
    lk_hosts members = active->members;
    if (active->leader_count >= election->core->config.leaders_max
        || active->leader[0] != election->core->config.self
        || lk_leader_table (election->leader)->reclaim != 0) {
        return false;
    }
    while (members) {
        if (could_lead (election, lk_hosts_take (&members))) {
            return true;
        }
    }
    return false;
}

/*  Leaders are few, and were for some time. */
static bool
are_few_by_now (lk_election *election)
{
    if (!leaders_are_few (election)) {
        election->few_since_ms = LK_LONG_AGO;
    } else if (election->few_since_ms == LK_LONG_AGO) {
        election->few_since_ms = election->core->now_ms;
    }
    return election->few_since_ms != LK_LONG_AGO
           && election->core->now_ms - election->few_since_ms > FEW_LEADERS_MS;
}

static void
see_leaders (lk_election *election)
{
    election->bad_since_ms = LK_LONG_AGO;
    election->hurry = 0;
    /*  protocol 9.15 */
    if (lk_change_is_due (election)) {
        lk_change_try (election);
        lk_date_ask (election, LK_WHY_CHANGE);
        return;
    }
    bool few = are_few_by_now (election);
    if (election->core->now_ms < election->next_try_ms) {
        return;
    }
    int place = lk_leader_place (election->leader);
    /*  protocol 9.5.6 */
    if (place >= 0
        && lk_leader_table (election->leader)->sequence[place]
               > SEQUENCE_FULL) {
        lk_date_ask (election, LK_WHY_FULL);
    } else if (few) {
        election->few_since_ms = LK_LONG_AGO;
        lk_date_ask (election, LK_WHY_FILL);
    }
}

/*  -------------------------------------------------------- states */

static void
run_idle (lk_election *election)
{
    /*  protocol 9.15 */
    if (!is_member (election)) {
        return;
    }
    forget_failures (election);
    if (lk_sees_leaders (election->leader)) {
        see_leaders (election);
    } else {
        miss_leaders (election);
    }
}

/*  Who knew of no end yet when it was asked may know of it now.
 *  Protocol 9.5.3. */
static void
run_pause (lk_election *election)
{
    if (lk_is_quorum (election->core->facts.active.members, election->agreed)
        && (election->core->now_ms >= election->vote_at_ms
            || lk_date_all_agreed (election))) {
        lk_vote_start (election);
    } else if (election->core->now_ms > election->until_ms) {
        lk_election_give_up (election, "no agreement");
    } else if (election->hurry > 0
               && election->core->now_ms - election->sent_ms >= LK_BUSY_MS) {
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
        election->hurry = HURRY;
        election->bad_since_ms = LK_LONG_AGO;
        election->next_try_ms = election->core->now_ms;
        lk_ping_now (
            election->core); /* a leader is not well by itself any more */
        lk_date_reconsider (election);
    }
    /*  protocol 9.5.5 */
    if (is_needed (election, host)) {
        election->hurry = HURRY;
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

/*  -------------------------------------------------------- questions */

void
lk_election_stop (lk_election *election)
{
    if (election->state != LK_ELECTION_IDLE) {
        lk_election_give_up (election, "stopping");
    }
    lk_change_stop (election);
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
