/*  takeover.c - the steps through the doorway, of the first leader
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Filling is in doorway_fill.c; what the holder and the other leaders do, in
 *  transfer.c.
 */

#include "digest.h"
#include "doorway_fill.h"
#include "election_private.h"
#include "transfer.h"

#include <string.h>

#define REPEAT_MS 200

/*  -------------------------------------------------------- steps */

/*  The holder and all new leaders but ourselves. */
static lk_hosts
others (const lk_election *election)
{
    const lk_msg_decree *order = &election->doorway.order;
    lk_hosts hosts = lk_decree_leaders (&order->decree);
    if (order->holder != LK_NOBODY) {
        hosts |= LK_HOST_BIT (order->holder);
    }
    return hosts & ~LK_HOST_BIT (election->core->config.self);
}

static void
send_entering (lk_election *election)
{
    lk_doorway *self = &election->doorway;
    lk_lock_message *message = lk_out_message (election->core, LK_MSG_ENTERING);
    message->term = lk_doorway_term (self);
    lk_out_broadcast (election->core, message,
                      others (election) & ~self->entered);
}

static void
send_getmax (lk_election *election)
{
    lk_doorway *self = &election->doorway;
    lk_lock_message *message = lk_out_message (election->core, LK_MSG_GETMAX);
    message->term = lk_doorway_term (self);
    message->as.getmax.previous = self->order.previous;
    message->as.getmax.chunk = self->next_chunk;
    lk_out_send (election->core, message, self->order.holder);
}

static void
send_exiting (lk_election *election)
{
    lk_lock_message *message = lk_out_message (election->core, LK_MSG_EXITING);
    message->term = lk_doorway_term (&election->doorway);
    lk_out_send (election->core, message, election->doorway.proposer);
}

static void
enter_state (lk_election *election, lk_doorway_state state)
{
    static void (*const send[LK_DOORWAY_STATES]) (lk_election *) = {
        [LK_DOORWAY_ENTERING] = send_entering,
        [LK_DOORWAY_GETTING] = send_getmax,
        [LK_DOORWAY_FILLING] = lk_fill_send,
        [LK_DOORWAY_PASSED] = send_exiting,
    };
    election->doorway.state = state;
    election->doorway.sent_ms = election->core->now_ms;
    if (send[state]) {
        send[state](election);
    }
}

void
lk_doorway_run (lk_election *election)
{
    lk_doorway *self = &election->doorway;
    if (!lk_doorway_is_busy (election)) {
        return;
    }
    if (!lk_term_equal (election->core->facts.promised,
                        lk_doorway_term (self))) {
        lk_doorway_leave (election);
    } else if (election->core->now_ms - self->sent_ms > REPEAT_MS) {
        enter_state (election, self->state);
    }
}

/*  How far it has come: grows with each answer of the others. */
static uint64_t
progress (const lk_doorway *self)
{
    uint64_t steps = self->state + self->next_chunk
                     + (uint64_t) lk_hosts_count (self->entered)
                     + (uint64_t) lk_hosts_count (self->filled);
    for (size_t place = 0; place < LK_LEADERS_MAX; place++) {
        steps += self->fill[place].chunk;
    }
    return steps;
}

static void
send_progress (lk_election *election)
{
    lk_doorway *self = &election->doorway;
    lk_lock_message *message = lk_out_message (election->core, LK_MSG_ENTERED);
    message->term = lk_doorway_term (self);
    message->as.entered.holds = lk_doorway_holds (election);
    message->as.entered.holds.length = progress (self);
    lk_out_send (election->core, message, self->proposer);
}

/*  -------------------------------------------------------- entering */

static void
pass_if_filled (lk_election *election)
{
    lk_doorway *self = &election->doorway;
    if ((lk_decree_leaders (&self->order.decree) & ~self->filled) == 0) {
        enter_state (election, LK_DOORWAY_PASSED);
    }
}

static uint8_t
all_homes (const lk_decree *decree)
{
    return (uint8_t) ((1u << decree->leader_count) - 1);
}

/*  A table that has to be on disk is not filled before. Protocol 9.18. */
static lk_hosts
own_if_whole (const lk_election *election)
{
    return lk_record_is_whole (election->leader)
               ? LK_HOST_BIT (election->core->config.self)
               : 0;
}

/*  The tickets are here, in `source`: our own table, a holder's, or none. They
 *  become the table of the new decree, and a reclaim that was not over begins
 *  again. Protocol 9.6, 9.7. */
static void
take_tickets (lk_election *election, lk_table *source, lk_table_source from)
{
    lk_doorway *self = &election->doorway;
    const lk_decree *decree = &self->order.decree;
    bool is_reclaim = decree->reclaim || source->reclaim;
    const bool is_own = source == lk_leader_table (election->leader);
    /*  protocol 9.18 */
    const bool is_offered =
        is_own && !is_reclaim && !lk_leader_is_sealed (election->leader);
    lk_table table;
    self->offer = is_offered ? lk_digest_mark (source) : 0;
    lk_table_init (&table);
    lk_table_move (&table, source);
    lk_table_carry_over (&table, decree, election->core->now_ms);
    table.reclaim = is_reclaim ? all_homes (decree) : 0;
    lk_leader_install (election->leader, &table, from);
    lk_table_clear (&self->incoming);
    lk_doorway_forget_fills (self);
    for (size_t place = 0; place < LK_LEADERS_MAX; place++) {
        self->fill[place].offered = is_offered;
    }
    self->filled = own_if_whole (election);
    enter_state (election, LK_DOORWAY_FILLING);
    pass_if_filled (election);
}

/*  protocol 9.6 */
static void
get_tickets (lk_election *election)
{
    lk_doorway *self = &election->doorway;
    const lk_msg_decree *order = &self->order;
    if (order->holder == LK_NOBODY) {
        lk_table none;
        lk_table_init (&none);
        take_tickets (election, &none, LK_TABLE_NEW);
    } else if (order->holder != election->core->config.self) {
        self->next_chunk = 0;
        enter_state (election, LK_DOORWAY_GETTING);
    } else if (lk_table_is_filled (lk_leader_table (election->leader))
               && lk_term_compare (lk_leader_decree (election->leader)->term,
                                   order->previous)
                      >= 0) {
        take_tickets (election, lk_leader_table (election->leader),
                      LK_TABLE_OWN);
    } else {
        lk_doorway_leave (election);
    }
}

void
lk_on_elected (lk_election *election, const lk_lock_message *message)
{
    lk_doorway *self = &election->doorway;
    if (!lk_promise_fits (election, message->term)) {
        lk_desist (election, message);
        return;
    }
    /*  protocol 9.6 */
    if (!lk_may_lead (election, message->term)
        || lk_decree_place (&message->as.decree.decree,
                            election->core->config.self)
               != 0) {
        return;
    }
    lk_promise (election, message->term);
    bool again = lk_term_equal (lk_doorway_term (self), message->term);
    if (again && self->state == LK_DOORWAY_PASSED) {
        send_exiting (election);
    }
    if (again && self->state != LK_DOORWAY_IDLE) {
        send_progress (election);
        return;
    }
    /*  protocol 9.6 */
    if (lk_term_equal (lk_leader_decree (election->leader)->term,
                       message->term)) {
        return; /* there is no refilling within a term */
    }
    self->order = message->as.decree;
    self->proposer = message->from;
    self->entered = 0;
    self->filled = 0;
    self->next_chunk = 0;
    lk_doorway_forget_fills (self);
    enter_state (election, LK_DOORWAY_ENTERING);
    if (others (election) == 0) {
        get_tickets (election);
    }
}

void
lk_on_entered (lk_election *election, const lk_lock_message *message)
{
    lk_doorway *self = &election->doorway;
    lk_election_progress (election, message);
    if (self->state != LK_DOORWAY_ENTERING
        || !lk_term_equal (message->term, lk_doorway_term (self))
        || !lk_term_equal (election->core->facts.promised,
                           lk_doorway_term (self))) {
        return;
    }
    self->entered |= LK_HOST_BIT (message->from);
    if ((others (election) & ~self->entered) == 0) {
        get_tickets (election);
    }
}

void
lk_on_maxticket (lk_election *election, const lk_lock_message *message)
{
    lk_doorway *self = &election->doorway;
    const lk_msg_chunk *chunk = &message->as.chunk;
    if (self->state != LK_DOORWAY_GETTING || message->from != self->order.holder
        || !lk_term_equal (message->term, lk_doorway_term (self))
        || !lk_term_equal (election->core->facts.promised,
                           lk_doorway_term (self))
        || chunk->chunk != self->next_chunk) {
        return;
    }
    if (chunk->chunk == 0) {
        self->holder_table = chunk->table;
        self->holder_incarnation = chunk->incarnation;
        lk_table_clear (&self->incoming);
        lk_table_begin (&self->incoming, &self->order.decree);
    } else if (!lk_term_equal (chunk->table, self->holder_table)
               || chunk->incarnation != self->holder_incarnation) {
        /*  protocol 9.6 */
        lk_doorway_leave (election);
        return;
    }
    /*  protocol 9.18 */
    if (chunk->late && !self->order.decree.reclaim) {
        lk_doorway_leave (election);
        return;
    }
    lk_transfer_take (election, &self->incoming, chunk);
    lk_record_part (election->leader, chunk->chunk == 0, chunk->tickets,
                    chunk->ticket_count);
    if (self->incoming.reclaim != 0) {
        /*  it names homes of the former decree; protocol 9.7 */
        self->incoming.reclaim = all_homes (&self->order.decree);
    }
    self->next_chunk = lk_transfer_next (chunk);
    if (chunk->more) {
        enter_state (election, LK_DOORWAY_GETTING);
    } else {
        take_tickets (election, &self->incoming, LK_TABLE_PARTS);
    }
}

/*  -------------------------------------------------------- filling */

void
lk_doorway_recorded (lk_election *election)
{
    lk_doorway *self = &election->doorway;
    if (!lk_record_is_whole (election->leader)) {
        return;
    }
    lk_transfer_recorded (election);
    const lk_term term = lk_leader_decree (election->leader)->term;
    if (self->state == LK_DOORWAY_FILLING
        && lk_term_equal (term, lk_doorway_term (self))
        && lk_term_equal (term, election->core->facts.promised)) {
        self->filled |= LK_HOST_BIT (election->core->config.self);
        pass_if_filled (election);
    }
}

void
lk_on_filled (lk_election *election, const lk_lock_message *message)
{
    lk_doorway *self = &election->doorway;
    int place = lk_decree_place (&self->order.decree, message->from);
    if (self->state != LK_DOORWAY_FILLING || place < 0
        || !lk_term_equal (message->term, lk_doorway_term (self))
        || !lk_term_equal (election->core->facts.promised,
                           lk_doorway_term (self))
        || lk_hosts_has (self->filled, message->from)) {
        return;
    }
    if (lk_fill_hear (election, place, &message->as.filled)) {
        self->filled |= LK_HOST_BIT (message->from);
        pass_if_filled (election);
    }
}
