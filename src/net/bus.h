/*  bus.h - what is behind the lk_bus of <lockkeeper/service.h>
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A service that is a process of its own: an attach, a timer and a loop.
 *  What hosts services in a router one day brings another struct lk_bus.
 */

#ifndef LK_BUS_H
#define LK_BUS_H

#include "net/attach.h"
#include "net/loop.h"

#include <lockkeeper/service.h>

struct lk_bus {
    const lk_service *service;
    void *self; /* the service's own */
    lk_loop *loop;
    lk_attach *attach;
    lk_timer timer;    /* lk_bus_wake_at */
    lk_timer patience; /* for a word about a router that does not come */
    lk_hook *settled;  /* ahead of the attach's, which sends */
    bool was_attached;
    bool leaving; /* the service was told so, and stops by itself */
    bool stopping;
};

/*  Begins to attach `service` in `loop`. LK_INVALID, LK_SYSTEM and problem;
 *  nothing is to be cleared then. lk_service_run is this with a loop, signals
 *  and a log. */
lk_err lk_bus_init (lk_bus *self, const lk_service *service, void *user,
                    const char *endpoint, lk_loop *loop, lk_problem *problem);

/*  Before the loop is destroyed. */
void lk_bus_clear (lk_bus *self);

/*  The service is to stop: if attach ever was called, its leave, which stops
 *  the loop later; without one, or a second time, lk_bus_end with code 0. */
void lk_bus_leave (lk_bus *self, const char *reason);

/*  Calls detach with the reason, if attach ever was called, and stops the
 *  loop; what detach sends still leaves. Only the first time. */
void lk_bus_end (lk_bus *self, const char *reason, int exit_code);

#endif
