/*  relayed.c - fuzz target: any bytes as the body of RELAY
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What is read lies within the input, and written anew it is the same; so is
 *  what a box without keys has in it.
 */

#include "wire/relayed.h"
#include "util/assert.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
is_same (lk_bytes *written, lk_slice read)
{
    LK_ASSERT (
        lk_slice_equal ((lk_slice) {written->data, written->size}, read));
    lk_bytes_clear (written);
}

static void
look_inside (lk_slice box)
{
    lk_relayed_inside inside;
    lk_bytes again = {0};
    if (lk_relayed_inside_read (&inside, box)) {
        lk_relayed_inside_write (&inside, &again);
        is_same (&again, box);
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    const lk_slice body = {(const char *) data, size};
    lk_relayed relayed;
    lk_bytes again = {0};
    if (lk_relayed_read (&relayed, body)) {
        look_inside (relayed.box);
        lk_relayed_begin (&relayed, &again);
        lk_bytes_add (&again, relayed.box.data, relayed.box.size);
        is_same (&again, body);
    }
    look_inside (body);
    return 0;
}
