/*  random.c - random numbers that nobody can guess
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/random.h"

#include "util/assert.h"

#include <errno.h>
#include <sys/random.h>

/*  What getrandom gives in one piece, once the kernel has gathered enough. */
#define PIECE_MAX 256

void
lk_random_fill (void *place, size_t size)
{
    ssize_t got;
    LK_ASSERT (size <= PIECE_MAX);
    do {
        got = getrandom (place, size, 0);
    } while (got < 0 && errno == EINTR);
    LK_ASSERT (got == (ssize_t) size);
}

uint64_t
lk_random_id (void)
{
    uint64_t id = 0;
    while (id == 0) {
        lk_random_fill (&id, sizeof id);
    }
    return id;
}
