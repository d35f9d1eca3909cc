/*  stream.c - the operations of a home, replicated to all leaders
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "stream.h"

#include "digest.h"
#include "leader_private.h"

#include <string.h>

#define JUDGE_MS 1000 /* for what other followers say of a difference */
#define COMPANY_MS 2  /* that a ticket which waits has for company */

void
lk_stream_init (lk_stream *self)
{
    memset (self, 0, sizeof *self);
    self->late_ms = INT64_MAX;
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
    oldest->tells.count = 0;
    self->head = (self->head + 1) % self->room;
    self->count--;
}

void
lk_stream_clear (lk_stream *self)
{
    while (self->count > 0) {
        drop_oldest (self);
    }
    for (size_t i = 0; i < self->room; i++) {
        lk_tells_clear (&self->log[i].tells);
    }
    lk_free (self->log);
    lk_stream_init (self);
}

void
lk_stream_restart (lk_leader *lead)
{
    lk_stream *self = &lead->stream;
    while (self->count > 0) {
        drop_oldest (self);
    }
    self->committed = 0;
    self->judged = false;
    self->unsent = false;
    self->wanted = 0;
    self->late_ms = INT64_MAX;
    self->unanswered = 0;
    memset (self->witnessed, 0, sizeof self->witnessed);
    memset (self->follower, 0, sizeof self->follower);
    for (size_t place = 0; place < LK_LEADERS_MAX; place++) {
        self->follower[place].lacks_since_ms = LK_LONG_AGO;
    }
}

/*  -------------------------------------------------------- sending */

/*  How many operations from `first` on one message takes. */
static size_t
batch_count (const lk_stream *self, size_t first)
{
    size_t count = 0;
    size_t size = 0;
    while (first + count < self->count && count < LK_BATCH_MAX) {
        size += logged (self, first + count)->size;
        if (count > 0 && size > LK_BULK_SIZE_MAX) {
            break;
        }
        count++;
    }
    return count;
}

/*  One message with what a follower lacks, as much as it takes: at the end of a
 *  step, since operations stay where they are until the next one. */
static void
send_ops (lk_leader *lead, size_t place)
{
    lk_stream *self = &lead->stream;
    lk_follower *follower = &self->follower[place];
    size_t first = (size_t) (follower->acked - self->committed);
    size_t count = batch_count (self, first);
    lk_lock_message *message = lk_out_message (lead->core, LK_MSG_OPS);
    lk_msg_ops *ops = &message->as.ops;
    message->term = lead->table.decree.term;
    ops->home = (uint8_t) lk_leader_place (lead);
    ops->first = follower->acked;
    ops->hash = logged (self, first)->hash_before;
    ops->op_count = count;
    ops->ops =
        lk_arena_room (&lead->core->outlet.arena, count * sizeof *ops->ops);
    for (size_t i = 0; i < count; i++) {
        ops->ops[i] = logged (self, first + i)->op;
    }
    follower->sent = follower->acked + count;
    follower->sent_ms = lead->core->now_ms;
    if (follower->lacks_since_ms == LK_LONG_AGO) {
        follower->lacks_since_ms = lead->core->now_ms;
    }
    lk_out_send (lead->core, message, lead->table.decree.leader[place]);
}

/*  The sequence of the newest operation. */
static uint64_t
newest_sequence (const lk_stream *self)
{
    return self->committed + self->count;
}

static bool
lacks_something (const lk_stream *self, size_t place)
{
    return self->follower[place].acked < newest_sequence (self);
}

/*  protocol 9.2 */
lk_hosts
lk_stream_stalled_by (const lk_leader *lead)
{
    const lk_decree *decree = &lead->table.decree;
    int64_t limit_ms = 2 * lead->core->config.dead_after_ms + 1000;
    lk_hosts hosts = 0;
    for (size_t place = 0; place < decree->leader_count; place++) {
        int64_t since_ms = lead->stream.follower[place].lacks_since_ms;
        if (since_ms != LK_LONG_AGO
            && lead->core->now_ms - since_ms > limit_ms) {
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

/*  Somebody waits for the newest operation, or it has waited long enough. */
static void
want_all (lk_stream *self)
{
    self->wanted = newest_sequence (self);
    self->late_ms = INT64_MAX;
}

/*  What goes takes along what nobody waits for. Protocol 9.8. */
static void
send_to_idle (lk_leader *lead)
{
    lk_stream *self = &lead->stream;
    int own = lk_leader_place (lead);
    for (int place = 0; place < lead->table.decree.leader_count; place++) {
        if (place != own && is_idle (self, (size_t) place)
            && self->follower[place].acked < self->wanted) {
            send_ops (lead, (size_t) place);
        }
    }
}

/*  The chain behind a sequence that not all have yet, or the last one. */
static uint64_t
hash_behind (const lk_leader *lead, uint64_t sequence)
{
    const lk_stream *self = &lead->stream;
    size_t position = (size_t) (sequence - self->committed);
    return position < self->count ? logged (self, position)->hash_before
                                  : lead->table.hash[lk_leader_place (lead)];
}

/*  -------------------------------------------------------- differences */

/*  What leaders say of the chain: how many agree with ours behind the first
 *  difference, ourselves among them, and how many differ. */
typedef struct {
    int agree;
    int differ;
    uint64_t first_at;
    int64_t since_ms;
} lk_opinion;

/*  Whether it has said so of the chain as ours is now. */
static bool
agrees (const lk_leader *lead, size_t place, uint64_t first_at)
{
    const lk_follower *follower = &lead->stream.follower[place];
    return !follower->differs && follower->acked >= first_at
           && follower->acked_hash == hash_behind (lead, follower->acked);
}

static bool
any_differs (const lk_stream *self)
{
    size_t place = 0;
    while (place < LK_LEADERS_MAX && !self->follower[place].differs) {
        place++;
    }
    return place < LK_LEADERS_MAX;
}

static lk_opinion
hear_opinions (const lk_leader *lead)
{
    const lk_stream *self = &lead->stream;
    size_t own = (size_t) lk_leader_place (lead);
    size_t count = lead->table.decree.leader_count;
    lk_opinion heard = {.agree = 1, .first_at = UINT64_MAX};
    for (size_t place = 0; place < count; place++) {
        const lk_follower *follower = &self->follower[place];
        if (follower->differs && follower->differs_at < heard.first_at) {
            heard.first_at = follower->differs_at;
            heard.since_ms = follower->differs_ms;
        }
        heard.differ += follower->differs;
    }
    for (size_t place = 0; place < count; place++) {
        heard.agree += place != own && agrees (lead, place, heard.first_at);
    }
    return heard;
}

static void
raise_alert (lk_leader *lead, const lk_follower *follower, lk_host host)
{
    bool own = host == lead->core->config.self;
    lk_alert_raise (lead,
                    &(lk_msg_alert) {
                        .cause = LK_ALERT_STREAM,
                        .host = host,
                        .home = lead->core->config.self,
                        .sequence = follower->differs_at,
                        .hash = own ? follower->expected : follower->hash,
                        .expected = own ? follower->hash : follower->expected});
}

/*  A chain differs, and nothing behind that is told. A home whose own table is
 *  not what its operations made it is wrong, and so is one from which more
 *  leaders differ than agree with it; else those who differ are.
 *  Protocol 9.9. */
static void
judge (lk_leader *lead)
{
    lk_stream *self = &lead->stream;
    const lk_decree *decree = &lead->table.decree;
    uint64_t digest;
    uint8_t own = (uint8_t) lk_leader_place (lead);
    if (self->judged || !any_differs (self)) {
        return;
    }
    lk_opinion heard = hear_opinions (lead);
    if (!lk_digest_share (&lead->table, own, &digest)) {
        lk_alert_unsound (lead, own);
        return;
    }
    if (heard.agree + heard.differ < decree->leader_count
        && lead->core->now_ms - heard.since_ms < JUDGE_MS) {
        return;
    }
    self->judged = true;
    for (size_t place = 0; place < decree->leader_count; place++) {
        const lk_follower *follower = &self->follower[place];
        if (follower->differs && heard.differ > heard.agree) {
            raise_alert (lead, follower, lead->core->config.self);
            return; /* the table is gone */
        }
        if (follower->differs) {
            raise_alert (lead, follower, decree->leader[place]);
        }
    }
}

static void
note_difference (lk_leader *lead, int place, const lk_msg_acked *acked)
{
    lk_follower *follower = &lead->stream.follower[place];
    if (!follower->differs) {
        follower->differs = true;
        follower->differs_ms = lead->core->now_ms;
        follower->differs_at = acked->sequence;
        follower->hash = acked->hash;
        follower->expected = hash_behind (lead, acked->sequence);
    }
    judge (lead);
}

void
lk_stream_run (lk_leader *lead)
{
    lk_stream *self = &lead->stream;
    int own = lk_leader_place (lead);
    for (int place = 0; place < lead->table.decree.leader_count; place++) {
        lk_follower *follower = &self->follower[place];
        /*  protocol 9.8 */
        if (place != own && lacks_something (self, (size_t) place)
            && lead->core->now_ms - follower->sent_ms > LK_RESEND_MS) {
            follower->sent = follower->acked;
            self->unsent = true;
        }
    }
    judge (lead);
}

/*  -------------------------------------------------------- committing */

static uint64_t
acked_by_all (const lk_leader *lead)
{
    const lk_stream *self = &lead->stream;
    int own = lk_leader_place (lead);
    uint64_t acked = self->committed + self->count;
    for (int place = 0; place < lead->table.decree.leader_count; place++) {
        if (place != own && self->follower[place].acked < acked) {
            acked = self->follower[place].acked;
        }
    }
    return acked;
}

/*  Every leader acknowledges, and only a home that serves and has its lease
 *  tells; without the lease it waits for it. Protocol 9.8. */
void
lk_stream_commit (lk_leader *lead)
{
    lk_stream *self = &lead->stream;
    if (self->count == 0 || !lk_leader_is_serving (lead)) {
        return;
    }
    uint64_t acked = acked_by_all (lead);
    if (self->committed == acked || !lk_lease_holds (lead)) {
        return;
    }
    while (self->committed < acked) {
        lk_logged *oldest = logged (self, 0);
        lk_home_tell (lead, &oldest->op, &oldest->tells);
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

/*  A ticket that waits: nobody is told of that. Protocol 9.8. */
static bool
is_patient (const lk_logged *logged)
{
    return logged->op.kind == LK_OP_ADD && logged->tells.count == 0;
}

void
lk_stream_append (lk_leader *lead, const lk_op *op)
{
    lk_stream *self = &lead->stream;
    int own = lk_leader_place (lead);
    LK_ASSERT (own >= 0 && lk_leader_is_serving (lead));
    make_room (self);
    self->count++;
    lk_logged *newest = logged (self, self->count - 1);
    lk_op_copy (&newest->op, op);
    newest->size = lk_op_size (op);
    newest->hash_before = lead->table.hash[own];
    if (!lk_table_apply (&lead->table, (uint8_t) own, &newest->op,
                         lead->core->now_ms, &newest->tells)) {
        lk_out_trace (lead->core, LK_TRACE_ERROR,
                      "reclaim: two hosts claim one object");
    }
    if (lead->table.unsound) {
        lk_alert_unsound (lead, (uint8_t) own);
        return;
    }
    self->unsent = true;
    if (!is_patient (newest)) {
        want_all (self);
    } else if (self->late_ms == INT64_MAX) {
        self->late_ms = lead->core->now_ms + COMPANY_MS;
    }
    lk_stream_commit (lead);
}

void
lk_on_acked (lk_leader *lead, const lk_lock_message *message)
{
    lk_stream *self = &lead->stream;
    const lk_msg_acked *acked = &message->as.acked;
    int own = lk_leader_place (lead);
    int place = lk_decree_place (&lead->table.decree, message->from);
    if (own < 0 || place < 0 || place == own
        || acked->home >= lead->table.decree.leader_count
        || !lk_term_equal (message->term, lead->table.decree.term)) {
        return;
    }
    if (acked->home != own) {
        lk_shortcut_acked (lead, place, acked);
        return;
    }
    if (acked->sequence > self->committed + self->count
        || acked->sequence < self->follower[place].acked) {
        return;
    }
    /*  protocol 9.9 */
    if (acked->hash != hash_behind (lead, acked->sequence)) {
        note_difference (lead, place, acked);
        return;
    }
    lk_follower *follower = &self->follower[place];
    if (acked->sequence == follower->acked) {
        return;
    }
    follower->acked = acked->sequence;
    follower->acked_hash = acked->hash;
    follower->lacks_since_ms = lacks_something (self, (size_t) place)
                                   ? lead->core->now_ms
                                   : LK_LONG_AGO;
    self->unsent = true;
    lk_stream_commit (lead);
    if (lk_leader_is_serving (lead)) {
        judge (lead);
    }
}

/*  -------------------------------------------------------- following */

/*  False if its table turned out to be wrong, and is gone. */
static bool
apply_new (lk_leader *lead, const lk_msg_ops *ops)
{
    uint64_t have = lead->table.sequence[ops->home];
    for (size_t i = (size_t) (have - ops->first); i < ops->op_count; i++) {
        lead->shortcut.tells.count = 0;
        lk_home_learn_release (lead, &ops->ops[i]);
        lk_table_apply (&lead->table, ops->home, &ops->ops[i],
                        lead->core->now_ms, &lead->shortcut.tells);
        if (lead->table.unsound) {
            lk_alert_unsound (lead, ops->home);
            return false;
        }
        lead->stream.witnessed[ops->home] |=
            lk_shortcut_applied (lead, ops->home, &ops->ops[i]);
    }
    lk_shortcut_run (lead, ops->home);
    return true;
}

void
lk_on_ops (lk_leader *lead, const lk_lock_message *message)
{
    const lk_msg_ops *ops = &message->as.ops;
    lk_table *table = &lead->table;
    /*  protocol 9.1 */
    if (!lk_term_equal (message->term, table->decree.term)
        || !lk_term_equal (lead->core->facts.promised, message->term)
        || ops->home >= table->decree.leader_count
        || table->decree.leader[ops->home] != message->from
        || message->from == lead->core->config.self) {
        return;
    }
    /*  protocol 9.2 */
    lk_leader_ready (lead, message->term);
    /*  One whose chain differs says so by what it acknowledges: the home
     *  hears all, and judges. */
    uint64_t have = table->sequence[ops->home];
    bool differs = have == ops->first && table->hash[ops->home] != ops->hash;
    if (!differs && have >= ops->first && have < ops->first + ops->op_count
        && !apply_new (lead, ops)) {
        return;
    }
    lead->stream.unanswered |= (uint8_t) (1u << ops->home);
}

static void
send_acked (lk_leader *lead, uint8_t home, uint8_t to)
{
    const lk_table *table = &lead->table;
    lk_lock_message *message = lk_out_message (lead->core, LK_MSG_ACKED);
    message->term = table->decree.term;
    message->as.acked.home = home;
    message->as.acked.sequence = table->sequence[home];
    message->as.acked.hash = table->hash[home];
    lk_out_send (lead->core, message, table->decree.leader[to]);
}

/*  To its home, and to those whose proxies wait for it. */
static void
answer_home (lk_leader *lead, uint8_t home)
{
    uint8_t places = lead->stream.witnessed[home] | (uint8_t) (1u << home);
    lead->stream.witnessed[home] = 0;
    for (uint8_t place = 0; places >> place; place++) {
        if (places >> place & 1) {
            send_acked (lead, home, place);
        }
    }
}

/*  Who has promised more since acknowledges nothing. Protocol 9.1. */
void
lk_stream_flush (lk_leader *lead)
{
    lk_stream *self = &lead->stream;
    uint8_t homes = self->unanswered;
    self->unanswered = 0;
    if (!lk_leader_is_serving (lead)) {
        return;
    }
    for (uint8_t home = 0; homes >> home; home++) {
        if (homes >> home & 1) {
            answer_home (lead, home);
        }
    }
    if (lead->core->now_ms >= self->late_ms) {
        self->unsent = true;
        want_all (self);
    }
    if (self->unsent) {
        self->unsent = false;
        send_to_idle (lead);
    }
}

int64_t
lk_stream_deadline (const lk_leader *lead)
{
    return lk_leader_is_serving (lead) ? lead->stream.late_ms : INT64_MAX;
}
