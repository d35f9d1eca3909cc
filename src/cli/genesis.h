/*  genesis.h - the first state of a lock service, written on purpose
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  It makes a host a member of a cluster: the same cluster name and members,
 *  once on each of them. `init` and `sandbox` do so.
 */

#ifndef LK_GENESIS_H
#define LK_GENESIS_H

#include <stdbool.h>
#include <stddef.h>

#define LK_GENESIS_MEMBERS_MAX 15

/*  Writes DIR/lock.state for `host`; `members` is "h1,h2,h3". Gives a genesis
 *  to the state of a proxy, and refuses to overwrite any other. False: nothing
 *  was written, and `problem` says why. */
bool lk_genesis_write (const char *dir, const char *cluster,
                       const char *members, const char *host, char *problem,
                       size_t problem_size);

#endif
