/*  quota.c - how much a zone may have
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "quota.h"

#include "audit.h"
#include "out.h"

#include "util/alloc.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TELL_MS = 1000 };

/*  -------------------------------------------------------- refusals */

static bool
refuse (lk_lockd *self, const lk_message *message, const lk_who *who,
        const char *limit, int64_t most)
{
    static const char *const texts[][2] = {
        {"locks", "the zone may have %" PRId64 " locks"},
        {"bytes", "the zone may have %" PRId64 " bytes of names"},
        {"sessions", "the zone may have %" PRId64 " sessions"},
        {"requests", "the zone may ask %" PRId64 " times a second"},
    };
    char why[80] = "";
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp (texts[i][0], limit) == 0) {
            snprintf (why, sizeof why, texts[i][1], most);
        }
    }
    lk_lockd_audit_refusal (self, message, who, why);
    lk_lockd_fail_limit (self, message, limit, why);
    return false;
}

/*  -------------------------------------------------------- requests */

static bool
gives_back (const lk_message *message)
{
    return lk_message_is (message, "UNLOCK")
           || lk_message_is (message, "LOCKLEASE")
           || lk_message_is (message, "LOCKGOODBYE");
}

bool
lk_lockd_may_ask (lk_lockd *self, const lk_message *message, const lk_who *who)
{
    const bool within =
        lk_shares_count (self->shares, who->zone, lk_bus_now (self->bus));
    return within || gives_back (message) || lk_message_is (message, "LOCK")
           || refuse (self, message, who, "requests",
                      lk_shares_limits (self->shares, who->zone)->requests);
}

/*  -------------------------------------------------------- locks */

static int64_t
bytes_of (const lk_app_request *request)
{
    int64_t bytes = request->object.size;
    for (size_t i = 0; i < request->rest_count; i++) {
        bytes += request->rest[i].size;
    }
    return bytes;
}

bool
lk_lockd_may_lock (lk_lockd *self, const lk_ask *ask, const lk_app *app)
{
    const char *zone = ask->core.object.data; /* a NUL ends it */
    const lk_zone *limits = lk_shares_limits (self->shares, zone);
    if (!limits) {
        return true;
    }
    const lk_zone_use use =
        lk_shares_all (self->shares, zone, lk_node_find_use (self->node, zone));
    const int64_t locks = use.locks + (int64_t) ask->core.rest_count + 1;
    const int64_t bytes = use.bytes + bytes_of (&ask->core);
    if (limits->locks > 0 && locks > limits->locks) {
        return refuse (self, ask->message, &app->who, "locks", limits->locks);
    }
    if (limits->bytes > 0 && bytes > limits->bytes) {
        return refuse (self, ask->message, &app->who, "bytes", limits->bytes);
    }
    return !lk_shares_is_over (self->shares, zone, lk_bus_now (self->bus))
           || refuse (self, ask->message, &app->who, "requests",
                      limits->requests);
}

bool
lk_lockd_may_register (lk_lockd *self, const lk_ask *ask, const lk_app *session)
{
    const char *zone = session->who.zone;
    const lk_zone *limits = lk_shares_limits (self->shares, zone);
    if (!limits || limits->sessions == 0
        || lk_apps_has_registered (&self->apps, &ask->core.far)) {
        return true;
    }
    const int64_t sessions = (int64_t) lk_apps_count_of_zone (&self->apps, zone)
                             + lk_shares_others (self->shares, zone).sessions
                             + 1;
    return sessions <= limits->sessions
           || refuse (self, ask->message, &session->who, "sessions",
                      limits->sessions);
}

/*  -------------------------------------------------------- telling */

static void
add_use (const lk_lockd *self, lk_message *message, const char *zone)
{
    const lk_node_use own = lk_node_find_use (self->node, zone);
    lk_message *row = lk_message_row_new ();
    lk_message_set_text (row, "zone", zone[0] ? zone : LK_ZONE_DEFAULT);
    lk_message_set_any (row, "locks", (int64_t) own.locks);
    lk_message_set_any (row, "bytes", (int64_t) own.bytes);
    lk_message_set_any (row, "kept", (int64_t) own.kept);
    lk_message_set_any (row, "kept_bytes", (int64_t) own.kept_bytes);
    lk_message_set_any (row, "sessions",
                        (int64_t) lk_apps_count_of_zone (&self->apps, zone));
    lk_message_set_any (
        row, "requests",
        lk_shares_rate (self->shares, zone, lk_bus_now (self->bus)));
    lk_message_add_row (message, "zones", &row);
}

static lk_message *
write_use (const lk_lockd *self)
{
    lk_message *message = lk_message_new ("lock@*", "LOCKZONES");
    const lk_zone *zone = NULL;
    lk_message_set_hex (message, "id", self->state.id);
    while ((zone = lk_shares_next (self->shares, zone)) != NULL) {
        add_use (self, message, zone->name);
    }
    return message;
}

void
lk_lockd_read_limits (lk_lockd *self)
{
    const lk_settings_row *row =
        lk_texts_find (self->texts, self->state.facts.active.settings);
    lk_shares_set (self->shares, row ? row->text.data : "");
    self->use_at_ms =
        lk_shares_are_told (self->shares) ? lk_bus_now (self->bus) : INT64_MAX;
}

/*  The same is not said twice, but to a host that may not have heard it. */
void
lk_lockd_tell_use (lk_lockd *self)
{
    if (self->use_at_ms > lk_bus_now (self->bus)) {
        return;
    }
    self->use_at_ms = lk_bus_now (self->bus) + TELL_MS;
    lk_message *message = write_use (self);
    const char *body = lk_message_body (message);
    const bool is_news = !self->use_told || strcmp (self->use_told, body) != 0;
    if (is_news) {
        lk_free (self->use_told);
        self->use_told = lk_strdup (body);
    }
    if (is_news && self->attached) {
        (void) lk_lockd_send (self, message);
    } else {
        lk_message_destroy (&message);
    }
}

void
lk_lockd_tell_use_anew (lk_lockd *self)
{
    lk_free (self->use_told);
    self->use_told = NULL;
}
