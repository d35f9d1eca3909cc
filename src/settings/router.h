/*  router.h - what a router can be told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Defaults, then the section "router" of lockkeeper.conf(5), then the
 *  command line, whose options have the names of the keys.
 */

#ifndef LK_SETTINGS_ROUTER_H
#define LK_SETTINGS_ROUTER_H

#include "net/config.h"
#include "net/log.h"
#include "settings/local_zones.h"
#include <lockkeeper/message.h>

#include <limits.h>
#include <sys/types.h>

#define LK_LINKS_MAX 63   /* neighbours */
#define LK_PLUGINS_MAX 16 /* services in the router's own process */

/*  Of messages that wait for a receiver. */
typedef struct {
    int64_t ttl_s_max;        /* 0: nothing is cached */
    int64_t per_receiver_max; /* messages */
    int64_t size_max;         /* bytes, of all with what they take beside */
} lk_cache_limits;

/*  How routers speak with each other. */
typedef enum {
    LK_SECURITY_NONE,
    LK_SECURITY_BOTH, /* for a change from one to the other */
    LK_SECURITY_CURVE
} lk_security;

typedef struct {
    char host[LK_HOST_LEN_MAX + 1];      /* empty: by default */
    char identity[PATH_MAX];             /* the file */
    char remembered[PATH_MAX];           /* likewise; empty: none */
    char keys[PATH_MAX];                 /* likewise */
    char listen[LK_ADDRESS_LEN_MAX + 1]; /* tcp://...; empty: by default */
    char listen_curve[LK_ADDRESS_LEN_MAX + 1]; /* a second; empty: none */
    lk_security security;
    char listen_clients[LK_ADDRESS_LEN_MAX + 1]; /* for applications on other
                                                    machines; empty: none */
    char clients_keys[PATH_MAX];                 /* the file */
    int64_t beacon; /* UDP port to announce that on; 0: none */
    char address[LK_ADDRESS_LEN_MAX + 1]; /* host:port; empty: as listen */
    char endpoint[PATH_MAX];              /* ipc://... */
    mode_t mode;
    char group[64];
    char admin_endpoint[PATH_MAX]; /* likewise; empty: there is none */
    char admin_group[64];          /* empty: by default */
    char zone_logs[PATH_MAX];      /* folder, of the lock service; "" */
    lk_local_zone local_zone[LK_LOCAL_ZONES_MAX];
    size_t local_zone_count;
    int64_t dead_after_ms;
    lk_cache_limits cache;
    lk_log_level log_level;
    bool syslog;
    const char *neighbour[LK_LINKS_MAX + 1]; /* the config's; NULL behind */
    const char *plugin[LK_PLUGINS_MAX + 1];  /* likewise */
    char plugin_dir[PATH_MAX];               /* empty: where they should be */
    const char *config; /* the file that was read; NULL: by default */
} lk_router_options;

/*  What they come to; borrows from the config, which keeps all that makes no
 *  sense as its mistakes: then LK_INVALID, and the first as the problem. */
lk_err lk_router_options_read (lk_router_options *self, lk_config *config,
                               lk_problem *problem);

/*  Where others dial us, now that `bound` (tcp://...) is known: the address
 *  of the options, its port taken from `bound` if it has none of its own. */
lk_err lk_router_options_address (const lk_router_options *self,
                                  const char *bound, char *address, size_t size,
                                  lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  HOST:PORT where applications on other machines find us, now that `bound`
 *  (tcp://...) is known; its host is that of `address`, where others dial us,
 *  if `bound` is at all addresses. */
void lk_router_clients_address (const char *bound, const char *address,
                                char *found, size_t size);

#endif
