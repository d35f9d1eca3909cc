/*  zones.h - limits of zones, and what all hosts together use of them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each lock service tells the others what its own host uses (LOCKZONES). A
 *  table and nothing else: it sends nothing. Zones are plain here: "" is that
 *  by default.
 */

#ifndef LK_ZONES_H
#define LK_ZONES_H

#include "settings/zones.h"

typedef struct lk_zones lk_zones;

/*  What is used of a zone; requests: in the last whole second. */
typedef struct {
    int64_t locks, bytes, sessions, requests;
} lk_zone_use;

lk_zones *lk_zones_new (void);
void lk_zones_destroy (lk_zones **self_p);

/*  The limits are those of these settings from now on. */
void lk_zones_set (lk_zones *self, const char *settings);

/*  Whether any zone has a limit: then what is used is to be told. */
bool lk_zones_are_limited (const lk_zones *self);

/*  NULL: it has no limits. */
const lk_zone *lk_zones_limits (const lk_zones *self, const char *zone);

/*  Those with a limit: start with NULL; NULL behind the last. */
const lk_zone *lk_zones_next (const lk_zones *self, const lk_zone *zone);

/*  Takes what the lock service of that host tells; it is gone. */
void lk_zones_take (lk_zones *self, const char *host, const lk_message *told);
void lk_zones_gone (lk_zones *self, const char *host);

/*  What the other hosts use. */
lk_zone_use lk_zones_others (const lk_zones *self, const char *zone);

/*  Counts a request of this host; false: more came in this second than its part
 *  of the limit, as is then said by is_over. */
bool lk_zones_count (lk_zones *self, const char *zone, int64_t now_ms);
bool lk_zones_is_over (const lk_zones *self, const char *zone, int64_t now_ms);

/*  How many this host had in the last whole second. */
int64_t lk_zones_rate (const lk_zones *self, const char *zone, int64_t now_ms);

#endif
