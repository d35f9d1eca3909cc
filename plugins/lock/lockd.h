/*  lockd.h - the shell around the core: one lock service of one host
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What comes from the bus becomes an event for the core (plugins/lock/core),
 *  and its effects are carried out in their order: to the state file, the bus,
 *  the lease page and the log. It decides nothing about locks. Rooms, each
 *  sees those ahead of it:
 *
 *      keep/      state, journal, tables of applications and lock services
 *      out/       messages, answers
 *      look/      what people can see
 *      in/        messages -> events
 *
 *      shell.c    callbacks of a service -> events; alone it steps the core
 *      leaving.c  told to end: others lead first
 *      effects.c  effects -> the world
 *      main.c     the process: options, then lk_service_run
 *      plugin.c   the same, hosted by a router
 */

#ifndef LK_LOCKD_H
#define LK_LOCKD_H

#include "keep.h"

/*  After the router came back, so long until applications that it does not
 *  report are gone. */
#define LK_LOCKD_RETURN_MS 2000

/*  The callbacks, for lk_service_run. */
extern const lk_service lk_lockd_service;

/*  Carries out the effects of a step. */
void lk_lockd_carry_out (lk_lockd *self, const lk_effects *effects);

#endif
