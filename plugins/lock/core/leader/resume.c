/*  resume.c - a lock goes on when its host's lock service was restarted
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "resume.h"

#include "holders.h"
#include "leader_private.h"

#include <string.h>

#define LOOKS_MAX 256 /* at those that wait, for one that asks */

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

/*  By an operation, with token and place. */
static void
go_over (lk_leader *lead, const lk_ticket *asking, const lk_entry *former)
{
    lk_op op = lk_op_about (LK_OP_RESUME, asking);
    op.by = lk_entry_request (former);
    op.ticket.mode.type = asking->mode.type;
    op.ticket.age_ms = former->token ? lk_home_told_age (lead, former) : 0;
    lk_stream_append (lead, &op);
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
        go_over (lead, asking, former);
    } else {
        lk_home_refuse (lead, asking, LK_UNKNOWN);
    }
}

/*  -------------------------------------------------------- who waits */

/*  Whether the home has tickets of a former session of that host: not once the
 *  one before is closed, as it mostly is. */
static bool
has_former (const lk_leader *lead, lk_request_id asking)
{
    const uint64_t before = asking.session - 1;
    const lk_group *group = lead->table.groups;
    if (before <= lk_table_gone (&lead->table, asking.host)
        || before <= lead->core->peer[asking.host].closed) {
        return false;
    }
    while (group
           && (group->id[0] != asking.host || group->id[1] >= asking.session
               || group->own == 0)) {
        group = group->hh.next;
    }
    return group != NULL;
}

static bool
is_same_wish (const lk_ticket *one, const lk_ticket *other)
{
    return one->duration_ms == other->duration_ms && one->pid == other->pid
           && one->mode.type == other->mode.type
           && one->mode.soft == other->mode.soft
           && one->mode.quiet_ms == other->mode.quiet_ms
           && one->mode.limit == other->mode.limit
           && one->mode.lenient == other->mode.lenient
           && one->mode.is_static == other->mode.is_static;
}

/*  The first such one in the queue. None of those that hold it: which of these
 *  the application believes in is not known here. */
static const lk_entry *
find_place (const lk_leader *lead, const lk_ticket *asking)
{
    const lk_queue *queue = has_former (lead, asking->request)
                                ? lk_table_queue (&lead->table, asking->object)
                                : NULL;
    const lk_entry *entry = queue ? queue->waiting : NULL;
    for (int looks = 0; entry && looks < LOOKS_MAX; looks++) {
        const lk_ticket waiting = lk_entry_ticket (entry);
        if (entry->number != 0 && entry->rest == 0 && !entry->is_far
            && lk_resume_is_own (&waiting, asking)
            && is_same_wish (&waiting, asking)) {
            return entry;
        }
        entry = entry->next;
    }
    return NULL;
}

/*  protocol 9.13: A restart */
bool
lk_resume_place (lk_leader *lead, const lk_msg_request *request)
{
    const lk_ticket *asking = &request->ticket;
    if (!request->queue || request->rest_count > 0
        || asking->remote.number != 0) {
        return false;
    }
    const lk_entry *former = find_place (lead, asking);
    if (former) {
        go_over (lead, asking, former);
    }
    return former != NULL;
}
