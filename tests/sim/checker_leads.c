/*  checker_leads.c - the judge: no reclaim beside a leader that may still tell
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "checker.h"

#include "node_view.h"

/*  The q-th latest echo that it has of the decree's members; it hears itself at
 *  any time. */
static int64_t
latest_quorum (const lk_node *node)
{
    const lk_decree *decree = &lk_node_table (node)->decree;
    int64_t echo[LK_HOSTS_MAX];
    size_t count = 0;
    lk_hosts members = decree->members;

    while (members) {
        lk_host host = lk_hosts_take (&members);
        int64_t at = host == lk_node_core (node)->config.self
                         ? SIM_FOREVER
                         : lk_node_core (node)->peer[host].echoed_ms;
        size_t i = count++;
        for (; i > 0 && echo[i - 1] < at; i--) {
            echo[i] = echo[i - 1];
        }
        echo[i] = at;
    }
    return echo[lk_hosts_count (decree->members) / 2];
}

int64_t
sim_leads_until (const lk_node *node)
{
    int64_t quorum;

    if (!lk_node_serves (node)) {
        return 0;
    }
    quorum = latest_quorum (node);
    return quorum == SIM_FOREVER
               ? SIM_FOREVER
               : quorum + lk_node_core (node)->config.leader_lease_ms;
}

void
sim_checker_leads (sim_checker *self, uint8_t host, const lk_node *node,
                   int64_t until)
{
    self->service[host].leads = lk_node_table (node)->decree.term;
    self->service[host].leads_until = until;
}

void
sim_checker_elects (sim_checker *self, const lk_decree *decree, lk_host holder)
{
    for (uint8_t host = 0; holder == LK_NOBODY && host < SIM_HOSTS_MAX;
         host++) {
        const sim_service *service = &self->service[host];
        if (self->now < service->leads_until
            && sim_term_compare (service->leads, decree->term) < 0) {
            sim_checker_fail (self,
                              "STILL LEADS: decree %llu takes everything back, "
                              "and h%d may tell by decree %llu for %lld ms",
                              (unsigned long long) decree->term.number, host,
                              (unsigned long long) service->leads.number,
                              (long long) (service->leads_until - self->now));
        }
    }
}
