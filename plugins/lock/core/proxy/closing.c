/*  closing.c - when a session may be called closed
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "closing.h"

#include "proxy_private.h"

/*  The lease of its predecessor ended a host lease after our start at the
 *  latest. Protocol 9.13. */
void
lk_closing_begin (lk_proxy *proxy)
{
    lk_closing *self = &proxy->closing;
    self->pending = proxy->core->incarnation - 1;
    self->due_ms = self->pending == 0 ? proxy->core->started_ms
                                      : proxy->core->started_ms
                                            + proxy->core->config.host_lease_ms
                                            + lk_stopping_ms (proxy->core);
}

/*  protocol 9.14 */
void
lk_closing_add (lk_proxy *proxy)
{
    lk_closing *self = &proxy->closing;
    int64_t due_ms = proxy->core->now_ms + lk_stopping_ms (proxy->core);
    self->pending = proxy->core->facts.session;
    if (self->due_ms < due_ms) {
        self->due_ms = due_ms;
    }
}

/*  protocol 9.14 */
void
lk_closing_end (lk_proxy *proxy)
{
    lk_closing *self = &proxy->closing;
    if (proxy->core->now_ms >= self->due_ms) {
        self->closed = proxy->core->facts.session;
    }
}

void
lk_closing_run (lk_proxy *proxy)
{
    lk_closing *self = &proxy->closing;
    if (self->closed < self->pending && proxy->core->now_ms >= self->due_ms) {
        self->closed = self->pending;
    }
}

/*  protocol 9.14 */
int64_t
lk_closing_wait_ms (const lk_proxy *proxy)
{
    const lk_closing *self = &proxy->closing;
    bool is_own = self->pending >= proxy->core->incarnation;
    return is_own && self->closed < self->pending ? self->due_ms : LK_LONG_AGO;
}

/*  An application that sleeps since before this process began goes by the lease
 *  of then, whatever it is told. Protocol 9.14. */
void
lk_closing_note_former (lk_proxy *proxy, int64_t lease_until_ms)
{
    const int64_t most_ms =
        proxy->core->now_ms + proxy->core->config.host_lease_ms;
    const int64_t until_ms =
        lease_until_ms < most_ms ? lease_until_ms : most_ms;
    if (proxy->former_ms < until_ms) {
        proxy->former_ms = until_ms;
    }
}
