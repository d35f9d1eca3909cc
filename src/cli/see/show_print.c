/*  show_print.c - one lock, for people and for programs
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/see/show.h"

#include "cli/columns.h"
#include "cli/see/owners.h"
#include "cli/see/silence.h"
#include "cli/tickets.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WIDE 72         /* a terminal that has room for all columns */
#define LINES_BESIDE 14 /* of what is not about who waits */
#define WAITERS_MIN 5
#define HOST_WIDTH 12
#define KIND_SIZE 200

enum { WHO, PID, COMMAND, USER, SINCE, LEFT, TYPE, SHORT_COMMAND, COLUMNS };

static const lk_column columns[COLUMNS] = {
    [WHO] = {.head = "HELD BY", .width = HOST_WIDTH},
    [PID] = {.head = "PID", .width = 8, .right = true},
    [COMMAND] = {.head = "COMMAND", .width = 15, .from = WIDE},
    [USER] = {.head = "USER", .width = 12, .from = WIDE},
    [SINCE] = {.head = "SINCE", .width = 8, .right = true},
    [LEFT] = {.head = "LEFT", .width = 8, .from = WIDE, .right = true},
    [TYPE] = {.head = "TYPE", .from = WIDE, .whole = true},
    [SHORT_COMMAND] = {.head = "COMMAND", .below = WIDE}};

/*  Of who holds it or who waits, those that there is room for. */
typedef struct {
    const lk_message *ticket[LK_SHOWN_TICKETS];
    size_t count, left_out;
} shown;

/*  -------------------------------------------------------- tickets */

static const char *
text_or (const lk_message *row, const char *field, const char *otherwise)
{
    const char *text = lk_message_text (row, field);
    return text != NULL && text[0] != '\0' ? text : otherwise;
}

static bool
is_held (const lk_message *ticket)
{
    return strcmp (text_or (ticket, "state", ""), "held") == 0;
}

/*  A holder has a line of its own for its type, and for a waiter no time is
 *  left. */
static lk_columns *
new_table (bool held)
{
    lk_column wanted[COLUMNS];
    memcpy (wanted, columns, sizeof wanted);
    if (held) {
        wanted[TYPE].below = 1;
    } else {
        wanted[WHO].head = "WAITING";
        wanted[LEFT].below = 1;
    }
    return lk_columns_new (wanted, COLUMNS, lk_terminal_width ());
}

/*  "shared, limit 3" */
static const char *
write_kind (const lk_message *ticket, char text[KIND_SIZE])
{
    static const char *const flags[] = {"upgrade", "lenient", "static"};
    static const char *const numbers[] = {"limit", "bound", "quiet"};
    const char *policy = lk_message_text (ticket, "policy");
    size_t used = (size_t) snprintf (
        text, KIND_SIZE, "%.60s%s%.60s", text_or (ticket, "type", "?"),
        policy != NULL ? ", " : "", policy ? policy : "");
    for (size_t i = 0; i < 3; i++) {
        if (lk_message_flag (ticket, flags[i])) {
            used += (size_t) snprintf (text + used, KIND_SIZE - used, ", %s",
                                       flags[i]);
        }
    }
    for (size_t i = 0; i < 3; i++) {
        if (lk_message_has (ticket, numbers[i])) {
            used += (size_t) snprintf (
                text + used, KIND_SIZE - used, ", %s %" PRId64, numbers[i],
                lk_message_number (ticket, numbers[i], 0));
        }
    }
    return text;
}

static void
add_row (lk_columns *table, const lk_message *ticket)
{
    char kind[KIND_SIZE];
    const lk_owner_title title = lk_owner_get_title (ticket);
    const char *user = text_or (ticket, "user", "-");
    lk_columns_add (table);
    if (lk_message_has (ticket, "host")) {
        lk_columns_set (table, WHO, text_or (ticket, "host", "?"));
        lk_columns_set_number (table, PID,
                               lk_message_number (ticket, "pid", 0));
        lk_columns_set (table, USER, lk_owner_get_user (ticket).text);
    } else {
        lk_columns_set (table, WHO,
                        lk_message_flag (ticket, "own") ? "(own)" : user);
        lk_columns_set (table, PID, "-");
        lk_columns_set (table, USER, user);
    }
    lk_columns_set (table, COMMAND, title.text);
    lk_columns_set (table, SINCE,
                    lk_span (lk_message_number (ticket, "since_ms", 0)).text);
    lk_columns_set (table, LEFT, lk_span (lk_row_left (ticket)).text);
    lk_columns_set (table, TYPE, write_kind (ticket, kind));
    lk_columns_set (table, SHORT_COMMAND, title.text);
}

/*  The words that it was started with, in one line. */
static void
print_arguments (const lk_message *ticket)
{
    const char *words = lk_message_text (ticket, "arguments");
    if (words != NULL) {
        printf ("  ");
        lk_show_last (words, strlen (words), lk_terminal_width () - 2);
        putchar ('\n');
    }
}

/*  Below its line. */
static void
print_holder (void *user, size_t row)
{
    const lk_message *ticket = ((const shown *) user)->ticket[row];
    const char *host = text_or (ticket, "host", "?");
    char kind[KIND_SIZE];
    lk_silence silence;
    if (strlen (host) > HOST_WIDTH && lk_terminal_width () < LK_WIDTH_ANY) {
        printf ("  on ");
        lk_show (stdout, host);
        putchar ('\n');
    }
    print_arguments (ticket);
    printf ("  token %" PRIu64 ", ", lk_row_token (ticket));
    lk_show (stdout, write_kind (ticket, kind));
    putchar ('\n');
    if (lk_message_has (ticket, "grace_ms")) {
        printf ("  %sgrace%s: its duration is over; kept from others for %s "
                "more, or until it is given back\n",
                lk_color_begin (LK_BAD), lk_color_end (),
                lk_span (lk_row_left (ticket)).text);
    }
    if (lk_silence_read (ticket, &silence)) {
        printf ("  ");
        lk_silence_print (&silence);
    }
    if (lk_message_flag (ticket, "jeopardy")) {
        printf ("  %sin jeopardy%s: its host does not hear the leaders\n",
                lk_color_begin (LK_BAD), lk_color_end ());
    }
}

/*  Of many who wait a terminal has the first ones, so that who holds it stays
 *  in sight. */
static size_t
places_for (bool held)
{
    const int lines = lk_terminal_height () - LINES_BESIDE;
    return held || lines > LK_SHOWN_TICKETS ? LK_SHOWN_TICKETS
           : lines > WAITERS_MIN            ? (size_t) lines
                                            : WAITERS_MIN;
}

static shown
choose (const lk_shower *self, bool held)
{
    const size_t places = places_for (held);
    shown some = {.count = 0};
    for (size_t i = 0; i < self->count; i++) {
        if (is_held (self->ticket[i]) != held) {
            continue;
        }
        if (some.count < places) {
            some.ticket[some.count++] = self->ticket[i];
        } else {
            some.left_out++;
        }
    }
    return some;
}

static size_t
print_tickets (const lk_shower *self, bool held)
{
    shown some = choose (self, held);
    lk_columns *table = new_table (held);
    for (size_t i = 0; i < some.count; i++) {
        add_row (table, some.ticket[i]);
    }
    if (some.count > 0) {
        putchar ('\n');
        lk_columns_print_with (table, held ? print_holder : NULL, &some);
    }
    lk_columns_destroy (&table);
    if (some.left_out > 0) {
        printf ("... and %zu more wait; `lockkeeper list --object` has all\n",
                some.left_out);
    }
    return some.count;
}

/*  -------------------------------------------------------- for people */

/*  What this host's locks still have. */
static void
print_lease (const lk_message *lock)
{
    const int64_t left_ms = lk_message_number (lock, "lease_left", 0);
    if (left_ms > 0) {
        printf ("%s of its lease are left: what it holds until then is lost "
                "then\n",
                lk_span (left_ms).text);
    } else {
        puts ("its lease is over: it holds nothing but static locks");
    }
}

/*  No leader tells, and why. */
static void
print_alone (const lk_shower *self)
{
    const lk_survey *survey = &self->survey;
    const char *host = survey->host[0].name;
    printf ("%sno leader tells now%s who holds it in the cluster\n",
            lk_color_begin (LK_BAD), lk_color_end ());
    if (survey->lock == NULL) {
        lk_show (stdout, lk_survey_reason (survey));
        putchar ('\n');
        return;
    }
    if (lk_survey_is_ready (survey)) {
        printf ("%s has heard one lately; ", host);
    } else {
        printf ("%s has been cut off for %s: ", host,
                lk_span (lk_message_number (survey->lock, "since_ms", 0)).text);
        lk_show (stdout, lk_survey_reason (survey));
        putchar ('\n');
    }
    print_lease (survey->lock);
    printf ("what %s itself knows of its own programs:\n", host);
}

static const char *
zone_of (const lk_shower *self)
{
    return self->survey.is_zoned ? lk_requester_who (self->asker).zone
                                 : self->options->zone;
}

static void
print_title (const lk_shower *self)
{
    const char *zone = zone_of (self);
    const char *home = lk_survey_home (&self->survey, zone,
                                       self->options->context, self->name);
    lk_show (stdout, self->name);
    if (self->options->context != NULL) {
        printf (" in ");
        lk_show (stdout, self->options->context);
    }
    if (zone != NULL) {
        printf (" of zone ");
        lk_show (stdout, zone);
    }
    if (!self->survey.is_zoned) {
        printf (": its home is %s",
                home != NULL && !self->own ? home : "not known now");
    }
    putchar ('\n');
}

static void
print_hosts (const lk_message *view, const char *label, const char *field)
{
    const char *host;
    printf ("%s", label);
    for (size_t i = 0; (host = lk_message_item (view, field, i)) != NULL; i++) {
        putchar (' ');
        lk_show (stdout, host);
    }
}

/*  Each leader has all locks. */
static void
print_copies (const lk_shower *self)
{
    const lk_message *view = self->survey.view;
    if (self->survey.is_zoned || self->own || view == NULL) {
        return;
    }
    print_hosts (view, "copies on", "leaders");
    if (lk_message_item_count (view, "next") > 0) {
        print_hosts (view, "; next", "next");
    }
    putchar ('\n');
}

void
lk_show_for_people (const lk_shower *self)
{
    print_title (self);
    print_copies (self);
    if (self->own) {
        print_alone (self);
    }
    const size_t holders = print_tickets (self, true);
    if (holders == 0 && (!self->own || self->survey.lock != NULL)) {
        puts (self->own ? "none of them holds it" : "nobody holds it");
    }
    (void) print_tickets (self, false);
    if (self->all > self->count) {
        printf ("... and %zu more; `lockkeeper list --object` has all\n",
                self->all - self->count);
    }
    printf ("\n%sLATELY%s\n", lk_color_begin (LK_HEAD), lk_color_end ());
    if (lk_past_print_ends (&self->past) == 0) {
        puts ("nothing that anybody remembers");
    }
}

/*  -------------------------------------------------------- for programs */

static void
set_alone (const lk_shower *self, lk_message *all)
{
    const lk_survey *survey = &self->survey;
    lk_message_set_text (all, "reason",
                         lk_survey_is_ready (survey)
                             ? "no leader answers"
                             : lk_survey_reason (survey));
    if (survey->lock != NULL) {
        lk_message_set_number (all, "since_ms",
                               lk_message_number (survey->lock, "since_ms", 0));
        lk_message_set_number (
            all, "lease_left",
            lk_message_number (survey->lock, "lease_left", 0));
    }
}

static void
set_copies (const lk_shower *self, lk_message *all)
{
    static const char *const fields[][2] = {{"copies", "leaders"},
                                            {"next", "next"}};
    const lk_message *view = self->own ? NULL : self->survey.view;
    const char *host;
    for (size_t field = 0; view != NULL && field < 2; field++) {
        for (size_t i = 0;
             (host = lk_message_item (view, fields[field][1], i)) != NULL;
             i++) {
            lk_message_add_item (all, fields[field][0], host);
        }
    }
}

void
lk_show_json (lk_shower *self)
{
    lk_message *all = lk_message_row_new ();
    const char *home = lk_survey_home (&self->survey, zone_of (self),
                                       self->options->context, self->name);
    lk_cli_set_object (all, self->name);
    lk_message_set_text (all, "zone", zone_of (self));
    if (self->options->context != NULL) {
        lk_message_set_text (all, "context", self->options->context);
    }
    if (!self->survey.is_zoned) {
        lk_message_set_text (all, "home",
                             home != NULL && !self->own ? home : "");
        lk_message_set_flag (all, "own", self->own);
        set_copies (self, all);
    }
    if (self->own) {
        set_alone (self, all);
    }
    lk_message_set_number (all, "count", (int64_t) self->all);
    for (size_t i = 0; i < self->count; i++) {
        lk_owner_complete (self->ticket[i]);
        lk_message_add_row (all, "tickets", &self->ticket[i]);
    }
    lk_past_add_rows (&self->past, all);
    puts (lk_message_body (all));
    lk_message_destroy (&all);
}
