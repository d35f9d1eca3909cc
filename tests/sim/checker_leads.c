/*  checker_leads.c - the judge: who leads, and may still tell
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

void
sim_checker_drains (sim_checker *self, uint8_t host, const lk_node *node)
{
    sim_service *service = &self->service[host];
    const lk_core *core = lk_node_core (node);

    if (!lk_core_is_draining (core)) {
        service->drained = false;
    } else if (!service->drained && lk_node_is_drained (node)
               && lk_decree_place (&core->in_force, host) < 0) {
        service->drained = true;
        service->drained_by = core->in_force.term;
    }
}

void
sim_checker_appoints (sim_checker *self, const lk_decree *decree)
{
    for (size_t place = 0; place < decree->leader_count; place++) {
        const uint8_t host = decree->leader[place];
        const sim_service *service = &self->service[host];
        if (service->drained
            && sim_term_compare (service->drained_by, decree->term) < 0) {
            sim_checker_fail (self,
                              "DRAINED: h%d leads by decree %llu, and was said "
                              "to lead no more",
                              host, (unsigned long long) decree->term.number);
        }
    }
}
