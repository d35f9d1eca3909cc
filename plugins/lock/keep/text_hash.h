/*  text_hash.h - which text of the cluster's settings is meant
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_TEXT_HASH_H
#define LK_TEXT_HASH_H

#include "wire/lock_message.h"

/*  BLAKE2b, 128 bits, by libsodium. */
void lk_text_hash (lk_name text, uint64_t hash[2]);

lk_settings_id lk_text_id (uint64_t version, lk_name text);

#endif
