/*  checker_remote.c - the judge: applications on other machines
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each is a host of its own, behind the real ones. Its place in a queue is
 *  owed as long as its registration goes on, and the session of the host that
 *  carries it. lockkeeper-protocol(7), 9.20.
 */

#include "checker.h"

sim_claim *
sim_checker_remote_claim (sim_checker *self, const lk_far_id *remote,
                          uint8_t object)
{
    return sim_checker_claim (
        self,
        (sim_who) {.host = (uint8_t) (SIM_HOSTS_MAX + remote->owner[1] - 1),
                   .app = (uint32_t) remote->owner[0],
                   .serial = remote->serial},
        object);
}

void
sim_checker_carries (sim_checker *self, sim_who who, uint8_t host)
{
    sim_claim *claim = NULL;

    while ((claim = sim_checker_next_claim (self, who, claim))) {
        claim->carriers |= LK_HOST_BIT (host);
    }
}

void
sim_checker_unqueued (sim_checker *self, sim_who who)
{
    sim_claim *claim = NULL;

    while ((claim = sim_checker_next_claim (self, who, claim))) {
        claim->queued_at = 0;
        claim->queued_by = 0;
    }
}

void
sim_checker_unregistered (sim_checker *self, sim_who who, uint64_t number)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        sim_claim *claim = &self->claim[i];
        if (claim->who.host == who.host && claim->who.app == who.app) {
            claim->queued_at = 0;
            claim->queued_by = 0;
            if (claim->unregistered < number) {
                claim->unregistered = number;
            }
        }
    }
}

void
sim_checker_leased (sim_checker *self, sim_who who, int64_t until)
{
    sim_claim *claim = NULL;

    while ((claim = sim_checker_next_claim (self, who, claim))) {
        claim->lease_until = until;
    }
}

void
sim_checker_suspended (sim_checker *self, uint8_t host, int64_t ms)
{
    sim_service *service = &self->service[host];

    service->lease_until += ms;
    for (size_t i = 0; i < SIM_SESSIONS_MAX; i++) {
        sim_session *session = &service->sessions[i];
        if (session->number != 0 && !session->ended
            && session->ends_at > self->now) {
            session->ends_at += ms;
        }
    }
}

void
sim_checker_unkept (sim_checker *self, sim_who who)
{
    sim_claim *claim = sim_checker_claim (self, who, SIM_ANY_OBJECT);

    if (claim) {
        claim->kept = false;
        claim->lease_until = self->now;
    }
}
