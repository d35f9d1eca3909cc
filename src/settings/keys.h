/*  keys.h - all settings that there are
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One table, so that each program refuses the same mistakes with the same
 *  words. What values come to is for router.h and lock.h.
 */

#ifndef LK_SETTINGS_KEYS_H
#define LK_SETTINGS_KEYS_H

#include "net/config.h"

/*  Ends with a NULL key. */
extern const lk_config_key lk_settings[];

#endif
