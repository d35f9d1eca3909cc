/*  keys.h - commands about the keys of the cluster's routers
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      KEYS          which there are               of the router's owner
 *      INVITE        one more host may come        likewise
 *      ROTATEKEYS    new ones, for all             likewise
 *      WITHDRAWKEYS  the former ones, from all     likewise
 *      ENROL         a host that is invited        of a guest
 *      NEWKEY        use this from now on          of a neighbour
 *      OLDKEYS       forget the former ones        likewise
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
void lk_keys_on_withdraw (lk_router *self, const lk_source *source,
                          const lk_message *message);
void lk_keys_on_enrol (lk_router *self, const lk_source *source,
                       const lk_message *message);
void lk_keys_on_newkey (lk_router *self, const lk_source *source,
                        const lk_message *message);
void lk_keys_on_oldkeys (lk_router *self, const lk_source *source,
                         const lk_message *message);

#endif
