/*  promise.c - the two facts of a member: what it promised, what is active
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "promise.h"

#include "election_private.h"
#include "retry.h"

/*  protocol 9.1 */
bool
lk_promise_fits (const lk_election *election, lk_term term)
{
    return lk_term_equal (term, election->core->facts.promised)
           || term.number > election->core->facts.promised.number;
}

/*  Protocol 9.19.8. Each that promises has waited so long since it has the
 *  generation on its disk, and so a quorum has. */
int64_t
lk_promise_waits_ms (const lk_election *election)
{
    const lk_core *core = election->core;
    const int64_t until_ms = core->started_ms
                             + lk_with_margin (core->config.leader_lease_ms
                                               + core->config.host_lease_ms);
    const bool has_begun = !lk_term_is_zero (core->facts.active.term);
    return core->config.generation == 0 || has_begun || until_ms <= core->now_ms
               ? 0
               : until_ms - core->now_ms;
}

/*  protocol 9.1 */
void
lk_desist (lk_election *election, const lk_lock_message *message)
{
    lk_lock_message *answer = lk_out_message (election->core, LK_MSG_DESIST);
    answer->term = message->term;
    answer->as.desist.promised = election->core->facts.promised;
    lk_out_send (election->core, answer, message->from);
}

static void
raise (lk_election *election, lk_term term)
{
    lk_lease_echo_self (election->leader);
    lk_terms_spend (election->core, term.number);
    election->core->facts.promised = term;
}

void
lk_promise (lk_election *election, lk_term term)
{
    LK_ASSERT (lk_promise_fits (election, term));
    if (!lk_term_equal (term, election->core->facts.promised)) {
        election->promised_ms = election->core->now_ms;
        raise (election, term);
        election->promised_to = LK_NOBODY;
        /*  protocol 9.1, 9.9 */
        lk_out_persist (election->core);
        lk_alert_look (election->leader);
    }
}

/*  A decree in force without this host: it is in no quorum of that, and may
 *  have promised a term that nobody else knows of. Protocol 9.15. */
static bool
leaves_it_out (const lk_election *election, const lk_decree *decree)
{
    return lk_term_equal (decree->term, election->core->in_force.term)
           && !lk_hosts_has (decree->members, election->core->config.self);
}

/*  protocol 9.1 */
void
lk_adopt (lk_election *election, lk_host from, const lk_decree *decree)
{
    lk_facts *facts = &election->core->facts;
    if (decree->leader_count == 0
        || lk_term_compare (decree->term, facts->active.term) <= 0
        || !lk_believes (election->leader, from, decree)) {
        return;
    }
    /*  protocol 9.3 */
    if (!lk_promise_fits (election, decree->term)
        && !leaves_it_out (election, decree)) {
        lk_hears_of (election->leader, decree);
        return;
    }
    /*  protocol 9.17 */
    if (!lk_settings_suffice (election, decree->settings)) {
        lk_hears_of (election->leader, decree);
        lk_settings_want (election, from, decree);
        return;
    }
    if (decree->term.number > facts->promised.number) {
        raise (election, decree->term);
    }
    facts->active = *decree;
    lk_settings_adopted (election);
    if (lk_term_compare (election->core->told.term, decree->term) <= 0) {
        election->core->told = (lk_decree) {0};
    }
    lk_out_persist (election->core);
    lk_election_settle (election);
    lk_out_trace (election->core, LK_TRACE_INFO,
                  "active decree: term=%llu leaders=%u%s",
                  (unsigned long long) decree->term.number,
                  decree->leader_count, decree->reclaim ? " reclaim" : "");
}

/*  protocol 9.6 */
bool
lk_may_lead (const lk_election *election, lk_term term)
{
    return !election->core->config.arbiter
           && lk_term_compare (term, election->promised_before_start) > 0;
}
