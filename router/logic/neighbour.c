/*  neighbour.c - carries out what the table of a link says
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "neighbour.h"
#include "deliver.h"
#include "discovery.h"
#include "events.h"
#include "ways.h"

#include "net/hostport.h"
#include "net/log.h"
#include "wire/address.h"
#include "wire/reasons.h"

#include <stdio.h>
#include <string.h>

/*  The reason of a HANGUP. */
#define LOST "connection lost"

/*  -------------------------------------------------------- messages */

lk_message *
lk_neighbour_introduction (const lk_router *self, const char *command)
{
    lk_message *message = lk_message_new ("router@.", command);
    lk_message_set_text (message, "host", self->host);
    lk_message_set_text (message, "address", self->address);
    lk_message_set_text (message, "version", LK_VERSION);
    lk_message_set_hex (message, "incarnation", self->incarnation);
    if (lk_discovery_serves (self)) {
        lk_message_set_text (message, "clients", self->clients_address);
        lk_message_set_text (message, "clients_key", self->clients_key);
    }
    return message;
}

static void
send_connect (lk_router *self, lk_mesh_link *link)
{
    lk_message *message = lk_neighbour_introduction (self, "CONNECT");
    lk_message_set_flag (message, "privileged", true);
    lk_message_set_flag (message, "ways", true);
    lk_router_send (self, &link->out, &message);
}

void
lk_neighbour_refuse (lk_router *self, const lk_source *source,
                     const char *reason)
{
    lk_message *message = lk_neighbour_introduction (self, "REFUSE");
    lk_message_set_text (message, "reason", reason);
    lk_router_answer (self, source, &message);
}

void
lk_neighbour_read_clients (const lk_message *message, lk_clients_port *port)
{
    const char *address = lk_message_text (message, "clients");
    const char *key = lk_message_text (message, "clients_key");
    *port = (lk_clients_port) {.address = ""};
    if (address != NULL && key != NULL && lk_curve_is_key (key)
        && lk_hostport_is_valid (address)) {
        snprintf (port->address, sizeof port->address, "%s", address);
        snprintf (port->key, sizeof port->key, "%s", key);
    }
}

/*  Reads who the peer is; false if a field is missing or makes no sense. */
static bool
read_party (const lk_message *message, lk_party *party)
{
    party->host = lk_message_text (message, "host");
    party->address = lk_message_text (message, "address");
    party->version = lk_message_text (message, "version");
    party->privileged = lk_message_flag (message, "privileged");
    party->one_way = lk_message_flag (message, "one_way");
    /*  Such a link has one connection, and what is lost with it is lost. */
    party->ways = lk_message_flag (message, "ways") && !party->one_way;
    lk_neighbour_read_clients (message, &party->clients);
    return party->host != NULL && party->address != NULL
           && party->version != NULL
           && lk_message_hex (message, "incarnation", &party->incarnation)
           && lk_address_is_name (lk_slice_of (party->host))
           && lk_hostport_is_valid (party->address);
}

/*  -------------------------------------------------------- stepping */

static const char *
why_lost (const lk_router *self, lk_mesh_event event, char *text, size_t size)
{
    switch (event) {
    case LK_LINK_SILENT:
        snprintf (text, size, "silent for %lld ms",
                  (long long) self->mesh.dead_after_ms);
        return text;
    case LK_LINK_DOWN:
        return LOST;
    case LK_LINK_LEFT:
        return NULL;
    default:
        return lk_mesh_link_event_name (event);
    }
}

static void
close_link (lk_router *self, lk_mesh_link *link)
{
    self->calls->close (self->shell, link);
    lk_hop_clear (&link->out);
    link->out.identity.size = 0;
    link->channel.announced = link->channel.counted = false;
}

/*  The channel ends or goes on: `before` is the state that the link had. */
static void
carry_on (lk_router *self, lk_mesh_link *link, lk_mesh_state before,
          lk_mesh_event event, unsigned effects)
{
    char reason[LK_REASON_LEN_MAX + 1];
    if (link->sought_ms != 0) {
        lk_ways_look (self, link, before, event);
    } else if ((effects & LK_DO_LOST) && lk_ways_seek (self, link, event)) {
        return;
    } else if ((effects & LK_DO_LOST) || !link->met
               || ((effects & LK_DO_CLOSE) && !link->channel.numbered)) {
        lk_ways_lose (self, link, (effects & LK_DO_LOST) != 0,
                      why_lost (self, event, reason, sizeof reason));
    }
}

static void
carry_out (lk_router *self, lk_mesh_link *link, lk_mesh_state before,
           lk_mesh_event event, unsigned effects)
{
    const bool was_sought = link->sought_ms != 0;
    if (effects & LK_DO_CLOSE) {
        close_link (self, link);
    }
    carry_on (self, link, before, event, effects);
    if (effects & LK_DO_OPEN) {
        self->calls->open (self->shell, link);
    }
    if (effects & LK_DO_ASK) {
        link->channel.announced = link->channel.counted = false;
        send_connect (self, link);
    }
    if (effects & LK_DO_BEAT) {
        lk_ways_beat (self, link);
    }
    if ((effects & LK_DO_LIVE) && !was_sought) {
        lk_events_host (self, "NEWREMOTECONNECTION", link->host, "address",
                        link->address);
    }
    lk_ways_count (self, link);
    if ((effects & LK_DO_INTRODUCE)
        && !(link->channel.numbered
             && (was_sought || before == LK_LINK_LIVE))) {
        lk_events_introduce (self, link);
    }
    if (effects & LK_DO_INTRODUCE) {
        lk_router_gossip_by (self, LK_GOSSIP_SOON_MS);
    }
    /*  Ahead of all that comes from now on. */
    if (lk_mesh_link_is_open (link)) {
        lk_deliver_cached_host (self, link->host);
    }
}

static const char *
name_of (const lk_mesh_link *link)
{
    return link->host[0] != '\0' ? link->host : "?";
}

static void
log_step (const lk_mesh_link *link, lk_mesh_state before, lk_mesh_event event)
{
    if (before == link->state) {
        return;
    }
    const bool is_news = before == LK_LINK_LIVE || link->state == LK_LINK_LIVE;
    const bool is_try =
        before == LK_LINK_DIALING || link->state == LK_LINK_DIALING;
    LK_LOG (is_news  ? LK_LOG_NOTICE
            : is_try ? LK_LOG_DEBUG
                     : LK_LOG_INFO,
            "neighbour: %s: %s -> %s host=%s address=%s",
            lk_mesh_link_event_name (event), lk_mesh_link_state_name (before),
            lk_mesh_link_state_name (link->state), name_of (link),
            link->address);
}

/*  Others hear of it at once: they may have counted on us to reach it. */
static void
tell_unlinked (lk_router *self, lk_mesh_link *link)
{
    lk_mesh_link_reaches_nobody (link);
    lk_router_gossip_by (self, 0);
}

/*  `end`: its channel does not go on; NULL: it does if it can. */
static void
step (lk_router *self, lk_mesh_link *link, lk_mesh_event event, const char *end)
{
    const lk_mesh_state before = link->state;
    const bool was_memorable = lk_mesh_link_is_memorable (link);
    const bool was_direct = lk_mesh_link_is_direct (link);
    const bool was_live = lk_mesh_link_is_live (link);
    unsigned effects = lk_mesh_step (&self->mesh, link, event, self->now_ms);
    self->is_memory_old |= was_memorable != lk_mesh_link_is_memorable (link);
    log_step (link, before, event);
    if (was_direct && !lk_mesh_link_is_direct (link)) {
        tell_unlinked (self, link);
    }
    if (end != NULL) {
        lk_ways_lose (self, link, was_live, end);
        effects &= ~(unsigned) LK_DO_LOST;
    }
    carry_out (self, link, before, event, effects);
    lk_events_cluster (self);
}

void
lk_neighbour_step (lk_router *self, lk_mesh_link *link, lk_mesh_event event)
{
    step (self, link, event, NULL);
}

void
lk_neighbour_end (lk_router *self, lk_mesh_link *link, const char *why)
{
    step (self, link, LK_LINK_DOWN, why);
}

/*  -------------------------------------------------------- connections */

void
lk_neighbour_connected (lk_router *self, const lk_identity *identity)
{
    lk_mesh_link *link = lk_mesh_by_out (&self->mesh, identity);
    if (link != NULL) {
        link->reason[0] = '\0';
        lk_neighbour_step (self, link, LK_LINK_UP);
    }
}

/*  It is tried again and again: the same reason is logged once. */
static void
log_failure (lk_mesh_link *link, const lk_problem *problem)
{
    if (strncmp (link->reason, problem->text, sizeof link->reason - 1) != 0) {
        snprintf (link->reason, sizeof link->reason, "%.*s", LK_REASON_LEN_MAX,
                  problem->text);
        LK_LOG (problem->number != 0 ? LK_LOG_NOTICE : LK_LOG_WARNING,
                "neighbour: %s address=%s", problem->text, link->address);
    }
}

void
lk_neighbour_disconnected (lk_router *self, const lk_identity *identity,
                           const lk_problem *problem)
{
    lk_mesh_link *link = lk_mesh_by_out (&self->mesh, identity);
    if (link == NULL) {
        return;
    }
    if (problem != NULL) {
        log_failure (link, problem);
    }
    lk_neighbour_step (self, link, LK_LINK_DOWN);
}

void
lk_neighbour_left (lk_router *self, const lk_identity *identity)
{
    lk_mesh_link *link = lk_mesh_by_met (&self->mesh, identity);
    if (link != NULL && link->way == LK_WAY_IN) {
        lk_neighbour_step (self, link, LK_LINK_DOWN);
    } else if (link != NULL) {
        lk_mesh_link_leave (link);
        if (!link->met && link->sought_ms == 0) {
            lk_ways_lose (self, link, false, NULL);
        }
    }
}

void
lk_neighbour_work (lk_router *self)
{
    lk_mesh_event event;
    lk_mesh_link *link;
    lk_ways_work (self);
    while (!self->leaving
           && (link = lk_mesh_due (&self->mesh, self->now_ms, &event))
                  != NULL) {
        lk_neighbour_step (self, link, event);
    }
}

static bool
is_linked_by (const lk_router *self, const lk_mesh_link *link, const char *host)
{
    const char *user = self->calls->user (self->shell, &link->out.identity);
    return host[0] != '\0'
               ? strcmp (link->host, host) == 0
               : user != NULL && strcmp (user, LK_CURVE_MEMBER) == 0;
}

/*  Messages that it sent before are not heard, either. */
void
lk_neighbour_cut (lk_router *self, const char *host)
{
    for (size_t i = 0; i < self->mesh.count; i++) {
        lk_mesh_link *link = self->mesh.link[i];
        if (is_linked_by (self, link, host)) {
            lk_neighbour_end (self, link, LOST);
            link->met = false;
        }
    }
}

/*  -------------------------------------------------------- CONNECT */

/*  Why the key at the other end is not that of who it says it is; NULL: it may
 *  be. */
static const char *
doubt (lk_router *self, const lk_source *source, const lk_party *party)
{
    const char *user = self->calls->user (self->shell, source->identity);
    if (user == NULL && self->mesh.accepts_only) {
        return "its key is withdrawn"; /* it came by one */
    }
    return lk_keyring_objection (&self->keyring, user, party->host);
}

/*  A refusal comes again with each try. */
void
lk_neighbour_note_refusal (lk_router *self, const char *what,
                           const char *reason, const char *host,
                           const char *address)
{
    lk_refusal refusal = {.what = what};
    snprintf (refusal.reason, sizeof refusal.reason, "%s", reason);
    snprintf (refusal.host, sizeof refusal.host, "%s", host);
    snprintf (refusal.address, sizeof refusal.address, "%s", address);
    if (lk_refusals_note (&self->refusals, &refusal, self->now_ms)) {
        lk_log_warning ("neighbour: %s: %s host=%s address=%s", what,
                        refusal.reason, refusal.host, refusal.address);
    }
}

static void
turn_away (lk_router *self, const lk_source *source, const lk_party *party,
           const char *reason)
{
    self->count.refused++;
    lk_neighbour_note_refusal (self, "refused", reason, party->host,
                               party->address);
    lk_neighbour_refuse (self, source, reason);
}

lk_mesh_link *
lk_neighbour_add (lk_router *self, const char *address, bool configured)
{
    lk_mesh_link *link =
        lk_mesh_add (&self->mesh, address, configured, self->now_ms);
    lk_mesh_link *spare = link == NULL ? lk_mesh_spare (&self->mesh) : NULL;
    if (spare != NULL) {
        lk_neighbour_drop (self, spare, "makes room");
        link = lk_mesh_add (&self->mesh, address, configured, self->now_ms);
    }
    if (!configured) {
        /*  Gossip looks whether it is of use. */
        lk_router_gossip_by (self, LK_GOSSIP_SOON_MS);
    }
    return link;
}

/*  Its connection to us is the way back, too. */
static void
answer_there (lk_router *self, lk_mesh_link *link, const lk_identity *identity)
{
    if (lk_mesh_link_is_live (link)) {
        lk_neighbour_step (self, link, LK_LINK_DOWN);
    }
    lk_hop_init (&link->out, LK_SIDE_MESH, identity);
    lk_outbox_charge (&link->out.box, &self->mesh.budget);
}

static void
welcome (lk_router *self, const lk_source *source, const lk_party *party,
         lk_mesh_link *link)
{
    if (link == NULL) {
        link = lk_neighbour_add (self, party->address, false);
    }
    if (link == NULL) {
        turn_away (self, source, party, "too many neighbours");
        return;
    }
    /*  CONNECT is repeated until both ways stand. */
    const bool again =
        link->met && lk_identity_equal (&link->met_by, source->identity);
    if (link->way == LK_WAY_IN && !again) {
        answer_there (self, link, source->identity);
    }
    link->reason[0] = '\0';
    self->calls->met (self->shell, source->identity);
    lk_mesh_link_meet (link, party, source->identity, self->now_ms);
    lk_message *accept = lk_neighbour_introduction (self, "ACCEPT");
    lk_message_set_flag (accept, "privileged", true);
    lk_message_set_flag (accept, self->mesh.accepts_only ? "one_way" : "ways",
                         true);
    lk_router_answer (self, source, &accept);
    if (!again) {
        lk_neighbour_step (self, link, LK_LINK_MET);
    }
}

void
lk_neighbour_on_connect (lk_router *self, const lk_source *source,
                         const lk_message *message)
{
    lk_party party;
    if (self->leaving) {
        return;
    }
    if (!read_party (message, &party)) {
        self->count.refused++;
        lk_neighbour_refuse (self, source,
                             "CONNECT without a host's name, "
                             "address and incarnation");
        return;
    }
    party.ways = party.ways && !self->mesh.accepts_only;
    const char *wrong = doubt (self, source, &party);
    if (wrong != NULL) {
        turn_away (self, source, &party, wrong);
        return;
    }
    lk_mesh_link *link;
    char reason[LK_HOST_LEN_MAX + LK_ADDRESS_LEN_MAX + 64];
    const lk_party own = lk_router_party (self);
    switch (lk_mesh_judge (&self->mesh, &own, &party, &link)) {
    case LK_MEET_RESTARTED:
        lk_neighbour_end (self, link, LOST);
        link->met = false;
        welcome (self, source, &party, link);
        break;
    case LK_MEET_WELCOME:
        welcome (self, source, &party, link);
        break;
    case LK_MEET_OURSELVES:
        lk_neighbour_refuse (self, source, "that is us ourselves");
        break;
    case LK_MEET_NAMESAKE:
        snprintf (reason, sizeof reason, "another live host is called '%s'",
                  party.host);
        turn_away (self, source, &party, reason);
        break;
    }
}

/*  The process whose connection is sought is over. */
static void
end_former (lk_router *self, const lk_party *party)
{
    lk_mesh_link *link =
        lk_mesh_by_host (&self->mesh, lk_slice_of (party->host));
    if (link != NULL && link->sought_ms != 0
        && link->incarnation != party->incarnation) {
        lk_ways_lose (self, link, true, LOST);
    }
}

void
lk_neighbour_on_accept (lk_router *self, const lk_source *source,
                        const lk_message *message)
{
    lk_party party;
    if (!read_party (message, &party)) {
        self->count.broken++;
        return;
    }
    const lk_party own = lk_router_party (self);
    const char *wrong = doubt (self, source, &party);
    lk_mesh_event event = LK_LINK_REFUSE;
    if (wrong == NULL) {
        end_former (self, &party);
        event = lk_mesh_accepted (&self->mesh, source->link, &own, &party,
                                  self->now_ms);
    } else {
        snprintf (source->link->reason, sizeof source->link->reason, "%s",
                  wrong);
    }
    if (event == LK_LINK_REFUSE) {
        lk_neighbour_note_refusal (self, "not taken", source->link->reason,
                                   party.host, source->link->address);
    } else {
        source->link->reason[0] = '\0';
        lk_keyring_note (&self->keyring, party.host, source->link->address);
    }
    lk_neighbour_step (self, source->link, event);
}

void
lk_neighbour_on_refuse (lk_router *self, const lk_source *source,
                        const lk_message *message)
{
    lk_mesh_link *link = source->link;
    uint64_t incarnation = 0;
    const char *reason = lk_message_text (message, "reason");
    const char *host = lk_message_text (message, "host");
    (void) lk_message_hex (message, "incarnation", &incarnation);
    reason = reason != NULL ? reason : "no reason given";
    if (incarnation == self->incarnation) {
        lk_neighbour_step (self, link, LK_LINK_OWN);
        return;
    }
    /*  It answers an ALIVE, and our CONNECT is still to be answered. */
    if (link->state == LK_LINK_ASKING
        && strcmp (reason, LK_REFUSE_UNMET) == 0) {
        return;
    }
    if (link->state == LK_LINK_ASKING) {
        lk_neighbour_note_refusal (self, "refused by it", reason,
                                   host != NULL ? host : "?", link->address);
        snprintf (link->reason, sizeof link->reason, "%s", reason);
    }
    step (self, link, LK_LINK_REFUSE,
          lk_mesh_link_is_live (link) && incarnation != link->incarnation
              ? LOST
              : NULL);
}

void
lk_neighbour_on_disconnected (lk_router *self, const lk_source *source,
                              const lk_message *message)
{
    (void) message;
    lk_neighbour_step (self, source->link, LK_LINK_LEFT);
}

/*  -------------------------------------------------------- the set */

static bool
is_among (const char *address, const char *const *addresses)
{
    while (*addresses != NULL && strcmp (*addresses, address) != 0) {
        addresses++;
    }
    return *addresses != NULL;
}

static void
say_good_bye (lk_router *self, lk_mesh_link *link)
{
    if (lk_mesh_link_is_open (link)) {
        lk_message *message = lk_router_word (link, "DISCONNECTED");
        lk_message_set_text (message, "host", self->host);
        lk_router_send (self, &link->channel.out, &message);
    }
}

void
lk_neighbour_drop (lk_router *self, lk_mesh_link *link, const char *why)
{
    LK_LOG (link->known ? LK_LOG_NOTICE : LK_LOG_INFO,
            "neighbour: removed: %s host=%s address=%s", why, name_of (link),
            link->address);
    self->is_memory_old |= lk_mesh_link_is_memorable (link);
    say_good_bye (self, link);
    (void) self->calls->reach (self->shell, &link->channel.out);
    lk_ways_lose (self, link, lk_mesh_link_is_live (link), NULL);
    if (lk_mesh_link_is_direct (link)) {
        tell_unlinked (self, link);
    }
    close_link (self, link);
    lk_mesh_remove (&self->mesh, link);
}

void
lk_neighbour_configure (lk_router *self, const char *const *addresses)
{
    for (size_t i = self->mesh.count; i > 0; i--) {
        lk_mesh_link *link = self->mesh.link[i - 1];
        if (link->configured && !is_among (link->address, addresses)) {
            lk_neighbour_drop (self, link, "not configured any more");
        }
    }
    for (; *addresses != NULL; addresses++) {
        if (lk_neighbour_add (self, *addresses, true) == NULL) {
            lk_log_error ("neighbour: more than %d, ignored address=%s",
                          LK_LINKS_MAX, *addresses);
        }
    }
    self->is_memory_old = true;
    lk_events_cluster (self);
}

/*  Whether that link goes where the settings have that arbiter now, by the key
 *  that it has had. */
static bool
is_as_named (const lk_router *self, const lk_mesh_link *link,
             const lk_arbiter *arbiters, size_t count)
{
    const lk_keyring *keyring = &self->keyring;
    const lk_arbiter *now = lk_arbiter_find (arbiters, count, link->host);
    const lk_arbiter *before =
        lk_arbiter_find (keyring->arbiter, keyring->arbiter_count, link->host);
    return now != NULL && before != NULL
           && strcmp (now->address, link->address) == 0
           && strcmp (now->key, before->key) == 0;
}

/*  One at a neighbour's address is dialled as soon as the settings, or that
 *  neighbour, say something else. */
static void
dial_arbiter (lk_router *self, const lk_arbiter *arbiter)
{
    lk_mesh_link *link = lk_mesh_by_address (&self->mesh, arbiter->address);
    if (link == NULL
        && lk_mesh_by_host (&self->mesh, lk_slice_of (arbiter->name)) == NULL
        && strcmp (arbiter->name, self->host) != 0) {
        link = lk_neighbour_add (self, arbiter->address, false);
        if (link != NULL) {
            link->way = LK_WAY_OUT;
            snprintf (link->host, sizeof link->host, "%s", arbiter->name);
        }
    }
    if (link == NULL || link->way != LK_WAY_OUT) {
        lk_neighbour_note_refusal (self, "not taken",
                                   "a neighbour has the name or the address of "
                                   "this arbiter",
                                   arbiter->name, arbiter->address);
    }
}

void
lk_neighbour_set_arbiters (lk_router *self, const lk_arbiter *arbiters,
                           size_t count)
{
    lk_keyring *keyring = &self->keyring;
    for (size_t i = self->mesh.count; i > 0; i--) {
        lk_mesh_link *link = self->mesh.link[i - 1];
        if (link->way == LK_WAY_OUT
            && !is_as_named (self, link, arbiters, count)) {
            lk_neighbour_drop (self, link, "no arbiter any more");
        }
    }
    memcpy (keyring->arbiter, arbiters, count * sizeof *arbiters);
    keyring->arbiter_count = count;
    for (size_t i = 0; i < count && !self->mesh.accepts_only; i++) {
        dial_arbiter (self, &arbiters[i]);
    }
}

void
lk_neighbour_leave (lk_router *self)
{
    self->leaving = true;
    for (size_t i = 0; i < self->mesh.count; i++) {
        say_good_bye (self, self->mesh.link[i]);
    }
}

bool
lk_neighbour_all_left (const lk_router *self)
{
    for (size_t i = 0; i < self->mesh.count; i++) {
        const lk_mesh_link *link = self->mesh.link[i];
        if (lk_mesh_link_is_open (link) && link->way == LK_WAY_BOTH
            && !link->is_left) {
            return false;
        }
    }
    return true;
}
