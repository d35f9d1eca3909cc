/*  nested.h - a hint for a command that may wait for itself
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_NESTED_H
#define LK_NESTED_H

#include "cli/cli.h"

#define LK_HINT_MS 1000 /* for how long a request waits before the hint */

/*  Says so on stderr if one of the locks asked for is held by a process that
 *  we descend from. False: the lock service of this host did not answer; then
 *  it may be asked again. */
bool lk_cli_hint_nested (const lk_options *options);

#endif
