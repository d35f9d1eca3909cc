/*  promise.c - the two facts of a member: what it promised, what is active
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "promise.h"

#include "node_private.h"

bool
lk_promise_fits (const lk_node *node, lk_term term)
{
    return lk_term_equal (term, node->facts.promised)
           || term.number > node->facts.promised.number;
}

void
lk_desist (lk_node *node, const lk_lock_message *message)
{
    lk_lock_message *answer = lk_out_message (node, LK_MSG_DESIST);
    answer->term = message->term;
    answer->as.desist.promised = node->facts.promised;
    lk_out_send (node, answer, message->from);
}

/*  The own echo stops with a promise above the table's term; what it said
 *  until now still counts for the leader lease. */
static void
raise (lk_node *node, lk_term term)
{
    if (lk_table_is_filled (&node->table)
        && lk_term_compare (node->facts.promised, node->table.decree.term)
               <= 0) {
        node->peer[node->config.self].echoed_ms = node->now_ms;
    }
    lk_terms_spend (node, term.number);
    node->facts.promised = term;
}

void
lk_promise (lk_node *node, lk_term term)
{
    LK_ASSERT (lk_promise_fits (node, term));
    if (!lk_term_equal (term, node->facts.promised)) {
        node->promised_ms = node->now_ms;
        raise (node, term);
        node->promised_to = LK_NOBODY;
        lk_out_persist (node);
        lk_alert_look (node);
    }
}

void
lk_adopt (lk_node *node, lk_host from, const lk_decree *decree)
{
    lk_facts *facts = &node->facts;
    if (decree->leader_count == 0
        || lk_term_compare (decree->term, facts->active.term) <= 0
        || !lk_node_believes (node, from, decree)) {
        return;
    }
    if (!lk_promise_fits (node, decree->term)) {
        lk_node_hears_of (node, decree);
        return;
    }
    if (decree->term.number > facts->promised.number) {
        raise (node, decree->term);
    }
    facts->active = *decree;
    if (lk_term_compare (node->told.term, decree->term) <= 0) {
        node->told = (lk_decree) {0};
    }
    lk_out_persist (node);
    lk_election_settle (node);
    lk_out_trace (node, LK_TRACE_INFO, "active decree: term=%llu leaders=%u%s",
                  (unsigned long long) decree->term.number,
                  decree->leader_count, decree->reclaim ? " reclaim" : "");
}

bool
lk_may_lead (const lk_node *node, lk_term term)
{
    return lk_term_compare (term, node->promised_before_start) > 0;
}
