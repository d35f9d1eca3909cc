/*  settings_text.c - texts of settings, in tests without libsodium
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/settings_text.h"

#include "util/hash.h"

void
lk_test_hash_text (lk_name text, uint64_t hash[2])
{
    hash[0] = lk_hash64 (text.data, text.size);
    hash[1] = ~hash[0];
}

lk_settings_id
lk_test_settings_id (uint64_t version, lk_name text)
{
    lk_settings_id id = {.version = version};
    lk_test_hash_text (text, id.hash);
    return id;
}
