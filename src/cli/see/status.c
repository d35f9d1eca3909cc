/*  status.c - `lockkeeper status`: how this host and its cluster are
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/see/status.h"

#include "cli/cli.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

#define ANSWER_MS 1500

/*  -------------------------------------------------------- for programs */

static lk_message *
row_of (const lk_survey *survey, const lk_survey_host *host)
{
    static const char *const numbers[] = {
        "requests", "grants",        "releases",       "alerts",
        "jeopardy", "grants_lately", "releases_lately"};
    lk_message *row = lk_message_row_new ();
    const char *trouble = lk_status_trouble (host);
    lk_message_set_text (row, "host", host->name);
    lk_message_set_text (row, "role", lk_status_role (survey, host));
    if (host->domain[0] != '\0') {
        lk_message_set_text (row, "domain", host->domain);
    }
    if (host->told_domain[0] != '\0') {
        lk_message_set_text (row, "told_domain", host->told_domain);
    }
    lk_message_set_text (row, "state", lk_status_link (host));
    lk_message_set_flag (row, "live", host->live);
    lk_message_set_flag (row, "ready", trouble == NULL);
    if (trouble != NULL) {
        lk_message_set_text (row, "reason", trouble);
    }
    if (host->link != NULL) {
        lk_message_set_text (row, "address",
                             lk_status_text (host->link, "address", ""));
        lk_message_set_number (row, "since_ms",
                               lk_message_number (host->link, "since_ms", 0));
    }
    for (size_t i = 0;
         host->lock != NULL && i < sizeof numbers / sizeof numbers[0]; i++) {
        lk_message_set_number (row, numbers[i],
                               lk_message_number (host->lock, numbers[i], 0));
    }
    return row;
}

static void
add_advice (const lk_advices *advices, lk_message *all)
{
    for (size_t i = 0; i < advices->count; i++) {
        lk_message *row = lk_message_row_new ();
        lk_message_set_text (row, "kind", advices->item[i].label);
        lk_message_set_text (row, "text", advices->item[i].text);
        lk_message_add_row (all, "advice", &row);
    }
}

/*  One object: the messages' bodies go into it as they are. */
static void
print_json (const lk_survey *survey, const lk_advices *advices,
            const char *object)
{
    lk_message *all = lk_message_row_new ();
    lk_message_set_text (all, "host", survey->host[0].name);
    lk_message_set_flag (all, "ready", lk_survey_is_ready (survey));
    if (!lk_survey_is_ready (survey)) {
        lk_message_set_text (all, "reason", lk_survey_reason (survey));
    }
    if (object != NULL) {
        const char *home = lk_survey_home (survey, NULL, "", object);
        lk_cli_set_object (all, object);
        lk_message_set_text (all, "home", home != NULL ? home : "");
    }
    for (size_t i = 0; i < survey->count; i++) {
        lk_message *row = row_of (survey, &survey->host[i]);
        lk_message_add_row (all, "hosts", &row);
    }
    add_advice (advices, all);
    const char *body = lk_message_body (all);
    printf ("%.*s,\"router\":%s,\"lock\":%s}\n", (int) strlen (body) - 1, body,
            survey->router != NULL ? lk_message_body (survey->router) : "null",
            survey->lock != NULL ? lk_message_body (survey->lock) : "null");
    lk_message_destroy (&all);
}

/*  -------------------------------------------------------- the verb */

static int
run_status (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_status, argc, argv, &code)) {
        return code;
    }
    if (options.count != 0) {
        return lk_cli_misused (&lk_verb_status,
                               "'status' takes no '%s'; "
                               "--object NAME asks for one lock",
                               lk_shown_name (options.argument[0]).text);
    }
    if (options.object != NULL
        && lk_cli_check_name (options.object) != LK_EXIT_OK) {
        return LK_EXIT_FAILED;
    }
    lk_requester *asker = lk_cli_looker (&options);
    if (asker == NULL) {
        return LK_EXIT_FAILED;
    }
    lk_survey survey;
    lk_advices advices;
    lk_survey_take (&survey, asker, ANSWER_MS);
    if (survey.is_zoned) {
        code = lk_status_print_zone (&survey, asker, options.json);
        lk_survey_clear (&survey);
        lk_requester_destroy (&asker);
        return code;
    }
    lk_survey_take_domains (&survey, asker, ANSWER_MS);
    lk_status_advise (&survey, asker, ANSWER_MS, &advices);
    if (options.json) {
        print_json (&survey, &advices, options.object);
    } else {
        lk_status_print (&survey, &advices, options.object);
    }
    code = lk_survey_is_ready (&survey) ? LK_EXIT_OK : LK_EXIT_NO;
    lk_survey_clear (&survey);
    lk_requester_destroy (&asker);
    return code;
}

static const lk_verb_option takes[] = {
    LK_TAKES_AS (
        OBJECT,
        "also show the home of a lock: the leader that keeps its queue"),
    LK_TAKES_AS (JSON, "print one JSON object"), LK_TAKES (ENDPOINT),
    LK_TAKES_END};

const lk_verb lk_verb_status = {
    .name = "status",
    .usage = "[options]",
    .summary = "Shows this host, its cluster, and whether locks can be had",
    .options = takes,
    .help = "Exit code: 0 locks can be had; 1 not now; 125 no router.\n",
    .is_zoned = true,
    .run = run_status,
};
