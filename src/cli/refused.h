/*  refused.h - hosts that are turned away, as the routers of the cluster tell
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_REFUSED_H
#define LK_REFUSED_H

#include "cli/survey.h"

/*  Asks all of them, and prints each such host once; how many there are. */
int lk_cli_print_refused (const lk_survey *survey, lk_asker *asker,
                          int wait_ms);

#endif
