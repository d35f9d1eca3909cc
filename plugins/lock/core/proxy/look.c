/*  look.c - what a proxy tells of its requests, for people
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "asked.h"

void
lk_proxy_fill_status (lk_proxy *proxy, lk_node_status *status)
{
    status->ready = lk_proxy_is_ready (proxy);
    status->lease_until_ms = proxy->live ? proxy->lease_until_ms : 0;
    status->requests = proxy->serials.count;
    status->endangered = proxy->danger != 0;
}

bool
lk_proxy_find_asked (const lk_proxy *proxy, uint64_t serial,
                     lk_node_asked *asked)
{
    const lk_asked *it = lk_asked_by_serial (proxy, serial);
    if (!it) {
        return false;
    }
    *asked = (lk_node_asked) {.app = (uint32_t) it->name[0],
                              .app_serial = it->name[1],
                              .pid = it->ticket.pid,
                              .danger = it->danger};
    return true;
}

static bool
is_open (const lk_asked *asked)
{
    return asked->state != LK_ASKED_ENDED && asked->state != LK_ASKED_CLOSING
           && asked->state != LK_ASKED_ERRAND;
}

bool
lk_proxy_next_own (const lk_proxy *proxy, const void **place, lk_node_own *own)
{
    const lk_index *serials = &proxy->serials;
    const lk_index_link *link = *place;
    do {
        link = link ? lk_index_next (serials, link) : lk_index_first (serials);
        if (!link) {
            return false;
        }
    } while (!is_open ((const lk_asked *) link));
    const lk_asked *asked = (const lk_asked *) link;
    const int64_t left_ms = asked->until_ms - proxy->core->now_ms;
    const bool ends = asked->ticket.token != 0 && asked->until_ms != INT64_MAX;
    *place = link;
    *own = (lk_node_own) {.ticket = asked->ticket,
                          .later = asked->state == LK_ASKED_LATER,
                          .danger = asked->danger,
                          .left_ms = !ends         ? -1
                                     : left_ms > 0 ? left_ms
                                                   : 0};
    own->ticket.request =
        (lk_request_id) {.host = proxy->core->config.self,
                         .session = proxy->core->facts.session,
                         .serial = asked->serial};
    own->ticket.age_ms = proxy->core->now_ms - asked->since_ms;
    return true;
}
