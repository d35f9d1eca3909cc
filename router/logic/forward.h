/*  forward.h - what comes in goes on to where it is addressed
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Reads headers in place, never a body. Messages to the router itself go to
 *  control.h.
 */

#ifndef LK_FORWARD_H
#define LK_FORWARD_H

#include "router.h"

/*  Takes in a frame of a connection; what it holds is moved on or copied,
 *  the caller clears it. */
void lk_forward_frame (lk_router *self, lk_side side,
                       const lk_identity *identity, lk_part *frame);

/*  Something came that is no frame: counted, and answered with INVALID. */
void lk_forward_broken (lk_router *self, lk_side side,
                        const lk_identity *identity, const char *reason);

#endif
