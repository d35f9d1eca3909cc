/*  text_hash.c - which text of the cluster's settings is meant
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "text_hash.h"

#include "util/assert.h"

#include <sodium.h>

#define SIZE 16

void
lk_text_hash (lk_name text, uint64_t hash[2])
{
    unsigned char bytes[SIZE];
    const int failed = crypto_generichash (
        bytes, SIZE, (const unsigned char *) text.data, text.size, NULL, 0);
    LK_ASSERT (failed == 0);
    hash[0] = hash[1] = 0;
    for (size_t i = 0; i < SIZE; i++) {
        hash[i / 8] = hash[i / 8] << 8 | bytes[i];
    }
}

lk_settings_id
lk_text_id (uint64_t version, lk_name text)
{
    lk_settings_id id = {.version = version};
    lk_text_hash (text, id.hash);
    return id;
}
