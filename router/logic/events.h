/*  events.h - what subscribers and neighbours are told by the router itself
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  STATUS of services, HANGUP, DISCONNECTED and NEWREMOTECONNECTION of
 *  hosts, CLUSTER*. Nothing is decided here.
 */

#ifndef LK_EVENTS_H
#define LK_EVENTS_H

#include "router.h"

/*  A process of this host came ("up", NULL) or went ("down", why): told here
 *  and, but for applications, to the neighbours. */
void lk_events_local (lk_router *self, const lk_local *local,
                      const char *status, const char *why);

/*  A service of another host: told here. */
void lk_events_remote (lk_router *self, const lk_remote *remote,
                       const char *status);

/*  HANGUP, DISCONNECTED or NEWREMOTECONNECTION of a host, with one more
 *  field. */
void lk_events_host (lk_router *self, const char *command, const char *host,
                     const char *field, const char *text);

/*  Counts hosts and tells CLUSTER* if that changed anything. */
void lk_events_cluster (lk_router *self);

/*  How things are, for one who has just subscribed to that command. */
void lk_events_present (lk_router *self, lk_local *local, const char *command);

/*  The services of this host, for a neighbour that is linked now. */
void lk_events_introduce (lk_router *self, lk_mesh_link *link);

/*  The STATUS of a service, empty but for `to`; CLUSTERUP or -DOWN,
 *  CLUSTERCOMPLETE or -INCOMPLETE. The caller owns it. */
lk_message *lk_events_status_of (const char *to, const char *service,
                                 const char *host, const char *status);
lk_message *lk_events_up (const lk_router *self, const char *to);
lk_message *lk_events_complete (const lk_router *self, const char *to);

/*  Adds what is known of a service that is up. */
void lk_events_add_local (lk_message *status, const lk_local *local);
void lk_events_add_remote (lk_message *status, const lk_remote *remote);

#endif
