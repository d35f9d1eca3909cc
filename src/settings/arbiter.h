/*  arbiter.h - what an arbiter can be told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Defaults, then the section "arbiter" of lockkeeper.conf(5), then the command
 *  line, whose options have the names of the keys.
 */

#ifndef LK_SETTINGS_ARBITER_H
#define LK_SETTINGS_ARBITER_H

#include "net/config.h"
#include "net/log.h"

#include <lockkeeper/message.h>

#include <limits.h>
#include <stdbool.h>

#define LK_ARBITER_LISTEN "tcp://*:7417"

typedef struct {
    char host[LK_HOST_LEN_MAX + 1];
    char listen[LK_ADDRESS_LEN_MAX + 1];  /* tcp://... */
    char address[LK_ADDRESS_LEN_MAX + 1]; /* host:port; empty: as listen */
    char state_dir[PATH_MAX];
    char run_dir[PATH_MAX];
    lk_log_level log_level;
    bool syslog;
} lk_arbiter_options;

/*  Reads them; the config keeps all that makes no sense as its mistakes: then
 *  LK_INVALID, and the first as the problem. */
lk_err lk_arbiter_options_read (lk_arbiter_options *self, lk_config *config,
                                lk_problem *problem);

#endif
