/*  index.h - a hash table of structs that bring their own link
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For what there may be a million of: 16 bytes for each, where map.h takes 60,
 *  and no step that pays for all: it grows and shrinks bucket by bucket (linear
 *  hashing). The hash has to be one that no peer can aim at. Whoever looks
 *  something up compares the keys.
 */

#ifndef LK_INDEX_H
#define LK_INDEX_H

#include <stddef.h>
#include <stdint.h>

/*  First member of what is in an index. */
typedef struct lk_index_link lk_index_link;
struct lk_index_link {
    lk_index_link *next; /* in its bucket */
};

typedef struct {
    lk_index_link **bucket;
    size_t buckets;
    size_t room; /* for so many */
    size_t count;
    uint32_t (*hash) (const lk_index_link *link);
} lk_index;

/*  Begins empty, without memory. */
void lk_index_init (lk_index *self,
                    uint32_t (*hash) (const lk_index_link *link));

/*  Forgets all that is in it; returns it as a chain, for whom it belongs. */
lk_index_link *lk_index_clear (lk_index *self);

void lk_index_add (lk_index *self, lk_index_link *link);
void lk_index_remove (lk_index *self, lk_index_link *link);

/*  What has that hash is looked for or added soon: memory is fetched meanwhile,
 *  first the bucket, then what is in it. */
void lk_index_expect (const lk_index *self, uint32_t hash);
void lk_index_expect_soon (const lk_index *self, uint32_t hash);

/*  Of the chain that has all of that hash, among others, the first. */
lk_index_link *lk_index_find (const lk_index *self, uint32_t hash);

/*  All that is in it, as long as nothing is added or removed. */
lk_index_link *lk_index_first (const lk_index *self);
lk_index_link *lk_index_next (const lk_index *self, const lk_index_link *link);

/*  The `slice`th of `slices` (a power of two) parts: those whose hash has that
 *  rest, and no others. */
lk_index_link *lk_index_slice_first (const lk_index *self, uint32_t slice,
                                     uint32_t slices);
lk_index_link *lk_index_slice_next (const lk_index *self,
                                    const lk_index_link *link, uint32_t slices);

/*  An order that stays, whatever comes and goes and however many there are: by
 *  the turned hash, its lowest bit first. The chain that has those of `from`,
 *  and of others up to `*end`, where the next one begins; 2^32: it was the
 *  last. */
uint32_t lk_index_turned (uint32_t hash);
lk_index_link *lk_index_from (const lk_index *self, uint32_t from,
                              uint64_t *end);

#endif
