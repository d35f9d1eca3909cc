/*  service.c - one service as one process
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/bus.h"
#include "net/log.h"
#include "net/paths.h"

#include <signal.h>

static void
on_signal (void *user, int signal_number)
{
    lk_bus *self = user;

    if (signal_number == SIGHUP) {
        lk_bus_reload (self);
    } else {
        lk_log_notice ("told to stop: by=signal number=%d", signal_number);
        lk_bus_leave (self, signal_number == SIGINT ? "interrupt" : "signal");
    }
}

static void
stop_loop (void *runner, int exit_code)
{
    lk_loop_stop (runner, exit_code);
}

int
lk_service_run (const lk_service *service, void *self,
                const lk_service_options *options)
{
    lk_bus_place place = {.endpoint = options->endpoint ? options->endpoint
                                                        : LK_PATH_ENDPOINT,
                          .stopped = stop_loop};
    lk_problem problem;
    lk_bus bus;
    int exit_code = 1;

    if (options->program && !lk_log_is_open ()) {
        lk_log_open (options->program, false);
    }
    lk_loop *loop = lk_loop_new ();
    lk_loop_on_signal (loop, on_signal, &bus);
    place.loop = place.runner = loop;
    if (lk_bus_init (&bus, service, self, &place, &problem) == LK_OK) {
        exit_code = lk_loop_run (loop);
        lk_bus_clear (&bus);
    } else {
        lk_log_error ("%s", problem.text);
    }
    lk_loop_destroy (&loop);
    return exit_code;
}
