/*  genesis.h - the first state of a lock service, written on purpose
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  It makes a host a member of a cluster: the same cluster name and members,
 *  once on each of them. `init` and `sandbox` do so. Or it begins a generation
 *  of a cluster that has no other state left, as `restore` does.
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
    LK_GENESIS_NEW,       /* it is one, but no lock service has had it yet */
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

/*  A generation that begins with `host` alone. */
typedef struct {
    const char *cluster;
    const char *host;
    uint64_t generation; /* its number */
    uint64_t above;      /* its terms have numbers above that */
    lk_settings_id settings;
    lk_name text;    /* of these, if their version is not 0 */
    int64_t since_s; /* now, s since 1970 */
} lk_genesis_restored;

/*  Whether there is no state, or one that is new, or that lk_genesis_write ()
 *  would replace, and no lock service runs with it. False: `problem` says
 *  why. */
bool lk_genesis_is_free (const char *dir, char *problem, size_t problem_size);

/*  Writes DIR/lock.settings and DIR/lock.state, unless lk_genesis_is_free () is
 *  false. False: there is no new state, and `problem` says why. */
bool lk_genesis_restore (const char *dir, const lk_genesis_restored *it,
                         char *problem, size_t problem_size);

#endif
