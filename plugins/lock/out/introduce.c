/*  introduce.c - who we are, for other lock services and the router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  LOCKSTARTED goes to all when a router was found or the cluster is up, and
 *  to each host that appears.
 */

#include "out.h"

#include "domains.h"

#include "wire/lock_codec.h"
#include "wire/message_frame.h"

#include <stdio.h>

/*  A place of the hostmap for whom the message that names us and our decree
 *  does not name: a new one; of a full hostmap one of the many others. */
static lk_host
place_for_receiver (const lk_lockd *self)
{
    lk_host place = (lk_host) self->hostmap.count;
    if (place == LK_HOSTS_MAX) {
        do {
            place--;
        } while (place == self->self
                 || lk_lockd_is_of (&self->state.facts.active, place));
    }
    return place;
}

/*  What is not the core's. */
static void
sign (const lk_lockd *self, lk_message *started)
{
    lk_charter_write (&self->peers.charter, started);
    lk_level_write (started);
    lk_domain_write (self, started);
}

/*  The codec addresses a host of the hostmap, and "*" or one that was never
 *  heard is none: so it is given a hostmap that has it. */
static lk_message *
write_started (const lk_lockd *self, const char *host)
{
    lk_hostmap with_it = self->hostmap;
    const lk_host place = place_for_receiver (self);
    lk_lock_message message = {
        .kind = LK_MSG_STARTED,
        .from = self->self,
        .to = place,
        .origin = LK_NOBODY,
        .destination = LK_NOBODY,
        .as.started = {.candidate = self->candidate,
                       .eligible = lk_node_may_lead (self->node),
                       .incarnation = self->incarnation,
                       .active = self->state.facts.active},
    };
    lk_hostmap_entry *entry = &with_it.entry[place];
    snprintf (entry->name, sizeof entry->name, "%s", host);
    entry->id = 0;
    with_it.count += place == with_it.count;
    lk_message *started = lk_lock_encode (&message, &with_it, self->self);
    sign (self, started);
    return started;
}

void
lk_lockd_announce (lk_lockd *self, const char *host)
{
    (void) lk_lockd_send (self, write_started (self, host));
}

/*  Who we are is always said in JSON. */
static lk_message *
write_to_peer (const lk_lockd *self, const lk_lock_message *message)
{
    if (message->kind == LK_MSG_STARTED) {
        lk_message *started =
            lk_lock_encode (message, &self->hostmap, self->self);
        sign (self, started);
        return started;
    }
    return lk_lock_write (message, &self->hostmap, self->self,
                          self->level[message->to]);
}

void
lk_lockd_send_to_peer (lk_lockd *self, const lk_lock_message *message)
{
    if (self->attached) {
        (void) lk_lockd_send (self, write_to_peer (self, message));
    }
}

void
lk_lockd_refuse (lk_lockd *self, const char *host, const char *problem)
{
    char to[LK_ADDRESS_LEN_MAX + 1];
    snprintf (to, sizeof to, "lock@%s", host);
    lk_message *refuse = lk_message_new (to, "REFUSE");
    lk_message_set_hex (refuse, "id", self->state.id);
    lk_message_set_text (refuse, "reason", problem);
    (void) lk_lockd_send (self, refuse);
}

void
lk_lockd_tell_cluster (lk_lockd *self)
{
    if (self->state.cluster[0] != '\0') {
        lk_message *message = lk_message_new ("router@.", "CLUSTER");
        lk_message_set_text (message, "name", self->state.cluster);
        lk_message_set_flag (message, "draining",
                             self->drains_since != INT64_MAX);
        (void) lk_lockd_send (self, message);
    }
}
