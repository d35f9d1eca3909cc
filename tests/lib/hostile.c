/*  hostile.c - messages that no lock service in its right mind would send
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/hostile.h"

#include "lib/decode.h"
#include "util/assert.h"
#include "wire/lock_fields.h"
#include "wire/message_frame.h"

#include <lockkeeper/error.h>
#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- names */

lk_name
lk_hostile_object (lk_fuel *fuel)
{
    static const lk_name objects[] = {
        {"\0\0a", 3}, {"\0\0b", 3}, {"\0\0c", 3}, {"z\0x\0a", 5}};
    return objects[lk_fuel_below (fuel, sizeof objects / sizeof objects[0])];
}

lk_name *
lk_hostile_object_of (lk_lock_message *message)
{
    switch (message->kind) {
    case LK_MSG_LOCK:
    case LK_MSG_UNLOCK:
        return &message->as.request.ticket.object;
    case LK_MSG_LOCKED:
    case LK_MSG_UNLOCKED:
    case LK_MSG_LOCKFAILED:
        return &message->as.reply.object;
    case LK_MSG_AUDIT:
    case LK_MSG_AUDITED:
        return &message->as.audit.object;
    case LK_MSG_CHECK:
    case LK_MSG_CHECKED:
        return &message->as.check.object;
    case LK_MSG_STOPPING:
    case LK_MSG_PENDING:
        return &message->as.stopping.object;
    default:
        return NULL;
    }
}

/*  An application's address. Static. */
static lk_name
owner_of (lk_fuel *fuel)
{
    static const lk_name owners[] = {{"a@h1", 4}, {"b@h2", 4}, {"", 0}};
    return owners[lk_fuel_below (fuel, sizeof owners / sizeof owners[0])];
}

/*  -------------------------------------------------------- values */

static uint64_t
draw_number (lk_fuel *fuel, uint64_t was)
{
    switch (lk_fuel_below (fuel, 4)) {
    case 0:
        return was + 1;
    case 1:
        return was - 1;
    default:
        return lk_fuel_number (fuel);
    }
}

/*  What can travel as a count, or as a time of somebody's clock. */
static uint64_t
draw_count (lk_fuel *fuel, uint64_t was)
{
    return draw_number (fuel, was) & LK_COUNT_MAX;
}

static int64_t
draw_clock (lk_fuel *fuel, int64_t was)
{
    return (int64_t) draw_number (fuel, (uint64_t) was) % LK_COUNT_MAX;
}

static lk_host
draw_host (lk_fuel *fuel, const lk_hostmap *hostmap)
{
    return (lk_host) (lk_fuel_byte (fuel) % hostmap->count);
}

static lk_hosts
draw_hosts (lk_fuel *fuel, const lk_hostmap *hostmap)
{
    const lk_hosts all = hostmap->count < LK_HOSTS_MAX
                             ? LK_HOST_BIT (hostmap->count) - 1
                             : ~(lk_hosts) 0;
    return lk_fuel_number (fuel) & all;
}

static lk_term
draw_term (lk_fuel *fuel, const lk_hostmap *hostmap, lk_term was)
{
    const uint8_t how = lk_fuel_byte (fuel);
    lk_term term = was;
    if (how & 1) {
        term.number = draw_number (fuel, was.number) & LK_TERM_NUMBER_MAX;
    }
    if (how & 2) {
        term.proposer = lk_hostmap_id (hostmap, draw_host (fuel, hostmap));
    } else if (how & 4) {
        term.proposer = draw_number (fuel, was.proposer);
    }
    return term;
}

static void
draw_decree (lk_fuel *fuel, const lk_hostmap *hostmap, lk_decree *decree)
{
    switch (lk_fuel_below (fuel, 6)) {
    case 0:
        decree->term = draw_term (fuel, hostmap, decree->term);
        break;
    case 1:
        decree->members = draw_hosts (fuel, hostmap);
        break;
    case 2:
        decree->leader_count =
            (uint8_t) lk_fuel_below (fuel, LK_LEADERS_MAX + 1);
        for (size_t i = 0; i < decree->leader_count; i++) {
            decree->leader[i] = draw_host (fuel, hostmap);
        }
        break;
    case 3:
        decree->leader[lk_fuel_below (fuel, LK_LEADERS_MAX)] =
            draw_host (fuel, hostmap);
        break;
    case 4:
        decree->settings.version = lk_fuel_below (fuel, 3);
        decree->settings.hash[0] = lk_fuel_below (fuel, 2);
        break;
    default:
        decree->reclaim = !decree->reclaim;
    }
}

static void
draw_request (lk_fuel *fuel, const lk_hostmap *hostmap, lk_request_id *request)
{
    const uint8_t how = lk_fuel_byte (fuel);
    if (how & 1 || request->host >= hostmap->count) {
        request->host = draw_host (fuel, hostmap);
    }
    if (how & 2) {
        request->session = draw_count (fuel, request->session);
    }
    if (how & 4) {
        request->serial = draw_count (fuel, request->serial);
    }
}

lk_lock_mode
lk_hostile_mode (lk_fuel *fuel)
{
    const uint8_t how = lk_fuel_byte (fuel);
    return (lk_lock_mode) {.type = (lk_lock_type) (how % LK_LOCK_TYPE_COUNT),
                           .soft = how & 4,
                           .quiet_ms = how & 8 ? lk_fuel_byte (fuel) : 0,
                           .limit = how & 16 ? lk_fuel_byte (fuel) % 4 : 0,
                           .bound = how & 32 ? lk_fuel_byte (fuel) % 4 : 0,
                           .lenient = how & 64,
                           .is_static = how & 128};
}

static lk_name
draw_reason (lk_fuel *fuel)
{
    static const lk_name reasons[] = {{"", 0}, {"it hangs", 8}};
    return reasons[lk_fuel_below (fuel, 2)];
}

/*  What only other locks than plain exclusive ones have. */
static void
draw_kind (lk_fuel *fuel, lk_ticket *ticket)
{
    const uint8_t how = lk_fuel_byte (fuel);
    ticket->mode = lk_hostile_mode (fuel);
    ticket->ordinal = how & 7;
    ticket->turn = how / 8 & 3;
    ticket->upgrade = how & 32;
    ticket->kept = how & 64;
    ticket->rest = how & 128 ? lk_fuel_byte (fuel) % 4 : 0;
}

static lk_ticket
draw_ticket (lk_fuel *fuel, const lk_hostmap *hostmap)
{
    lk_ticket ticket = {.object = lk_hostile_object (fuel),
                        .owner = owner_of (fuel),
                        .request = {0, 1, 1}};
    draw_request (fuel, hostmap, &ticket.request);
    ticket.number = lk_fuel_number (fuel);
    ticket.token = lk_fuel_number (fuel);
    ticket.key = lk_fuel_byte (fuel);
    ticket.duration_ms = (int64_t) draw_count (fuel, 0);
    ticket.age_ms = (int64_t) draw_count (fuel, 0);
    if (lk_fuel_byte (fuel) & 1) {
        draw_kind (fuel, &ticket);
    }
    if (lk_fuel_below (fuel, 8) == 7) { /* of one of a few */
        ticket.remote = (lk_far_id) {.owner = {1, lk_fuel_below (fuel, 2)},
                                     .serial = lk_fuel_below (fuel, 3),
                                     .number = 1 + lk_fuel_below (fuel, 4)};
    }
    return ticket;
}

static size_t
draw_tickets (lk_fuel *fuel, const lk_hostmap *hostmap, lk_hostile_room *room)
{
    const size_t count = lk_fuel_below (fuel, LK_HOSTILE_ROWS + 1);
    for (size_t i = 0; i < count; i++) {
        room->ticket[i] = draw_ticket (fuel, hostmap);
    }
    return count;
}

static lk_op
draw_op (lk_fuel *fuel, const lk_hostmap *hostmap, lk_hostile_room *room)
{
    lk_op op = {.kind = (lk_op_kind) lk_fuel_below (fuel, LK_OP_COUNT),
                .by.host = LK_NOBODY};
    op.ticket = draw_ticket (fuel, hostmap);
    if (op.kind == LK_OP_RESUME
        || (op.kind == LK_OP_DROP && lk_fuel_byte (fuel) & 1)) {
        draw_request (fuel, hostmap, &op.by);
    } else if (op.kind == LK_OP_ADD && lk_fuel_byte (fuel) & 1) {
        op.ticket_count = draw_tickets (fuel, hostmap, room);
        op.tickets = room->ticket;
    } else if (op.kind == LK_OP_REPORT) {
        op.part = draw_count (fuel, 0);
        op.more = lk_fuel_byte (fuel) & 1;
        op.ticket_count = draw_tickets (fuel, hostmap, room);
        op.tickets = room->ticket;
    }
    return op;
}

/*  -------------------------------------------------------- fields */

typedef enum {
    TERM,
    DECREE,
    HOST,
    HOST_OR_NOBODY,
    HOSTS,
    HEX,
    COUNT,
    CLOCK,
    RANDOM,
    FLAG,
    PRIORITY,
    PLACE,
    PLACES,
    WHY,
    CAUSE,
    JOURNAL,
    FAULT,
    OBJECT,
    OWNER,
    REQUEST,
    MODE,
    TYPE,
    SMALL,
    REASON,
    TICKETS,
    OPS,
    GONE,
    RELEASES
} field_type;

typedef struct {
    uint64_t kinds; /* that have it, as bits */
    field_type type;
    size_t offset;
} field;

#define K(kind) ((uint64_t) 1 << LK_MSG_##kind)
#define ALL (~(uint64_t) 0)
#define FIELD(kinds, type, member)                                             \
    {                                                                          \
        kinds, type, offsetof (lk_lock_message, member)                        \
    }

#define DECREES (K (ELECTED) | K (SITTING) | K (ACTIVE) | K (READY))
#define CHUNKS (K (MAXTICKET) | K (FILL))
#define REQUESTS (K (LOCK) | K (UNLOCK))
#define REPLIES (K (LOCKED) | K (UNLOCKED) | K (LOCKFAILED))
#define CHECKS (K (CHECK) | K (CHECKED))
#define STOPS (K (STOPPING) | K (PENDING))
#define REPORTS (K (REPORT) | K (REPORTED))
#define AUDITS (K (AUDIT) | K (AUDITED))
#define ALERTS (K (ALERT) | K (ALERTED))

static const field fields[] = {
    FIELD (ALL, HOST, from),
    FIELD (ALL, HOST_OR_NOBODY, origin),
    FIELD (ALL, HOST_OR_NOBODY, destination),
    FIELD (ALL, TERM, term),
    FIELD (K (STARTED), FLAG, as.started.answer),
    FIELD (K (STARTED), PRIORITY, as.started.candidate.priority),
    FIELD (K (STARTED), FLAG, as.started.eligible),
    FIELD (K (STARTED), COUNT, as.started.incarnation),
    FIELD (K (STARTED), DECREE, as.started.active),
    FIELD (K (PING), CLOCK, as.ping.at),
    FIELD (K (PING), COUNT, as.ping.incarnation),
    FIELD (K (PING), FLAG, as.ping.has_echo),
    FIELD (K (PING), CLOCK, as.ping.echo_at),
    FIELD (K (PING), COUNT, as.ping.echo_incarnation),
    FIELD (K (PING), DECREE, as.ping.active),
    FIELD (K (PING), TERM, as.ping.promised),
    FIELD (K (PING), DECREE, as.ping.table),
    FIELD (K (PING), FLAG, as.ping.ready),
    FIELD (K (PING), FLAG, as.ping.well),
    FIELD (K (PING), PLACES, as.ping.reclaim),
    FIELD (K (PING), FLAG, as.ping.eligible),
    FIELD (K (PING), HOSTS, as.ping.sees),
    FIELD (K (PING), COUNT, as.ping.session),
    FIELD (K (PING), COUNT, as.ping.closed),
    FIELD (K (PING), COUNT, as.ping.vouch),
    FIELD (K (DATE) | K (AGREED), COUNT, as.date.in_ms),
    FIELD (K (DATE), TERM, as.date.promised),
    FIELD (K (DATE), WHY, as.date.reason),
    FIELD (K (VOTED), PRIORITY, as.voted.candidate.priority),
    FIELD (K (VOTED), RANDOM, as.voted.candidate.random),
    FIELD (K (VOTED), FLAG, as.voted.eligible),
    FIELD (K (VOTED), DECREE, as.voted.active),
    FIELD (K (VOTED), TERM, as.voted.holds.term),
    FIELD (K (VOTED), FLAG, as.voted.holds.reclaim),
    FIELD (K (VOTED), COUNT, as.voted.holds.length),
    FIELD (K (VOTED), FLAG, as.voted.holds.late),
    FIELD (K (VOTED), HOSTS, as.voted.hears),
    FIELD (K (VOTED), HOSTS, as.voted.sees),
    FIELD (K (DESIST), TERM, as.desist.promised),
    FIELD (DECREES, DECREE, as.decree.decree),
    FIELD (K (ELECTED), TERM, as.decree.previous),
    FIELD (K (ELECTED), FLAG, as.decree.genesis),
    FIELD (K (ELECTED), HOST_OR_NOBODY, as.decree.holder),
    FIELD (K (ENTERED), TERM, as.entered.holds.term),
    FIELD (K (ENTERED), FLAG, as.entered.holds.reclaim),
    FIELD (K (ENTERED), COUNT, as.entered.holds.length),
    FIELD (K (ENTERED), FLAG, as.entered.holds.late),
    FIELD (K (GETMAX), TERM, as.getmax.previous),
    FIELD (K (GETMAX), COUNT, as.getmax.chunk),
    FIELD (K (MAXTICKET), TERM, as.chunk.table),
    FIELD (K (MAXTICKET), COUNT, as.chunk.incarnation),
    FIELD (K (FILL), DECREE, as.chunk.decree),
    FIELD (K (FILL), HEX, as.chunk.offer),
    FIELD (K (FILL), HEX, as.chunk.onto),
    FIELD (CHUNKS, COUNT, as.chunk.chunk),
    FIELD (CHUNKS, FLAG, as.chunk.more),
    FIELD (CHUNKS, TICKETS, as.chunk),
    FIELD (CHUNKS, PLACES, as.chunk.reclaim),
    FIELD (CHUNKS, GONE, as.chunk.gone),
    FIELD (CHUNKS, RELEASES, as.chunk),
    FIELD (K (FILLED), COUNT, as.filled.chunk),
    FIELD (K (FILLED), HEX, as.filled.hash),
    FIELD (K (FILLED), HEX, as.filled.offer),
    FIELD (K (FILLED), FLAG, as.filled.has_lacks),
    FIELD (K (OPS), PLACE, as.ops.home),
    FIELD (K (OPS), COUNT, as.ops.first),
    FIELD (K (OPS), HEX, as.ops.hash),
    FIELD (K (OPS), OPS, as.ops),
    FIELD (K (ACKED), PLACE, as.acked.home),
    FIELD (K (ACKED), COUNT, as.acked.sequence),
    FIELD (K (ACKED), HEX, as.acked.hash),
    FIELD (K (HOST) | K (SILENT), HOST, as.host.host),
    FIELD (K (HOST) | K (SILENT), COUNT, as.host.session),
    FIELD (REQUESTS, REQUEST, as.request.ticket.request),
    FIELD (REQUESTS, OBJECT, as.request.ticket.object),
    FIELD (REQUESTS, OWNER, as.request.ticket.owner),
    FIELD (REQUESTS, HEX, as.request.ticket.key),
    FIELD (REQUESTS, CLOCK, as.request.at),
    FIELD (K (LOCK), COUNT, as.request.ticket.duration_ms),
    FIELD (K (LOCK), COUNT, as.request.ticket.age_ms),
    FIELD (K (LOCK), FLAG, as.request.queue),
    FIELD (K (LOCK), MODE, as.request.ticket.mode),
    FIELD (K (LOCK), SMALL, as.request.ticket.turn),
    FIELD (K (LOCK), FLAG, as.request.keep),
    FIELD (K (LOCK), TICKETS, as.request),
    FIELD (K (UNLOCK), FLAG, as.request.by_key),
    FIELD (K (UNLOCK), FLAG, as.request.force),
    FIELD (K (UNLOCK), FLAG, as.request.now),
    FIELD (K (UNLOCK), HEX, as.request.ticket.token),
    FIELD (K (UNLOCK), REASON, as.request.reason),
    FIELD (REPLIES, REQUEST, as.reply.request),
    FIELD (REPLIES, OBJECT, as.reply.object),
    FIELD (REPLIES, HEX, as.reply.token),
    FIELD (K (LOCKED), HEX, as.reply.key),
    FIELD (K (LOCKED), CLOCK, as.reply.as_of),
    FIELD (K (LOCKED), COUNT, as.reply.left_ms),
    FIELD (REPLIES, FAULT, as.reply.error),
    FIELD (K (LOCKED), TYPE, as.reply.type),
    FIELD (K (LOCKED), SMALL, as.reply.ordinal),
    FIELD (K (LOCKED) | K (LOCKFAILED), SMALL, as.reply.turn),
    FIELD (K (LOCKED), FLAG, as.reply.kept),
    FIELD (K (UNLOCKED), REASON, as.reply.reason),
    FIELD (CHECKS, REQUEST, as.check.request),
    FIELD (CHECKS, OBJECT, as.check.object),
    FIELD (CHECKS, HEX, as.check.token),
    FIELD (K (CHECKED), FLAG, as.check.held),
    FIELD (K (CHECKED), HEX, as.check.newest),
    FIELD (REQUESTS, FLAG, as.request.heir),
    FIELD (STOPS, REQUEST, as.stopping.request),
    FIELD (STOPS, OBJECT, as.stopping.object),
    FIELD (K (STOPPING), HEX, as.stopping.token),
    FIELD (STOPS, COUNT, as.stopping.left_ms),
    FIELD (K (PENDING), HOST, as.stopping.host),
    FIELD (K (PENDING), COUNT, as.stopping.silent_ms),
    FIELD (REPORTS, COUNT, as.report.session),
    FIELD (REPORTS, PLACE, as.report.home),
    FIELD (REPORTS, COUNT, as.report.part),
    FIELD (K (REPORT), FLAG, as.report.more),
    FIELD (K (REPORT), TICKETS, as.report),
    FIELD (ALERTS, COUNT, as.alert.incarnation),
    FIELD (ALERTS, COUNT, as.alert.number),
    FIELD (K (ALERT), CAUSE, as.alert.cause),
    FIELD (K (ALERT), HOST, as.alert.host),
    FIELD (K (ALERT), HOST, as.alert.home),
    FIELD (K (ALERT), COUNT, as.alert.sequence),
    FIELD (K (ALERT), HEX, as.alert.hash),
    FIELD (AUDITS, REQUEST, as.audit.request),
    FIELD (AUDITS, OBJECT, as.audit.object),
    FIELD (AUDITS, HEX, as.audit.number),
    FIELD (AUDITS, HEX, as.audit.token),
    FIELD (K (PING), FLAG, as.ping.lacks),
    FIELD (K (PING), FLAG, as.ping.sealed),
    FIELD (K (PING), JOURNAL, as.ping.journal),
    FIELD (K (WANTING) | K (SETTINGS), COUNT, as.settings.id.version),
    FIELD (K (WANTING) | K (SETTINGS), HEX, as.settings.id.hash[0]),
    FIELD (K (WANTING) | K (SETTINGS), HEX, as.settings.id.hash[1]),
    FIELD (K (SETTINGS), OWNER, as.settings.text),
};

#define FIELD_COUNT (sizeof fields / sizeof fields[0])

_Static_assert(LK_MSG_COUNT <= 64, "kinds fit into bits");

static void
edit_tickets (lk_fuel *fuel, lk_lock_message *message,
              const lk_hostmap *hostmap, lk_hostile_room *room)
{
    const size_t count = draw_tickets (fuel, hostmap, room);
    if (message->kind == LK_MSG_REPORT) {
        message->as.report.tickets = room->ticket;
        message->as.report.ticket_count = count;
    } else if (message->kind == LK_MSG_LOCK) {
        message->as.request.ticket.rest = (uint16_t) count;
        message->as.request.rest = room->ticket;
        message->as.request.rest_count = count;
    } else {
        message->as.chunk.tickets = room->ticket;
        message->as.chunk.ticket_count = count;
    }
}

static void
edit_ops (lk_fuel *fuel, lk_lock_message *message, const lk_hostmap *hostmap,
          lk_hostile_room *room)
{
    const size_t count = lk_fuel_below (fuel, LK_HOSTILE_ROWS + 1);
    for (size_t i = 0; i < count; i++) {
        room->op[i] = draw_op (fuel, hostmap, room);
    }
    message->as.ops.ops = room->op;
    message->as.ops.op_count = count;
}

static void
edit_releases (lk_fuel *fuel, lk_msg_chunk *chunk, const lk_hostmap *hostmap,
               lk_hostile_room *room)
{
    chunk->release_count = lk_fuel_below (fuel, LK_HOSTILE_ROWS + 1);
    chunk->releases = room->release;
    for (size_t i = 0; i < chunk->release_count; i++) {
        draw_request (fuel, hostmap, &room->release[i].by);
        room->release[i].up_to = draw_count (fuel, 0);
    }
}

static void
edit_of_cluster (lk_fuel *fuel, field_type type, void *at,
                 const lk_hostmap *hostmap)
{
    switch (type) {
    case TERM:
        *(lk_term *) at = draw_term (fuel, hostmap, *(lk_term *) at);
        break;
    case DECREE:
        draw_decree (fuel, hostmap, at);
        break;
    case HOST:
        *(lk_host *) at = draw_host (fuel, hostmap);
        break;
    case HOST_OR_NOBODY:
        *(lk_host *) at =
            lk_fuel_byte (fuel) & 1 ? LK_NOBODY : draw_host (fuel, hostmap);
        break;
    case HOSTS:
        *(lk_hosts *) at = draw_hosts (fuel, hostmap);
        break;
    case REQUEST:
        draw_request (fuel, hostmap, at);
        break;
    case GONE:
        ((uint64_t *) at)[draw_host (fuel, hostmap)] = draw_count (fuel, 0);
        break;
    default:
        break;
    }
}

static void
edit_value (lk_fuel *fuel, field_type type, void *at)
{
    switch (type) {
    case HEX:
        *(uint64_t *) at = draw_number (fuel, *(uint64_t *) at);
        break;
    case COUNT:
        *(uint64_t *) at = draw_count (fuel, *(uint64_t *) at);
        break;
    case CLOCK:
        *(int64_t *) at = draw_clock (fuel, *(int64_t *) at);
        break;
    case RANDOM:
        *(uint32_t *) at = lk_fuel_number (fuel) & 0xfffffff;
        break;
    case SMALL:
        *(uint32_t *) at = lk_fuel_byte (fuel) % 4;
        break;
    case FLAG:
        *(bool *) at = !*(bool *) at;
        break;
    case PRIORITY:
        *(uint8_t *) at = lk_fuel_byte (fuel) & LK_PRIORITY_MAX;
        break;
    case PLACE:
        *(uint8_t *) at = (uint8_t) lk_fuel_below (fuel, LK_LEADERS_MAX);
        break;
    case PLACES:
        *(uint8_t *) at = lk_fuel_byte (fuel) % (1 << LK_LEADERS_MAX);
        break;
    default:
        break;
    }
}

static void
edit_of_lock (lk_fuel *fuel, field_type type, void *at)
{
    switch (type) {
    case WHY:
        *(lk_why *) at = (lk_why) lk_fuel_below (fuel, LK_WHY_COUNT);
        break;
    case CAUSE:
        *(lk_alert_cause *) at =
            (lk_alert_cause) lk_fuel_below (fuel, LK_ALERT_CAUSES);
        break;
    case JOURNAL:
        *(lk_journal_mode *) at =
            (lk_journal_mode) lk_fuel_below (fuel, LK_JOURNAL_MODES);
        break;
    case FAULT:
        *(int *) at = (int) lk_fuel_below (fuel, LK_ERROR_COUNT);
        break;
    case OBJECT:
        *(lk_name *) at = lk_hostile_object (fuel);
        break;
    case OWNER:
        *(lk_name *) at = owner_of (fuel);
        break;
    case REASON:
        *(lk_name *) at = draw_reason (fuel);
        break;
    case MODE:
        *(lk_lock_mode *) at = lk_hostile_mode (fuel);
        break;
    case TYPE:
        *(lk_lock_type *) at =
            (lk_lock_type) lk_fuel_below (fuel, LK_LOCK_TYPE_COUNT);
        break;
    default:
        break;
    }
}

void
lk_hostile_edit (lk_fuel *fuel, lk_lock_message *message,
                 const lk_hostmap *hostmap, lk_hostile_room *room)
{
    size_t at = lk_fuel_below (fuel, FIELD_COUNT);
    while (!(fields[at].kinds >> message->kind & 1)) {
        at = (at + 1) % FIELD_COUNT;
    }
    if (fields[at].type == TICKETS) {
        edit_tickets (fuel, message, hostmap, room);
    } else if (fields[at].type == OPS) {
        edit_ops (fuel, message, hostmap, room);
    } else if (fields[at].type == RELEASES) {
        edit_releases (fuel, &message->as.chunk, hostmap, room);
    } else {
        void *place = (char *) message + fields[at].offset;
        edit_of_cluster (fuel, fields[at].type, place, hostmap);
        edit_value (fuel, fields[at].type, place);
        edit_of_lock (fuel, fields[at].type, place);
    }
}

/*  -------------------------------------------------------- the wire */

bool
lk_hostile_travel (const lk_lock_message *message, lk_hostmap *hostmap,
                   lk_lock_message *out)
{
    char from[LK_ADDRESS_LEN_MAX + 1];
    snprintf (from, sizeof from, "lock@%s",
              lk_hostmap_name (hostmap, message->from));
    lk_message *bus = lk_lock_encode (message, hostmap, message->from);
    lk_message_set_from (bus, from);
    const lk_err error = lk_lock_decode (bus, hostmap, message->to, out);
    lk_message_destroy (&bus);
    return error == LK_OK;
}
