/*  verbs.c - all verbs: `lockkeeper help` and `version`
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "net/paths.h"
#include "util/guess.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

static const lk_verb *const verbs[] = {
#define X(id) &lk_verb_##id,
    LK_VERBS (X)
#undef X
};

#define VERB_COUNT (sizeof verbs / sizeof verbs[0])

/*  By position, NULL behind the last. */
static const lk_verb *
verb_at (size_t position)
{
    return position < VERB_COUNT ? verbs[position] : NULL;
}

const lk_verb *
lk_verb_find (const char *name)
{
    for (size_t i = 0; i < VERB_COUNT; i++) {
        if (strcmp (verbs[i]->name, name) == 0) {
            return verbs[i];
        }
    }
    return NULL;
}

/*  -------------------------------------------------------- for programs */

static const char *const value_words[LK_VALUE_COUNT] = {
#define X(id, word, needs) [LK_VALUE_##id] = word,
    LK_VALUES (X)
#undef X
};

/*  An option or argument without a value has no "value". */
static void
print_row (const char *field, const char *name, lk_value value,
           const char *words, const char *about)
{
    lk_message *row = lk_message_row_new ();
    lk_message_set_text (row, field, name);
    if (value != LK_VALUE_FLAG) {
        lk_message_set_text (row, "value", value_words[value]);
    }
    if (words != NULL) {
        lk_message_set_text (row, "words", words);
    }
    if (about != NULL) {
        lk_message_set_text (row, "about", about);
    }
    puts (lk_message_body (row));
    lk_message_destroy (&row);
}

/*  An object per argument and option. */
static void
print_help_json (const lk_verb *verb)
{
    const lk_verb_argument *argument = verb->arguments;
    for (; argument != NULL
           && (argument->word != NULL || argument->value != LK_VALUE_FLAG);
         argument++) {
        print_row ("argument", argument->word != NULL ? argument->word : "",
                   argument->value, argument->words, NULL);
    }
    const lk_verb_option *option = verb->options;
    for (; option != NULL && option->option != LK_OPT_NONE; option++) {
        const lk_option_row *row = lk_option_at (option->option);
        print_row ("option", row->name, row->value, option->words,
                   option->about != NULL ? option->about : row->about);
    }
    const lk_option_row *help = lk_option_at (LK_OPT_HELP);
    print_row ("option", help->name, help->value, NULL, help->about);
}

/*  -------------------------------------------------------- of all verbs */

static void
print_overview (bool json)
{
    const lk_verb *verb;
    if (json) {
        for (size_t i = 0; (verb = verb_at (i)) != NULL; i++) {
            print_row ("verb", verb->name, LK_VALUE_FLAG, NULL, verb->summary);
        }
        return;
    }
    puts ("lockkeeper - locks for a cluster\n");
    for (size_t i = 0; (verb = verb_at (i)) != NULL; i++) {
        printf ("  %-10s %s\n", verb->name, verb->summary);
    }
    puts ("\n`lockkeeper help VERB` tells more. Every verb that talks to a "
          "router takes\n--endpoint ipc://PATH; without it "
          "$LOCKKEEPER_ENDPOINT says where that is,\nor router/endpoint of the "
          "configuration; by default " LK_PATH_ENDPOINT ".\n"
          "On a machine without a router `lockkeeper --client FILE VERB`, or "
          "$LOCKKEEPER_CLIENT,\nuses hosts of the cluster: `lockkeeper help "
          "client`.");
}

int
lk_cli_say_no_verb (const char *name)
{
    const lk_verb *verb;
    lk_guess guess;
    lk_guess_init (&guess, name);
    for (size_t i = 0; (verb = verb_at (i)) != NULL; i++) {
        lk_guess_try (&guess, verb->name);
    }
    if (guess.best != NULL) {
        return lk_cli_fail (LK_EXIT_FAILED,
                            "there is no verb '%s': did you mean '%s'?",
                            lk_shown_name (name).text, guess.best);
    }
    return lk_cli_fail (LK_EXIT_FAILED,
                        "there is no verb '%s': `lockkeeper help` lists those "
                        "that there are",
                        lk_shown_name (name).text);
}

static int
run_help (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_help, argc, argv, &code)) {
        return code;
    }
    if (options.count == 0) {
        print_overview (options.json);
        return LK_EXIT_OK;
    }
    const lk_verb *verb = lk_verb_find (options.argument[0]);
    if (verb == NULL) {
        return lk_cli_say_no_verb (options.argument[0]);
    }
    if (options.json) {
        print_help_json (verb);
    } else {
        lk_cli_print_help (verb);
    }
    return LK_EXIT_OK;
}

static int
run_version (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_version, argc, argv, &code)) {
        return code;
    }
    if (options.count != 0) {
        return lk_cli_misused (&lk_verb_version, "'version' takes no '%s'",
                               lk_shown_name (options.argument[0]).text);
    }
    if (options.json) {
        lk_message *row = lk_message_row_new ();
        lk_message_set_text (row, "version", lk_version ());
        puts (lk_message_body (row));
        lk_message_destroy (&row);
    } else {
        printf ("lockkeeper %s\n", lk_version ());
    }
    return LK_EXIT_OK;
}

static const lk_verb_option help_takes[] = {
    LK_TAKES_AS (JSON, "print a JSON object per verb; of VERB, per argument "
                       "and option"),
    LK_TAKES_END};

static const lk_verb_argument help_follows[] = {LK_FOLLOWS (NULL, VERB),
                                                LK_FOLLOWS_END};

const lk_verb lk_verb_help = {
    .name = "help",
    .usage = "[VERB] [options]",
    .summary = "Says what there is",
    .options = help_takes,
    .arguments = help_follows,
    .run = run_help,
};

static const lk_verb_option version_takes[] = {LK_TAKES (JSON), LK_TAKES_END};

const lk_verb lk_verb_version = {
    .name = "version",
    .usage = "[options]",
    .summary = "Prints the version",
    .options = version_takes,
    .run = run_version,
};
