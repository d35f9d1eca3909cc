/*  lock_mode.h - how a lock is wanted or held: the fields of a message
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  In LOCK and in the tickets of LOCKLIST.
 */

#ifndef LK_LOCK_MODE_H
#define LK_LOCK_MODE_H

#include "wire/lock_message.h"

#include <lockkeeper/message.h>

/*  Writes the type, and of the other fields those that are not what they are
 *  taken for when they are not there. */
void lk_lock_mode_set (lk_message *message, const lk_lock_mode *mode);

#endif
