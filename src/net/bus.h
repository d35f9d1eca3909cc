/*  bus.h - what is behind the lk_bus of <lockkeeper/service.h>
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A service that is a process of its own: an attach and a loop. What hosts
 *  services in a router one day brings another struct lk_bus.
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
    lk_timer timer;
    bool attached; /* between its attach and detach */
    bool stopping;
};

/*  Attaches `service` to `loop`; false and problem if that makes no sense.
 *  lk_service_run is this with a loop, signals and a log. */
bool lk_bus_init (lk_bus *self, const lk_service *service, void *user,
                  const char *endpoint, lk_loop *loop, lk_problem *problem);

/*  detach(reason) if it is attached; the last messages leave, then the loop
 *  stops with exit_code. */
void lk_bus_leave (lk_bus *self, const char *reason, int exit_code);
void lk_bus_clear (lk_bus *self);

#endif
