/*  shell.h - the router's sockets, timers and signals
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Thin: what comes in is given to router.h, what that puts into outboxes is
 *  sent at the end of the wake-up.
 */

#ifndef LK_SHELL_H
#define LK_SHELL_H

#include "settings/router.h"

/*  Reads the configuration again, for SIGHUP and RELOADCONFIG: fills in the
 *  options, or fails and leaves them. */
typedef lk_err lk_shell_reload (void *user, lk_router_options *options,
                                lk_problem *problem);

/*  Runs a router until it is told to stop; returns the exit code. */
int lk_shell_run (const lk_router_options *options, lk_shell_reload *reload,
                  void *user);

#endif
