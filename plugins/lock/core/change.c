/*  change.c - one member more or less
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "change.h"

#include "node_private.h"

#include <string.h>

#define CHANGE_MS 30000 /* until it is given up: two elections, a reclaim */
#define AGAIN_MS 1000   /* between elections for it */

void
lk_change_init (lk_change *self)
{
    memset (self, 0, sizeof *self);
    self->host = LK_NOBODY;
}

/*  -------------------------------------------------------- the wish */

/*  What the wish makes of these members; the same if it changes nothing, or
 *  asks for too many or none. */
static lk_hosts
apply_wish (const lk_change *self, lk_hosts members)
{
    if (self->host == LK_NOBODY) {
        return members;
    }
    lk_hosts bit = LK_HOST_BIT (self->host);
    lk_hosts wanted = self->add ? members | bit : members & ~bit;
    bool fits = wanted != 0 && lk_hosts_count (wanted) <= LK_MEMBERS_MAX;
    return fits ? wanted : members;
}

lk_hosts
lk_election_members (const lk_node *node)
{
    const lk_host wish = node->change.host;
    return lk_known_members (node)
           | (wish != LK_NOBODY ? LK_HOST_BIT (wish) : 0);
}

/*  The latest decree in force, as far as known, has it so. */
static bool
is_so (const lk_node *node, lk_host host, bool add)
{
    const lk_decree *decree = &node->in_force;
    return decree->leader_count > 0
           && lk_hosts_has (decree->members, host) == add;
}

static bool
enough_heard (const lk_node *node, lk_hosts members)
{
    return lk_is_quorum (members, lk_node_sees (node));
}

/*  Whether one of these members is heard and may lead. */
static bool
some_may_lead (const lk_node *node, lk_hosts members)
{
    lk_hosts seen = lk_node_sees (node) & members;
    while (seen) {
        lk_host host = lk_hosts_take (&seen);
        if (host == node->config.self ? node->config.eligible
                                      : node->peer[host].eligible) {
            return true;
        }
    }
    return false;
}

/*  What is in the way now, and why; or LK_OK. */
static lk_err
find_problem (const lk_node *node, lk_host host, bool add, const char **text)
{
    lk_hosts members = node->facts.active.members;
    if (!lk_hosts_has (members, node->config.self)) {
        *text = "the leader that was asked is no member any more";
        return LK_ISOLATED; /* its successor may */
    }
    if (add && lk_hosts_count (members) >= LK_MEMBERS_MAX) {
        *text = "there are as many members as there can be";
        return LK_REFUSED;
    }
    if (!add && lk_hosts_count (members) < 2) {
        *text = "it is the last member";
        return LK_REFUSED;
    }
    if (node->in_force.leader_count == 0) {
        *text = "no leaders are known";
        return LK_ISOLATED;
    }
    if (add && !lk_peer_heard (node, host)) {
        *text = "its lock service is not heard";
        return LK_ISOLATED;
    }
    return LK_OK;
}

/*  The same of what is only looked at before it begins. */
static lk_err
find_first_problem (const lk_node *node, const char **text)
{
    lk_hosts active = node->facts.active.members;
    lk_hosts wanted = apply_wish (&node->change, active);
    lk_err error =
        find_problem (node, node->change.host, node->change.add, text);
    if (error != LK_OK) {
        return error;
    }
    if (!enough_heard (node, active) || !enough_heard (node, wanted)) {
        *text = "too few of the members before or after it are heard";
        return LK_ISOLATED;
    }
    if (!some_may_lead (node, wanted)) {
        *text = "none of the members that are left and heard may lead";
        return LK_REFUSED;
    }
    return LK_OK;
}

static void
finish (lk_node *node, lk_err error, const char *text)
{
    lk_change *self = &node->change;
    lk_out_trace (node, LK_TRACE_NOTICE, "change of members: %s host=%s: %s",
                  self->add ? "add" : "remove", lk_out_host (node, self->host),
                  text);
    self->host = LK_NOBODY;
    lk_out_changed (node, error, text);
}

void
lk_on_change (lk_node *node, const lk_event *event)
{
    lk_change *self = &node->change;
    if (self->host != LK_NOBODY) {
        lk_out_changed (node, LK_OVERLOADED, "another change is under way");
        return;
    }
    self->host = event->host;
    self->add = event->add;
    self->until_ms = node->now_ms + CHANGE_MS;
    self->next_ms = node->now_ms;
    const char *problem;
    lk_err error = find_first_problem (node, &problem);
    if (is_so (node, event->host, event->add)) {
        finish (node, LK_OK, "is so already");
    } else if (error != LK_OK) {
        finish (node, error, problem);
    } else {
        lk_out_trace (
            node, LK_TRACE_NOTICE, "change of members: %s host=%s: begins",
            event->add ? "add" : "remove", lk_out_host (node, event->host));
        lk_election_run (node);
    }
}

void
lk_change_run (lk_node *node)
{
    const lk_change *self = &node->change;
    if (self->host == LK_NOBODY) {
        return;
    }
    const char *problem;
    lk_err error = find_problem (node, self->host, self->add, &problem);
    if (is_so (node, self->host, self->add)) {
        finish (node, LK_OK, "done");
    } else if (node->now_ms > self->until_ms) {
        finish (node, LK_TIMEDOUT, "not in time, but it may still come true");
    } else if (error != LK_OK && node->election.state == LK_ELECTION_IDLE) {
        finish (node, error, problem);
    }
}

void
lk_change_stop (lk_node *node)
{
    if (node->change.host != LK_NOBODY) {
        finish (node, LK_SHUTDOWN, "not done, but it may still come true");
    }
}

/*  -------------------------------------------------------- elections */

/*  A takeover during a reclaim would begin that again; one that cannot end well
 *  would only hold up all locks. */
bool
lk_change_is_due (const lk_node *node)
{
    const lk_change *self = &node->change;
    lk_hosts members = node->facts.active.members;
    lk_hosts wanted = apply_wish (self, members);
    return wanted != members && node->now_ms >= self->next_ms
           && node->in_reclaim == 0 && enough_heard (node, wanted)
           && some_may_lead (node, wanted);
}

void
lk_change_try (lk_node *node)
{
    node->change.next_ms =
        node->now_ms + AGAIN_MS + lk_rng_between (&node->rng, 0, AGAIN_MS / 2);
}

lk_hosts
lk_change_members (const lk_node *node, const lk_decree *previous)
{
    const lk_change *self = &node->change;
    bool may = !lk_term_is_zero (self->plain)
               && lk_term_equal (previous->term, self->plain);
    return may ? apply_wish (self, previous->members) : previous->members;
}

void
lk_change_in_force (lk_node *node, const lk_decree *decree,
                    const lk_decree *previous)
{
    if (decree->members == previous->members) {
        node->change.plain = decree->term;
        node->change.next_ms = node->now_ms;
    }
}
