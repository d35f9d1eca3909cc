/*  shortcut.c - a leader tells its own applications what all leaders have
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "shortcut.h"

#include "leader_private.h"

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
    lk_notices_clear (&self->notices);
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
make_reply (lk_leader *lead, lk_lock_kind kind, const lk_notice *notice)
{
    lk_lock_message *message = lk_out_message (lead->core, kind);
    message->term = lead->table.decree.term;
    message->as.reply.request = notice->request;
    message->as.reply.token = notice->token;
    message->as.reply.left_ms = -1;
    message->as.reply.witnessed = true;
    return message;
}

/*  If it still stands, as the home would. The duration of a lock that was free
 *  counts from when it was asked for, as the proxy knows; from when on that of
 *  another counts its home has to tell. Protocol 9.8: The shortcut. */
static void
tell_locked (lk_leader *lead, const lk_due *due)
{
    const lk_notice *notice = &due->notice;
    const lk_entry *entry = lk_table_find (&lead->table, notice->request);
    if (!entry || entry->token != notice->token) {
        return;
    }
    bool lasts = entry->duration_ms == 0 || entry->lenient;
    if (!lasts && !due->added) {
        return;
    }
    lk_lock_message *message = make_reply (lead, LK_MSG_LOCKED, notice);
    lk_msg_reply *reply = &message->as.reply;
    reply->object = lk_out_name (lead->core, lk_entry_object (entry));
    reply->key = notice->key;
    reply->type = notice->type;
    reply->ordinal = notice->ordinal;
    reply->turn = notice->turn;
    reply->kept = notice->kept;
    reply->as_of = lead->core->now_ms;
    reply->left_ms = lasts ? -1 : entry->duration_ms;
    lk_out_send (lead->core, message, lead->core->config.self);
}

static void
tell_unlocked (lk_leader *lead, const lk_notice *notice)
{
    lk_lock_message *message = make_reply (lead, LK_MSG_UNLOCKED, notice);
    message->as.reply.error = (int) notice->error;
    message->as.reply.moved = notice->moved;
    lk_out_send (lead->core, message, lead->core->config.self);
}

/*  How far all other leaders have acknowledged: its home has what it sent. */
static uint64_t
acked_by_others (const lk_leader *lead, uint8_t home)
{
    const lk_shortcut_stream *self = &lead->shortcut.stream[home];
    uint64_t hash;
    uint64_t acked = lk_record_reached (lead, home, &hash);
    int own = lk_leader_place (lead);
    for (int place = 0; place < lead->table.decree.leader_count; place++) {
        if (place != own && place != home && self->acked[place] < acked) {
            acked = self->acked[place];
        }
    }
    return acked;
}

/*  Whoever serves and has its lease knows that no later decree is in force.
 *  Protocol 9.8: The shortcut. */
void
lk_shortcut_run (lk_leader *lead, uint8_t home)
{
    lk_shortcut_stream *self = &lead->shortcut.stream[home];
    if (self->count == 0) {
        return;
    }
    uint64_t acked = acked_by_others (lead, home);
    if (due_at (self, 0)->sequence > acked || !lk_leader_is_serving (lead)
        || !lk_lease_holds (lead)) {
        return;
    }
    while (self->count > 0 && due_at (self, 0)->sequence <= acked) {
        const lk_due *due = due_at (self, 0);
        if (due->notice.kind == LK_NOTICE_LOCKED) {
            tell_locked (lead, due);
        } else {
            tell_unlocked (lead, &due->notice);
        }
        drop_oldest (self);
    }
}

void
lk_shortcut_run_all (lk_leader *lead)
{
    for (uint8_t home = 0; home < lead->table.decree.leader_count; home++) {
        lk_shortcut_run (lead, home);
    }
}

/*  -------------------------------------------------------- acknowledgements */

/*  Two leaders that agree with each other, but for the home: with fewer nobody
 *  would notice that the own table is wrong. Protocol 9.8: The shortcut. */
static bool
has_witnesses (const lk_leader *lead)
{
    return lead->table.decree.leader_count >= 3;
}

/*  Its own disk may be the last that has an operation. Protocol 9.18. */
static bool
is_slow (const lk_leader *lead, lk_host home)
{
    const lk_peer *peer = &lead->core->peer[home];
    return home == lead->core->config.self
               ? lead->core->config.journal == LK_JOURNAL_SYNC
               : !peer->has_at || peer->journal == LK_JOURNAL_SYNC;
}

/*  A confirm or a check tells what is in the home's table, which may be wrong:
 *  it is for the home, and for all chains. All else that is told is of our own
 *  table; but nobody says when what has to be on disk is on that of the home.
 *  Protocol 9.8: The shortcut. */
static bool
is_for_us (const lk_op *op, const lk_notice *notice)
{
    return op->kind != LK_OP_CONFIRM && op->kind != LK_OP_CHECK
           && notice->kind != LK_NOTICE_REPORTED && !notice->vital;
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
lk_shortcut_applied (lk_leader *lead, uint8_t home, const lk_op *op)
{
    const lk_table *table = &lead->table;
    const lk_notices *notices = &lead->shortcut.notices;
    lk_shortcut_stream *self = &lead->shortcut.stream[home];
    uint8_t others = 0;
    if (!has_witnesses (lead) || is_slow (lead, table->decree.leader[home])) {
        return 0;
    }
    catch_up (self, table->sequence[home], table->hash[home]);
    for (size_t i = 0; i < notices->count; i++) {
        const lk_notice *notice = &notices->item[i];
        int place = lk_decree_place (&table->decree, notice->request.host);
        if (!is_for_us (op, notice) || place < 0 || place == home) {
            continue;
        }
        if (place == lk_leader_place (lead)) {
            add_due (self, &(lk_due) {.sequence = table->sequence[home],
                                      .notice = *notice,
                                      .added = op->kind == LK_OP_ADD});
        } else {
            others |= (uint8_t) (1u << place);
        }
    }
    return others;
}

void
lk_shortcut_acked (lk_leader *lead, int place, const lk_msg_acked *acked)
{
    lk_shortcut_stream *self = &lead->shortcut.stream[acked->home];
    uint64_t have = lead->table.sequence[acked->home];
    if (!has_witnesses (lead) || acked->sequence <= self->acked[place]) {
        return;
    }
    if (acked->sequence > have) {
        self->ahead[place] = acked->sequence;
        self->ahead_hash[place] = acked->hash;
    } else if (have - acked->sequence < LK_CHAIN_KEPT
               && self->chain[acked->sequence % LK_CHAIN_KEPT] == acked->hash) {
        self->acked[place] = acked->sequence;
        lk_shortcut_run (lead, acked->home);
    }
}

/*  -------------------------------------------------------- at the home */

/*  Serves, has its lease, and all other leaders reach it.
 *  Protocol 9.8: The shortcut. */
static bool
is_reached (const lk_leader *lead, lk_host host)
{
    const lk_decree *decree = &lead->table.decree;
    if (!lk_peer_mutual (lead->core, host) || !lead->core->peer[host].well
        || !lk_term_equal (lead->core->peer[host].table, decree->term)) {
        return false;
    }
    for (size_t place = 0; place < decree->leader_count; place++) {
        lk_host leader = decree->leader[place];
        if (leader != host && leader != lead->core->config.self
            && !(lk_hosts_has (lead->core->peer[host].sees, leader)
                 && lk_hosts_has (lead->core->peer[leader].sees, host))) {
            return false;
        }
    }
    return true;
}

/*  A duration may be counted by its home alone. Protocol 9.8: The shortcut. */
static bool
has_no_end (const lk_leader *lead, lk_request_id request)
{
    const lk_entry *entry = lk_table_find (&lead->table, request);
    return !entry || entry->duration_ms == 0 || entry->lenient;
}

bool
lk_shortcut_covers (const lk_leader *lead, const lk_op *op,
                    const lk_notice *notice)
{
    lk_host host = notice->request.host;
    return has_witnesses (lead) && !is_slow (lead, lead->core->config.self)
           && is_for_us (op, notice) && host != lead->core->config.self
           && lk_decree_place (&lead->table.decree, host) >= 0
           && is_reached (lead, host) && has_no_end (lead, notice->request);
}
