/*  senders.c - who may say what
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "senders.h"

#include "messages.h"
#include "node_private.h"

typedef enum {
    LK_SAYS_NOBODY, /* no such kind */
    LK_SAYS_ANYBODY,
    LK_SAYS_MEMBER,
    LK_SAYS_DECREE,
    LK_SAYS_TAKER,
    LK_SAYS_ASKED,
    LK_SAYS_FIRST,
    LK_SAYS_FELLOW,
    LK_SAYS_LEADER,
    LK_SAYS_OWN
} lk_says;

/*  The decrees that are known say who has a part: messages.h. */
#define RULE(kind, function, who, whom) [LK_MSG_##kind] = LK_SAYS_##who,
static const lk_says rules[LK_MSG_COUNT] = {
    LK_NODE_MESSAGES (RULE) LK_ELECTION_MESSAGES (RULE)
        LK_LEADER_MESSAGES (RULE) LK_PROXY_MESSAGES (RULE)};
#undef RULE

void
lk_dropped_init (lk_dropped *self)
{
    *self = (lk_dropped) {.host = LK_NOBODY};
}

/*  -------------------------------------------------------- who is who */

/*  protocol 9.3 */
static bool
is_leader (const lk_node *node, lk_host host)
{
    return lk_decree_place (&node->core.facts.active, host) >= 0
           || lk_decree_place (&node->core.in_force, host) >= 0;
}

/*  -------------------------------------------------------- classes */

/*  The host whose request the message is about. */
static lk_host
owner (const lk_lock_message *message)
{
    switch (message->kind) {
    case LK_MSG_LOCK:
    case LK_MSG_UNLOCK:
        return message->as.request.ticket.request.host;
    case LK_MSG_CHECK:
        return message->as.check.request.host;
    case LK_MSG_STOPPING:
        return message->as.stopping.request.host;
    case LK_MSG_AUDITED:
        return message->as.audit.request.host;
    default:
        return lk_origin (message);
    }
}

/*  protocol 9.3 */
static bool
is_own (const lk_node *node, const lk_lock_message *message)
{
    const lk_host host = owner (message);
    return message->from == host ? lk_origin (message) == host
                                 : is_leader (node, message->from)
                                       && (message->kind == LK_MSG_AUDITED
                                           || lk_origin (message) == host);
}

/*  protocol 9.3 */
static bool
is_of_leader (const lk_node *node, const lk_lock_message *message)
{
    return is_leader (node, message->from)
           || (lk_trusts (&node->leader, message->from)
               && lk_term_compare (message->term, node->core.in_force.term)
                      > 0);
}

static bool
may_say (lk_node *node, const lk_lock_message *message)
{
    const lk_host from = message->from;
    switch (rules[message->kind]) {
    case LK_SAYS_ANYBODY:
        return true;
    case LK_SAYS_MEMBER:
        return lk_trusts (&node->leader, from);
    case LK_SAYS_DECREE:
        return lk_believes (&node->leader, from, &message->as.decree.decree);
    case LK_SAYS_TAKER:
        return lk_trusts (&node->leader, from)
               || lk_election_is_first (&node->election, from);
    case LK_SAYS_ASKED:
        return lk_hosts_has (lk_election_asked (&node->election), from);
    case LK_SAYS_FIRST:
        return lk_election_is_first (&node->election, from);
    case LK_SAYS_FELLOW:
        return lk_decree_place (lk_leader_decree (&node->leader), from) >= 0;
    case LK_SAYS_LEADER:
        return is_of_leader (node, message);
    case LK_SAYS_OWN:
        return is_own (node, message);
    case LK_SAYS_NOBODY:
        break;
    }
    return false;
}

/*  Whether it would have this host promise too much, or hear of that.
 *  Protocol 9.4. */
static bool
goes_too_far (const lk_node *node, const lk_lock_message *message)
{
    const uint64_t limit = lk_terms_limit (&node->core);
    switch (message->kind) {
    case LK_MSG_VOTE:
    case LK_MSG_ELECTED:
    case LK_MSG_SITTING:
    case LK_MSG_ACTIVE:
    case LK_MSG_READY:
    case LK_MSG_ENTERING:
    case LK_MSG_FILL:
        return message->term.number > limit;
    case LK_MSG_DESIST:
        return message->as.desist.promised.number > limit;
    default:
        return false;
    }
}

/*  -------------------------------------------------------- dropping */

/*  A member may have led, or been first leader, a moment ago; a correct host
 *  may answer a question that is over. Protocol 9.3. */
static bool
is_remarkable (const lk_node *node, const lk_lock_message *message)
{
    const lk_says who = rules[message->kind];
    const bool is_direct =
        message->origin == LK_NOBODY || message->origin == message->from;
    return who != LK_SAYS_ASKED
           && (!lk_trusts (&node->leader, message->from)
               || (who == LK_SAYS_OWN && is_direct));
}

/*  Said in the log ever more seldom. */
static void
count (lk_node *node, const lk_lock_message *message)
{
    lk_dropped *self = &node->dropped;
    self->count++;
    self->host = message->from;
    self->kind = message->kind;
    if ((self->count & (self->count - 1)) == 0) {
        lk_out_trace (&node->core, LK_TRACE_WARNING,
                      "dropped what its sender may not say: host=%s command=%s "
                      "count=%llu",
                      lk_out_host (&node->core, message->from),
                      lk_lock_kind_command (message->kind),
                      (unsigned long long) self->count);
        lk_out_status (&node->core);
    }
}

/*  protocol 9.3 */
static bool
is_for_hosts (const lk_node *node, const lk_lock_message *message)
{
    return node->core.config.arbiter && !lk_arbiter_hears (message->kind);
}

bool
lk_node_admits (lk_node *node, const lk_lock_message *message)
{
    if (message->from == node->core.config.self) {
        return true;
    }
    if (is_for_hosts (node, message)) {
        count (node, message);
        return false;
    }
    const bool goes_far = goes_too_far (node, message);
    if (may_say (node, message) && !goes_far) {
        return true;
    }
    if (goes_far || is_remarkable (node, message)) {
        count (node, message);
    }
    return false;
}
