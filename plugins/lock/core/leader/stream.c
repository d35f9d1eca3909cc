/*  stream.c - the operations of a home, replicated to all leaders
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "stream.h"

#include "digest.h"
#include "leader_private.h"

#define JUDGE_MS 1000 /* for what other followers say of a difference */
#define COMPANY_MS 2  /* that a ticket which waits has for company */

/*  -------------------------------------------------------- sending */

/*  How many operations from `first` on one message takes. */
static size_t
batch_count (const lk_stream *self, size_t first)
{
    size_t count = 0;
    size_t size = 0;
    while (first + count < self->count && count < LK_BATCH_MAX) {
        size += lk_stream_logged (self, first + count)->size;
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
    ops->hash = lk_stream_logged (self, first)->hash_before;
    ops->op_count = count;
    ops->ops =
        lk_arena_room (&lead->core->outlet.arena, count * sizeof *ops->ops);
    for (size_t i = 0; i < count; i++) {
        ops->ops[i] = lk_stream_logged (self, first + i)->op;
    }
    follower->sent = follower->acked + count;
    follower->sent_ms = lead->core->now_ms;
    if (follower->lacks_since_ms == LK_LONG_AGO) {
        follower->lacks_since_ms = lead->core->now_ms;
    }
    lk_out_send (lead->core, message, lead->table.decree.leader[place]);
}

static bool
lacks_something (const lk_stream *self, size_t place)
{
    return self->follower[place].acked < lk_stream_newest (self);
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
    self->wanted = lk_stream_newest (self);
    self->late_ms = INT64_MAX;
}

/*  Operations that go take along those that nobody waits for; the last of all
 *  go to followers that have something under way, too. Protocol 9.8. */
static void
send_ops_to_all (lk_leader *lead, bool last)
{
    lk_stream *self = &lead->stream;
    int own = lk_leader_place (lead);
    for (int place = 0; place < lead->table.decree.leader_count; place++) {
        if (place != own && (last || is_idle (self, (size_t) place))
            && self->follower[place].acked < self->wanted) {
            send_ops (lead, (size_t) place);
        }
    }
}

static void
send_acked (lk_leader *lead, uint8_t home, uint8_t to)
{
    const lk_table *table = &lead->table;
    lk_lock_message *message = lk_out_message (lead->core, LK_MSG_ACKED);
    message->term = table->decree.term;
    message->as.acked.home = home;
    message->as.acked.sequence =
        lk_record_reached (lead, home, &message->as.acked.hash);
    lk_out_send (lead->core, message, table->decree.leader[to]);
}

/*  Nothing is acknowledged that has to be on disk first. Protocol 9.18. */
static bool
has_news (const lk_leader *lead, uint8_t home)
{
    uint64_t hash;
    const uint64_t reached = lk_record_reached (lead, home, &hash);
    return reached > lead->stream.said[home]
           || reached == lead->table.sequence[home];
}

/*  To its home, and to those whose proxies wait for it. */
static void
answer_home (lk_leader *lead, uint8_t home)
{
    uint64_t hash;
    uint8_t places = lead->stream.witnessed[home] | (uint8_t) (1u << home);
    lead->stream.said[home] = lk_record_reached (lead, home, &hash);
    if (lead->stream.said[home] == lead->table.sequence[home]) {
        lead->stream.witnessed[home] = 0;
    }
    for (uint8_t place = 0; places >> place; place++) {
        if (places >> place & 1) {
            send_acked (lead, home, place);
        }
    }
}

/*  Who has promised more since acknowledges nothing. Protocol 9.1. */
void
lk_stream_flush (lk_leader *lead, bool last)
{
    lk_stream *self = &lead->stream;
    uint8_t homes = self->unanswered;
    self->unanswered = 0;
    if (!lk_leader_is_serving (lead)) {
        return;
    }
    for (uint8_t home = 0; homes >> home; home++) {
        if ((homes >> home & 1) && has_news (lead, home)) {
            answer_home (lead, home);
        }
    }
    if (last || lead->core->now_ms >= self->late_ms) {
        self->unsent = true;
        want_all (self);
    }
    if (self->unsent) {
        self->unsent = false;
        send_ops_to_all (lead, last);
    }
}

int64_t
lk_stream_deadline (const lk_leader *lead)
{
    return lk_leader_is_serving (lead) ? lead->stream.late_ms : INT64_MAX;
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

/*  The chain behind a sequence that not all have yet, or the last one. */
static uint64_t
hash_behind (const lk_leader *lead, uint64_t sequence)
{
    const lk_stream *self = &lead->stream;
    size_t position = (size_t) (sequence - self->committed);
    return position < self->count
               ? lk_stream_logged (self, position)->hash_before
               : lead->table.hash[lk_leader_place (lead)];
}

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
    uint64_t hash;
    uint64_t acked = lk_record_reached (lead, (uint8_t) own, &hash);
    for (int place = 0; place < lead->table.decree.leader_count; place++) {
        if (place != own && self->follower[place].acked < acked) {
            acked = self->follower[place].acked;
        }
    }
    return acked;
}

/*  Every leader acknowledges, and only a home that serves and has its lease
 *  tells; without the lease it waits for it. Protocol 9.8. */
static void
commit (lk_leader *lead)
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
        lk_logged *oldest = lk_stream_logged (self, 0);
        lk_home_tell (lead, &oldest->op, &oldest->notices);
        self->committed++;
        lk_stream_drop_oldest (self);
    }
}

/*  A ticket that waits: nobody is told of that. Protocol 9.8. */
static bool
is_patient (const lk_logged *logged)
{
    return logged->op.kind == LK_OP_ADD && logged->notices.count == 0;
}

void
lk_stream_append (lk_leader *lead, const lk_op *op)
{
    lk_stream *self = &lead->stream;
    int own = lk_leader_place (lead);
    LK_ASSERT (own >= 0 && lk_leader_is_serving (lead));
    lk_logged *newest = lk_stream_add (self);
    lk_op_copy (&newest->op, op);
    newest->size = lk_op_size (op);
    newest->hash_before = lead->table.hash[own];
    if (!lk_table_apply (&lead->table, (uint8_t) own, &newest->op,
                         lead->core->now_ms, &newest->notices)) {
        lk_out_trace (lead->core, LK_TRACE_ERROR,
                      "reclaim: two hosts claim one object");
    }
    lk_record_applied (lead, (uint8_t) own);
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
    commit (lead);
}

/*  protocol 9.18 */
void
lk_stream_recorded (lk_leader *lead, uint64_t number)
{
    const int own = lk_leader_place (lead);
    if (!lk_record_done (lead, number) || own < 0) {
        return;
    }
    for (uint8_t home = 0; home < lead->table.decree.leader_count; home++) {
        uint64_t hash;
        if (home != own
            && lk_record_reached (lead, home, &hash)
                   > lead->stream.said[home]) {
            lead->stream.unanswered |= (uint8_t) (1u << home);
        }
    }
    commit (lead);
    lk_shortcut_run_all (lead);
}

/*  protocol 9.2 */
void
lk_lease_echoed (lk_leader *lead, lk_host host, const lk_msg_ping *ping)
{
    lk_peer *peer = &lead->core->peer[host];
    if (host != lead->core->config.self && lk_table_is_filled (&lead->table)
        && lk_term_compare (ping->promised, lead->table.decree.term) <= 0
        && ping->echo_at > peer->echoed_ms) {
        peer->echoed_ms = ping->echo_at;
        commit (lead);
        lk_shortcut_run_all (lead);
    }
}

void
lk_on_acked (lk_leader *lead, const lk_lock_message *message)
{
    lk_stream *self = &lead->stream;
    const lk_msg_acked *acked = &message->as.acked;
    int own = lk_leader_place (lead);
    int place = lk_decree_place (&lead->table.decree, message->from);
    if (own < 0 || place < 0 || place == own || lead->sealed
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
    commit (lead);
    if (lk_leader_is_serving (lead)) {
        judge (lead);
    }
}
