/*  reasons.h - reasons of the router that others act upon
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The field "reason" is a sentence for people; these are part of the
 *  protocol.
 */

#ifndef LK_REASONS_H
#define LK_REASONS_H

/*  Why a STATUS is down when it is the connection that ended: the process may
 *  be alive and come back. */
#define LK_SESSION_CUT "connection ended"

/*  Why INVALID is said to a process that has no session, or has none any more:
 *  it begins anew. */
#define LK_INVALID_STRANGER "register first"

/*  Why INVALID is said to one that may not say that at all. */
#define LK_INVALID_NOT_YOURS "that is not yours to say"

/*  How REFUSE says that the name is in use; the reason begins with it. */
#define LK_REFUSE_TAKEN "name is taken"

/*  Why REFUSE is said to an application on another machine that shows nothing
 *  but a key which the settings do not have. */
#define LK_REFUSE_NO_CREDENTIAL "log in first"

/*  The word that is in the reason of a REFUSE because of a credential. */
#define LK_REFUSE_CREDENTIAL "credential"

/*  Why REFUSE is said to an ALIVE, by a router that has not met its sender, or
 *  has closed that link meanwhile. */
#define LK_REFUSE_UNMET "not connected"

#endif
