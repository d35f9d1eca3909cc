/*  story.c - messages as words, for --verbose
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "story.h"

#include <stdio.h>
#include <string.h>

#define SAY(text, ...) snprintf ((text), SIM_STORY_SIZE, __VA_ARGS__)

typedef unsigned long long number;

const char *
sim_story_kind (lk_lock_kind kind)
{
#define WORD(kind, command, name) #kind,
    static const char *const words[] = {LK_LOCK_KINDS (WORD)};
#undef WORD

    return words[kind] + strlen ("LK_MSG_");
}

/*  Without zone and context. */
static const char *
title (const lk_name *object, int *size)
{
    const char *begin = object->data;

    *size = object->size;
    while (*size > 0 && *begin == '\0') {
        begin++;
        --*size;
    }
    return begin;
}

static const char *
type_of (const lk_lock_mode *mode)
{
    static const char *const words[] = {"exclusive", "shared", "units"};
    static const char *const soft[] = {"soft", "quiet"};

    if (mode->soft) {
        return soft[mode->quiet_ms > 0];
    }
    return words[mode->type % LK_LOCK_TYPE_COUNT];
}

static void
tell_request (const lk_lock_message *message, const lk_request_id *request,
              const lk_name *object, uint64_t token, char *text)
{
    int size;
    const char *name = title (object, &size);

    SAY (text, "%s of %llu: h%d session %llu serial %llu, %.*s, token %llx%s",
         lk_lock_kind_name (message->kind), (number) message->term.number,
         request->host, (number) request->session, (number) request->serial,
         size, name, (number) token,
         message->destination != LK_NOBODY
                 && message->destination != message->to
             ? ", to be passed on"
             : "");
}

static void
tell_decree (const lk_lock_message *message, char *text)
{
    const lk_msg_decree *order = &message->as.decree;
    char leaders[32] = "";
    size_t used = 0;

    for (size_t i = 0; i < order->decree.leader_count; i++) {
        used += (size_t) snprintf (leaders + used, sizeof leaders - used,
                                   " h%d", order->decree.leader[i]);
    }
    SAY (text, "%s of %llu: leaders%s, holder %d%s",
         lk_lock_kind_name (message->kind), (number) message->term.number,
         leaders, order->holder, order->decree.reclaim ? ", reclaim" : "");
}

static void
tell_vote (const lk_lock_message *message, char *text)
{
    const lk_msg_voted *vote = &message->as.voted;

    SAY (text,
         "voted of %llu: active %llu, holds %llu%s length %llu, sees "
         "%llx",
         (number) message->term.number, (number) vote->active.term.number,
         (number) vote->holds.term.number,
         vote->holds.reclaim ? " in reclaim" : "", (number) vote->holds.length,
         (number) vote->sees);
}

void
sim_story_of (const lk_lock_message *message, char *text)
{
    const lk_msg_audit *audit = &message->as.audit;
    const lk_msg_reply *reply = &message->as.reply;
    const lk_ticket *ticket = &message->as.request.ticket;

    switch (message->kind) {
    case LK_MSG_LOCK:
    case LK_MSG_UNLOCK:
        tell_request (message, &ticket->request, &ticket->object, 0, text);
        break;
    case LK_MSG_LOCKED:
    case LK_MSG_UNLOCKED:
    case LK_MSG_LOCKFAILED:
        tell_request (message, &reply->request, &reply->object, reply->token,
                      text);
        break;
    case LK_MSG_AUDIT:
    case LK_MSG_AUDITED:
        tell_request (message, &audit->request, &audit->object, audit->token,
                      text);
        break;
    case LK_MSG_STOPPING:
    case LK_MSG_PENDING:
        tell_request (message, &message->as.stopping.request,
                      &message->as.stopping.object, 0, text);
        break;
    case LK_MSG_ELECTED:
    case LK_MSG_ACTIVE:
    case LK_MSG_READY:
    case LK_MSG_SITTING:
        tell_decree (message, text);
        break;
    case LK_MSG_VOTED:
        tell_vote (message, text);
        break;
    case LK_MSG_OPS:
        SAY (text, "ops of %llu: home %d, %zu from %llu on",
             (number) message->term.number, message->as.ops.home,
             message->as.ops.op_count, (number) message->as.ops.first);
        break;
    case LK_MSG_ACKED:
        SAY (text, "acked of %llu: home %d, up to %llu",
             (number) message->term.number, message->as.acked.home,
             (number) message->as.acked.sequence);
        break;
    case LK_MSG_HOST:
    case LK_MSG_SILENT:
        SAY (text, "%s of %llu: h%d session %llu",
             lk_lock_kind_name (message->kind), (number) message->term.number,
             message->as.host.host, (number) message->as.host.session);
        break;
    case LK_MSG_REPORT:
    case LK_MSG_REPORTED:
        SAY (text, "%s of %llu: session %llu home %d, %zu tickets",
             lk_lock_kind_name (message->kind), (number) message->term.number,
             (number) message->as.report.session, message->as.report.home,
             message->as.report.ticket_count);
        break;
    default:
        SAY (text, "%s of %llu", lk_lock_kind_name (message->kind),
             (number) message->term.number);
    }
}

void
sim_story_op (const lk_op *op, char *text)
{
    static const char *const words[] = {"add",  "drop",    "gone",  "report",
                                        "open", "confirm", "ripe",  "convert",
                                        "keep", "digest",  "resume"};
    const lk_ticket *ticket = &op->ticket;
    int size;
    const char *name = title (&ticket->object, &size);

    SAY (text, "   %s h%d session %llu serial %llu, %.*s %s, turn %u, %zu more",
         words[op->kind % LK_OP_COUNT], ticket->request.host,
         (number) ticket->request.session, (number) ticket->request.serial,
         size, name, type_of (&ticket->mode), ticket->turn, op->ticket_count);
}

void
sim_story_ticket (const lk_ticket *ticket, char *text)
{
    int size;
    const char *name = title (&ticket->object, &size);

    SAY (
        text,
        "   %.*s %s %u %u h%d session %llu serial %llu: number %llx token %llx "
        "ordinal %u turn %u rest %u%s%s",
        size, name, type_of (&ticket->mode), ticket->mode.limit,
        ticket->mode.bound, ticket->request.host,
        (number) ticket->request.session, (number) ticket->request.serial,
        (number) ticket->number, (number) ticket->token, ticket->ordinal,
        ticket->turn, ticket->rest, ticket->upgrade ? " upgrade" : "",
        ticket->kept ? " kept" : "");
}
