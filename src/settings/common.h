/*  common.h - what the settings of a whole cluster can say
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One text for all hosts, in ZPL as lockkeeper.conf(5), but none of its keys.
 *  lockkeeper-settings(5).
 */

#ifndef LK_SETTINGS_COMMON_H
#define LK_SETTINGS_COMMON_H

#include "net/problem.h"

#include <stdbool.h>

/*  Whether all of it makes sense; if not LK_INVALID, and the first line that
 *  does not as the problem. */
lk_err lk_common_settings_check (const char *text, lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  The i-th value of a key, from 0; false behind the last. Cut off to `size`,
 *  which all that passed the check fit into if it is LK_ZPL_LINE_SIZE_MAX + 1.
 */
bool lk_common_settings_value (const char *text, const char *key, size_t i,
                               char *value, size_t size);

/*  Whether that host may change them: any may unless `settings/lock` names
 *  hosts. */
bool lk_common_settings_may_change (const char *text, const char *host);

#endif
