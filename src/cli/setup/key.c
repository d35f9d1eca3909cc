/*  key.c - `lockkeeper key`: a pair that signs credentials
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "people/issuer_file.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

static void
print (const lk_issuer *issuer, const char *path, bool json)
{
    if (!json) {
        puts (issuer->public_key);
        return;
    }
    lk_message *row = lk_message_row_new ();
    lk_message_set_text (row, "file", path);
    lk_message_set_text (row, "key", issuer->public_key);
    puts (lk_message_body (row));
    lk_message_destroy (&row);
}

typedef lk_err form (lk_issuer *issuer, const char *path, lk_problem *problem);

static int
run_key (int argc, char **argv)
{
    lk_options options;
    lk_issuer issuer;
    lk_problem problem;
    int code;
    if (!lk_options_read (&options, &lk_verb_key, argc, argv, &code)) {
        return code;
    }
    const char *what = options.count == 2 ? options.argument[0] : "";
    form *it = strcmp (what, "new") == 0    ? lk_issuer_file_make
               : strcmp (what, "show") == 0 ? lk_issuer_file_read
                                            : NULL;
    if (it == NULL) {
        return lk_cli_misused (&lk_verb_key,
                               "'key' needs new FILE or show FILE");
    }
    if (it (&issuer, options.argument[1], &problem) != LK_OK) {
        return lk_cli_fail (LK_EXIT_FAILED, "%s", problem.text);
    }
    print (&issuer, options.argument[1], options.json);
    lk_issuer_clear (&issuer);
    return LK_EXIT_OK;
}

static const lk_verb_option takes[] = {
    LK_TAKES_AS (JSON, "print a JSON object: file, key"), LK_TAKES_END};

static const lk_verb_argument follows[] = {
    LK_FOLLOWS ("new", FILE), LK_FOLLOWS ("show", FILE), LK_FOLLOWS_END};

const lk_verb lk_verb_key = {
    .name = "key",
    .usage = "new FILE [options]\n"
             "       lockkeeper key show FILE [options]",
    .summary = "The pair of keys of an issuer of credentials",
    .intro = "  new            makes FILE with a fresh pair, readable for you "
             "alone\n"
             "  show           that of a file\n"
             "\n"
             "Both print the public key, which `lockkeeper zone add --issuer` "
             "takes.\n",
    .options = takes,
    .help = "Who has FILE says who may come into the zones that have its key. "
            "It is needed by\n"
            "`lockkeeper credential issue`, and by the hosts on which people "
            "log in.\n"
            "\n"
            "Exit code: 0; 125 failed.\n",
    .arguments = follows,
    .run = run_key,
};
