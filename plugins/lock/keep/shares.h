/*  shares.h - limits of zones, and what all hosts together use of them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each lock service tells the others what its own host uses (LOCKZONES). A
 *  table and nothing else: it sends nothing. Zones are plain here: "" is that
 *  by default.
 */

#ifndef LK_SHARES_H
#define LK_SHARES_H

#include "event.h"
#include "settings/zones.h"

typedef struct lk_shares lk_shares;

/*  The use of a zone; requests: in the last whole second; kept: static locks,
 *  which no host has among its own. */
typedef struct {
    int64_t locks, bytes, sessions, requests;
    int64_t kept, kept_bytes;
} lk_zone_use;

lk_shares *lk_shares_new (void);
void lk_shares_destroy (lk_shares **self_p);

/*  The limits are those of these settings from now on. */
void lk_shares_set (lk_shares *self, const char *settings);

/*  Whether there is any zone: then what is used is to be told. */
bool lk_shares_are_told (const lk_shares *self);

/*  NULL: it is not in the settings. */
const lk_zone *lk_shares_limits (const lk_shares *self, const char *zone);

/*  Those of the settings: start with NULL; NULL behind the last. */
const lk_zone *lk_shares_next (const lk_shares *self, const lk_zone *zone);

/*  Takes what the lock service of that host tells; it is gone. */
void lk_shares_take (lk_shares *self, const char *host, const lk_message *told);
void lk_shares_gone (lk_shares *self, const char *host);

/*  The use of the other hosts; of kept ones the most that one of them knows
 *  of. */
lk_zone_use lk_shares_others (const lk_shares *self, const char *zone);

/*  The same, but with locks and bytes of the whole cluster, kept ones among
 *  them. */
lk_zone_use lk_shares_all (const lk_shares *self, const char *zone,
                           lk_node_use own);

/*  Counts a request of this host; false: more came in this second than its part
 *  of the limit, as is then said by is_over. */
bool lk_shares_count (lk_shares *self, const char *zone, int64_t now_ms);
bool lk_shares_is_over (const lk_shares *self, const char *zone,
                        int64_t now_ms);

/*  How many this host had in the last whole second. */
int64_t lk_shares_rate (const lk_shares *self, const char *zone,
                        int64_t now_ms);

#endif
