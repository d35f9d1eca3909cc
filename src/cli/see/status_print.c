/*  status_print.c - how this host and its cluster are, for people
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One screen: where there is no room for all hosts, those that all is well
 *  with are counted.
 */

#include "cli/see/status.h"

#include "cli/columns.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RATE_S 10.0
#define LABEL "%-12s "
#define LABEL_WIDTH 13
#define WIDTH_OF_LINK 54
#define WIDTH_OF_DOMAIN 96
#define LINES_BESIDE 17 /* of what is not a host, without advice */
#define LINES_OF_HOSTS 6
#define ITEMS_SIZE 5000

enum { HOST, ROLE, DOMAIN, LINK, SINCE, LOCKS, GOT, GIVEN, COLUMNS };

static const lk_column columns[COLUMNS] = {
    [HOST] = {.head = "HOST", .width = 14},
    [ROLE] = {.head = "ROLE", .width = 12, .from = WIDTH_OF_LINK},
    [DOMAIN] = {.head = "DOMAIN",
                .width = 20,
                .from = WIDTH_OF_DOMAIN,
                .optional = true},
    [LINK] = {.head = "LINK", .width = 9, .from = WIDTH_OF_LINK},
    [SINCE] = {.head = "SINCE",
               .width = 10,
               .from = WIDTH_OF_LINK,
               .right = true},
    [LOCKS] = {.head = "LOCKS", .width = 5, .whole = true},
    [GOT] = {.head = "GOT/s", .width = 8, .from = 72, .right = true},
    [GIVEN] = {.head = "GIVEN/s", .width = 8, .from = 72, .right = true}};

/*  -------------------------------------------------------- lines */

static int64_t
number_of (const lk_message *message, const char *field)
{
    return message != NULL ? lk_message_number (message, field, 0) : 0;
}

/*  As much of it as the line has room for. */
static void
print_cut (const char *label, const char *text)
{
    printf (LABEL, label);
    lk_show_last (text, strlen (text), lk_terminal_width () - LABEL_WIDTH);
    putchar ('\n');
}

/*  Bytes of the text that go into a line: up to a space. */
static size_t
first_line (const char *text, size_t room)
{
    size_t end = strlen (text);
    if (end <= room) {
        return end;
    }
    for (end = room; end > 0 && text[end] != ' '; end--) {
    }
    return end > 0 ? end : room;
}

/*  All of it, in as many lines as it takes; returns how many. */
static size_t
print_long (const char *label, const char *text, bool prints)
{
    const int width = lk_terminal_width () - LABEL_WIDTH;
    const size_t room = width < 20 ? 20 : (size_t) width;
    size_t lines = 0;
    do {
        const size_t size = first_line (text, room);
        if (prints) {
            printf (LABEL, lines == 0 ? label : "");
            lk_show_bytes (stdout, text, size);
            putchar ('\n');
        }
        text += size;
        text += text[0] == ' ';
        lines++;
    } while (text[0] != '\0');
    return lines;
}

/*  -------------------------------------------------------- this host */

/*  Of applications on other machines, where this host serves such: how many are
 *  connected, and how many have registered to have locks. */
static void
print_clients (const lk_survey *survey)
{
    const char *address = lk_message_text (survey->router, "clients_address");
    char text[LK_ADDRESS_LEN_MAX + 100];
    if (address != NULL) {
        snprintf (text, sizeof text,
                  "%" PRId64 " on other machines, %" PRId64
                  " registered for locks, by %s",
                  number_of (survey->router, "clients"),
                  number_of (survey->lock, "registrations"), address);
        print_cut ("clients", text);
    }
}

/*  Services alone: programs that use locks are listed with their locks. */
static void
print_services (const lk_message *router)
{
    const char *item, *label = "services";
    for (size_t i = 0; (item = lk_message_item (router, "services", i)) != NULL;
         i++) {
        if (strstr (item, " service ") != NULL) {
            print_cut (label, item);
            label = "";
        }
    }
}

static void
print_locks (const lk_survey *survey)
{
    char text[800];
    const int64_t since_ms =
        survey->lock != NULL ? lk_message_number (survey->lock, "since_ms", -1)
                             : -1;
    const lk_span_text since = lk_span (since_ms);
    if (lk_survey_is_ready (survey)) {
        printf (LABEL "%sready%s for %s%s\n", "locks", lk_color_begin (LK_GOOD),
                lk_color_end (), since.text,
                lk_message_flag (survey->lock, "leads")
                        && lk_terminal_width () >= WIDTH_OF_LINK
                    ? ", this host leads"
                    : "");
        return;
    }
    snprintf (text, sizeof text, "not ready%s%s: %s",
              since_ms >= 0 ? " for " : "", since_ms >= 0 ? since.text : "",
              lk_survey_reason (survey));
    fputs (lk_color_begin (LK_BAD), stdout);
    (void) print_long ("locks", text, true);
    fputs (lk_color_end (), stdout);
}

static void
print_here (const lk_survey *survey)
{
    char text[700];
    const char *host = survey->host[0].name;
    if (survey->router == NULL) {
        snprintf (text, sizeof text, "%s (its router tells no more)", host);
    } else {
        snprintf (text, sizeof text, "%s (router %s at %s)", host,
                  lk_status_text (survey->router, "version", "?"),
                  lk_status_text (survey->router, "address", "no address"));
    }
    print_cut ("host", text);
    if (survey->router != NULL) {
        print_services (survey->router);
        print_clients (survey);
    }
    print_locks (survey);
}

static void
print_items (const lk_message *message, const char *label, const char *field)
{
    char text[ITEMS_SIZE] = "none";
    const char *item;
    size_t used = 0;
    for (size_t i = 0; used < sizeof text
                       && (item = lk_message_item (message, field, i)) != NULL;
         i++) {
        used += (size_t) snprintf (text + used, sizeof text - used, "%s%s",
                                   i > 0 ? " " : "", item);
    }
    print_cut (label, text);
}

static void
print_cluster (const lk_message *lock)
{
    char text[700];
    snprintf (text, sizeof text, "%s%s, term %" PRId64 ", proposed by %s; %s",
              lk_status_text (lock, "cluster",
                              "none yet: no member of one was heard"),
              lk_message_flag (lock, "member") ? "" : " (not a member)",
              number_of (lock, "term"),
              lk_status_text (lock, "proposer", "nobody"),
              lk_status_text (lock, "phase", "?"));
    print_cut ("cluster", text);
    print_items (lock, "leaders", "leaders");
    if (lk_message_item_count (lock, "next") > 0) {
        print_items (lock, "next", "next");
    }
    print_items (lock, "members", "members");
    print_items (lock, "sees", "sees");
    printf (LABEL "%" PRId64 ", good for %" PRId64 " ms\n", "session",
            number_of (lock, "session"), number_of (lock, "lease_left"));
    const char *journal = lk_message_text (lock, "journal");
    if (journal != NULL && strcmp (journal, "off") != 0) {
        printf (LABEL "%s\n", "journal", journal);
    }
}

/*  -------------------------------------------------------- hosts */

static void
set_rate (lk_columns *table, size_t column, int64_t lately)
{
    char text[32];
    snprintf (text, sizeof text, "%.1f", (double) lately / RATE_S);
    lk_columns_set (table, column, text);
}

static void
set_link (lk_columns *table, const lk_survey *survey,
          const lk_survey_host *host)
{
    const int64_t since_ms =
        host->link != NULL ? number_of (host->link, "since_ms") : -1;
    lk_columns_set (table, ROLE, lk_status_role (survey, host));
    if (host->domain[0] != '\0') {
        lk_columns_set (table, DOMAIN, host->domain);
    }
    lk_columns_set (table, LINK, lk_status_link (host));
    lk_columns_set_color (table, LINK, host->live ? LK_GOOD : LK_BAD);
    lk_columns_set (table, SINCE, lk_span (since_ms).text);
}

static void
add_host (lk_columns *table, const lk_survey *survey,
          const lk_survey_host *host)
{
    const bool is_well = lk_status_trouble (host) == NULL;
    lk_columns_add (table);
    lk_columns_set (table, HOST, host->name);
    set_link (table, survey, host);
    lk_columns_set (table, LOCKS, is_well ? "ready" : "no");
    lk_columns_set_color (table, LOCKS, is_well ? LK_GOOD : LK_BAD);
    if (host->lock != NULL) {
        set_rate (table, GOT, number_of (host->lock, "grants_lately"));
        set_rate (table, GIVEN, number_of (host->lock, "releases_lately"));
    }
}

static size_t
lines_of (const lk_survey_host *host)
{
    return lk_status_trouble (host) != NULL && !host->here ? 2 : 1;
}

/*  What is shown first where there is no room for all. */
typedef enum { FIRST, LEADING, PLAIN, RANKS } rank;

static rank
rank_of (const lk_survey_host *host)
{
    return lk_status_trouble (host) != NULL || host->here ? FIRST
           : host->leader >= 0                            ? LEADING
                                                          : PLAIN;
}

typedef struct {
    const lk_survey_host *host[LK_SURVEY_HOSTS]; /* those that are shown */
    size_t count;
    size_t left[RANKS];   /* lines, of hosts of that rank */
    size_t left_out, bad; /* hosts without one, and those not ready of them */
} places;

static places
share_out (const lk_survey *survey, size_t lines)
{
    places self = {.left_out = 0};
    size_t all = 0;
    for (size_t i = 0; i < survey->count; i++) {
        self.left[rank_of (&survey->host[i])] += lines_of (&survey->host[i]);
        all += lines_of (&survey->host[i]);
    }
    lines -= all > lines; /* for how many are left out */
    for (size_t i = 0; i < RANKS; i++) {
        self.left[i] = self.left[i] < lines ? self.left[i] : lines;
        lines -= self.left[i];
    }
    return self;
}

static void
take_place (places *self, const lk_survey_host *host)
{
    const size_t lines = lines_of (host);
    size_t *left = &self->left[rank_of (host)];
    if (*left >= lines) {
        *left -= lines;
        self->host[self->count++] = host;
    } else {
        *left = 0;
        self->left_out++;
        self->bad += lk_status_trouble (host) != NULL;
    }
}

/*  Below its line. */
static void
print_trouble (void *user, size_t row)
{
    const lk_survey_host *host = ((const places *) user)->host[row];
    const char *trouble = lk_status_trouble (host);
    if (trouble != NULL && !host->here) {
        printf ("  ");
        lk_show_last (trouble, strlen (trouble), lk_terminal_width () - 2);
        putchar ('\n');
    }
}

static void
print_hosts (const lk_survey *survey, size_t lines)
{
    places self = share_out (survey, lines);
    lk_columns *table = lk_columns_new (columns, COLUMNS, lk_terminal_width ());
    for (size_t i = 0; i < survey->count; i++) {
        take_place (&self, &survey->host[i]);
    }
    for (size_t i = 0; i < self.count; i++) {
        add_host (table, survey, self.host[i]);
    }
    putchar ('\n');
    lk_columns_print_with (table, print_trouble, &self);
    lk_columns_destroy (&table);
    if (self.left_out > 0 && self.bad == 0) {
        printf ("... and %zu more, all ready\n", self.left_out);
    } else if (self.left_out > 0) {
        printf ("... and %zu more, %s%zu not ready%s\n", self.left_out,
                lk_color_begin (LK_BAD), self.bad, lk_color_end ());
    }
}

/*  -------------------------------------------------------- sums */

/*  What a leader knows of the whole cluster; NULL: none answers. */
static const lk_message *
a_leader (const lk_survey *survey)
{
    for (size_t i = 0; i < survey->count; i++) {
        const lk_message *lock = survey->host[i].lock;
        if (lock != NULL && lk_message_has (lock, "waiting")) {
            return lock;
        }
    }
    return NULL;
}

/*  How many requests each leader orders. */
static void
print_homes (const lk_message *leader)
{
    char text[ITEMS_SIZE];
    const lk_message *row;
    size_t used = 0;
    for (size_t i = 0; used < sizeof text
                       && (row = lk_message_row (leader, "homes", i)) != NULL;
         i++) {
        used += (size_t) snprintf (text + used, sizeof text - used,
                                   "%s%s of %" PRId64, i > 0 ? ", " : "",
                                   lk_status_text (row, "host", "?"),
                                   number_of (row, "tickets"));
    }
    if (used > 0) {
        print_cut ("homes", text);
    }
}

static void
print_requests (const lk_survey *survey)
{
    char text[200] = "no leader tells how many there are";
    const lk_message *leader = a_leader (survey);
    int64_t grants = 0, releases = 0;
    for (size_t i = 0; i < survey->count; i++) {
        grants += number_of (survey->host[i].lock, "grants_lately");
        releases += number_of (survey->host[i].lock, "releases_lately");
    }
    if (leader != NULL) {
        snprintf (text, sizeof text,
                  "%" PRId64 " in the cluster, %" PRId64 " of them wait, for "
                  "%" PRId64 " names",
                  number_of (leader, "tickets"), number_of (leader, "waiting"),
                  number_of (leader, "waited_for"));
    }
    print_cut ("requests", text);
    if (leader != NULL) {
        print_homes (leader);
    }
    snprintf (text, sizeof text,
              "%.1f got and %.1f given back per second in the last 10 s",
              (double) grants / RATE_S, (double) releases / RATE_S);
    print_cut ("rates", text);
}

/*  What it keeps for receivers that are not there, and whom for. */
static void
describe_waiting (const lk_message *router, char *text, size_t size)
{
    const char *item;
    const int64_t waiting = number_of (router, "waiting");
    size_t used = (size_t) snprintf (
        text, size,
        waiting > 0 ? "%" PRId64 " messages wait here for" : "no message waits",
        waiting);
    for (size_t i = 0;
         used < size / 2
         && (item = lk_message_item (router, "awaited", i)) != NULL;
         i++) {
        used += (size_t) snprintf (text + used, size - used, "%s %s",
                                   i > 0 ? "," : "", item);
    }
}

/*  ... and what came of it since it was started. */
static void
print_router (const lk_message *router)
{
    static const char *const counters[] = {"expired", "overloaded", "lost"};
    char text[700];
    describe_waiting (router, text, sizeof text);
    size_t used = strlen (text);
    used += (size_t) snprintf (text + used, sizeof text - used,
                               "; since its start");
    for (size_t i = 0; i < 3; i++) {
        used += (size_t) snprintf (
            text + used, sizeof text - used, "%s %" PRId64 " %s",
            i > 0 ? "," : "", number_of (router, counters[i]), counters[i]);
    }
    (void) print_long ("router", text, true);
}

/*  -------------------------------------------------------- all */

static size_t
lines_of_advice (const lk_advices *advices)
{
    size_t lines = 0;
    for (size_t i = 0; i < advices->count; i++) {
        lines += print_long ("", advices->item[i].text, false);
    }
    return lines;
}

static bool
is_note (const lk_advice *advice)
{
    return strcmp (advice->label, "note") == 0;
}

/*  Says what is wrong. */
static void
print_warnings (const lk_advices *advices)
{
    bool fine = true;
    for (size_t i = 0; i < advices->count; i++) {
        const lk_advice *it = &advices->item[i];
        if (!is_note (it)) {
            fine = false;
            printf ("%s", lk_color_begin (LK_BAD));
            (void) print_long (it->label, it->text, true);
            printf ("%s", lk_color_end ());
        }
    }
    if (fine) {
        printf (LABEL "none\n", "alerts");
    }
}

static void
print_notes (const lk_advices *advices)
{
    for (size_t i = 0; i < advices->count; i++) {
        if (is_note (&advices->item[i])) {
            (void) print_long ("note", advices->item[i].text, true);
        }
    }
}

/*  Where all goes into one screen; else, and in a file, very many. */
static size_t
room_for_hosts (const lk_advices *advices, size_t zones)
{
    const size_t lines = (size_t) lk_terminal_height ();
    const size_t beside = LINES_BESIDE + lines_of_advice (advices) + zones;
    return lines > beside + LINES_OF_HOSTS ? lines - beside : LINES_OF_HOSTS;
}

void
lk_status_print (const lk_survey *survey, const lk_advices *advices,
                 const char *object)
{
    print_warnings (advices);
    print_here (survey);
    if (survey->lock != NULL) {
        print_cluster (survey->lock);
    }
    if (object != NULL) {
        const char *home = lk_survey_home (survey, NULL, "", object);
        printf (LABEL "%s\n", "home", home != NULL ? home : "none now");
    }
    print_hosts (survey,
                 room_for_hosts (advices, lk_status_zone_lines (survey->lock)));
    lk_status_print_zones (survey->lock);
    putchar ('\n');
    print_requests (survey);
    if (survey->router != NULL) {
        print_router (survey->router);
    }
    print_notes (advices);
}
