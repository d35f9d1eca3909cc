/*  recover.c - LOCKRECOVER: an operator has the cluster begin anew
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Without the cluster's name it says what it would do; with it, it does that.
 *  lockkeeper-protocol(7), 9.19.
 */

#include "recover.h"

#include "decree.h"
#include "out.h"

#include "net/log.h"
#include "net/random.h"
#include "wire/address.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PROBLEM_SIZE 320

/*  A request, and the generation that it would begin. */
typedef struct {
    lk_lockd *lockd;
    lk_node_status status;
    lk_generation next;
    lk_hosts without; /* members of the last decree that are sworn dead */
    lk_err error;
    char problem[PROBLEM_SIZE];
} recovery;

static bool __attribute__ ((format (printf, 3, 4)))
object (recovery *self, lk_err error, const char *format, ...)
{
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (self->problem, sizeof self->problem, format, arguments);
    va_end (arguments);
    self->error = error;
    return false;
}

/*  -------------------------------------------------------- members */

static lk_hosts
members_of (const recovery *self)
{
    return self->lockd->state.facts.active.members;
}

static const char *
name_of (const recovery *self, lk_host host)
{
    return lk_hostmap_name (&self->lockd->hostmap, host);
}

/*  The id of a member of the last decree; who stands still knows those that it
 *  has heard. */
static uint64_t
find_id (const recovery *self, const char *name)
{
    const lk_lockd *lockd = self->lockd;
    for (size_t i = 0; i < lockd->hostmap.count; i++) {
        if ((members_of (self) & LK_HOST_BIT (i))
            && strcmp (name_of (self, (lk_host) i), name) == 0) {
            return lk_hostmap_id (&lockd->hostmap, (lk_host) i);
        }
    }
    if (lockd->state.has_rival) {
        return strcmp (name, lk_bus_host (lockd->bus)) == 0
                   ? lockd->state.id
                   : lk_peers_id_of (&lockd->peers, name);
    }
    return 0;
}

static bool
add_member (recovery *self, const char *name)
{
    lk_generation *next = &self->next;
    for (size_t i = 0; i < next->count; i++) {
        if (strcmp (next->member[i].host, name) == 0) {
            return true;
        }
    }
    if (!lk_address_is_name (lk_slice_of (name))) {
        return object (self, LK_INVALID, "'%.63s' is no name of a host", name);
    }
    if (next->count == LK_MEMBERS_MAX) {
        return object (self, LK_INVALID, "there can be %d members at most",
                       LK_MEMBERS_MAX);
    }
    const uint64_t id = find_id (self, name);
    if (id == 0) {
        return object (self, LK_REFUSED,
                       "host '%s' is no member of the last decree that this "
                       "host knows, or was never heard: it can join later",
                       name);
    }
    lk_generation_member *member = &next->member[next->count++];
    snprintf (member->host, sizeof member->host, "%s", name);
    member->former = id;
    member->id = lk_random_id ();
    return true;
}

/*  Ourselves, and who is named. */
static bool
read_members (recovery *self, const lk_message *request)
{
    const char *name;
    if (!add_member (self, lk_bus_host (self->lockd->bus))) {
        return object (self, LK_REFUSED,
                       "this host is no member of the cluster: run it on one "
                       "that is");
    }
    for (size_t i = 0; (name = lk_message_item (request, "hosts", i)) != NULL;
         i++) {
        if (!add_member (self, name)) {
            return false;
        }
    }
    for (size_t i = 0; i < self->lockd->hostmap.count; i++) {
        if ((members_of (self) & LK_HOST_BIT (i))
            && !lk_generation_find_former (
                &self->next, name_of (self, (lk_host) i),
                lk_hostmap_id (&self->lockd->hostmap, (lk_host) i))) {
            self->without |= LK_HOST_BIT (i);
        }
    }
    return true;
}

/*  -------------------------------------------------------- objections */

static bool
are_dead (recovery *self)
{
    lk_hosts heard = self->without & self->status.sees;
    if (heard) {
        return object (self, LK_REFUSED,
                       "host '%s' is heard: stop its lock service first, or "
                       "name it as a member",
                       name_of (self, lk_hosts_take (&heard)));
    }
    return true;
}

/*  There is a way without a loss. */
static bool
is_needed (recovery *self)
{
    const lk_hosts members = members_of (self);
    if (self->lockd->state.has_rival) {
        return true;
    }
    if (lk_is_quorum (members, self->status.sees & members)) {
        return object (self, LK_REFUSED,
                       "a majority of the members is there: `lockkeeper "
                       "cluster remove` takes one out, and no lock is lost");
    }
    if (self->without == 0) {
        return object (self, LK_REFUSED,
                       "all members are named: start their lock services, and "
                       "no lock is lost");
    }
    return true;
}

static bool
has_settings (recovery *self)
{
    if (self->next.settings.version > 0 && !self->status.settings_text.data) {
        return object (self, LK_REFUSED,
                       "the settings of this host are damaged: run it on "
                       "another one");
    }
    return true;
}

/*  Above all terms that this host has promised or heard of. */
static bool
choose_terms (recovery *self, const lk_message *request)
{
    const lk_facts *facts = &self->lockd->state.facts;
    const uint64_t told =
        (uint64_t) lk_message_number (request, "token_above", 0);
    uint64_t last = facts->promised.number;
    if (self->status.decree.term.number > last) {
        last = self->status.decree.term.number;
    }
    self->next.above = last + LK_GENERATION_GAP;
    if (self->next.above >= LK_TERM_NUMBER_MAX) {
        return object (self, LK_REFUSED, "there are no more terms");
    }
    if ((self->next.above + 1) << 32 <= told) {
        return object (self, LK_REFUSED,
                       "tokens would begin at %" PRIu64 ", not above %" PRIu64
                       ": this host did not hear of the last leaders",
                       (self->next.above + 1) << 32, told);
    }
    return true;
}

static bool
make_plan (recovery *self, const lk_message *request)
{
    const lk_lock_state *state = &self->lockd->state;
    lk_node_get_status (self->lockd->node, &self->status);
    self->next.number = state->generation.number + 1;
    self->next.id = lk_random_id ();
    self->next.settings = state->facts.active.settings;
    return read_members (self, request) && are_dead (self) && is_needed (self)
           && has_settings (self) && choose_terms (self, request);
}

/*  -------------------------------------------------------- answers */

static lk_message *
new_answer (const recovery *self, const lk_message *request, bool begun)
{
    const lk_lockd *lockd = self->lockd;
    lk_message *answer = lk_message_reply (request, "LOCKRECOVER");
    lk_message_set_text (answer, "served_by", lk_bus_host (lockd->bus));
    lk_message_set_text (answer, "cluster", lockd->state.cluster);
    lk_message_set_flag (answer, "begun", begun);
    lk_message_set_number (answer, "generation", (int64_t) self->next.number);
    for (size_t i = 0; i < self->next.count; i++) {
        lk_message_add_item (answer, "members", self->next.member[i].host);
    }
    for (size_t i = 0; i < lockd->hostmap.count; i++) {
        if (self->without & LK_HOST_BIT (i)) {
            lk_message_add_item (answer, "without",
                                 name_of (self, (lk_host) i));
        }
    }
    lk_message_set_hex (answer, "token", (self->next.above + 1) << 32);
    lk_message_set_number (answer, "settings",
                           (int64_t) self->next.settings.version);
    const lk_settings_row *row =
        lk_texts_find (lockd->texts, self->next.settings);
    if (row) {
        lk_message_set_number (answer, "since", row->since);
    }
    lk_message_set_number (
        answer, "wait_ms",
        (lockd->options.leader_lease_ms + lockd->options.host_lease_ms) * 5
            / 4);
    return answer;
}

/*  Typed by a person, so that nobody means another cluster. */
static bool
is_named (recovery *self, const char *cluster)
{
    if (strcmp (cluster, self->lockd->state.cluster) != 0) {
        return object (self, LK_REFUSED, "this host is of cluster '%s'",
                       self->lockd->state.cluster);
    }
    return true;
}

void
lk_lockd_recover (lk_lockd *self, const lk_message *request)
{
    recovery plan = {.lockd = self};
    const char *cluster = lk_message_text (request, "cluster");
    if (!make_plan (&plan, request)
        || (cluster && !is_named (&plan, cluster))) {
        lk_lockd_fail (self, request, plan.error, plan.problem);
        return;
    }
    lk_message *answer = new_answer (&plan, request, cluster != NULL);
    if (!cluster) {
        (void) lk_lockd_send (self, answer);
        return;
    }
    lk_log_warning ("asked to begin generation=%llu by=%s",
                    (unsigned long long) plan.next.number,
                    lk_message_from (request));
    const bool done = lk_lockd_enter (self, &plan.next);
    if (done) {
        (void) lk_lockd_send (self, answer);
    } else {
        lk_message_destroy (&answer);
    }
    self->failed = true;
    lk_bus_stop (self->bus, done ? LK_SERVICE_AGAIN : 1);
}
