/*  lock.h - what a lock service can be told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Defaults, then the section "lock" of lockkeeper.conf(5), then the command
 *  line, whose options have the names of the keys.
 */

#ifndef LK_SETTINGS_LOCK_H
#define LK_SETTINGS_LOCK_H

#include "net/config.h"
#include "net/log.h"
#include "wire/domain.h"
#include "wire/lock_message.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    char endpoint[PATH_MAX];
    char state_dir[PATH_MAX];
    char run_dir[PATH_MAX];
    char zone_logs[PATH_MAX]; /* folder; "": no logs of zones */
    lk_log_level log_level;
    bool syslog;
    bool eligible;    /* priority is not "off" */
    bool arbiter;     /* a vote alone: arbiter/ballot.c says so */
    uint8_t priority; /* 1..LK_PRIORITY_MAX */
    uint8_t leaders_max;
    int64_t hosts_min; /* 0: off */
    int64_t dead_after_ms;
    int64_t leader_lease_ms;
    int64_t host_lease_ms;
    int64_t grace_ms;
    int64_t digest_ms;
    int64_t settle_ms;
    lk_journal_mode journal;
    char domain[LK_DOMAIN_LEN_MAX + 1]; /* where this host is; "": not said */
} lk_lockd_options;

/*  What they come to; the config keeps all that makes no sense as its mistakes:
 *  then LK_INVALID, and the first as the problem. */
lk_err lk_lockd_options_read (lk_lockd_options *self, lk_config *config,
                              lk_problem *problem);

#endif
