/*  keys.c - `lockkeeper keys`: those of the cluster's routers
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings/keys.h"
#include "cli/cli.h"
#include "cli/setup/config.h"
#include "net/curve.h"
#include "net/paths.h"
#include "settings/router.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_MS 3000

/*  -------------------------------------------------------- asking */

static void
print_list (const lk_message *answer, const char *field, const char *title)
{
    const char *item;
    for (size_t i = 0; (item = lk_message_item (answer, field, i)) != NULL;
         i++) {
        printf ("%s%s", i > 0 ? " " : title, item);
    }
    if (lk_message_item_count (answer, field) > 0) {
        putchar ('\n');
    }
}

static int
print_keys (const lk_message *answer)
{
    const char *key;
    printf ("security     %s\n", lk_message_text (answer, "security"));
    for (size_t i = 0; (key = lk_message_item (answer, "keys", i)) != NULL;
         i++) {
        printf ("%s%s\n", i == 0 ? "in use       " : "accepted     ", key);
    }
    printf ("invitations  %lld\n",
            (long long) lk_message_number (answer, "invited", 0));
    return LK_EXIT_OK;
}

/*  A host that is away keeps what it has. */
static int
print_change (const lk_message *answer)
{
    const char *key = lk_message_text (answer, "key");
    if (key != NULL) {
        printf ("in use       %s\n", key);
    }
    print_list (answer, "told", "told         ");
    print_list (answer, "missing", "not told     ");
    return lk_message_item_count (answer, "missing") > 0 ? LK_EXIT_NO
                                                         : LK_EXIT_OK;
}

static int
ask (const lk_options *options, const char *command)
{
    lk_requester *asker = lk_cli_asker (options->endpoint);
    if (asker == NULL) {
        return LK_EXIT_FAILED;
    }
    lk_message *question = lk_message_new ("router@.", command);
    lk_message *answer = lk_requester_ask (asker, &question, ANSWER_MS);
    const char *reason =
        answer != NULL ? lk_message_text (answer, "reason") : "no answer";
    const int code =
        reason != NULL
            ? lk_cli_fail (LK_EXIT_FAILED, "keys are not changed: %s", reason)
        : lk_message_is (answer, "KEYS") ? print_keys (answer)
                                         : print_change (answer);
    lk_message_destroy (&answer);
    lk_requester_destroy (&asker);
    return code;
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
    lk_curve_make (&ring.pair[0]);
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
    if (options.count == 1 && strcmp (what, "show") == 0) {
        return ask (&options, "KEYS");
    }
    if (options.count == 1 && strcmp (what, "rotate") == 0) {
        return ask (&options, "ROTATEKEYS");
    }
    if (options.count == 1 && strcmp (what, "withdraw") == 0) {
        return ask (&options, "WITHDRAWKEYS");
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
    .summary = "The keys by which the cluster's routers know each other",
    .intro = "  show           which are in use, and accepted\n"
             "  rotate         makes a new pair, which all hosts that are "
             "there use from now on;\n"
             "                 the former ones stay accepted\n"
             "  withdraw       all hosts that are there forget the former "
             "ones; one that was\n"
             "                 away then joins again, by `lockkeeper invite`\n"
             "  make           makes the file of a cluster that has no keys "
             "yet: see KEYS in\n"
             "                 lockkeeper-router(8)\n",
    .options = takes,
    .help = "By root or the router's own user.\n"
            "\n"
            "Exit code: 0; 1 some host was not told; 125 failed.\n",
    .arguments = follows,
    .run = run_keys,
};
