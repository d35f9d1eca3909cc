/*  recover.h - LOCKRECOVER: an operator has the cluster begin anew
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_RECOVER_H
#define LK_RECOVER_H

#include "keep.h"

/*  Says what that would be, or refuses it, or does it: then the service ends,
 *  to begin anew. */
void lk_lockd_recover (lk_lockd *self, const lk_message *request);

#endif
