/*  requests.c - what applications ask of their host's proxy
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "asked.h"
#include "asker.h"
#include "demand.h"
#include "demand_tell.h"
#include "grant.h"
#include "jeopardy.h"
#include "life.h"
#include "proxy_private.h"
#include "set.h"
#include "util/utf8.h"

#include <string.h>
#include <utlist.h>

/*  `told` is its kind, error and text. */
static void
answer (lk_proxy *proxy, lk_asked asked, const lk_app_request *request,
        lk_answer told)
{
    told.app = request->app;
    told.serial = request->serial;
    told.asked = lk_asked_lend (proxy, asked);
    told.turn = request->turn;
    told.until_ms = INT64_MAX;
    lk_out_answer (proxy->core, &told);
}

static void
refuse (lk_proxy *proxy, lk_event_type asks, const lk_app_request *request,
        lk_err error)
{
    answer (proxy, lk_asked_by (proxy, asks, request), request,
            (lk_answer) {.kind = LK_ANSWER_FAILED, .error = error});
}

/*  It is not taken at all: no request for history. */
static void
refuse_why (lk_proxy *proxy, lk_event_type asks, const lk_app_request *request,
            lk_err error, const char *text)
{
    lk_asked asked = lk_asked_by (proxy, asks, request);
    asked.course = (lk_course) {0};
    answer (
        proxy, asked, request,
        (lk_answer) {.kind = LK_ANSWER_FAILED, .error = error, .text = text});
}

/*  Its end was told before, so it is no news. */
static void
answer_again (lk_proxy *proxy, lk_event_type asks,
              const lk_app_request *request, const lk_outcome *end)
{
    lk_asked asked = lk_asked_by (proxy, asks, request);
    asked.course = (lk_course) {0};
    answer (proxy, asked, request,
            (lk_answer) {.kind = end->kind, .error = end->error});
}

static void
refuse_unknown (lk_proxy *proxy, lk_event_type asks,
                const lk_app_request *request)
{
    refuse_why (proxy, asks, request, LK_UNKNOWN,
                "there is no such request (any more)");
}

/*  Serials are not used twice. */
static void
refuse_other (lk_proxy *proxy, lk_event_type asks,
              const lk_app_request *request)
{
    refuse_why (proxy, asks, request, LK_INVALID,
                "the serial is that of another request");
}

/*  -------------------------------------------------------- LOCK */

static bool
is_claimed (const lk_app_request *request)
{
    size_t claimed = 0;
    if (request->rest_count == 0) {
        return request->key != 0;
    }
    while (request->claims && claimed <= request->rest_count
           && request->claims[claimed].token != 0
           && request->claims[claimed].key != 0) {
        claimed++;
    }
    return claimed > request->rest_count;
}

/*  Whether what it says that it holds can be resumed. */
static bool
may_resume (const lk_app_request *request)
{
    return request->token == 0
           || (is_claimed (request) && request->owner.size > 0
               && !request->mode.is_static);
}

/*  Whether what it asks for can ever be had. Protocol 7.1. */
static bool
is_sound (const lk_app_request *request)
{
    const lk_lock_mode *mode = &request->mode;
    return lk_grant_is_sound (mode)
           && (!mode->lenient || request->duration_ms > 0);
}

static bool
is_too_much (const lk_proxy *proxy, const lk_app_request *request)
{
    size_t size = proxy->names_size + request->object.size;
    for (size_t i = 0; i < request->rest_count; i++) {
        size += request->rest[i].size;
    }
    return proxy->serials.count + request->rest_count >= LK_REQUESTS_MAX
           || size > LK_REQUEST_NAMES_MAX;
}

static bool
has_too_many (const lk_proxy *proxy, uint32_t app)
{
    const lk_asker *asker = lk_asker_find (proxy, app);
    return asker && asker->count >= LK_APP_REQUESTS_MAX;
}

/*  Whether the request can be taken; if not, it was answered. */
static bool
admit (lk_proxy *proxy, lk_event_type asks, const lk_app_request *request)
{
    lk_err error = LK_OK;
    if (request->app == LK_NO_APP || request->object.size == 0
        || request->object.size > LK_NAME_SIZE_MAX || request->wait_ms < -1
        || request->duration_ms < 0 || request->linger_ms < 0
        || !is_sound (request)) {
        error = LK_INVALID;
    } else if (request->rest_count > 0 && !lk_set_is_sound (proxy, request)) {
        error = LK_INVALID;
    } else if (proxy->leaving) {
        error = LK_SHUTDOWN;
    } else if (is_too_much (proxy, request)) {
        error = LK_OVERLOADED;
    } else if (has_too_many (proxy, request->app)) {
        refuse_why (proxy, asks, request, LK_OVERLOADED,
                    "this application has too many requests");
        return false;
    }
    if (error != LK_OK) {
        refuse (proxy, asks, request, error);
    }
    return error == LK_OK;
}

/*  Until when it waits for an answer. */
static int64_t
wait_end (const lk_proxy *proxy, const lk_app_request *request)
{
    int64_t wait_ms = request->wait_ms == 0 ? LK_TRY_MS : request->wait_ms;
    return wait_ms > 0 && wait_ms < INT64_MAX - proxy->core->now_ms
               ? proxy->core->now_ms + wait_ms
               : INT64_MAX;
}

static lk_demand *
take (lk_proxy *proxy, const lk_app_request *request, lk_demand_state state)
{
    lk_demand *demand =
        lk_demand_new (proxy, state, ++proxy->last_serial, request->app,
                       request->serial, request->object);
    lk_demand_set_owner (demand, request->owner);
    demand->wait_until_ms = wait_end (proxy, request);
    lk_demand_await_end (proxy, demand);
    return demand;
}

/*  Whether it has the key of a lock that lingers, of the type that it asks for:
 *  that one is its own now. Protocol 9.11. */
static bool
inherit (lk_proxy *proxy, const lk_app_request *request)
{
    lk_demand *demand;
    if (request->key == 0 || request->mode.is_static) {
        return false;
    }
    demand = lk_demand_by_key (proxy, request->key, request->object,
                               request->mode.type);
    if (demand) {
        demand->turn.was_guarded = demand->guarded;
        demand->wait_until_ms = wait_end (proxy, request);
        demand->linger_ms = request->linger_ms;
        demand->guarded = request->guarded;
        demand->turn.told = 0;
        demand->turn.asked = 0;
        demand->turn.heir_waits = demand->asks_on;
        demand->dangers = 0;
        demand->listed = request->listed;
        demand->pid = request->pid;
        demand->course = (lk_course) {.asked_ms = proxy->core->now_ms};
        lk_demand_rename (proxy, demand, request->app, request->serial);
        lk_demand_enter (proxy, demand, LK_DEMAND_HELD);
        lk_demand_tell_locked (proxy, demand);
        lk_jeopardy_look_at (proxy, demand);
    }
    return demand != NULL;
}

static void
note_wish (lk_demand *demand, const lk_app_request *request)
{
    demand->listed = request->listed;
    demand->pid = request->pid;
    demand->ticket.pid = request->pid;
    demand->ticket.duration_ms = request->duration_ms;
    demand->ticket.mode = request->mode;
    demand->linger_ms = request->linger_ms;
    demand->guarded = request->guarded;
}

/*  It is one of an application on another machine, and maybe a claim of it: not
 *  said before its session is known to go on. Protocol 9.20: Moving. */
static void
note_far (lk_proxy *proxy, lk_demand *demand, const lk_app_request *request)
{
    demand->ticket.remote = lk_far_id_of (request);
    demand->said = request->sent;
    lk_registration_claims (proxy, demand, request);
}

/*  It holds it already, by the lease of a former session, and goes on till that
 *  is over. Protocol 9.13: A restart. */
static void
resume (lk_proxy *proxy, const lk_app_request *request)
{
    lk_demand *demand = take (proxy, request, LK_DEMAND_RESUMING);
    note_wish (demand, request);
    demand->resumes = true;
    demand->heir = request->heir;
    demand->ticket.token = request->token;
    demand->ticket.key = request->key;
    demand->wait_until_ms = request->lease_until_ms;
    note_far (proxy, demand, request);
    lk_closing_note_former (proxy, request->lease_until_ms);
    if (request->lease_until_ms <= proxy->core->now_ms) {
        lk_lapse (proxy, demand, NULL); /* it was read late */
    } else {
        lk_demand_await_end (proxy, demand);
        lk_demand_send (proxy, demand);
    }
}

static void
lock_again (lk_proxy *proxy, lk_demand *demand, const lk_app_request *request)
{
    const lk_asked asked = lk_asked_of (demand);
    const lk_news news = {.kind =
                              request->turn == 0 ? LK_NEWS_LOCK : LK_NEWS_TURN,
                          .request = request};
    if (lk_asked_is (&asked, LK_ON_LOCK, request)) {
        lk_demand_hear (proxy, demand, &news);
    } else {
        refuse_other (proxy, LK_ON_LOCK, request);
    }
}

static void
lock_set_again (lk_proxy *proxy, lk_set *set, const lk_app_request *request)
{
    const lk_asked asked = lk_asked_of_set (set);
    if (!lk_asked_is (&asked, LK_ON_LOCK, request)) {
        refuse_other (proxy, LK_ON_LOCK, request);
    } else if (request->turn != 0) {
        refuse (proxy, LK_ON_LOCK, request, LK_INVALID);
    } else {
        lk_set_hear (proxy, set, &(lk_news) {.kind = LK_NEWS_LOCK});
    }
}

void
lk_on_app_lock (lk_proxy *proxy, const lk_app_request *request)
{
    lk_demand *demand =
        lk_demand_by_name (proxy, request->app, request->serial);
    lk_set *set = lk_set_by_name (proxy, request->app, request->serial);
    if (demand) {
        lock_again (proxy, demand, request);
        return;
    }
    if (set) {
        lock_set_again (proxy, set, request);
        return;
    }
    if (request->turn != 0) {
        refuse_unknown (proxy, LK_ON_LOCK, request);
        return;
    }
    if (!admit (proxy, LK_ON_LOCK, request)) {
        return;
    }
    if (!may_resume (request)) {
        refuse (proxy, LK_ON_LOCK, request, LK_INVALID);
        return;
    }
    if (request->token != 0 && request->rest_count > 0) {
        lk_set_resume (proxy, request);
        return;
    }
    if (request->token != 0) {
        resume (proxy, request);
        return;
    }
    if (inherit (proxy, request)) {
        return;
    }
    if (request->rest_count > 0) {
        lk_set_ask (proxy, request);
        return;
    }
    demand = take (proxy, request, LK_DEMAND_WAITING);
    demand->queue = request->wait_ms != 0;
    note_wish (demand, request);
    note_far (proxy, demand, request);
    lk_demand_send (proxy, demand);
}

/*  -------------------------------------------------------- about others */

/*  Whether one of that serial is under way; if it is another one, that was
 *  answered. */
static bool
is_under_way (lk_proxy *proxy, lk_event_type asks,
              const lk_app_request *request)
{
    const lk_demand *demand =
        lk_demand_by_name (proxy, request->app, request->serial);
    if (!demand && !lk_set_by_name (proxy, request->app, request->serial)) {
        return false;
    }
    const lk_asked asked = demand ? lk_asked_of (demand) : (lk_asked) {0};
    if (!lk_asked_is (&asked, asks, request)
        || demand->ticket.token != request->token) {
        refuse_other (proxy, asks, request);
    }
    return true;
}

static void
run_command (lk_proxy *proxy, lk_event_type asks, const lk_app_request *request,
             lk_command command)
{
    if (is_under_way (proxy, asks, request)) {
        return;
    }
    const lk_outcome *end =
        lk_outcomes_find (&proxy->outcomes, request->app, request->serial);
    if (end) {
        answer_again (proxy, asks, request, end);
        return;
    }
    if (!admit (proxy, asks, request)) {
        return;
    }
    lk_demand *demand = take (proxy, request, LK_DEMAND_ERRAND);
    demand->asks = asks;
    demand->command = command;
    demand->now = request->now;
    demand->ticket.key = request->key;
    demand->ticket.token = request->token;
    demand->reason.data =
        lk_memdup (request->reason.data, request->reason.size);
    demand->reason.size = request->reason.size;
    lk_demand_send (proxy, demand);
}

void
lk_on_app_unlock_by_key (lk_proxy *proxy, const lk_app_request *request)
{
    if (request->key == 0) {
        refuse (proxy, LK_ON_UNLOCK_BY_KEY, request, LK_DENIED);
    } else {
        run_command (proxy, LK_ON_UNLOCK_BY_KEY, request, LK_COMMAND_BY_KEY);
    }
}

void
lk_on_app_force (lk_proxy *proxy, const lk_app_request *request)
{
    const lk_name *reason = &request->reason;
    if (reason->size > LK_REASON_MAX
        || !lk_utf8_is_text (reason->data, reason->size)) {
        refuse (proxy, LK_ON_FORCE, request, LK_INVALID);
    } else {
        run_command (proxy, LK_ON_FORCE, request, LK_COMMAND_FORCE);
    }
}

void
lk_on_app_check (lk_proxy *proxy, const lk_app_request *request)
{
    run_command (proxy, LK_ON_CHECK, request, LK_COMMAND_CHECK);
}

/*  -------------------------------------------------------- giving back */

/*  Whether one of the application's own requests is meant; it goes back. */
static bool
give_back_own (lk_proxy *proxy, const lk_app_request *request)
{
    const lk_news news = {.kind = LK_NEWS_UNLOCK, .request = request};
    lk_demand *demand =
        lk_demand_by_name (proxy, request->app, request->serial);
    lk_set *set = lk_set_by_name (proxy, request->app, request->serial);
    if (!demand && !set) {
        return false;
    }
    const lk_asked asked = set ? lk_asked_of_set (set) : lk_asked_of (demand);
    if (!lk_asked_is (&asked, LK_ON_LOCK, request)) {
        return false;
    }
    if (set) {
        lk_set_hear (proxy, set, &news);
    } else {
        lk_demand_hear (proxy, demand, &news);
    }
    return true;
}

/*  A lock service that was restarted since does not know the request, which
 *  goes by its key then. */
void
lk_on_app_unlock (lk_proxy *proxy, const lk_app_request *request)
{
    lk_app_request command = *request;
    if (give_back_own (proxy, request)) {
        return;
    }
    if (request->unlock != 0) {
        command.serial = request->unlock;
    }
    if (request->key != 0 && request->object.size > 0) {
        lk_on_app_unlock_by_key (proxy, &command);
    } else {
        refuse_unknown (proxy, LK_ON_UNLOCK_BY_KEY, &command);
    }
}

/*  -------------------------------------------------------- gone */

/*  All that an application has goes back, but for what is to stay.
 *  Protocol 9.13. */
void
lk_on_app_gone (lk_proxy *proxy, uint32_t app)
{
    if (app != LK_NO_APP) {
        lk_app_hear (proxy, app, &(lk_news) {.kind = LK_NEWS_GONE});
        lk_proxy_run (proxy);
    }
}
