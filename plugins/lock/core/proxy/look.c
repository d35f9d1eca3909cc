/*  look.c - what a proxy tells of its requests, for people
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "demand.h"
#include "set.h"

void
lk_proxy_fill_status (lk_proxy *proxy, lk_node_status *status)
{
    status->ready = lk_proxy_is_ready (proxy);
    status->lease_until_ms = proxy->live ? proxy->lease_until_ms : 0;
    status->requests = proxy->serials.count;
    status->endangered = proxy->danger != 0 || proxy->far.ending > 0;
}

bool
lk_proxy_find_demand (const lk_proxy *proxy, uint64_t serial,
                      lk_node_demand *demand)
{
    const lk_demand *it = lk_demand_by_serial (proxy, serial);
    if (!it) {
        return false;
    }
    *demand = (lk_node_demand) {.app = (uint32_t) it->name[0],
                                .app_serial = it->name[1],
                                .pid = it->ticket.pid,
                                .danger = it->dangers != 0};
    return true;
}

static bool
is_open (const lk_demand *demand)
{
    return demand->state != LK_DEMAND_ENDED
           && demand->state != LK_DEMAND_CLOSING
           && demand->state != LK_DEMAND_ERRAND;
}

bool
lk_proxy_next_own (const lk_proxy *proxy, const void **place, lk_node_own *own)
{
    const lk_demand *demand = *place;
    do {
        demand =
            demand ? lk_demand_next (proxy, demand) : lk_demand_first (proxy);
        if (!demand) {
            return false;
        }
    } while (!is_open (demand));
    const int64_t left_ms = demand->until_ms - proxy->core->now_ms;
    const bool ends =
        demand->ticket.token != 0 && demand->until_ms != INT64_MAX;
    *place = demand;
    *own = (lk_node_own) {.ticket = demand->ticket,
                          .later = demand->state == LK_DEMAND_LATER,
                          .danger = demand->dangers != 0,
                          .left_ms = !ends         ? -1
                                     : left_ms > 0 ? left_ms
                                                   : 0};
    own->ticket.request =
        (lk_request_id) {.host = proxy->core->config.self,
                         .session = proxy->core->facts.session,
                         .serial = demand->serial};
    own->ticket.age_ms = proxy->core->now_ms - demand->since_ms;
    return true;
}

lk_node_use
lk_proxy_find_use (const lk_proxy *proxy, const char *zone)
{
    const lk_use use = lk_uses_find (&proxy->uses, zone);
    const lk_use kept = lk_uses_find (&proxy->kept, zone);
    return (lk_node_use) {.locks = use.locks,
                          .bytes = use.bytes,
                          .kept = kept.locks,
                          .kept_bytes = kept.bytes};
}

bool
lk_proxy_has_request (const lk_proxy *proxy, uint32_t app, uint64_t serial)
{
    return lk_demand_by_name (proxy, app, serial)
           || lk_set_by_name (proxy, app, serial);
}
