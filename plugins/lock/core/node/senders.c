/*  senders.c - who may say what
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "senders.h"

#include "node_private.h"

typedef enum {
    LK_SAYS_NOBODY, /* no such kind */
    LK_SAYS_ANYBODY,
    LK_SAYS_MEMBER, /* a member of a decree that is known */
    LK_SAYS_DECREE, /* of whom that decree may be learned */
    LK_SAYS_TAKER,  /* a member, or who is FIRST */
    LK_SAYS_ASKED,  /* who is asked by the own election, or doorway */
    LK_SAYS_FIRST,  /* the first leader of the decree that it proposes */
    LK_SAYS_FELLOW, /* a leader of the own table's decree */
    LK_SAYS_LEADER, /* a leader of a decree that is known; of a later term, a
                       member */
    LK_SAYS_OWN     /* the host whose request it is, or a leader for it */
} lk_says;

/*  The rule: the decrees that are known say who has a part. What else comes is
 *  dropped, and `counts` says whether that is remarkable: a correct host may
 *  answer a question that is over. */
typedef struct {
    lk_says who;
    bool counts;
} lk_sender_rule;

static const lk_sender_rule rules[LK_MSG_COUNT] = {
    [LK_MSG_STARTED] = {LK_SAYS_ANYBODY, false},
    [LK_MSG_PING] = {LK_SAYS_ANYBODY, false},
    [LK_MSG_DATE] = {LK_SAYS_MEMBER, true},
    [LK_MSG_AGREED] = {LK_SAYS_MEMBER, true},
    [LK_MSG_VOTE] = {LK_SAYS_MEMBER, true},
    [LK_MSG_VOTED] = {LK_SAYS_ASKED, false},
    [LK_MSG_DESIST] = {LK_SAYS_ASKED, false},
    [LK_MSG_RETIRE] = {LK_SAYS_MEMBER, true},
    [LK_MSG_RERUN] = {LK_SAYS_MEMBER, true},
    [LK_MSG_ELECTED] = {LK_SAYS_MEMBER, true},
    [LK_MSG_SITTING] = {LK_SAYS_DECREE, true},
    [LK_MSG_ACTIVE] = {LK_SAYS_DECREE, true},
    [LK_MSG_ACTIVATED] = {LK_SAYS_ASKED, false},
    [LK_MSG_ENTERING] = {LK_SAYS_TAKER, true},
    [LK_MSG_ENTERED] = {LK_SAYS_ASKED, false},
    [LK_MSG_GETMAX] = {LK_SAYS_TAKER, true},
    [LK_MSG_MAXTICKET] = {LK_SAYS_ASKED, false},
    [LK_MSG_FILL] = {LK_SAYS_TAKER, true},
    [LK_MSG_FILLED] = {LK_SAYS_ASKED, false},
    [LK_MSG_EXITING] = {LK_SAYS_FIRST, true},
    [LK_MSG_READY] = {LK_SAYS_DECREE, true},
    [LK_MSG_OPS] = {LK_SAYS_FELLOW, true},
    [LK_MSG_ACKED] = {LK_SAYS_FELLOW, true},
    [LK_MSG_HOST] = {LK_SAYS_FELLOW, true},
    [LK_MSG_SILENT] = {LK_SAYS_FELLOW, true},
    [LK_MSG_LOCK] = {LK_SAYS_OWN, true},
    [LK_MSG_UNLOCK] = {LK_SAYS_OWN, true},
    [LK_MSG_LOCKED] = {LK_SAYS_LEADER, true},
    [LK_MSG_UNLOCKED] = {LK_SAYS_LEADER, true},
    [LK_MSG_LOCKFAILED] = {LK_SAYS_LEADER, true},
    [LK_MSG_CHECK] = {LK_SAYS_OWN, true},
    [LK_MSG_CHECKED] = {LK_SAYS_LEADER, true},
    [LK_MSG_REPORT] = {LK_SAYS_OWN, true},
    [LK_MSG_REPORTED] = {LK_SAYS_LEADER, true},
    [LK_MSG_AUDIT] = {LK_SAYS_LEADER, true},
    [LK_MSG_AUDITED] = {LK_SAYS_OWN, true},
    [LK_MSG_ALERT] = {LK_SAYS_MEMBER, true},
    [LK_MSG_ALERTED] = {LK_SAYS_ANYBODY, false},
    [LK_MSG_STOPPING] = {LK_SAYS_OWN, true},
    [LK_MSG_PENDING] = {LK_SAYS_LEADER, true},
};

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
    switch (rules[message->kind].who) {
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

/*  A member may have led, or been first leader, a moment ago. Protocol 9.3. */
static bool
is_remarkable (const lk_node *node, const lk_lock_message *message)
{
    const lk_sender_rule *rule = &rules[message->kind];
    const bool is_direct =
        message->origin == LK_NOBODY || message->origin == message->from;
    return rule->counts
           && (!lk_trusts (&node->leader, message->from)
               || (rule->who == LK_SAYS_OWN && is_direct));
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

bool
lk_node_admits (lk_node *node, const lk_lock_message *message)
{
    if (message->from == node->core.config.self) {
        return true;
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
