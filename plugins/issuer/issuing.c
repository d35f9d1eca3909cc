/*  issuing.c - the callbacks of an issuer
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "issuing.h"

#include "net/log.h"
#include "wire/address.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

#define SETTINGS_MS 5000 /* between two questions for them */
#define OF_USER 3        /* log-ins of a user at once, */
#define OF_ADDRESS 32    /* and of an address */

static const char *const subscriptions[] = {"STATUS", NULL};

/*  -------------------------------------------------------- settings */

static void
ask_settings (lk_issuing *self)
{
    lk_message *question = lk_message_new ("lock@.", "LOCKSETTINGS");
    (void) lk_bus_send (self->bus, &question);
    self->ask_at_ms = lk_bus_now (self->bus) + SETTINGS_MS;
}

/*  Without a text: that host fetches them from another one. */
static void
take_settings (lk_issuing *self, const lk_message *answer)
{
    const char *text = lk_message_text (answer, "text");
    const uint64_t version =
        (uint64_t) lk_message_number (answer, "version", 0);
    if (text == NULL
        || (self->known.zones != NULL && version == self->settings)) {
        return;
    }
    self->settings = version;
    lk_known_take_settings (&self->known, text);
    lk_log_info ("issuer: settings taken version=%llu zones=%zu",
                 (unsigned long long) version, self->known.zone_count);
    lk_known_tell (&self->known);
}

/*  -------------------------------------------------------- messages */

static void
settle_time (lk_issuing *self)
{
    const int64_t logins = lk_login_deadline (self);
    lk_bus_wake_at (self->bus,
                    logins < self->ask_at_ms ? logins : self->ask_at_ms);
}

static bool
is_login (const lk_message *message)
{
    return lk_message_is (message, "LOGIN") || lk_message_is (message, "RENEW");
}

static void
refuse (lk_issuing *self, const lk_message *message)
{
    const bool known = is_login (message);
    lk_message *answer =
        lk_message_reply (message, known ? "INVALID" : "UNKNOWN");
    lk_message_set_text (answer, "command", lk_message_command (message));
    lk_message_set_text (answer, "reason",
                         known ? "that is not yours to say"
                               : "an issuer knows LOGIN and RENEW");
    (void) lk_bus_send (self->bus, &answer);
}

/*  A password is left in no memory. What was received is ours to write to. */
static void
wipe (const lk_message *message)
{
    lk_message_wipe ((lk_message *) message, "password");
}

static void
on_message (void *context, const lk_message *message)
{
    lk_issuing *self = context;
    lk_address from;
    if (lk_message_is_complaint (message)
        || !lk_address_parts (lk_slice_of (lk_message_from (message)), &from)) {
        return;
    }
    if (is_login (message) && lk_slice_is (from.service, "router")) {
        lk_login_take (self, message);
        settle_time (self);
    } else if (!lk_slice_is (from.service, "lock")) {
        refuse (self, message);
    } else if (strcmp (from.host.data, lk_bus_host (self->bus)) == 0
               && lk_message_is (message, "LOCKSETTINGS")) {
        take_settings (self, message);
    }
    wipe (message);
}

static bool
is_own_lock_service (const lk_issuing *self, const char *address)
{
    return address != NULL && strncmp (address, "lock@", 5) == 0
           && strcmp (address + 5, lk_bus_host (self->bus)) == 0;
}

static void
on_event (void *context, const lk_message *event)
{
    lk_issuing *self = context;
    if (is_login (event)) {
        lk_login_take (self, event);
    } else if (lk_message_is (event, "STATUS")
               && is_own_lock_service (self,
                                       lk_message_text (event, "service"))) {
        ask_settings (self);
    }
    wipe (event);
    settle_time (self);
}

/*  -------------------------------------------------------- time */

static void
on_verdict (void *context)
{
    lk_issuing *self = context;
    lk_pool_seen (self->pool);
    lk_login_answer_all (self);
    settle_time (self);
}

static void
on_timer (void *context)
{
    lk_issuing *self = context;
    if (self->pool == NULL) {
        return;
    }
    lk_login_answer_all (self);
    if (self->ask_at_ms <= lk_bus_now (self->bus)) {
        ask_settings (self);
    }
    settle_time (self);
}

/*  -------------------------------------------------------- life */

/*  In a thread. */
static void
ask (const lk_question *question, lk_authority_answer *verdict)
{
    if (question->authority != NULL
        && question->authority->type == LK_AUTHORITY_LDAP) {
        lk_ask_ldap (question, verdict);
    } else {
        lk_ask_passwords (question, verdict);
    }
}

static void
on_attach (void *context, lk_bus *bus)
{
    lk_issuing *self = context;
    lk_problem problem;
    self->bus = bus;
    if (self->pool == NULL) {
        self->pool = lk_pool_new (ask, &problem);
        if (self->pool == NULL) {
            lk_log_error ("issuer: ends: %s", problem.text);
            lk_bus_stop (bus, 1);
            return;
        }
        lk_bus_watch (bus, lk_pool_fd (self->pool), on_verdict, self);
    }
    lk_log_notice ("issuer: attached host=%s", lk_bus_host (bus));
    ask_settings (self);
    settle_time (self);
}

/*  A router that is gone has nobody to pass an answer on to. */
static void
on_detach (void *context, const char *reason)
{
    lk_issuing *self = context;
    (void) reason;
    if (self->pool != NULL) {
        lk_login_give_up_all (self);
    }
}

static void
on_reload (void *context)
{
    lk_issuing *self = context;
    lk_known_read (&self->known, &self->options);
    lk_known_tell (&self->known);
}

const lk_service lk_issuing_service = {
    .name = "issuer",
    .version = LK_VERSION,
    .subscriptions = subscriptions,
    .attach = on_attach,
    .message = on_message,
    .event = on_event,
    .timer = on_timer,
    .detach = on_detach,
    .reload = on_reload,
};

void
lk_issuing_init (lk_issuing *self, const lk_issuer_options *options)
{
    *self =
        (lk_issuing) {.options = *options,
                      .users = {.most = OF_USER},
                      .addresses = {.most = OF_ADDRESS, .keeps_count = true},
                      .ask_at_ms = INT64_MAX};
    snprintf (self->zone_file.folder, sizeof self->zone_file.folder, "%s",
              options->zone_logs);
    lk_known_read (&self->known, options);
}

void
lk_issuing_clear (lk_issuing *self)
{
    if (self->pool != NULL) {
        lk_login_give_up_all (self);
    }
    lk_pool_destroy (&self->pool);
    lk_known_clear (&self->known);
}
