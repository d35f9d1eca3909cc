/*  hash.c - SipHash-2-4
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  After Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012).
 */

#include "util/hash.h"

#include <string.h>

typedef struct {
    uint64_t v0, v1, v2, v3;
} sip;

static inline uint64_t
rotate (uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

static inline uint64_t
little_endian (const uint8_t *bytes)
{
    uint64_t value;
    memcpy (&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64 (value);
#endif
    return value;
}

static inline void
sip_round (sip *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = rotate (s->v1, 13) ^ s->v0;
    s->v3 = rotate (s->v3, 16) ^ s->v2;
    s->v0 = rotate (s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = rotate (s->v1, 17) ^ s->v2;
    s->v3 = rotate (s->v3, 21) ^ s->v0;
    s->v2 = rotate (s->v2, 32);
}

static inline void
sip_word (sip *s, uint64_t word)
{
    s->v3 ^= word;
    sip_round (s);
    sip_round (s);
    s->v0 ^= word;
}

uint64_t
lk_siphash (const uint64_t key[2], const void *data, size_t size)
{
    sip s = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
             key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
    const uint8_t *bytes = data;
    const size_t whole = size & ~(size_t) 7;
    for (size_t at = 0; at < whole; at += 8) {
        sip_word (&s, little_endian (bytes + at));
    }
    uint64_t last = (uint64_t) size << 56;
    for (size_t at = whole; at < size; at++) {
        last |= (uint64_t) bytes[at] << 8 * (at - whole);
    }
    sip_word (&s, last);
    s.v2 ^= 0xff;
    for (int round = 0; round < 4; round++) {
        sip_round (&s);
    }
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

/*  Part of the protocol: all leaders must place an object alike. */
static const uint64_t fixed_key[2] = {0x6c6f636b6b656570u, 0x65722e706c616365u};

uint64_t
lk_hash64 (const void *data, size_t size)
{
    return lk_siphash (fixed_key, data, size);
}

uint64_t
lk_checksum64 (const void *data, size_t size)
{
    const uint8_t *bytes = data;
    uint64_t hash = size + (uint64_t) 1;
    size_t at = 0;
    for (; at + 8 <= size; at += 8) {
        hash = lk_hash_mix (hash, little_endian (bytes + at));
    }
    for (; at < size; at++) {
        hash = lk_hash_mix (hash, bytes[at]);
    }
    return hash;
}
