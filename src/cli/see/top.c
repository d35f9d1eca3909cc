/*  top.c - `lockkeeper top`: the locks that are asked for most
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A table that is drawn anew each second. Home, clear and the other screen
 *  are all that it needs of a terminal: so it needs no library for that.
 */

#include "cli/cli.h"
#include "cli/columns.h"
#include "cli/see/screen.h"
#include "cli/survey.h"
#include "cli/tickets.h"
#include "util/alloc.h"
#include "util/escape.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MS 1000
#define REFRESH_MS 1000
#define LINES_ABOVE 3

enum { ZONE, WAITERS, HOLDERS, LONGEST, GOT, WAITED, HELD, NAME, COLUMNS };

static const lk_column columns[COLUMNS] = {
    [ZONE] = {.head = "ZONE", .width = 8, .optional = true},
    [WAITERS] = {.head = "WAITERS", .width = 7, .right = true},
    [HOLDERS] = {.head = "HOLDERS", .width = 7, .right = true},
    [LONGEST] = {.head = "LONGEST", .width = 8, .right = true},
    [GOT] = {.head = "GOT/s", .width = 8, .from = 75, .right = true},
    [WAITED] = {.head = "WAITED", .width = 8, .from = 75, .right = true},
    [HELD] = {.head = "HELD", .width = 8, .from = 75, .right = true},
    [NAME] = {.head = "NAME"}};

/*  One name, added up over all hosts. */
typedef struct {
    char *shown; /* with its context */
    lk_message *row;
    int64_t waiters, holders, longest_ms;
    int64_t grants, releases, waited_ms, held_ms;
    double rate;
} line;

typedef struct {
    const lk_options *options;
    lk_requester *asker;
    line *line;
    size_t count, room;
    char order; /* the key of it */
    bool help, led;
    char problem[LK_HOST_LEN_MAX + 100]; /* why there are none; or "" */
} toper;

/*  -------------------------------------------------------- lines */

/*  The same name always looks the same. */
static char *
shown_name (const lk_message *row)
{
    size_t size;
    char *name = lk_row_full_name (row, &size);
    char *shown = lk_alloc (LK_ESCAPE_ROOM (size));
    (void) lk_escape (name, size, shown, LK_ESCAPE_ROOM (size));
    lk_free (name);
    return shown;
}

static bool
is_of_zone (const line *it, const lk_message *row)
{
    const char *one = lk_message_text (it->row, "zone");
    const char *other = lk_message_text (row, "zone");
    return one == NULL || other == NULL ? one == other
                                        : strcmp (one, other) == 0;
}

/*  Takes the row if it is the first of its name. */
static line *
need_line (toper *self, lk_message **row_p)
{
    char *shown = shown_name (*row_p);
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp (self->line[i].shown, shown) == 0
            && is_of_zone (&self->line[i], *row_p)) {
            lk_free (shown);
            return &self->line[i];
        }
    }
    if (self->count == self->room) {
        self->room = self->room > 0 ? self->room * 2 : 64;
        self->line = lk_realloc (self->line, self->room * sizeof (line));
    }
    line *it = &self->line[self->count++];
    *it = (line) {.shown = shown, .row = *row_p};
    *row_p = NULL;
    return it;
}

static void
forget_lines (toper *self)
{
    while (self->count > 0) {
        line *it = &self->line[--self->count];
        lk_free (it->shown);
        lk_message_destroy (&it->row);
    }
}

static int64_t
number (const lk_message *row, const char *field)
{
    return lk_message_number (row, field, 0);
}

static void
add_names (toper *self, const lk_message *answer)
{
    const double seconds = (double) number (answer, "window_ms") / 1000;
    lk_message *row;
    for (size_t i = 0; (row = lk_message_row (answer, "names", i)) != NULL;
         i++) {
        const int64_t grants = number (row, "grants");
        const int64_t releases = number (row, "releases");
        const int64_t waited_ms = number (row, "waited_ms");
        const int64_t held_ms = number (row, "held_ms");
        line *it = need_line (self, &row);
        it->grants += grants;
        it->releases += releases;
        it->waited_ms += waited_ms;
        it->held_ms += held_ms;
        it->rate += seconds > 0 ? (double) grants / seconds : 0;
        lk_message_destroy (&row);
    }
}

/*  All leaders say the same: one of them counts. */
static void
add_waits (toper *self, const lk_message *answer)
{
    lk_message *row;
    self->led = true;
    for (size_t i = 0; (row = lk_message_row (answer, "waits", i)) != NULL;
         i++) {
        const int64_t waiters = number (row, "waiters");
        const int64_t holders = number (row, "holders");
        const int64_t longest_ms = number (row, "longest_ms");
        line *it = need_line (self, &row);
        it->waiters = waiters;
        it->holders = holders;
        it->longest_ms = longest_ms;
        lk_message_destroy (&row);
    }
}

/*  -------------------------------------------------------- order */

static char present_order;

static double
weight_of (const line *it)
{
    switch (present_order) {
    case 'g':
        return it->rate;
    case 't':
        return (double) (it->longest_ms > 0 ? it->longest_ms
                         : it->grants > 0   ? it->waited_ms / it->grants
                                            : 0);
    case 'h':
        return (double) it->held_ms;
    default:
        return (double) it->waiters * 1e9 + it->rate;
    }
}

static int
by_weight (const void *one, const void *other)
{
    const double a = weight_of (one), b = weight_of (other);
    return a == b  ? strcmp (((const line *) one)->shown,
                             ((const line *) other)->shown)
           : a > b ? -1
                   : 1;
}

/*  A zone is told by its own host what a leader says. */
static void
take_answer (toper *self, const lk_survey *survey, const lk_message *answer)
{
    if (!lk_message_is (answer, "LOCKTOP")) {
        snprintf (self->problem, sizeof self->problem, "%s",
                  lk_complaint_of (answer));
        return;
    }
    add_names (self, answer);
    if (!self->led && (survey->is_zoned || lk_message_flag (answer, "leads"))) {
        add_waits (self, answer);
    }
}

static void
look (toper *self)
{
    lk_survey survey;
    lk_message *question = lk_message_new ("lock@.", "LOCKTOP");
    lk_message *answers[LK_SURVEY_HOSTS];
    forget_lines (self);
    self->led = false;
    self->problem[0] = '\0';
    lk_message_set_text (question, "zone", self->options->zone);
    lk_survey_take (&survey, self->asker, ANSWER_MS);
    lk_survey_ask (&survey, self->asker, question, answers, ANSWER_MS);
    for (size_t i = 0; i < survey.count; i++) {
        if (answers[i] != NULL) {
            take_answer (self, &survey, answers[i]);
        }
        lk_message_destroy (&answers[i]);
    }
    present_order = self->order;
    if (self->count > 0) {
        qsort (self->line, self->count, sizeof (line), by_weight);
    }
    lk_survey_clear (&survey);
    lk_message_destroy (&question);
}

/*  -------------------------------------------------------- printing */

static lk_span_text
mean (int64_t sum_ms, int64_t count)
{
    return lk_span (count > 0 ? sum_ms / count : -1);
}

static void
add_row (lk_columns *table, const line *it)
{
    char rate[32];
    snprintf (rate, sizeof rate, "%.1f", it->rate);
    lk_columns_add (table);
    if (lk_message_has (it->row, "zone")) {
        lk_columns_set (table, ZONE, lk_text_of (it->row, "zone"));
    }
    lk_columns_set_number (table, WAITERS, it->waiters);
    lk_columns_set_number (table, HOLDERS, it->holders);
    lk_columns_set (table, LONGEST,
                    lk_span (it->waiters > 0 ? it->longest_ms : -1).text);
    lk_columns_set (table, GOT, rate);
    lk_columns_set (table, WAITED, mean (it->waited_ms, it->grants).text);
    lk_columns_set (table, HELD, mean (it->held_ms, it->releases).text);
    lk_columns_set (table, NAME, it->shown);
}

static void
print_table (const toper *self, int width, size_t lines)
{
    lk_columns *table = lk_columns_new (columns, COLUMNS, width);
    for (size_t i = 0; i < self->count && i < lines; i++) {
        add_row (table, &self->line[i]);
    }
    lk_columns_print (table);
    lk_columns_destroy (&table);
    if (self->count == 0) {
        puts ("nothing was asked for in the last ten seconds");
    }
}

static void
print_json (const toper *self)
{
    for (size_t i = 0; i < self->count; i++) {
        const line *it = &self->line[i];
        lk_message_set_number (it->row, "waiters", it->waiters);
        lk_message_set_number (it->row, "holders", it->holders);
        lk_message_set_number (it->row, "longest_ms", it->longest_ms);
        lk_message_set_number (it->row, "grants", it->grants);
        lk_message_set_number (it->row, "releases", it->releases);
        lk_message_set_number (it->row, "waited_ms", it->waited_ms);
        lk_message_set_number (it->row, "held_ms", it->held_ms);
        puts (lk_message_body (it->row));
    }
}

static int
print_once (toper *self)
{
    look (self);
    if (self->problem[0] != '\0') {
        return lk_cli_fail (LK_EXIT_FAILED, "the table cannot be had: %s",
                            self->problem);
    }
    if (self->options->json) {
        print_json (self);
        return LK_EXIT_OK;
    }
    if (!self->led) {
        puts ("no leader answers: who waits is not known now");
    }
    print_table (self, lk_terminal_width (), self->count);
    return LK_EXIT_OK;
}

/*  -------------------------------------------------------- the screen */

static void
print_help (void)
{
    puts ("w  by waiters: who waits now, the longest since\n"
          "g  by locks got per second\n"
          "t  by the time waited: the longest one's now, else the mean\n"
          "h  by the time held\n"
          "?  this, or the table\n"
          "q  quit\n\n"
          "GOT/s, WAITED and HELD (mean times) are of the last ten seconds, of "
          "busy\nhosts as much of them as is remembered.");
}

static void
draw (const toper *self)
{
    const lk_screen_size size = lk_screen_get_size ();
    const size_t lines =
        size.lines > LINES_ABOVE + 1 ? (size_t) size.lines - LINES_ABOVE : 1;
    char title[2 * LK_HOST_LEN_MAX + 300];
    lk_screen_clear ();
    const bool is_zoned = lk_requester_is_zoned (self->asker);
    snprintf (
        title, sizeof title, "lockkeeper top, %s %s%s%s%s; ? helps, q quits",
        is_zoned ? "of zone" : "as seen from",
        is_zoned ? lk_requester_who (self->asker).zone
                 : lk_requester_host (self->asker),
        self->problem[0] != '\0' ? ": " : "", self->problem,
        self->led || self->problem[0] != '\0' ? "" : " (no leader answers)");
    lk_show_last (title, strlen (title), size.columns);
    puts ("\n");
    if (self->help) {
        print_help ();
    } else {
        print_table (self, size.columns, lines - 1);
    }
    fflush (stdout);
}

/*  False: it is time to go. */
static bool
take_key (toper *self, int key)
{
    if (key == 'q' || key == LK_SCREEN_END) {
        return false;
    }
    if (key == '?') {
        self->help = !self->help;
    } else if (key == 'w' || key == 'g' || key == 't' || key == 'h') {
        self->order = (char) key;
        self->help = false;
    }
    return true;
}

static int
run_screen (toper *self)
{
    if (!lk_screen_begin ()) {
        return lk_cli_fail (LK_EXIT_FAILED, "cannot use the terminal: %m; "
                                            "--once prints the table");
    }
    do {
        look (self);
        draw (self);
    } while (take_key (self, lk_screen_key (REFRESH_MS)));
    lk_screen_end ();
    return LK_EXIT_OK;
}

/*  -------------------------------------------------------- the verb */

static int
run_top (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_top, argc, argv, &code)) {
        return code;
    }
    /*  The key of an order is the first letter of its word. */
    toper self = {.options = &options,
                  .order = options.sort != NULL ? options.sort[0] : 'w'};
    if (options.count != 0) {
        return lk_cli_misused (&lk_verb_top, "'top' takes no name");
    }
    self.asker = lk_cli_looker (&options);
    if (self.asker == NULL) {
        return LK_EXIT_FAILED;
    }
    if (options.once || options.json || !lk_screen_is_there ()) {
        code = print_once (&self);
    } else {
        code = run_screen (&self);
    }
    forget_lines (&self);
    lk_free (self.line);
    lk_requester_destroy (&self.asker);
    return code;
}

static const lk_verb_option takes[] = {
    LK_TAKES (ONCE),
    LK_TAKES_WORD (SORT, "by waiters (default), grants, time or held",
                   "waiters grants time held"),
    LK_TAKES_AS (ZONE, "only names of that zone"),
    LK_TAKES_AS (JSON, "print a JSON object per name, once"),
    LK_TAKES (ENDPOINT),
    LK_TAKES_END};

const lk_verb lk_verb_top = {
    .name = "top",
    .usage = "[options]",
    .summary =
        "Shows the locks that are asked for and waited for most, each second",
    .intro = "Keys: w waiters, g got per second, t time waited, h time held, ? "
             "help, q quit.\n"
             "If stdin or stdout is no terminal the table is printed once.\n",
    .options = takes,
    .help = "Exit code: 0; 125 failed.\n",
    .is_zoned = true,
    .run = run_top,
};
