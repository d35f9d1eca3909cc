/*  release.c - how a home takes tickets back
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  UNLOCK by the holder, by whoever has the key, by an operator (taking.c); and
 *  LOCKCHECK, which only looks. lockkeeper-protocol(7), 9.11.
 */

#include "home.h"
#include "leader_private.h"
#include "ousted.h"
#include "resume.h"

/*  What it wanted to resume: that LOCK may come later, or not at all.
 *  Protocol 9.13: A restart. */
static lk_entry *
take_former (lk_leader *lead, const lk_msg_request *request)
{
    lk_entry *former = lk_resume_find (lead, request);
    if (former) {
        lk_home_mark (lead, former, request->ticket.request, true);
    }
    return former;
}

/*  It was said by another host, whose LOCK may come later.
 *  Protocol 9.20: Moving. */
static lk_entry *
take_far (lk_leader *lead, const lk_msg_request *request)
{
    lk_entry *entry = lk_home_find_far (lead, &request->ticket);
    if (entry) {
        lk_home_mark (lead, entry, request->ticket.request, true);
    }
    return entry;
}

/*  -------------------------------------------------------- messages */

void
lk_on_unlock (lk_leader *lead, const lk_lock_message *message)
{
    const lk_msg_request *request = &message->as.request;
    if (!lk_home_may_act (lead, message)) {
        return;
    }
    if (request->force) {
        lk_home_unlock_by_force (lead, request);
        return;
    }
    if (request->by_key) {
        lk_home_unlock_by_key (lead, request);
        return;
    }
    lk_entry *entry = lk_home_find (lead, &request->ticket);
    if (request->ticket.remote.number != 0) {
        entry = entry ? entry : take_far (lead, request);
        lk_home_note_end_far (&lead->home, &request->ticket.remote);
    } else if (!entry && request->resume) {
        entry = take_former (lead, request);
    }
    /*  protocol 9.13 */
    bool stays = entry && request->keep && entry->kept;
    if (!stays) {
        lk_home_note_end (&lead->home, request->ticket.request);
        lk_ousted_heard (&lead->home.ousted, request->ticket.request);
    }
    if (entry && !stays) {
        lk_home_drop (lead, entry);
    } else {
        lk_home_confirm (lead, &request->ticket, NULL);
    }
}

/*  It is told once all leaders have the operation: a home that was deposed has
 *  its lease for a while, and does not know what others granted since. In a
 *  reclaim a home does not know yet who holds what. Protocol 9.11. */
void
lk_on_check (lk_leader *lead, const lk_lock_message *message)
{
    const lk_msg_check *check = &message->as.check;
    const lk_table *table = &lead->table;
    int own = lk_leader_place (lead);
    if (!lk_leader_is_serving (lead) || lead->stream.count >= LK_STREAM_MAX
        || check->request.host != lk_origin (message)
        || lk_table_home (table, check->object) != own
        || lk_table_reclaims (table, own)) {
        return;
    }
    const lk_ticket about = {.request = check->request,
                             .object = check->object};
    lk_op op = lk_op_about (LK_OP_CHECK, &about);
    op.ticket.token = check->token;
    lk_stream_append (lead, &op);
}
