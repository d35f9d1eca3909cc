/*  forget.c - `lockkeeper forget`: routers forget a host that is gone
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each router remembers for itself whom it was linked with: this one is told,
 *  and those that it is linked with.
 */

#include "cli/cli.h"
#include "cli/columns.h"
#include "cli/survey.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

#define ANSWER_MS 2000
#define TEXT_SIZE 9000 /* addresses of as many hosts as a router knows */

/*  -------------------------------------------------------- one host */

/*  The answers of the routers. */
typedef struct {
    bool known; /* one of them knew it */
    bool kept;  /* one of them knows it still */
} findings;

/*  The routers, and what they forgot. */
static const lk_column columns[] = {{.width = 14, .whole = true},
                                    {.whole = true}};

static void
add_forgotten (lk_columns *table, const char *host, const lk_message *answer)
{
    char text[TEXT_SIZE] = "did not know it";
    const char *address;
    size_t used = 0;
    for (size_t i = 0;
         used < sizeof text
         && (address = lk_message_item (answer, "forgotten", i)) != NULL;
         i++) {
        used += (size_t) snprintf (text + used, sizeof text - used, "%s%s",
                                   i == 0 ? "forgot " : ", ", address);
    }
    lk_columns_add (table);
    lk_columns_set (table, 0, host);
    lk_columns_set (table, 1, text);
}

static void
tell (findings *self, const char *host, const char *name,
      const lk_message *answer, lk_columns *table)
{
    const char *reason =
        answer != NULL ? lk_message_text (answer, "reason") : "no answer";
    if (reason == NULL && lk_message_is (answer, "FORGET")) {
        add_forgotten (table, host, answer);
        self->known |= lk_message_item_count (answer, "forgotten") > 0;
        return;
    }
    self->kept = true;
    lk_cli_fail (0, "host '%s' does not forget '%s': %s", host, name,
                 reason != NULL ? reason : "its router is too old for that");
}

/*  -------------------------------------------------------- all of them */

/*  A host that is not there now keeps what it has. */
static void
say_who_is_missing (const lk_survey *survey, const char *name)
{
    for (size_t i = 0; i < survey->count; i++) {
        const lk_survey_host *host = &survey->host[i];
        const char *address =
            host->link != NULL ? lk_message_text (host->link, "address") : NULL;
        if (!host->live && strcmp (host->name, name) != 0
            && (address == NULL || strcmp (address, name) != 0)) {
            lk_cli_fail (0,
                         "host '%s' is not connected, and was not told: say "
                         "it once more when it is back",
                         host->name);
        }
    }
}

static findings
tell_all (const lk_survey *survey, lk_requester *asker, const char *name)
{
    lk_message *questions[LK_SURVEY_HOSTS], *answers[LK_SURVEY_HOSTS];
    findings self = {.known = false};
    for (size_t i = 0; i < survey->count; i++) {
        char to[LK_ADDRESS_LEN_MAX + 1];
        questions[i] = NULL;
        if (survey->host[i].live) {
            snprintf (to, sizeof to, "router@%s", survey->host[i].name);
            questions[i] = lk_message_new (to, "FORGET");
            lk_message_set_text (questions[i], "name", name);
        }
    }
    lk_requester_ask_all (asker, questions, answers, survey->count, ANSWER_MS);
    lk_columns *table = lk_columns_new (columns, 2, lk_terminal_width ());
    for (size_t i = 0; i < survey->count; i++) {
        if (survey->host[i].live) {
            tell (&self, survey->host[i].name, name, answers[i], table);
        }
        lk_message_destroy (&answers[i]);
    }
    lk_columns_print (table);
    lk_columns_destroy (&table);
    return self;
}

/*  -------------------------------------------------------- the verb */

static int
forget (lk_requester *asker, const char *name)
{
    lk_survey survey;
    lk_survey_take (&survey, asker, ANSWER_MS);
    const findings found = tell_all (&survey, asker, name);
    say_who_is_missing (&survey, name);
    lk_survey_clear (&survey);
    if (!found.known && !found.kept) {
        lk_cli_fail (0,
                     "no router knows '%s': `lockkeeper status` lists hosts, "
                     "with --json their addresses, too",
                     lk_shown_name (name).text);
    }
    return found.known && !found.kept ? LK_EXIT_OK : LK_EXIT_NO;
}

static int
run_forget (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_forget, argc, argv, &code)) {
        return code;
    }
    if (options.count != 1 || options.argument[0][0] == '\0') {
        return lk_cli_misused (&lk_verb_forget,
                               "'forget' needs one host, by its name or "
                               "address");
    }
    lk_requester *asker = lk_cli_asker (options.endpoint);
    if (asker == NULL) {
        return LK_EXIT_FAILED;
    }
    code = forget (asker, options.argument[0]);
    lk_requester_destroy (&asker);
    return code;
}

static const lk_verb_option takes[] = {LK_TAKES (ENDPOINT), LK_TAKES_END};

static const lk_verb_argument follows[] = {LK_FOLLOWS (NULL, HOST),
                                           LK_FOLLOWS_END};

const lk_verb lk_verb_forget = {
    .name = "forget",
    .usage = "NAME|ADDRESS [options]",
    .summary = "Has the routers forget a host that is gone for good",
    .options = takes,
    .help =
        "Of the host; its address as `lockkeeper status --json` tells it. "
        "Routers\n"
        "remember whom they were linked with, and dial him again and again; "
        "all that are\n"
        "linked with this host's are told. A host that comes back by itself is "
        "taken in\n"
        "anew. A member is removed by `lockkeeper cluster remove`, before.\n"
        "\n"
        "Exit code: 0 all of them know it no more; 1 one does, and says why, "
        "or none did;\n"
        "125 failed.\n",
    .arguments = follows,
    .run = run_forget,
};
