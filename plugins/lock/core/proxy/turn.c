/*  turn.c - a held lock's change of type, at its proxy
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "turn.h"

#include "demand_tell.h"
#include "life.h"
#include "proxy_private.h"

static void
tell_failed (lk_proxy *proxy, lk_demand *demand, uint32_t turn, lk_err error)
{
    lk_demand_answer (proxy, demand,
                      (lk_answer) {.kind = LK_ANSWER_FAILED,
                                   .error = error,
                                   .turn = turn,
                                   .until_ms = INT64_MAX});
}

/*  The application's turn is over; it is told so unless nobody waits. */
static void
fail (lk_proxy *proxy, lk_demand *demand, lk_err error)
{
    lk_turn *self = &demand->turn;
    if (self->asked != 0) {
        self->told = self->asked;
        self->asked = 0;
        self->error = error;
        tell_failed (proxy, demand, self->told, error);
    }
}

/*  It is known again what the lock is. Protocol 9.11. */
static void
tell_heir (lk_proxy *proxy, lk_demand *demand)
{
    if (demand->turn.heir_waits) {
        demand->turn.heir_waits = false;
        lk_demand_tell_locked (proxy, demand);
    }
}

/*  Who gives up what it alone has does so at once: its home may share it out
 *  before it says so. Protocol 9.11. */
static void
begin (lk_proxy *proxy, lk_demand *demand, lk_lock_type type, int64_t wait_ms)
{
    lk_turn *self = &demand->turn;
    self->sent++;
    self->type = type;
    self->queue = wait_ms != 0;
    self->until_ms = INT64_MAX;
    if (type == LK_SHARED) {
        demand->ticket.mode.type = LK_SHARED;
    } else if (wait_ms >= 0 && wait_ms < INT64_MAX - proxy->core->now_ms) {
        self->until_ms =
            proxy->core->now_ms + (wait_ms > 0 ? wait_ms : LK_TRY_MS);
    }
    lk_demand_ask_on (proxy, demand);
    lk_demand_send (proxy, demand);
    lk_demand_await_end (proxy, demand);
}

void
lk_refuse_turn (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    tell_failed (proxy, demand, news->request->turn, LK_INVALID);
}

static void
answer_again (lk_proxy *proxy, lk_demand *demand, uint32_t turn)
{
    const lk_turn *self = &demand->turn;
    if (turn == self->told && self->error != LK_OK) {
        tell_failed (proxy, demand, turn, self->error);
    } else {
        lk_demand_tell_locked (proxy, demand);
    }
}

/*  protocol 9.11 */
void
lk_begin_turn (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    const lk_app_request *request = news->request;
    lk_turn *self = &demand->turn;
    lk_lock_type type = request->mode.type;
    if (request->turn <= self->told) {
        answer_again (proxy, demand, request->turn);
    } else if (demand->ticket.mode.type == LK_SEMAPHORE
               || (type != LK_SHARED && type != LK_EXCLUSIVE)
               || request->wait_ms < -1) {
        lk_refuse_turn (proxy, demand, news);
    } else if (request->turn > self->asked) {
        self->asked = request->turn;
        begin (proxy, demand, type, request->wait_ms);
    }
}

/*  The duration goes on as it was counted from the first grant.
 *  Protocol 9.11. */
void
lk_take_turn (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    const lk_msg_reply *reply = news->reply;
    lk_turn *self = &demand->turn;
    lk_ticket *ticket = &demand->ticket;
    if (!demand->asks_on || reply->turn != self->sent
        || reply->type != self->type) {
        return; /* a turn that was given up, or refused: that is said, too */
    }
    lk_demand_ask_no_more (proxy, demand);
    ticket->turn = reply->turn;
    ticket->token = reply->token;
    lk_demand_learn_key (proxy, demand, reply->key);
    ticket->mode.type = reply->type;
    ticket->ordinal = reply->ordinal;
    tell_heir (proxy, demand);
    if (self->asked != 0) {
        self->told = self->asked;
        self->asked = 0;
        self->error = LK_OK;
        lk_demand_tell_locked (proxy, demand);
    }
}

/*  protocol 9.11 */
void
lk_fail_turn (lk_proxy *proxy, lk_demand *demand, const lk_news *news)
{
    const lk_msg_reply *reply = news->reply;
    if (!demand->asks_on || reply->turn != demand->turn.sent) {
        return;
    }
    lk_demand_ask_no_more (proxy, demand);
    demand->ticket.turn = reply->turn;
    tell_heir (proxy, demand);
    fail (proxy, demand, (lk_err) reply->error);
}

void
lk_turn_forget (lk_proxy *proxy, lk_demand *demand, lk_err error)
{
    fail (proxy, demand, error);
}

/*  It may have been granted just now: so its home is told. Protocol 9.11. */
void
lk_turn_expire (lk_proxy *proxy, lk_demand *demand)
{
    fail (proxy, demand, LK_TIMEDOUT);
    begin (proxy, demand, LK_SHARED, -1);
}

/*  protocol 9.11 */
void
lk_turn_give_up (lk_proxy *proxy, lk_demand *demand)
{
    if (demand->asks_on && demand->turn.type == LK_EXCLUSIVE) {
        demand->turn.asked = 0;
        begin (proxy, demand, LK_SHARED, -1);
    }
}
