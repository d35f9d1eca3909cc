/*  shortcut.c - a leader tells its own applications what all leaders have
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "shortcut.h"

#include "node_private.h"

#include <string.h>

void
lk_shortcut_init (lk_shortcut *self)
{
    memset (self, 0, sizeof *self);
}

void
lk_shortcut_clear (lk_shortcut *self)
{
    for (size_t home = 0; home < LK_LEADERS_MAX; home++) {
        lk_free (self->stream[home].due);
    }
    lk_tells_clear (&self->tells);
    lk_shortcut_init (self);
}

void
lk_shortcut_restart (lk_shortcut *self)
{
    lk_shortcut_clear (self);
}

/*  -------------------------------------------------------- what is due */

static lk_due *
due_at (const lk_shortcut_stream *self, size_t position)
{
    return &self->due[(self->head + position) % self->room];
}

static void
drop_oldest (lk_shortcut_stream *self)
{
    self->head = (self->head + 1) % self->room;
    self->count--;
}

static void
make_room (lk_shortcut_stream *self)
{
    if (self->count < self->room) {
        return;
    }
    if (self->room >= LK_DUES_MAX) {
        drop_oldest (self);
        return;
    }
    size_t room = self->room ? self->room * 2 : 16;
    lk_due *due = lk_alloc (room * sizeof *due);
    for (size_t i = 0; i < self->count; i++) {
        due[i] = *due_at (self, i);
    }
    lk_free (self->due);
    self->due = due;
    self->room = room;
    self->head = 0;
}

static void
add_due (lk_shortcut_stream *self, const lk_due *due)
{
    make_room (self);
    self->count++;
    *due_at (self, self->count - 1) = *due;
}

/*  -------------------------------------------------------- telling */

static lk_lock_message *
make_reply (lk_node *node, lk_lock_kind kind, const lk_tell *tell)
{
    lk_lock_message *message = lk_out_message (node, kind);
    message->term = node->table.decree.term;
    message->as.reply.request = tell->request;
    message->as.reply.token = tell->token;
    message->as.reply.left_ms = -1;
    message->as.reply.witnessed = true;
    return message;
}

/*  If it still stands, as the home would. The duration of a lock that was free
 *  counts from when it was asked for, as the proxy knows; from when on that of
 *  another counts its home has to tell. */
static void
tell_locked (lk_node *node, const lk_due *due)
{
    const lk_tell *tell = &due->tell;
    const lk_entry *entry = lk_table_find (&node->table, tell->request);
    if (!entry || entry->token != tell->token) {
        return;
    }
    bool lasts = entry->duration_ms == 0 || entry->lenient;
    if (!lasts && !due->added) {
        return;
    }
    lk_lock_message *message = make_reply (node, LK_MSG_LOCKED, tell);
    lk_msg_reply *reply = &message->as.reply;
    reply->object = lk_out_name (node, lk_entry_object (entry));
    reply->key = tell->key;
    reply->type = tell->type;
    reply->ordinal = tell->ordinal;
    reply->turn = tell->turn;
    reply->kept = tell->kept;
    reply->as_of = node->now_ms;
    reply->left_ms = lasts ? -1 : entry->duration_ms;
    lk_out_send (node, message, node->config.self);
}

static void
tell_unlocked (lk_node *node, const lk_tell *tell)
{
    lk_lock_message *message = make_reply (node, LK_MSG_UNLOCKED, tell);
    message->as.reply.error = (int) tell->error;
    lk_out_send (node, message, node->config.self);
}

/*  How far all other leaders have acknowledged: its home has what it sent. */
static uint64_t
acked_by_others (const lk_node *node, uint8_t home)
{
    const lk_shortcut_stream *self = &node->shortcut.stream[home];
    uint64_t acked = node->table.sequence[home];
    int own = lk_node_place (node);
    for (int place = 0; place < node->table.decree.leader_count; place++) {
        if (place != own && place != home && self->acked[place] < acked) {
            acked = self->acked[place];
        }
    }
    return acked;
}

/*  Whoever serves and has its lease knows that no later decree is in force. */
void
lk_shortcut_run (lk_node *node, uint8_t home)
{
    lk_shortcut_stream *self = &node->shortcut.stream[home];
    if (self->count == 0) {
        return;
    }
    uint64_t acked = acked_by_others (node, home);
    if (due_at (self, 0)->sequence > acked || !lk_node_is_serving (node)
        || !lk_lease_holds (node)) {
        return;
    }
    while (self->count > 0 && due_at (self, 0)->sequence <= acked) {
        const lk_due *due = due_at (self, 0);
        if (due->tell.kind == LK_TELL_LOCKED) {
            tell_locked (node, due);
        } else {
            tell_unlocked (node, &due->tell);
        }
        drop_oldest (self);
    }
}

void
lk_shortcut_run_all (lk_node *node)
{
    for (uint8_t home = 0; home < node->table.decree.leader_count; home++) {
        lk_shortcut_run (node, home);
    }
}

/*  -------------------------------------------------------- acknowledgements */

/*  Two leaders that agree with each other, but for the home: with fewer nobody
 *  would notice that the own table is wrong. */
static bool
has_witnesses (const lk_node *node)
{
    return node->table.decree.leader_count >= 3;
}

/*  A confirm or a check tells what is in the home's table, which may be wrong:
 *  it is for the home, and for all chains. All else that is told is of our own
 *  table. */
static bool
is_for_us (const lk_op *op, const lk_tell *tell)
{
    return op->kind != LK_OP_CONFIRM && op->kind != LK_OP_CHECK
           && tell->kind != LK_TELL_REPORTED;
}

/*  Those who were ahead may have said what we have now. */
static void
catch_up (lk_shortcut_stream *self, uint64_t sequence, uint64_t hash)
{
    self->chain[sequence % LK_CHAIN_KEPT] = hash;
    for (size_t place = 0; place < LK_LEADERS_MAX; place++) {
        if (self->ahead[place] == sequence && self->ahead_hash[place] == hash) {
            self->acked[place] = sequence;
        }
    }
}

uint8_t
lk_shortcut_applied (lk_node *node, uint8_t home, const lk_op *op)
{
    const lk_table *table = &node->table;
    const lk_tells *tells = &node->shortcut.tells;
    lk_shortcut_stream *self = &node->shortcut.stream[home];
    uint8_t others = 0;
    if (!has_witnesses (node)) {
        return 0;
    }
    catch_up (self, table->sequence[home], table->hash[home]);
    for (size_t i = 0; i < tells->count; i++) {
        const lk_tell *tell = &tells->item[i];
        int place = lk_decree_place (&table->decree, tell->request.host);
        if (!is_for_us (op, tell) || place < 0 || place == home) {
            continue;
        }
        if (place == lk_node_place (node)) {
            add_due (self, &(lk_due) {.sequence = table->sequence[home],
                                      .tell = *tell,
                                      .added = op->kind == LK_OP_ADD});
        } else {
            others |= (uint8_t) (1u << place);
        }
    }
    return others;
}

void
lk_shortcut_acked (lk_node *node, int place, const lk_msg_acked *acked)
{
    lk_shortcut_stream *self = &node->shortcut.stream[acked->home];
    uint64_t have = node->table.sequence[acked->home];
    if (!has_witnesses (node) || acked->sequence <= self->acked[place]) {
        return;
    }
    if (acked->sequence > have) {
        self->ahead[place] = acked->sequence;
        self->ahead_hash[place] = acked->hash;
    } else if (have - acked->sequence < LK_CHAIN_KEPT
               && self->chain[acked->sequence % LK_CHAIN_KEPT] == acked->hash) {
        self->acked[place] = acked->sequence;
        lk_shortcut_run (node, acked->home);
    }
}

/*  -------------------------------------------------------- at the home */

/*  Serves, has its lease, and all other leaders reach it. */
static bool
is_reached (const lk_node *node, lk_host host)
{
    const lk_decree *decree = &node->table.decree;
    if (!lk_peer_mutual (node, host) || !node->peer[host].well
        || !lk_term_equal (node->peer[host].table, decree->term)) {
        return false;
    }
    for (size_t place = 0; place < decree->leader_count; place++) {
        lk_host leader = decree->leader[place];
        if (leader != host && leader != node->config.self
            && !(lk_hosts_has (node->peer[host].sees, leader)
                 && lk_hosts_has (node->peer[leader].sees, host))) {
            return false;
        }
    }
    return true;
}

/*  A duration may be counted by its home alone. */
static bool
has_no_end (const lk_node *node, lk_request_id request)
{
    const lk_entry *entry = lk_table_find (&node->table, request);
    return !entry || entry->duration_ms == 0 || entry->lenient;
}

bool
lk_shortcut_covers (const lk_node *node, const lk_op *op, const lk_tell *tell)
{
    lk_host host = tell->request.host;
    return has_witnesses (node) && is_for_us (op, tell)
           && host != node->config.self
           && lk_decree_place (&node->table.decree, host) >= 0
           && is_reached (node, host) && has_no_end (node, tell->request);
}
