/*  options.h - what a lock service can be told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Defaults, then the section [lock] of lockkeeper.conf(5), then the command
 *  line; each value is checked alone when it is set, all together at the end.
 */

#ifndef LK_LOCKD_OPTIONS_H
#define LK_LOCKD_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LK_LOCKD_PROBLEM_SIZE 256

typedef struct {
    char endpoint[PATH_MAX];
    char state_dir[PATH_MAX];
    char run_dir[PATH_MAX];
    char log_level[16];
    bool syslog;
    bool eligible;    /* priority is not "off" */
    uint8_t priority; /* 1..15 */
    uint8_t leaders_max;
    int64_t dead_after_ms;
    int64_t leader_lease_ms;
    int64_t host_lease_ms;
    int64_t grace_ms;
} lk_lockd_options;

void lk_lockd_options_init (lk_lockd_options *self);

/*  Sets one by its name in the config ("dead_after") or on the command line
 *  ("dead-after"). False, and why in `problem`, if there is none of that name
 *  or the value is not one of it. */
bool lk_lockd_options_set (lk_lockd_options *self, const char *name,
                           const char *value,
                           char problem[LK_LOCKD_PROBLEM_SIZE]);

/*  Whether they fit each other; else why not. */
bool lk_lockd_options_check (const lk_lockd_options *self,
                             char problem[LK_LOCKD_PROBLEM_SIZE]);

#endif
