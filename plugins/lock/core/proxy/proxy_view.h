/*  proxy_view.h - what tests and judges may see of a proxy
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_PROXY_VIEW_H
#define LK_PROXY_VIEW_H

#include "proxy.h"

/*  A request of an application, or the first member of a set. */
typedef struct {
    uint64_t serial; /* 0: there is none */
    bool lingers;    /* its application is gone, another may get it */
    bool goes_back;  /* UNLOCK is said until answered */
    bool is_command; /* about anybody's lock, likewise */
    lk_name object;
    lk_lock_type type; /* as its home knows it */
    uint64_t token;
    uint32_t turn;         /* of its ticket */
    uint32_t turn_sent;    /* the latest that was said to its home ... */
    int64_t turn_until_ms; /* ... and the end of that wait */
    int64_t linger_until_ms;
} lk_demand_view;

typedef struct {
    bool live; /* a leader has vouched for the session */
    int64_t lease_until_ms;
    uint8_t reported; /* homes (bits) of the decree in force with a report */
    size_t requests;
    size_t named; /* ... of applications that are there */
    size_t names_size;
    uint64_t last_serial;
    int64_t end_ms;       /* the next end of a wait, duration or linger */
    lk_demand_view first; /* of those, not said ones first */

    size_t sets;
    bool set_is_held;   /* the only one, by its application */
    size_t set_members; /* ... that are held, the first ones */
} lk_proxy_view;

lk_proxy_view lk_proxy_see (const lk_proxy *proxy);
lk_demand_view lk_proxy_see_demand (const lk_proxy *proxy, uint64_t serial);

#endif
