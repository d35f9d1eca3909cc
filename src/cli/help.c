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
             verb->name, verb->arguments, verb->name);
    return LK_EXIT_FAILED;
}

void
lk_cli_print_help (const lk_verb *verb)
{
    printf ("usage: lockkeeper %s %s\n\n%s.\n", verb->name, verb->arguments,
            verb->summary);
    if (verb->help[0] != '\0') {
        printf ("\n%s", verb->help);
    }
}

static void
print_overview (void)
{
    puts ("lockkeeper - locks for a cluster\n");
    const lk_verb *verb;
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
    if (argc < 2) {
        print_overview ();
        return LK_EXIT_OK;
    }
    const lk_verb *verb = lk_verb_find (argv[1]);
    if (verb == NULL) {
        return lk_cli_say_no_verb (argv[1]);
    }
    lk_cli_print_help (verb);
    return LK_EXIT_OK;
}

static int
run_version (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_version, LK_OPT_JSON, argc, argv,
                          &code)) {
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

const lk_verb lk_verb_help = {"help", "[VERB]", "Says what there is", "",
                              run_help};
const lk_verb lk_verb_version = {"version", "[--json]", "Prints the version",
                                 "  --json         print a JSON object\n",
                                 run_version};
