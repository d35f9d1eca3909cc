/*  audit.h - who was refused, and who changed something
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One line each, `audit: WHAT RESULT key=value...`, in the log of the host
 *  where it happens and in that of the zone.
 */

#ifndef LK_AUDIT_H
#define LK_AUDIT_H

#include "keep.h"

/*  A deed of somebody: "force", "members", "settings". `from` is its address;
 *  `what` are pairs of key and value, or "". */
void lk_lockd_audit (lk_lockd *self, const char *deed, const lk_who *who,
                     const char *from, const char *what);

/*  That somebody may not say that. At most so many lines a second: others are
 *  counted in the next one. */
#define LK_AUDIT_REFUSALS_MAX 20
void lk_lockd_audit_refusal (lk_lockd *self, const lk_message *message,
                             const lk_who *who, const char *why);

#endif
