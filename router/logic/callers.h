/*  callers.h - who comes by the port of applications on other machines
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What one may do there by its key: come, have a name, say something.
 */

#ifndef LK_CALLERS_H
#define LK_CALLERS_H

#include "router.h"

/*  Whether who has that key may connect, and as whom; a refusal is logged. */
bool lk_callers_admit (lk_router *self, const char *public_key,
                       const char *address, char user[LK_CURVE_USER_SIZE]);

/*  A connection ended before it was known who is there: refused, or one that
 *  could not even be asked for its key. */
void lk_callers_denied (lk_router *self);

/*  The key of who was let in so; NULL: that is not of an application. */
const char *lk_callers_key_of (const char *user);

/*  Why it may not say that, though it has a session; NULL: it may. */
const char *lk_callers_objection (const lk_router *self,
                                  const lk_frame_header *header);

/*  The fault of a REGISTER of it; NULL: none. */
const char *lk_callers_complaint (const lk_router *self,
                                  const lk_source *source,
                                  const lk_message *message);

/*  Enters what the key says into a session; what is wrong, or NULL. */
const char *lk_callers_enter (lk_router *self, const lk_source *source,
                              lk_local *local);

/*  Whether it has the same key as a session of that name, which is in the way
 *  of who registers no longer. */
bool lk_callers_is_same (const lk_router *self, const lk_source *source,
                         const lk_local *holder);

#endif
