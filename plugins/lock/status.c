/*  status.c - LOCKSTATUS and LOCKLIST: what a person wants to know
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lockd.h"

#include "wire/message_frame.h"
#include "wire/object_name.h"

#include <stdio.h>
#include <string.h>

#define LIST_COUNT_MAX 500         /* tickets in one answer */
#define LIST_SIZE_MAX (512 * 1024) /* bytes, about */
#define ROW_SIZE 560               /* of a ticket without its names, at most */
#define BYTE_SIZE 6                /* of a name's byte in JSON, at most */

/*  -------------------------------------------------------- status */

static void
add_hosts (const lk_lockd *self, lk_message *message, const char *field,
           lk_hosts hosts)
{
    for (size_t i = 0; i < self->roster.count; i++) {
        if (hosts & LK_HOST_BIT (i)) {
            lk_message_add_item (message, field,
                                 lk_roster_name (&self->roster, (lk_host) i));
        }
    }
}

void
lk_lockd_add_leaders (const lk_lockd *self, lk_message *message,
                      const lk_decree *decree)
{
    for (size_t i = 0; i < decree->leader_count; i++) {
        lk_message_add_item (message, "leaders",
                             lk_roster_name (&self->roster, decree->leader[i]));
    }
}

static int
count_hosts (lk_hosts hosts)
{
    return __builtin_popcountll (hosts);
}

const lk_decree *
lk_lockd_decree (const lk_lockd *self, const lk_node_status *status)
{
    return status->decree.leader_count > 0 ? &status->decree
                                           : &self->state.facts.active;
}

/*  Why this host's requests wait. */
static void
describe_wait (const lk_lockd *self, const lk_node_status *status, char *line,
               size_t size)
{
    lk_hosts members = lk_lockd_decree (self, status)->members;
    int seen = count_hosts (status->sees & members);
    int total = count_hosts (members);
    if (!self->attached) {
        snprintf (line, size, "the router is gone");
    } else if (total == 0) {
        snprintf (line, size, "no member of a cluster was heard yet");
    } else if (seen < total / 2 + 1) {
        snprintf (line, size, "sees %d of %d members, needs %d", seen, total,
                  total / 2 + 1);
    } else if (status->decree.leader_count == 0) {
        snprintf (line, size, "there are no leaders yet");
    } else if (status->lease_until_ms == 0) {
        snprintf (line, size, "no leader vouches for this host yet");
    } else {
        snprintf (line, size, "the leaders do not serve yet");
    }
}

/*  Most likely that is why. */
static void
add_refusal (const lk_lockd *self, char *line, size_t size)
{
    const char *why = lk_peers_refusal (&self->peers);
    if (why[0] != '\0') {
        const size_t used = strlen (line);
        snprintf (line + used, size - used, "; refused: %s", why);
    }
}

static void
write_numbers (const lk_lockd *self, lk_message *message,
               const lk_node_status *status)
{
    int64_t left = status->lease_until_ms - lk_bus_now (self->bus);
    bool leased = status->lease_until_ms != 0 && left > 0;
    lk_message_set_number (message, "session", (int64_t) status->session);
    lk_message_set_number (message, "lease_left", leased ? left : 0);
    lk_message_set_number (message, "requests", (int64_t) status->requests);
    lk_message_set_number (message, "tickets", (int64_t) status->tickets);
    lk_message_set_number (message, "alerts", (int64_t) self->alerts);
    if (self->alerts > 0) {
        lk_message_set_text (message, "alert", self->alert);
    }
}

static void
write_decree (const lk_lockd *self, lk_message *message,
              const lk_decree *decree)
{
    lk_host proposer = lk_roster_by_id (&self->roster, decree->term.proposer);
    lk_message_set_number (message, "term", (int64_t) decree->term.number);
    if (proposer != LK_NOBODY) {
        lk_message_set_text (message, "proposer",
                             lk_roster_name (&self->roster, proposer));
    }
    lk_lockd_add_leaders (self, message, decree);
    add_hosts (self, message, "members", decree->members);
}

void
lk_lockd_tell_status (lk_lockd *self, const lk_message *request)
{
    lk_node_status status;
    lk_node_get_status (self->node, &status);
    const char *command = status.ready ? "LOCKREADY" : "NOLOCK";
    lk_message *message = request ? lk_message_reply (request, command)
                                  : lk_message_new ("*@.", command);
    lk_message_set_text (message, "host", lk_bus_host (self->bus));
    lk_message_set_text (message, "cluster", self->peers.charter.name);
    const lk_decree *decree = lk_lockd_decree (self, &status);
    lk_message_set_flag (message, "member", lk_lockd_is_member (self, decree));
    lk_message_set_flag (message, "ready", status.ready);
    lk_message_set_flag (message, "leads", status.leads);
    lk_message_set_text (message, "phase", status.phase);
    write_decree (self, message, decree);
    add_hosts (self, message, "sees", status.sees);
    write_numbers (self, message, &status);
    lk_message_set_flag (message, "answering", request != NULL);
    if (!status.ready) {
        char reason[160 + LK_PEERS_PROBLEM_SIZE];
        describe_wait (self, &status, reason, sizeof reason);
        add_refusal (self, reason, sizeof reason);
        lk_message_set_text (message, "reason", reason);
    }
    (void) lk_lockd_send (self, message);
}

/*  -------------------------------------------------------- list */

static void
set_name (lk_message *row, const char *field, lk_name name)
{
    char text[LK_NAME_SIZE_MAX + 1];
    memcpy (text, name.data, name.size);
    text[name.size] = '\0';
    lk_message_set_text (row, field, text);
}

static void
set_if_any (lk_message *row, const char *field, int64_t number)
{
    if (number > 0) {
        lk_message_set_number (row, field, number);
    }
}

static void
set_if_so (lk_message *row, const char *field, bool flag)
{
    if (flag) {
        lk_message_set_flag (row, field, true);
    }
}

/*  A lock of a set is asked for when those ahead of it are held. */
static const char *
state_of (const lk_ticket *ticket)
{
    const bool later = ticket->token == 0 && ticket->number == 0;
    return ticket->token != 0 ? "held" : later ? "later" : "waiting";
}

/*  What a plain exclusive lock does not have is left out. */
static void
add_mode (lk_message *row, const lk_ticket *ticket)
{
    const lk_lock_mode *mode = &ticket->mode;
    lk_message_set_text (row, "type", lk_lock_type_words[mode->type]);
    if (mode->soft) {
        lk_message_set_text (row, "policy", "soft");
    }
    set_if_any (row, "quiet", mode->quiet_ms);
    set_if_any (row, "limit", mode->limit);
    set_if_any (row, "bound", mode->bound);
    set_if_so (row, "lenient", mode->lenient);
    set_if_so (row, "static", mode->is_static);
    set_if_any (row, "ordinal", ticket->ordinal);
    set_if_any (row, "turn", ticket->turn);
    set_if_so (row, "upgrade", ticket->upgrade);
    set_if_any (row, "duration", ticket->duration_ms);
}

static lk_message *
new_row (const lk_lockd *self, const lk_ticket *ticket)
{
    lk_name zone, context, object;
    if (!lk_object_parts (ticket->object, &zone, &context, &object)) {
        return NULL;
    }
    lk_message *row = lk_message_row_new ();
    lk_object_set (row, object);
    if (zone.size) {
        set_name (row, "zone", zone);
    }
    if (context.size) {
        set_name (row, "context", context);
    }
    lk_message_set_text (row, "host",
                         lk_roster_name (&self->roster, ticket->request.host));
    set_name (row, "owner", ticket->owner);
    lk_message_set_number (row, "pid", ticket->pid);
    lk_message_set_text (row, "state", state_of (ticket));
    lk_message_set_number (row, "since_ms", ticket->age_ms);
    lk_message_set_hex (row, "token", ticket->token);
    lk_message_set_number (row, "session", (int64_t) ticket->request.session);
    add_mode (row, ticket);
    return row;
}

static void
add_ticket (lk_lockd *self, lk_message *list, const lk_ticket *ticket)
{
    const int64_t left_ms = lk_node_ticket_left (self->node, ticket->request);
    lk_message *row = new_row (self, ticket);
    if (row && left_ms >= 0) {
        lk_message_set_number (row, "left_ms", left_ms);
    }
    if (row) {
        lk_message_add_row (list, "tickets", &row);
    }
}

/*  From `cursor` on, until the answer is large enough. */
static void
add_tickets (lk_lockd *self, lk_message *list, size_t cursor)
{
    lk_ticket ticket;
    size_t size = 0;
    for (size_t count = 0; lk_node_next_ticket (self->node, &cursor, &ticket);
         count++) {
        add_ticket (self, list, &ticket);
        size += ROW_SIZE
                + BYTE_SIZE * ((size_t) ticket.object.size + ticket.owner.size);
        if (count + 1 == LIST_COUNT_MAX || size > LIST_SIZE_MAX) {
            lk_message_set_number (list, "cursor", (int64_t) cursor);
            return;
        }
    }
}

/*  A service that does not lead names the leaders instead: ask one of them.
 *  Tickets may come and go between two answers of one listing. */
void
lk_lockd_tell_list (lk_lockd *self, const lk_message *request)
{
    int64_t cursor = lk_message_number (request, "cursor", 0);
    if (cursor < 0
        || (lk_message_has (request, "cursor")
            && lk_message_number (request, "cursor", -1) < 0)) {
        lk_lockd_fail (self, request, LK_INVALID,
                       "the field 'cursor' is out of range");
        return;
    }
    lk_message *list = lk_message_reply (request, "LOCKLIST");
    lk_message_set_text (list, "served_by", lk_bus_host (self->bus));
    if (lk_node_serves (self->node)) {
        add_tickets (self, list, (size_t) cursor);
    } else {
        lk_node_status status;
        lk_node_get_status (self->node, &status);
        lk_lockd_add_leaders (self, list, &status.decree);
    }
    (void) lk_lockd_send (self, list);
}
