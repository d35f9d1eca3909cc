/*  index.c - a hash table of structs that bring their own link
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "util/index.h"

#include "util/alloc.h"
#include "util/assert.h"

#include <stdbool.h>
#include <string.h>

#define BUCKETS_MIN 8
#define AHEAD 8 /* buckets: what will be in use is fetched from memory */

void
lk_index_init (lk_index *self, uint32_t (*hash) (const lk_index_link *link))
{
    *self = (lk_index) {.hash = hash};
}

/*  The least power of two that is not below `number`. */
static size_t
power_above (size_t number)
{
    return number <= 1 ? 1 : (size_t) 1 << (64 - __builtin_clzll (number - 1));
}

/*  By so many low bits of the hash as there are buckets for; where the last
 *  bit leads to one that is not there yet, without it. */
static size_t
place_of (const lk_index *self, uint32_t hash)
{
    size_t whole = power_above (self->buckets);
    size_t place = hash & (whole - 1);
    return place < self->buckets ? place : place - whole / 2;
}

/*  The bucket that the last one was split off. */
static size_t
brother (const lk_index *self)
{
    return self->buckets - 1 - power_above (self->buckets) / 2;
}

static void
push (lk_index *self, lk_index_link *link)
{
    lk_index_link **bucket = &self->bucket[place_of (self, self->hash (link))];
    link->next = *bucket;
    *bucket = link;
}

static void
set_room (lk_index *self, size_t room)
{
    self->bucket = lk_realloc (self->bucket, room * sizeof *self->bucket);
    self->room = room;
}

/*  One bucket more, and what belongs into it. */
static void
grow (lk_index *self)
{
    if (self->buckets == self->room) {
        set_room (self, self->room + self->room / 4 + BUCKETS_MIN);
    }
    self->bucket[self->buckets++] = NULL;
    if (self->buckets == 1) {
        return;
    }
    lk_index_link **half = &self->bucket[brother (self)];
    __builtin_prefetch (half[AHEAD < self->buckets / 2 ? AHEAD : 0]);
    lk_index_link *link = *half;
    *half = NULL;
    while (link) {
        lk_index_link *next = link->next;
        push (self, link);
        link = next;
    }
}

static void
shrink (lk_index *self)
{
    lk_index_link *link = self->bucket[self->buckets - 1];
    self->buckets--;
    while (link) {
        lk_index_link *next = link->next;
        push (self, link);
        link = next;
    }
    if (self->buckets < self->room / 2 && self->buckets >= BUCKETS_MIN) {
        set_room (self, self->buckets);
    }
}

lk_index_link *
lk_index_clear (lk_index *self)
{
    lk_index_link *all = NULL;
    for (size_t place = 0; place < self->buckets; place++) {
        lk_index_link **end = &self->bucket[place];
        while (*end) {
            end = &(*end)->next;
        }
        *end = all;
        all = self->bucket[place];
    }
    lk_free (self->bucket);
    lk_index_init (self, self->hash);
    return all;
}

void
lk_index_add (lk_index *self, lk_index_link *link)
{
    self->count++;
    if (self->count > self->buckets) {
        grow (self);
    }
    push (self, link);
}

void
lk_index_remove (lk_index *self, lk_index_link *link)
{
    lk_index_link **at = &self->bucket[place_of (self, self->hash (link))];
    while (*at != link) {
        LK_ASSERT (*at);
        at = &(*at)->next;
    }
    *at = link->next;
    self->count--;
    while (self->buckets > BUCKETS_MIN && self->count < self->buckets / 2) {
        shrink (self); /* two for each that goes */
    }
}

void
lk_index_expect (const lk_index *self, uint32_t hash)
{
    if (self->buckets > 0) {
        __builtin_prefetch (&self->bucket[place_of (self, hash)]);
    }
}

void
lk_index_expect_soon (const lk_index *self, uint32_t hash)
{
    __builtin_prefetch (lk_index_find (self, hash));
}

lk_index_link *
lk_index_find (const lk_index *self, uint32_t hash)
{
    return self->buckets ? self->bucket[place_of (self, hash)] : NULL;
}

/*  -------------------------------------------------------- all of it */

static lk_index_link *
first_from (const lk_index *self, size_t place)
{
    while (place < self->buckets && !self->bucket[place]) {
        place++;
    }
    if (place + AHEAD < self->buckets) {
        __builtin_prefetch (self->bucket[place + AHEAD]);
    }
    return place < self->buckets ? self->bucket[place] : NULL;
}

lk_index_link *
lk_index_first (const lk_index *self)
{
    return first_from (self, 0);
}

lk_index_link *
lk_index_next (const lk_index *self, const lk_index_link *link)
{
    return link->next
               ? link->next
               : first_from (self, place_of (self, self->hash (link)) + 1);
}

/*  -------------------------------------------------------- a slice */

/*  Where there are fewer buckets than slices, several share a bucket. */
static lk_index_link *
of_slice (const lk_index *self, lk_index_link *link, uint32_t slice,
          uint32_t slices)
{
    while (link && (self->hash (link) & (slices - 1)) != slice) {
        link = link->next;
    }
    return link;
}

static lk_index_link *
slice_from (const lk_index *self, size_t place, uint32_t slice, uint32_t slices)
{
    lk_index_link *link = NULL;
    while (!link && place < self->buckets) {
        link = of_slice (self, self->bucket[place], slice, slices);
        place += slices;
    }
    return link;
}

lk_index_link *
lk_index_slice_first (const lk_index *self, uint32_t slice, uint32_t slices)
{
    return self->buckets
               ? slice_from (self, place_of (self, slice), slice, slices)
               : NULL;
}

lk_index_link *
lk_index_slice_next (const lk_index *self, const lk_index_link *link,
                     uint32_t slices)
{
    uint32_t slice = self->hash (link) & (slices - 1);
    lk_index_link *next = of_slice (self, link->next, slice, slices);
    return next ? next
                : slice_from (self, place_of (self, self->hash (link)) + slices,
                              slice, slices);
}

/*  -------------------------------------------------------- in an order */

uint32_t
lk_index_turned (uint32_t hash)
{
    hash = (hash >> 1 & 0x55555555) | (hash & 0x55555555) << 1;
    hash = (hash >> 2 & 0x33333333) | (hash & 0x33333333) << 2;
    hash = (hash >> 4 & 0x0f0f0f0f) | (hash & 0x0f0f0f0f) << 4;
    return __builtin_bswap32 (hash);
}

/*  How many of its bits say that a hash belongs into that bucket: one less if
 *  it was not split yet. */
static int
bits_of (const lk_index *self, size_t place)
{
    const size_t whole = power_above (self->buckets);
    const bool split = place >= whole / 2 || place + whole / 2 < self->buckets;
    return __builtin_ctzll (whole) - (split ? 0 : 1);
}

lk_index_link *
lk_index_from (const lk_index *self, uint32_t from, uint64_t *end)
{
    if (self->buckets == 0) {
        *end = UINT64_C (1) << 32;
        return NULL;
    }
    const size_t place = place_of (self, lk_index_turned (from));
    const uint64_t wide = UINT64_C (1) << (32 - bits_of (self, place));
    *end = (from & ~(wide - 1)) + wide;
    return self->bucket[place];
}
