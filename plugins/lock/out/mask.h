/*  mask.h - what a zone may know
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A zone hears nothing of hosts, leaders, members and other zones.
 */

#ifndef LK_MASK_H
#define LK_MASK_H

#include "keep.h"

/*  Whether what that one is told is masked. */
bool lk_lockd_is_masked (const lk_view *view);

/*  Adds what a row tells to the list of that name in `answer`, as `view` may
 *  see it. */
void lk_lockd_add_masked (const lk_lockd *self, const lk_view *view,
                          lk_message *answer, const char *list,
                          const lk_message *row);

/*  The same of all rows of that list in `from`. */
void lk_lockd_add_all_masked (const lk_lockd *self, const lk_view *view,
                              lk_message *answer, const char *list,
                              const lk_message *from);

#endif
