/*  forget.c - `lockkeeper forget`: routers forget a host that is gone
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each router remembers for itself whom it was linked with: this one is told,
 *  and those that it is linked with. The key of the host is withdrawn before:
 *  routers that it is still linked with cut it off by that.
 */

#include "cli/cli.h"
#include "cli/columns.h"
#include "cli/setup/host_keys.h"
#include "cli/survey.h"
#include "wire/message_frame.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define ANSWER_MS 2000
#define CUT_MS 5000 /* until a host is cut off whose key was withdrawn */
#define PAUSE_MS 250
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

/*  -------------------------------------------------------- its key */

static bool
is_its (void *context, const lk_host_key *key)
{
    return strcmp (key->host, context) == 0;
}

static bool
is_linked (lk_requester *asker, const char *name)
{
    lk_survey survey;
    bool linked = false;
    lk_survey_take (&survey, asker, ANSWER_MS);
    for (size_t i = 0; i < survey.count; i++) {
        linked |=
            survey.host[i].live && strcmp (survey.host[i].name, name) == 0;
    }
    lk_survey_clear (&survey);
    return linked;
}

/*  Routers hear of it one after the other. */
static void
await_cut (lk_requester *asker, const char *name)
{
    for (int ms = 0; ms < CUT_MS && is_linked (asker, name); ms += PAUSE_MS) {
        poll (NULL, 0, PAUSE_MS);
    }
    poll (NULL, 0, PAUSE_MS);
}

/*  Whether routers know each other by keys. */
static bool
has_keys (lk_requester *asker)
{
    lk_message *question = lk_message_new ("router@.", "KEYS");
    lk_message *answer = lk_requester_ask (asker, &question, ANSWER_MS);
    const char *security =
        answer != NULL ? lk_message_text (answer, "security") : NULL;
    const bool has = security != NULL && strcmp (security, "none") != 0;
    lk_message_destroy (&answer);
    return has;
}

static int
withdraw (lk_requester *asker, char *name, size_t *count)
{
    int code = LK_EXIT_OK;
    *count = 0;
    if (has_keys (asker)) {
        code = lk_host_keys_withdraw (asker, is_its, name, count);
    }
    if (code == LK_EXIT_OK && *count > 0) {
        await_cut (asker, name);
    }
    return code;
}

/*  -------------------------------------------------------- the verb */

static int
forget (lk_requester *asker, char *name)
{
    lk_survey survey;
    if (strcmp (name, lk_requester_host (asker)) == 0) {
        return lk_cli_fail (LK_EXIT_NO, "that is this host itself");
    }
    size_t keys;
    const int code = withdraw (asker, name, &keys);
    lk_survey_take (&survey, asker, ANSWER_MS);
    findings found = tell_all (&survey, asker, name);
    found.known |= keys > 0;
    say_who_is_missing (&survey, name);
    lk_survey_clear (&survey);
    if (!found.known && !found.kept) {
        lk_cli_fail (0,
                     "no router knows '%s': `lockkeeper status` lists hosts, "
                     "with --json their addresses, too",
                     lk_shown_name (name).text);
    }
    return found.known && !found.kept && code == LK_EXIT_OK ? LK_EXIT_OK
                                                            : LK_EXIT_NO;
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
        "anew, but if routers have keys: its key is withdrawn on all hosts, "
        "and "
        "it joins by\n"
        "`lockkeeper invite`. A member is removed by `lockkeeper cluster "
        "remove`, "
        "before.\n"
        "\n"
        "Exit code: 0 all of them know it no more; 1 one does, and says why, "
        "or none did;\n"
        "125 failed.\n",
    .arguments = follows,
    .run = run_forget,
};
