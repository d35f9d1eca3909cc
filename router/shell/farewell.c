/*  farewell.c - how a router ends
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "farewell.h"
#include "events.h"
#include "neighbour.h"

#include "net/log.h"

/*  It waits until its neighbours have heard its good bye, before they see their
 *  connections break; less than they wait before they dial again. */
enum { LEAVE_MS = 50 };

void
lk_farewell_init (lk_farewell *self, lk_router *router, lk_hosting *hosting,
                  lk_manager *manager)
{
    *self = (lk_farewell) {
        .router = router, .hosting = hosting, .manager = manager};
}

/*  Hosted services first. */
void
lk_farewell_begin (lk_farewell *self, const char *reason)
{
    if (!self->stopping) {
        self->stopping = true;
        lk_log_notice ("router: up -> stopping host=%s", self->router->host);
        lk_manager_stop (self->manager);
    }
    lk_hosting_leave (self->hosting, reason);
}

bool
lk_farewell_leave (lk_farewell *self)
{
    if (!self->stopping || self->leaving || lk_hosting_runs (self->hosting)) {
        return false;
    }
    self->leaving = true;
    lk_neighbour_leave (self->router);
    lk_events_host (self->router, "DISCONNECTED", self->router->host, NULL,
                    NULL);
    self->stop_ms = self->router->now_ms + LEAVE_MS;
    return true;
}

void
lk_farewell_look (lk_farewell *self)
{
    if (self->leaving && lk_neighbour_all_left (self->router)) {
        self->stop_ms = self->router->now_ms;
    }
}

bool
lk_farewell_is_over (const lk_farewell *self)
{
    return self->leaving && self->stop_ms <= self->router->now_ms;
}
