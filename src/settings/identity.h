/*  identity.h - which host this is, in a file of its own
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The configuration is the same on all hosts; what tells one of them from the
 *  others is kept beside its state: the name, made at the first start, and the
 *  machine that it was made on. A host keeps its name when the system gets
 *  another one, and a copy of the file on another machine is refused.
 */

#ifndef LK_SETTINGS_IDENTITY_H
#define LK_SETTINGS_IDENTITY_H

#include "net/problem.h"
#include <lockkeeper/message.h>

#include <stdbool.h>

typedef struct {
    char host[LK_HOST_LEN_MAX + 1];
    char machine[17]; /* a hash of its id; empty: not known */
} lk_own_identity;

/*  LK_UNKNOWN: there is no such file. LK_INVALID: it makes no sense. */
lk_err lk_own_identity_read (lk_own_identity *self, const char *path,
                             lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  Makes or replaces it, mode 0600, in a folder that is there. */
lk_err lk_own_identity_write (const char *path, const char *host,
                              lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  LK_REFUSED and problem if it was made on another machine. */
lk_err lk_own_identity_check (const lk_own_identity *self, const char *path,
                              lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  The name of this host, from the file, which is made if there is none; says
 *  in the log when it was made, or differs from that of the system. */
lk_err lk_own_identity_settle (const char *path, char host[LK_HOST_LEN_MAX + 1],
                               lk_problem *problem)
    __attribute__ ((warn_unused_result));

#endif
