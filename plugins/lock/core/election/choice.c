/*  choice.c - from votes to a decree
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "choice.h"

#include "util/assert.h"

#include <string.h>

lk_host
lk_choose_previous (const lk_msg_voted *vote, lk_hosts voted)
{
    lk_host best = LK_NOBODY;
    while (voted) {
        lk_host host = lk_hosts_take (&voted);
        if (best == LK_NOBODY
            || lk_term_compare (vote[host].active.term, vote[best].active.term)
                   > 0) {
            best = host;
        }
    }
    return best;
}

/*  -------------------------------------------------------- the holder */

/*  protocol 9.5.4 */
static bool
has_previous (const lk_choice *choice, lk_host host)
{
    lk_term term = choice->vote[host].holds.term;
    return !lk_term_is_zero (term)
           && lk_hosts_has (choice->previous->members, host)
           && lk_term_compare (term, choice->previous->term) >= 0;
}

/*  protocol 9.5.4, 9.18 */
static bool
holds_previous (const lk_choice *choice, lk_host host)
{
    return has_previous (choice, host) && !choice->vote[host].holds.late;
}

/*  protocol 9.5.4 */
static bool
holds_better (const lk_choice *choice, lk_host a, lk_host b)
{
    const lk_holds *x = &choice->vote[a].holds;
    const lk_holds *y = &choice->vote[b].holds;
    if (x->reclaim != y->reclaim) {
        return !x->reclaim;
    }
    int order = lk_term_compare (x->term, y->term);
    if (order != 0) {
        return order > 0;
    }
    if (x->length != y->length) {
        return x->length > y->length;
    }
    const bool stays = choice->vote[a].eligible && a != choice->leaves;
    if (stays != (choice->vote[b].eligible && b != choice->leaves)) {
        return stays;
    }
    return a == choice->proposer;
}

static lk_host
choose (const lk_choice *choice,
        bool (*fits) (const lk_choice *choice, lk_host host))
{
    lk_host best = LK_NOBODY;
    lk_hosts voted = choice->voted;
    if (choice->previous->leader_count == 0) {
        return LK_NOBODY;
    }
    while (voted) {
        lk_host host = lk_hosts_take (&voted);
        if (fits (choice, host)
            && (best == LK_NOBODY || holds_better (choice, host, best))) {
            best = host;
        }
    }
    return best;
}

lk_host
lk_choose_holder (const lk_choice *choice)
{
    return choose (choice, holds_previous);
}

lk_host
lk_choose_late_holder (const lk_choice *choice)
{
    return choose (choice, has_previous);
}

/*  -------------------------------------------------------- the leaders */

/*  protocol 9.5.4 */
int
lk_candidate_compare (const lk_candidate *a, const lk_candidate *b)
{
    if (a->random != b->random) {
        return a->random < b->random ? -1 : 1;
    }
    int order = memcmp (a->address, b->address, sizeof a->address);
    if (order != 0) {
        return order;
    }
    if (a->port != b->port) {
        return a->port < b->port ? -1 : 1;
    }
    return a->pid == b->pid ? 0 : a->pid < b->pid ? -1 : 1;
}

/*  The holder comes before all, since it needs no copy of the tickets; then
 *  sitting leaders that hold; a new member behind all: others do not know it,
 *  and would not let it enter. Who gives its place to a better one has it still
 *  if nothing comes of that. Protocol 9.5.4, 9.5.8. */
static int
rank (const lk_choice *choice, lk_host host)
{
    enum { HOLDER = -3, SITS, COMES, LEAVES };
    if (host == choice->leaves) {
        return LEAVES;
    }
    if (host == choice->holder) {
        return HOLDER;
    }
    if (!lk_hosts_has (choice->previous->members, host)) {
        return LK_PRIORITY_MAX + 1;
    }
    bool sits = lk_decree_place (choice->previous, host) >= 0;
    return sits && holds_previous (choice, host) ? SITS
           : host == choice->comes               ? COMES
                                   : choice->vote[host].candidate.priority;
}

/*  For the next place behind these leaders. Sitting ones stay wherever they
 *  are. Protocol 9.5.4. */
static bool
comes_before (const lk_choice *choice, lk_hosts leaders, lk_host a, lk_host b)
{
    int x = rank (choice, a);
    int y = rank (choice, b);
    if (x != y) {
        return x < y;
    }
    uint64_t apart = lk_places_spread (choice->places, leaders, a);
    uint64_t other = lk_places_spread (choice->places, leaders, b);
    if (x > 0 && apart != other) {
        return apart > other;
    }
    return lk_candidate_compare (&choice->vote[a].candidate,
                                 &choice->vote[b].candidate)
           < 0;
}

static bool
mutual (const lk_choice *choice, lk_host a, lk_host b)
{
    return a == b
           || (lk_hosts_has (choice->vote[a].sees, b)
               && lk_hosts_has (choice->vote[b].sees, a));
}

/*  Whether enough members will echo its pings. Who did not vote may hear it.
 *  Protocol 9.5.4. */
static bool
can_have_lease (const lk_choice *choice, lk_host host)
{
    lk_hosts echo = choice->vote[host].sees | LK_HOST_BIT (host);
    lk_hosts voted = choice->voted & ~LK_HOST_BIT (host);
    while (voted) {
        lk_host voter = lk_hosts_take (&voted);
        if (!lk_hosts_has (choice->vote[voter].sees, host)) {
            echo &= ~LK_HOST_BIT (voter);
        }
    }
    return lk_is_quorum (choice->members, echo);
}

/*  Whether a candidate sees, and is seen by, all that it has to work with.
 *  Protocol 9.5.4. */
static bool
fits (const lk_choice *choice, const lk_decree *decree, lk_host host)
{
    if (!mutual (choice, host, choice->proposer)
        || !can_have_lease (choice, host)) {
        return false;
    }
    if (decree->leader_count == 0 && choice->holder != LK_NOBODY
        && !mutual (choice, host, choice->holder)) {
        return false;
    }
    for (size_t place = 0; place < decree->leader_count; place++) {
        if (!mutual (choice, host, decree->leader[place])) {
            return false;
        }
    }
    return true;
}

static lk_host
take_first (const lk_choice *choice, const lk_decree *decree,
            lk_hosts *candidates)
{
    const lk_hosts leaders = lk_decree_leaders (decree);
    lk_hosts rest = *candidates;
    lk_host first = lk_hosts_take (&rest);
    while (rest) {
        lk_host host = lk_hosts_take (&rest);
        if (comes_before (choice, leaders, host, first)) {
            first = host;
        }
    }
    *candidates &= ~LK_HOST_BIT (first);
    return first;
}

bool
lk_choose_leaders (const lk_choice *choice, lk_decree *decree)
{
    lk_hosts candidates = 0;
    lk_hosts voted =
        choice->voted & choice->members & ~choice->places->arbiters;
    LK_ASSERT (choice->leaders_max <= LK_LEADERS_MAX);
    while (voted) {
        lk_host host = lk_hosts_take (&voted);
        if (choice->vote[host].eligible) {
            candidates |= LK_HOST_BIT (host);
        }
    }
    decree->leader_count = 0;
    while (candidates && decree->leader_count < choice->leaders_max) {
        lk_host host = take_first (choice, decree, &candidates);
        if (fits (choice, decree, host)) {
            decree->leader[decree->leader_count++] = host;
        }
    }
    /*  protocol 9.5.4 */
    return decree->leader_count > 0;
}
