/*  options.c - the options of the verbs
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "net/paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_MAX (100.0 * 365 * 24 * 3600)

typedef struct {
    struct option option;
    unsigned bit;
} known_option;

enum {
    OPT_FIRST = 256,
    ENDPOINT,
    JSON,
    WAIT,
    DURATION,
    BACKGROUND,
    PID,
    OBJECT,
    CLUSTER,
    MEMBERS,
    HOST,
    STATE,
    HOSTS,
    DIR,
    KEEP,
    SET,
    HELP
};

static const known_option known[] = {
    {{"endpoint", required_argument, NULL, ENDPOINT}, LK_OPT_ENDPOINT},
    {{"json", no_argument, NULL, JSON}, LK_OPT_JSON},
    {{"wait", required_argument, NULL, WAIT}, LK_OPT_WAIT},
    {{"duration", required_argument, NULL, DURATION}, LK_OPT_DURATION},
    {{"background", no_argument, NULL, BACKGROUND}, LK_OPT_BACKGROUND},
    {{"pid", required_argument, NULL, PID}, LK_OPT_BACKGROUND},
    {{"object", required_argument, NULL, OBJECT}, LK_OPT_OBJECT},
    {{"cluster", required_argument, NULL, CLUSTER}, LK_OPT_INIT},
    {{"members", required_argument, NULL, MEMBERS},
     LK_OPT_INIT | LK_OPT_SANDBOX},
    {{"host", required_argument, NULL, HOST}, LK_OPT_INIT},
    {{"state", required_argument, NULL, STATE}, LK_OPT_INIT},
    {{"hosts", required_argument, NULL, HOSTS}, LK_OPT_SANDBOX},
    {{"dir", required_argument, NULL, DIR}, LK_OPT_SANDBOX},
    {{"keep", no_argument, NULL, KEEP}, LK_OPT_SANDBOX},
    {{"set", required_argument, NULL, SET}, LK_OPT_SANDBOX},
    {{"help", no_argument, NULL, HELP}, ~0u},
};

#define KNOWN_COUNT (sizeof known / sizeof known[0])

/*  "1.5" -> 1500; false if it is no number of seconds that makes sense. Less
 *  than a millisecond is not nothing. */
static bool
read_seconds (const char *text, int64_t *ms)
{
    char *end;
    double seconds = strtod (text, &end);
    if (strspn (text, "0123456789.") != strlen (text) || end == text
        || *end != '\0' || !isfinite (seconds) || seconds > SECONDS_MAX) {
        return false;
    }
    *ms = (int64_t) (seconds * 1000 + 0.5);
    *ms += *ms == 0 && seconds > 0;
    return true;
}

static bool
read_number (const char *text, int64_t *number)
{
    char *end;
    *number = strtoll (text, &end, 10);
    return strspn (text, "0123456789") == strlen (text) && end != text
           && *number > 0 && *number <= INT32_MAX;
}

static const char *
add_setting (lk_options *self, char *value)
{
    size_t count = 0;
    while (self->set[count] != NULL) {
        count++;
    }
    if (count == LK_SETTINGS_MAX) {
        return "there are too many --set";
    }
    self->set[count] = value;
    return NULL;
}

/*  What is wrong with the option's value, NULL if nothing. */
static const char *
take_value (lk_options *self, int option, char *value)
{
    switch (option) {
    case ENDPOINT:
        self->endpoint = value;
        return NULL;
    case JSON:
        self->json = true;
        return NULL;
    case BACKGROUND:
        self->background = true;
        return NULL;
    case OBJECT:
        self->object = value;
        return NULL;
    case CLUSTER:
        self->cluster = value;
        return NULL;
    case MEMBERS:
        self->members = value;
        return NULL;
    case HOST:
        self->host = value;
        return NULL;
    case STATE:
        self->state = value;
        return NULL;
    case DIR:
        self->dir = value;
        return NULL;
    case SET:
        return add_setting (self, value);
    case KEEP:
        self->keep = true;
        return NULL;
    case WAIT:
        return read_seconds (value, &self->wait_ms)
                   ? NULL
                   : "--wait needs seconds, like 10 or 0.5";
    case DURATION:
        return read_seconds (value, &self->duration_ms) && self->duration_ms > 0
                   ? NULL
                   : "--duration needs seconds, like 10 or 0.5";
    case PID:
        return read_number (value, &self->pid)
                   ? NULL
                   : "--pid needs the number of a process";
    case HOSTS:
        return read_number (value, &self->hosts) ? NULL
                                                 : "--hosts needs a number";
    default:
        return "unknown option";
    }
}

static void
set_defaults (lk_options *self)
{
    memset (self, 0, sizeof *self);
    const char *endpoint = getenv ("LOCKKEEPER_ENDPOINT");
    self->endpoint =
        endpoint != NULL && endpoint[0] != '\0' ? endpoint : LK_PATH_ENDPOINT;
    self->wait_ms = LK_FOREVER;
    self->state = LK_PATH_STATE_DIR;
    self->hosts = 3;
}

bool
lk_options_read (lk_options *self, const lk_verb *verb, unsigned takes,
                 int argc, char **argv, int *code)
{
    struct option options[KNOWN_COUNT + 1] = {{0}};
    size_t count = 0;
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        if ((known[i].bit & takes) != 0) {
            options[count++] = known[i].option;
        }
    }
    set_defaults (self);
    *code = LK_EXIT_FAILED;
    opterr = 0;
    optind = 1;
    int option;
    while ((option = getopt_long (argc, argv, ":h", options, NULL)) != -1) {
        if (option == HELP || option == 'h') {
            lk_cli_print_help (verb);
            *code = LK_EXIT_OK;
            return false;
        }
        if (option == ':') {
            lk_cli_misused (verb, "option '%s' needs a value",
                            lk_shown_name (argv[optind - 1]).text);
            return false;
        }
        if (option == '?') {
            lk_cli_misused (verb, "'%s' is no option of '%s'",
                            lk_shown_name (argv[optind - 1]).text, verb->name);
            return false;
        }
        const char *problem = take_value (self, option, optarg);
        if (problem != NULL) {
            lk_cli_misused (verb, "%s, not '%s'", problem,
                            lk_shown_name (optarg).text);
            return false;
        }
    }
    self->argument = argv + optind;
    self->count = argc - optind;
    return true;
}
