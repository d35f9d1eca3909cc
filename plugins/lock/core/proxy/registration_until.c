/*  registration_until.c - the end of a registration's credential
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Its lease is never given beyond that, so that it ends by silence.
 *  lockkeeper-protocol(7), 9.20: Credentials.
 */

#include "registration_private.h"

#include "asker.h"
#include "demand.h"
#include "demand_tell.h"
#include "jeopardy.h"

/*  The host's clock may be set meanwhile, and the end moves by that: no danger
 *  is over, and begins anew, by so much. */
#define SLACK_MS 5000

/*  -------------------------------------------------------- all it has */

typedef void (demand_deed) (lk_proxy *proxy, lk_demand *demand);
typedef void (set_deed) (lk_proxy *proxy, lk_set *set);

/*  One may be gone then. */
static void
each (lk_proxy *proxy, const lk_registration *self, demand_deed *deed,
      set_deed *deed_of_set)
{
    lk_demand *demand;
    lk_demand *next;
    for (demand = lk_demand_of_app (proxy, self->app); demand; demand = next) {
        next = demand->sibling_next;
        deed (proxy, demand);
    }
    const lk_asker *asker = lk_asker_find (proxy, self->app);
    lk_set *set = asker ? asker->sets : NULL;
    while (set) {
        lk_set *later = set->next;
        deed_of_set (proxy, set);
        set = later;
    }
}

static void
fail_waiting (lk_proxy *proxy, lk_demand *demand)
{
    if (demand->state == LK_DEMAND_WAITING) {
        lk_demand_fail (proxy, demand, LK_CREDENTIAL);
    }
}

static void
fail_waiting_set (lk_proxy *proxy, lk_set *set)
{
    if (set->state == LK_SET_WAITING) {
        lk_set_failed (proxy, set, LK_CREDENTIAL, (lk_name) {0});
    }
}

/*  A static lock stays. */
static void
tell_lost (lk_proxy *proxy, lk_demand *demand)
{
    if ((demand->state == LK_DEMAND_HELD || demand->state == LK_DEMAND_RESUMING)
        && !demand->ticket.mode.is_static) {
        lk_demand_tell (proxy, demand, LK_ANSWER_UNLOCKED, LK_CREDENTIAL);
    }
}

static void
tell_lost_set (lk_proxy *proxy, lk_set *set)
{
    if (set->state == LK_SET_HELD || set->state == LK_SET_RESUMING) {
        lk_set_tell (proxy, set, LK_ANSWER_UNLOCKED, LK_CREDENTIAL);
    }
}

void
lk_registration_tell_lost (lk_proxy *proxy, const lk_registration *self)
{
    each (proxy, self, tell_lost, tell_lost_set);
}

/*  -------------------------------------------------------- looks */

static void
look_later (lk_proxy *proxy, lk_registration *self)
{
    if (self->until_ms == INT64_MAX || self->cut) {
        lk_heap_take (&proxy->far.looks, self);
    } else {
        lk_heap_put (&proxy->far.looks, self,
                     self->ends_soon ? self->until_ms
                                     : self->until_ms - LK_CREDENTIAL_SOON_MS);
    }
}

static bool
ends_soon (const lk_proxy *proxy, const lk_registration *self)
{
    const int64_t soon_ms = proxy->core->now_ms + LK_CREDENTIAL_SOON_MS;
    return self->until_ms <= soon_ms + (self->ends_soon ? SLACK_MS : 0);
}

static void
look (lk_proxy *proxy, lk_registration *self)
{
    const bool soon = ends_soon (proxy, self);
    const bool expired = lk_registration_has_expired (proxy, self);
    if (soon != self->ends_soon) {
        proxy->far.ending += soon ? 1 : -(size_t) 1;
        self->ends_soon = soon;
        each (proxy, self, lk_jeopardy_look_at, lk_jeopardy_look_at_set);
    }
    if (expired && !self->cut) {
        each (proxy, self, fail_waiting, fail_waiting_set);
    }
    self->cut = expired;
    look_later (proxy, self);
}

void
lk_registration_note_until (lk_proxy *proxy, lk_registration *self,
                            int64_t until_ms)
{
    self->until_ms = until_ms == 0 ? INT64_MAX : until_ms;
    look (proxy, self);
}

void
lk_registration_look_no_more (lk_proxy *proxy, lk_registration *self)
{
    proxy->far.ending -= self->ends_soon;
    lk_heap_take (&proxy->far.looks, self);
}

void
lk_registrations_look (lk_proxy *proxy)
{
    lk_registration *self;
    while ((self = lk_heap_due (&proxy->far.looks, proxy->core->now_ms))) {
        look (proxy, self);
    }
}
