/*  messages.c - which messages are for arbiters, too
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "messages.h"

typedef enum { HOSTS, ALL } audience;

/*  protocol 9.3 */
#define FOR(kind, function, who, whom) [LK_MSG_##kind] = whom,
static const audience audiences[LK_MSG_COUNT] = {
    LK_NODE_MESSAGES (FOR) LK_ELECTION_MESSAGES (FOR) LK_LEADER_MESSAGES (FOR)
        LK_PROXY_MESSAGES (FOR)};

bool
lk_arbiter_hears (lk_lock_kind kind)
{
    return audiences[kind] == ALL;
}
