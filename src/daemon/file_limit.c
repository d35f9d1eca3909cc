/*  file_limit.c - see file_limit.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "file_limit.h"

#include <sys/resource.h>

void
lk_allow_descriptors (void)
{
    struct rlimit limit;
    if (getrlimit (RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void) setrlimit (RLIMIT_NOFILE, &limit);
    }
}
