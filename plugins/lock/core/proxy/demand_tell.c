/*  demand_tell.c - what applications are told of their requests and sets
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "demand_tell.h"

#include "asked.h"
#include "proxy_private.h"

/*  -------------------------------------------------------- a request */

/*  A check may be done twice, and what was not done may be asked for again. */
static bool
ends_command (const lk_demand *demand, const lk_answer *answer)
{
    const bool is_refused =
        answer->kind == LK_ANSWER_FAILED
        && (answer->error == LK_UNKNOWN || answer->error == LK_DENIED);
    return (demand->command == LK_COMMAND_BY_KEY
            || demand->command == LK_COMMAND_FORCE)
           && (answer->kind == LK_ANSWER_UNLOCKED || is_refused);
}

void
lk_demand_answer (lk_proxy *proxy, lk_demand *demand, lk_answer answer)
{
    if (demand->name[0] != LK_NO_APP) {
        answer.app = (uint32_t) demand->name[0];
        answer.serial = demand->name[1];
        answer.asked = lk_asked_lend (proxy, lk_asked_of (demand));
        if (ends_command (demand, &answer)) {
            lk_outcomes_note (&proxy->outcomes, &answer);
        }
        lk_out_answer (proxy->core, &answer);
        lk_asked_note (proxy, &demand->course, &answer);
    }
}

void
lk_demand_tell (lk_proxy *proxy, lk_demand *demand, lk_answer_kind kind,
                lk_err error)
{
    lk_demand_answer (
        proxy, demand,
        (lk_answer) {.kind = kind, .error = error, .until_ms = INT64_MAX});
}

/*  The part of LOCKED that a lock and a set have alike. An application on
 *  another machine counts from its own clock. */
static lk_answer
locked (const lk_ticket *ticket, int64_t until_ms, int64_t since_ms,
        int64_t sent)
{
    return (lk_answer) {.kind = LK_ANSWER_LOCKED,
                        .until_ms = until_ms,
                        .type = ticket->mode.type,
                        .sent = sent,
                        .left_ms =
                            until_ms == INT64_MAX ? -1 : until_ms - since_ms};
}

void
lk_demand_tell_locked (lk_proxy *proxy, lk_demand *demand)
{
    lk_answer answer = locked (&demand->ticket, demand->until_ms,
                               demand->as_of_ms, demand->sent);
    if (demand->turn.heir_waits) {
        return; /* its token may be another one by now */
    }
    answer.token = demand->ticket.token;
    answer.key = demand->ticket.key;
    answer.ordinal = demand->ticket.ordinal;
    answer.turn = demand->turn.told;
    lk_demand_answer (proxy, demand, answer);
}

/*  -------------------------------------------------------- a set */

void
lk_set_answer (lk_proxy *proxy, lk_set *self, lk_answer answer)
{
    answer.app = (uint32_t) self->name[0];
    answer.serial = self->name[1];
    answer.asked = lk_asked_lend (proxy, lk_asked_of_set (self));
    lk_out_answer (proxy->core, &answer);
    lk_asked_note (proxy, &self->course, &answer);
}

void
lk_set_tell_why (lk_proxy *proxy, lk_set *self, lk_answer_kind kind,
                 lk_err error, lk_name reason)
{
    lk_set_answer (proxy, self,
                   (lk_answer) {.kind = kind,
                                .error = error,
                                .until_ms = INT64_MAX,
                                .reason = lk_out_name (proxy->core, reason)});
}

void
lk_set_tell (lk_proxy *proxy, lk_set *self, lk_answer_kind kind, lk_err error)
{
    lk_set_tell_why (proxy, self, kind, error, (lk_name) {0});
}

void
lk_set_tell_locked (lk_proxy *proxy, lk_set *self)
{
    lk_granted *set =
        lk_arena_alloc (&proxy->core->outlet.arena, self->count * sizeof *set);
    for (size_t i = 0; i < self->count; i++) {
        const lk_ticket *ticket = &self->member[i]->ticket;
        set[i] =
            (lk_granted) {.object = lk_out_name (proxy->core, ticket->object),
                          .token = ticket->token,
                          .key = ticket->key};
    }
    lk_answer answer = locked (&self->member[0]->ticket, self->until_ms,
                               self->granted_ms, self->sent);
    answer.set = set;
    answer.set_count = self->count;
    lk_set_answer (proxy, self, answer);
}
