/*  cluster_recover.h - `lockkeeper cluster recover`
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_CLUSTER_RECOVER_H
#define LK_CLUSTER_RECOVER_H

#include "cli/ask.h"
#include "cli/cli.h"

/*  Shows what it would be to begin anew with this host and those that are named
 *  behind "recover"; begins when the cluster's name is said, or typed. Returns
 *  the exit code. */
int lk_cluster_recover (lk_requester *asker, const lk_options *options);

#endif
