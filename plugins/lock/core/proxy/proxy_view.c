/*  proxy_view.c - what tests and judges may see of a proxy
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "proxy_view.h"

#include "demand.h"
#include "set.h"

static lk_demand_view
see (const lk_demand *demand)
{
    if (!demand) {
        return (lk_demand_view) {.serial = 0};
    }
    return (lk_demand_view) {.serial = demand->serial,
                             .lingers = demand->state == LK_DEMAND_LINGERING,
                             .goes_back = demand->state == LK_DEMAND_CLOSING,
                             .is_command = demand->state == LK_DEMAND_ERRAND,
                             .object = demand->ticket.object,
                             .type = demand->ticket.mode.type,
                             .token = demand->ticket.token,
                             .turn = demand->ticket.turn,
                             .turn_sent = demand->turn.sent,
                             .turn_until_ms = demand->turn.until_ms,
                             .linger_until_ms = demand->linger_until_ms};
}

lk_demand_view
lk_proxy_see_demand (const lk_proxy *proxy, uint64_t serial)
{
    return see (lk_demand_by_serial (proxy, serial));
}

lk_proxy_view
lk_proxy_see (const lk_proxy *proxy)
{
    lk_proxy_view view = {.live = proxy->live,
                          .lease_until_ms = proxy->lease_until_ms,
                          .reported = proxy->reported,
                          .requests = proxy->serials.count,
                          .named = proxy->names.count,
                          .names_size = proxy->names_size,
                          .last_serial = proxy->last_serial,
                          .end_ms = lk_heap_next_ms (&proxy->ends),
                          .first = see (lk_demand_first (proxy)),
                          .sets = HASH_COUNT (proxy->sets)};
    if (view.sets == 1) {
        view.set_is_held = proxy->sets->state == LK_SET_HELD;
        view.set_members = proxy->sets->held;
    }
    return view;
}
