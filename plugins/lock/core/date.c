/*  date.c - finding a date for an election: who asks, who agrees
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Nobody promises anything here; that it is safe does not depend on it.
 */

#include "date.h"

#include "node_private.h"

#include <string.h>

#define AGREED_TURN_MS 400 /* behind a date that we agreed to */

/*  -------------------------------------------------------- whose turn */

/*  Whether a's address comes before b's. */
static bool
address_before (const lk_candidate *a, const lk_candidate *b)
{
    int order = memcmp (a->address, b->address, sizeof a->address);
    if (order != 0) {
        return order < 0;
    }
    return a->port != b->port ? a->port < b->port : a->pid < b->pid;
}

int
lk_date_rank (const lk_node *node)
{
    const lk_candidate *own = &node->config.candidate;
    lk_hosts others = lk_node_sees (node) & node->facts.active.members
                      & ~LK_HOST_BIT (node->config.self);
    int before = 0;
    while (others) {
        lk_host host = lk_hosts_take (&others);
        if (address_before (&node->peer[host].candidate, own)) {
            before++;
        }
    }
    return before;
}

/*  -------------------------------------------------------- asking */

void
lk_date_send (lk_node *node)
{
    lk_election *self = &node->election;
    int64_t in_ms = self->vote_at_ms - node->now_ms;
    lk_lock_message *message = lk_out_message (node, LK_MSG_DATE);
    message->as.date = (lk_msg_date) {.in_ms = in_ms > 0 ? in_ms : 0,
                                      .promised = node->facts.promised,
                                      .reason = self->reason};
    self->sent_ms = node->now_ms;
    lk_out_broadcast (node, message,
                      node->facts.active.members & ~self->agreed);
}

void
lk_date_ask (lk_node *node, lk_why reason)
{
    lk_election *self = &node->election;
    int64_t in_ms = self->hurry > 0 ? lk_rng_between (&node->rng, 5, 15)
                                    : lk_rng_between (&node->rng, 50, 300);
    self->state = LK_ELECTION_PAUSE;
    self->reason = reason;
    self->agreed = LK_HOST_BIT (node->config.self);
    self->vote_at_ms = node->now_ms + in_ms;
    self->until_ms = self->vote_at_ms + 150;
    lk_out_trace (node, LK_TRACE_INFO, "election: pause, in_ms=%lld",
                  (long long) in_ms);
    lk_date_send (node);
}

/*  Known to have ended, or silent; but one that was never heard may come. */
static bool
is_lost (const lk_node *node, lk_host host)
{
    const lk_peer *peer = &node->peer[host];
    return peer->has_at && !lk_peer_heard (node, host);
}

bool
lk_date_all_agreed (const lk_node *node)
{
    lk_hosts rest = node->facts.active.members & ~node->election.agreed;
    while (rest) {
        if (!is_lost (node, lk_hosts_take (&rest))) {
            return false;
        }
    }
    return true;
}

/*  -------------------------------------------------------- answering */

/*  Whether to agree with somebody's election: not while another proposer
 *  whom we promised may be at it, nor while there are living leaders, unless
 *  the reason is a good one or the asker cannot take part otherwise; nor if the
 *  asker misses the leaders of a decree that has a successor. */
static bool
agrees (lk_node *node, const lk_msg_date *date)
{
    lk_term active = node->facts.active.term;
    return date->reason != LK_WHY_LOST
           || (date->promised.number >= active.number
               && (!lk_sees_leaders (node)
                   || !lk_term_equal (date->promised, active)));
}

/*  Two that ask at a time would split the votes. */
static void
leave_to (lk_node *node, lk_host asker, const lk_msg_date *date)
{
    lk_election *self = &node->election;
    if (self->state == LK_ELECTION_PAUSE && self->reason == LK_WHY_LOST
        && date->reason == LK_WHY_LOST && lk_peer_mutual (node, asker)
        && address_before (&node->peer[asker].candidate,
                           &node->config.candidate)) {
        self->state = LK_ELECTION_IDLE;
        lk_out_trace (node, LK_TRACE_INFO, "election: left to host=%s",
                      lk_out_host (node, asker));
    }
}

static void
agree (lk_node *node, lk_host asker, const lk_msg_date *date)
{
    lk_election *self = &node->election;
    leave_to (node, asker, date);
    int64_t in_ms = date->in_ms;
    int64_t turn_ms = node->now_ms + in_ms + AGREED_TURN_MS;
    if (self->state == LK_ELECTION_IDLE && self->next_try_ms < turn_ms) {
        self->next_try_ms = turn_ms; /* it is the asker's turn */
    }
    if (self->state == LK_ELECTION_PAUSE
        && self->vote_at_ms - node->now_ms < in_ms) {
        in_ms = self->vote_at_ms > node->now_ms
                    ? self->vote_at_ms - node->now_ms
                    : 0;
    }
    lk_lock_message *answer = lk_out_message (node, LK_MSG_AGREED);
    answer->as.date.in_ms = in_ms;
    answer->as.date.promised = node->facts.promised;
    answer->as.date.reason = date->reason;
    lk_out_send (node, answer, asker);
}

static void
refuse (lk_node *node, lk_host asker, const lk_msg_date *date)
{
    lk_election *self = &node->election;
    lk_lock_message *answer = lk_out_message (node, LK_MSG_SITTING);
    answer->term = node->facts.active.term;
    answer->as.decree.decree = node->facts.active;
    answer->as.decree.holder = LK_NOBODY;
    lk_out_send (node, answer, asker);
    self->refused = asker;
    self->refused_date = *date;
    self->refused_ms = node->now_ms;
}

void
lk_date_reconsider (lk_node *node)
{
    lk_election *self = &node->election;
    if (self->refused != LK_NOBODY && !node->peer[self->refused].ended
        && node->now_ms - self->refused_ms < LK_BUSY_MS
        && agrees (node, &self->refused_date)) {
        agree (node, self->refused, &self->refused_date);
    }
    self->refused = LK_NOBODY;
}

void
lk_on_date (lk_node *node, const lk_lock_message *message)
{
    const lk_msg_date *date = &message->as.date;
    if (!lk_term_equal (node->facts.promised, node->facts.active.term)
        && node->promised_to != message->from
        && node->now_ms - node->promised_ms < 1000) {
        return;
    }
    if (agrees (node, date)) {
        agree (node, message->from, date);
    } else {
        refuse (node, message->from, date);
    }
}

void
lk_on_agreed (lk_node *node, const lk_lock_message *message)
{
    lk_election *self = &node->election;
    if (self->state != LK_ELECTION_PAUSE) {
        return;
    }
    int64_t at_ms = node->now_ms + message->as.date.in_ms;
    self->agreed |= LK_HOST_BIT (message->from);
    if (at_ms < self->vote_at_ms) {
        self->vote_at_ms = at_ms;
    }
    lk_election_run (node);
}

void
lk_on_sitting (lk_node *node, const lk_lock_message *message)
{
    lk_adopt (node, message->from, &message->as.decree.decree);
}
