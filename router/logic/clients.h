/*  clients.h - applications on other machines, which come by a port of theirs
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Nobody sees such a process end: its session does when it is silent, or its
 *  key is withdrawn. It speaks with lock services alone.
 */

#ifndef LK_CLIENTS_H
#define LK_CLIENTS_H

#include "router.h"

/*  CLIENTKEYS: which keys the settings have. */
void lk_clients_on_keys (lk_router *self, const lk_source *source,
                         const lk_message *message);

/*  Whether who has that key may connect, and as whom; a refusal is logged. */
bool lk_clients_admit (lk_router *self, const char *public_key,
                       const char *address, char user[LK_CURVE_USER_SIZE]);

/*  A connection ended before it was known who is there: refused, or one that
 *  could not even be asked for its key. */
void lk_clients_denied (lk_router *self);

/*  The key of who was let in so; NULL: that is not of an application. */
const char *lk_clients_key_of (const char *user);

/*  Whose session that connection has; NULL: nobody's. One that has another key
 *  is not that of before, which has ended. */
lk_local *lk_clients_session (lk_router *self, const lk_identity *identity);

/*  Why it may not say that, registered or not; NULL: it may. */
const char *lk_clients_objection (const lk_router *self,
                                  const lk_frame_header *header);

/*  What is wrong with a REGISTER of it; NULL: nothing. */
const char *lk_clients_complaint (const lk_router *self,
                                  const lk_source *source,
                                  const lk_message *message);

/*  Enters what the key says into a session; what is wrong, or NULL. */
const char *lk_clients_enter (lk_router *self, const lk_source *source,
                              lk_local *local);

/*  Whether the session of that name is that of the same key: it is in the way
 *  of who registers no longer, and ended. */
bool lk_clients_take_over (lk_router *self, const lk_source *source,
                           lk_local *holder);

/*  Ends the sessions that are silent. */
void lk_clients_work (lk_router *self);

#endif
