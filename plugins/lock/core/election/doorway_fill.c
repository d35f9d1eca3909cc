/*  doorway_fill.c - the first leader fills the tables of the others
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "doorway_fill.h"

#include "election_private.h"
#include "transfer.h"

#include <string.h>

/*  -------------------------------------------------------- sending */

static lk_lock_message *
make_fill (lk_election *election)
{
    lk_lock_message *message = lk_out_message (election->core, LK_MSG_FILL);
    message->term = lk_doorway_term (&election->doorway);
    message->as.chunk.decree = election->doorway.order.decree;
    return message;
}

static void
send_offer (lk_election *election, size_t place)
{
    lk_doorway *self = &election->doorway;
    lk_lock_message *message = make_fill (election);
    message->as.chunk.offer = self->offer;
    message->as.chunk.sums =
        lk_slices_sums (lk_leader_table (election->leader));
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
    lk_transfer_chunk (election, fill->some ? &fill->listing : NULL,
                       last ? last->next : fill->chunk, chunk);
    chunk->onto = fill->some ? self->offer : 0;
    fill->sent[fill->sent_count++] = (lk_fill_sent) {
        .chunk = chunk->chunk,
        .next = lk_transfer_next (chunk),
        .hash = lk_transfer_hash (last ? last->hash : fill->hash, chunk),
        .more = chunk->more};
    lk_out_send (election->core, message, self->order.decree.leader[place]);
}

/*  Whether there is more than what is under way, or nothing is: of an empty
 *  table there is one chunk. */
static bool
lacks_more (const lk_fill *fill)
{
    return fill->sent_count == 0 || fill->sent[fill->sent_count - 1].more;
}

/*  As many as may be under way. Protocol 9.6. */
static void
send_chunks (lk_election *election, size_t place)
{
    lk_fill *fill = &election->doorway.fill[place];
    while (fill->sent_count < LK_FILL_WINDOW && lacks_more (fill)) {
        send_chunk (election, place);
    }
}

void
lk_fill_send (lk_election *election)
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

/*  -------------------------------------------------------- hearing */

/*  It has the very table, or gets what it lacks of it. Protocol 9.6. */
static bool
hear_of_offer (lk_election *election, int place, const lk_msg_filled *filled)
{
    lk_doorway *self = &election->doorway;
    if (filled->offer != self->offer) {
        return false;
    }
    if (filled->hash == self->offer) {
        return true;
    }
    self->fill[place].offered = false;
    self->fill[place].some = filled->has_lacks;
    self->fill[place].listing.slices = filled->lacks;
    send_chunks (election, (size_t) place);
    return false;
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

/*  With the slices that it was sent it has not what was offered, or its own
 *  table went meanwhile: it gets all. Protocol 9.6. */
static void
fill_whole (lk_election *election, int place)
{
    lk_fill *fill = &election->doorway.fill[place];
    lk_slices_listing_clear (&fill->listing);
    *fill = (lk_fill) {.some = false};
    send_chunks (election, (size_t) place);
}

static bool
hear_of_chunk (lk_election *election, int place, const lk_msg_filled *filled)
{
    lk_doorway *self = &election->doorway;
    lk_fill *fill = &self->fill[place];
    size_t at = 0;
    if (fill->some && filled->offer == self->offer && !filled->has_lacks) {
        fill_whole (election, place);
        return false;
    }
    while (at < fill->sent_count && fill->sent[at].chunk != filled->chunk) {
        at++;
    }
    if (filled->offer != 0 || at == fill->sent_count) {
        return false;
    }
    /*  protocol 9.9 */
    if (fill->sent[at].hash != filled->hash) {
        raise_alert (election, self->order.decree.leader[place],
                     &fill->sent[at], filled->hash);
        lk_doorway_leave (election);
        return false;
    }
    const bool more = fill->sent[at].more;
    drop_taken (fill, at + 1);
    self->sent_ms = election->core->now_ms; /* it goes on */
    if (more) {
        send_chunks (election, (size_t) place);
        return false;
    }
    return true;
}

bool
lk_fill_hear (lk_election *election, int place, const lk_msg_filled *filled)
{
    return election->doorway.fill[place].offered
               ? hear_of_offer (election, place, filled)
               : hear_of_chunk (election, place, filled);
}
