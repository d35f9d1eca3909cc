/*  arguments.c - the command line of a daemon, above its configuration
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/arguments.h"

#include "net/log.h"
#include "util/guess.h"

#include <stdio.h>
#include <string.h>
#include <syslog.h>

#define KEY_SIZE 64
#define TELL_SIZE 1000

static void
complain (const lk_arguments *self, const char *text)
{
    if (lk_log_to_journal ()) {
        fprintf (stderr, "<%d>%s\n", LOG_ERR, text);
    } else {
        fprintf (stderr, "%s: %s\n", self->program, text);
    }
}

int
lk_arguments_complain (const lk_arguments *self, const lk_config *config,
                       const lk_problem *problem)
{
    char text[TELL_SIZE];
    for (size_t i = 0; i < lk_config_mistakes (config); i++) {
        lk_config_tell (lk_config_mistake_at (config, i), text, sizeof text);
        complain (self, text);
    }
    if (lk_config_mistakes (config) == 0) {
        complain (self, problem->text);
    }
    return LK_ARGUMENTS_WRONG;
}

/*  -1, or the exit code. */
static int
set_key (const lk_arguments *self, lk_config *config, const char *name,
         const char *value)
{
    char key[KEY_SIZE];
    lk_problem problem;
    snprintf (key, sizeof key, "%s/%s", self->section, name);
    return lk_config_set (config, key, value, &problem) == LK_OK
               ? -1
               : lk_arguments_complain (self, config, &problem);
}

/*  What one option does: -1, or the exit code. */
static int
take_option (const lk_arguments *self, lk_config *config, const char **path,
             int kind, const char *name)
{
    switch (kind) {
    case LK_ARGUMENT_KEY:
        return set_key (self, config, name, optarg);
    case LK_ARGUMENT_YES:
        return set_key (self, config, name, "yes");
    case LK_ARGUMENT_CONFIG:
        *path = optarg;
        return -1;
    case LK_ARGUMENT_HELP:
        fputs (self->usage, stdout);
        return 0;
    case LK_ARGUMENT_VERSION:
        printf ("%s %s\n", self->program, LK_VERSION);
        return 0;
    default:
        return LK_ARGUMENTS_WRONG;
    }
}

/*  Says what is wrong with the option that getopt_long has just read. */
static void
refuse_option (const lk_arguments *self, int kind, const char *option)
{
    char text[TELL_SIZE];
    lk_guess guess;
    lk_guess_init (&guess, option + strspn (option, "-"));
    for (const struct option *it = self->options; it->name != NULL; it++) {
        lk_guess_try (&guess, it->name);
    }
    if (kind == ':') {
        snprintf (text, sizeof text, "option '%s' needs a value; see --help",
                  option);
    } else if (guess.best != NULL) {
        snprintf (text, sizeof text,
                  "there is no option '%s': did you mean '--%s'?", option,
                  guess.best);
    } else {
        snprintf (text, sizeof text, "there is no option '%s'; see --help",
                  option);
    }
    complain (self, text);
}

int
lk_arguments_read (const lk_arguments *self, lk_config *config,
                   const char **path, int argc, char **argv)
{
    int kind, place = 0, code = -1;
    *path = NULL;
    opterr = 0;
    while (code < 0
           && (kind = getopt_long (argc, argv, ":", self->options, &place))
                  != -1) {
        if (kind == ':' || kind == '?') {
            refuse_option (self, kind, argv[optind - 1]);
        }
        code =
            take_option (self, config, path, kind, self->options[place].name);
    }
    if (code < 0 && optind < argc) {
        char text[TELL_SIZE];
        snprintf (text, sizeof text, "what is '%s'? See --help", argv[optind]);
        complain (self, text);
        return LK_ARGUMENTS_WRONG;
    }
    return code;
}

int
lk_arguments_load (const lk_arguments *self, const lk_config_key *keys,
                   lk_arguments_reader *reader, void *options, int argc,
                   char **argv)
{
    const char *path;
    lk_problem problem;
    lk_config *config = lk_config_new (keys);
    int code = lk_arguments_read (self, config, &path, argc, argv);
    if (code < 0
        && (lk_config_load (config, path, &problem) != LK_OK
            || reader (options, config, &problem) != LK_OK)) {
        code = lk_arguments_complain (self, config, &problem);
    }
    lk_config_destroy (&config);
    return code;
}
