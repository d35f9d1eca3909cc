/*  closing.c - when a session may be called closed
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "closing.h"

#include "node_private.h"

/*  The lease of its predecessor ended a host lease after our start at the
 *  latest. */
void
lk_closing_begin (lk_node *node)
{
    lk_closing *self = &node->proxy.closing;
    self->pending = node->incarnation - 1;
    self->due_ms = self->pending == 0
                       ? node->started_ms
                       : node->started_ms + node->config.host_lease_ms
                             + lk_stopping_ms (node);
}

void
lk_closing_add (lk_node *node)
{
    lk_closing *self = &node->proxy.closing;
    int64_t due_ms = node->now_ms + lk_stopping_ms (node);
    self->pending = node->facts.session;
    if (self->due_ms < due_ms) {
        self->due_ms = due_ms;
    }
}

void
lk_closing_end (lk_node *node)
{
    lk_closing *self = &node->proxy.closing;
    if (node->now_ms >= self->due_ms) {
        self->closed = node->facts.session;
    }
}

void
lk_closing_run (lk_node *node)
{
    lk_closing *self = &node->proxy.closing;
    if (self->closed < self->pending && node->now_ms >= self->due_ms) {
        self->closed = self->pending;
    }
}

int64_t
lk_closing_wait_ms (const lk_node *node)
{
    const lk_closing *self = &node->proxy.closing;
    bool is_own = self->pending >= node->incarnation;
    return is_own && self->closed < self->pending ? self->due_ms : LK_LONG_AGO;
}
