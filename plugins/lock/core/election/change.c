/*  change.c - one member more or less
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "change.h"

#include "election_private.h"

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
lk_election_members (const lk_election *election)
{
    const lk_host wish = election->change.host;
    return lk_known_members (election->leader)
           | (wish != LK_NOBODY ? LK_HOST_BIT (wish) : 0);
}

/*  The latest decree in force, as far as known, has it so. */
static bool
is_so (const lk_election *election, lk_host host, bool add)
{
    const lk_decree *decree = &election->core->in_force;
    return decree->leader_count > 0
           && lk_hosts_has (decree->members, host) == add;
}

static bool
enough_heard (const lk_election *election, lk_hosts members)
{
    return lk_is_quorum (members, lk_leader_sees (election->leader));
}

/*  Whether one of these members is heard and may lead. */
static bool
some_may_lead (const lk_election *election, lk_hosts members)
{
    lk_hosts seen = lk_leader_sees (election->leader) & members;
    while (seen) {
        lk_host host = lk_hosts_take (&seen);
        if (host == election->core->config.self
                ? election->core->config.eligible
                : election->core->peer[host].eligible) {
            return true;
        }
    }
    return false;
}

/*  What is in the way now, and why; or LK_OK. */
static lk_err
find_problem (const lk_election *election, lk_host host, bool add,
              const char **text)
{
    lk_hosts members = election->core->facts.active.members;
    if (!lk_hosts_has (members, election->core->config.self)) {
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
    if (election->core->in_force.leader_count == 0) {
        *text = "no leaders are known";
        return LK_ISOLATED;
    }
    if (add && !lk_peer_heard (election->core, host)) {
        *text = "its lock service is not heard";
        return LK_ISOLATED;
    }
    return LK_OK;
}

/*  The same of what is only looked at before it begins. */
static lk_err
find_first_problem (const lk_election *election, const char **text)
{
    lk_hosts active = election->core->facts.active.members;
    lk_hosts wanted = apply_wish (&election->change, active);
    lk_err error = find_problem (election, election->change.host,
                                 election->change.add, text);
    if (error != LK_OK) {
        return error;
    }
    if (!enough_heard (election, active) || !enough_heard (election, wanted)) {
        *text = "too few of the members before or after it are heard";
        return LK_ISOLATED;
    }
    if (!some_may_lead (election, wanted)) {
        *text = "none of the members that are left and heard may lead";
        return LK_REFUSED;
    }
    return LK_OK;
}

static void
finish (lk_election *election, lk_err error, const char *text)
{
    lk_change *self = &election->change;
    lk_out_trace (election->core, LK_TRACE_NOTICE,
                  "change of members: %s host=%s: %s",
                  self->add ? "add" : "remove",
                  lk_out_host (election->core, self->host), text);
    self->host = LK_NOBODY;
    lk_out_changed (election->core, error, text);
}

bool
lk_change_begin (lk_election *election, const lk_event *event)
{
    lk_change *self = &election->change;
    if (self->host != LK_NOBODY) {
        lk_out_changed (election->core, LK_OVERLOADED,
                        "another change is under way");
        return false;
    }
    self->host = event->host;
    self->add = event->add;
    self->until_ms = election->core->now_ms + CHANGE_MS;
    self->next_ms = election->core->now_ms;
    const char *problem;
    lk_err error = find_first_problem (election, &problem);
    if (is_so (election, event->host, event->add)) {
        finish (election, LK_OK, "is so already");
        return false;
    }
    if (error != LK_OK) {
        finish (election, error, problem);
        return false;
    }
    lk_out_trace (election->core, LK_TRACE_NOTICE,
                  "change of members: %s host=%s: begins",
                  event->add ? "add" : "remove",
                  lk_out_host (election->core, event->host));
    return true;
}

void
lk_change_run (lk_election *election)
{
    const lk_change *self = &election->change;
    if (self->host == LK_NOBODY) {
        return;
    }
    const char *problem;
    lk_err error = find_problem (election, self->host, self->add, &problem);
    if (is_so (election, self->host, self->add)) {
        finish (election, LK_OK, "done");
    } else if (election->core->now_ms > self->until_ms) {
        /*  protocol 9.15 */
        finish (election, LK_TIMEDOUT,
                "not in time, but it may still come true");
    } else if (error != LK_OK && election->state == LK_ELECTION_IDLE) {
        finish (election, error, problem);
    }
}

void
lk_change_stop (lk_election *election)
{
    if (election->change.host != LK_NOBODY) {
        finish (election, LK_SHUTDOWN, "not done, but it may still come true");
    }
}

/*  -------------------------------------------------------- elections */

/*  A takeover during a reclaim would begin that again; one that cannot end well
 *  would only hold up all locks. Protocol 9.15. */
bool
lk_change_is_due (const lk_election *election)
{
    const lk_change *self = &election->change;
    lk_hosts members = election->core->facts.active.members;
    lk_hosts wanted = apply_wish (self, members);
    return wanted != members && election->core->now_ms >= self->next_ms
           && election->core->in_reclaim == 0 && enough_heard (election, wanted)
           && some_may_lead (election, wanted);
}

void
lk_change_try (lk_election *election)
{
    election->change.next_ms =
        election->core->now_ms + AGAIN_MS
        + lk_rng_between (&election->core->rng, 0, AGAIN_MS / 2);
}

/*  protocol 9.15 */
lk_hosts
lk_change_members (const lk_election *election, const lk_decree *previous)
{
    const lk_change *self = &election->change;
    bool may = !lk_term_is_zero (self->plain)
               && lk_term_equal (previous->term, self->plain);
    return may ? apply_wish (self, previous->members) : previous->members;
}

/*  protocol 9.15 */
void
lk_change_in_force (lk_election *election, const lk_decree *decree,
                    const lk_decree *previous)
{
    if (decree->members == previous->members) {
        election->change.plain = decree->term;
        election->change.next_ms = election->core->now_ms;
    }
}
