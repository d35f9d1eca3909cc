/*  doorway.c - takeover, seen from the first leader
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What the holder and the other leaders do is in transfer.c.
 */

#include "doorway.h"

#include "digest.h"
#include "election_private.h"
#include "transfer.h"

#include <string.h>

#define REPEAT_MS 200

void
lk_doorway_init (lk_doorway *self)
{
    memset (self, 0, sizeof *self);
    self->proposer = LK_NOBODY;
    lk_table_init (&self->incoming);
    lk_table_init (&self->staging);
}

void
lk_doorway_clear (lk_doorway *self)
{
    lk_table_clear (&self->incoming);
    lk_table_clear (&self->staging);
}

bool
lk_doorway_is_busy (const lk_election *election)
{
    return election->doorway.state != LK_DOORWAY_IDLE
           && election->doorway.state != LK_DOORWAY_PASSED;
}

static lk_term
own_term (const lk_doorway *self)
{
    return self->order.decree.term;
}

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
    message->term = own_term (self);
    lk_out_broadcast (election->core, message,
                      others (election) & ~self->entered);
}

static void
send_getmax (lk_election *election)
{
    lk_doorway *self = &election->doorway;
    lk_lock_message *message = lk_out_message (election->core, LK_MSG_GETMAX);
    message->term = own_term (self);
    message->as.getmax.previous = self->order.previous;
    message->as.getmax.chunk = self->next_chunk;
    lk_out_send (election->core, message, self->order.holder);
}

static lk_lock_message *
make_fill (lk_election *election)
{
    lk_lock_message *message = lk_out_message (election->core, LK_MSG_FILL);
    message->term = own_term (&election->doorway);
    message->as.chunk.decree = election->doorway.order.decree;
    return message;
}

static void
send_offer (lk_election *election, size_t place)
{
    lk_doorway *self = &election->doorway;
    lk_lock_message *message = make_fill (election);
    message->as.chunk.offer = self->offer;
    lk_out_send (election->core, message, self->order.decree.leader[place]);
}

/*  What follows those that are under way. */
static void
send_chunk (lk_election *election, size_t place)
{
    lk_doorway *self = &election->doorway;
    lk_fill *fill = &self->fill[place];
    const lk_fill_sent *last =
        fill->sent_count > 0 ? &fill->sent[fill->sent_count - 1] : NULL;
    lk_lock_message *message = make_fill (election);
    lk_msg_chunk *chunk = &message->as.chunk;
    lk_transfer_chunk (election, last ? last->next : fill->chunk, chunk);
    fill->sent[fill->sent_count++] = (lk_fill_sent) {
        .chunk = chunk->chunk,
        .next = lk_transfer_next (chunk),
        .hash = lk_transfer_hash (last ? last->hash : fill->hash, chunk)};
    lk_out_send (election->core, message, self->order.decree.leader[place]);
}

/*  Whether the table has more than what is under way, or nothing is: of an
 *  empty table there is one chunk. */
static bool
lacks_more (const lk_election *election, const lk_fill *fill)
{
    return fill->sent_count == 0
           || fill->sent[fill->sent_count - 1].next
                  < lk_leader_table (election->leader)->count;
}

/*  As many as may be under way. Protocol 9.6. */
static void
send_chunks (lk_election *election, size_t place)
{
    lk_fill *fill = &election->doorway.fill[place];
    while (fill->sent_count < LK_FILL_WINDOW && lacks_more (election, fill)) {
        send_chunk (election, place);
    }
}

/*  For the first time, or once more. */
static void
send_fills (lk_election *election)
{
    lk_doorway *self = &election->doorway;
    for (size_t place = 0; place < self->order.decree.leader_count; place++) {
        lk_fill *fill = &self->fill[place];
        if (lk_hosts_has (self->filled, self->order.decree.leader[place])) {
            continue;
        }
        if (fill->offered) {
            send_offer (election, place);
        } else {
            fill->sent_count = 0;
            send_chunks (election, place);
        }
    }
}

static void
send_exiting (lk_election *election)
{
    lk_lock_message *message = lk_out_message (election->core, LK_MSG_EXITING);
    message->term = own_term (&election->doorway);
    lk_out_send (election->core, message, election->doorway.proposer);
}

static void
enter_state (lk_election *election, lk_doorway_state state)
{
    static void (*const send[LK_DOORWAY_STATES]) (lk_election *) = {
        [LK_DOORWAY_ENTERING] = send_entering,
        [LK_DOORWAY_GETTING] = send_getmax,
        [LK_DOORWAY_FILLING] = send_fills,
        [LK_DOORWAY_PASSED] = send_exiting,
    };
    election->doorway.state = state;
    election->doorway.sent_ms = election->core->now_ms;
    if (send[state]) {
        send[state](election);
    }
}

static void
leave (lk_election *election)
{
    lk_table_clear (&election->doorway.incoming);
    enter_state (election, LK_DOORWAY_IDLE);
}

void
lk_doorway_run (lk_election *election)
{
    lk_doorway *self = &election->doorway;
    if (!lk_doorway_is_busy (election)) {
        return;
    }
    if (!lk_term_equal (election->core->facts.promised, own_term (self))) {
        leave (election);
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
    message->term = own_term (self);
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

/*  The tickets are here, in `source`: our own table, a holder's, or none. They
 *  become the table of the new decree, and a reclaim that was not over begins
 *  again. Protocol 9.6, 9.7. */
static void
take_tickets (lk_election *election, lk_table *source)
{
    lk_doorway *self = &election->doorway;
    const lk_decree *decree = &self->order.decree;
    bool is_reclaim = decree->reclaim || source->reclaim;
    bool is_offered =
        source == lk_leader_table (election->leader) && !is_reclaim;
    lk_table table;
    self->offer = is_offered ? lk_digest_mark (source) : 0;
    lk_table_init (&table);
    lk_table_move (&table, source);
    lk_table_carry_over (&table, decree, election->core->now_ms);
    table.reclaim =
        is_reclaim ? (uint8_t) ((1u << decree->leader_count) - 1) : 0;
    lk_leader_install (election->leader, &table);
    lk_table_clear (&self->incoming);
    for (size_t place = 0; place < LK_LEADERS_MAX; place++) {
        self->fill[place] = (lk_fill) {.offered = is_offered};
    }
    self->filled = LK_HOST_BIT (election->core->config.self);
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
        take_tickets (election, &none);
    } else if (order->holder != election->core->config.self) {
        self->next_chunk = 0;
        enter_state (election, LK_DOORWAY_GETTING);
    } else if (lk_table_is_filled (lk_leader_table (election->leader))
               && lk_term_compare (lk_leader_decree (election->leader)->term,
                                   order->previous)
                      >= 0) {
        take_tickets (election, lk_leader_table (election->leader));
    } else {
        leave (election);
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
    bool again = lk_term_equal (own_term (self), message->term);
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
    memset (self->fill, 0, sizeof self->fill);
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
        || !lk_term_equal (message->term, own_term (self))
        || !lk_term_equal (election->core->facts.promised, own_term (self))) {
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
        || !lk_term_equal (message->term, own_term (self))
        || !lk_term_equal (election->core->facts.promised, own_term (self))
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
        leave (election);
        return;
    }
    lk_transfer_take (election, &self->incoming, chunk);
    self->next_chunk = lk_transfer_next (chunk);
    if (chunk->more) {
        enter_state (election, LK_DOORWAY_GETTING);
    } else {
        take_tickets (election, &self->incoming);
    }
}

/*  -------------------------------------------------------- filling */

/*  It has the very table, or gets all of it. Protocol 9.6. */
static void
hear_of_offer (lk_election *election, int place, const lk_msg_filled *filled)
{
    lk_doorway *self = &election->doorway;
    if (filled->offer != self->offer) {
        return;
    }
    if (filled->hash == self->offer) {
        self->filled |= LK_HOST_BIT (self->order.decree.leader[place]);
        pass_if_filled (election);
    } else {
        self->fill[place].offered = false;
        send_chunks (election, (size_t) place);
    }
}

static void
raise_alert (lk_election *election, lk_host host, const lk_fill_sent *sent,
             uint64_t hash)
{
    lk_alert_raise (election->leader,
                    &(lk_msg_alert) {.cause = LK_ALERT_FILLING,
                                     .host = host,
                                     .home = election->core->config.self,
                                     .sequence = sent->chunk,
                                     .hash = hash,
                                     .expected = sent->hash});
}

/*  It has that one and those before it: the hash is of all. Protocol 9.6. */
static void
drop_taken (lk_fill *fill, size_t count)
{
    const lk_fill_sent *last = &fill->sent[count - 1];
    fill->chunk = last->next;
    fill->hash = last->hash;
    fill->sent_count -= count;
    memmove (fill->sent, fill->sent + count,
             fill->sent_count * sizeof *fill->sent);
}

static void
hear_of_chunk (lk_election *election, int place, const lk_msg_filled *filled)
{
    lk_doorway *self = &election->doorway;
    lk_fill *fill = &self->fill[place];
    const lk_host host = self->order.decree.leader[place];
    size_t at = 0;
    while (at < fill->sent_count && fill->sent[at].chunk != filled->chunk) {
        at++;
    }
    if (filled->offer != 0 || at == fill->sent_count) {
        return;
    }
    /*  protocol 9.9 */
    if (fill->sent[at].hash != filled->hash) {
        raise_alert (election, host, &fill->sent[at], filled->hash);
        leave (election);
        return;
    }
    drop_taken (fill, at + 1);
    self->sent_ms = election->core->now_ms; /* it goes on */
    if (fill->chunk < lk_leader_table (election->leader)->count) {
        send_chunks (election, (size_t) place);
    } else {
        self->filled |= LK_HOST_BIT (host);
        pass_if_filled (election);
    }
}

void
lk_on_filled (lk_election *election, const lk_lock_message *message)
{
    lk_doorway *self = &election->doorway;
    int place = lk_decree_place (&self->order.decree, message->from);
    if (self->state != LK_DOORWAY_FILLING || place < 0
        || !lk_term_equal (message->term, own_term (self))
        || !lk_term_equal (election->core->facts.promised, own_term (self))
        || lk_hosts_has (self->filled, message->from)) {
        return;
    }
    if (self->fill[place].offered) {
        hear_of_offer (election, place, &message->as.filled);
    } else {
        hear_of_chunk (election, place, &message->as.filled);
    }
}

void
lk_doorway_retired (lk_election *election, lk_term term)
{
    if (lk_doorway_is_busy (election)
        && lk_term_equal (term, own_term (&election->doorway))) {
        leave (election);
    }
}

void
lk_doorway_desist (lk_election *election, const lk_lock_message *message)
{
    lk_doorway *self = &election->doorway;
    if (!lk_doorway_is_busy (election)
        || !lk_term_equal (message->term, own_term (self))) {
        return;
    }
    lk_lock_message *answer = lk_out_message (election->core, LK_MSG_DESIST);
    answer->term = message->term;
    answer->as.desist = message->as.desist;
    lk_out_send (election->core, answer, self->proposer);
    leave (election);
}
