/*  show.c - `lockkeeper show`: all that is known of one lock
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The lock's home tells who has it and who waits, their own hosts which
 *  programs these are, and all hosts what happened to it of late.
 */

#include "cli/cli.h"
#include "cli/past.h"
#include "cli/survey.h"
#include "cli/tickets.h"
#include "util/alloc.h"
#include "wire/message_frame.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#define ANSWER_MS 1500
#define TICKETS_MAX 500 /* shown; `list --object` has all */
#define HOLDERS_HEAD                                                           \
    "HELD BY           PID COMMAND         USER           SINCE       LEFT"
#define WAITERS_HEAD                                                           \
    "WAITING           PID COMMAND         USER           SINCE TYPE"

typedef struct {
    const lk_options *options;
    const char *name;
    lk_asker *asker;
    lk_survey survey;
    lk_message *ticket[TICKETS_MAX];
    size_t count, all;
    lk_past_list past;
} shower;

/*  -------------------------------------------------------- asking */

static void
take_ticket (void *user, lk_message **row_p)
{
    shower *self = user;
    const char *context = lk_message_text (*row_p, "context");
    const char *wanted = self->options->context;
    if ((wanted == NULL) != (context == NULL)) {
        return;
    }
    self->all++;
    if (self->count < TICKETS_MAX) {
        self->ticket[self->count++] = *row_p;
        *row_p = NULL;
    }
}

static bool
is_of_host (const lk_message *ticket, const char *host)
{
    const char *text = lk_message_text (ticket, "host");
    return text != NULL && strcmp (text, host) == 0;
}

/*  NULL: it has none. */
static lk_message *
ask_owners (const shower *self, const lk_survey_host *host)
{
    char to[LK_ADDRESS_LEN_MAX + 1];
    lk_message *question = NULL;
    snprintf (to, sizeof to, "lock@%s", host->name);
    for (size_t i = 0; host->live && i < self->count; i++) {
        const lk_message *ticket = self->ticket[i];
        if (!is_of_host (ticket, host->name)) {
            continue;
        }
        question =
            question != NULL ? question : lk_message_new (to, "LOCKOWNERS");
        lk_message *row = lk_message_row_new ();
        static const char *const fields[] = {"session", "serial", "pid"};
        for (size_t j = 0; j < 3; j++) {
            lk_message_set_number (row, fields[j],
                                   lk_message_number (ticket, fields[j], 0));
        }
        lk_message_add_row (question, "tickets", &row);
    }
    return question;
}

static bool
is_same (const lk_message *ticket, const lk_message *owner, const char *field)
{
    return lk_message_number (ticket, field, -1)
           == lk_message_number (owner, field, -2);
}

/*  What its host says of a ticket goes into its row. */
static void
merge_owner (shower *self, const char *host, const lk_message *owner)
{
    const char *command = lk_message_text (owner, "command");
    for (size_t i = 0; i < self->count; i++) {
        lk_message *ticket = self->ticket[i];
        if (!is_of_host (ticket, host) || !is_same (ticket, owner, "session")
            || !is_same (ticket, owner, "serial")) {
            continue;
        }
        if (command != NULL) {
            lk_message_set_text (ticket, "command", command);
        }
        if (lk_message_has (owner, "uid")) {
            lk_message_set_number (ticket, "uid",
                                   lk_message_number (owner, "uid", 0));
        }
        if (lk_message_has (owner, "jeopardy")) {
            lk_message_set_flag (ticket, "jeopardy",
                                 lk_message_flag (owner, "jeopardy"));
        }
    }
}

static void
find_owners (shower *self)
{
    lk_message *questions[LK_SURVEY_HOSTS], *answers[LK_SURVEY_HOSTS];
    const size_t count = self->survey.count;
    for (size_t i = 0; i < count; i++) {
        questions[i] = ask_owners (self, &self->survey.host[i]);
    }
    lk_asker_ask_all (self->asker, questions, answers, count, ANSWER_MS);
    for (size_t i = 0; i < count; i++) {
        lk_message *row;
        for (size_t j = 0;
             answers[i] != NULL
             && (row = lk_message_row (answers[i], "owners", j)) != NULL;
             j++) {
            merge_owner (self, self->survey.host[i].name, row);
            lk_message_destroy (&row);
        }
        lk_message_destroy (&answers[i]);
    }
}

static void
find_past (shower *self)
{
    lk_message *question = lk_message_new ("lock@.", "LOCKHISTORY");
    lk_message *answers[LK_SURVEY_HOSTS];
    lk_cli_set_object (question, self->name);
    if (self->options->context != NULL) {
        lk_message_set_text (question, "context", self->options->context);
    }
    lk_survey_ask (&self->survey, self->asker, question, answers, ANSWER_MS);
    for (size_t i = 0; i < self->survey.count; i++) {
        lk_past_take (&self->past, answers[i]);
        lk_message_destroy (&answers[i]);
    }
    lk_past_sort (&self->past);
    lk_message_destroy (&question);
}

/*  -------------------------------------------------------- for people */

static const char *
text_or (const lk_message *row, const char *field, const char *otherwise)
{
    const char *text = lk_message_text (row, field);
    return text != NULL && text[0] != '\0' ? text : otherwise;
}

/*  Its name on this host, else its number; "?": the process is gone, or its
 *  host does not tell. */
static lk_shown
user_of (const lk_message *ticket)
{
    lk_shown shown = {"?"};
    const int64_t uid = lk_message_number (ticket, "uid", -1);
    const struct passwd *user = uid < 0 ? NULL : getpwuid ((uid_t) uid);
    if (user != NULL) {
        return lk_shown_name (user->pw_name);
    }
    if (uid >= 0) {
        snprintf (shown.text, sizeof shown.text, "%" PRId64, uid);
    }
    return shown;
}

static bool
is_held (const lk_message *ticket)
{
    return strcmp (text_or (ticket, "state", ""), "held") == 0;
}

static void
print_who (const lk_message *ticket)
{
    printf ("%-12s %8" PRId64 " %-15.15s %-12.12s",
            text_or (ticket, "host", "?"), lk_message_number (ticket, "pid", 0),
            text_or (ticket, "command", "?"), user_of (ticket).text);
    printf (" %7s", lk_span (lk_message_number (ticket, "since_ms", 0)).text);
}

static void
print_kind (const lk_message *ticket)
{
    static const char *const flags[] = {"upgrade", "lenient", "static"};
    static const char *const numbers[] = {"limit", "bound", "quiet"};
    fputs (text_or (ticket, "type", "?"), stdout);
    if (lk_message_has (ticket, "policy")) {
        printf (", %s", text_or (ticket, "policy", "?"));
    }
    for (size_t i = 0; i < 3; i++) {
        if (lk_message_flag (ticket, flags[i])) {
            printf (", %s", flags[i]);
        }
    }
    for (size_t i = 0; i < 3; i++) {
        if (lk_message_has (ticket, numbers[i])) {
            printf (", %s %" PRId64, numbers[i],
                    lk_message_number (ticket, numbers[i], 0));
        }
    }
}

static void
print_holder (const lk_message *ticket)
{
    print_who (ticket);
    printf (" %10s\n",
            lk_span (lk_message_number (ticket, "left_ms", -1)).text);
    printf ("  token %" PRIu64 ", ", lk_row_token (ticket));
    print_kind (ticket);
    if (lk_message_flag (ticket, "jeopardy")) {
        printf (", %sin jeopardy: its host does not hear the leaders%s",
                lk_color_begin (LK_BAD), lk_color_end ());
    }
    putchar ('\n');
}

static size_t
print_tickets (const shower *self, bool held)
{
    size_t count = 0;
    for (size_t i = 0; i < self->count; i++) {
        if (is_held (self->ticket[i]) != held) {
            continue;
        }
        if (count++ == 0) {
            printf ("\n%s%s%s\n", lk_color_begin (LK_HEAD),
                    held ? HOLDERS_HEAD : WAITERS_HEAD, lk_color_end ());
        }
        if (held) {
            print_holder (self->ticket[i]);
        } else {
            print_who (self->ticket[i]);
            putchar (' ');
            print_kind (self->ticket[i]);
            putchar ('\n');
        }
    }
    return count;
}

static void
print_for_people (const shower *self)
{
    const char *home =
        lk_survey_home (&self->survey, self->options->context, self->name);
    lk_show (stdout, self->name);
    if (self->options->context != NULL) {
        printf (" in ");
        lk_show (stdout, self->options->context);
    }
    printf (": its home is %s\n", home != NULL ? home : "not known now");
    if (print_tickets (self, true) == 0) {
        puts ("nobody holds it");
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
print_json (shower *self)
{
    lk_message *all = lk_message_row_new ();
    const char *home =
        lk_survey_home (&self->survey, self->options->context, self->name);
    lk_cli_set_object (all, self->name);
    if (self->options->context != NULL) {
        lk_message_set_text (all, "context", self->options->context);
    }
    lk_message_set_text (all, "home", home != NULL ? home : "");
    lk_message_set_number (all, "count", (int64_t) self->all);
    for (size_t i = 0; i < self->count; i++) {
        lk_message *ticket = self->ticket[i];
        lk_message_set_number (ticket, "token",
                               (int64_t) lk_row_token (ticket));
        if (lk_message_has (ticket, "uid")) {
            lk_message_set_text (ticket, "user", user_of (ticket).text);
        }
        lk_message_add_row (all, "tickets", &self->ticket[i]);
    }
    lk_past_add_rows (&self->past, all);
    puts (lk_message_body (all));
    lk_message_destroy (&all);
}

/*  -------------------------------------------------------- the verb */

static int
show (shower *self)
{
    lk_survey_take (&self->survey, self->asker, ANSWER_MS);
    const lk_ticket_wish wish = {
        self->name, self->options->context,
        lk_survey_home (&self->survey, self->options->context, self->name)};
    int code = lk_tickets_each (self->asker, &wish, take_ticket, self);
    if (code == LK_EXIT_NO) {
        code = LK_EXIT_LATE; /* no leader tells: it may be held */
    } else if (code == LK_EXIT_OK && self->all == 0) {
        code = LK_EXIT_NO;
    }
    find_owners (self);
    find_past (self);
    if (self->options->json) {
        print_json (self);
    } else if (code == LK_EXIT_OK || code == LK_EXIT_NO) {
        print_for_people (self);
    } else if (self->past.count > 0) {
        printf ("LATELY\n");
        (void) lk_past_print_ends (&self->past);
    }
    return code;
}

static int
run_show (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_show,
                          LK_OPT_ENDPOINT | LK_OPT_JSON | LK_OPT_CONTEXT, argc,
                          argv, &code)) {
        return code;
    }
    if (options.count != 1) {
        return lk_cli_misused (&lk_verb_show,
                               "'show' needs the name of a lock");
    }
    if (lk_cli_check_name (options.argument[0]) != LK_EXIT_OK) {
        return LK_EXIT_FAILED;
    }
    shower *self = lk_alloc (sizeof *self);
    self->options = &options;
    self->name = options.argument[0];
    self->asker = lk_cli_asker (options.endpoint);
    code = self->asker != NULL ? show (self) : LK_EXIT_FAILED;
    for (size_t i = 0; i < self->count; i++) {
        lk_message_destroy (&self->ticket[i]);
    }
    lk_past_clear (&self->past);
    lk_survey_clear (&self->survey);
    lk_asker_destroy (&self->asker);
    lk_free (self);
    return code;
}

const lk_verb lk_verb_show = {
    "show",
    "NAME [--context C] [--json]",
    "Shows one lock: who holds it, who waits, and what happened to it of late",
    "  --context C    the name's context\n"
    "  --json         print one JSON object\n"
    "  --endpoint E   where the router is\n\n"
    "Exit code: 0 somebody holds it or waits; 1 nobody does; 124 no leader "
    "tells now;\n125 failed.\n",
    run_show,
};
