/*  alert.c - a leader's table is wrong: it is dropped, and every host told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "alert.h"

#include "digest.h"
#include "node_private.h"

#include <string.h>

void
lk_alert_init (lk_alerts *self)
{
    memset (self, 0, sizeof *self);
}

/*  -------------------------------------------------------- taking */

/*  A leader without a table is not well: an election follows, in which it
 *  holds nothing, and which fills it anew. */
static void
drop_table (lk_node *node)
{
    lk_table none;
    lk_table_init (&none);
    lk_node_install (node, &none);
    lk_ping_now (node);
}

static void
take (lk_node *node, const lk_lock_message *message)
{
    const lk_msg_alert *alert = &message->as.alert;
    lk_out_alert (node, message);
    if (alert->host == node->config.self && lk_table_is_filled (&node->table)
        && lk_term_equal (node->table.decree.term, message->term)) {
        drop_table (node);
    }
}

/*  True if it was taken before. */
static bool
note_heard (lk_alerts *self, const lk_lock_message *message)
{
    const lk_msg_alert *alert = &message->as.alert;
    for (size_t i = 0; i < LK_ALERTS_HEARD; i++) {
        const lk_alert_id *id = &self->heard[i];
        if (id->number == alert->number && id->from == message->from
            && id->incarnation == alert->incarnation) {
            return true;
        }
    }
    self->heard[self->heard_count++ % LK_ALERTS_HEARD] =
        (lk_alert_id) {message->from, alert->incarnation, alert->number};
    return false;
}

void
lk_on_alert (lk_node *node, const lk_lock_message *message)
{
    const lk_msg_alert *alert = &message->as.alert;
    if (alert->number == 0) {
        return;
    }
    lk_lock_message *answer = lk_out_message (node, LK_MSG_ALERTED);
    answer->term = message->term;
    answer->as.alert.incarnation = alert->incarnation;
    answer->as.alert.number = alert->number;
    lk_out_send (node, answer, message->from);
    if (!note_heard (&node->alerts, message)) {
        take (node, message);
    }
}

/*  -------------------------------------------------------- raising */

static lk_lock_message *
write_alert (lk_node *node, const lk_raised *raised)
{
    lk_lock_message *message = lk_out_message (node, LK_MSG_ALERT);
    message->term = raised->term;
    message->as.alert = raised->alert;
    return message;
}

static bool
was_raised (const lk_node *node, lk_host host)
{
    for (size_t i = 0; i < LK_ALERTS_KEPT; i++) {
        const lk_raised *raised = &node->alerts.raised[i];
        if (raised->alert.number != 0 && raised->alert.host == host
            && lk_term_equal (raised->term, node->table.decree.term)) {
            return true;
        }
    }
    return false;
}

void
lk_alert_raise (lk_node *node, const lk_msg_alert *what)
{
    lk_alerts *self = &node->alerts;
    if (was_raised (node, what->host)) {
        return;
    }
    lk_raised *raised = &self->raised[self->raised_count++ % LK_ALERTS_KEPT];
    *raised = (lk_raised) {
        .term = node->table.decree.term,
        .alert = *what,
        .unaware = node->known & ~LK_HOST_BIT (node->config.self),
        .until_ms = node->now_ms + LK_ALERT_MS,
    };
    raised->alert.incarnation = node->incarnation;
    raised->alert.number = self->raised_count;
    lk_lock_message *message = write_alert (node, raised);
    lk_out_broadcast (node, message, raised->unaware);
    take (node, message);
}

void
lk_alert_unsound (lk_node *node, uint8_t home)
{
    const lk_table *table = &node->table;
    uint64_t hash;
    lk_digest_share (table, home, &hash);
    lk_alert_raise (node,
                    &(lk_msg_alert) {.cause = LK_ALERT_TABLE,
                                     .host = node->config.self,
                                     .home = table->decree.leader[home],
                                     .sequence = table->sequence[home],
                                     .hash = hash,
                                     .expected = lk_digest_sum (table, home)});
}

void
lk_alert_look (lk_node *node)
{
    const lk_table *table = &node->table;
    uint64_t hash;
    for (uint8_t home = 0; home < table->decree.leader_count; home++) {
        if (table->count <= LK_SOUND_MAX
            && !lk_digest_share (table, home, &hash)) {
            lk_alert_unsound (node, home);
            return;
        }
    }
}

void
lk_alert_run (lk_node *node)
{
    for (size_t i = 0; i < LK_ALERTS_KEPT; i++) {
        lk_raised *raised = &node->alerts.raised[i];
        if (raised->alert.number != 0 && raised->unaware != 0
            && node->now_ms < raised->until_ms) {
            lk_out_broadcast (node, write_alert (node, raised),
                              raised->unaware);
        }
    }
}

void
lk_on_alerted (lk_node *node, const lk_lock_message *message)
{
    const lk_msg_alert *alert = &message->as.alert;
    for (size_t i = 0; i < LK_ALERTS_KEPT; i++) {
        lk_raised *raised = &node->alerts.raised[i];
        if (raised->alert.number == alert->number
            && alert->incarnation == node->incarnation) {
            raised->unaware &= ~LK_HOST_BIT (message->from);
        }
    }
}
