/*  activation.c - from an elected decree to one that is in force
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The proposer's way behind the doorway, and the members' part in it.
 *  lockkeeper-protocol(7), 9.6.
 */

#include "election_private.h"
#include "retry.h"
#include "vote.h"

#define ACTIVATING_MS 1500
#define READY_AGAIN 4 /* times that LOCKREADY is repeated, every 300 ms */

void
lk_elected_send (lk_election *election)
{
    lk_lock_message *message = lk_out_message (election->core, LK_MSG_ELECTED);
    message->term = election->term;
    message->as.decree = (lk_msg_decree) {
        .decree = election->decree,
        .previous = election->previous.term,
        .genesis = election->previous.leader_count == 0,
        .holder = election->holder,
    };
    election->sent_ms = election->core->now_ms;
    lk_out_send (election->core, message, election->decree.leader[0]);
}

void
lk_active_send (lk_election *election)
{
    lk_lock_message *message = lk_out_message (election->core, LK_MSG_ACTIVE);
    message->term = election->term;
    message->as.decree.decree = election->decree;
    message->as.decree.holder = LK_NOBODY;
    election->sent_ms = election->core->now_ms;
    lk_out_broadcast (election->core, message,
                      (election->previous.members | election->decree.members)
                          & ~election->activated);
}

static void
ready_send (lk_election *election, lk_host to)
{
    lk_lock_message *message = lk_out_message (election->core, LK_MSG_READY);
    message->term = election->in_force.term;
    message->as.decree.decree = election->in_force;
    message->as.decree.holder = LK_NOBODY;
    election->ready_sent_ms = election->core->now_ms;
    if (to != LK_NOBODY) {
        lk_out_send (election->core, message, to);
    } else {
        lk_out_broadcast (election->core, message, election->core->known);
    }
}

void
lk_ready_repeat (lk_election *election)
{
    if (election->ready_again > 0
        && election->core->now_ms - election->ready_sent_ms > 300) {
        election->ready_again--;
        ready_send (election, LK_NOBODY);
    }
}

/*  Leaders have other settings on disk before they serve by them.
 *  Protocol 9.17. */
static bool
leaders_have_settings (const lk_election *election)
{
    const lk_decree *decree = &election->decree;
    return lk_settings_id_equal (decree->settings, election->previous.settings)
           || (lk_decree_leaders (decree) & ~election->activated) == 0;
}

/*  In force: q of D's members and q of the new ones have it on disk.
 *  Protocol 9.15. */
static void
check_in_force (lk_election *election)
{
    if (!lk_is_quorum (election->previous.members, election->activated)
        || !lk_is_quorum (election->decree.members, election->activated)
        || !leaders_have_settings (election)) {
        return;
    }
    election->state = LK_ELECTION_IDLE;
    election->ready_again = READY_AGAIN;
    election->in_force = election->decree;
    lk_change_in_force (election, &election->decree, &election->previous);
    lk_out_trace (election->core, LK_TRACE_NOTICE, "decree in force: term=%llu",
                  (unsigned long long) election->term.number);
    ready_send (election, LK_NOBODY);
    ready_send (election, election->core->config.self);
}

/*  A copy that makes progress is no stall. */
void
lk_election_progress (lk_election *election, const lk_lock_message *message)
{
    uint64_t progress = message->as.entered.holds.length;
    if (election->state == LK_ELECTION_ELECTED
        && message->from == election->decree.leader[0]
        && lk_term_equal (message->term, election->term)
        && progress > election->progress) {
        election->progress = progress;
        election->until_ms = election->core->now_ms + ACTIVATING_MS;
    }
}

void
lk_on_exiting (lk_election *election, const lk_lock_message *message)
{
    if (election->state != LK_ELECTION_ELECTED
        || !lk_term_equal (message->term, election->term)
        || !lk_term_equal (election->core->facts.promised, election->term)) {
        return;
    }
    election->state = LK_ELECTION_ACTIVATING;
    election->until_ms = election->core->now_ms + ACTIVATING_MS;
    election->activated = LK_HOST_BIT (election->core->config.self);
    lk_active_send (election); /* all write it at the same time */
    lk_adopt (election, election->core->config.self, &election->decree);
    if (lk_term_equal (election->core->facts.active.term, election->term)) {
        check_in_force (election);
    } else {
        lk_election_give_up (election, "its settings are lacking");
    }
}

void
lk_active_take (lk_election *election, lk_host from, const lk_decree *decree)
{
    lk_adopt (election, from, decree);
    election->promised_ms = election->core->now_ms;
    if (lk_term_equal (election->core->facts.active.term, decree->term)) {
        lk_lock_message *answer =
            lk_out_message (election->core, LK_MSG_ACTIVATED);
        answer->term = decree->term;
        lk_out_send (election->core, answer, from);
    } else {
        lk_settings_acknowledge (election, from, decree);
    }
}

/*  protocol 9.1 */
void
lk_on_active (lk_election *election, const lk_lock_message *message)
{
    if (!lk_promise_fits (election, message->term)) {
        lk_desist (election, message);
        return;
    }
    lk_active_take (election, message->from, &message->as.decree.decree);
}

void
lk_on_activated (lk_election *election, const lk_lock_message *message)
{
    if (election->state == LK_ELECTION_ACTIVATING
        && lk_term_equal (message->term, election->term)) {
        election->activated |= LK_HOST_BIT (message->from);
        check_in_force (election);
    }
}

/*  The decree that waited for the text is taken as if it was told again. */
void
lk_on_settings (lk_election *election, const lk_lock_message *message)
{
    lk_settings *self = &election->settings;
    const lk_decree decree = self->wanted;
    if (!lk_settings_take (election, message->as.settings.id,
                           message->as.settings.text)) {
        return;
    }
    self->wanted = (lk_decree) {0};
    if (self->acknowledges) {
        lk_active_take (election, self->told_by, &decree);
    } else {
        lk_adopt (election, self->told_by, &decree);
    }
}
