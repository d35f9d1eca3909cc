/*  checked_step.h - what must be so between two steps is so behind each
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_CHECKED_STEP_H
#define LK_CHECKED_STEP_H

/*  This test makes a node what it could not become by itself. */
void lk_check_no_more (void);

#endif
