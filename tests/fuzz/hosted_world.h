/*  hosted_world.h - a router and the lock service that it hosts, in one world
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What the router forwards goes through pipe, attach and bus to the shell and
 *  the core of the lock service, and back; only sockets, disk, chance and the
 *  clock are the test's. A lock service that ends is started again. For one
 *  program each.
 */

#ifndef LK_HOSTED_WORLD_H
#define LK_HOSTED_WORLD_H

#include "lockd_system.h"

#include "gossip.h"
#include "lib/router_world.h"
#include "net/bus.h"
#include "net/clock.h"
#include "undelivered.h"

#include <utlist.h>

#define TURNS_MAX 1000

static struct {
    lk_router_world router;
    lk_identity identity; /* of the lock service's connection */
    lk_loop *loop;
    lk_pipe pipe;
    lk_bus bus;
    lk_lockd lockd;
    bool ended;
} world;

/*  -------------------------------------------------------- clock */

int64_t
lk_clock_ms (void)
{
    return world.router.router.now_ms;
}

int
lk_clock_poll_ms (int64_t when_ms)
{
    (void) when_ms;
    return 0;
}

/*  -------------------------------------------------------- life */

static void
on_stopped (void *runner, int exit_code)
{
    (void) runner;
    (void) exit_code;
    world.ended = true;
}

static void
start_service (void)
{
    const lk_bus_place place = {
        .loop = world.loop, .pipe = &world.pipe, .stopped = on_stopped};
    lk_problem problem;
    lk_pipe_init (&world.pipe);
    world.ended = false;
    const lk_err error = lk_bus_init (&world.bus, &lk_lockd_service,
                                      &world.lockd, &place, &problem);
    LK_ASSERT (error == LK_OK);
}

static inline void
world_init (size_t members)
{
    lk_router_world_init (&world.router);
    lk_identity_set (&world.identity, "the hosted one", 14);
    world.loop = lk_loop_new ();
    host_begin (&world.lockd, members);
    start_service ();
}

static inline void
world_clear (void)
{
    lk_bus_clear (&world.bus);
    lk_pipe_clear (&world.pipe);
    host_end (&world.lockd);
    lk_loop_destroy (&world.loop);
    lk_router_world_clear (&world.router);
}

/*  -------------------------------------------------------- frames */

static bool
take_from_service (void)
{
    bool any = false;
    lk_part frame;
    lk_part_init (&frame);
    while (lk_pipe_take (&world.pipe, &frame)) {
        any = true;
        lk_forward_frame (&world.router.router, LK_SIDE_HOSTED, &world.identity,
                          &frame);
    }
    lk_part_clear (&frame);
    return any;
}

static void
give_to_service (void)
{
    lk_hop *hop;
    DL_FOREACH (world.router.router.hops.first, hop) {
        lk_part *part;
        while (hop->side == LK_SIDE_HOSTED
               && (part = lk_outbox_first (&hop->box)) != NULL) {
            lk_pipe_give (&world.pipe, part);
            lk_outbox_drop (&hop->box);
        }
    }
}

/*  It takes leave, and another begins with what is on the disk. */
static void
restart_service (void)
{
    lk_lockd_options options = world.lockd.options;
    lk_bus_clear (&world.bus);
    (void) take_from_service ();
    lk_pipe_clear (&world.pipe);
    lk_lockd_clear (&world.lockd);
    host.disk_fails = false;
    lk_lockd_init (&world.lockd, &options);
    const bool opened = lk_lockd_open (&world.lockd);
    LK_ASSERT (opened);
    start_service ();
}

/*  All that was said is heard, answered, and gone. */
static inline void
world_settle (void)
{
    bool any = true;
    for (int turns = 0; any; turns++) {
        LK_ASSERT (turns < TURNS_MAX);
        give_to_service ();
        lk_router_world_flush (&world.router);
        any = lk_pipe_deliver (&world.pipe);
        lk_bus_settle (&world.bus);
        lk_attach_flush (world.bus.attach);
        any |= take_from_service ();
        if (world.ended) {
            restart_service ();
            any = true;
        }
    }
}

static inline void
world_pass_time (int64_t ms)
{
    lk_router *router = &world.router.router;
    const int64_t end_ms = router->now_ms + ms;
    while (router->now_ms < end_ms) {
        const int64_t left_ms = end_ms - router->now_ms;
        router->now_ms += left_ms < 50 ? left_ms : 50;
        lk_loop_once (world.loop, 0);
        lk_neighbour_work (router);
        lk_gossip_work (router);
        lk_undelivered_work (router);
        world_settle ();
    }
}

/*  -------------------------------------------------------- checks */

/*  Its sessions are the applications that the lock service takes for attached,
 *  no more and no less: whatever others say of them. */
static inline void
check_apps (void)
{
    const lk_route *route = &world.router.router.route;
    const lk_apps *apps = &world.lockd.apps;
    char address[LK_ADDRESS_LEN_MAX + 1];
    lk_address parts;
    for (const lk_app *app = apps->by_number; app != NULL;
         app = app->by_number.next) {
        if (app->attached == world.lockd.attachment) {
            LK_ASSERT (lk_address_parts (lk_slice_of (app->address), &parts));
            const lk_local *local = lk_route_by_service (route, parts.service);
            LK_ASSERT (local != NULL && local->pid == app->pid);
        }
    }
    for (const lk_local *local = route->by_service; local != NULL;
         local = local->by_service.next) {
        snprintf (address, sizeof address, "%s@h1", local->service);
        const lk_app *app = lk_apps_find (apps, address);
        LK_ASSERT (strcmp (local->service, "lock") == 0
                   || (app != NULL && app->attached == world.lockd.attachment));
    }
}

static inline void
world_check (void)
{
    lk_router_world_check (&world.router);
    host_check_apps (&world.lockd);
    if (world.lockd.attached && !world.lockd.failed) {
        check_apps ();
    }
}

#endif
