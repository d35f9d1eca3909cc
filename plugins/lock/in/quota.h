/*  quota.h - how much a zone may have
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  In the whole cluster: what this host uses, and what others told last.
 *  lockkeeper-protocol(7), 7.5.
 */

#ifndef LK_QUOTA_H
#define LK_QUOTA_H

#include "keep.h"
#include "request_fields.h"

/*  Counts what somebody of a zone asks; false: it is too much, which is
 *  answered. What gives something back is never too much, and of LOCK the next
 *  one tells. */
bool lk_lockd_may_ask (lk_lockd *self, const lk_message *message,
                       const lk_who *who);

/*  Whether a zone has room for what a new LOCK asks for, and for one more
 *  registration; false: no, which is answered. */
bool lk_lockd_may_lock (lk_lockd *self, const lk_ask *ask, const lk_app *app);
bool lk_lockd_may_register (lk_lockd *self, const lk_ask *ask,
                            const lk_app *session);

/*  The limits of the settings in force. */
void lk_lockd_read_limits (lk_lockd *self);

/*  Tells other lock services what this host uses if it is time. */
void lk_lockd_tell_use (lk_lockd *self);

/*  Somebody has not heard it: it is told again, though it is no news. */
void lk_lockd_tell_use_anew (lk_lockd *self);

#endif
