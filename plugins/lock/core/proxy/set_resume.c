/*  set_resume.c - a set of locks goes on in a later session of its host
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each of its members does so by itself, as a single lock; the application is
 *  told when all of them have, and all are lost when one is.
 */

#include "demand_tell.h"
#include "jeopardy.h"
#include "proxy_private.h"
#include "set_private.h"

static void
claim (lk_proxy *proxy, lk_set *self, const lk_app_request *request, size_t at)
{
    const lk_name object = at == 0 ? request->object : request->rest[at - 1];
    lk_demand *member = lk_set_add (proxy, self, object, request);
    member->resumes = true;
    member->ticket.rest = 0;
    member->ticket.token = request->claims[at].token;
    member->ticket.key = request->claims[at].key;
    lk_demand_enter (proxy, member, LK_DEMAND_RESUMING);
    lk_registration_claims (proxy, member, request);
    lk_demand_send (proxy, member);
}

/*  What lk_set_until () has to be given; what is over ends at once. */
static int64_t
span_to (const lk_proxy *proxy, int64_t when_ms)
{
    if (when_ms == INT64_MAX) {
        return 0;
    }
    return when_ms > proxy->core->now_ms ? when_ms - proxy->core->now_ms : 1;
}

void
lk_set_resume (lk_proxy *proxy, const lk_app_request *request)
{
    lk_set *self = lk_set_new (proxy, request);
    self->state = LK_SET_RESUMING;
    self->ends_ms = request->duration_ms > 0
                        ? proxy->core->now_ms + request->duration_ms
                        : INT64_MAX;
    while (self->left < self->count) {
        claim (proxy, self, request, self->left);
    }
    lk_set_until (proxy, self, span_to (proxy, request->lease_until_ms));
    lk_closing_note_former (proxy, request->lease_until_ms);
}

/*  protocol 9.13: A restart */
void
lk_set_resumed (lk_proxy *proxy, lk_demand *member)
{
    lk_set *self = member->set;
    lk_demand_enter (proxy, member, LK_DEMAND_HELD);
    self->held++;
    if (self->held < self->count || self->state != LK_SET_RESUMING) {
        return; /* another one may have moved on */
    }
    self->state = LK_SET_HELD;
    self->granted_ms = proxy->core->now_ms;
    self->sent =
        lk_registration_sent (proxy, (uint32_t) self->name[0], self->said);
    lk_set_until (proxy, self, span_to (proxy, self->ends_ms));
    lk_set_tell_locked (proxy, self);
    lk_jeopardy_look_at_set (proxy, self);
}

/*  That one has nothing to give back. Protocol 9.13: A restart. */
void
lk_fail_resuming_member (lk_proxy *proxy, lk_demand *member,
                         const lk_news *news)
{
    const lk_err error = (lk_err) news->reply->error;
    member->resumes = false;
    member->ticket.key = 0;
    lk_set_stop (proxy, member->set, error == LK_UNKNOWN ? LK_LOST : error,
                 (lk_name) {0});
}

/*  protocol 9.20: Sets */
void
lk_set_give_back_elsewhere (lk_proxy *proxy, const lk_app_request *request)
{
    lk_set *self = lk_set_new (proxy, request);
    self->state = LK_SET_CLOSING;
    self->until_ms = INT64_MAX;
    lk_set_await_unlocked (proxy, self, &(lk_news) {.request = request});
    while (self->left < self->count) {
        const size_t at = self->left;
        const lk_name name = at == 0 ? request->object : request->rest[at - 1];
        lk_demand *member = lk_set_add (proxy, self, name, request);
        member->ticket.rest = 0;
        lk_demand_enter (proxy, member, LK_DEMAND_CLOSING);
        lk_demand_send (proxy, member);
    }
}

void
lk_fail_member (lk_proxy *proxy, lk_demand *member, const lk_news *news)
{
    lk_set_failed (proxy, member->set, (lk_err) news->reply->error,
                   (lk_name) {0});
}
