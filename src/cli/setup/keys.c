/*  keys.c - `lockkeeper keys`: by which routers know each other
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings/keys.h"
#include "cli/cli.h"
#include "cli/setup/config.h"
#include "cli/setup/host_keys.h"
#include "cli/survey.h"
#include "net/curve_ring.h"
#include "net/paths.h"
#include "settings/router.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_MS 3000

/*  -------------------------------------------------------- asking */

/*  NULL: said why. */
static lk_message *
ask (lk_requester *asker, const char *command)
{
    lk_message *question = lk_message_new ("router@.", command);
    lk_message *answer = lk_requester_ask (asker, &question, ANSWER_MS);
    const char *reason =
        answer != NULL ? lk_message_text (answer, "reason") : "no answer";
    if (reason != NULL) {
        lk_cli_fail (0, "keys are not changed: %s", reason);
        lk_message_destroy (&answer);
    }
    return answer;
}

/*  One of the whole cluster has no host. */
static void
print_key (const lk_message *row)
{
    const char *host = lk_text_of (row, "host");
    printf ("%-12s %-10s %s\n", lk_text_of (row, "state"),
            host[0] != '\0' ? host : LK_HOST_KEY_ANY, lk_text_of (row, "key"));
}

static int
show (lk_requester *asker)
{
    lk_message *answer = ask (asker, "KEYS");
    lk_message *row;
    if (answer == NULL) {
        return LK_EXIT_FAILED;
    }
    printf ("security     %s\n", lk_text_of (answer, "security"));
    for (size_t i = 0; (row = lk_message_row (answer, "keys", i)) != NULL;
         i++) {
        print_key (row);
        lk_message_destroy (&row);
    }
    printf ("invitations  %lld\n",
            (long long) lk_message_number (answer, "invited", 0));
    lk_message_destroy (&answer);
    return LK_EXIT_OK;
}

static int
rotate (lk_requester *asker)
{
    lk_message *answer = ask (asker, "ROTATEKEYS");
    if (answer == NULL) {
        return LK_EXIT_FAILED;
    }
    printf ("pending      %-10s %s\n", lk_requester_host (asker),
            lk_text_of (answer, "key"));
    lk_message_destroy (&answer);
    return LK_EXIT_OK;
}

/*  -------------------------------------------------------- withdrawing */

/*  The keys of this host, and whether all can do without a pair of the whole
 *  cluster. */
typedef struct {
    const char *host;
    char used[LK_CURVE_TEXT_SIZE];
    bool is_own;       /* it is this host's */
    bool is_shared;    /* there is a pair of the whole cluster */
    bool drops_shared; /* which is to go */
} former;

static void
take_key (former *self, const lk_message *row)
{
    const char *host = lk_text_of (row, "host");
    self->is_shared |= host[0] == '\0';
    if (strcmp (lk_text_of (row, "state"), "in use") == 0) {
        self->is_own = host[0] != '\0';
        snprintf (self->used, sizeof self->used, "%s", lk_text_of (row, "key"));
    }
}

static bool
has_key (const lk_message *answer, const char *host)
{
    bool found = false;
    lk_message *row;
    for (size_t i = 0;
         !found && (row = lk_message_row (answer, "keys", i)) != NULL; i++) {
        found = strcmp (lk_text_of (row, "host"), host) == 0
                && strcmp (lk_text_of (row, "state"), "pending") != 0;
        lk_message_destroy (&row);
    }
    return found;
}

/*  A host that is away would not know the others when it comes back. */
static bool
all_have_keys (lk_requester *asker, const lk_message *answer)
{
    lk_survey survey;
    bool all = true;
    lk_survey_take (&survey, asker, ANSWER_MS);
    for (size_t i = 0; i < survey.count; i++) {
        const lk_survey_host *host = &survey.host[i];
        if (!has_key (answer, host->name)) {
            all = false;
            lk_cli_fail (0,
                         "host '%s' has no key of its own: `lockkeeper keys "
                         "rotate` there first, or forget it",
                         host->name);
        } else if (!host->live) {
            all = false;
            lk_cli_fail (0,
                         "host '%s' is not connected, and could not come back: "
                         "wait for it, or forget it",
                         host->name);
        }
    }
    lk_survey_clear (&survey);
    return all;
}

static bool
is_former (void *context, const lk_host_key *key)
{
    const former *self = context;
    return strcmp (key->host, LK_HOST_KEY_ANY) == 0
               ? self->drops_shared
               : strcmp (key->host, self->host) == 0
                     && strcmp (key->key, self->used) != 0;
}

static int
withdraw (lk_requester *asker)
{
    former self = {.host = lk_requester_host (asker)};
    lk_message *answer = ask (asker, "KEYS");
    lk_message *row;
    size_t count;
    if (answer == NULL) {
        return LK_EXIT_FAILED;
    }
    for (size_t i = 0; (row = lk_message_row (answer, "keys", i)) != NULL;
         i++) {
        take_key (&self, row);
        lk_message_destroy (&row);
    }
    self.drops_shared = self.is_shared && all_have_keys (asker, answer);
    lk_message_destroy (&answer);
    if (!self.is_own) {
        return LK_EXIT_NO;
    }
    const int code = lk_host_keys_withdraw (asker, is_former, &self, &count);
    if (code == LK_EXIT_OK && count == 0) {
        lk_cli_hint ("there is no former key to withdraw");
    }
    return code == LK_EXIT_OK && self.is_shared && !self.drops_shared
               ? LK_EXIT_NO
               : code;
}

/*  -------------------------------------------------------- making */

/*  For a cluster that has none yet. */
static int
make (const char *path)
{
    lk_curve_ring ring = {.count = 1};
    lk_problem problem;
    if (access (path, F_OK) == 0) {
        return lk_cli_fail (LK_EXIT_FAILED,
                            "'%s' is there already: `lockkeeper keys rotate` "
                            "makes new ones",
                            path);
    }
    lk_curve_make (&ring.key[0].pair);
    if (lk_curve_ring_write (&ring, path, &problem) != LK_OK) {
        return lk_cli_fail (LK_EXIT_FAILED, "%s", problem.text);
    }
    printf ("made '%s'\n", path);
    return LK_EXIT_OK;
}

static int
make_configured (void)
{
    lk_config *config = lk_config_new (lk_settings);
    lk_router_options router;
    lk_problem problem = {0};
    lk_err error = lk_config_load (config, LK_PATH_CONFIG, &problem);
    int code = LK_EXIT_FAILED;
    if (error == LK_OK || error == LK_UNKNOWN) {
        (void) lk_router_options_read (&router, config, &problem);
        code = make (router.keys);
    } else {
        lk_cli_fail (0, "%s", problem.text);
    }
    lk_config_destroy (&config);
    return code;
}

/*  -------------------------------------------------------- the verb */

static const struct {
    const char *word;
    int (*run) (lk_requester *asker);
} forms[] = {{"show", show}, {"rotate", rotate}, {"withdraw", withdraw}};

static int
run_keys (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_keys, argc, argv, &code)) {
        return code;
    }
    const char *what = options.count > 0 ? options.argument[0] : "";
    if (strcmp (what, "make") == 0 && options.count <= 2) {
        return options.count == 2 ? make (options.argument[1])
                                  : make_configured ();
    }
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (options.count == 1 && strcmp (what, forms[i].word) == 0) {
            lk_requester *asker = lk_cli_asker (options.endpoint);
            code = asker != NULL ? forms[i].run (asker) : LK_EXIT_FAILED;
            lk_requester_destroy (&asker);
            return code;
        }
    }
    return lk_cli_misused (&lk_verb_keys,
                           "'keys' needs show, rotate, withdraw or make");
}

static const lk_verb_option takes[] = {LK_TAKES (ENDPOINT), LK_TAKES_END};

static const lk_verb_argument follows[] = {
    LK_FOLLOWS ("show", FLAG), LK_FOLLOWS ("rotate", FLAG),
    LK_FOLLOWS ("withdraw", FLAG), LK_FOLLOWS ("make", FILE), LK_FOLLOWS_END};

const lk_verb lk_verb_keys = {
    .name = "keys",
    .usage = "show|rotate|withdraw [options]\n"
             "       lockkeeper keys make [FILE]",
    .summary = "The keys by which routers know each other",
    .intro =
        "  show           this host's, which is in use, and those of others "
        "that are accepted;\n"
        "                 the settings of the cluster do not have yet what "
        "is pending\n"
        "  rotate         makes a new pair for this host, in use once the "
        "settings have it;\n"
        "                 the former one stays accepted\n"
        "  withdraw       takes this host's former one out of the "
        "settings, and a pair that all\n"
        "                 hosts have from before, once each has its own\n"
        "  make           makes such a pair for a cluster that has no keys "
        "yet: see KEYS in\n"
        "                 lockkeeper-router(8)\n",
    .options = takes,
    .help = "By root or the router's own user.\n"
            "\n"
            "Exit code: 0; 1 it cannot be; 124 not confirmed in time; 125 "
            "failed.\n",
    .arguments = follows,
    .run = run_keys,
};
