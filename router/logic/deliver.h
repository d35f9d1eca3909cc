/*  deliver.h - a message goes to the hops of its receivers
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  By its header alone, and to other processes and hosts only: what is for the
 *  router itself is forward.h's to tell.
 */

#ifndef LK_DELIVER_H
#define LK_DELIVER_H

#include "router.h"

#include "wire/frame.h"

/*  One frame on its way. Messages in a row that go to one hop are a run, and
 *  travel together; a run that is all of the frame takes the frame along. */
typedef struct {
    lk_router *router;
    const lk_local *sender; /* gets no broadcast back; NULL: of another host */
    lk_part *frame;
    lk_hop *hop; /* of the run; NULL: there is none */
    lk_slice run;
} lk_delivery;

/*  A message of a process of this host, or one that stays on this host. It
 *  may wait for the end of its run. */
void lk_deliver_message (lk_delivery *self, lk_frame_header *header);

/*  To all neighbours, at once. */
void lk_deliver_over_mesh (lk_delivery *self, lk_frame_header *header);

/*  What waits is put into its hop's outbox: at the end of the frame, and ahead
 *  of anything else that is sent. */
void lk_deliver_end_run (lk_delivery *self);

/*  What waits in the cache for a service that has come, and that for any host's
 *  of its name, goes on; all for a host that messages can be sent to now. */
void lk_deliver_cached (lk_router *self, const char *service, const char *host);
void lk_deliver_cached_host (lk_router *self, const char *host);

#endif
