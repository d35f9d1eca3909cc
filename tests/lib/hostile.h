/*  hostile.h - messages that no lock service in its right mind would send
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A message between lock services is changed field by field as the fuzzer
 *  wants it, and goes over the wire: what cannot travel is not heard.
 */

#ifndef LK_HOSTILE_H
#define LK_HOSTILE_H

#include "lib/fuel.h"
#include "lib/lock_copy.h"
#include "wire/hostmap.h"
#include "wire/lock_message.h"

#define LK_HOSTILE_ROWS 4

/*  What a changed message may point to. */
typedef struct {
    lk_ticket ticket[LK_HOSTILE_ROWS];
    lk_op op[LK_HOSTILE_ROWS];
    lk_release release[LK_HOSTILE_ROWS];
} lk_hostile_room;

/*  An object's key. Static. */
lk_name lk_hostile_object (lk_fuel *fuel);

/*  Where a message of that kind has its object; NULL: it has none. */
lk_name *lk_hostile_object_of (lk_lock_message *message);

/*  A mode that may make no sense. */
lk_lock_mode lk_hostile_mode (lk_fuel *fuel);

/*  Changes one field. */
void lk_hostile_edit (lk_fuel *fuel, lk_lock_message *message,
                      const lk_hostmap *hostmap, lk_hostile_room *room);

/*  Over the wire to message->to; false if it does not arrive. `out` is the
 *  caller's then (lk_lock_message_clear). The hostmap may grow. */
bool lk_hostile_travel (const lk_lock_message *message, lk_hostmap *hostmap,
                        lk_lock_message *out);

#endif
