/*  draining.h - LOCKDRAIN: this lock service leads no more, or may again
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_DRAINING_H
#define LK_DRAINING_H

#include "keep.h"

/*  Answers it as of now; true: give the core the event. */
bool lk_lockd_ask_drain (lk_lockd *self, const lk_message *message,
                         const lk_view *view, lk_event *event);

/*  Notes since when the node drains, if it does, and has the router tell who is
 *  linked: applications on other machines are to go elsewhere. */
void lk_lockd_look_drain (lk_lockd *self);

#endif
