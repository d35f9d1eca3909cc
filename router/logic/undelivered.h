/*  undelivered.h - what cannot be delivered now: cached, or reported back
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Never dropped in silence: who sent it is told with TRANSMISSIONREPORT, or,
 *  where nobody can be told, it is counted as lost.
 */

#ifndef LK_UNDELIVERED_H
#define LK_UNDELIVERED_H

#include "router.h"

/*  Its receiver is not there: cached if its sender allows that and there is
 *  room, else reported. The reason is a sentence. */
void lk_undelivered_wait (lk_router *self, const lk_frame_header *header,
                          lk_err error, const char *reason);

/*  Reports it; what is never answered is counted as lost. */
void lk_undelivered_report (lk_router *self, const lk_frame_header *header,
                            lk_err error, const char *reason);

/*  Does the same as the first with all that waits for a hop. */
void lk_undelivered_hop (lk_router *self, lk_hop *hop, lk_err error,
                         const char *reason);

/*  Reports what was cached for all its time by now_ms. */
void lk_undelivered_work (lk_router *self);

/*  Who sent that is gone, with all that it wanted. */
void lk_undelivered_drop (lk_router *self, const lk_local *sender);

#endif
