/*  far.h - applications on other machines: which registration is meant
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_LOCKD_FAR_H
#define LK_LOCKD_FAR_H

#include "keep.h"
#include "request_fields.h"

/*  Whether that says an application on another machine. */
bool lk_lockd_is_far (const lk_message *message);

/*  The registration of that session which is meant; NULL: it is over, which is
 *  answered. */
lk_app *lk_lockd_registered (lk_lockd *self, const lk_ask *ask,
                             const lk_app *session);

/*  LOCKREGISTER, LOCKLEASE, LOCKGOODBYE. True: give the core the event, and
 *  then lk_lockd_settle_registration. */
bool lk_lockd_register (lk_lockd *self, lk_ask *ask, lk_app *session,
                        lk_event *event);
bool lk_lockd_lease (lk_lockd *self, lk_ask *ask, lk_app *session,
                     lk_event *event);
bool lk_lockd_goodbye (lk_lockd *self, lk_ask *ask, lk_app *session,
                       lk_event *event);
void lk_lockd_settle_registration (lk_lockd *self, const lk_event *event);

#endif
