/*  lock_shape.c - which fields each kind of lock message has
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each field is named once, here, for both directions: see lock_fields.h.
 *  What a kind does not name does not travel.
 */

#include "wire/lock_shape.h"
#include "util/assert.h"

#define HOMES_MAX ((1 << LK_LEADERS_MAX) - 1) /* a set of them, as bits */

/*  -------------------------------------------------------- operations */

static void
ops_fields (lk_fields *f, lk_lock_message *message)
{
    static const lk_field_list list = {"ops", LK_BATCH_MAX, sizeof (lk_op),
                                       lk_shape_op};
    lk_msg_ops *ops = &message->as.ops;
    lk_shape_home (f, &ops->home);
    lk_field_count (f, "first", &ops->first);
    lk_field_hex (f, "hash", &ops->hash);
    ops->ops = lk_field_rows (f, &list, ops->ops, &ops->op_count);
}

static void
acked_fields (lk_fields *f, lk_lock_message *message)
{
    lk_shape_home (f, &message->as.acked.home);
    lk_field_count (f, "sequence", &message->as.acked.sequence);
    lk_field_hex (f, "hash", &message->as.acked.hash);
}

/*  -------------------------------------------------------- being there */

static void
started_fields (lk_fields *f, lk_lock_message *message)
{
    lk_msg_started *started = &message->as.started;
    lk_field_flag (f, "answer", &started->answer);
    lk_shape_candidate (f, &started->candidate);
    lk_field_flag (f, "eligible", &started->eligible);
    lk_field_count (f, "incarnation", &started->incarnation);
    lk_field_decree (f, "active", &started->active);
}

static void
echo_fields (lk_fields *f, lk_msg_ping *ping)
{
    ping->has_echo = lk_fields_has (f, "echo", ping->has_echo);
    if (ping->has_echo) {
        json_t *outer = lk_field_enter (f, "echo");
        lk_field_clock (f, "at", &ping->echo_at);
        lk_field_count (f, "incarnation", &ping->echo_incarnation);
        lk_field_leave (f, outer);
    }
}

static void
journal_field (lk_fields *f, lk_journal_mode *mode)
{
    int number = (int) *mode;
    if (lk_fields_has (f, "journal", number != LK_JOURNAL_OFF)) {
        lk_field_word (f, "journal", &number, lk_journal_words,
                       LK_JOURNAL_MODES);
        *mode = (lk_journal_mode) number;
    }
}

static void
ping_fields (lk_fields *f, lk_lock_message *message)
{
    lk_msg_ping *ping = &message->as.ping;
    lk_field_clock (f, "at", &ping->at);
    lk_field_count (f, "incarnation", &ping->incarnation);
    echo_fields (f, ping);
    lk_field_decree (f, "active", &ping->active);
    lk_field_term (f, "promised", &ping->promised);
    if (lk_fields_has (f, "table", ping->table.term.number != 0)) {
        lk_field_decree (f, "table", &ping->table);
    }
    lk_field_flag (f, "ready", &ping->ready);
    lk_field_flag (f, "well", &ping->well);
    lk_field_small (f, "reclaim", &ping->reclaim, HOMES_MAX);
    lk_field_flag (f, "eligible", &ping->eligible);
    lk_field_known_hosts (f, "sees", &ping->sees);
    lk_field_count (f, "session", &ping->session);
    lk_field_count (f, "closed", &ping->closed);
    lk_field_count (f, "vouch", &ping->vouch);
    lk_field_flag_if_set (f, "lacks", &ping->lacks);
    lk_field_flag_if_set (f, "sealed", &ping->sealed);
    journal_field (f, &ping->journal);
    if (lk_fields_has_since (f, 2, "next", ping->next.count > 0)) {
        lk_field_known_list (f, "next", ping->next.host, &ping->next.count,
                             LK_STANDBYS_MAX);
    }
}

/*  -------------------------------------------------------- election */

static void
date_fields (lk_fields *f, lk_lock_message *message)
{
    static const char *const why_words[LK_WHY_COUNT] = {
        [LK_WHY_LOST] = "lost",
        [LK_WHY_FILL] = "fill",
        [LK_WHY_CHANGE] = "change",
        [LK_WHY_FULL] = "full",
    };
    lk_msg_date *date = &message->as.date;
    int reason = (int) date->reason;
    lk_field_span (f, "in_ms", &date->in_ms, 0);
    lk_field_term (f, "promised", &date->promised);
    lk_field_word (f, "reason", &reason, why_words, LK_WHY_COUNT);
    date->reason = (lk_why) reason;
}

static void
agreed_fields (lk_fields *f, lk_lock_message *message)
{
    lk_field_span (f, "in_ms", &message->as.date.in_ms, 0);
}

static void
voted_fields (lk_fields *f, lk_lock_message *message)
{
    lk_msg_voted *voted = &message->as.voted;
    lk_shape_candidate (f, &voted->candidate);
    lk_field_flag (f, "eligible", &voted->eligible);
    lk_field_decree (f, "active", &voted->active);
    lk_shape_holds (f, &voted->holds);
    lk_field_known_hosts (f, "hears", &voted->hears);
    lk_field_known_hosts (f, "sees", &voted->sees);
}

static void
desist_fields (lk_fields *f, lk_lock_message *message)
{
    lk_field_term (f, "promised", &message->as.desist.promised);
}

static void
elected_fields (lk_fields *f, lk_lock_message *message)
{
    lk_msg_decree *elected = &message->as.decree;
    lk_field_decree (f, "decree", &elected->decree);
    lk_field_term (f, "previous", &elected->previous);
    lk_field_flag (f, "genesis", &elected->genesis);
    lk_field_host_if_any (f, "holder", &elected->holder);
}

static void
decree_fields (lk_fields *f, lk_lock_message *message)
{
    lk_field_decree (f, "decree", &message->as.decree.decree);
    if (!f->writing) {
        message->as.decree.holder = LK_NOBODY;
    }
}

/*  -------------------------------------------------------- takeover */

static void
entered_fields (lk_fields *f, lk_lock_message *message)
{
    lk_shape_holds (f, &message->as.entered.holds);
}

static void
getmax_fields (lk_fields *f, lk_lock_message *message)
{
    lk_field_term (f, "previous", &message->as.getmax.previous);
    lk_field_count (f, "chunk", &message->as.getmax.chunk);
}

/*  A host and the last of its sessions that is over. */
typedef struct {
    lk_host host;
    uint64_t session;
} gone_row;

static void
gone_row_fields (lk_fields *f, void *row)
{
    gone_row *gone = row;
    lk_field_host (f, "host", &gone->host);
    lk_field_count (f, "session", &gone->session);
}

void
lk_shape_gone (lk_fields *f, uint64_t gone[LK_HOSTS_MAX])
{
    static const lk_field_list list = {"gone", LK_HOSTS_MAX, sizeof (gone_row),
                                       gone_row_fields};
    gone_row buffer[LK_HOSTS_MAX];
    size_t count = 0;
    for (lk_host host = 0; host < LK_HOSTS_MAX; host++) {
        if (gone[host]) {
            buffer[count++] = (gone_row) {host, gone[host]};
        }
    }
    lk_fields_take_strangers (f, LK_STRANGERS_IF_ROOM);
    const gone_row *rows = lk_field_rows (f, &list, buffer, &count);
    lk_fields_take_strangers (f, LK_STRANGERS_IN);
    if (f->writing || lk_fields_failed (f)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (rows[i].host == LK_STRANGER) {
            continue;
        }
        if (gone[rows[i].host]) {
            lk_fields_fail (f, "gone", "a host is there twice");
        }
        gone[rows[i].host] = rows[i].session;
    }
}

static void
release_fields (lk_fields *f, void *row)
{
    lk_release *release = row;
    lk_field_request (f, "request", &release->by);
    lk_field_hex (f, "up_to", &release->up_to);
}

void
lk_shape_releases (lk_fields *f, lk_release **releases, size_t *count)
{
    static const lk_field_list list = {"releases", LK_RELEASES_KEPT,
                                       sizeof (lk_release), release_fields};
    if (!lk_fields_has (f, "releases", *count > 0)) {
        return;
    }
    lk_fields_take_strangers (f, LK_STRANGERS_IF_ROOM);
    *releases = lk_field_rows (f, &list, *releases, count);
    lk_fields_take_strangers (f, LK_STRANGERS_IN);
}

static void
table_fields (lk_fields *f, lk_msg_chunk *chunk)
{
    lk_field_count (f, "chunk", &chunk->chunk);
    lk_field_flag (f, "more", &chunk->more);
    lk_shape_tickets (f, &chunk->tickets, &chunk->ticket_count, LK_CHUNK_MAX);
    lk_field_small (f, "reclaim", &chunk->reclaim, HOMES_MAX);
    lk_shape_gone (f, chunk->gone);
    lk_shape_releases (f, &chunk->releases, &chunk->release_count);
}

static void
maxticket_fields (lk_fields *f, lk_lock_message *message)
{
    lk_field_term (f, "table", &message->as.chunk.table);
    lk_field_count (f, "incarnation", &message->as.chunk.incarnation);
    lk_field_flag_if_set (f, "late", &message->as.chunk.late);
    table_fields (f, &message->as.chunk);
}

static void
sum_fields (lk_fields *f, void *row)
{
    lk_field_hex (f, "sum", row);
}

/*  Of all slices. */
static void
sums_field (lk_fields *f, const uint64_t **sums)
{
    static const lk_field_list list = {"sums", LK_TABLE_SLICES,
                                       sizeof (uint64_t), sum_fields};
    size_t count = LK_TABLE_SLICES;
    if (!lk_fields_has_since (f, 2, "sums", *sums != NULL)) {
        return;
    }
    *sums = lk_field_rows (f, &list, (uint64_t *) *sums, &count);
    if (!f->writing && count != LK_TABLE_SLICES) {
        lk_fields_fail (f, "sums", "not one of each slice");
    }
}

static void
fill_fields (lk_fields *f, lk_lock_message *message)
{
    lk_msg_chunk *chunk = &message->as.chunk;
    lk_field_decree (f, "decree", &chunk->decree);
    lk_field_hex (f, "offer", &chunk->offer);
    table_fields (f, chunk);
    sums_field (f, &chunk->sums);
    if (lk_fields_has_since (f, 2, "onto", chunk->onto != 0)) {
        lk_field_hex (f, "onto", &chunk->onto);
    }
}

static void
slice_fields (lk_fields *f, void *row)
{
    lk_field_number32 (f, "slice", row, LK_TABLE_SLICES - 1);
}

/*  The numbers of some slices. */
static void
slices_field (lk_fields *f, const char *name, lk_slices *slices)
{
    const lk_field_list list = {name, LK_LACKS_MAX, sizeof (uint32_t),
                                slice_fields};
    uint32_t buffer[LK_TABLE_SLICES];
    size_t count = 0;
    for (uint32_t i = 0; f->writing && i < LK_TABLE_SLICES; i++) {
        if (slices->bits[i / 64] >> i % 64 & 1) {
            buffer[count++] = i;
        }
    }
    const uint32_t *rows = lk_field_rows (f, &list, buffer, &count);
    for (size_t i = 0; !f->writing && i < count; i++) {
        slices->bits[rows[i] / 64] |= (uint64_t) 1 << rows[i] % 64;
    }
}

static void
filled_fields (lk_fields *f, lk_lock_message *message)
{
    lk_field_count (f, "chunk", &message->as.filled.chunk);
    lk_field_hex (f, "hash", &message->as.filled.hash);
    lk_field_hex (f, "offer", &message->as.filled.offer);
    message->as.filled.has_lacks =
        lk_fields_has_since (f, 2, "lacks", message->as.filled.has_lacks);
    if (message->as.filled.has_lacks) {
        slices_field (f, "lacks", &message->as.filled.lacks);
    }
}

/*  -------------------------------------------------------- locking */

static void
host_fields (lk_fields *f, lk_lock_message *message)
{
    lk_field_host (f, "host", &message->as.host.host);
    lk_field_count (f, "session", &message->as.host.session);
}

static void
lock_fields (lk_fields *f, lk_lock_message *message)
{
    lk_msg_request *request = &message->as.request;
    lk_field_request (f, "request", &request->ticket.request);
    lk_field_object (f, &request->ticket.object);
    lk_shape_owner (f, &request->ticket);
    lk_field_span (f, "age_ms", &request->ticket.age_ms, 0);
    lk_shape_turn (f, &request->ticket.turn);
    if (lk_fields_has (f, "tickets", request->rest_count > 0)) {
        lk_shape_tickets (f, &request->rest, &request->rest_count,
                          LK_SET_MAX - 1);
    }
    lk_field_flag (f, "queue", &request->queue);
    lk_field_flag_if_set (f, "keep", &request->keep);
    lk_field_flag_if_set (f, "resume", &request->resume);
    if (request->resume) {
        lk_field_hex (f, "token", &request->ticket.token);
        lk_field_hex (f, "key", &request->ticket.key);
    }
    lk_field_flag_if_set (f, "heir", &request->heir);
    lk_shape_remote (f, &request->ticket.remote);
    lk_field_clock (f, "at", &request->at);
}

static void
unlock_fields (lk_fields *f, lk_lock_message *message)
{
    lk_msg_request *request = &message->as.request;
    lk_field_request (f, "request", &request->ticket.request);
    lk_field_object (f, &request->ticket.object);
    lk_field_flag_if_set (f, "keep", &request->keep);
    lk_field_flag_if_set (f, "resume", &request->resume);
    lk_field_flag_if_set (f, "heir", &request->heir);
    lk_field_flag (f, "by_key", &request->by_key);
    lk_field_flag_if_set (f, "force", &request->force);
    if (request->force) {
        lk_field_hex (f, "token", &request->ticket.token);
        lk_field_text (f, "reason", &request->reason, LK_REASON_MAX);
    }
    lk_field_flag_if_set (f, "now", &request->now);
    lk_field_hex (f, "key", &request->ticket.key);
    lk_field_text (f, "owner", &request->ticket.owner, LK_ADDRESS_LEN_MAX);
    lk_shape_remote (f, &request->ticket.remote);
    lk_field_clock (f, "at", &request->at);
}

static void
locked_fields (lk_fields *f, lk_lock_message *message)
{
    lk_msg_reply *reply = &message->as.reply;
    lk_field_request (f, "request", &reply->request);
    lk_field_object (f, &reply->object);
    lk_field_hex (f, "token", &reply->token);
    if (!f->writing && reply->token == 0) {
        lk_fields_fail (f, "token", "a grant without a token");
    }
    lk_field_hex (f, "key", &reply->key);
    lk_field_clock (f, "as_of", &reply->as_of);
    lk_field_span (f, "left_ms", &reply->left_ms, -1);
    lk_shape_type (f, &reply->type);
    lk_field_number32_if_any (f, "ordinal", &reply->ordinal, UINT32_MAX);
    lk_shape_turn (f, &reply->turn);
    lk_field_flag_if_set (f, "kept", &reply->kept);
}

static void
ended_fields (lk_fields *f, lk_lock_message *message)
{
    lk_field_request (f, "request", &message->as.reply.request);
    lk_field_object (f, &message->as.reply.object);
    lk_field_error (f, "error", &message->as.reply.error);
}

static void
unlocked_fields (lk_fields *f, lk_lock_message *message)
{
    lk_msg_reply *reply = &message->as.reply;
    ended_fields (f, message);
    lk_field_hex (f, "token", &reply->token);
    if (lk_fields_has (f, "reason", reply->reason.size > 0)) {
        lk_field_text (f, "reason", &reply->reason, LK_REASON_MAX);
    }
    lk_field_flag_if_set (f, "moved", &reply->moved);
}

static void
lockfailed_fields (lk_fields *f, lk_lock_message *message)
{
    ended_fields (f, message);
    lk_shape_turn (f, &message->as.reply.turn);
    if (!f->writing && message->as.reply.error == LK_OK) {
        lk_fields_fail (f, "error", "a failure without an error");
    }
}

static void
check_fields (lk_fields *f, lk_lock_message *message)
{
    lk_msg_check *check = &message->as.check;
    lk_field_request (f, "request", &check->request);
    lk_field_object (f, &check->object);
    lk_field_hex (f, "token", &check->token);
}

static void
checked_fields (lk_fields *f, lk_lock_message *message)
{
    check_fields (f, message);
    lk_field_flag (f, "held", &message->as.check.held);
    lk_field_hex (f, "newest", &message->as.check.newest);
}

static void
stopping_fields (lk_fields *f, lk_lock_message *message)
{
    lk_msg_stopping *stopping = &message->as.stopping;
    lk_field_request (f, "request", &stopping->request);
    lk_field_object (f, &stopping->object);
    lk_field_hex (f, "token", &stopping->token);
    lk_field_span (f, "left_ms", &stopping->left_ms, 0);
}

static void
pending_fields (lk_fields *f, lk_lock_message *message)
{
    lk_msg_stopping *stopping = &message->as.stopping;
    lk_field_request (f, "request", &stopping->request);
    lk_field_object (f, &stopping->object);
    lk_field_host (f, "host", &stopping->host);
    lk_field_span (f, "left_ms", &stopping->left_ms, -1);
    lk_field_span (f, "silent_ms", &stopping->silent_ms, -1);
}

/*  -------------------------------------------------------- sessions */

static void
reported_fields (lk_fields *f, lk_lock_message *message)
{
    lk_field_count (f, "session", &message->as.report.session);
    lk_shape_home (f, &message->as.report.home);
    lk_field_count (f, "part", &message->as.report.part);
}

static void
report_fields (lk_fields *f, lk_lock_message *message)
{
    reported_fields (f, message);
    lk_field_flag (f, "more", &message->as.report.more);
    lk_shape_tickets (f, &message->as.report.tickets,
                      &message->as.report.ticket_count, LK_REPORT_MAX);
}

static void
audit_fields (lk_fields *f, lk_lock_message *message)
{
    lk_field_request (f, "request", &message->as.audit.request);
    lk_field_object (f, &message->as.audit.object);
    lk_field_hex (f, "number", &message->as.audit.number);
    lk_field_hex (f, "token", &message->as.audit.token);
}

/*  -------------------------------------------------------- alerts */

static void
alerted_fields (lk_fields *f, lk_lock_message *message)
{
    lk_field_count (f, "incarnation", &message->as.alert.incarnation);
    lk_field_count (f, "number", &message->as.alert.number);
}

static void
alert_fields (lk_fields *f, lk_lock_message *message)
{
    lk_msg_alert *alert = &message->as.alert;
    int cause = (int) alert->cause;
    alerted_fields (f, message);
    lk_field_word (f, "cause", &cause, lk_alert_words, LK_ALERT_CAUSES);
    alert->cause = (lk_alert_cause) cause;
    lk_field_host (f, "host", &alert->host);
    lk_field_host (f, "home", &alert->home);
    lk_field_count (f, "sequence", &alert->sequence);
    lk_field_hex (f, "hash", &alert->hash);
    lk_field_hex (f, "expected", &alert->expected);
}

/*  -------------------------------------------------------- settings */

static void
wanting_fields (lk_fields *f, lk_lock_message *message)
{
    lk_field_settings_id (f, &message->as.settings.id);
}

static void
settings_fields (lk_fields *f, lk_lock_message *message)
{
    wanting_fields (f, message);
    lk_field_text (f, "text", &message->as.settings.text, LK_SETTINGS_SIZE_MAX);
}

/*  -------------------------------------------------------- all kinds */

static void
no_fields (lk_fields *f, lk_lock_message *message)
{
    (void) f;
    (void) message;
}

static void (*const shapes[LK_MSG_COUNT]) (lk_fields *, lk_lock_message *) = {
    [LK_MSG_STARTED] = started_fields,
    [LK_MSG_PING] = ping_fields,
    [LK_MSG_DATE] = date_fields,
    [LK_MSG_AGREED] = agreed_fields,
    [LK_MSG_VOTE] = no_fields,
    [LK_MSG_VOTED] = voted_fields,
    [LK_MSG_DESIST] = desist_fields,
    [LK_MSG_RETIRE] = no_fields,
    [LK_MSG_RERUN] = no_fields,
    [LK_MSG_ELECTED] = elected_fields,
    [LK_MSG_SITTING] = decree_fields,
    [LK_MSG_ACTIVE] = decree_fields,
    [LK_MSG_ACTIVATED] = no_fields,
    [LK_MSG_ENTERING] = no_fields,
    [LK_MSG_ENTERED] = entered_fields,
    [LK_MSG_GETMAX] = getmax_fields,
    [LK_MSG_MAXTICKET] = maxticket_fields,
    [LK_MSG_FILL] = fill_fields,
    [LK_MSG_FILLED] = filled_fields,
    [LK_MSG_EXITING] = no_fields,
    [LK_MSG_READY] = decree_fields,
    [LK_MSG_OPS] = ops_fields,
    [LK_MSG_ACKED] = acked_fields,
    [LK_MSG_HOST] = host_fields,
    [LK_MSG_SILENT] = host_fields,
    [LK_MSG_LOCK] = lock_fields,
    [LK_MSG_UNLOCK] = unlock_fields,
    [LK_MSG_LOCKED] = locked_fields,
    [LK_MSG_UNLOCKED] = unlocked_fields,
    [LK_MSG_LOCKFAILED] = lockfailed_fields,
    [LK_MSG_CHECK] = check_fields,
    [LK_MSG_CHECKED] = checked_fields,
    [LK_MSG_STOPPING] = stopping_fields,
    [LK_MSG_PENDING] = pending_fields,
    [LK_MSG_REPORT] = report_fields,
    [LK_MSG_REPORTED] = reported_fields,
    [LK_MSG_AUDIT] = audit_fields,
    [LK_MSG_AUDITED] = audit_fields,
    [LK_MSG_ALERT] = alert_fields,
    [LK_MSG_ALERTED] = alerted_fields,
    [LK_MSG_WANTING] = wanting_fields,
    [LK_MSG_SETTINGS] = settings_fields,
};

static bool
has_term (lk_lock_kind kind)
{
    return kind != LK_MSG_STARTED && kind != LK_MSG_PING && kind != LK_MSG_DATE
           && kind != LK_MSG_AGREED;
}

void
lk_lock_shape (lk_fields *fields, lk_lock_message *message)
{
    LK_ASSERT ((unsigned) message->kind < LK_MSG_COUNT);
    if (has_term (message->kind)) {
        lk_field_term (fields, "term", &message->term);
    }
    lk_field_host_if_any (fields, "origin", &message->origin);
    lk_field_host_if_any (fields, "destination", &message->destination);
    shapes[message->kind](fields, message);
}
