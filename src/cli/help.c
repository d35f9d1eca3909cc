/*  help.c - `lockkeeper help` and `version`, and how errors are said
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "net/paths.h"
#include "net/problem.h"
#include "util/escape.h"
#include "util/guess.h"
#include "wire/message_frame.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HELP_WIDTH 79
#define OPTION_SIZE 80
#define OPTION_WIDTH_MAX 16 /* a longer one moves its own text only */
#define LINE_SIZE 2000
#define REASON_SIZE 200
#define SAID_SIZE LK_ESCAPE_ROOM (LINE_SIZE + REASON_SIZE)

static char last_problem[SAID_SIZE];

/*  The line, with what %m says in our words, fit to be shown. */
static void
write_line (char said[SAID_SIZE], const char *line, int number)
{
    char reason[REASON_SIZE], all[LINE_SIZE + REASON_SIZE];
    const char *at = number != 0 ? strstr (line, strerror (number)) : NULL;
    if (at != NULL) {
        lk_problem_reason (number, reason, sizeof reason);
        snprintf (all, sizeof all, "%.*s%s%s", (int) (at - line), line, reason,
                  at + strlen (strerror (number)));
    }
    const char *text = at != NULL ? all : line;
    (void) lk_escape (text, strlen (text), said, SAID_SIZE);
}

static void
say (char said[SAID_SIZE], const char *format, va_list arguments)
{
    char line[LINE_SIZE];
    const int number = errno;
    vsnprintf (line, sizeof line, format, arguments);
    write_line (said, line, number);
    fprintf (stderr, "lockkeeper: %s\n", said);
}

int
lk_cli_fail (int code, const char *format, ...)
{
    va_list arguments;
    va_start (arguments, format);
    say (last_problem, format, arguments);
    va_end (arguments);
    return code;
}

const char *
lk_cli_last_problem (void)
{
    return last_problem;
}

void
lk_cli_hint (const char *format, ...)
{
    char said[SAID_SIZE];
    va_list arguments;
    va_start (arguments, format);
    say (said, format, arguments);
    va_end (arguments);
}

void
lk_cli_notice (const char *format, ...)
{
    char said[SAID_SIZE];
    va_list arguments;
    va_start (arguments, format);
    if (isatty (STDERR_FILENO)) {
        say (said, format, arguments);
    }
    va_end (arguments);
}

int
lk_cli_misused (const lk_verb *verb, const char *format, ...)
{
    va_list arguments;
    va_start (arguments, format);
    say (last_problem, format, arguments);
    va_end (arguments);
    fprintf (stderr,
             "usage: lockkeeper %s %s\n"
             "`lockkeeper help %s` tells more\n",
             verb->name, verb->usage, verb->name);
    return LK_EXIT_FAILED;
}

/*  -------------------------------------------------------- of a verb */

/*  Breaks it at blanks; the first line begins at column `at`, and the others at
 *  `indent`. */
static void
print_wrapped (const char *text, size_t at, size_t indent)
{
    const char *before = "";
    while (*text != '\0') {
        const size_t size = strcspn (text, " ");
        if (at + strlen (before) + size > HELP_WIDTH) {
            printf ("\n%*s", (int) indent, "");
            at = indent;
            before = "";
        }
        printf ("%s%.*s", before, (int) size, text);
        at += strlen (before) + size;
        before = " ";
        text += size + strspn (text + size, " ");
    }
    putchar ('\n');
}

/*  "--wait S" */
static int
write_option (const lk_option_row *row, char *text, size_t size)
{
    return snprintf (text, size, "--%s%s%s", row->name,
                     row->value_name[0] != '\0' ? " " : "", row->value_name);
}

static const char *
about_of (const lk_verb_option *it)
{
    return it->about != NULL ? it->about : lk_option_at (it->option)->about;
}

/*  In a column that fits the most of them. */
static void
print_options (const lk_verb_option *options)
{
    char text[OPTION_SIZE];
    const lk_verb_option *it;
    int column = 0;
    for (it = options; it->option != LK_OPT_NONE; it++) {
        const int size =
            write_option (lk_option_at (it->option), text, sizeof text);
        column = size > column && size <= OPTION_WIDTH_MAX ? size : column;
    }
    for (it = options; it->option != LK_OPT_NONE; it++) {
        const int size =
            write_option (lk_option_at (it->option), text, sizeof text);
        const int width = size > column ? size : column;
        printf ("  %-*s  ", width, text);
        print_wrapped (about_of (it), (size_t) width + 4, (size_t) column + 4);
    }
}

void
lk_cli_print_help (const lk_verb *verb)
{
    printf ("usage: lockkeeper %s %s\n\n%s.\n", verb->name, verb->usage,
            verb->summary);
    if (verb->intro != NULL) {
        printf ("\n%s", verb->intro);
    }
    if (verb->options != NULL) {
        putchar ('\n');
        print_options (verb->options);
    }
    if (verb->help != NULL) {
        printf ("\n%s", verb->help);
    }
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

void
lk_cli_print_help_json (const lk_verb *verb)
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
                   about_of (option));
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
        for (size_t i = 0; (verb = lk_verb_at (i)) != NULL; i++) {
            print_row ("verb", verb->name, LK_VALUE_FLAG, NULL, verb->summary);
        }
        return;
    }
    puts ("lockkeeper - locks for a cluster\n");
    for (size_t i = 0; (verb = lk_verb_at (i)) != NULL; i++) {
        printf ("  %-10s %s\n", verb->name, verb->summary);
    }
    puts ("\n`lockkeeper help VERB` tells more. Every verb that talks to a "
          "router takes\n--endpoint ipc://PATH; without it "
          "$LOCKKEEPER_ENDPOINT says where that is,\nor router/endpoint of the "
          "configuration; by default " LK_PATH_ENDPOINT ".");
}

int
lk_cli_say_no_verb (const char *name)
{
    const lk_verb *verb;
    lk_guess guess;
    lk_guess_init (&guess, name);
    for (size_t i = 0; (verb = lk_verb_at (i)) != NULL; i++) {
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
        lk_cli_print_help_json (verb);
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
