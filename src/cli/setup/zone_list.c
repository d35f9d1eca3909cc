/*  zone_list.c - `lockkeeper zone list`
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "cli/columns.h"
#include "cli/setup/settings_change.h"
#include "cli/setup/zones.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ANSWER_MS 2000

enum {
    NAME,
    LOCKS,
    SESSIONS,
    REQUESTS,
    BYTES,
    TTL,
    RENEW,
    AUTHORITY,
    ISSUERS,
    COLUMNS
};

static const lk_column columns[COLUMNS] = {
    [NAME] = {.head = "ZONE", .width = 8, .whole = true},
    [LOCKS] = {.head = "LOCKS", .width = 9, .right = true},
    [SESSIONS] = {.head = "SESSIONS", .width = 9, .right = true},
    [REQUESTS] = {.head = "REQUESTS/S", .width = 10, .right = true},
    [BYTES] = {.head = "BYTES", .width = 9, .right = true},
    [TTL] = {.head = "TTL", .width = 5, .right = true},
    [RENEW] = {.head = "RENEW", .width = 5, .right = true},
    [AUTHORITY] = {.head = "AUTHORITY", .width = 9},
    [ISSUERS] = {.head = "ISSUERS", .width = 8}};

/*  That of a zone, of LOCKSTATUS; NULL: it does not tell. */
static lk_message *
use_of (const lk_message *status, const char *zone)
{
    lk_message *row;
    for (size_t i = 0;
         status != NULL && (row = lk_message_row (status, "zones", i)) != NULL;
         i++) {
        const char *name = lk_message_text (row, "zone");
        if (strcmp (lk_zone_plain (name != NULL ? name : ""),
                    lk_zone_plain (zone))
            == 0) {
            return row;
        }
        lk_message_destroy (&row);
    }
    return NULL;
}

/*  "12/1000", of what is used and the limit; "-" for none. */
static void
set_limit (lk_columns *table, size_t column, const lk_message *use,
           const char *field, int64_t limit)
{
    char text[64] = "-";
    const int64_t used =
        use != NULL ? lk_message_number (use, field, LK_UNSET) : LK_UNSET;
    size_t size = 0;
    if (used != LK_UNSET) {
        size = (size_t) snprintf (text, sizeof text, "%" PRId64 "/", used);
    }
    snprintf (text + size, sizeof text - size, "%s", "-");
    if (limit > 0) {
        snprintf (text + size, sizeof text - size, "%" PRId64, limit);
    }
    lk_columns_set (table, column, text);
}

/*  In the largest unit that it is a whole number of, as --ttl takes it. */
static void
set_span (lk_columns *table, size_t column, int64_t seconds)
{
    char text[32];
    const int64_t unit = seconds == 0           ? 1
                         : seconds % 86400 == 0 ? 86400
                         : seconds % 3600 == 0  ? 3600
                         : seconds % 60 == 0    ? 60
                                                : 1;
    const char *word = unit == 86400  ? "d"
                       : unit == 3600 ? "h"
                       : unit == 60   ? "m"
                                      : "s";
    snprintf (text, sizeof text, "%" PRId64 "%s", seconds / unit, word);
    lk_columns_set (table, column, seconds == 0 ? "never" : text);
}

/*  The beginnings of their keys: the whole ones are for --json. */
static void
set_issuers (lk_columns *table, const lk_zone_list *self, const char *zone)
{
    char text[256] = "-";
    size_t used = 0;
    for (size_t i = 0; i < self->issuer_count && used < sizeof text - 12; i++) {
        if (strcmp (self->issuer[i].zone, zone) == 0) {
            used +=
                (size_t) snprintf (text + used, sizeof text - used, "%s%.8s",
                                   used > 0 ? " " : "", self->issuer[i].key);
        }
    }
    lk_columns_set (table, ISSUERS, text);
}

static void
add_zone (lk_columns *table, const lk_zone_list *self, const lk_zone *zone,
          const lk_message *use)
{
    lk_columns_add (table);
    lk_columns_set (table, NAME, zone->name);
    set_limit (table, LOCKS, use, "locks", zone->locks);
    set_limit (table, SESSIONS, use, "sessions", zone->sessions);
    set_limit (table, REQUESTS, use, "requests", zone->requests);
    set_limit (table, BYTES, use, "bytes", zone->bytes);
    set_span (table, TTL, zone->ttl_s);
    set_span (table, RENEW, zone->renew_s);
    lk_columns_set (table, AUTHORITY,
                    zone->authority[0] != '\0' ? zone->authority : "-");
    set_issuers (table, self, zone->name);
}

/*  -------------------------------------------------------- for programs */

static void
take_use (lk_message *row, const lk_message *use, const char *field,
          const char *as)
{
    if (use != NULL && lk_message_has (use, field)) {
        lk_message_set_number (row, as, lk_message_number (use, field, 0));
    }
}

static void
print_json (const lk_zone_list *self, const lk_zone *zone,
            const lk_message *use)
{
    lk_message *row = lk_message_row_new ();
    lk_message_set_text (row, "zone", zone->name);
    lk_message_set_number (row, "locks_max", zone->locks);
    lk_message_set_number (row, "sessions_max", zone->sessions);
    lk_message_set_number (row, "requests_max", zone->requests);
    lk_message_set_number (row, "bytes_max", zone->bytes);
    lk_message_set_number (row, "ttl_s", zone->ttl_s);
    lk_message_set_number (row, "renew_s", zone->renew_s);
    if (zone->authority[0] != '\0') {
        lk_message_set_text (row, "authority", zone->authority);
    }
    for (size_t i = 0; i < self->issuer_count; i++) {
        if (strcmp (self->issuer[i].zone, zone->name) == 0) {
            lk_message *issuer = lk_message_row_new ();
            lk_message_set_text (issuer, "key", self->issuer[i].key);
            lk_message_add_row (row, "issuers", &issuer);
        }
    }
    take_use (row, use, "locks", "locks");
    take_use (row, use, "sessions", "sessions");
    take_use (row, use, "requests", "requests");
    take_use (row, use, "bytes", "bytes");
    puts (lk_message_body (row));
    lk_message_destroy (&row);
}

void
lk_zone_list_print (const lk_zone_list *self, lk_requester *asker, bool json)
{
    lk_message *question = lk_message_new (LK_SETTINGS_SERVICE, "LOCKSTATUS");
    lk_message *status = lk_requester_ask (asker, &question, ANSWER_MS);
    lk_columns *table = lk_columns_new (columns, COLUMNS, lk_terminal_width ());
    for (size_t i = 0; i < self->count; i++) {
        lk_message *use = use_of (status, self->zone[i].name);
        if (json) {
            print_json (self, &self->zone[i], use);
        } else {
            add_zone (table, self, &self->zone[i], use);
        }
        lk_message_destroy (&use);
    }
    if (!json) {
        lk_columns_print (table);
    }
    lk_columns_destroy (&table);
    lk_message_destroy (&status);
}
