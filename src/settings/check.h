/*  check.h - whether this host has what its configuration wants
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What daemons would only find out when they start: folders, groups, and
 *  addresses.
 */

#ifndef LK_SETTINGS_CHECK_H
#define LK_SETTINGS_CHECK_H

#include "settings/lock.h"
#include "settings/router.h"

/*  What is wrong is kept as mistakes of the config. */
void lk_settings_check (lk_config *config, const lk_router_options *router,
                        const lk_lockd_options *lock);

#endif
