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

static void
refuse (lk_proxy *proxy, const lk_app_request *request, lk_err error)
{
    lk_out_answer (proxy->core, &(lk_answer) {.kind = LK_ANSWER_FAILED,
                                              .app = request->app,
                                              .serial = request->serial,
                                              .turn = request->turn,
                                              .until_ms = INT64_MAX,
                                              .error = error});
}

/*  A lock that it claims to hold it holds by a lease that goes on. Of a host's
 *  own applications alone one gets what another one has left by its key. */
static void
note_claim (const lk_proxy *proxy, lk_app_request *request)
{
    if (request->rest_count > 0) {
        request->token = request->claims ? request->claims[0].token : 0;
    }
    if (request->token == 0 || request->rest_count > 0) {
        request->key = 0;
    }
    request->lease_until_ms =
        request->token == 0
            ? 0
            : proxy->core->now_ms + lk_with_margin (request->left_ms);
}

/*  A lock that was given back in this registration is not taken again: such a
 *  LOCK is late. Protocol 9.20: Registration. */
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
    if (lk_registration_has_ended (self, request->serial)) {
        return;
    }
    if (!lk_registration_may_hold (proxy, own.app)) {
        refuse (proxy, &own, LK_CREDENTIAL);
        return;
    }
    note_claim (proxy, &own);
    if (own.token != 0 && request->left_ms <= 0) {
        refuse (proxy, &own, LK_INVALID);
        return;
    }
    lk_on_app_lock (proxy, &own);
}

/*  One that another registration has said, maybe at another server: it goes by
 *  its names. Where there are too many requests it is said again.
 *  Protocol 9.20: Moving. */
static void
give_back_elsewhere (lk_proxy *proxy, const lk_registration *self,
                     const lk_app_request *request)
{
    if (request->object.size == 0 || request->object.size > LK_NAME_SIZE_MAX
        || (request->rest_count > 0 && !lk_set_is_sound (proxy, request))) {
        refuse (proxy, request, LK_INVALID);
        return;
    }
    if (proxy->serials.count + request->rest_count >= LK_REQUESTS_MAX) {
        return;
    }
    if (request->rest_count > 0) {
        lk_set_give_back_elsewhere (proxy, request);
        return;
    }
    lk_demand *demand =
        lk_demand_new (proxy, LK_DEMAND_CLOSING, ++proxy->last_serial,
                       self->app, request->serial, request->object);
    demand->ticket.remote = lk_far_id_of (request);
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
    own.key = 0; /* it goes by its owner */
    if (lk_demand_by_name (proxy, self->app, request->serial)
        || lk_set_by_name (proxy, self->app, request->serial)) {
        lk_on_app_unlock (proxy, &own);
    } else if (self->id.number > 1) {
        give_back_elsewhere (proxy, self, &own);
    } else {
        tell (proxy, LK_ANSWER_UNLOCKED, &own);
    }
}
