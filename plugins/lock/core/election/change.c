/*  change.c - one member more or less, or other settings
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "change.h"

#include "able.h"
#include "election_private.h"

#include <string.h>

#define CHANGE_MS 30000 /* until it is given up: two elections, a reclaim */
#define AGAIN_MS 1000   /* between elections for it */
#define SETTLE_MS 10000 /* between changes of settings: each stops all locks */

void
lk_change_init (lk_change *self)
{
    memset (self, 0, sizeof *self);
    self->host = LK_NOBODY;
}

void
lk_change_clear (lk_change *self)
{
    lk_settings_unset (&self->text);
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
    lk_hosts wanted =
        self->wish == LK_WISH_ADD ? members | bit : members & ~bit;
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
is_so (const lk_election *election)
{
    const lk_change *self = &election->change;
    const lk_decree *decree = &election->core->in_force;
    if (decree->leader_count == 0) {
        return false;
    }
    return self->wish == LK_WISH_SETTINGS
               ? lk_settings_id_equal (decree->settings, self->text.id)
               : lk_hosts_has (decree->members, self->host)
                     == (self->wish == LK_WISH_ADD);
}

/*  What is in the way of another member, or of one less. */
static lk_err
find_problem_of_members (const lk_election *election, const char **text)
{
    const lk_change *self = &election->change;
    const bool add = self->wish == LK_WISH_ADD;
    lk_hosts members = election->core->facts.active.members;
    if (add && lk_hosts_count (members) >= LK_MEMBERS_MAX) {
        *text = "there are as many members as there can be";
        return LK_REFUSED;
    }
    if (!add && lk_hosts_count (members) < 2) {
        *text = "it is the last member";
        return LK_REFUSED;
    }
    if (add && !lk_peer_heard (election->core, self->host)) {
        *text = "its lock service is not heard";
        return LK_ISOLATED;
    }
    return LK_OK;
}

/*  protocol 9.17 */
static bool
is_outdated (const lk_election *election)
{
    const lk_change *self = &election->change;
    return self->wish == LK_WISH_SETTINGS
           && !lk_settings_id_equal (election->core->in_force.settings,
                                     self->base);
}

/*  What is in the way now, and why; or LK_OK. */
static lk_err
find_problem (const lk_election *election, const char **text)
{
    lk_hosts members = election->core->facts.active.members;
    if (!lk_hosts_has (members, election->core->config.self)) {
        *text = "the leader that was asked is no member any more";
        return LK_ISOLATED; /* its successor may */
    }
    if (election->core->in_force.leader_count == 0) {
        *text = "no leaders are known";
        return LK_ISOLATED;
    }
    if (is_outdated (election)) {
        *text = "the settings were changed meanwhile: they are not those that "
                "were edited";
        return LK_OUTDATED;
    }
    return election->change.wish == LK_WISH_SETTINGS
               ? LK_OK
               : find_problem_of_members (election, text);
}

/*  The same of what is only looked at before it begins. */
static lk_err
find_first_problem (const lk_election *election, const char **text)
{
    lk_hosts active = election->core->facts.active.members;
    lk_hosts wanted = apply_wish (&election->change, active);
    lk_err error = find_problem (election, text);
    if (error != LK_OK) {
        return error;
    }
    if (!lk_able_to_elect (election, active)
        || !lk_able_to_elect (election, wanted)) {
        *text = "too few of the members before or after it are heard";
        return LK_ISOLATED;
    }
    if (!lk_able_any (election, wanted)) {
        *text = "none of the members that are left and heard may lead";
        return LK_REFUSED;
    }
    return LK_OK;
}

/*  The change in words, for the log. */
static const char *
wish_of (const lk_election *election)
{
    static const char *const words[LK_WISHES] = {
        [LK_WISH_ADD] = "members: add",
        [LK_WISH_REMOVE] = "members: remove",
        [LK_WISH_SETTINGS] = "settings",
    };
    return words[election->change.wish];
}

static void
say (lk_election *election, const char *text)
{
    const lk_change *self = &election->change;
    if (self->wish == LK_WISH_SETTINGS) {
        lk_out_trace (election->core, LK_TRACE_NOTICE,
                      "change of %s version=%llu: %s", wish_of (election),
                      (unsigned long long) self->text.id.version, text);
    } else {
        lk_out_trace (election->core, LK_TRACE_NOTICE,
                      "change of %s host=%s: %s", wish_of (election),
                      lk_out_host (election->core, self->host), text);
    }
}

/*  An election for it to which nothing is promised yet. One that has votes goes
 *  on to its end: those who gave them serve nobody before. Protocol 9.15. */
static void
call_off (lk_election *election)
{
    if (election->state == LK_ELECTION_PAUSE
        && election->reason == LK_WHY_CHANGE) {
        election->state = LK_ELECTION_IDLE;
    }
}

static void
finish (lk_election *election, lk_err error, const char *text)
{
    lk_change *self = &election->change;
    say (election, text);
    self->wish = LK_WISH_NONE;
    self->host = LK_NOBODY;
    lk_settings_unset (&self->text);
    call_off (election);
    lk_out_changed (election->core, error, text);
}

static void
take_wish (lk_election *election, const lk_event *event)
{
    lk_change *self = &election->change;
    if (event->settings.data) {
        self->wish = LK_WISH_SETTINGS;
        self->base = event->base;
        lk_settings_set (&self->text,
                         lk_settings_id_of (election->core,
                                            event->base.version + 1,
                                            event->settings),
                         event->settings);
    } else {
        self->wish = event->add ? LK_WISH_ADD : LK_WISH_REMOVE;
        self->host = event->host;
    }
}

bool
lk_change_begin (lk_election *election, const lk_event *event)
{
    lk_change *self = &election->change;
    if (self->wish != LK_WISH_NONE) {
        lk_out_changed (election->core, LK_OVERLOADED,
                        "another change is under way");
        return false;
    }
    take_wish (election, event);
    self->until_ms = election->core->now_ms + CHANGE_MS;
    self->next_ms = election->core->now_ms;
    const char *problem;
    lk_err error = find_first_problem (election, &problem);
    if (is_so (election)) {
        finish (election, LK_OK, "is so already");
        return false;
    }
    if (error != LK_OK) {
        finish (election, error, problem);
        return false;
    }
    say (election, "begins");
    return true;
}

void
lk_change_run (lk_election *election)
{
    const lk_change *self = &election->change;
    if (self->wish == LK_WISH_NONE) {
        return;
    }
    const char *problem;
    lk_err error = find_problem (election, &problem);
    if (is_so (election)) {
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
    if (election->change.wish != LK_WISH_NONE) {
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
    const lk_core *core = election->core;
    lk_hosts members = core->facts.active.members;
    lk_hosts wanted = apply_wish (self, members);
    bool is_wanted = self->wish == LK_WISH_SETTINGS
                         ? core->now_ms - core->settings_ms >= SETTLE_MS
                         : wanted != members;
    return is_wanted && core->now_ms >= self->next_ms && core->in_reclaim == 0
           && lk_able_to_elect (election, wanted)
           && lk_able_any (election, wanted);
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

/*  protocol 9.17 */
lk_settings_id
lk_change_settings (const lk_election *election, const lk_decree *previous)
{
    const lk_change *self = &election->change;
    bool may = self->wish == LK_WISH_SETTINGS
               && lk_settings_id_equal (previous->settings, self->base);
    return may ? self->text.id : previous->settings;
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
