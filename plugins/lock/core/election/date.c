/*  date.c - finding a date for an election: who asks, who agrees
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Nobody promises anything here; that it is safe does not depend on it.
 */

#include "date.h"

#include "election_private.h"

#include <string.h>

#define AGREEMENT_MS 150 /* behind a date, at least, till it is given up */
#define VOTE_MS 250      /* behind that, till the asker's VOTE is here */

/*  -------------------------------------------------------- whose turn */

static bool
address_before (const lk_candidate *a, const lk_candidate *b)
{
    int order = memcmp (a->address, b->address, sizeof a->address);
    if (order != 0) {
        return order < 0;
    }
    return a->port != b->port ? a->port < b->port : a->pid < b->pid;
}

/*  Whether it is another host's turn rather than the own one: arbiters are far
 *  away, maybe, and come last. Protocol 9.5.1. */
static bool
comes_before (const lk_election *election, lk_host host)
{
    const lk_core *core = election->core;
    const bool is_arbiter = lk_hosts_has (core->places.arbiters, host);
    return is_arbiter == lk_hosts_has (core->places.arbiters, core->config.self)
               ? address_before (&core->peer[host].candidate,
                                 &core->config.candidate)
               : !is_arbiter;
}

/*  protocol 9.5.1 */
int
lk_date_rank (const lk_election *election)
{
    lk_hosts others = lk_leader_sees (election->leader)
                      & election->core->facts.active.members
                      & ~LK_HOST_BIT (election->core->config.self);
    int before = 0;
    while (others) {
        if (comes_before (election, lk_hosts_take (&others))) {
            before++;
        }
    }
    return before;
}

/*  -------------------------------------------------------- asking */

void
lk_date_send (lk_election *election)
{
    int64_t in_ms = election->vote_at_ms - election->core->now_ms;
    lk_lock_message *message = lk_out_message (election->core, LK_MSG_DATE);
    message->as.date =
        (lk_msg_date) {.in_ms = in_ms > 0 ? in_ms : 0,
                       .promised = election->core->facts.promised,
                       .reason = election->reason};
    election->sent_ms = election->core->now_ms;
    lk_out_broadcast (election->core, message,
                      election->core->facts.active.members & ~election->agreed);
}

/*  Without the agreement of a member that is far away there may be no quorum.
 *  One that is farther than that is of no use to leaders. Protocol 9.5.3. */
static int64_t
agreement_ms (const lk_election *election)
{
    const int64_t far_ms = election->core->config.leader_lease_ms / 4;
    return far_ms > AGREEMENT_MS ? far_ms : AGREEMENT_MS;
}

/*  protocol 9.5.1 */
void
lk_date_ask (lk_election *election, lk_why reason)
{
    int64_t in_ms = election->hurry > 0
                        ? lk_rng_between (&election->core->rng, 5, 15)
                        : lk_rng_between (&election->core->rng, 50, 300);
    election->state = LK_ELECTION_PAUSE;
    election->reason = reason;
    election->agreed = LK_HOST_BIT (election->core->config.self);
    election->vote_at_ms = election->core->now_ms + in_ms;
    election->until_ms = election->vote_at_ms + agreement_ms (election);
    lk_out_trace (election->core, LK_TRACE_INFO, "election: pause, in_ms=%lld",
                  (long long) in_ms);
    lk_date_send (election);
}

bool
lk_date_take (lk_election *election, lk_host from, int64_t in_ms)
{
    if (election->state != LK_ELECTION_PAUSE) {
        return false;
    }
    int64_t at_ms = election->core->now_ms + in_ms;
    election->agreed |= LK_HOST_BIT (from);
    if (at_ms < election->vote_at_ms) {
        election->vote_at_ms = at_ms;
    }
    return true;
}

/*  Known to have ended, or silent; but one that was never heard may come. */
static bool
is_lost (const lk_election *election, lk_host host)
{
    const lk_peer *peer = &election->core->peer[host];
    return peer->has_at && !lk_peer_heard (election->core, host);
}

/*  protocol 9.5.3 */
bool
lk_date_all_agreed (const lk_election *election)
{
    lk_hosts rest = election->core->facts.active.members & ~election->agreed;
    while (rest) {
        if (!is_lost (election, lk_hosts_take (&rest))) {
            return false;
        }
    }
    return true;
}

/*  -------------------------------------------------------- answering */

/*  Whether to agree with somebody's election: not while another proposer whom
 *  we promised may be at it, nor while there are living leaders, unless the
 *  reason is a good one or the asker cannot take part otherwise; nor if the
 *  asker misses the leaders of a decree that has a successor.
 *  Protocol 9.5.2. */
static bool
agrees (lk_election *election, const lk_msg_date *date)
{
    lk_term active = election->core->facts.active.term;
    return date->reason != LK_WHY_LOST
           || (date->promised.number >= active.number
               && (!lk_sees_leaders (election->leader)
                   || !lk_term_equal (date->promised, active)));
}

/*  Two that ask at a time would split the votes. Protocol 9.5.1. */
static void
leave_to (lk_election *election, lk_host asker, const lk_msg_date *date)
{
    if (election->state == LK_ELECTION_PAUSE && election->reason == LK_WHY_LOST
        && date->reason == LK_WHY_LOST && lk_peer_mutual (election->core, asker)
        && comes_before (election, asker)) {
        election->state = LK_ELECTION_IDLE;
        lk_out_trace (election->core, LK_TRACE_INFO,
                      "election: left to host=%s",
                      lk_out_host (election->core, asker));
    }
}

/*  protocol 9.5.2 */
static void
agree (lk_election *election, lk_host asker, const lk_msg_date *date)
{
    leave_to (election, asker, date);
    int64_t in_ms = date->in_ms;
    int64_t turn_ms =
        election->core->now_ms + in_ms + agreement_ms (election) + VOTE_MS;
    if (election->state == LK_ELECTION_IDLE
        && election->next_try_ms < turn_ms) {
        election->next_try_ms = turn_ms; /* it is the asker's turn */
    }
    if (election->state == LK_ELECTION_PAUSE
        && election->vote_at_ms - election->core->now_ms < in_ms) {
        in_ms = election->vote_at_ms > election->core->now_ms
                    ? election->vote_at_ms - election->core->now_ms
                    : 0;
    }
    lk_lock_message *answer = lk_out_message (election->core, LK_MSG_AGREED);
    answer->as.date.in_ms = in_ms;
    answer->as.date.promised = election->core->facts.promised;
    answer->as.date.reason = date->reason;
    lk_out_send (election->core, answer, asker);
}

static void
refuse (lk_election *election, lk_host asker, const lk_msg_date *date)
{
    lk_lock_message *answer = lk_out_message (election->core, LK_MSG_SITTING);
    answer->term = election->core->facts.active.term;
    answer->as.decree.decree = election->core->facts.active;
    answer->as.decree.holder = LK_NOBODY;
    lk_out_send (election->core, answer, asker);
    election->refused = asker;
    election->refused_date = *date;
    election->refused_ms = election->core->now_ms;
}

/*  protocol 9.5.1 */
void
lk_date_reconsider (lk_election *election)
{
    if (election->refused != LK_NOBODY
        && !election->core->peer[election->refused].ended
        && election->core->now_ms - election->refused_ms < LK_BUSY_MS
        && agrees (election, &election->refused_date)) {
        agree (election, election->refused, &election->refused_date);
    }
    election->refused = LK_NOBODY;
}

/*  protocol 9.5.2 */
void
lk_on_date (lk_election *election, const lk_lock_message *message)
{
    const lk_msg_date *date = &message->as.date;
    if (!lk_term_equal (election->core->facts.promised,
                        election->core->facts.active.term)
        && election->promised_to != message->from
        && election->core->now_ms - election->promised_ms < 1000) {
        return;
    }
    if (agrees (election, date)) {
        agree (election, message->from, date);
    } else {
        refuse (election, message->from, date);
    }
}

void
lk_on_sitting (lk_election *election, const lk_lock_message *message)
{
    lk_adopt (election, message->from, &message->as.decree.decree);
}
