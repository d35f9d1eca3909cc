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

/*  From where a connection comes, for the log. */
const char *lk_callers_address (const lk_router *self,
                                const lk_identity *identity);

/*  Why it may not say that, though it has a session; NULL: it may. */
const char *lk_callers_objection (const lk_router *self,
                                  const lk_frame_header *header);

/*  The fault of a REGISTER of it, in `text` or not; NULL: none, and who it is.
 */
const char *lk_callers_complaint (lk_router *self, const lk_source *source,
                                  const lk_message *message, lk_person *person,
                                  char text[LK_REASON_LEN_MAX + 1]);

/*  Enters what the key says into a session of `person`; what is wrong, or
 *  NULL. */
const char *lk_callers_enter (lk_router *self, const lk_source *source,
                              const lk_person *person, lk_local *local);

/*  The same for a REGISTER said again: with another credential it goes on
 *  longer, and true is in `is_new`. */
const char *lk_callers_renew (lk_router *self, const lk_source *source,
                              const lk_message *message, bool *is_new,
                              char text[LK_REASON_LEN_MAX + 1]);

/*  Why a session goes on no longer, by the settings; NULL: it does. */
const char *lk_callers_end (const lk_router *self, const lk_local *local);

/*  Whether it has the same key as a session of that name, which is in the way
 *  of who registers no longer. */
bool lk_callers_is_same (const lk_router *self, const lk_source *source,
                         const lk_local *holder);

#endif
