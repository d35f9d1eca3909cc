/*  corrupt.h - makes one leader's table wrong, for tests
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Reaches into the node, as a broken memory or a mistake in the core would.
 *  No program that is installed has this: tests/style/symbols.sh looks.
 */

#ifndef LK_CORRUPT_H
#define LK_CORRUPT_H

#include "node.h"

/*  (kind, word) */
#define LK_CORRUPT_KINDS(X)                                                    \
    X (LK_CORRUPT_TOKEN, "token") /* a held ticket has another token */        \
    X (LK_CORRUPT_KEY, "key")     /* ... another key */                        \
    X (LK_CORRUPT_LOST, "lost")   /* a ticket is gone from memory */           \
    X (LK_CORRUPT_SLIP, "slip")   /* ... by an operation nobody else did */    \
    X (LK_CORRUPT_CHAIN, "chain") /* the hash of a stream is another */

#define LK_CORRUPT_KIND(kind, word) kind,
typedef enum {
    LK_CORRUPT_KINDS (LK_CORRUPT_KIND) LK_CORRUPT_COUNT
} lk_corrupt_kind;
#undef LK_CORRUPT_KIND

/*  By its word; LK_CORRUPT_COUNT if there is none. */
lk_corrupt_kind lk_corrupt_find (const char *word);

/*  Of the tickets that `home` orders (its place), that at `nth` of the held
 *  ones, modulo how many there are; CHAIN: of that home's stream. False: it
 *  serves no table, or there is no such ticket. */
bool lk_corrupt (lk_node *node, lk_corrupt_kind kind, uint8_t home,
                 uint64_t nth);

#endif
