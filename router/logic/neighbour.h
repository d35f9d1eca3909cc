/*  neighbour.h - carries out what the table of a link says
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  mesh.h decides; here connections are asked for, CONNECT and heartbeats
 *  are sent, and everybody is told who came and went.
 */

#ifndef LK_NEIGHBOUR_H
#define LK_NEIGHBOUR_H

#include "router.h"

/*  One event of a link, with all that follows from it. */
void lk_neighbour_step (lk_router *self, lk_mesh_link *link,
                        lk_mesh_event event);

/*  Its connection is over, and nothing of it goes on. */
void lk_neighbour_end (lk_router *self, lk_mesh_link *link, const char *why);

/*  Our own connection to a link stands; or is over, or did not come about
 *  (then `problem` says why, else it is NULL). Without a word if it is no
 *  link's. */
void lk_neighbour_connected (lk_router *self, const lk_identity *identity);
void lk_neighbour_disconnected (lk_router *self, const lk_identity *identity,
                                const lk_problem *problem);

/*  The same of a neighbour's connection to us: it is over. */
void lk_neighbour_left (lk_router *self, const lk_identity *identity);

/*  Does what is due at now_ms; to be called by lk_mesh_deadline. */
void lk_neighbour_work (lk_router *self);

/*  Takes the neighbours to be from the configuration, NULL at the end: dials
 *  new ones, drops those that are gone from it. Addresses must have been
 *  checked. */
void lk_neighbour_configure (lk_router *self, const char *const *addresses);

/*  Dials those arbiters, and no others; the router of an arbiter dials none. */
void lk_neighbour_set_arbiters (lk_router *self, const lk_arbiter *arbiters,
                                size_t count);

/*  One more; NULL if none may make room for it. Closes a link and takes it out
 *  of the set: `why` is for the log. */
lk_mesh_link *lk_neighbour_add (lk_router *self, const char *address,
                                bool configured);
void lk_neighbour_drop (lk_router *self, lk_mesh_link *link, const char *why);

/*  The key by which a host is linked, or all that do not have their own (""),
 *  counts no more: so the link is over. */
void lk_neighbour_cut (lk_router *self, const char *host);

/*  Somebody is not taken, or does not take us: for the log, seldom, and for
 *  ROUTERSTATUS. `what` is a literal. */
void lk_neighbour_note_refusal (lk_router *self, const char *what,
                                const char *reason, const char *host,
                                const char *address);

/*  Where that router takes applications on other machines, as a message that
 *  introduces it says. */
void lk_neighbour_read_clients (const lk_message *message,
                                lk_clients_port *port);

/*  A message that says who this router is, to the next one. */
lk_message *lk_neighbour_introduction (const lk_router *self,
                                       const char *command);

/*  Says good bye to all, and takes no new ones. */
void lk_neighbour_leave (lk_router *self);

/*  Whether all have hung up since, as they do when they have read that and all
 *  that was sent before. */
bool lk_neighbour_all_left (const lk_router *self);

/*  The messages CONNECT, ACCEPT, REFUSE and DISCONNECTED. */
void lk_neighbour_on_connect (lk_router *self, const lk_source *source,
                              const lk_message *message);
void lk_neighbour_on_accept (lk_router *self, const lk_source *source,
                             const lk_message *message);
void lk_neighbour_on_refuse (lk_router *self, const lk_source *source,
                             const lk_message *message);
void lk_neighbour_on_disconnected (lk_router *self, const lk_source *source,
                                   const lk_message *message);

/*  Answers on a connection that we did not take, or not any more. */
void lk_neighbour_refuse (lk_router *self, const lk_source *source,
                          const char *reason);

#endif
