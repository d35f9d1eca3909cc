/*  check.c - what must always be so of a proxy
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "asked.h"
#include "asker.h"
#include "set.h"
#include "util/assert.h"

/*  Of all requests. */
typedef struct {
    size_t requests, named, lingering, settled, unlocking, names_size, members;
} sums;

/*  -------------------------------------------------------- a request */

/*  It is said until it is answered. */
static bool
is_open (const lk_asked *asked)
{
    return asked->state == LK_ASKED_WAITING || asked->state == LK_ASKED_RESUMING
           || asked->state == LK_ASKED_CLOSING
           || asked->state == LK_ASKED_ERRAND;
}

static void
check_state (const lk_asked *asked)
{
    const bool holds = asked->state == LK_ASKED_HELD
                       || asked->state == LK_ASKED_LINGERING
                       || asked->state == LK_ASKED_KEEPING;
    LK_ASSERT (asked->state < LK_ASKED_STATES);
    LK_ASSERT ((asked->state == LK_ASKED_ERRAND)
               == (asked->errand != LK_ERRAND_NONE));
    LK_ASSERT (!holds || asked->ticket.token != 0);
    LK_ASSERT (!asked->asks_on || !is_open (asked));
    LK_ASSERT (asked->state != LK_ASKED_LATER || asked->set);
}

static void
check_asked (const lk_proxy *proxy, const lk_asked *asked)
{
    const bool named = asked->name[0] != LK_NO_APP;
    check_state (asked);
    LK_ASSERT (asked->serial <= proxy->last_serial);
    LK_ASSERT (lk_asked_by_serial (proxy, asked->serial) == asked);
    LK_ASSERT (asked->sent_ms <= proxy->core->now_ms);
    LK_ASSERT ((asked->list == LK_QUIET_LIST)
               == (!is_open (asked) && !asked->asks_on));
    LK_ASSERT (named == (asked->asker != NULL));
    LK_ASSERT (!named || asked->asker->app == asked->name[0]);
    if (asked->set) {
        LK_ASSERT (asked->place < asked->set->count);
        LK_ASSERT (asked->set->member[asked->place] == asked);
    } else if (named) {
        LK_ASSERT (
            lk_asked_by_name (proxy, (uint32_t) asked->name[0], asked->name[1])
            == asked);
    }
}

static void
count (sums *self, const lk_asked *asked)
{
    const bool named = asked->name[0] != LK_NO_APP;
    self->requests++;
    self->named += named;
    self->lingering += !named && asked->state == LK_ASKED_LINGERING;
    self->settled += !is_open (asked);
    self->unlocking += asked->tell_unlocked;
    self->names_size += asked->ticket.object.size;
    self->members += asked->set != NULL;
}

/*  -------------------------------------------------------- a set */

/*  It holds the first ones, and has asked for no more than one behind them. */
static size_t
check_set (const lk_set *set)
{
    size_t members = 0;
    for (size_t i = 0; i < set->count; i++) {
        members += set->member[i] != NULL;
        LK_ASSERT (!set->member[i] || set->member[i]->set == set);
    }
    LK_ASSERT (set->left <= set->count && set->held <= set->count);
    LK_ASSERT (members == set->left);
    LK_ASSERT (set->state != LK_SET_HELD || set->held == set->count);
    return members;
}

/*  -------------------------------------------------------- all of them */

static void
check_all (const lk_proxy *proxy)
{
    sums all = {0};
    size_t members = 0;
    const lk_asked *asked = lk_asked_first (proxy);
    for (; asked; asked = lk_asked_next (proxy, asked)) {
        check_asked (proxy, asked);
        count (&all, asked);
    }
    for (const lk_set *set = proxy->sets; set; set = set->hh.next) {
        members += check_set (set);
        all.unlocking += set->tell_unlocked;
    }
    LK_ASSERT (all.requests == proxy->serials.count);
    LK_ASSERT (all.named == proxy->names.count);
    LK_ASSERT (all.lingering == proxy->lingering.count);
    LK_ASSERT (all.settled == proxy->settled);
    LK_ASSERT (all.unlocking == proxy->unlocking);
    LK_ASSERT (all.names_size == proxy->names_size);
    LK_ASSERT (all.members == members);
}

void
lk_proxy_check (const lk_proxy *proxy, bool all)
{
    const lk_core *core = proxy->core;
    LK_ASSERT (proxy->live || proxy->lease_until_ms == 0);
    LK_ASSERT (proxy->closing.closed < core->facts.session);
    LK_ASSERT (proxy->closing.pending <= core->facts.session);
    LK_ASSERT (proxy->danger >> LK_LEADERS_MAX == 0);
    LK_ASSERT (proxy->reported >> LK_LEADERS_MAX == 0);
    LK_ASSERT (proxy->settled <= proxy->serials.count);
    LK_ASSERT (proxy->ends.count <= proxy->serials.count);
    if (all) {
        check_all (proxy);
    }
}
