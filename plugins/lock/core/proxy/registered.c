/*  registered.c - what applications on other machines ask for
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  LOCK and UNLOCK of a registration. lockkeeper-protocol(7), 9.20.
 */

#include "demand.h"
#include "demand_tell.h"
#include "proxy_private.h"
#include "registration.h"

/*  -------------------------------------------------------- LOCK, UNLOCK */

static void
tell (lk_proxy *proxy, lk_answer_kind kind, const lk_app_request *request)
{
    lk_out_answer (proxy->core, &(lk_answer) {.kind = kind,
                                              .app = request->app,
                                              .serial = request->serial,
                                              .until_ms = INT64_MAX,
                                              .far = request->far});
}

/*  Sets, static locks and what lingers are not served yet. */
static bool
is_served (const lk_app_request *request)
{
    return request->rest_count == 0 && !request->mode.is_static
           && request->linger_ms == 0 && request->turn == 0
           && (request->token == 0 || request->left_ms > 0);
}

/*  What was given back in this registration is not taken again: such a LOCK is
 *  late. Protocol 9.20: Registration. */
void
lk_far_lock (lk_proxy *proxy, const lk_app_request *request)
{
    lk_registration *self = lk_registration_find (proxy, &request->far);
    lk_app_request own = *request;
    if (!self) {
        tell (proxy, LK_ANSWER_UNKNOWN, request);
        return;
    }
    own.app = self->app;
    if (proxy->leaving) {
        tell (proxy, LK_ANSWER_MOVE, &own);
        return;
    }
    if (!is_served (request)) {
        lk_out_answer (proxy->core, &(lk_answer) {.kind = LK_ANSWER_FAILED,
                                                  .app = self->app,
                                                  .serial = request->serial,
                                                  .until_ms = INT64_MAX,
                                                  .error = LK_INVALID});
        return;
    }
    if (lk_registration_has_ended (self, request->serial)) {
        return;
    }
    if (request->token != 0) {
        own.lease_until_ms =
            proxy->core->now_ms + lk_with_margin (request->left_ms);
    }
    lk_on_app_lock (proxy, &own);
}

/*  One that another registration has said, maybe at another server.
 *  Protocol 9.20: Moving. */
static void
give_back_elsewhere (lk_proxy *proxy, const lk_registration *self,
                     const lk_app_request *request)
{
    if (request->object.size == 0 || request->object.size > LK_NAME_SIZE_MAX
        || proxy->serials.count >= LK_REQUESTS_MAX) {
        return;
    }
    lk_demand *demand =
        lk_demand_new (proxy, LK_DEMAND_CLOSING, ++proxy->last_serial,
                       self->app, request->serial, request->object);
    demand->ticket.remote =
        (lk_far_id) {.owner = {self->id.owner[0], self->id.owner[1]},
                     .serial = request->serial,
                     .number = self->id.number};
    demand->unlock = request->unlock;
    lk_demand_await_unlocked (proxy, demand);
    lk_demand_send (proxy, demand);
}

void
lk_far_unlock (lk_proxy *proxy, const lk_app_request *request)
{
    lk_registration *self = lk_registration_find (proxy, &request->far);
    lk_app_request own = *request;
    if (!self) {
        tell (proxy, LK_ANSWER_UNKNOWN, request);
        return;
    }
    lk_registration_note_end (self, request->serial);
    own.app = self->app;
    if (lk_demand_by_name (proxy, self->app, request->serial)) {
        lk_on_app_unlock (proxy, &own);
    } else if (self->id.number > 1) {
        give_back_elsewhere (proxy, self, request);
    } else {
        tell (proxy, LK_ANSWER_UNLOCKED, &own);
    }
}
