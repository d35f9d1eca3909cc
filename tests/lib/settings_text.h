/*  settings_text.h - texts of settings, in tests without libsodium
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_TEST_SETTINGS_TEXT_H
#define LK_TEST_SETTINGS_TEXT_H

#include "wire/lock_message.h"

/*  For lk_node_config; good enough where nobody wants to deceive. */
void lk_test_hash_text (lk_name text, uint64_t hash[2]);

lk_settings_id lk_test_settings_id (uint64_t version, lk_name text);

#endif
