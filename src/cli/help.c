/*  help.c - `lockkeeper help` and `version`, and how errors are said
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "net/paths.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINE_SIZE 2000

static void
say (const char *format, va_list arguments)
{
    char line[LINE_SIZE];
    const char *reason = strerror (errno); /* as %m says it */
    vsnprintf (line, sizeof line, format, arguments);
    char *at = strstr (line, reason);
    if (at != NULL) {
        *at = (char) tolower ((unsigned char) *at);
    }
    fputs ("lockkeeper: ", stderr);
    lk_show (stderr, line);
    fputc ('\n', stderr);
}

int
lk_cli_fail (int code, const char *format, ...)
{
    va_list arguments;
    va_start (arguments, format);
    say (format, arguments);
    va_end (arguments);
    return code;
}

int
lk_cli_misused (const lk_verb *verb, const char *format, ...)
{
    va_list arguments;
    va_start (arguments, format);
    say (format, arguments);
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
          "$LOCKKEEPER_ENDPOINT says where that is,\nthen " LK_PATH_ENDPOINT
          ".");
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
        return lk_cli_fail (LK_EXIT_FAILED,
                            "there is no verb '%s'; `lockkeeper help` lists "
                            "those that there are",
                            lk_shown_name (argv[1]).text);
    }
    lk_cli_print_help (verb);
    return LK_EXIT_OK;
}

static int
run_version (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_version, 0, argc, argv, &code)) {
        return code;
    }
    if (options.count != 0) {
        return lk_cli_misused (&lk_verb_version, "'version' takes no '%s'",
                               lk_shown_name (options.argument[0]).text);
    }
    printf ("lockkeeper %s\n", lk_version ());
    return LK_EXIT_OK;
}

const lk_verb lk_verb_help = {"help", "[VERB]", "Says what there is", "",
                              run_help};
const lk_verb lk_verb_version = {"version", "", "Prints the version", "",
                                 run_version};
