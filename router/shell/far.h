/*  far.h - connections of applications on other machines
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Nobody sees such a process end, and a ROUTER cannot hang up: this does, by
 *  the connection's descriptor.
 */

#ifndef LK_FAR_H
#define LK_FAR_H

#include "router.h"

/*  A session has begun, over the connection whose message is being told: notes
 *  which one that is. Forgets it: it has as long as one that has just come. */
void lk_far_note (lk_router *router, const lk_listener *clients,
                  lk_local *local);
void lk_far_forget (lk_local *local);

/*  Closes the connection of a session; of one without, while what came over it
 *  is told. */
void lk_far_hang_up (lk_local *local);
void lk_far_cut (const lk_listener *clients, const lk_identity *identity);

#endif
