/*  members.c - LOCKMEMBERS: who is a member, and changes of that
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Every lock service tells the members as it knows them. A change is made by
 *  the first leader alone, one at a time; any other names the leaders. People
 *  say names: which state file's host is meant is found out here.
 */

#include "members.h"

#include "domains.h"
#include "edits.h"
#include "in.h"
#include "look.h"
#include "out.h"

#include "net/log.h"
#include "wire/address.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- the list */

typedef struct {
    const lk_lockd *lockd;
    lk_message *message;
    lk_hosts sees;
    lk_host_domain domain[LK_LOCKD_DOMAINS];
    size_t domain_count;
} member_list;

static void
add_row (member_list *self, lk_host host, const char *role)
{
    lk_message *row = lk_message_row_new ();
    const lk_hostmap *hostmap = &self->lockd->hostmap;
    const char *name = lk_hostmap_name (hostmap, host);
    const char *told = self->lockd->told_domain[host];
    uint64_t id = lk_hostmap_id (hostmap, host);
    const lk_host_domain *place =
        lk_host_domain_of (self->domain, self->domain_count, name);
    lk_message_set_text (row, "host", name);
    if (id != 0) {
        lk_message_set_hex (row, "id", id);
    }
    lk_message_set_text (row, "role", role);
    if (place != NULL) {
        lk_message_set_text (row, "domain", place->domain);
    }
    if (place != NULL && told[0] != '\0' && strcmp (told, place->domain) != 0) {
        lk_message_set_text (row, "told_domain", told);
    }
    lk_message_set_flag (row, "seen", (self->sees & LK_HOST_BIT (host)) != 0);
    lk_message_add_row (self->message, "members", &row);
}

static lk_hosts
leaders_of (const lk_decree *decree)
{
    lk_hosts leaders = 0;
    for (size_t i = 0; i < decree->leader_count; i++) {
        leaders |= LK_HOST_BIT (decree->leader[i]);
    }
    return leaders;
}

/*  Leaders in their order, the other members, and who is none but heard. */
static void
add_members (const lk_lockd *self, lk_message *message,
             const lk_node_status *status)
{
    const lk_decree *decree = lk_lockd_decree (self, status);
    lk_hosts leaders = leaders_of (decree);
    const char *text = lk_lockd_settings_text (status);
    member_list rows = {
        .lockd = self, .message = message, .sees = status->sees};
    rows.domain_count = lk_lockd_domains (self, text, rows.domain);
    for (size_t i = 0; i < decree->leader_count; i++) {
        add_row (&rows, decree->leader[i], i == 0 ? "first leader" : "leader");
    }
    for (size_t i = 0; i < self->hostmap.count; i++) {
        if (decree->members & ~leaders & LK_HOST_BIT (i)) {
            add_row (&rows, (lk_host) i,
                     status->arbiters & LK_HOST_BIT (i) ? "arbiter" : "member");
        }
    }
    for (size_t i = 0; i < self->hostmap.count; i++) {
        if (status->sees & ~decree->members & LK_HOST_BIT (i)) {
            add_row (&rows, (lk_host) i, "proxy");
        }
    }
}

/*  -------------------------------------------------------- answers */

static void
fail (lk_lockd *self, const lk_demand_change *demand, lk_err error,
      const char *text)
{
    lk_message *answer = lk_lockd_new_answer (demand, "LOCKFAILED");
    lk_message_set_text (answer, "host", demand->host);
    lk_message_set_text (answer, "error", lk_err_word (error));
    lk_message_set_text (answer, "text", text);
    (void) lk_lockd_send (self, answer);
}

/*  Who is what; or, as an answer to who wants a change that is not ours to
 *  make, the leaders alone. */
static void
answer (lk_lockd *self, const lk_demand_change *demand,
        const lk_node_status *status, bool list)
{
    const lk_decree *decree = lk_lockd_decree (self, status);
    lk_message *message = lk_lockd_new_answer (demand, "LOCKMEMBERS");
    lk_message_set_text (message, "served_by", lk_bus_host (self->bus));
    lk_message_set_number (message, "term", (int64_t) decree->term.number);
    if (list) {
        add_members (self, message, status);
    }
    lk_lockd_add_leaders (self, message, decree);
    (void) lk_lockd_send (self, message);
}

/*  -------------------------------------------------------- names */

/*  How many of these are called so; *host is the last of them. */
static int
count_named (const lk_lockd *self, lk_hosts hosts, const char *name,
             lk_host *host)
{
    int count = 0;
    for (size_t i = 0; i < self->hostmap.count; i++) {
        if ((hosts & LK_HOST_BIT (i))
            && strcmp (lk_hostmap_name (&self->hostmap, (lk_host) i), name)
                   == 0) {
            *host = (lk_host) i;
            count++;
        }
    }
    return count;
}

/*  Who is to be added; else why not, in *problem. */
static lk_err
find_new (const lk_lockd *self, const lk_node_status *status, const char *name,
          lk_host *host, const char **problem)
{
    lk_hosts members = status->decree.members;
    lk_host member;
    bool is_member = count_named (self, members, name, &member) > 0;
    int count = count_named (self, status->sees & ~members, name, host);
    if (count > 1) {
        *problem = "two lock services of that name were heard of late: ask "
                   "again";
        return LK_OVERLOADED;
    }
    if (count == 1 && is_member) {
        *problem = "there is a member of that name with another state file: "
                   "remove that one first";
        return LK_REFUSED;
    }
    if (is_member) {
        *host = member;
    } else if (count == 0
               && count_named (self, ~(lk_hosts) 0, name, host) > 0) {
        *problem = "its lock service is not heard";
        return LK_ISOLATED;
    } else if (count == 0) {
        *problem = "no lock service of that name is heard: are its router and "
                   "lockkeeper-lockd running, and of this cluster?";
        return LK_UNKNOWN;
    }
    return LK_OK;
}

/*  Who is to be removed, likewise. One that was a member is none any more:
 *  who asks again is told so. */
static lk_err
find_old (const lk_lockd *self, const lk_node_status *status, const char *name,
          lk_host *host, const char **problem)
{
    if (count_named (self, status->decree.members, name, host) == 0
        && count_named (self, ~(lk_hosts) 0, name, host) == 0) {
        *problem = "there is no member of that name";
        return LK_UNKNOWN;
    }
    return LK_OK;
}

/*  -------------------------------------------------------- changes */

/*  What is asked for, without its receiver's judgement. False: answered. */
static bool
read_change (lk_lockd *self, const lk_message *request,
             lk_demand_change *demand)
{
    bool add = lk_message_has (request, "add");
    const char *host = lk_message_text (request, add ? "add" : "remove");
    memset (demand, 0, sizeof *demand);
    if ((add && lk_message_has (request, "remove")) || !host
        || !lk_address_is_name (lk_slice_of (host))) {
        lk_lockd_fail (self, request, LK_INVALID,
                       "name one host, to 'add' or to 'remove'");
        return false;
    }
    demand->add = add;
    demand->serial = lk_message_serial (request);
    snprintf (demand->asker, sizeof demand->asker, "%s",
              lk_message_from (request));
    snprintf (demand->host, sizeof demand->host, "%s", host);
    return true;
}

static bool
is_repeated (const lk_demand_change *one, const lk_demand_change *other)
{
    return !one->edits && one->add == other->add
           && strcmp (one->host, other->host) == 0
           && strcmp (one->asker, other->asker) == 0;
}

/*  The core answers now or later, to the latest question of this asker. */
static bool
begin (lk_lockd *self, const lk_demand_change *demand,
       const lk_node_status *status, lk_event *event)
{
    lk_host host = LK_NOBODY;
    const char *problem;
    lk_err error = demand->add
                       ? find_new (self, status, demand->host, &host, &problem)
                       : find_old (self, status, demand->host, &host, &problem);
    if (error != LK_OK) {
        fail (self, demand, error, problem);
        return false;
    }
    lk_log_notice ("asked to %s host=%s by=%s", demand->add ? "add" : "remove",
                   demand->host, demand->asker);
    self->change = *demand;
    *event =
        (lk_event) {.type = LK_ON_CHANGE, .host = host, .add = demand->add};
    return true;
}

static bool
take_change (lk_lockd *self, const lk_demand_change *demand,
             const lk_node_status *status, lk_event *event)
{
    char problem[160];
    lk_demand_change *change = &self->change;
    if (change->asker[0] != '\0' && is_repeated (change, demand)) {
        change->serial = demand->serial;
    } else if (change->asker[0] != '\0') {
        snprintf (problem, sizeof problem,
                  "another change is under way: %s '%s'",
                  change->edits ? "settings"
                  : change->add ? "add"
                                : "remove",
                  change->host);
        fail (self, demand, LK_OVERLOADED, problem);
    } else if (lk_lockd_is_first_leader (self, status)) {
        return begin (self, demand, status, event);
    } else if (status->decree.leader_count > 0) {
        answer (self, demand, status, false);
    } else {
        fail (self, demand, LK_ISOLATED, "no leaders are known here");
    }
    return false;
}

bool
lk_lockd_ask_members (lk_lockd *self, const lk_message *request,
                      lk_event *event)
{
    lk_node_status status;
    lk_demand_change demand = {.serial = lk_message_serial (request)};
    lk_node_get_status (self->node, &status);
    if (lk_message_has (request, "add") || lk_message_has (request, "remove")) {
        return read_change (self, request, &demand)
               && take_change (self, &demand, &status, event);
    }
    snprintf (demand.asker, sizeof demand.asker, "%s",
              lk_message_from (request));
    answer (self, &demand, &status, true);
    return false;
}

/*  One that does not lead any more sends its asker on. */
void
lk_lockd_changed (lk_lockd *self, lk_err error, const char *text)
{
    lk_node_status status;
    lk_demand_change demand = self->change;
    memset (&self->change, 0, sizeof self->change);
    if (demand.asker[0] == '\0') {
        return;
    }
    if (demand.edits) {
        lk_lockd_edited (self, &demand, error, text);
        return;
    }
    lk_node_get_status (self->node, &status);
    if (error == LK_OK) {
        answer (self, &demand, &status, true);
    } else if (error == LK_REFUSED
               && !lk_lockd_is_first_leader (self, &status)) {
        answer (self, &demand, &status, false);
    } else {
        fail (self, &demand, error, text);
    }
}
