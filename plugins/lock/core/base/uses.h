/*  uses.h - how many locks each zone has
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A proxy counts what is asked for on its host, a table the static tickets
 *  that are kept, whose applications may be gone.
 */

#ifndef LK_USES_H
#define LK_USES_H

#include "wire/lock_message.h"

typedef struct {
    size_t locks;
    size_t bytes; /* of their names */
} lk_use;

struct lk_zone_count;

/*  Empty if it is all 0. */
typedef struct {
    struct lk_zone_count *zones; /* map */
    struct lk_zone_count *last;  /* of the last lock; NULL */
} lk_uses;

/*  Bytes of the zone at the begin of a key: the part ahead of the first NUL; a
 *  key without any is of the default zone, which has none. */
size_t lk_uses_zone_size (lk_name key);

/*  One more lock of that key; one that was added is over. */
void lk_uses_add (lk_uses *self, lk_name key);
void lk_uses_take (lk_uses *self, lk_name key);

void lk_uses_clear (lk_uses *self);

/*  How much a zone has, "" by default; how many locks all zones have. */
lk_use lk_uses_find (const lk_uses *self, const char *zone);
size_t lk_uses_sum (const lk_uses *self);

#endif
