/*  status.c - LOCKSTATUS: what a person wants to know
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "look.h"
#include "mask.h"
#include "out.h"

#include "wire/message_frame.h"

/*  -------------------------------------------------------- status */

static void
add_hosts (const lk_lockd *self, lk_message *message, const char *field,
           lk_hosts hosts)
{
    for (size_t i = 0; i < self->hostmap.count; i++) {
        if (hosts & LK_HOST_BIT (i)) {
            lk_message_add_item (message, field,
                                 lk_hostmap_name (&self->hostmap, (lk_host) i));
        }
    }
}

void
lk_lockd_add_leaders (const lk_lockd *self, lk_message *message,
                      const lk_decree *decree)
{
    for (size_t i = 0; i < decree->leader_count; i++) {
        lk_message_add_item (
            message, "leaders",
            lk_hostmap_name (&self->hostmap, decree->leader[i]));
    }
}

/*  Of a table that is true; of another one they would mean nothing. */
static void
write_waiting (lk_message *message, const lk_node_status *status)
{
    lk_message_set_number (message, "waiting", (int64_t) status->waiting);
    lk_message_set_number (message, "waited_for", (int64_t) status->waited_for);
}

static void
write_rates (const lk_lockd *self, lk_message *message)
{
    const lk_recent_counts counts =
        lk_recent_count (self->recent, lk_bus_now (self->bus));
    lk_message_set_number (message, "grants", (int64_t) counts.grants);
    lk_message_set_number (message, "releases", (int64_t) counts.releases);
    lk_message_set_number (message, "grants_lately",
                           (int64_t) counts.grants_lately);
    lk_message_set_number (message, "releases_lately",
                           (int64_t) counts.releases_lately);
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
    lk_message_set_number (message, "registrations",
                           (int64_t) lk_apps_count_registered (&self->apps));
    lk_message_set_number (message, "tickets", (int64_t) status->tickets);
    write_rates (self, message);
    lk_message_set_number (message, "alerts", (int64_t) self->alerts);
    if (self->alerts > 0) {
        lk_message_set_text (message, "alert", self->alert);
    }
}

/*  Messages of senders that may not say them. */
static void
write_dropped (const lk_lockd *self, lk_message *message,
               const lk_node_status *status)
{
    if (status->dropped == 0) {
        return;
    }
    lk_message_set_number (message, "dropped", (int64_t) status->dropped);
    lk_message_set_text (message, "dropped_command",
                         lk_lock_kind_command (status->dropped_kind));
    if (status->dropped_from != LK_NOBODY) {
        lk_message_set_text (
            message, "dropped_from",
            lk_hostmap_name (&self->hostmap, status->dropped_from));
    }
}

static void
write_decree (const lk_lockd *self, lk_message *message,
              const lk_decree *decree)
{
    lk_host proposer = lk_hostmap_by_id (&self->hostmap, decree->term.proposer);
    lk_message_set_number (message, "term", (int64_t) decree->term.number);
    if (proposer != LK_NOBODY) {
        lk_message_set_text (message, "proposer",
                             lk_hostmap_name (&self->hostmap, proposer));
    }
    lk_lockd_add_leaders (self, message, decree);
    add_hosts (self, message, "members", decree->members);
}

static void
write_next (const lk_lockd *self, lk_message *message,
            const lk_standbys *standbys)
{
    for (size_t i = 0; i < standbys->count; i++) {
        lk_message_add_item (
            message, "next",
            lk_hostmap_name (&self->hostmap, standbys->host[i]));
    }
}

/*  Of the leaders in their order, which locks they are the homes of; counted in
 *  the own table. */
static void
write_homes (const lk_lockd *self, lk_message *message,
             const lk_node_status *status)
{
    for (size_t i = 0; status->leads && i < status->decree.leader_count; i++) {
        lk_message *row = lk_message_row_new ();
        lk_message_set_text (
            row, "host",
            lk_hostmap_name (&self->hostmap, status->decree.leader[i]));
        lk_message_set_number (row, "tickets", (int64_t) status->homes[i]);
        lk_message_add_row (message, "homes", &row);
    }
}

/*  Which settings it has, and who has others. */
static void
write_settings (const lk_lockd *self, lk_message *message,
                const lk_node_status *status)
{
    if (status->settings.version != 0) {
        lk_message_set_number (message, "settings",
                               (int64_t) status->settings.version);
    }
    if (status->behind != 0) {
        add_hosts (self, message, "behind", status->behind);
    }
}

/*  A change is told soon. */
static void
note_ready (lk_lockd *self, bool ready)
{
    if (ready != self->was_ready || self->ready_ms == 0) {
        self->was_ready = ready;
        self->ready_ms = lk_bus_now (self->bus);
    }
}

/*  For how long it has been so. A question between two changes that were told
 *  sees no beginning of anything: it may be over before it is told. */
int64_t
lk_lockd_ready_for (const lk_lockd *self, bool ready)
{
    return ready == self->was_ready && self->ready_ms != 0
               ? lk_bus_now (self->bus) - self->ready_ms
               : 0;
}

/*  Locks of this host that may soon be lost. Nothing is counted while there are
 *  none: anybody may ask, many times a second. */
static int64_t
count_endangered (const lk_lockd *self, const lk_node_status *status)
{
    if (!status->endangered) {
        return 0;
    }
    const void *place = NULL;
    lk_node_own own;
    int64_t count = 0;
    while (lk_node_next_own (self->node, &place, &own)) {
        count += own.danger;
    }
    return count;
}

void
lk_lockd_tell_status (lk_lockd *self, const lk_message *request,
                      const lk_view *view)
{
    lk_node_status status;
    lk_lockd_get_status (self, &status);
    const char *command = status.ready ? "LOCKREADY" : "NOLOCK";
    lk_message *message = request ? lk_message_reply (request, command)
                                  : lk_message_new ("*@.", command);
    if (!request) {
        note_ready (self, status.ready);
    }
    lk_message_set_text (message, "host", lk_bus_host (self->bus));
    lk_message_set_text (message, "cluster", self->peers.charter.name);
    lk_message_set_any (message, "generation",
                        (int64_t) self->peers.charter.generation.number);
    const lk_decree *decree = lk_lockd_decree (self, &status);
    lk_message_set_flag (message, "member", lk_lockd_is_member (self, decree));
    lk_message_set_flag (message, "ready", status.ready);
    lk_message_set_number (message, "since_ms",
                           lk_lockd_ready_for (self, status.ready));
    lk_message_set_flag (message, "leads", status.leads);
    lk_message_set_flag (message, "may_lead", lk_node_may_lead (self->node));
    if (self->drains_since != INT64_MAX) {
        lk_message_set_flag (message, "draining", true);
        lk_message_set_number (message, "draining_ms",
                               lk_bus_now (self->bus) - self->drains_since);
    }
    lk_message_set_number (message, "leaders_max", self->options.leaders_max);
    lk_message_set_text (message, "phase", status.phase);
    write_decree (self, message, decree);
    add_hosts (self, message, "sees", status.sees);
    if (status.arbiters != 0) {
        add_hosts (self, message, "arbiters", status.arbiters);
    }
    lk_message_set_text (message, "journal", lk_journal_words[status.journal]);
    write_next (self, message, &status.next);
    write_settings (self, message, &status);
    write_numbers (self, message, &status);
    write_dropped (self, message, &status);
    if (status.leads && request) {
        write_waiting (message, &status);
        write_homes (self, message, &status);
    }
    if (request) {
        lk_message_set_number (message, "jeopardy",
                               count_endangered (self, &status));
    }
    lk_message_set_flag (message, "answering", request != NULL);
    if (!status.ready) {
        char reason[LK_LOCKD_REASON_SIZE];
        lk_lockd_describe_wait (self, &status, reason, sizeof reason);
        lk_message_set_text (message, "reason", reason);
    }
    lk_lockd_add_zones (self, message, view);
    if (!request) {
        lk_lockd_say_status (self, &status);
    }
    (void) lk_lockd_send (self, message);
}

/*  -------------------------------------------------------- for zones */

static void
answer_zone (lk_lockd *self, const lk_message *request, const lk_view *view)
{
    lk_node_status status;
    lk_lockd_get_status (self, &status);
    lk_message *message =
        lk_message_reply (request, status.ready ? "LOCKREADY" : "NOLOCK");
    lk_message_set_text (message, "zone", view->who.zone);
    lk_message_set_flag (message, "ready", status.ready);
    lk_message_set_number (message, "since_ms",
                           lk_lockd_ready_for (self, status.ready));
    lk_message_set_flag (message, "answering", true);
    if (!status.ready) {
        lk_message_set_text (message, "reason", LK_LOCKD_NOT_NOW);
    }
    lk_lockd_add_use (self, message, view->who.zone);
    (void) lk_lockd_send (self, message);
}

void
lk_lockd_answer_status (lk_lockd *self, const lk_message *request,
                        const lk_view *view)
{
    if (lk_lockd_is_masked (view)) {
        answer_zone (self, request, view);
    } else {
        lk_lockd_tell_status (self, request, view);
    }
}
