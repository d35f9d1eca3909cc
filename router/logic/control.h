/*  control.h - commands to the router itself
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One small function per command, in a table that says from whom it is
 *  taken. The router looks into bodies from here on only.
 */

#ifndef LK_CONTROL_H
#define LK_CONTROL_H

#include "router.h"

#include "wire/frame.h"

/*  A message to router@. : carries it out, or answers UNKNOWN or INVALID. */
void lk_control_message (lk_router *self, const lk_source *source,
                         const lk_frame_header *header);

#endif
