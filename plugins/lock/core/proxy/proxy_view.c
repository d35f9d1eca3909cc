/*  proxy_view.c - what tests and judges may see of a proxy
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "proxy_view.h"

#include "asked.h"
#include "set.h"

static lk_asked_view
see (const lk_asked *asked)
{
    if (!asked) {
        return (lk_asked_view) {.serial = 0};
    }
    return (lk_asked_view) {.serial = asked->serial,
                            .lingers = asked->state == LK_ASKED_LINGERING,
                            .goes_back = asked->state == LK_ASKED_CLOSING,
                            .is_errand = asked->state == LK_ASKED_ERRAND,
                            .object = asked->ticket.object,
                            .type = asked->ticket.mode.type,
                            .token = asked->ticket.token,
                            .turn = asked->ticket.turn,
                            .turn_sent = asked->turn.sent,
                            .turn_until_ms = asked->turn.until_ms,
                            .linger_until_ms = asked->linger_until_ms};
}

lk_asked_view
lk_proxy_see_asked (const lk_proxy *proxy, uint64_t serial)
{
    return see (lk_asked_by_serial (proxy, serial));
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
                          .first = see (lk_asked_first (proxy)),
                          .sets = HASH_COUNT (proxy->sets)};
    if (view.sets == 1) {
        view.set_is_held = proxy->sets->state == LK_SET_HELD;
        view.set_members = proxy->sets->held;
    }
    return view;
}
