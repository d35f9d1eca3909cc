/*  follow.c - a leader follows the streams of other homes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "home.h"
#include "leader_private.h"

/*  False if its table turned out to be wrong, and is gone. */
static bool
apply_new (lk_leader *lead, const lk_msg_ops *ops)
{
    uint64_t have = lead->table.sequence[ops->home];
    for (size_t i = (size_t) (have - ops->first); i < ops->op_count; i++) {
        lead->shortcut.notices.count = 0;
        lk_home_learn_release (lead, &ops->ops[i]);
        lk_table_apply (&lead->table, ops->home, &ops->ops[i],
                        lead->core->now_ms, &lead->shortcut.notices);
        lk_record_applied (lead, ops->home);
        if (lead->table.unsound) {
            lk_alert_unsound (lead, ops->home);
            return false;
        }
        lead->stream.witnessed[ops->home] |=
            lk_shortcut_applied (lead, ops->home, &ops->ops[i]);
    }
    lk_shortcut_run (lead, ops->home);
    return true;
}

void
lk_on_ops (lk_leader *lead, const lk_lock_message *message)
{
    const lk_msg_ops *ops = &message->as.ops;
    lk_table *table = &lead->table;
    /*  protocol 9.1 */
    if (!lk_term_equal (message->term, table->decree.term)
        || !lk_term_equal (lead->core->facts.promised, message->term)
        || ops->home >= table->decree.leader_count
        || table->decree.leader[ops->home] != message->from
        || message->from == lead->core->config.self || lead->sealed) {
        return;
    }
    /*  protocol 9.2 */
    lk_leader_ready (lead, message->term);
    /*  One whose chain differs says so by what it acknowledges: the home
     *  hears all, and judges. */
    uint64_t have = table->sequence[ops->home];
    bool differs = have == ops->first && table->hash[ops->home] != ops->hash;
    if (!differs && have >= ops->first && have < ops->first + ops->op_count
        && !apply_new (lead, ops)) {
        return;
    }
    lead->stream.unanswered |= (uint8_t) (1u << ops->home);
}
