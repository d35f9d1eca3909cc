/*  start.c - how lock services make sure that they belong together
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  LOCKSTARTED goes to all when a router was found or the cluster is up, and
 *  to each host that appears. Nothing else of a service counts before it has
 *  passed the check of its LOCKSTARTED. lockkeeper-protocol(7), 8.1.
 */

#include "lockd.h"

#include "net/log.h"
#include "util/utf8.h"
#include "wire/lock_codec.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

#define ASK_AGAIN_MS 250 /* the same service to introduce itself */

/*  -------------------------------------------------------- sending */

/*  A place of the roster for whom the message that names us and our decree does
 *  not name: a new one; of a full roster one of the many others. */
static lk_host
place_for_receiver (const lk_lockd *self)
{
    lk_host place = (lk_host) self->roster.count;
    if (place == LK_HOSTS_MAX) {
        do {
            place--;
        } while (place == self->self
                 || lk_lockd_is_of (&self->state.facts.active, place));
    }
    return place;
}

/*  The codec addresses a host of the roster, and "*" or one that was never
 *  heard is none: so it is given a roster that has it. */
static lk_message *
write_started (const lk_lockd *self, const char *host)
{
    lk_roster with_it = self->roster;
    const lk_host place = place_for_receiver (self);
    lk_lock_message message = {
        .kind = LK_MSG_STARTED,
        .from = self->self,
        .to = place,
        .origin = LK_NOBODY,
        .destination = LK_NOBODY,
        .as.started = {.candidate = self->candidate,
                       .eligible = self->eligible,
                       .incarnation = self->incarnation,
                       .active = self->state.facts.active},
    };
    lk_roster_entry *entry = &with_it.entry[place];
    snprintf (entry->name, sizeof entry->name, "%s", host);
    entry->id = 0;
    with_it.count += place == with_it.count;
    lk_message *started = lk_lock_encode (&message, &with_it, self->self);
    lk_lockd_sign (self, started);
    return started;
}

void
lk_lockd_sign (const lk_lockd *self, lk_message *started)
{
    lk_charter_write (&self->peers.charter, started);
    lk_packs_write (started);
}

void
lk_lockd_announce (lk_lockd *self, const char *host)
{
    (void) lk_lockd_send (self, write_started (self, host));
}

static void
send_refuse (lk_lockd *self, const lk_other *other, const char *problem)
{
    char to[LK_ADDRESS_LEN_MAX + 1];
    snprintf (to, sizeof to, "lock@%s", other->host);
    lk_message *refuse = lk_message_new (to, "REFUSE");
    lk_message_set_hex (refuse, "id", self->state.id);
    lk_message_set_text (refuse, "reason", problem);
    (void) lk_lockd_send (self, refuse);
}

/*  -------------------------------------------------------- checking */

/*  Counts what makes no sense; logs it ever more seldom. */
static void
drop (lk_lockd *self, const char *host, const lk_message *message)
{
    self->dropped++;
    if ((self->dropped & (self->dropped - 1)) == 0) {
        lk_log_warning ("dropped what makes no sense command=%s "
                        "host=%s count=%llu",
                        lk_message_command (message), host,
                        (unsigned long long) self->dropped);
    }
}

/*  At most every ASK_AGAIN_MS to each: true if now is the time. */
static bool
may_ask (const lk_lockd *self, lk_other *other)
{
    int64_t now = lk_bus_now (self->bus);
    if (other->asked && now - other->asked_ms < ASK_AGAIN_MS) {
        return false;
    }
    other->asked = true;
    other->asked_ms = now;
    return true;
}

/*  A message that is not heard before its sender has said who it is. */
static void
ask_for_start (lk_lockd *self, lk_other *other)
{
    if (other->state == LK_OTHER_NEW && may_ask (self, other)) {
        lk_lockd_announce (self, other->host);
    }
}

static void
refuse (lk_lockd *self, lk_other *other, const char *problem)
{
    if (!other->said) {
        other->said = true;
        lk_log_error ("refused lock service host=%s: %s", other->host, problem);
    }
    if (may_ask (self, other)) {
        send_refuse (self, other, problem);
    }
}

/*  Its cluster is ours from now on, also after a restart: nobody hears of us
 *  as one of it before that is on disk. */
static bool
join (lk_lockd *self, const lk_other *other)
{
    if (!lk_lockd_keep_charter (self)) {
        self->failed = true;
        lk_bus_stop (self->bus, 1);
        return false;
    }
    lk_log_notice ("of cluster '%s' now, heard from host=%s",
                   self->state.cluster, other->host);
    lk_lockd_announce (self, "*");
    lk_lockd_tell_cluster (self);
    return true;
}

/*  Whether the LOCKSTARTED is one of this cluster. */
static bool
check_started (lk_lockd *self, lk_other *other, const lk_message *message)
{
    char problem[LK_PEERS_PROBLEM_SIZE];
    lk_charter theirs;
    bool joined, packs;
    lk_other_state before = other->state;
    if (!lk_charter_read (&theirs, message)
        || !lk_packs_read (message, &packs)) {
        drop (self, other->host, message);
        return false;
    }
    if (lk_peers_judge (&self->peers, other, &theirs, &joined, problem)
        == LK_OTHER_REFUSED) {
        refuse (self, other, problem);
        return false;
    }
    if (joined && !join (self, other)) {
        return false;
    }
    if (before != LK_OTHER_ACCEPTED) {
        lk_log_info ("lock service host=%s id=%016llx: new -> known",
                     other->host, (unsigned long long) other->id);
    }
    return true;
}

/*  As much as there is room for, in whole characters. */
static void
keep_reason (lk_other *other, const char *reason)
{
    snprintf (other->why, sizeof other->why, "%s", reason);
    for (size_t size = strlen (other->why); !lk_utf8_is_text (other->why, size);
         size--) {
        other->why[size - 1] = '\0';
    }
}

/*  The other side refuses us; it says why, and we say so once. Before it has
 *  said again who it is we do not hear it either. */
static void
take_refuse (lk_other *other, const lk_message *message)
{
    const char *reason = lk_message_text (message, "reason");
    keep_reason (other, reason ? reason : "it does not say why");
    if (other->state == LK_OTHER_ACCEPTED) {
        other->state = LK_OTHER_NEW;
    }
    if (!other->said) {
        other->said = true;
        lk_log_error ("the lock service of host=%s refuses us: %s", other->host,
                      other->why);
    }
}

/*  Whether the message may be read on. */
static bool
may_enter (lk_lockd *self, lk_other *other, const lk_message *message)
{
    if (lk_message_is (message, "REFUSE")) {
        take_refuse (other, message);
        return false;
    }
    if (lk_message_is (message, "LOCKSTARTED")) {
        return check_started (self, other, message);
    }
    ask_for_start (self, other);
    return other->state == LK_OTHER_ACCEPTED;
}

/*  What it is sent from now on. */
static void
note_notation (lk_lockd *self, const lk_lock_message *read,
               const lk_message *message)
{
    bool packs;
    if (read->kind == LK_MSG_STARTED && lk_packs_read (message, &packs)) {
        self->packs &= ~LK_HOST_BIT (read->from);
        self->packs |= packs ? LK_HOST_BIT (read->from) : 0;
    }
}

void
lk_lockd_from_peer (lk_lockd *self, const char *host, const lk_message *message)
{
    uint64_t id;
    if (lk_message_is_complaint (message)) {
        return; /* of the router, or a service without our commands */
    }
    lk_other *other = lk_lock_sender (message, &id)
                          ? lk_peers_intern (&self->peers, host, id)
                          : NULL;
    if (!other) {
        drop (self, host, message);
        return;
    }
    if (!may_enter (self, other, message)) {
        return;
    }
    lk_lock_message read;
    const lk_err error = lk_lockd_read (self, host, id, message, &read);
    if (error == LK_OK) {
        lk_event event = {.type = LK_ON_MESSAGE, .message = &read};
        note_notation (self, &read, message);
        lk_lockd_step (self, &event);
    } else if (error == LK_INVALID) {
        drop (self, host, message);
    } /* else it is to our predecessor, whose state file is gone; or there is
         no room for its sender, or for whom it names */
    lk_arena_reset (&self->heard);
}
