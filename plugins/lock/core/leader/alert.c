/*  alert.c - a leader's table is wrong: it is dropped, and every host told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "alert.h"

#include "digest.h"
#include "leader_private.h"

/*  -------------------------------------------------------- taking */

/*  A leader without a table is not well: an election follows, in which it holds
 *  nothing, and which fills it anew. Protocol 9.9. */
static void
drop_table (lk_leader *lead)
{
    lk_table none;
    lk_table_init (&none);
    lk_leader_install (lead, &none, LK_TABLE_NEW);
    lk_ping_now (lead->core);
}

static void
take (lk_leader *lead, const lk_lock_message *message)
{
    const lk_msg_alert *alert = &message->as.alert;
    lk_out_alert (lead->core, message);
    if (alert->host == lead->core->config.self
        && lk_table_is_filled (&lead->table)
        && lk_term_equal (lead->table.decree.term, message->term)) {
        drop_table (lead);
    }
    if (alert->host == lead->core->config.self
        && lk_term_equal (lead->copy.decree.term, message->term)) {
        lk_copy_drop (lead);
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
lk_on_alert (lk_leader *lead, const lk_lock_message *message)
{
    const lk_msg_alert *alert = &message->as.alert;
    if (alert->number == 0) {
        return;
    }
    lk_lock_message *answer = lk_out_message (lead->core, LK_MSG_ALERTED);
    answer->term = message->term;
    answer->as.alert.incarnation = alert->incarnation;
    answer->as.alert.number = alert->number;
    lk_out_send (lead->core, answer, message->from);
    if (!note_heard (&lead->alerts, message)) {
        take (lead, message);
    }
}

/*  -------------------------------------------------------- raising */

static lk_lock_message *
write_alert (lk_leader *lead, const lk_raised *raised)
{
    lk_lock_message *message = lk_out_message (lead->core, LK_MSG_ALERT);
    message->term = raised->term;
    message->as.alert = raised->alert;
    return message;
}

static bool
was_raised (const lk_leader *lead, lk_host host)
{
    for (size_t i = 0; i < LK_ALERTS_KEPT; i++) {
        const lk_raised *raised = &lead->alerts.raised[i];
        if (raised->alert.number != 0 && raised->alert.host == host
            && lk_term_equal (raised->term, lead->table.decree.term)) {
            return true;
        }
    }
    return false;
}

/*  protocol 9.9 */
void
lk_alert_raise (lk_leader *lead, const lk_msg_alert *what)
{
    lk_alerts *self = &lead->alerts;
    if (was_raised (lead, what->host)) {
        return;
    }
    lk_raised *raised = &self->raised[self->raised_count++ % LK_ALERTS_KEPT];
    *raised = (lk_raised) {
        .term = lead->table.decree.term,
        .alert = *what,
        .unaware = lead->core->known & ~LK_HOST_BIT (lead->core->config.self)
                   & ~lead->core->places.arbiters,
        .until_ms = lead->core->now_ms + LK_ALERT_MS,
    };
    raised->alert.incarnation = lead->core->incarnation;
    raised->alert.number = self->raised_count;
    lk_lock_message *message = write_alert (lead, raised);
    lk_out_broadcast (lead->core, message, raised->unaware);
    take (lead, message);
}

void
lk_alert_unsound (lk_leader *lead, uint8_t home)
{
    const lk_table *table = &lead->table;
    uint64_t hash;
    lk_digest_share (table, home, &hash);
    lk_alert_raise (lead,
                    &(lk_msg_alert) {.cause = LK_ALERT_TABLE,
                                     .host = lead->core->config.self,
                                     .home = table->decree.leader[home],
                                     .sequence = table->sequence[home],
                                     .hash = hash,
                                     .expected = lk_digest_sum (table, home)});
}

/*  protocol 9.9 */
void
lk_alert_look (lk_leader *lead)
{
    const lk_table *table = &lead->table;
    uint64_t hash;
    for (uint8_t home = 0; home < table->decree.leader_count; home++) {
        if (table->count <= LK_SOUND_MAX
            && !lk_digest_share (table, home, &hash)) {
            lk_alert_unsound (lead, home);
            return;
        }
    }
}

/*  protocol 8.4 */
void
lk_alert_run (lk_leader *lead)
{
    for (size_t i = 0; i < LK_ALERTS_KEPT; i++) {
        lk_raised *raised = &lead->alerts.raised[i];
        raised->unaware &= ~lead->core->places.arbiters;
        if (raised->alert.number != 0 && raised->unaware != 0
            && lead->core->now_ms < raised->until_ms) {
            lk_out_broadcast (lead->core, write_alert (lead, raised),
                              raised->unaware);
        }
    }
}

void
lk_on_alerted (lk_leader *lead, const lk_lock_message *message)
{
    const lk_msg_alert *alert = &message->as.alert;
    for (size_t i = 0; i < LK_ALERTS_KEPT; i++) {
        lk_raised *raised = &lead->alerts.raised[i];
        if (raised->alert.number == alert->number
            && alert->incarnation == lead->core->incarnation) {
            raised->unaware &= ~LK_HOST_BIT (message->from);
        }
    }
}
