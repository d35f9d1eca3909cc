/*  trust.h - which hosts are members, as far as decrees are known
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_TRUST_H
#define LK_TRUST_H

#include "node.h"

/*  The members of the decrees that are known. */
lk_hosts lk_known_members (const lk_node *node);

/*  ... and this host; while none are
 *  known, everybody. */
lk_hosts lk_node_trusted (const lk_node *node);

bool lk_node_trusts (const lk_node *node, lk_host host);

/*  Whether that decree may be learned from that host: a member; or one that the
 *  decree itself names, while this host is cut off from those it knows. */
bool lk_node_believes (lk_node *node, lk_host from, const lk_decree *decree);

/*  A member told of this decree, or voted with it: its members are known, even
 *  if it cannot be taken because more was promised. */
void lk_node_hears_of (lk_node *node, const lk_decree *decree);

#endif
