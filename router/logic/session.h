/*  session.h - the life of a process with its router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  REGISTER begins it; UNREGISTER, the end of the process or of its
 *  connection ends it. In between it subscribes.
 */

#ifndef LK_SESSION_H
#define LK_SESSION_H

#include "router.h"

/*  REGISTER: answered with READY or REFUSE. From a session that is there
 *  already, too: REGISTER is repeated until it is answered. */
void lk_session_register (lk_router *self, const lk_source *source,
                          const lk_message *message);

/*  SUBSCRIBE: the present state of each follows. What is over the limit or
 *  is no command is answered with INVALID. */
void lk_session_subscribe (lk_router *self, const lk_source *source,
                           const lk_message *message);

/*  Ends a session and frees it: tells STATUS down and answers what still
 *  waited for it. `why` is for the log: "unregistered", "process ended". */
void lk_session_end (lk_router *self, lk_local *local, const char *why);

#endif
