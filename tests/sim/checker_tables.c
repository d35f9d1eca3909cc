/*  checker_tables.c - the judge: what the leaders' tables say
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  protocol 9.16.1, 9.16.4, 9.16.5: of every leader that serves the latest
 *  decree in force, unless it is in reclaim.
 */

#include "checker.h"

#include "lib/grant_model.h"
#include "node_view.h"
#include "util/hash.h"

#include <string.h>

#define STUCK_MS 2000 /* where nothing is amiss */

/*  A leader's table, while it is read. */
typedef struct {
    sim_checker *checker;
    uint8_t host;
    size_t place; /* of the leader */
    bool again;   /* of the same decree as last time */
    bool next;    /* ... and by one operation longer */
    uint32_t others;
    sim_seen seen[SIM_OBJECTS_MAX];
    lk_ticket tickets[SIM_QUEUE_MAX]; /* of one object */
    size_t count;
    sim_claim *claims[SIM_CLAIMS_MAX]; /* of that object */
    size_t claim_count;
    lk_ticket pending[SIM_QUEUE_MAX]; /* of sets, not asked for yet */
    size_t pending_count;
} sim_reading;

/*  All claims of the object that is read. */
static void
gather_claims (sim_reading *self, uint8_t object)
{
    sim_checker *checker = self->checker;

    self->claim_count = 0;
    for (size_t i = 0; i < checker->claim_count; i++) {
        if (checker->claim[i].object == object) {
            self->claims[self->claim_count++] = &checker->claim[i];
        }
    }
}

/*  The request of a ticket that is not held yet, if its host's session is
 *  still that of the ticket. */
static sim_claim *
find_waiting (const sim_reading *self, const lk_ticket *ticket)
{
    sim_checker *checker = self->checker;
    const sim_service *service = &checker->service[ticket->request.host];

    if (ticket->request.session != service->session
        || checker->now >= service->lease_until) {
        return NULL;
    }
    if (ticket->remote.number != 0) {
        sim_claim *claim = sim_checker_remote_claim (
            checker, &ticket->remote,
            sim_checker_object (checker, ticket->object));
        return claim && !claim->held
                       && claim->unregistered < ticket->remote.number
                   ? claim
                   : NULL;
    }
    for (size_t i = 0; i < self->claim_count; i++) {
        sim_claim *claim = self->claims[i];
        if ((uint32_t) claim->who.serial == ticket->pid && !claim->held
            && claim->who.host == ticket->request.host) {
            return claim;
        }
    }
    return NULL;
}

/*  Notes that a request waits in this leader's table; or that it does not any
 *  more: it may lose what it was granted before it is told. In another session
 *  it begins anew. */
static void
note_queued (const sim_reading *self, const lk_ticket *ticket)
{
    size_t leaders = sim_checker_latest (self->checker)->leader_count;
    uint64_t all = ((uint64_t) 1 << leaders) - 1;
    sim_claim *claim = ticket->number ? find_waiting (self, ticket) : NULL;
    const uint64_t session =
        ticket->remote.number != 0 ? 1 : ticket->request.session;

    if (!claim) {
        return;
    }
    if (ticket->token != 0 || claim->queued_session != session
        || (claim->queued_number != ticket->number
            && sim_claim_may_be_over (self->checker, claim))) {
        claim->queued_at = 0;
        claim->queued_by = 0;
        claim->queued_session = session;
    }
    if (ticket->token == 0) {
        claim->queued_seen = self->checker->now;
        claim->queued_number = ticket->number;
        claim->queued_by |= (uint64_t) 1 << self->place;
        if (claim->queued_by == all && claim->queued_at == 0) {
            claim->queued_at = self->checker->now;
        }
    }
}

static void
check_not_returned (sim_checker *self, uint8_t host, const lk_ticket *ticket)
{
    for (size_t i = 0; i < SIM_RETURNED_MAX; i++) {
        if (self->returned[i].key == ticket->key
            && self->returned[i].token == ticket->token) {
            sim_checker_fail (self,
                              "UNLOCKED was told, but h%d still has "
                              "the ticket with token %llx",
                              host, (unsigned long long) ticket->token);
        }
    }
}

/*  What is told of a change of type comes later than the change, or is that
 *  it failed: then the change back is under way. */
static bool
is_token_of (const sim_claim *claim, const lk_ticket *ticket)
{
    return claim->token == ticket->token
           || (claim->asked_turn > 0 && ticket->turn > 0
               && claim->token < ticket->token);
}

/*  Notes the claim that a held ticket bears out; false if there is none. */
static bool
match_claim (const sim_reading *self, const lk_ticket *ticket)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        sim_claim *claim = self->claims[i];
        if (!claim->held || claim->key != ticket->key) {
            continue;
        }
        if (!is_token_of (claim, ticket)) {
            sim_checker_fail (self->checker,
                              "h%d's table has token %llx for what was "
                              "told as %llx",
                              self->host, (unsigned long long) ticket->token,
                              (unsigned long long) claim->token);
        }
        if (claim->kept && !ticket->kept) {
            sim_checker_fail (self->checker,
                              "h%d's table has a static lock of h%d, token "
                              "%llx, that is not kept",
                              self->host, claim->who.host,
                              (unsigned long long) claim->token);
        }
        claim->found = self->checker->look;
        claim->stored_bound = ticket->mode.bound;
        claim->fragile = false;
        return true;
    }
    return false;
}

/*  protocol 9.16.4 */
static void
check_durable (sim_checker *self, uint8_t host)
{
    for (size_t i = 0; i < self->claim_count; i++) {
        sim_claim *claim = &self->claim[i];
        if (claim->found == self->look) {
            continue;
        }
        if (sim_claim_owed (self, claim)) {
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

/*  protocol 9.16.4, for what is only counted. */
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

/*  -------------------------------------------------------- since last time */

static bool
same_request (const lk_request_id *a, const lk_request_id *b)
{
    return a->serial == b->serial && a->session == b->session
           && a->host == b->host;
}

static sim_seen
look_at (const lk_ticket *tickets, size_t count, uint64_t top)
{
    sim_seen seen = {.active = 0};

    for (size_t i = 0; i < count && tickets[i].token != 0; i++) {
        seen.active++;
        seen.former += tickets[i].token <= top;
        if (seen.top < tickets[i].token) {
            seen.top = tickets[i].token;
        }
        if (tickets[i].mode.bound != 0) {
            seen.bound = tickets[i].mode.bound;
        }
        if (tickets[i].upgrade) {
            seen.upgrade = tickets[i].request;
            seen.upgrade_turn = tickets[i].turn + 1;
        }
    }
    return seen;
}

/*  Nobody waits who need not. When a home begins, those of sessions that are
 *  over are left out; what becomes of that is an operation, which comes soon
 *  where nothing is amiss. */
static void
check_stuck (sim_checker *self, uint8_t host, const sim_seen *former,
             sim_seen *seen, const lk_ticket *stuck)
{
    bool was_well = former && former->stuck_since == 0;

    if (!stuck) {
        return;
    }
    seen->stuck_since = former && !was_well ? former->stuck_since : self->now;
    if (was_well
        || (self->settled_at > 0 && self->now - seen->stuck_since > STUCK_MS)) {
        sim_checker_fail (
            self,
            "STUCK: in h%d's table ticket %llx of h%d, type %d, waits, though "
            "it need not (%zu hold it)",
            host, (unsigned long long) stuck->number, stuck->request.host,
            (int) stuck->mode.type, seen->active);
    }
}

/*  Who waits to be exclusive is passed by nobody; and nobody is told that more
 *  hold it than did. */
static void
check_since (sim_checker *self, uint8_t host, const sim_seen *former,
             const sim_seen *seen, const lk_ticket *tickets)
{
    size_t fresh = 0;

    if (seen->upgrade_turn != 0 && seen->upgrade_turn == former->upgrade_turn
        && same_request (&seen->upgrade, &former->upgrade)
        && seen->top > former->top) {
        sim_checker_fail (self,
                          "PASSED: in h%d's table one of h%d waits to be "
                          "exclusive, and token %llx was granted",
                          host, seen->upgrade.host,
                          (unsigned long long) seen->top);
    }
    for (size_t i = 0; i < seen->active; i++) {
        fresh += tickets[i].token > former->top;
    }
    for (size_t i = 0; i < seen->active; i++) {
        if (tickets[i].token <= former->top) {
            continue;
        }
        if (tickets[i].mode.type == LK_SEMAPHORE && former->bound != 0
            && tickets[i].mode.bound == former->bound
            && tickets[i].ordinal > former->bound) {
            sim_checker_fail (self,
                              "TOO MANY: h%d's table has unit %u of h%d, the "
                              "stored bound was %u",
                              host, tickets[i].ordinal, tickets[i].request.host,
                              former->bound);
        }
        if (tickets[i].ordinal > former->active + fresh) {
            sim_checker_fail (self,
                              "ORDINAL: %u of a ticket of h%d in h%d's table, "
                              "is %zu or less",
                              tickets[i].ordinal, tickets[i].request.host, host,
                              former->active + fresh);
        }
    }
}

/*  -------------------------------------------------------- one table */

static void
note_pending (sim_reading *self, const lk_ticket *ticket)
{
    if (ticket->number == 0 && ticket->token == 0
        && self->pending_count < SIM_QUEUE_MAX) {
        self->pending[self->pending_count++] = *ticket;
    }
}

/*  With what it was when it was read last time. */
static void
compare_queue (sim_reading *self, uint8_t object)
{
    sim_checker *checker = self->checker;
    const sim_seen *former =
        self->again ? &checker->service[self->host].of[object] : NULL;
    sim_seen *seen = &self->seen[object];

    *seen = look_at (self->tickets, self->count, former ? former->top : 0);
    if (former && self->next) {
        check_since (checker, self->host, former, seen, self->tickets);
    }
    check_stuck (checker, self->host, former, seen,
                 lk_model_next (self->tickets, self->count));
    if (seen->active > 0) {
        checker->object[object].holder = self->tickets[0].request.host;
    }
}

/*  All tickets of an object have been read. */
static void
end_queue (sim_reading *self)
{
    sim_checker *checker = self->checker;
    uint8_t object = self->count > 0
                         ? sim_checker_object (checker, self->tickets[0].object)
                         : SIM_ANY_OBJECT;

    gather_claims (self, object);
    for (size_t i = 0; i < self->count; i++) {
        const lk_ticket *ticket = &self->tickets[i];
        note_queued (self, ticket);
        note_pending (self, ticket);
        if (ticket->token != 0) {
            sim_said_note (checker, self->place, ticket, self->again);
            check_not_returned (checker, self->host, ticket);
            self->others += !match_claim (self, ticket);
        }
    }
    sim_checker_queue (checker, self->host, self->tickets, self->count);
    if (object != SIM_ANY_OBJECT) {
        compare_queue (self, object);
    }
    self->count = 0;
}

static bool
same_object (const lk_ticket *a, const lk_ticket *b)
{
    return a->object.size == b->object.size
           && memcmp (a->object.data, b->object.data, a->object.size) == 0;
}

/*  Its place among the leaders of the latest decree in force. */
static uint8_t
home_of (const sim_checker *self, lk_name object)
{
    const lk_decree *decree = sim_checker_latest (self);

    return (uint8_t) (lk_hash64 (object.data, object.size)
                      % decree->leader_count);
}

/*  Who was granted in this term in front of a pending one of its set, with the
 *  same home, took it along. */
static void
check_pending (const sim_reading *self, const lk_ticket *ticket)
{
    uint64_t term = sim_checker_latest (self->checker)->term.number;

    for (size_t i = 0; i < self->pending_count; i++) {
        const lk_ticket *next = &self->pending[i];
        if (ticket->token >> 32 == term && ticket->rest > 0
            && ticket->request.serial + 1 == next->request.serial
            && ticket->request.session == next->request.session
            && ticket->request.host == next->request.host
            && home_of (self->checker, ticket->object)
                   == home_of (self->checker, next->object)) {
            sim_checker_fail (self->checker,
                              "LEFT BEHIND: in h%d's table serial %llu of h%d "
                              "is held, and the next of its set does not wait",
                              self->host,
                              (unsigned long long) ticket->request.serial,
                              ticket->request.host);
        }
    }
}

static void
read_sets (const sim_reading *self, lk_node *node)
{
    lk_ticket ticket;
    size_t cursor = 0;

    while (self->pending_count > 0
           && lk_node_next_ticket (node, &cursor, &ticket)) {
        check_pending (self, &ticket);
    }
}

/*  Objects that are not held any more by all who held them. */
static void
note_vanished (const sim_reading *self)
{
    sim_checker *checker = self->checker;
    const sim_seen *former = checker->service[self->host].of;

    for (size_t i = 0; self->again && i < checker->object_count; i++) {
        if (self->seen[i].former < former[i].active) {
            checker->object[i].vanished_at = checker->now;
        }
    }
}

static void
check_table (sim_checker *self, size_t place, lk_node *node, bool again,
             bool next)
{
    static sim_reading reading;
    sim_service *service;
    lk_ticket ticket;
    size_t cursor = 0;

    reading.checker = self;
    reading.host = sim_checker_latest (self)->leader[place];
    reading.place = place;
    reading.again = again;
    reading.next = next;
    reading.others = 0;
    reading.count = reading.pending_count = 0;
    memset (reading.seen, 0, sizeof reading.seen);
    service = &self->service[reading.host];
    self->look++;
    while (lk_node_next_ticket (node, &cursor, &ticket)) {
        if (reading.count > 0
            && (reading.count == SIM_QUEUE_MAX
                || !same_object (&reading.tickets[0], &ticket))) {
            end_queue (&reading);
        }
        reading.tickets[reading.count++] = ticket;
    }
    end_queue (&reading);
    read_sets (&reading, node);
    note_vanished (&reading);
    memcpy (service->of, reading.seen, sizeof service->of);
    check_durable (self, reading.host);
    check_ballast (self, reading.host, reading.others);
}

void
sim_checker_spoils (sim_checker *self, uint8_t host, lk_term term)
{
    self->spoilt = host;
    self->spoilt_term = term;
}

static bool
is_spoilt (const sim_checker *self, uint8_t host, lk_term term)
{
    return host == self->spoilt
           && sim_term_compare (term, self->spoilt_term) == 0;
}

/*  Whether the node serves the latest decree, and is past its reclaim; or did
 *  so when it was looked into before: it may be sealed in the very step that
 *  brought it an operation, and keeps what it has, be it on disk. */
static bool
is_valid (const sim_checker *self, uint8_t host, const lk_node *node)
{
    const lk_table *table = node ? lk_node_table (node) : NULL;
    const bool served = self->service[host].seen_in == self->latest + 1;

    return table && table->reclaim == 0 && !lk_node_view (node).late
           && !is_spoilt (self, host, table->decree.term)
           && sim_term_compare (table->decree.term,
                                sim_checker_latest (self)->term)
                  == 0
           && (served || lk_node_serves (node));
}

/*  Not as its pings say: where all other hosts are gone and forgotten it sends
 *  none. */
void
sim_checker_reclaimed (sim_checker *self, uint8_t host, const lk_node *node)
{
    if (lk_node_table (node)->reclaim != 0) {
        sim_checker_fail (self, "LIVENESS: reclaim on h%d never ends", host);
    }
}

/*  Looks into a table if it has changed since the last look into it. */
static void
look_into (sim_checker *self, size_t place, lk_node *node, bool changed)
{
    sim_service *service =
        &self->service[sim_checker_latest (self)->leader[place]];
    /*  How many operations it has seen in its term: the same number is the
     *  same table. */
    uint64_t length = lk_table_length (lk_node_table (node));
    bool again =
        self->latest + 1 == service->seen_in && service->seen <= length;

    uint64_t former = service->seen;
    if (changed && again && former == length) {
        return;
    }
    service->seen = length;
    service->seen_in = self->latest + 1;
    check_table (self, place, node, again, again && former + 1 == length);
    service->look = self->look;
    memcpy (service->read, lk_node_table (node)->sequence,
            sizeof service->read);
}

void
sim_checker_tables (sim_checker *self, lk_node *const *nodes, size_t count)
{
    const lk_decree *latest = sim_checker_latest (self);

    for (size_t place = 0; latest && place < latest->leader_count; place++) {
        uint8_t host = latest->leader[place];
        if (host < count && is_valid (self, host, nodes[host])) {
            look_into (self, place, nodes[host], false);
        }
    }
}

void
sim_checker_stepped (sim_checker *self, uint8_t host, lk_node *node)
{
    const lk_decree *latest = sim_checker_latest (self);

    for (size_t place = 0; latest && place < latest->leader_count; place++) {
        if (latest->leader[place] == host && is_valid (self, host, node)) {
            look_into (self, place, node, true);
        }
    }
    sim_said_compare (self);
}
