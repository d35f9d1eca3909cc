/*  cache.h - messages that wait for a receiver that is not there yet
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Pure: time comes in, messages go in as they came and out in their order.
 *  Each has a time to live, which its sender chose; there is a bound for each
 *  receiver and one for all. Said again (the same serial, receiver, sender and
 *  command) a message takes the place that it has.
 */

#ifndef LK_CACHE_H
#define LK_CACHE_H

#include "bounds.h"

#include "util/heap.h"
#include "util/map.h"
#include "wire/frame.h"

typedef struct lk_cached lk_cached;

/*  Who is waited for: service@host, or service@? for any host's. */
typedef struct {
    char name[LK_ADDRESS_LEN_MAX + 1];
    lk_cached *first;
    size_t count;
    UT_hash_handle hh;
} lk_awaited;

struct lk_cached {
    char *data; /* without its time to live, */
    size_t size;
    uint8_t ttl_s; /* which is here, as it was taken in */
    int64_t until_ms;
    lk_slice from;    /* in data */
    lk_slice request; /* likewise; empty if it has no serial */
    lk_awaited *awaited;
    uint32_t place;
    lk_cached *prev, *next;
    UT_hash_handle hh;
};

typedef struct {
    lk_cache_limits limits;
    lk_awaited *awaited;   /* by name, none without a message */
    lk_cached *by_request; /* those with a serial */
    lk_heap due;
    size_t count;
    size_t size;
} lk_cache;

void lk_cache_init (lk_cache *self, const lk_cache_limits *limits);
void lk_cache_clear (lk_cache *self);

/*  Takes a copy in, for that receiver. LK_UNKNOWN if it may not be cached;
 *  LK_OVERLOADED if a bound is reached: *problem says which (static). */
lk_err lk_cache_put (lk_cache *self, const char *receiver,
                     const lk_frame_header *header, int64_t now_ms,
                     const char **problem) __attribute__ ((warn_unused_result));

/*  All that waits for a receiver, from now on the caller's: a list by `next`,
 *  in its order, each to be freed. NULL if there is none. */
lk_cached *lk_cache_take (lk_cache *self, const char *receiver);

/*  The next that was there for all its time, likewise; NULL if there is none.
 *  When there is one: INT64_MAX: never. */
lk_cached *lk_cache_take_due (lk_cache *self, int64_t now_ms);
int64_t lk_cache_deadline (const lk_cache *self);

/*  Frees what a sender has in it, and says how many that were. */
size_t lk_cache_drop (lk_cache *self, const char *sender);

/*  A message that was taken, with what is left of its time to live, at least a
 *  second: the header is of its own bytes. And frees it. */
void lk_cached_read (lk_cached *self, int64_t now_ms, lk_frame_header *header);
void lk_cached_free (lk_cached *self);

/*  How many wait for a receiver. */
size_t lk_cache_waiting (const lk_cache *self, const char *receiver);

#endif
