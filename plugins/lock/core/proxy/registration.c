/*  registration.c - applications on other machines, that this proxy serves
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Their life, leases and silence; what they ask for is in registered.c.
 */

#include "registration.h"

#include "asker.h"
#include "demand.h"
#include "demand_tell.h"
#include "life.h"
#include "proxy_private.h"
#include "util/hash.h"

#include <string.h>
#include <utlist.h>

#define HURRY_MS 20 /* between two pings that are sent for leases */

/*  -------------------------------------------------------- all of them */

static uint32_t
hash_of_drawn (const lk_index_link *link)
{
    return lk_hash_number (((const lk_registration *) link)->id.drawn);
}

static lk_registration *
by_owner (const lk_index_link *link)
{
    return (lk_registration *) ((char *) link
                                - offsetof (lk_registration, by_owner));
}

static lk_registration *
by_app (const lk_index_link *link)
{
    return (lk_registration *) ((char *) link
                                - offsetof (lk_registration, by_app));
}

static uint32_t
owner_hash (const lk_registered *id)
{
    const uint64_t name[3] = {id->owner[0], id->owner[1], id->number};
    return (uint32_t) lk_hash64 (name, sizeof name);
}

static uint32_t
hash_of_owner (const lk_index_link *link)
{
    return owner_hash (&by_owner (link)->id);
}

static uint32_t
hash_of_app (const lk_index_link *link)
{
    return lk_hash_number (by_app (link)->app);
}

static uint32_t *
place_in_silences (void *registration)
{
    return &((lk_registration *) registration)->place;
}

void
lk_registrations_init (lk_registrations *self)
{
    memset (self, 0, sizeof *self);
    lk_index_init (&self->all, hash_of_drawn);
    lk_index_init (&self->owners, hash_of_owner);
    lk_index_init (&self->apps, hash_of_app);
    lk_heap_init (&self->silences, place_in_silences);
}

void
lk_registrations_clear (lk_registrations *self)
{
    lk_registration *each;
    lk_registration *next;
    (void) lk_index_clear (&self->all);
    (void) lk_index_clear (&self->owners);
    (void) lk_index_clear (&self->apps);
    lk_heap_clear (&self->silences);
    DL_FOREACH_SAFE (self->first, each, next) {
        lk_free (each);
    }
}

static bool
is_owner (const lk_registered *one, const lk_registered *other)
{
    return one->owner[0] == other->owner[0] && one->owner[1] == other->owner[1]
           && one->number == other->number;
}

lk_registration *
lk_registration_find (const lk_proxy *proxy, const lk_registered *id)
{
    lk_index_link *link =
        lk_index_find (&proxy->far.all, lk_hash_number (id->drawn));
    while (link && ((lk_registration *) link)->id.drawn != id->drawn) {
        link = link->next;
    }
    lk_registration *self = (lk_registration *) link;
    return self && !self->over && is_owner (&self->id, id) ? self : NULL;
}

/*  What REGISTER, said again, means. */
static lk_registration *
find_owner (const lk_proxy *proxy, const lk_registered *id)
{
    lk_index_link *link = lk_index_find (&proxy->far.owners, owner_hash (id));
    while (link && !is_owner (&by_owner (link)->id, id)) {
        link = link->next;
    }
    return link ? by_owner (link) : NULL;
}

static lk_registration *
find_app (const lk_proxy *proxy, uint32_t app)
{
    lk_index_link *link =
        lk_index_find (&proxy->far.apps, lk_hash_number (app));
    while (link && by_app (link)->app != app) {
        link = link->next;
    }
    return link ? by_app (link) : NULL;
}

/*  -------------------------------------------------------- telling */

static void
tell (lk_proxy *proxy, lk_answer_kind kind, uint32_t app,
      const lk_registered *id)
{
    lk_out_answer (proxy->core, &(lk_answer) {.kind = kind,
                                              .app = app,
                                              .until_ms = INT64_MAX,
                                              .far = *id});
}

/*  -------------------------------------------------------- life */

static void
wait_for_ping (lk_proxy *proxy, lk_registration *self)
{
    if (!self->waits) {
        self->waits = true;
        DL_APPEND2 (proxy->far.waiting, self, prev_waiting, next_waiting);
    }
}

static void
wait_no_more (lk_proxy *proxy, lk_registration *self)
{
    if (self->waits) {
        self->waits = false;
        DL_DELETE2 (proxy->far.waiting, self, prev_waiting, next_waiting);
    }
}

/*  Silence comes no sooner than said before. */
static void
stay_for (lk_proxy *proxy, lk_registration *self, int64_t left_ms)
{
    const int64_t until_ms = proxy->core->now_ms + lk_with_margin (left_ms);
    if (self->silent_ms < until_ms) {
        self->silent_ms = until_ms;
        lk_heap_put (&proxy->far.silences, self, until_ms);
    }
}

static void
remove (lk_proxy *proxy, lk_registration *self)
{
    wait_no_more (proxy, self);
    lk_index_remove (&proxy->far.all, &self->by_drawn);
    lk_index_remove (&proxy->far.owners, &self->by_owner);
    lk_index_remove (&proxy->far.apps, &self->by_app);
    lk_heap_take (&proxy->far.silences, self);
    DL_DELETE (proxy->far.first, self);
    lk_free (self);
}

static int64_t
lease_of (const lk_proxy *proxy, const lk_registration *self)
{
    const int64_t host_ms = proxy->core->config.host_lease_ms;
    return self->lease_ms < host_ms ? self->lease_ms : host_ms;
}

/*  That of REGISTER stays in its place. */
static void
note_clock (const lk_proxy *proxy, lk_registration *self, int64_t sent)
{
    const size_t place =
        self->clocks == 0 ? 0
                          : 1 + (self->clocks - 1) % (LK_FAR_CLOCKS_KEPT - 1);
    self->clock[place] =
        (lk_far_clock) {.sent = sent, .heard_ms = proxy->core->now_ms};
    self->clocks++;
}

/*  A late one would be of no use: its application asks at another server. */
void
lk_on_far_register (lk_proxy *proxy, const lk_app_request *request)
{
    lk_registration *self = find_owner (proxy, &request->far);
    if (proxy->leaving || proxy->far.all.count >= LK_REGISTRATIONS_MAX) {
        tell (proxy, LK_ANSWER_MOVE, request->app, &request->far);
        return;
    }
    if (!proxy->live || request->left_ms <= 0 || request->far.number == 0) {
        return;
    }
    if (!self) {
        self = lk_alloc (sizeof *self);
        self->id = request->far;
        self->id.drawn = lk_core_make_key (proxy->core);
        self->app = request->app;
        self->lease_ms = request->left_ms;
        note_clock (proxy, self, request->sent);
        lk_index_add (&proxy->far.all, &self->by_drawn);
        lk_index_add (&proxy->far.owners, &self->by_owner);
        lk_index_add (&proxy->far.apps, &self->by_app);
        DL_APPEND (proxy->far.first, self);
        stay_for (proxy, self, lease_of (proxy, self));
    }
    tell (proxy, self->over ? LK_ANSWER_UNKNOWN : LK_ANSWER_READY, self->app,
          &self->id);
}

/*  What it has goes back. */
static void
end (lk_proxy *proxy, lk_registration *self)
{
    lk_app_let_go (proxy, self->app);
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

/*  protocol 9.20: Silence */
void
lk_registrations_expire (lk_proxy *proxy)
{
    lk_registration *self;
    while ((self = lk_heap_due (&proxy->far.silences, proxy->core->now_ms))) {
        if (!self->over) {
            tell (proxy, LK_ANSWER_UNKNOWN, self->app, &self->id);
        }
        end (proxy, self);
    }
}

/*  What may be static, and its application does not know that, is given back in
 *  the next session. Protocol 9.20: Not moved. */
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

/*  -------------------------------------------------------- what has ended */

bool
lk_registration_has_ended (const lk_registration *self, uint64_t serial)
{
    const size_t kept = self->ended_count < LK_FAR_ENDED_KEPT
                            ? self->ended_count
                            : LK_FAR_ENDED_KEPT;
    for (size_t i = 0; i < kept; i++) {
        if (self->ended[i] == serial) {
            return true;
        }
    }
    return false;
}

void
lk_registration_note_end (lk_registration *self, uint64_t serial)
{
    if (!lk_registration_has_ended (self, serial)) {
        self->ended[self->ended_count++ % LK_FAR_ENDED_KEPT] = serial;
    }
}

/*  -------------------------------------------------------- leases */

/*  A ping is sent at once, if none is under way for others.
 *  Protocol 9.20: Lease by message. */
static void
hurry (lk_proxy *proxy)
{
    lk_core *core = proxy->core;
    lk_registrations *self = &proxy->far;
    int64_t at_ms = core->pinged_ms + HURRY_MS;
    if (self->hurried > self->vouched
        && core->now_ms - self->hurried_ms < LK_PING_MS) {
        return;
    }
    if (at_ms < core->now_ms) {
        at_ms = core->now_ms;
    }
    if (core->next_ping_ms > at_ms) {
        core->next_ping_ms = at_ms;
    }
    self->hurried = core->pings + 1;
    self->hurried_ms = core->now_ms;
}

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
    if (proxy->leaving) {
        tell (proxy, LK_ANSWER_MOVE, self->app, &self->id);
        return;
    }
    stay_for (proxy, self, lease_of (proxy, self));
    note_clock (proxy, self, request->sent);
    if (self->asked_count < LK_LEASES_ASKED) {
        self->asked[self->asked_count++] = (lk_lease_asked) {
            .sent = request->sent, .after = proxy->core->pings};
    }
    wait_for_ping (proxy, self);
    tell_again (proxy, self);
    hurry (proxy);
}

void
lk_registration_claims (lk_proxy *proxy, lk_demand *demand,
                        const lk_app_request *request)
{
    lk_registration *self = request->asked_before
                                ? lk_registration_find (proxy, &request->far)
                                : NULL;
    if (!self) {
        return;
    }
    stay_for (proxy, self, request->left_ms);
    lk_demand_hold_back (proxy, demand, proxy->core->pings);
    wait_for_ping (proxy, self);
    hurry (proxy);
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
    stay_for (proxy, self, lease_of (proxy, self));
    lk_out_answer (proxy->core,
                   &(lk_answer) {.kind = LK_ANSWER_LEASE,
                                 .app = self->app,
                                 .until_ms = INT64_MAX,
                                 .far = self->id,
                                 .sent = sent,
                                 .left_ms = lease_of (proxy, self)});
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
 *  while a host was suspended, and its clock stood still, leaders may have begun
 *  with nothing. Protocol 9.20: Reclaim. */
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
            wait_no_more (proxy, self);
        }
    }
    if (proxy->far.waiting) {
        hurry (proxy);
    }
}

/*  -------------------------------------------------------- durations */

/*  A clock that was heard before the ping, or LOCK, that the home knows was
 *  sent before what it counts: by the host's clock, that may stand still.
 *  Protocol 9.20: Durations. */
bool
lk_registration_dates (const lk_proxy *proxy, const lk_demand *demand,
                       const lk_msg_reply *reply, int64_t *sent)
{
    const lk_registration *self =
        lk_demand_is_far (demand) && !demand->set
            ? find_app (proxy, (uint32_t) demand->name[0])
            : NULL;
    if (!self || reply->left_ms < 0) {
        return true;
    }
    bool found = self->clocks <= LK_FAR_CLOCKS_KEPT;
    *sent = self->clock[0].sent;
    for (size_t i = 1; i < LK_FAR_CLOCKS_KEPT && i < self->clocks; i++) {
        if (self->clock[i].heard_ms < reply->as_of) {
            found = true;
            *sent = self->clock[i].sent > *sent ? self->clock[i].sent : *sent;
        }
    }
    return found;
}

int64_t
lk_registration_sent (const lk_proxy *proxy, uint32_t app)
{
    const lk_registration *self = find_app (proxy, app);
    int64_t sent = self ? self->clock[0].sent : 0;
    for (size_t i = 1; self && i < LK_FAR_CLOCKS_KEPT && i < self->clocks;
         i++) {
        sent = self->clock[i].sent > sent ? self->clock[i].sent : sent;
    }
    return sent;
}
