/*  registration.c - applications on other machines, that this proxy serves
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Their life, leases and silence; what they ask for is in registered.c.
 */

#include "registration_private.h"

#include "asked.h"
#include "asker.h"
#include "demand.h"
#include "demand_tell.h"
#include "life.h"
#include "proxy_private.h"
#include "util/hash.h"

#include <string.h>
#include <utlist.h>

/*  -------------------------------------------------------- telling */

static void
tell_why (lk_proxy *proxy, lk_answer_kind kind, lk_err error, uint32_t app,
          const lk_registered *id)
{
    lk_out_answer (proxy->core, &(lk_answer) {.kind = kind,
                                              .app = app,
                                              .error = error,
                                              .until_ms = INT64_MAX,
                                              .far = *id});
}

static void
tell (lk_proxy *proxy, lk_answer_kind kind, uint32_t app,
      const lk_registered *id)
{
    tell_why (proxy, kind, LK_OK, app, id);
}

/*  -------------------------------------------------------- life */

static void
remove (lk_proxy *proxy, lk_registration *self)
{
    lk_registration_await_no_more (proxy, self);
    lk_index_remove (&proxy->far.all, &self->by_drawn);
    lk_index_remove (&proxy->far.owners, &self->by_owner);
    lk_index_remove (&proxy->far.apps, &self->by_app);
    lk_heap_take (&proxy->far.silences, self);
    lk_registration_look_no_more (proxy, self);
    DL_DELETE (proxy->far.first, self);
    lk_free (self);
}

static lk_registration *
begin (lk_proxy *proxy, const lk_app_request *request)
{
    lk_registration *self = lk_alloc (sizeof *self);
    self->id = request->far;
    self->id.drawn = lk_core_make_key (proxy->core);
    self->app = request->app;
    self->lease_ms = request->left_ms;
    lk_registration_note_clock (proxy, self, request->sent);
    lk_index_add (&proxy->far.all, &self->by_drawn);
    lk_index_add (&proxy->far.owners, &self->by_owner);
    lk_index_add (&proxy->far.apps, &self->by_app);
    DL_APPEND (proxy->far.first, self);
    lk_registration_note_until (proxy, self, request->until_ms);
    lk_registration_stay (proxy, self, lk_registration_lease (proxy, self));
    return self;
}

static bool
has_expired (const lk_proxy *proxy, const lk_app_request *request)
{
    return request->until_ms != 0 && request->until_ms <= proxy->core->now_ms;
}

/*  A late one would be of no use: its application asks at another server. */
void
lk_on_far_register (lk_proxy *proxy, const lk_app_request *request)
{
    lk_registration *self = lk_registration_of_owner (proxy, &request->far);
    if (self) {
        lk_registration_note_until (proxy, self, request->until_ms);
    }
    if (proxy->leaving || (!self && lk_core_is_draining (proxy->core))
        || proxy->far.all.count >= LK_REGISTRATIONS_MAX) {
        tell (proxy, LK_ANSWER_MOVE, request->app, &request->far);
        return;
    }
    if (!proxy->live || request->left_ms <= 0 || request->far.number == 0) {
        return;
    }
    if (!self && has_expired (proxy, request)) {
        tell_why (proxy, LK_ANSWER_UNKNOWN, LK_CREDENTIAL, request->app,
                  &request->far);
        return;
    }
    if (!self) {
        self = begin (proxy, request);
    }
    tell (proxy, self->over ? LK_ANSWER_UNKNOWN : LK_ANSWER_READY, self->app,
          &self->id);
}

/*  All that it has goes back. */
static void
end (lk_proxy *proxy, lk_registration *self)
{
    lk_app_hear (proxy, self->app, &(lk_news) {.kind = LK_NEWS_GONE});
    remove (proxy, self);
}

void
lk_on_far_goodbye (lk_proxy *proxy, const lk_app_request *request)
{
    lk_registration *self = lk_registration_find (proxy, &request->far);
    if (self) {
        end (proxy, self);
    }
}

typedef struct {
    lk_proxy *proxy;
    uint32_t app;
} silent;

static void
tell_ended (void *context, const lk_asked *asked)
{
    const silent *self = context;
    const lk_asked lent = lk_asked_lend (self->proxy, *asked);
    lk_out_ended (self->proxy->core, self->app, &lent);
}

static void
tell_silent (lk_proxy *proxy, const lk_registration *self)
{
    const bool expired = lk_registration_has_expired (proxy, self);
    if (expired) {
        lk_registration_tell_lost (proxy, self);
    }
    lk_proxy_each_asked (proxy, self->app, tell_ended,
                         &(silent) {proxy, self->app});
    tell_why (proxy, LK_ANSWER_UNKNOWN, expired ? LK_CREDENTIAL : LK_OK,
              self->app, &self->id);
}

/*  protocol 9.20: Silence */
void
lk_registrations_expire (lk_proxy *proxy)
{
    lk_registration *self;
    lk_registrations_look (proxy);
    while ((self = lk_heap_due (&proxy->far.silences, proxy->core->now_ms))) {
        if (!self->over) {
            tell_silent (proxy, self);
        }
        end (proxy, self);
    }
}

/*  A lock that may be static, and its application does not know that, is given
 *  back in the next session. Protocol 9.20: Not moved. */
static void
forget (lk_proxy *proxy, lk_demand *demand)
{
    const bool may_stay = demand->ticket.mode.is_static
                          && demand->ticket.token != 0
                          && (demand->state == LK_DEMAND_KEEPING
                              || demand->state == LK_DEMAND_CLOSING);
    if (may_stay) {
        lk_demand_orphan (proxy, demand);
        lk_demand_enter (proxy, demand, LK_DEMAND_CLOSING);
    } else {
        lk_demand_remove (proxy, demand);
    }
}

static void
forget_all (lk_proxy *proxy, uint32_t app)
{
    lk_demand *demand;
    lk_asker *asker;
    while ((demand = lk_demand_of_app (proxy, app))) {
        forget (proxy, demand);
    }
    while ((asker = lk_asker_find (proxy, app)) && asker->sets) {
        lk_set_forget (proxy, asker->sets, NULL);
    }
}

void
lk_registrations_end_all (lk_proxy *proxy)
{
    lk_registration *self;
    while ((self = proxy->far.first)) {
        forget_all (proxy, self->app);
        if (!self->over) {
            tell (proxy, LK_ANSWER_UNKNOWN, self->app, &self->id);
        }
        remove (proxy, self);
    }
}

void
lk_registrations_leave (lk_proxy *proxy)
{
    const lk_registration *self;
    DL_FOREACH (proxy->far.first, self) {
        if (!self->over) {
            tell (proxy, LK_ANSWER_MOVE, self->app, &self->id);
        }
    }
}

/*  -------------------------------------------------------- leases */

/*  It may not have heard that it is to give it back.
 *  Protocol 9.20: Taken away. */
static void
tell_again (lk_proxy *proxy, const lk_registration *self)
{
    lk_demand *demand = lk_demand_of_app (proxy, self->app);
    for (; demand; demand = demand->sibling_next) {
        if (demand->state == LK_DEMAND_ENDED) {
            lk_demand_tell (proxy, demand, LK_ANSWER_UNLOCKED, demand->error);
        }
    }
    const lk_asker *asker = lk_asker_find (proxy, self->app);
    lk_set *set = asker ? asker->sets : NULL;
    for (; set; set = set->next) {
        if (set->state == LK_SET_ENDED) {
            lk_set_tell (proxy, set, LK_ANSWER_UNLOCKED, set->error);
        }
    }
}

void
lk_on_far_lease (lk_proxy *proxy, const lk_app_request *request)
{
    lk_registration *self = lk_registration_find (proxy, &request->far);
    if (!self) {
        tell (proxy, LK_ANSWER_UNKNOWN, request->app, &request->far);
        return;
    }
    lk_registration_note_until (proxy, self, request->until_ms);
    if (proxy->leaving) {
        tell (proxy, LK_ANSWER_MOVE, self->app, &self->id);
        return;
    }
    if (lk_core_is_draining (proxy->core)) { /* the first one may be lost */
        tell (proxy, LK_ANSWER_MOVE, self->app, &self->id);
    }
    lk_registration_stay (proxy, self, lk_registration_lease (proxy, self));
    lk_registration_note_clock (proxy, self, request->sent);
    if (self->asked_count < LK_LEASES_ASKED) {
        self->asked[self->asked_count++] = (lk_lease_asked) {
            .sent = request->sent, .after = proxy->core->pings};
    }
    lk_registration_await_ping (proxy, self);
    tell_again (proxy, self);
    lk_registrations_hurry (proxy);
}

/*  Tells the latest that may be told. */
static void
answer_lease (lk_proxy *proxy, lk_registration *self)
{
    size_t told = 0;
    int64_t sent = INT64_MIN;
    while (told < self->asked_count
           && self->asked[told].after < proxy->far.vouched) {
        sent = self->asked[told].sent > sent ? self->asked[told].sent : sent;
        told++;
    }
    if (told == 0) {
        return;
    }
    self->asked_count -= told;
    memmove (self->asked, self->asked + told,
             self->asked_count * sizeof *self->asked);
    const int64_t left_ms = lk_registration_lease (proxy, self);
    if (left_ms <= 0) {
        return; /* its credential has ended */
    }
    lk_registration_stay (proxy, self, left_ms);
    lk_out_answer (proxy->core, &(lk_answer) {.kind = LK_ANSWER_LEASE,
                                              .app = self->app,
                                              .until_ms = INT64_MAX,
                                              .far = self->id,
                                              .sent = sent,
                                              .left_ms = left_ms});
}

/*  True: it still waits. */
static bool
say_claim (lk_proxy *proxy, lk_demand *demand)
{
    if (demand && demand->unvouched && demand->after < proxy->far.vouched) {
        lk_demand_let_go (proxy, demand);
        lk_demand_send (proxy, demand);
    }
    return demand && demand->unvouched;
}

/*  True: others still wait. */
static bool
say_claims (lk_proxy *proxy, const lk_registration *self)
{
    lk_demand *demand = lk_demand_of_app (proxy, self->app);
    const lk_asker *asker = lk_asker_find (proxy, self->app);
    const lk_set *set = asker ? asker->sets : NULL;
    bool waits = false;
    for (; demand; demand = demand->sibling_next) {
        waits = say_claim (proxy, demand) || waits;
    }
    for (; set; set = set->next) {
        for (size_t i = 0; i < set->count; i++) {
            waits = say_claim (proxy, set->member[i]) || waits;
        }
    }
    return waits;
}

/*  Whether nothing can have been forgotten since the last term that vouched:
 *  while a host was suspended, and its clock stood still, leaders may have
 *  begun with nothing. Protocol 9.20: Reclaim. */
static bool
goes_on (const lk_proxy *proxy, lk_term term)
{
    const lk_decree *decree = &proxy->core->in_force;
    const uint8_t all = (uint8_t) ((1u << decree->leader_count) - 1);
    return lk_term_equal (term, proxy->far.term)
           || (term.number == proxy->far.term.number + 1
               && (!decree->reclaim || (all & ~proxy->reported) == 0));
}

/*  Their applications claim what they have in other registrations. */
static void
end_in_doubt (lk_proxy *proxy)
{
    lk_registration *self;
    DL_FOREACH (proxy->far.first, self) {
        if (!self->over) {
            self->over = true;
            self->asked_count = 0;
            tell (proxy, LK_ANSWER_UNKNOWN, self->app, &self->id);
        }
    }
}

/*  A service that stops for good answers none. */
void
lk_registrations_vouched (lk_proxy *proxy, uint64_t number, lk_term term)
{
    lk_registration *self;
    lk_registration *next;
    if (!goes_on (proxy, term)) {
        end_in_doubt (proxy);
    }
    proxy->far.term = term;
    if (number <= proxy->far.vouched) {
        return;
    }
    proxy->far.vouched = number;
    DL_FOREACH_SAFE2 (proxy->far.waiting, self, next, next_waiting) {
        const bool waits = say_claims (proxy, self);
        if (!proxy->leaving) {
            answer_lease (proxy, self);
        }
        if (!waits && (self->asked_count == 0 || proxy->leaving)) {
            lk_registration_await_no_more (proxy, self);
        }
    }
    if (proxy->far.waiting) {
        lk_registrations_hurry (proxy);
    }
}
