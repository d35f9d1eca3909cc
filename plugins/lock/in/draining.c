/*  draining.c - LOCKDRAIN: this lock service leads no more, or may again
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A client says it again until it is told that it is done: what is meant is
 *  the same each time. lockkeeper-protocol(7), 9.5.7.
 */

#include "draining.h"

#include "audit.h"
#include "decree.h"
#include "out.h"

#include "wire/message_frame.h"

#define FOR_MS 600000       /* unless it is said */
#define FOR_MAX_MS 86400000 /* a day */

static int64_t
count_held (const lk_lockd *self)
{
    const void *place = NULL;
    lk_node_own own;
    int64_t count = 0;
    while (lk_node_next_own (self->node, &place, &own)) {
        count += own.ticket.token != 0;
    }
    return count;
}

static void
tell (lk_lockd *self, const lk_message *request, bool drains)
{
    lk_node_status status;
    lk_message *answer = lk_message_reply (request, "LOCKDRAIN");
    lk_lockd_get_status (self, &status);
    lk_message_set_text (answer, "host", lk_bus_host (self->bus));
    lk_message_set_text (answer, "state",
                         !drains                           ? "serving"
                         : lk_node_is_drained (self->node) ? "drained"
                                                           : "draining");
    lk_message_set_flag (answer, "leads", status.leads);
    lk_message_set_number (answer, "remotes",
                           (int64_t) lk_apps_count_registered (&self->apps));
    lk_message_set_number (answer, "held", count_held (self));
    lk_message_set_number (answer, "host_lease", self->options.host_lease_ms);
    (void) lk_lockd_send (self, answer);
}

/*  Nobody could lead in its place now; NULL: somebody could. */
static const char *
objection (lk_lockd *self)
{
    lk_node_status status;
    lk_lockd_get_status (self, &status);
    const lk_hosts members = lk_lockd_decree (self, &status)->members;
    return lk_node_may_leave (self->node) ? NULL
           : !lk_is_quorum (members, status.sees & members)
               ? "too few members are heard for others to lead"
               : "no other member may lead now";
}

bool
lk_lockd_ask_drain (lk_lockd *self, const lk_message *message,
                    const lk_view *view, lk_event *event)
{
    const bool drains = lk_message_flag (message, "drain");
    const bool is_new = drains != lk_node_drains (self->node);
    const char *why = drains && is_new && !lk_message_flag (message, "force")
                          ? objection (self)
                          : NULL;
    int64_t for_ms = lk_message_number (message, "for", FOR_MS);
    if (why != NULL) {
        lk_lockd_fail (self, message, LK_REFUSED, why);
        return false;
    }
    if (is_new) {
        lk_lockd_audit (self, "drain", &view->who, lk_message_from (message),
                        drains ? "drain=yes" : "drain=no");
    }
    tell (self, message, drains || self->leaving);
    if (self->leaving) {
        return false; /* until it ends, whatever is wished */
    }
    for_ms = for_ms < 0 || for_ms > FOR_MAX_MS ? FOR_MAX_MS : for_ms;
    *event = (lk_event) {.type = LK_ON_DRAIN,
                         .add = drains,
                         .until_ms = lk_bus_now (self->bus) + for_ms};
    return true;
}

void
lk_lockd_look_drain (lk_lockd *self)
{
    const bool drains = lk_node_drains (self->node);
    if (drains != (self->drains_since != INT64_MAX)) {
        self->drains_since = drains ? lk_bus_now (self->bus) : INT64_MAX;
        lk_lockd_tell_cluster (self);
    }
}
