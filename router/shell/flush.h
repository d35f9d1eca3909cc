/*  flush.h - what waits in the outboxes of a router is sent
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_FLUSH_H
#define LK_FLUSH_H

#include "channel.h"
#include "router.h"

#include "net/part.h"

typedef struct {
    lk_router *router;
    lk_channel_sender *give;

    /*  It does not keep up with what it has to know. */
    void (*hang_up) (void *shell, const lk_hop *hop);

    /*  Takes all that has come: last words of who is gone. */
    void (*drain) (void *shell);
    void *shell;
} lk_flusher;

/*  Sends what it can of one hop; false: there is no connection. */
bool lk_flush_hop (const lk_flusher *self, lk_hop *hop);

/*  The same of all; those that are gone are told as lost. */
void lk_flush_all (const lk_flusher *self);

#endif
