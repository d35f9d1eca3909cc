/*  cache.c - messages that wait for a receiver that is not there yet
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cache.h"

#include "util/alloc.h"
#include "util/assert.h"

#include <stdio.h>
#include <string.h>
#include <utlist.h>

/*  -------------------------------------------------------- in and out */

static uint32_t *
place_of (void *item)
{
    lk_cached *message = item;
    return &message->place;
}

/*  What a message takes, whatever its size. */
static size_t
cost_of (size_t size)
{
    return size + sizeof (lk_cached);
}

static lk_awaited *
find (const lk_cache *self, const char *receiver)
{
    lk_awaited *awaited;
    HASH_FIND_STR (self->awaited, receiver, awaited);
    return awaited;
}

static lk_awaited *
find_or_add (lk_cache *self, const char *receiver)
{
    lk_awaited *awaited = find (self, receiver);
    if (awaited == NULL) {
        awaited = lk_alloc (sizeof *awaited);
        snprintf (awaited->name, sizeof awaited->name, "%s", receiver);
        HASH_ADD_STR (self->awaited, name, awaited);
    }
    return awaited;
}

static void
forget_awaited (lk_cache *self, lk_awaited *awaited)
{
    HASH_DEL (self->awaited, awaited);
    lk_free (awaited);
}

/*  The message is the caller's. */
static void
take_out (lk_cache *self, lk_cached *message)
{
    lk_awaited *awaited = message->awaited;
    if (message->request.size > 0) {
        HASH_DEL (self->by_request, message);
    }
    lk_heap_take (&self->due, message);
    DL_DELETE (awaited->first, message);
    message->awaited = NULL;
    self->count--;
    self->size -= cost_of (message->size);
    if (--awaited->count == 0) {
        forget_awaited (self, awaited);
    }
}

/*  A copy without a time to live, and what it is a request for. */
static void
fill (lk_cached *message, const lk_frame_header *header)
{
    lk_frame_header own;
    const char *problem;
    size_t at = 0;
    message->size = header->whole.size;
    message->data = lk_alloc (message->size);
    memcpy (message->data, header->whole.data, message->size);
    LK_ASSERT (lk_frame_next (message->data, message->size, &at, &own, &problem)
               == LK_FRAME_MESSAGE);
    message->from = own.from;
    lk_frame_set_ttl (message->data, &own, 0);
    if (own.serial != 0) {
        message->request = lk_frame_request (&own);
    }
}

/*  -------------------------------------------------------- put */

/*  The one that says the same, while it waits for that receiver. */
static lk_cached *
find_same (const lk_cache *self, const lk_cached *message, const char *receiver)
{
    lk_cached *same = NULL;
    if (message->request.size > 0) {
        HASH_FIND (hh, self->by_request, message->request.data,
                   message->request.size, same);
    }
    return same != NULL && strcmp (same->awaited->name, receiver) == 0 ? same
                                                                       : NULL;
}

/*  NULL: there is room beside what `same` gives up. */
static const char *
complaint (const lk_cache *self, const char *receiver, const lk_cached *message,
           const lk_cached *same)
{
    const size_t given = same != NULL ? cost_of (same->size) : 0;
    if (same == NULL
        && (int64_t) lk_cache_waiting (self, receiver)
               >= self->limits.per_receiver_max) {
        return "as many messages as may be cached for it wait already";
    }
    return (int64_t) (self->size - given + cost_of (message->size))
                   > self->limits.size_max
               ? "the router's cache is full"
               : NULL;
}

static void
enter (lk_cache *self, const char *receiver, lk_cached *message,
       lk_cached *same)
{
    lk_awaited *awaited = find_or_add (self, receiver);
    message->awaited = awaited;
    if (same != NULL) {
        DL_PREPEND_ELEM (awaited->first, same, message);
    } else {
        DL_APPEND (awaited->first, message);
    }
    awaited->count++;
    self->count++;
    self->size += cost_of (message->size);
    if (same != NULL) {
        take_out (self, same);
        lk_cached_free (same);
    }
    if (message->request.size > 0) {
        HASH_ADD_KEYPTR (hh, self->by_request, message->request.data,
                         message->request.size, message);
    }
    lk_heap_put (&self->due, message, message->until_ms);
}

lk_err
lk_cache_put (lk_cache *self, const char *receiver,
              const lk_frame_header *header, int64_t now_ms,
              const char **problem)
{
    const int64_t ttl_s = header->ttl_s < self->limits.ttl_s_max
                              ? header->ttl_s
                              : self->limits.ttl_s_max;
    *problem = NULL;
    if (ttl_s == 0) {
        return LK_UNKNOWN;
    }
    lk_cached *message = lk_alloc (sizeof *message);
    fill (message, header);
    message->ttl_s = (uint8_t) ttl_s;
    message->until_ms = now_ms + ttl_s * 1000;
    lk_cached *same = find_same (self, message, receiver);
    *problem = complaint (self, receiver, message, same);
    if (*problem != NULL) {
        lk_cached_free (message);
        return LK_OVERLOADED;
    }
    enter (self, receiver, message, same);
    return LK_OK;
}

/*  -------------------------------------------------------- take */

lk_cached *
lk_cache_take (lk_cache *self, const char *receiver)
{
    lk_awaited *awaited = find (self, receiver);
    lk_cached *taken = NULL;
    for (size_t left = awaited != NULL ? awaited->count : 0; left > 0; left--) {
        lk_cached *message = awaited->first;
        take_out (self, message);
        DL_APPEND (taken, message);
    }
    return taken;
}

lk_cached *
lk_cache_take_due (lk_cache *self, int64_t now_ms)
{
    lk_cached *message = lk_heap_due (&self->due, now_ms);
    if (message != NULL) {
        take_out (self, message);
        message->next = NULL;
    }
    return message;
}

int64_t
lk_cache_deadline (const lk_cache *self)
{
    return lk_heap_next_ms (&self->due);
}

static size_t
drop_of (lk_cache *self, lk_awaited *awaited, const char *sender)
{
    size_t dropped = 0;
    lk_cached *message, *next;
    for (message = awaited->first; message != NULL; message = next) {
        next = message->next;
        if (lk_slice_is (message->from, sender)) {
            take_out (self, message);
            lk_cached_free (message);
            dropped++;
        }
    }
    return dropped;
}

size_t
lk_cache_drop (lk_cache *self, const char *sender)
{
    size_t dropped = 0;
    lk_awaited *awaited, *next;
    HASH_ITER (hh, self->awaited, awaited, next) {
        dropped += drop_of (self, awaited, sender);
    }
    return dropped;
}

/*  -------------------------------------------------------- one message */

void
lk_cached_read (lk_cached *self, int64_t now_ms, lk_frame_header *header)
{
    const int64_t left_ms = self->until_ms - now_ms;
    const int64_t left_s = left_ms <= 1000 ? 1 : (left_ms + 999) / 1000;
    const char *problem;
    size_t at = 0;
    LK_ASSERT (lk_frame_next (self->data, self->size, &at, header, &problem)
               == LK_FRAME_MESSAGE);
    lk_frame_set_ttl (self->data, header,
                      (uint8_t) (left_s < self->ttl_s ? left_s : self->ttl_s));
}

void
lk_cached_free (lk_cached *self)
{
    lk_free (self->data);
    lk_free (self);
}

/*  -------------------------------------------------------- all of it */

size_t
lk_cache_waiting (const lk_cache *self, const char *receiver)
{
    const lk_awaited *awaited = find (self, receiver);
    return awaited != NULL ? awaited->count : 0;
}

void
lk_cache_init (lk_cache *self, const lk_cache_limits *limits)
{
    *self = (lk_cache) {.limits = *limits};
    lk_heap_init (&self->due, place_of);
}

void
lk_cache_clear (lk_cache *self)
{
    while (self->count > 0) {
        lk_cached_free (lk_cache_take_due (self, INT64_MAX));
    }
    lk_heap_clear (&self->due);
}
