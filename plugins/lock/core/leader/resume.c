/*  resume.c - a lock goes on when its host's lock service was restarted
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "resume.h"

#include "holders.h"
#include "leader_private.h"

#include <string.h>

static bool
is_later (const lk_ticket *held, const lk_ticket *asking)
{
    return held->request.host == asking->request.host
           && held->request.session < asking->request.session;
}

/*  Others may have the key as well; but who takes the lock over must be who
 *  believes in it. Protocol 9.13: A restart. */
bool
lk_resume_is_own (const lk_ticket *held, const lk_ticket *asking)
{
    return is_later (held, asking) && held->owner.size > 0
           && held->owner.size == asking->owner.size
           && memcmp (held->owner.data, asking->owner.data, held->owner.size)
                  == 0;
}

/*  An heir had it from an application that was gone, which its home does not
 *  know: the ticket names that one. Protocol 9.13: A restart. */
lk_entry *
lk_resume_find (const lk_leader *lead, const lk_msg_request *request)
{
    const lk_ticket *asking = &request->ticket;
    lk_queue *queue = lk_table_queue (&lead->table, asking->object);
    lk_entry *entry = queue ? lk_holder_by_key (queue, asking->key) : NULL;
    if (!entry) {
        return NULL;
    }
    const lk_ticket held = lk_entry_ticket (entry);
    bool is_its = request->heir ? is_later (&held, asking)
                                : lk_resume_is_own (&held, asking);
    return is_its ? entry : NULL;
}

/*  Of an upgrade that was granted, or a downgrade that was not yet, nobody may
 *  have heard; it goes on as the shared lock that its application knows.
 *  Protocol 9.13: A restart. */
static bool
fits (const lk_entry *held, const lk_ticket *asking)
{
    const lk_lock_type type = asking->mode.type;
    const bool changed = held->turn > 0 && asking->token < held->token;
    return !held->is_static && (held->token == asking->token || changed)
           && (type == (lk_lock_type) held->type
               || (type == LK_SHARED && held->type == LK_EXCLUSIVE));
}

/*  protocol 9.13: A restart */
void
lk_resume_order (lk_leader *lead, const lk_msg_request *request)
{
    const lk_ticket *asking = &request->ticket;
    const lk_entry *own = lk_home_find (lead, asking);
    const bool is_proved = own && own->token != 0 && !own->unproved;
    const lk_entry *former = lk_resume_find (lead, request);
    if (own) {
        former = own->unproved ? own : NULL;
    }
    if (is_proved) {
        lk_home_confirm (lead, asking, own);
    } else if (former && fits (former, asking)) {
        lk_op op = lk_op_about (LK_OP_RESUME, asking);
        op.by = lk_entry_request (former);
        op.ticket.mode.type = asking->mode.type;
        op.ticket.age_ms = lk_home_told_age (lead, former);
        lk_stream_append (lead, &op);
    } else {
        lk_home_refuse (lead, asking, LK_UNKNOWN);
    }
}
