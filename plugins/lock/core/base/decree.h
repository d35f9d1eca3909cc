/*  decree.h - terms, decrees and quorums
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Pure values. lockkeeper-protocol(7), 9.1.
 */

#ifndef LK_DECREE_H
#define LK_DECREE_H

#include "wire/lock_message.h"

/*  Below, equal or above zero, like memcmp. By number, then by proposer. */
int lk_term_compare (lk_term a, lk_term b);
bool lk_term_equal (lk_term a, lk_term b);

/*  Number 0: the genesis, or nothing at all. */
bool lk_term_is_zero (lk_term term);

/*  The place of a host among the leaders, or -1. */
int lk_decree_place (const lk_decree *self, lk_host host);

/*  All leaders, as a set. */
lk_hosts lk_decree_leaders (const lk_decree *self);

/*  How many hosts are in the set. */
int lk_hosts_count (lk_hosts hosts);
bool lk_hosts_has (lk_hosts hosts, lk_host host);

/*  Whether more than half of `members` are in `present`. */
bool lk_is_quorum (lk_hosts members, lk_hosts present);

/*  The lowest host of the set, which is taken out of it: for loops
 *  `while (hosts) { lk_host host = lk_hosts_take (&hosts); ... }`. */
lk_host lk_hosts_take (lk_hosts *hosts);

/*  Its members and leaders. */
lk_hosts lk_decree_hosts (const lk_decree *self);

/*  That host alone; LK_NOBODY: none. */
lk_hosts lk_hosts_of (lk_host host);

#endif
