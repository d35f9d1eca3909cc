/*  status_zone.c - how a zone is, as its people see it; what all zones use
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Nobody tells a zone of hosts: whether locks can be had, who the caller is,
 *  and what the zone has of what it may have.
 */

#include "cli/see/status.h"

#include "cli/cli.h"
#include "cli/columns.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define LABEL "%-12s "
#define ZONES_MAX 8 /* lines; `zone list` has all */

static const struct {
    const char *use, *most;
    const char *unit; /* behind the number */
} limits[] = {{"locks", "locks_max", ""},
              {"sessions", "sessions_max", ""},
              {"requests", "requests_max", " a second"},
              {"bytes", "bytes_max", ""}};

#define LIMITS (sizeof limits / sizeof limits[0])

/*  -------------------------------------------------------- for people */

/*  "2 of 5"; "2, no limit" */
static void
print_limit (const lk_message *lock, size_t i)
{
    const int64_t most = lk_message_number (lock, limits[i].most, 0);
    printf (LABEL "%" PRId64 "%s", limits[i].use,
            lk_message_number (lock, limits[i].use, 0), limits[i].unit);
    if (most > 0) {
        printf (" of %" PRId64 "\n", most);
    } else {
        puts (", no limit");
    }
}

static int64_t
until_s (const lk_requester_person *who)
{
    return (int64_t) time (NULL) + who->left_ms / 1000;
}

static void
print_who (const lk_requester_person *who)
{
    char until[LK_UTC_SIZE];
    printf (LABEL "%s\n" LABEL, "zone", who->zone, "user");
    lk_show (stdout, who->user);
    printf ("\n" LABEL "%s\n", "role", who->role);
    if (who->left_ms >= 0) {
        printf (LABEL "until %s, for %s\n", "credential",
                lk_utc_text (until_s (who), until),
                lk_span (who->left_ms).text);
    }
}

/*  In other words than "locks", which is a limit, too. */
static void
print_ready (const lk_survey *survey)
{
    const bool ready = lk_survey_is_ready (survey);
    printf (LABEL "%s%s%s", "state", lk_color_begin (ready ? LK_GOOD : LK_BAD),
            ready ? "ready" : "not ready", lk_color_end ());
    if (survey->lock != NULL && lk_message_has (survey->lock, "since_ms")) {
        printf (" for %s",
                lk_span (lk_message_number (survey->lock, "since_ms", 0)).text);
    }
    if (!ready) {
        printf (": ");
        lk_show (stdout, lk_survey_reason (survey));
    }
    putchar ('\n');
}

/*  -------------------------------------------------------- for programs */

static void
print_json (const lk_survey *survey, const lk_requester_person *who)
{
    static const char *const numbers[] = {
        "locks",        "locks_max", "sessions",  "sessions_max", "requests",
        "requests_max", "bytes",     "bytes_max", "since_ms"};
    char until[LK_UTC_SIZE];
    lk_message *row = lk_message_row_new ();
    lk_message_set_text (row, "zone", who->zone);
    lk_message_set_text (row, "user", who->user);
    lk_message_set_text (row, "role", who->role);
    if (who->left_ms >= 0) {
        lk_message_set_text (row, "until", lk_utc_text (until_s (who), until));
    }
    lk_message_set_flag (row, "ready", lk_survey_is_ready (survey));
    if (!lk_survey_is_ready (survey)) {
        lk_message_set_text (row, "reason", lk_survey_reason (survey));
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (survey->lock != NULL && lk_message_has (survey->lock, numbers[i])) {
            lk_message_set_number (
                row, numbers[i],
                lk_message_number (survey->lock, numbers[i], 0));
        }
    }
    puts (lk_message_body (row));
    lk_message_destroy (&row);
}

/*  -------------------------------------------------------- of a zone */

int
lk_status_print_zone (const lk_survey *survey, const lk_requester *asker,
                      bool json)
{
    const lk_requester_person who = lk_requester_who (asker);
    if (survey->lock != NULL && lk_message_is (survey->lock, "LOCKFAILED")) {
        return lk_cli_fail (LK_EXIT_FAILED, "the status cannot be had: %s",
                            lk_complaint_of (survey->lock));
    }
    if (json) {
        print_json (survey, &who);
    } else {
        print_ready (survey);
        print_who (&who);
        for (size_t i = 0; survey->lock != NULL && i < LIMITS; i++) {
            print_limit (survey->lock, i);
        }
    }
    return lk_survey_is_ready (survey) ? LK_EXIT_OK : LK_EXIT_NO;
}

/*  -------------------------------------------------------- of all zones */

static void
add_zone (lk_columns *table, const lk_message *row)
{
    lk_columns_add (table);
    lk_columns_set (table, 0, lk_text_of (row, "zone"));
    for (size_t i = 0; i < LIMITS; i++) {
        char text[48];
        const int64_t most = lk_message_number (row, limits[i].most, 0);
        const int64_t use = lk_message_number (row, limits[i].use, 0);
        snprintf (text, sizeof text,
                  most > 0 ? "%" PRId64 "/%" PRId64 : "%" PRId64 "/-", use,
                  most);
        lk_columns_set (table, i + 1, text);
    }
}

static size_t
zones_of (const lk_message *lock)
{
    return lock != NULL ? lk_message_item_count (lock, "zones") : 0;
}

size_t
lk_status_zone_lines (const lk_message *lock)
{
    const size_t count = zones_of (lock);
    return count == 0 ? 0 : count > ZONES_MAX ? ZONES_MAX + 3 : count + 2;
}

void
lk_status_print_zones (const lk_message *lock)
{
    static const lk_column columns[] = {
        {.head = "ZONE", .width = 14},
        {.head = "LOCKS", .width = 10, .right = true},
        {.head = "SESSIONS", .width = 10, .right = true},
        {.head = "REQUESTS/S", .width = 10, .right = true},
        {.head = "BYTES", .width = 12, .right = true}};
    const size_t count = zones_of (lock);
    if (count == 0) {
        return;
    }
    lk_columns *table =
        lk_columns_new (columns, LIMITS + 1, lk_terminal_width ());
    for (size_t i = 0; i < count && i < ZONES_MAX; i++) {
        lk_message *row = lk_message_row (lock, "zones", i);
        if (row != NULL) {
            add_zone (table, row);
        }
        lk_message_destroy (&row);
    }
    putchar ('\n');
    lk_columns_print (table);
    lk_columns_destroy (&table);
    if (count > ZONES_MAX) {
        printf ("... and %zu more; `lockkeeper zone list` has all\n",
                count - ZONES_MAX);
    }
}
