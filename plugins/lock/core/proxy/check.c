/*  check.c - what must always be so of a proxy
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "asker.h"
#include "demand.h"
#include "set.h"
#include "util/assert.h"

/*  Of all requests. */
typedef struct {
    size_t requests, named, lingering, settled, unlocking, names_size, members;
    size_t kept;
} sums;

/*  -------------------------------------------------------- a request */

/*  It is said until it is answered. */
static bool
is_open (const lk_demand *demand)
{
    return demand->state == LK_DEMAND_WAITING
           || demand->state == LK_DEMAND_RESUMING
           || demand->state == LK_DEMAND_CLOSING
           || demand->state == LK_DEMAND_ERRAND;
}

static void
check_state (const lk_demand *demand)
{
    const bool holds = demand->state == LK_DEMAND_HELD
                       || demand->state == LK_DEMAND_LINGERING
                       || demand->state == LK_DEMAND_KEEPING;
    LK_ASSERT (demand->state < LK_DEMAND_STATES);
    LK_ASSERT ((demand->state == LK_DEMAND_ERRAND)
               == (demand->command != LK_COMMAND_NONE));
    LK_ASSERT (!holds || demand->ticket.token != 0);
    LK_ASSERT (!demand->asks_on || !is_open (demand));
    LK_ASSERT (demand->state != LK_DEMAND_LATER || demand->set);
}

static void
check_asked (const lk_proxy *proxy, const lk_demand *demand)
{
    const bool named = demand->name[0] != LK_NO_APP;
    check_state (demand);
    LK_ASSERT (demand->serial <= proxy->last_serial);
    LK_ASSERT (lk_demand_by_serial (proxy, demand->serial) == demand);
    LK_ASSERT (demand->sent_ms <= proxy->core->now_ms);
    LK_ASSERT (
        (demand->list == LK_QUIET_LIST)
        == (demand->unvouched || (!is_open (demand) && !demand->asks_on)));
    LK_ASSERT (named == (demand->asker != NULL));
    LK_ASSERT (!named || demand->asker->app == demand->name[0]);
    if (demand->set) {
        LK_ASSERT (demand->place < demand->set->count);
        LK_ASSERT (demand->set->member[demand->place] == demand);
    } else if (named) {
        LK_ASSERT (lk_demand_by_name (proxy, (uint32_t) demand->name[0],
                                      demand->name[1])
                   == demand);
    }
}

static void
count (sums *self, const lk_demand *demand)
{
    const bool named = demand->name[0] != LK_NO_APP;
    self->requests++;
    self->named += named;
    self->lingering += !named && demand->state == LK_DEMAND_LINGERING;
    self->settled += !is_open (demand);
    self->unlocking += demand->tell_unlocked;
    self->names_size += demand->ticket.object.size;
    self->members += demand->set != NULL;
    self->kept += demand->ticket.kept;
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
check_askers (const lk_proxy *proxy)
{
    size_t count = 0;
    const lk_index_link *link = lk_index_first (&proxy->askers);
    for (; link; link = lk_index_next (&proxy->askers, link)) {
        count += ((const lk_asker *) link)->count;
    }
    LK_ASSERT (count == proxy->names.count + HASH_COUNT (proxy->sets));
}

static void
check_all (const lk_proxy *proxy)
{
    sums all = {0};
    size_t members = 0;
    const lk_demand *demand = lk_demand_first (proxy);
    for (; demand; demand = lk_demand_next (proxy, demand)) {
        check_asked (proxy, demand);
        count (&all, demand);
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
    LK_ASSERT (lk_uses_sum (&proxy->uses) == all.requests - all.kept);
    LK_ASSERT (lk_uses_sum (&proxy->kept) == all.kept);
    check_askers (proxy);
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
    LK_ASSERT (proxy->live || proxy->far.all.count == 0);
    LK_ASSERT (proxy->far.vouched <= core->pings);
    LK_ASSERT (proxy->far.ending <= proxy->far.all.count);
    LK_ASSERT (proxy->far.looks.count <= proxy->far.all.count);
    if (all) {
        check_all (proxy);
    }
}
