/*  keys.h - commands about the keys of routers
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      KEYS        which there are                       of the router's owner
 *      INVITE      one more host may come                likewise
 *      ROTATEKEYS  a new pair for this host              likewise
 *      HOSTKEYS    those that the settings have          of a service
 *      ENROL       a host that is invited, and its key   of a guest
 *      NEWKEY      the key of a host that has joined     of a neighbour
 */

#ifndef LK_ROUTER_KEYS_H
#define LK_ROUTER_KEYS_H

#include "router.h"

void lk_keys_on_keys (lk_router *self, const lk_source *source,
                      const lk_message *message);
void lk_keys_on_invite (lk_router *self, const lk_source *source,
                        const lk_message *message);
void lk_keys_on_rotate (lk_router *self, const lk_source *source,
                        const lk_message *message);
void lk_keys_on_hostkeys (lk_router *self, const lk_source *source,
                          const lk_message *message);
void lk_keys_on_enrol (lk_router *self, const lk_source *source,
                       const lk_message *message);
void lk_keys_on_newkey (lk_router *self, const lk_source *source,
                        const lk_message *message);

/*  Answers that it is not so, with the reason. */
void lk_keys_refuse (lk_router *self, const lk_source *source,
                     const lk_message *message, const char *reason);

/*  Why that session does not tell which keys the settings have, while `keeper`
 *  does; NULL: it does. */
const char *lk_keys_teller_objection (lk_router *self, const lk_source *source,
                                      const char *keeper);

/*  Forgets the keys of that host which the settings do not have yet; adds them
 *  to the answer to FORGET. */
void lk_keys_forget (lk_router *self, const char *host, lk_message *answer);

#endif
