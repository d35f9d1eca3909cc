/*  load.h - a leader's table from before this process, as its journal has it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_LOAD_H
#define LK_LOAD_H

#include "leader.h"

/*  The own table is what the configuration names, if that is whole: for those
 *  who lead next, this process serves nobody with it. */
void lk_load_table (lk_leader *lead);

#endif
