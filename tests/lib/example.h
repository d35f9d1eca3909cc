/*  example.h - the example messages between lock services, decoded
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For tests. The hosts and values are those of tests/vectors/make.py.
 */

#ifndef LK_EXAMPLE_H
#define LK_EXAMPLE_H

#include "lib/decode.h"
#include "lib/vector.h"

#define ID1 0x1f0e6a5b9c3d2871u
#define ID2 0x2ad94c07e1b85f36u
#define ID3 0x3b72f8d05e4961cau
#define ID4 0x44e10d92b7af6c53u

enum { H1, H2, H3 };

bool lk_example_is_lock (const lk_vector *one);

/*  A hostmap of h1, h2 and h3. */
void lk_example_hostmap (lk_hostmap *hostmap);

/*  Decodes an example as h1. */
void lk_example_take (const char *name, lk_hostmap *hostmap,
                      lk_lock_message *message);

/*  Encodes it as its sender does. What LOCKSTARTED names around the core, the
 *  cluster, is that of the example. */
lk_message *lk_example_encode (const lk_vector *example,
                               const lk_lock_message *message,
                               const lk_hostmap *hostmap);

#endif
