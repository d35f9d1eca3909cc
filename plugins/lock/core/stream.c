/*  stream.c - the operations of a home, replicated to all leaders
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "stream.h"

#include "node_private.h"

#include <string.h>

void
lk_stream_init (lk_stream *self)
{
    memset (self, 0, sizeof *self);
}

static lk_logged *
logged (const lk_stream *self, size_t position)
{
    return &self->log[(self->head + position) % self->room];
}

static void
drop_oldest (lk_stream *self)
{
    lk_logged *oldest = logged (self, 0);
    lk_op_clear (&oldest->op);
    lk_tells_clear (&oldest->tells);
    self->head = (self->head + 1) % self->room;
    self->count--;
}

void
lk_stream_clear (lk_stream *self)
{
    while (self->count > 0) {
        drop_oldest (self);
    }
    lk_free (self->log);
    lk_stream_init (self);
}

void
lk_stream_restart (lk_node *node)
{
    lk_stream *self = &node->stream;
    while (self->count > 0) {
        drop_oldest (self);
    }
    self->committed = 0;
    memset (self->follower, 0, sizeof self->follower);
    for (size_t place = 0; place < LK_LEADERS_MAX; place++) {
        self->follower[place].lacks_since_ms = LK_LONG_AGO;
    }
}

/*  -------------------------------------------------------- sending */

static lk_op
copy_op (lk_node *node, const lk_op *op)
{
    lk_op copy = *op;
    copy.ticket = lk_out_ticket (node, &op->ticket);
    copy.tickets = lk_out_tickets (node, op->tickets, op->ticket_count);
    return copy;
}

/*  How many operations from `first` on one message takes. */
static size_t
batch_count (const lk_stream *self, size_t first)
{
    size_t count = 0;
    size_t size = 0;
    while (first + count < self->count && count < LK_BATCH_MAX) {
        size += lk_op_size (&logged (self, first + count)->op);
        if (count > 0 && size > LK_BULK_SIZE_MAX) {
            break;
        }
        count++;
    }
    return count;
}

/*  One message with what a follower lacks, as much as it takes. */
static void
send_ops (lk_node *node, size_t place)
{
    lk_stream *self = &node->stream;
    lk_follower *follower = &self->follower[place];
    size_t first = (size_t) (follower->acked - self->committed);
    size_t count = batch_count (self, first);
    lk_lock_message *message = lk_out_message (node, LK_MSG_OPS);
    lk_msg_ops *ops = &message->as.ops;
    message->term = node->table.decree.term;
    ops->home = (uint8_t) lk_node_place (node);
    ops->first = follower->acked;
    ops->hash = logged (self, first)->hash_before;
    ops->op_count = count;
    ops->ops = lk_arena_alloc (&node->outlet.arena, count * sizeof *ops->ops);
    for (size_t i = 0; i < count; i++) {
        ops->ops[i] = copy_op (node, &logged (self, first + i)->op);
    }
    follower->sent = follower->acked + count;
    follower->sent_ms = node->now_ms;
    if (follower->lacks_since_ms == LK_LONG_AGO) {
        follower->lacks_since_ms = node->now_ms;
    }
    lk_out_send (node, message, node->table.decree.leader[place]);
}

static bool
lacks_something (const lk_stream *self, size_t place)
{
    return self->follower[place].acked < self->committed + self->count;
}

lk_hosts
lk_stream_stalled_by (const lk_node *node)
{
    const lk_decree *decree = &node->table.decree;
    int64_t limit_ms = 2 * node->config.dead_after_ms + 1000;
    lk_hosts hosts = 0;
    for (size_t place = 0; place < decree->leader_count; place++) {
        int64_t since_ms = node->stream.follower[place].lacks_since_ms;
        if (since_ms != LK_LONG_AGO && node->now_ms - since_ms > limit_ms) {
            hosts |= LK_HOST_BIT (decree->leader[place]);
        }
    }
    return hosts;
}

/*  Nothing is under way to it: what it has acknowledged is all it was sent. */
static bool
is_idle (const lk_stream *self, size_t place)
{
    return self->follower[place].sent <= self->follower[place].acked;
}

static void
send_to_idle (lk_node *node)
{
    lk_stream *self = &node->stream;
    int own = lk_node_place (node);
    for (int place = 0; place < node->table.decree.leader_count; place++) {
        if (place != own && is_idle (self, (size_t) place)
            && lacks_something (self, (size_t) place)) {
            send_ops (node, (size_t) place);
        }
    }
}

void
lk_stream_run (lk_node *node)
{
    lk_stream *self = &node->stream;
    int own = lk_node_place (node);
    if (!lk_node_is_serving (node)) {
        return;
    }
    for (int place = 0; place < node->table.decree.leader_count; place++) {
        if (place != own && lacks_something (self, (size_t) place)
            && node->now_ms - self->follower[place].sent_ms > LK_RESEND_MS) {
            send_ops (node, (size_t) place);
        }
    }
}

/*  The chain behind a sequence that not all have yet, or the last one. */
static uint64_t
hash_behind (const lk_node *node, uint64_t sequence)
{
    const lk_stream *self = &node->stream;
    size_t position = (size_t) (sequence - self->committed);
    return position < self->count ? logged (self, position)->hash_before
                                  : node->table.hash[lk_node_place (node)];
}

/*  -------------------------------------------------------- committing */

static uint64_t
acked_by_all (const lk_node *node)
{
    const lk_stream *self = &node->stream;
    int own = lk_node_place (node);
    uint64_t acked = self->committed + self->count;
    for (int place = 0; place < node->table.decree.leader_count; place++) {
        if (place != own && self->follower[place].acked < acked) {
            acked = self->follower[place].acked;
        }
    }
    return acked;
}

/*  Every leader acknowledges, and only a home that serves and has its lease
 *  tells; without the lease it waits for it. */
void
lk_stream_commit (lk_node *node)
{
    lk_stream *self = &node->stream;
    if (self->count == 0 || !lk_node_is_serving (node)) {
        return;
    }
    uint64_t acked = acked_by_all (node);
    if (self->committed == acked || !lk_lease_holds (node)) {
        return;
    }
    while (self->committed < acked) {
        lk_logged *oldest = logged (self, 0);
        lk_home_tell (node, &oldest->op, &oldest->tells);
        self->committed++;
        drop_oldest (self);
    }
}

static void
make_room (lk_stream *self)
{
    if (self->count < self->room) {
        return;
    }
    size_t room = self->room ? self->room * 2 : 16;
    lk_logged *log = lk_alloc (room * sizeof *log);
    for (size_t i = 0; i < self->count; i++) {
        log[i] = *logged (self, i);
    }
    lk_free (self->log);
    self->log = log;
    self->room = room;
    self->head = 0;
}

void
lk_stream_append (lk_node *node, const lk_op *op)
{
    lk_stream *self = &node->stream;
    int own = lk_node_place (node);
    LK_ASSERT (own >= 0 && lk_node_is_serving (node));
    make_room (self);
    self->count++;
    lk_logged *newest = logged (self, self->count - 1);
    memset (newest, 0, sizeof *newest);
    lk_op_copy (&newest->op, op);
    newest->hash_before = node->table.hash[own];
    if (!lk_table_apply (&node->table, (uint8_t) own, &newest->op, node->now_ms,
                         &newest->tells)) {
        lk_out_trace (node, LK_TRACE_ERROR,
                      "reclaim: two hosts claim one object");
    }
    send_to_idle (node);
    lk_stream_commit (node);
}

void
lk_on_acked (lk_node *node, const lk_lock_message *message)
{
    lk_stream *self = &node->stream;
    const lk_msg_acked *acked = &message->as.acked;
    int own = lk_node_place (node);
    int place = lk_decree_place (&node->table.decree, message->from);
    if (own < 0 || place < 0 || place == own || acked->home != own
        || !lk_term_equal (message->term, node->table.decree.term)
        || acked->sequence > self->committed + self->count
        || acked->sequence <= self->follower[place].acked) {
        return;
    }
    if (acked->hash != hash_behind (node, acked->sequence)) {
        lk_out_trace (node, LK_TRACE_ERROR,
                      "stream differs: host=%s sequence=%llu, not counted",
                      lk_out_host (node, message->from),
                      (unsigned long long) acked->sequence);
        return;
    }
    lk_follower *follower = &self->follower[place];
    follower->acked = acked->sequence;
    follower->lacks_since_ms =
        lacks_something (self, (size_t) place) ? node->now_ms : LK_LONG_AGO;
    lk_stream_commit (node);
    if (lk_node_is_serving (node)) {
        send_to_idle (node);
    }
}

/*  -------------------------------------------------------- following */

/*  A leader whose chain differs says that it holds nothing; the next takeover
 *  fills it anew. */
static void
diverged (lk_node *node, const lk_lock_message *message)
{
    lk_out_trace (node, LK_TRACE_ERROR,
                  "stream differs: home=%s sequence=%llu, table dropped",
                  lk_out_host (node, message->from),
                  (unsigned long long) message->as.ops.first);
    lk_table none;
    lk_table_init (&none);
    lk_node_install (node, &none);
}

static void
apply_new (lk_node *node, const lk_msg_ops *ops)
{
    uint64_t have = node->table.sequence[ops->home];
    for (size_t i = (size_t) (have - ops->first); i < ops->op_count; i++) {
        lk_table_apply (&node->table, ops->home, &ops->ops[i], node->now_ms,
                        NULL);
    }
}

void
lk_on_ops (lk_node *node, const lk_lock_message *message)
{
    const lk_msg_ops *ops = &message->as.ops;
    lk_table *table = &node->table;
    if (!lk_term_equal (message->term, table->decree.term)
        || !lk_term_equal (node->facts.promised, message->term)
        || ops->home >= table->decree.leader_count
        || table->decree.leader[ops->home] != message->from
        || message->from == node->config.self) {
        return;
    }
    lk_node_ready (node, message->term);
    uint64_t have = table->sequence[ops->home];
    if (have == ops->first && table->hash[ops->home] != ops->hash) {
        diverged (node, message);
        return;
    }
    if (have >= ops->first && have < ops->first + ops->op_count) {
        apply_new (node, ops);
    }
    lk_lock_message *answer = lk_out_message (node, LK_MSG_ACKED);
    answer->term = message->term;
    answer->as.acked.home = ops->home;
    answer->as.acked.sequence = table->sequence[ops->home];
    answer->as.acked.hash = table->hash[ops->home];
    lk_out_send (node, answer, message->from);
}
