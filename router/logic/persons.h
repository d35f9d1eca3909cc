/*  persons.h - who is behind a session, and what that one may say
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Found out by this router alone: by the socket, by the kernel's word, by a
 *  key that the settings have, or by a credential. protocol 5.1.
 */

#ifndef LK_PERSONS_H
#define LK_PERSONS_H

#include "router.h"

#include "wire/frame.h"

/*  Enters whose a session of a process of this host is. */
void lk_persons_enter_local (lk_router *self, const lk_source *source,
                             lk_local *local);

/*  Adds what READY tells of it; what STATUS does. */
void lk_persons_tell (const lk_router *self, const lk_person *person,
                      lk_message *ready);
void lk_persons_add (lk_message *status, const lk_local *local);

/*  Whether it is of another zone than "default". */
bool lk_persons_are_apart (const lk_local *local);

/*  Whether what it sends is of an admin, or a service. */
bool lk_persons_are_privileged (const lk_source *source);

/*  Why a session of another zone does not send that; NULL: it may. */
const char *lk_persons_objection (const lk_router *self, const lk_local *local,
                                  const lk_frame_header *header);

/*  Whether it may subscribe to that; and whether it is told of that service. */
bool lk_persons_may_follow (const lk_local *local, const char *topic);
bool lk_persons_may_see (const lk_router *self, const lk_local *local,
                         const char *service, const char *host);

/*  Why a command to this router is not taken from its source, by the role that
 *  it needs; NULL: it is. */
const char *lk_persons_refusal (const lk_source *source,
                                const lk_message *message, char *text,
                                size_t size);

#endif
