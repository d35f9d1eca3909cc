/*  bus.h - what is behind the lk_bus of <lockkeeper/service.h>
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  An attach, a timer and a loop: of a service that is a process of its own
 *  (service.c), or of one that a router hosts in its own loop.
 */

#ifndef LK_BUS_H
#define LK_BUS_H

#include "net/attach.h"
#include "net/loop.h"

#include <lockkeeper/service.h>

/*  What runs a service. */
typedef struct {
    lk_loop *loop;
    const char *endpoint; /* of the router, */
    lk_pipe *pipe;        /* or the way to it in this process, or NULL */
    const char *part;     /* of the program, for its lines in the log; NULL */

    /*  The service is at its end, with that exit code: to be cleared, but not
     *  in this call. May be called more than once; the first counts. */
    void (*stopped) (void *runner, int exit_code);

    /*  With a pipe: the service was called by its timer or a descriptor, and is
     *  to be settled. NULL is fine. */
    void (*woken) (void *runner);
    void *runner;
} lk_bus_place;

/*  A descriptor of the service's own. */
typedef struct lk_bus_watcher lk_bus_watcher;

struct lk_bus {
    const lk_service *service;
    void *self; /* the service's own */
    lk_bus_place place;
    lk_attach *attach;
    lk_timer timer;    /* lk_bus_wake_at */
    lk_timer patience; /* for a word about a router that does not come */
    lk_bus_watcher *watchers;
    lk_hook *settled; /* ahead of the attach's, which sends */
    bool was_attached;
    bool leaving; /* the service was told so, and stops by itself */
    bool stopping;
};

/*  Begins to attach `service`. LK_INVALID, LK_SYSTEM and problem; nothing is to
 *  be cleared then. lk_service_run is this with a loop, signals and a log. */
lk_err lk_bus_init (lk_bus *self, const lk_service *service, void *user,
                    const lk_bus_place *place, lk_problem *problem);

/*  Before the loop is destroyed. */
void lk_bus_clear (lk_bus *self);

/*  The service has been given all that there is now. Who has a pipe calls this
 *  before lk_attach_flush; without one a hook of the loop does. */
void lk_bus_settle (lk_bus *self);

/*  Its files may have changed: calls its reload. */
void lk_bus_reload (lk_bus *self);

/*  The service is to stop: if attach ever was called, its leave, which
 *  stops it later; without one, or a second time, it stops with code 0. */
void lk_bus_leave (lk_bus *self, const char *reason);

#endif
