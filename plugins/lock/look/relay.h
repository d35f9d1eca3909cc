/*  relay.h - a zone's questions that this host cannot answer alone
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A session of a zone asks the lock service of its own host, and knows no
 *  other one. That asks others in its place and passes on, masked, what they
 *  tell. lockkeeper-protocol(7), 7.5.
 */

#ifndef LK_LOOK_RELAY_H
#define LK_LOOK_RELAY_H

#include "keep.h"

/*  Asks these hosts what `request` asks, and then sends `answer`, which it
 *  takes. */
void lk_lockd_relay (lk_lockd *self, const lk_message *request,
                     const lk_view *view, lk_hosts hosts, lk_message *answer);

/*  An answer of another lock service. */
void lk_lockd_take_relay (lk_lockd *self, const char *host,
                          const lk_message *message);

/*  A question of another lock service of that kind, or its answer. */
bool lk_lockd_is_relayed (const lk_message *message);
void lk_lockd_take_relayed (lk_lockd *self, const char *host,
                            const lk_message *message);

/*  Answers those that are late with what has come. */
void lk_lockd_end_relays (lk_lockd *self);

#endif
