/*  claim.c - a request of an application on another machine moves
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Its ticket is that of the latest registration, whichever host has that. This
 *  is the home's part; lockkeeper-protocol(7), 9.20.
 */

#include "home.h"
#include "leader_private.h"
#include "util/hash.h"

/*  -------------------------------------------------------- what has ended */

/*  Serials follow each other: of one application's requests many have a
 *  place. */
static size_t
place_of (const lk_far_id *remote)
{
    return (size_t) (remote->serial
                     + lk_hash_mix (remote->owner[0], remote->owner[1]))
           % LK_ENDED_KEPT;
}

static bool
is_same (const lk_far_id *one, const lk_far_id *other)
{
    return one->number != 0 && one->serial == other->serial
           && one->owner[0] == other->owner[0]
           && one->owner[1] == other->owner[1];
}

bool
lk_home_has_ended_far (const lk_home *self, const lk_far_id *remote)
{
    const lk_far_id *ended =
        self->ended_far ? &self->ended_far[place_of (remote)] : NULL;
    return ended && is_same (ended, remote) && ended->number >= remote->number;
}

/*  protocol 9.20: Moving */
void
lk_home_note_end_far (lk_home *self, const lk_far_id *remote)
{
    if (!self->ended_far) {
        self->ended_far = lk_alloc (LK_ENDED_KEPT * sizeof *self->ended_far);
    }
    lk_far_id *ended = &self->ended_far[place_of (remote)];
    if (!is_same (ended, remote) || ended->number < remote->number) {
        *ended = *remote;
    }
}

/*  -------------------------------------------------------- who may have it */

/*  An UNLOCK of an earlier registration is late. Protocol 9.20: Moving. */
lk_entry *
lk_home_find_far (const lk_leader *lead, const lk_ticket *ticket)
{
    lk_entry *entry =
        lk_table_find_remote (&lead->table, &ticket->remote, ticket->object);
    const lk_far *far = entry ? lk_entry_far (entry) : NULL;
    return far && far->id.number <= ticket->remote.number ? entry : NULL;
}

/*  A claim of a held lock is of that grant, whose type may have been changed
 *  since; a claim of a place in the queue has what came of that. A static lock
 *  that its application knows of does not move.
 *  Protocol 9.20: Moving, Not moved. */
static bool
fits (const lk_entry *former, const lk_msg_request *request)
{
    const lk_ticket *asking = &request->ticket;
    const lk_lock_type type = asking->mode.type;
    const bool changed = former->turn > 0 && asking->token < former->token;
    if (!request->resume) {
        return !former->unproved;
    }
    return !former->kept && former->token != 0
           && (former->token == asking->token || changed)
           && (type == (lk_lock_type) former->type
               || (type == LK_SHARED && former->type == LK_EXCLUSIVE));
}

/*  By an operation, since a takeover may undo what it follows from: the host
 *  forgets the request then. Protocol 9.20: Moving. */
static void
confirm_moved (lk_leader *lead, const lk_ticket *asking)
{
    lk_op op = lk_op_about (LK_OP_CONFIRM, asking);
    op.ticket.remote = asking->remote;
    lk_stream_append (lead, &op);
}

static void
order_move (lk_leader *lead, const lk_msg_request *request,
            const lk_entry *former)
{
    lk_op op = lk_op_about (LK_OP_RESUME, &request->ticket);
    op.by = lk_entry_request (former);
    op.ticket.remote = request->ticket.remote;
    op.ticket.owner = request->ticket.owner;
    op.ticket.pid = request->ticket.pid;
    op.ticket.mode.type = request->resume ? request->ticket.mode.type
                                          : (lk_lock_type) former->type;
    op.ticket.age_ms = former->token ? lk_home_told_age (lead, former) : 0;
    lk_stream_append (lead, &op);
}

/*  Nothing is there: it may have been reported by nobody yet. */
static bool
miss (lk_leader *lead, const lk_msg_request *request)
{
    if (lk_home_has_ended_far (&lead->home, &request->ticket.remote)) {
        confirm_moved (lead, &request->ticket);
        return true;
    }
    if (request->resume
        && !lk_table_reclaims (&lead->table, lk_leader_place (lead))) {
        lk_home_refuse (lead, &request->ticket, LK_UNKNOWN);
    }
    return request->resume;
}

/*  protocol 9.20: Moving */
bool
lk_home_claims (lk_leader *lead, const lk_msg_request *request)
{
    const lk_ticket *asking = &request->ticket;
    const lk_entry *former =
        lk_table_find_remote (&lead->table, &asking->remote, asking->object);
    if (!former) {
        return miss (lead, request);
    }
    if (former == lk_home_find (lead, asking)) {
        if (request->resume && former->token != 0) {
            lk_home_confirm (lead, asking, former);
        }
        return request->resume; /* else it is said again */
    }
    if (lk_entry_far (former)->id.number >= asking->remote.number) {
        confirm_moved (lead, asking);
    } else if (fits (former, request)) {
        order_move (lead, request, former);
    } else if (!former->unproved) {
        lk_home_refuse (lead, asking, LK_UNKNOWN);
    }
    return true;
}
