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

#include "wire/lock_state.h"

#include <stdbool.h>
#include <stddef.h>

#define LK_GENESIS_MEMBERS_MAX 15

/*  What a host's state says of it. */
typedef enum {
    LK_GENESIS_NONE,      /* there is none, or it makes no sense */
    LK_GENESIS_PROXY,     /* it is no member by it */
    LK_GENESIS_MEMBER,    /* it is one, or may be */
    LK_GENESIS_UNREADABLE /* not for us */
} lk_genesis_kind;

/*  Looks at DIR/lock.state; `cluster` is "" if it has none. */
lk_genesis_kind lk_genesis_look (const char *dir,
                                 char cluster[LK_CLUSTER_LEN_MAX + 1]);

/*  Writes DIR/lock.state for `host`; `members` is "h1,h2,h3". Gives a genesis
 *  to the state of a proxy, and refuses to overwrite any other. False: nothing
 *  was written, and `problem` says why. */
bool lk_genesis_write (const char *dir, const char *cluster,
                       const char *members, const char *host, char *problem,
                       size_t problem_size);

#endif
