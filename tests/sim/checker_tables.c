/*  checker_tables.c - the judge: what the leaders' tables say
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Rules 1, 4 and 5: of every leader that serves the latest decree in force,
 *  unless it is in reclaim.
 */

#include "checker.h"

#include <string.h>

/*  Within an object: numbers grow, and only the first is held. */
static void
check_order (sim_checker *self, uint8_t host, const lk_ticket *before,
             const lk_ticket *ticket)
{
    if (!before->object.data || before->object.size != ticket->object.size
        || memcmp (before->object.data, ticket->object.data,
                   ticket->object.size)
               != 0) {
        return;
    }
    if (ticket->token != 0) {
        sim_checker_fail (self,
                          "h%d's table: an object is held by one that is "
                          "not the first",
                          host);
    }
    if (ticket->number <= before->number) {
        sim_checker_fail (self,
                          "h%d's table: a queue is not in the order of "
                          "numbers",
                          host);
    }
}

/*  Notes that a request waits in this leader's table; or that it does not any
 *  more: it may lose what it was granted before it is told. */
static void
note_queued (sim_checker *self, size_t place, const lk_ticket *ticket)
{
    uint64_t all =
        ((uint64_t) 1 << sim_checker_latest (self)->leader_count) - 1;

    for (size_t i = 0; i < self->claim_count; i++) {
        sim_claim *claim = &self->claim[i];
        if ((uint32_t) claim->who.serial != ticket->pid || claim->held
            || claim->who.host != ticket->request.host) {
            continue;
        }
        if (ticket->token != 0) {
            claim->queued_at = 0;
            claim->queued_by = 0;
            return;
        }
        claim->queued_by |= (uint64_t) 1 << place;
        if (claim->queued_by == all && claim->queued_at == 0) {
            claim->queued_at = self->now;
            claim->queued_session = ticket->request.session;
        }
        return;
    }
}

static void
note_holder (sim_checker *self, const lk_ticket *ticket)
{
    for (size_t i = 0; ticket->token != 0 && i < self->object_count; i++) {
        sim_object *object = &self->object[i];
        if (object->size == ticket->object.size
            && memcmp (object->name, ticket->object.data, object->size) == 0) {
            object->holder = ticket->request.host;
        }
    }
}

static void
check_not_returned (sim_checker *self, uint8_t host, const lk_ticket *ticket)
{
    for (size_t i = 0; i < SIM_RETURNED_MAX; i++) {
        if (self->returned[i].key == ticket->key
            && self->returned[i].token == ticket->token && ticket->token) {
            sim_checker_fail (self,
                              "UNLOCKED was told, but h%d still has "
                              "the ticket with token %llx",
                              host, (unsigned long long) ticket->token);
        }
    }
}

/*  Notes the claim that a held ticket bears out; false if there is none. */
static bool
match_claim (sim_checker *self, uint8_t host, const lk_ticket *ticket)
{
    if (ticket->token == 0) {
        return false;
    }
    for (size_t i = 0; i < self->claim_count; i++) {
        sim_claim *claim = &self->claim[i];
        if (!claim->held || claim->key != ticket->key) {
            continue;
        }
        if (claim->token != ticket->token) {
            sim_checker_fail (self,
                              "h%d's table has token %llx for what was "
                              "told as %llx",
                              host, (unsigned long long) ticket->token,
                              (unsigned long long) claim->token);
        }
        claim->found = self->look;
        return true;
    }
    return false;
}

/*  Rule 4. */
static void
check_durable (sim_checker *self, uint8_t host)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        const sim_claim *claim = &self->claim[i];
        if (claim->found != self->look && sim_claim_believed (self, claim)) {
            sim_checker_fail (
                self,
                "LOST LOCK: %s of h%d, request %llu token %llx, is not "
                "in the table of leader h%d",
                sim_checker_title (self, claim->object), claim->who.host,
                (unsigned long long) claim->who.serial,
                (unsigned long long) claim->token, host);
        }
    }
}

/*  Rule 4 for what is only counted. */
static void
check_ballast (sim_checker *self, uint8_t host, uint32_t others)
{
    if (others < self->ballast_held
        && self->now < self->service[self->ballast_host].lease_until) {
        sim_checker_fail (self,
                          "LOST BALLAST: %u locks in the table of "
                          "leader h%d, told are %u",
                          others, host, self->ballast_held);
    }
}

static void
check_table (sim_checker *self, size_t place, lk_node *node)
{
    uint8_t host = sim_checker_latest (self)->leader[place];
    lk_ticket ticket;
    lk_ticket before = {0};
    uint32_t others = 0;
    size_t cursor = 0;

    self->look++;
    while (lk_node_next_ticket (node, &cursor, &ticket)) {
        check_order (self, host, &before, &ticket);
        check_not_returned (self, host, &ticket);
        note_queued (self, place, &ticket);
        note_holder (self, &ticket);
        others += !match_claim (self, host, &ticket) && ticket.token != 0;
        before = ticket;
    }
    check_durable (self, host);
    check_ballast (self, host, others);
}

void
sim_checker_spoils (sim_checker *self, uint8_t host, lk_term term)
{
    self->spoilt = host;
    self->spoilt_term = term;
}

static bool
is_spoilt (const sim_checker *self, uint8_t host)
{
    return host == self->spoilt
           && sim_term_compare (self->service[host].table, self->spoilt_term)
                  == 0;
}

/*  Whether the node serves the latest decree, and is past its reclaim. */
static bool
is_valid (const sim_checker *self, uint8_t host, const lk_node *node)
{
    const sim_service *service = &self->service[host];

    return node && service->reclaim == 0 && !is_spoilt (self, host)
           && sim_term_compare (service->table, sim_checker_latest (self)->term)
                  == 0
           && lk_node_serves (node);
}

void
sim_checker_tables (sim_checker *self, lk_node *const *nodes, size_t count)
{
    const lk_decree *latest = sim_checker_latest (self);

    for (size_t place = 0; latest && place < latest->leader_count; place++) {
        uint8_t host = latest->leader[place];
        if (host < count && is_valid (self, host, nodes[host])) {
            check_table (self, place, nodes[host]);
        }
    }
}

void
sim_checker_stepped (sim_checker *self, uint8_t host, lk_node *node)
{
    const lk_decree *latest = sim_checker_latest (self);
    sim_service *service = &self->service[host];
    uint64_t length;

    for (size_t place = 0; latest && place < latest->leader_count; place++) {
        if (latest->leader[place] == host && is_valid (self, host, node)) {
            length = lk_node_table_length (node);
            if (length != service->seen
                || self->latest + 1 != service->seen_in) {
                service->seen = length;
                service->seen_in = self->latest + 1;
                check_table (self, place, node);
            }
        }
    }
}
