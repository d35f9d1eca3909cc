/*  calm.c - what must hold in the end, when all faults are long over
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "calm.h"
#include "world.h"

#include <string.h>

#define TELL_MS 15000 /* to tell a holder that its lock was released */
#define FAIL(world, ...) sim_checker_fail (&(world)->checker, __VA_ARGS__)

static bool
is_whole (const sim_world *world, uint8_t a, uint8_t b)
{
    return !sim_network_is_cut (world, a, b)
           && !sim_network_is_cut (world, b, a);
}

lk_hosts
sim_calm_candidates (const sim_world *world, const lk_decree *decree)
{
    lk_hosts found = 0;

    for (uint8_t host = 0; host < world->base.count; host++) {
        int reached = 0;
        for (uint8_t other = 0; other < world->base.count; other++) {
            reached += (decree->members >> other & 1) && world->base.node[other]
                       && is_whole (world, host, other);
        }
        if ((decree->members >> host & 1) && !world->host[host].gone_for_good
            && sim_may_lead (world, host)
            && reached > __builtin_popcountll (decree->members) / 2) {
            found |= LK_HOST_BIT (host);
        }
    }
    return found;
}

/*  As many leaders as can be; one less where a link between two is dead. */
static int
leaders_wanted (const sim_world *world, const lk_decree *decree)
{
    lk_hosts can = sim_calm_candidates (world, decree);
    int count = __builtin_popcountll (can);
    bool whole = true;

    for (uint8_t a = 0; a < world->base.count; a++) {
        for (uint8_t b = 0; b < a; b++) {
            whole &= !(can >> a & can >> b & 1) || is_whole (world, a, b);
        }
    }
    count -= !whole;
    return count < world->common.leaders_max ? count
                                             : world->common.leaders_max;
}

static void
check_leader_count (sim_world *world, const lk_decree *decree)
{
    int wanted = leaders_wanted (world, decree);

    if (decree->leader_count < wanted) {
        FAIL (world, "LIVENESS: %d leaders, could be %d", decree->leader_count,
              wanted);
    }
}

static bool
is_changing (const sim_world *world)
{
    for (uint8_t host = 0; host < world->base.count; host++) {
        if (world->host[host].changes != 0) {
            return true;
        }
    }
    return false;
}

/*  What there is a reason for in the calm: more leaders, when a reclaim is
 *  over, better ones, and other members. */
void
sim_calm_elects (sim_world *world, uint8_t host)
{
    const lk_decree *latest = sim_checker_latest (&world->checker);
    uint8_t comes, leaves;

    if (world->checker.settled_at > 0 && latest && !is_changing (world)
        && latest->leader_count >= leaders_wanted (world, latest)
        && !sim_places_improvable (world, latest, &comes, &leaves)) {
        FAIL (world, "RESTLESS: h%d holds an election without a reason", host);
    }
}

/*  Where all their tickets are told at once. */
static void
check_spread (sim_world *world, const lk_decree *decree)
{
    uint8_t comes, leaves;

    if (world->ballast.present || is_changing (world)
        || decree->leader_count < leaders_wanted (world, decree)) {
        return;
    }
    if (sim_places_improvable (world, decree, &comes, &leaves)) {
        FAIL (world, "LIVENESS: h%d does not lead, and ought to instead of h%d",
              comes, leaves);
    } else if (!sim_places_are_best (world, decree)) {
        FAIL (world, "LIVENESS: others would be better spread than leaders");
    }
}

static void
check_leader (sim_world *world, const lk_decree *decree, uint8_t host)
{
    lk_node *node = world->base.node[host];
    lk_node_status status;

    if (!node) {
        FAIL (world, "LIVENESS: h%d leads and is not there", host);
        return;
    }
    lk_node_get_status (node, &status);
    if (!lk_node_serves (node)
        || sim_term_compare (status.decree.term, decree->term) != 0) {
        FAIL (world,
              "LIVENESS: leader h%d does not serve decree %llu (%s, "
              "knows %llu)",
              host, (unsigned long long) decree->term.number, status.phase,
              (unsigned long long) status.decree.term.number);
    }
    sim_checker_reclaimed (&world->checker, host, node);
}

/*  -------------------------------------------------------- tables */

static bool
same_ticket (const lk_ticket *a, const lk_ticket *b)
{
    return a->request.host == b->request.host
           && a->request.session == b->request.session
           && a->request.serial == b->request.serial && a->token == b->token
           && a->number == b->number && a->key == b->key;
}

static bool
has_ticket (lk_node *node, const lk_ticket *wanted)
{
    lk_ticket ticket;
    size_t cursor = 0;

    while (lk_node_next_ticket (node, &cursor, &ticket)) {
        if (same_ticket (&ticket, wanted)) {
            return true;
        }
    }
    return false;
}

/*  Whether all that one has the other has, too. Two homes' objects may have
 *  come in another order. */
static void
check_same_tables (sim_world *world, uint8_t one, uint8_t other)
{
    lk_ticket ticket;
    size_t cursor = 0;

    while (lk_node_next_ticket (world->base.node[one], &cursor, &ticket)) {
        if (!has_ticket (world->base.node[other], &ticket)) {
            FAIL (world,
                  "LIVENESS: h%d has a ticket of h%d, serial %llu, that h%d "
                  "lacks",
                  one, ticket.request.host,
                  (unsigned long long) ticket.request.serial, other);
            return;
        }
    }
}

static void
check_no_leak (sim_world *world, uint8_t leader)
{
    lk_ticket ticket;
    size_t cursor = 0;

    while (lk_node_next_ticket (world->base.node[leader], &cursor, &ticket)) {
        uint8_t host = ticket.request.host;
        if (ticket.remote.number != 0
            && sim_remote_knows (world, &ticket.remote, ticket.object)) {
            continue;
        }
        if (host >= world->base.count || !world->base.node[host]
            || (!sim_apps_knows (world, host, ticket.object)
                && !sim_client_knows (world, host, ticket.object))) {
            FAIL (world,
                  "LIVENESS: ticket of h%d, session %llu "
                  "serial %llu token %llx, that nobody knows of",
                  host, (unsigned long long) ticket.request.session,
                  (unsigned long long) ticket.request.serial,
                  (unsigned long long) ticket.token);
        }
    }
}

/*  -------------------------------------------------------- hosts */

bool
sim_calm_reaches (const sim_world *world, const lk_decree *decree, uint8_t host)
{
    for (size_t i = 0; i < decree->leader_count; i++) {
        uint8_t leader = decree->leader[i];
        if (is_whole (world, host, leader)) {
            return true;
        }
    }
    return false;
}

bool
sim_calm_reaches_all (const sim_world *world, const lk_decree *decree,
                      uint8_t host)
{
    for (size_t i = 0; i < decree->leader_count; i++) {
        if (!is_whole (world, host, decree->leader[i])) {
            return false;
        }
    }
    return true;
}

static void
check_host (sim_world *world, uint8_t host)
{
    const sim_request *request = sim_apps_unanswered (world, host);
    lk_node_status status;

    lk_node_get_status (world->base.node[host], &status);
    if (!status.ready) {
        FAIL (world, "LIVENESS: h%d is not ready (%s, session %llu)", host,
              status.phase, (unsigned long long) status.session);
    }
    if (status.lease_until_ms <= sim_host_clock (world, host)) {
        FAIL (world, "LIVENESS: h%d has no lease", host);
    }
    if (sim_client_waits (world, host)) {
        FAIL (world, "LIVENESS: a request of the client of h%d is not answered",
              host);
    }
    if (sim_dining_waits (world, host)) {
        FAIL (world, "LIVENESS: a diner of h%d is not served", host);
    }
    if (request) {
        FAIL (world,
              "LIVENESS: request %llu of h%d is not answered (state "
              "%d)",
              (unsigned long long) request->serial, host, (int) request->state);
    }
}

/*  Each lock that was told and ended by its lease was told to be lost. */
void
sim_calm_check_told (sim_world *world)
{
    for (size_t i = 0; i < world->checker.claim_count; i++) {
        const sim_claim *claim = &world->checker.claim[i];
        if (claim->who.host < SIM_HOSTS_MAX && world->base.node[claim->who.host]
            && sim_claim_untold (&world->checker, claim)) {
            FAIL (world,
                  "LIVENESS: request %llu of h%d lost its lock and "
                  "was never told",
                  (unsigned long long) claim->who.serial, claim->who.host);
        }
    }
}

void
sim_calm_check_releases (sim_world *world)
{
    const lk_decree *decree = sim_checker_latest (&world->checker);

    for (uint8_t host = 0; decree && host < world->base.count; host++) {
        if (world->base.node[host] && sim_calm_reaches (world, decree, host)) {
            sim_checker_releases (&world->checker, host, TELL_MS);
        }
    }
}

void
sim_calm_check (sim_world *world)
{
    const lk_decree *decree = sim_checker_latest (&world->checker);

    if (!decree) {
        FAIL (world, "LIVENESS: no leaders");
        return;
    }
    check_leader_count (world, decree);
    check_spread (world, decree);
    for (size_t i = 0; i < decree->leader_count; i++) {
        check_leader (world, decree, decree->leader[i]);
        if (sim_checker_failed (&world->checker)) {
            return;
        }
        check_same_tables (world, decree->leader[0], decree->leader[i]);
        check_same_tables (world, decree->leader[i], decree->leader[0]);
    }
    check_no_leak (world, decree->leader[0]);
    for (uint8_t host = 0; host < world->base.count; host++) {
        if (world->base.node[host] && sim_calm_reaches (world, decree, host)) {
            if (!sim_is_arbiter (world, host)) {
                check_host (world, host);
            }
            sim_settings_check_calm (world, host);
        }
    }
    sim_calm_check_told (world);
    sim_remotes_check_calm (world);
}
