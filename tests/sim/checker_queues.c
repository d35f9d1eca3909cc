/*  checker_queues.c - the judge: the rule of granting, told once more
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  protocol 9.16.1, 9.16.5 for one object's tickets, in any leader's table: who
 *  holds it go together and are not too many, nobody was passed, and nobody
 *  waits who need not. In the words of lockkeeper-protocol(7), 9.10, not of the
 *  core. Members of a set that are not asked for yet have number 0, and count
 *  as absent.
 */

#include "checker.h"

static bool
is_held (const lk_ticket *ticket)
{
    return ticket->token != 0;
}

static bool
waits (const lk_ticket *ticket)
{
    return ticket->token == 0 && ticket->number != 0;
}

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
        if (before && is_held (ticket)) {
            sim_checker_fail (self,
                              "h%d's table: an object is held by one that is "
                              "behind one that waits",
                              host);
        }
        if (before && waits (ticket) && ticket->number < before->number) {
            sim_checker_fail (self,
                              "h%d's table: a queue is not in the order of "
                              "numbers",
                              host);
        }
        if (waits (ticket)) {
            before = ticket;
        }
    }
}

/*  Only shared ones pass a soft exclusive one, and of two that wait for a quiet
 *  time either may be the first. */
bool
sim_modes_may_pass (const lk_lock_mode *holder, const lk_lock_mode *waiter)
{
    if (waiter->type != LK_EXCLUSIVE || !waiter->soft) {
        return false;
    }
    return holder->type == LK_SHARED
           || (holder->quiet_ms > 0 && waiter->quiet_ms > 0);
}

/*  Whether the one holds it although the other was there before, and waits.
 *  Whose type was changed came another way. */
static bool
has_passed (const lk_ticket *holder, const lk_ticket *waiter)
{
    return waiter->number < holder->number && waiter->number < holder->token
           && holder->turn == 0 && !holder->upgrade
           && !sim_modes_may_pass (&holder->mode, &waiter->mode);
}

static void
check_nobody_passed (sim_checker *self, uint8_t host, const lk_ticket *tickets,
                     size_t count)
{
    for (size_t i = 0; i < count && is_held (&tickets[i]); i++) {
        for (size_t j = i + 1; j < count; j++) {
            if (waits (&tickets[j]) && has_passed (&tickets[i], &tickets[j])) {
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

static uint32_t
limit_of (const lk_lock_mode *mode)
{
    uint32_t limit = mode->limit ? mode->limit : UINT32_MAX;

    return mode->bound && mode->bound < limit ? mode->bound : limit;
}

/*  How many held it when this one was granted, of those that still do, itself
 *  too. */
static uint32_t
rank_of (const lk_ticket *tickets, size_t count, const lk_ticket *ticket)
{
    uint32_t rank = 1;

    for (size_t i = 0; i < count && is_held (&tickets[i]); i++) {
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
    if (ticket->ordinal < rank) {
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
    for (size_t i = 0; i < count && is_held (&tickets[i]); i++) {
        if (i > 0
            && !sim_types_agree (tickets[0].mode.type, tickets[i].mode.type)) {
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

/*  -------------------------------------------------------- who may go on */

/*  Whether this one may hold it along with those that do. */
static bool
fits (const lk_ticket *tickets, size_t held, const lk_ticket *ticket)
{
    if (held == 0) {
        return ticket->mode.type != LK_SEMAPHORE
               || limit_of (&ticket->mode) > 0;
    }
    return sim_types_agree (tickets[0].mode.type, ticket->mode.type)
           && (ticket->mode.type != LK_SEMAPHORE
               || held < limit_of (&ticket->mode));
}

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
        if (!is_held (&tickets[i]) || tickets[i].mode.type != LK_SHARED) {
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

/*  Who waits to be exclusive goes first of all; of the others the first that
 *  does not fit holds up all behind it, a soft exclusive one only those that
 *  are not shared. */
const lk_ticket *
sim_queue_stuck (const lk_ticket *tickets, size_t count)
{
    size_t held = 0;
    bool only_shared = false;

    for (; held < count && is_held (&tickets[held]); held++) {
        if (tickets[held].upgrade) {
            bool alone = count == 1 || !is_held (&tickets[1]);
            return alone ? &tickets[held] : NULL;
        }
    }
    for (size_t i = held; i < count; i++) {
        const lk_ticket *ticket = &tickets[i];
        if (!waits (ticket)) {
            continue;
        }
        if (ticket->mode.quiet_ms == 0 && fits (tickets, held, ticket)
            && (!only_shared || ticket->mode.type == LK_SHARED)) {
            return ticket;
        }
        if (ticket->mode.type != LK_EXCLUSIVE || !ticket->mode.soft) {
            return NULL;
        }
        only_shared = true;
    }
    return NULL;
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
