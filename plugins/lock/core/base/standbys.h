/*  standbys.h - what the first leader says of who leads next
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For people: no rule about locks looks at it. lockkeeper-protocol(7), 9.21.
 */

#ifndef LK_STANDBYS_H
#define LK_STANDBYS_H

#include "core.h"

/*  Takes it from a ping, if that is of the first leader in force. */
void lk_standbys_take (lk_core *core, lk_host from, const lk_msg_ping *ping);

/*  As the first leader in force said last; none: it said nothing. */
lk_standbys lk_standbys_in_force (const lk_core *core);

/*  The number is another host's from now on, or nobody's. */
void lk_standbys_forget (lk_standbys *self, lk_host host);

#endif
