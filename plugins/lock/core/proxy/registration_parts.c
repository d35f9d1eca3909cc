/*  registration_parts.c - what a registration consists of, and its times
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Found by whatever names it; when it is silent; what waits for a ping; its
 *  application's clock. It knows no set: those are above it.
 */

#include "registration_private.h"

#include "demand.h"
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

static uint32_t *
place_in_looks (void *registration)
{
    return &((lk_registration *) registration)->look_place;
}

void
lk_registrations_init (lk_registrations *self)
{
    memset (self, 0, sizeof *self);
    lk_index_init (&self->all, hash_of_drawn);
    lk_index_init (&self->owners, hash_of_owner);
    lk_index_init (&self->apps, hash_of_app);
    lk_heap_init (&self->silences, place_in_silences);
    lk_heap_init (&self->looks, place_in_looks);
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
    lk_heap_clear (&self->looks);
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

/*  The registration that a repeated REGISTER is of. */
lk_registration *
lk_registration_of_owner (const lk_proxy *proxy, const lk_registered *id)
{
    lk_index_link *link = lk_index_find (&proxy->far.owners, owner_hash (id));
    while (link && !is_owner (&by_owner (link)->id, id)) {
        link = link->next;
    }
    return link ? by_owner (link) : NULL;
}

lk_registration *
lk_registration_of_app (const lk_proxy *proxy, uint32_t app)
{
    lk_index_link *link =
        lk_index_find (&proxy->far.apps, lk_hash_number (app));
    while (link && by_app (link)->app != app) {
        link = link->next;
    }
    return link ? by_app (link) : NULL;
}

/*  -------------------------------------------------------- credentials */

bool
lk_registration_has_expired (const lk_proxy *proxy, const lk_registration *self)
{
    return self->until_ms <= proxy->core->now_ms;
}

bool
lk_registration_may_hold (const lk_proxy *proxy, uint32_t app)
{
    const lk_registration *self = lk_registration_of_app (proxy, app);
    return !self || !lk_registration_has_expired (proxy, self);
}

bool
lk_registration_ends_soon (const lk_proxy *proxy, uint32_t app)
{
    const lk_registration *self = lk_registration_of_app (proxy, app);
    return self && self->ends_soon;
}

/*  -------------------------------------------------------- time */

void
lk_registration_await_ping (lk_proxy *proxy, lk_registration *self)
{
    if (!self->waits) {
        self->waits = true;
        DL_APPEND2 (proxy->far.waiting, self, prev_waiting, next_waiting);
    }
}

void
lk_registration_await_no_more (lk_proxy *proxy, lk_registration *self)
{
    if (self->waits) {
        self->waits = false;
        DL_DELETE2 (proxy->far.waiting, self, prev_waiting, next_waiting);
    }
}

/*  Silence comes no sooner than said before. */
void
lk_registration_stay (lk_proxy *proxy, lk_registration *self, int64_t left_ms)
{
    const int64_t until_ms = proxy->core->now_ms + lk_with_margin (left_ms);
    if (self->silent_ms < until_ms) {
        self->silent_ms = until_ms;
        lk_heap_put (&proxy->far.silences, self, until_ms);
    }
}

int64_t
lk_registration_lease (const lk_proxy *proxy, const lk_registration *self)
{
    const int64_t host_ms = proxy->core->config.host_lease_ms;
    const int64_t left_ms = lk_registration_has_expired (proxy, self)
                                ? 0
                                : self->until_ms - proxy->core->now_ms;
    const int64_t most_ms = left_ms < host_ms ? left_ms : host_ms;
    return self->lease_ms < most_ms ? self->lease_ms : most_ms;
}

/*  A ping is sent at once, if none is under way for others.
 *  Protocol 9.20: Lease by message. */
void
lk_registrations_hurry (lk_proxy *proxy)
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

/*  -------------------------------------------------------- requests */

lk_far_id
lk_far_id_of (const lk_app_request *request)
{
    const lk_registered *far = &request->far;
    if (far->number == 0) {
        return (lk_far_id) {.number = 0};
    }
    return (lk_far_id) {.owner = {far->owner[0], far->owner[1]},
                        .serial = request->serial,
                        .number = far->number};
}

/*  No server has given it more; but for that, who has no credential any more
 *  might keep a lock by a claim for ever. */
static int64_t
may_be_left (const lk_proxy *proxy, const lk_registration *self,
             int64_t left_ms)
{
    const int64_t host_ms = proxy->core->config.host_lease_ms;
    return self->until_ms != INT64_MAX && left_ms > host_ms ? host_ms : left_ms;
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
    lk_registration_stay (proxy, self,
                          may_be_left (proxy, self, request->left_ms));
    lk_demand_hold_back (proxy, demand, proxy->core->pings);
    lk_registration_await_ping (proxy, self);
    lk_registrations_hurry (proxy);
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

void
lk_registration_note_move (const lk_proxy *proxy, const uint64_t name[2])
{
    lk_registration *self = lk_registration_of_app (proxy, (uint32_t) name[0]);
    if (self) {
        lk_registration_note_end (self, name[1]);
    }
}

/*  -------------------------------------------------------- durations */

static int64_t
later (int64_t one, int64_t other)
{
    return one > other ? one : other;
}

/*  That of REGISTER stays in its place. */
void
lk_registration_note_clock (const lk_proxy *proxy, lk_registration *self,
                            int64_t sent)
{
    const size_t place =
        self->clocks == 0 ? 0
                          : 1 + (self->clocks - 1) % (LK_FAR_CLOCKS_KEPT - 1);
    self->clock[place] =
        (lk_far_clock) {.sent = sent, .heard_ms = proxy->core->now_ms};
    self->clocks++;
}

/*  A clock that was heard before the ping, or LOCK, that the home knows was
 *  sent before what it counts: by the host's clock, that may stand still. That
 *  of its own LOCK was said before in any case.
 *  Protocol 9.20: Durations. */
bool
lk_registration_dates (const lk_proxy *proxy, const lk_demand *demand,
                       const lk_msg_reply *reply, int64_t *sent)
{
    const lk_registration *self =
        lk_demand_is_far (demand) && !demand->set
            ? lk_registration_of_app (proxy, (uint32_t) demand->name[0])
            : NULL;
    if (!self || reply->left_ms < 0) {
        return true;
    }
    bool found = demand->said > 0 || self->clocks <= LK_FAR_CLOCKS_KEPT;
    *sent = later (self->clock[0].sent, demand->said);
    for (size_t i = 1; i < LK_FAR_CLOCKS_KEPT && i < self->clocks; i++) {
        if (self->clock[i].heard_ms < reply->as_of) {
            found = true;
            *sent = later (self->clock[i].sent, *sent);
        }
    }
    return found;
}

int64_t
lk_registration_sent (const lk_proxy *proxy, uint32_t app, int64_t said)
{
    const lk_registration *self = lk_registration_of_app (proxy, app);
    int64_t sent = self ? later (self->clock[0].sent, said) : 0;
    for (size_t i = 1; self && i < LK_FAR_CLOCKS_KEPT && i < self->clocks;
         i++) {
        sent = later (self->clock[i].sent, sent);
    }
    return sent;
}
