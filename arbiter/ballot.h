/*  ballot.h - the lock service of an arbiter
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_BALLOT_H
#define LK_BALLOT_H

#include <lockkeeper/plugin.h>

#include <stdint.h>

/*  That of plugins/lock; its `create` gets the folder of its state. */
extern const lk_plugin lk_ballot;

/*  Of one that runs: the number of the latest decree that it knows, and how
 *  many members that has. */
void lk_ballot_status (const void *vote, uint64_t *number, unsigned *members);

#endif
