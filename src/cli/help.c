/*  help.c - how verbs are explained, and errors said
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "net/problem.h"
#include "util/escape.h"

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
    if (verb->is_far) {
        printf ("\nOn a machine without a router: lockkeeper --client FILE %s "
                "...\n",
                verb->name);
    }
    if (verb->is_zoned) {
        printf ("\nIn a zone, on a machine without a router: lockkeeper "
                "--client FILE %s ...\n",
                verb->name);
    }
}
