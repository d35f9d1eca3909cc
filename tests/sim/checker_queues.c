/*  checker_queues.c - the judge: one object's tickets in a leader's table
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  protocol 9.16.1, 9.16.5: the holders go together and are not too many,
 *  nobody was passed, and the queue is in order. Granting itself is the
 *  model's (lib/grant_model.h). Members of a set that are not asked for yet
 *  have number 0, and count as absent.
 */

#include "checker.h"

#include "lib/grant_model.h"

/*  -------------------------------------------------------- order */

/*  Who holds it comes first, then who waits, by number: one operation may
 *  queue members of several sets. */
static void
check_order (sim_checker *self, uint8_t host, const lk_ticket *tickets,
             size_t count)
{
    const lk_ticket *before = NULL;

    for (size_t i = 0; i < count; i++) {
        const lk_ticket *ticket = &tickets[i];
        if (before && lk_model_is_active (ticket)) {
            sim_checker_fail (self,
                              "h%d's table: an object is held by one that is "
                              "behind one that waits",
                              host);
        }
        if (before && lk_model_waits (ticket)
            && ticket->number < before->number) {
            sim_checker_fail (self,
                              "h%d's table: a queue is not in the order of "
                              "numbers",
                              host);
        }
        if (lk_model_waits (ticket)) {
            before = ticket;
        }
    }
}

/*  Whether the one holds it although the other was there before, and waits.
 *  Whose type was changed came another way. */
static bool
has_passed (const lk_ticket *holder, const lk_ticket *waiter)
{
    return waiter->number < holder->number && waiter->number < holder->token
           && holder->turn == 0 && !holder->upgrade
           && !lk_model_may_pass (&holder->mode, &waiter->mode);
}

static void
check_nobody_passed (sim_checker *self, uint8_t host, const lk_ticket *tickets,
                     size_t count)
{
    for (size_t i = 0; i < count && lk_model_is_active (&tickets[i]); i++) {
        for (size_t j = i + 1; j < count; j++) {
            if (lk_model_waits (&tickets[j])
                && has_passed (&tickets[i], &tickets[j])) {
                sim_checker_fail (
                    self,
                    "PASSED: in h%d's table ticket %llx of h%d, type %d, "
                    "waits, and %llx of h%d, type %d, was granted as %llx",
                    host, (unsigned long long) tickets[j].number,
                    tickets[j].request.host, (int) tickets[j].mode.type,
                    (unsigned long long) tickets[i].number,
                    tickets[i].request.host, (int) tickets[i].mode.type,
                    (unsigned long long) tickets[i].token);
            }
        }
    }
}

/*  -------------------------------------------------------- together */

/*  How many held it when this one was granted, of those that still do, itself
 *  too. */
static uint32_t
rank_of (const lk_ticket *tickets, size_t count, const lk_ticket *ticket)
{
    uint32_t rank = 1;

    for (size_t i = 0; i < count && lk_model_is_active (&tickets[i]); i++) {
        rank += tickets[i].token < ticket->token
                || (tickets[i].token == ticket->token
                    && tickets[i].ordinal < ticket->ordinal);
    }
    return rank;
}

static void
check_ordinal (sim_checker *self, uint8_t host, const lk_ticket *tickets,
               size_t count, const lk_ticket *ticket)
{
    uint32_t rank = rank_of (tickets, count, ticket);
    /*  A claim in doubt is counted when it comes. Protocol 9.20: Reclaim. */
    if (ticket->ordinal < rank && ticket->remote.number == 0) {
        sim_checker_fail (self,
                          "ORDINAL: %u of a ticket of h%d in h%d's table, is "
                          "%u or more",
                          ticket->ordinal, ticket->request.host, host, rank);
    }
    if (ticket->mode.limit != 0 && ticket->ordinal > ticket->mode.limit) {
        sim_checker_fail (self,
                          "TOO MANY: h%d's table has unit %u of h%d, "
                          "limit %u",
                          host, ticket->ordinal, ticket->request.host,
                          ticket->mode.limit);
    }
}

static void
check_together (sim_checker *self, uint8_t host, const lk_ticket *tickets,
                size_t count)
{
    for (size_t i = 0; i < count && lk_model_is_active (&tickets[i]); i++) {
        if (i > 0
            && !lk_model_agree (tickets[0].mode.type, tickets[i].mode.type)) {
            sim_checker_fail (
                self,
                "h%d's table: one is held by type %d of h%d and "
                "type %d of h%d",
                host, (int) tickets[0].mode.type, tickets[0].request.host,
                (int) tickets[i].mode.type, tickets[i].request.host);
        }
        check_ordinal (self, host, tickets, count, &tickets[i]);
    }
}

/*  The first definition of the bound is that of all that came later. */
static void
check_bound (sim_checker *self, uint8_t host, const lk_ticket *tickets,
             size_t count)
{
    uint32_t bound = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t other = tickets[i].number ? tickets[i].mode.bound : 0;
        if (bound != 0 && other != 0 && bound != other) {
            sim_checker_fail (self, "BOUND: h%d's table has %u and %u of one",
                              host, bound, other);
        }
        bound = bound ? bound : other;
    }
}

/*  -------------------------------------------------------- upgrades */

static void
note_rival (sim_checker *self, const lk_ticket *ticket)
{
    uint8_t object = sim_checker_object (self, ticket->object);
    sim_rival *rival;

    if (object == SIM_ANY_OBJECT) {
        return;
    }
    rival = self->object[object].rival;
    if (rival[0].key != ticket->key) {
        rival[1] = rival[0];
    }
    rival[0] = (sim_rival) {.key = ticket->key, .seen_at = self->now};
}

/*  Who waits to be exclusive is one at most. */
static void
check_upgrades (sim_checker *self, uint8_t host, const lk_ticket *tickets,
                size_t count)
{
    size_t upgrades = 0;

    for (size_t i = 0; i < count; i++) {
        if (!tickets[i].upgrade) {
            continue;
        }
        upgrades++;
        note_rival (self, &tickets[i]);
        if (!lk_model_is_active (&tickets[i])
            || tickets[i].mode.type != LK_SHARED) {
            sim_checker_fail (self,
                              "h%d's table: type %d waits to be exclusive",
                              host, (int) tickets[i].mode.type);
        }
    }
    if (upgrades > 1) {
        sim_checker_fail (self, "h%d's table: %zu wait to be exclusive", host,
                          upgrades);
    }
}

/*  -------------------------------------------------------- all */

void
sim_checker_queue (sim_checker *self, uint8_t host, const lk_ticket *tickets,
                   size_t count)
{
    check_order (self, host, tickets, count);
    check_together (self, host, tickets, count);
    check_bound (self, host, tickets, count);
    check_nobody_passed (self, host, tickets, count);
    check_upgrades (self, host, tickets, count);
}
