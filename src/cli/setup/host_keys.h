/*  host_keys.h - keys of hosts are taken out of the cluster's settings
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  All routers refuse a key that is there no more: those that are away as soon
 *  as their lock services have the new settings.
 */

#ifndef LK_CLI_HOST_KEYS_H
#define LK_CLI_HOST_KEYS_H

#include "cli/ask.h"
#include "settings/common.h"

#include <stdbool.h>

/*  Whether that one is to go. */
typedef bool lk_host_key_fn (void *context, const lk_host_key *key);

/*  Withdraws those, by one change, and says which; none: *count is 0, and
 *  nothing is changed. Settings that have no keys get all others. The exit
 *  code; said why if it is not 0. */
int lk_host_keys_withdraw (lk_requester *asker, lk_host_key_fn *is_out,
                           void *context, size_t *count);

#endif
