/*  options.h - what a router can be told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Defaults, then the section "router" of lockkeeper.conf(5), then the
 *  command line, whose options have the names of the keys.
 */

#ifndef LK_ROUTER_OPTIONS_H
#define LK_ROUTER_OPTIONS_H

#include "bounds.h"
#include "cache.h"

#include "net/config.h"
#include "net/log.h"
#include <lockkeeper/message.h>

#include <limits.h>
#include <sys/types.h>

typedef struct {
    char host[LK_HOST_LEN_MAX + 1];
    char listen[LK_ADDRESS_LEN_MAX + 1];  /* tcp://... */
    char address[LK_ADDRESS_LEN_MAX + 1]; /* host:port; empty: as listen */
    char endpoint[PATH_MAX];              /* ipc://... */
    mode_t mode;
    char group[64];
    int64_t dead_after_ms;
    lk_cache_limits cache;
    lk_log_level log_level;
    bool syslog;
    const char *neighbour[LK_LINKS_MAX + 1]; /* the config's; NULL behind */
    const char *plugin[LK_PLUGINS_MAX + 1];  /* likewise */
    char plugin_dir[PATH_MAX];               /* empty: where they should be */
    const char *config; /* the file that was read; NULL: by default */
} lk_router_options;

/*  All keys, with their defaults; the caller loads and sets them. */
lk_config *lk_router_config_new (void);

/*  What they come to; borrows from the config. LK_INVALID and problem if
 *  that makes no sense. */
lk_err lk_router_options_read (lk_router_options *self, const lk_config *config,
                               lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  Where others dial us, now that `bound` (tcp://...) is known: the address
 *  of the options, its port taken from `bound` if it has none of its own. */
lk_err lk_router_options_address (const lk_router_options *self,
                                  const char *bound, char *address, size_t size,
                                  lk_problem *problem)
    __attribute__ ((warn_unused_result));

#endif
