/*  bytes.h - bytes that grow, and bytes that belong to somebody else
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_BYTES_H
#define LK_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*  Borrowed; no NUL behind it. */
typedef struct {
    const char *data;
    size_t size;
} lk_slice;

static inline lk_slice
lk_slice_of (const char *text)
{
    return (lk_slice) {text, strlen (text)};
}

static inline bool
lk_slice_equal (lk_slice self, lk_slice other)
{
    return self.size == other.size
           && (self.size == 0
               || memcmp (self.data, other.data, self.size) == 0);
}

static inline bool
lk_slice_is (lk_slice self, const char *text)
{
    return lk_slice_equal (self, lk_slice_of (text));
}

/*  Copies it and a NUL to `place`, which has room for `size` bytes; asserts
 *  that it fits. */
void lk_slice_keep (lk_slice self, char *place, size_t size);

/*  A buffer that grows; all zeroes is an empty one. `data` moves. */
typedef struct {
    char *data;
    size_t size;
    size_t room;
} lk_bytes;

void lk_bytes_clear (lk_bytes *self); /* frees it; empty and usable again */

/*  Makes room for `size` more bytes, which are not there yet. */
void lk_bytes_reserve (lk_bytes *self, size_t size);

/*  Room for `size` more bytes at the end, which the caller fills in. */
static inline char *
lk_bytes_grow (lk_bytes *self, size_t size)
{
    if (self->room - self->size < size) {
        lk_bytes_reserve (self, size);
    }
    char *place = self->data + self->size;
    self->size += size;
    return place;
}

void lk_bytes_add (lk_bytes *self, const void *data, size_t size);
void lk_bytes_cut (lk_bytes *self, size_t size); /* down to that size */

void lk_bytes_drop (lk_bytes *self, size_t size); /* so many from its begin */

/*  Big endian numbers in place. */
void lk_bytes_put32 (void *place, uint32_t number);
void lk_bytes_put64 (void *place, uint64_t number);
uint32_t lk_bytes_get32 (const void *place);
uint64_t lk_bytes_get64 (const void *place);

#endif
