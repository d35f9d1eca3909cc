/*  serving.h - whether this host serves as a leader, and for whom it vouches
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Leader leases and host leases, as they rest on pings.
 *  lockkeeper-protocol(7), Pings and Sessions and hosts.
 */

#ifndef LK_SERVING_H
#define LK_SERVING_H

#include "node.h"

/*  The same; for a leader without those that stall its stream, so that others
 *  can lead in their place. */
lk_hosts lk_node_sees (const lk_node *node);

/*  Leader lease: q of the table's members echoed an `at` sent within it. */
bool lk_lease_holds (lk_node *node);

/*  Serves: has the term's table, no later promise, and knows it in force. */
bool lk_node_is_serving (const lk_node *node);

/*  Serves, has the lease, hears all fellow leaders have the same term, and
 *  has their acknowledgements. */
bool lk_node_is_well (lk_node *node);

/*  The first leader of the active decree that does not say well; LK_NOBODY. */
lk_host lk_missing_leader (lk_node *node);

/*  Sees living leaders: promised nothing later than the active decree, and
 *  all of its leaders say well. */
bool lk_sees_leaders (lk_node *node);

/*  Whom it hears report a table of its active decree or a later one. */
lk_hosts lk_hears_holders (const lk_node *node);

/*  May this leader vouch for that session now? */
bool lk_can_vouch (lk_node *node, lk_host host, uint64_t session);

/*  The last time at which that is not so yet, if nothing is heard of it. */
int64_t lk_silent_after (const lk_node *node, lk_host host, uint64_t session);

/*  Was nothing heard of that session for so long that its proxy cannot have
 *  a lease any more, as far as this leader knows? */
bool lk_is_silent (const lk_node *node, lk_host host, uint64_t session);

/*  Whether a leader of the latest decree in force says that it is well: without
 *  one nothing is granted. */
bool lk_node_hears_leader (lk_node *node);

#endif
