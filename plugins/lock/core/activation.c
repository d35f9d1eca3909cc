/*  activation.c - from an elected decree to one that is in force
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The proposer's way behind the doorway, and the members' part in it.
 *  lockkeeper-protocol(7), Takeover.
 */

#include "node_private.h"
#include "vote.h"

#define ACTIVATING_MS 1500
#define READY_AGAIN 4 /* times that LOCKREADY is repeated, every 300 ms */

void
lk_elected_send (lk_node *node)
{
    lk_election *self = &node->election;
    lk_lock_message *message = lk_out_message (node, LK_MSG_ELECTED);
    message->term = self->term;
    message->as.decree = (lk_msg_decree) {
        .decree = self->decree,
        .previous = self->previous.term,
        .genesis = self->previous.leader_count == 0,
        .holder = self->holder,
    };
    self->sent_ms = node->now_ms;
    lk_out_send (node, message, self->decree.leader[0]);
}

void
lk_active_send (lk_node *node)
{
    lk_election *self = &node->election;
    lk_lock_message *message = lk_out_message (node, LK_MSG_ACTIVE);
    message->term = self->term;
    message->as.decree.decree = self->decree;
    message->as.decree.holder = LK_NOBODY;
    self->sent_ms = node->now_ms;
    lk_out_broadcast (node, message,
                      (self->previous.members | self->decree.members)
                          & ~self->activated);
}

static void
ready_send (lk_node *node, lk_host to)
{
    lk_election *self = &node->election;
    lk_lock_message *message = lk_out_message (node, LK_MSG_READY);
    message->term = self->in_force.term;
    message->as.decree.decree = self->in_force;
    message->as.decree.holder = LK_NOBODY;
    self->ready_sent_ms = node->now_ms;
    if (to != LK_NOBODY) {
        lk_out_send (node, message, to);
    } else {
        lk_out_broadcast (node, message, node->known);
    }
}

void
lk_ready_repeat (lk_node *node)
{
    lk_election *self = &node->election;
    if (self->ready_again > 0 && node->now_ms - self->ready_sent_ms > 300) {
        self->ready_again--;
        ready_send (node, LK_NOBODY);
    }
}

/*  In force: q of D's members and q of the new ones have it on disk. */
static void
check_in_force (lk_node *node)
{
    lk_election *self = &node->election;
    if (!lk_is_quorum (self->previous.members, self->activated)
        || !lk_is_quorum (self->decree.members, self->activated)) {
        return;
    }
    self->state = LK_ELECTION_IDLE;
    self->ready_again = READY_AGAIN;
    self->in_force = self->decree;
    lk_change_in_force (node, &self->decree, &self->previous);
    lk_out_trace (node, LK_TRACE_NOTICE, "decree in force: term=%llu",
                  (unsigned long long) self->term.number);
    ready_send (node, LK_NOBODY);
    ready_send (node, node->config.self);
}

/*  A copy that makes progress is no stall. */
void
lk_election_progress (lk_node *node, const lk_lock_message *message)
{
    lk_election *self = &node->election;
    uint64_t progress = message->as.entered.holds.length;
    if (self->state == LK_ELECTION_ELECTED
        && message->from == self->decree.leader[0]
        && lk_term_equal (message->term, self->term)
        && progress > self->progress) {
        self->progress = progress;
        self->until_ms = node->now_ms + ACTIVATING_MS;
    }
}

void
lk_on_exiting (lk_node *node, const lk_lock_message *message)
{
    lk_election *self = &node->election;
    if (self->state != LK_ELECTION_ELECTED
        || !lk_term_equal (message->term, self->term)
        || !lk_term_equal (node->facts.promised, self->term)) {
        return;
    }
    self->state = LK_ELECTION_ACTIVATING;
    self->until_ms = node->now_ms + ACTIVATING_MS;
    self->activated = LK_HOST_BIT (node->config.self);
    lk_active_send (node); /* all write it at the same time */
    lk_adopt (node, node->config.self, &self->decree);
    check_in_force (node);
}

void
lk_on_active (lk_node *node, const lk_lock_message *message)
{
    if (!lk_promise_fits (node, message->term)) {
        lk_desist (node, message);
        return;
    }
    lk_adopt (node, message->from, &message->as.decree.decree);
    node->promised_ms = node->now_ms;
    if (lk_term_equal (node->facts.active.term, message->term)) {
        lk_lock_message *answer = lk_out_message (node, LK_MSG_ACTIVATED);
        answer->term = message->term;
        lk_out_send (node, answer, message->from);
    }
}

void
lk_on_activated (lk_node *node, const lk_lock_message *message)
{
    lk_election *self = &node->election;
    if (self->state == LK_ELECTION_ACTIVATING
        && lk_term_equal (message->term, self->term)) {
        self->activated |= LK_HOST_BIT (message->from);
        check_in_force (node);
    }
}
