/*  show.c - `lockkeeper show`: all that is known of one lock
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The lock's home tells who has it and who waits, their own hosts which
 *  programs these are, and all hosts what happened to it of late. Where no
 *  leader is to be had, this host tells what it knows itself.
 */

#include "cli/see/show.h"

#include "cli/see/owners.h"
#include "cli/tickets.h"
#include "util/alloc.h"
#include "wire/message_frame.h"

#include <string.h>

#define ANSWER_MS 1500

/*  -------------------------------------------------------- asking */

static void
take_ticket (void *user, lk_message **row_p)
{
    lk_shower *self = user;
    const char *context = lk_message_text (*row_p, "context");
    const char *wanted = self->options->context;
    if ((wanted == NULL) != (context == NULL)) {
        return;
    }
    self->all++;
    if (self->count < LK_SHOWN_TICKETS) {
        self->ticket[self->count++] = *row_p;
        *row_p = NULL;
    }
}

static void
find_past (lk_shower *self)
{
    lk_message *question = lk_message_new ("lock@.", "LOCKHISTORY");
    lk_message *answers[LK_SURVEY_HOSTS];
    lk_cli_set_object (question, self->name);
    if (self->options->context != NULL) {
        lk_message_set_text (question, "context", self->options->context);
    }
    lk_message_set_text (question, "zone", self->options->zone);
    lk_survey_ask (&self->survey, self->asker, question, answers, ANSWER_MS);
    for (size_t i = 0; i < self->survey.count; i++) {
        lk_past_take (&self->past, answers[i]);
        lk_message_destroy (&answers[i]);
    }
    lk_past_sort (&self->past);
    lk_message_destroy (&question);
}

/*  The lock's home if that leads, else another leader that answers, or NULL. */
static const char *
find_leader (const lk_shower *self)
{
    const lk_survey *survey = &self->survey;
    const char *home = lk_survey_home (survey, self->options->zone,
                                       self->options->context, self->name);
    const char *leader = NULL;
    for (size_t i = 0; i < survey->count; i++) {
        const lk_survey_host *host = &survey->host[i];
        if (host->lock == NULL || !lk_message_flag (host->lock, "leads")) {
            continue;
        }
        if (home != NULL && strcmp (home, host->name) == 0) {
            return host->name;
        }
        leader = leader != NULL ? leader : host->name;
    }
    return leader;
}

static int
ask_own (lk_shower *self, const lk_ticket_wish *wish)
{
    bool more = false;
    self->own = true;
    if (self->survey.lock == NULL) {
        return LK_EXIT_LATE;
    }
    const int code =
        lk_tickets_own (self->asker, wish, take_ticket, self, &more);
    self->all += more;
    return code == LK_EXIT_OK ? LK_EXIT_LATE : code;
}

/*  No leader tells: it may be held. */
static int
find_tickets (lk_shower *self)
{
    const bool is_zoned = self->survey.is_zoned;
    const lk_ticket_wish wish = {self->name, self->options->context,
                                 is_zoned ? NULL : find_leader (self),
                                 self->options->zone};
    if (wish.leader == NULL && !is_zoned) {
        return ask_own (self, &wish);
    }
    const int code = lk_tickets_each (self->asker, &wish, take_ticket, self);
    if (code == LK_EXIT_OK && !is_zoned) {
        lk_owners_add (self->asker, self->ticket, self->count, ANSWER_MS);
    }
    return code == LK_EXIT_NO                     ? LK_EXIT_LATE
           : code == LK_EXIT_OK && self->all == 0 ? LK_EXIT_NO
                                                  : code;
}

/*  -------------------------------------------------------- the verb */

static int
show (lk_shower *self)
{
    lk_survey_take (&self->survey, self->asker, ANSWER_MS);
    const int code = find_tickets (self);
    if (code == LK_EXIT_FAILED
        || (self->survey.is_zoned && code == LK_EXIT_LATE)) {
        return code; /* it is said why */
    }
    find_past (self);
    if (self->options->json) {
        lk_show_json (self);
    } else {
        lk_show_for_people (self);
    }
    return code;
}

static int
run_show (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_show, argc, argv, &code)) {
        return code;
    }
    if (options.count != 1) {
        return lk_cli_misused (&lk_verb_show,
                               "'show' needs the name of a lock");
    }
    if (lk_cli_check_name (options.argument[0]) != LK_EXIT_OK) {
        return LK_EXIT_FAILED;
    }
    lk_shower *self = lk_alloc (sizeof *self);
    self->options = &options;
    self->name = options.argument[0];
    self->asker = lk_cli_looker (&options);
    code = self->asker != NULL ? show (self) : LK_EXIT_FAILED;
    for (size_t i = 0; i < self->count; i++) {
        lk_message_destroy (&self->ticket[i]);
    }
    lk_past_clear (&self->past);
    lk_survey_clear (&self->survey);
    lk_requester_destroy (&self->asker);
    lk_free (self);
    return code;
}

static const lk_verb_option takes[] = {
    LK_TAKES (CONTEXT), LK_TAKES_AS (ZONE, "the zone that the name is in"),
    LK_TAKES_AS (JSON, "print one JSON object"), LK_TAKES (ENDPOINT),
    LK_TAKES_END};

const lk_verb lk_verb_show = {
    .name = "show",
    .usage = "NAME [options]",
    .summary = "Shows one lock: who holds it, who waits, and what happened to "
               "it of late",
    .options = takes,
    .help = "Exit code: 0 somebody holds it or waits; 1 nobody does; 124 no "
            "leader tells now,\n"
            "and what is shown is what this host itself knows; 125 failed.\n",
    .arguments = lk_follows_lock,
    .is_zoned = true,
    .run = run_show,
};
