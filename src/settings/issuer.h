/*  issuer.h - what an issuer can be told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Defaults, then the section "issuer" of lockkeeper.conf(5), then the command
 *  line, whose options have the names of the keys.
 */

#ifndef LK_SETTINGS_ISSUER_H
#define LK_SETTINGS_ISSUER_H

#include "net/config.h"
#include "net/log.h"

#include <limits.h>
#include <stdbool.h>

typedef struct {
    char endpoint[PATH_MAX];
    char keys[PATH_MAX];        /* folder of ZONE.key */
    char authorities[PATH_MAX]; /* folder of NAME.conf */
    char zone_logs[PATH_MAX];   /* folder, of the lock service; "" */
    lk_log_level log_level;
    bool syslog;
} lk_issuer_options;

/*  The values that they come to; the config keeps all that makes no sense as
 *  its mistakes: then LK_INVALID, and the first as the problem. */
lk_err lk_issuer_options_read (lk_issuer_options *self, lk_config *config,
                               lk_problem *problem);

#endif
