/*  rights.h - who asks, and what that may
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The router of its host says who somebody is: in STATUS of a session of this
 *  host, by a bit of the message of another one. Roles: wire/role.h.
 */

#ifndef LK_RIGHTS_H
#define LK_RIGHTS_H

#include "keep.h"

/*  Reads who somebody is from the STATUS of its session. */
void lk_lockd_read_who (lk_who *who, const lk_message *status, bool far);

/*  Its sender, and the zones that he hears of; false: the router has not told
 *  yet. */
bool lk_lockd_recognize (const lk_lockd *self, const lk_message *message,
                         bool local, lk_view *view);

/*  Whether that one may say it; false: no, which is answered. */
bool lk_lockd_may_say (lk_lockd *self, const lk_message *message,
                       const lk_view *view);

/*  INVALID: it is of no concern to a zone. */
void lk_lockd_turn_down (lk_lockd *self, const lk_message *message);

/*  When the credential of that one ends, by the clock of the bus; INT64_MAX: it
 *  has no end. */
int64_t lk_lockd_until (const lk_lockd *self, const lk_who *who);

#endif
