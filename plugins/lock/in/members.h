/*  members.h - who is a member, and changes of that
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_MEMBERS_H
#define LK_MEMBERS_H

#include "keep.h"

/*  LOCKMEMBERS: answers it at once, or when the change that it asks for is
 *  made; true: give the core the event. */
bool lk_lockd_ask_members (lk_lockd *self, const lk_message *request,
                           lk_event *event);

/*  Takes a refusal of the leader that was asked to make us a member. */
void lk_lockd_not_joined (lk_lockd *self, const char *host,
                          const lk_message *message);

#endif
