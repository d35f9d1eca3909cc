/*  options.c - the options of the verbs
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "net/paths.h"
#include "net/where.h"
#include "util/guess.h"

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SECONDS_MAX (100.0 * 365 * 24 * 3600)
#define OPT_FIRST 256

/*  What an option's value is, and so what it is kept as. */
typedef enum {
    FLAG,    /* bool */
    TEXT,    /* const char * */
    SECONDS, /* int64_t, ms */
    SOME,    /* likewise, but not 0 */
    NUMBER,  /* int64_t, from 1 on */
    TOKEN,   /* uint64_t, likewise */
    KEY,     /* uint64_t, in hexadecimal */
    CODE,    /* int64_t: an exit code */
    SIGNAL,  /* int64_t */
    SETTING  /* one more in `set` */
} value_kind;

typedef struct {
    struct option option;
    unsigned bit;
    value_kind kind;
    size_t place; /* in lk_options */
    const char *problem;
} known_option;

#define AT(field) offsetof (lk_options, field)
#define NEEDS_SECONDS(name) "--" name " needs seconds, like 10 or 0.5"

static const known_option known[] = {
    {{"endpoint", required_argument, NULL, 0},
     LK_OPT_ENDPOINT,
     TEXT,
     AT (endpoint),
     NULL},
    {{"json", no_argument, NULL, 0}, LK_OPT_JSON, FLAG, AT (json), NULL},
    {{"wait", required_argument, NULL, 0},
     LK_OPT_WAIT,
     SECONDS,
     AT (wait_ms),
     NEEDS_SECONDS ("wait")},
    {{"timeout", required_argument, NULL, 0},
     LK_OPT_TIMEOUT,
     SECONDS,
     AT (timeout_ms),
     NEEDS_SECONDS ("timeout")},
    {{"held", no_argument, NULL, 0}, LK_OPT_LIST, FLAG, AT (held), NULL},
    {{"waiting", no_argument, NULL, 0}, LK_OPT_LIST, FLAG, AT (waiting), NULL},
    {{"kind", required_argument, NULL, 0}, LK_OPT_LIST, TEXT, AT (kind), NULL},
    {{"own", no_argument, NULL, 0}, LK_OPT_LIST, FLAG, AT (own), NULL},
    {{"user", required_argument, NULL, 0}, LK_OPT_LIST, TEXT, AT (user), NULL},
    {{"command", required_argument, NULL, 0},
     LK_OPT_LIST,
     TEXT,
     AT (command),
     NULL},
    {{"longer-than", required_argument, NULL, 0},
     LK_OPT_LIST,
     SECONDS,
     AT (longer_ms),
     NEEDS_SECONDS ("longer-than")},
    {{"sort", required_argument, NULL, 0}, LK_OPT_SORT, TEXT, AT (sort), NULL},
    {{"once", no_argument, NULL, 0}, LK_OPT_ONCE, FLAG, AT (once), NULL},
    {{"duration", required_argument, NULL, 0},
     LK_OPT_KIND,
     SOME,
     AT (duration_ms),
     NEEDS_SECONDS ("duration")},
    {{"shared", no_argument, NULL, 0}, LK_OPT_KIND, FLAG, AT (shared), NULL},
    {{"semaphore", required_argument, NULL, 0},
     LK_OPT_KIND,
     NUMBER,
     AT (limit),
     "--semaphore needs a number of holders"},
    {{"bound", required_argument, NULL, 0},
     LK_OPT_KIND,
     NUMBER,
     AT (bound),
     "--bound needs a number of holders"},
    {{"policy", required_argument, NULL, 0},
     LK_OPT_KIND,
     TEXT,
     AT (policy),
     NULL},
    {{"quiet", required_argument, NULL, 0},
     LK_OPT_KIND,
     SOME,
     AT (quiet_ms),
     NEEDS_SECONDS ("quiet")},
    {{"lenient", no_argument, NULL, 0}, LK_OPT_KIND, FLAG, AT (lenient), NULL},
    {{"all", no_argument, NULL, 0}, LK_OPT_KIND, FLAG, AT (all), NULL},
    {{"on-busy", required_argument, NULL, 0},
     LK_OPT_KIND,
     CODE,
     AT (on_busy),
     "--on-busy needs an exit code, 0 to 255"},
    {{"context", required_argument, NULL, 0},
     LK_OPT_CONTEXT,
     TEXT,
     AT (context),
     NULL},
    {{"on-jeopardy", required_argument, NULL, 0},
     LK_OPT_JEOPARDY,
     SIGNAL,
     AT (on_jeopardy),
     "--on-jeopardy needs a signal, like USR1 or 10"},
    {{"static", no_argument, NULL, 0}, LK_OPT_HOLD, FLAG, AT (is_static), NULL},
    {{"linger", required_argument, NULL, 0},
     LK_OPT_HOLD,
     SOME,
     AT (linger_ms),
     NEEDS_SECONDS ("linger")},
    {{"key", required_argument, NULL, 0},
     LK_OPT_HOLD,
     KEY,
     AT (key),
     "--key needs the key of a lock, up to 16 hexadecimal digits"},
    {{"background", no_argument, NULL, 0},
     LK_OPT_HOLD,
     FLAG,
     AT (background),
     NULL},
    {{"pid", required_argument, NULL, 0},
     LK_OPT_HOLD | LK_OPT_OWNER | LK_OPT_LIST,
     NUMBER,
     AT (pid),
     "--pid needs the number of a process"},
    {{"force", no_argument, NULL, 0}, LK_OPT_FORCE, FLAG, AT (force), NULL},
    {{"now", no_argument, NULL, 0}, LK_OPT_FORCE, FLAG, AT (now), NULL},
    {{"reason", required_argument, NULL, 0},
     LK_OPT_FORCE,
     TEXT,
     AT (reason),
     NULL},
    {{"token", required_argument, NULL, 0},
     LK_OPT_FORCE,
     TOKEN,
     AT (token),
     "--token needs the token of a holder"},
    {{"object", required_argument, NULL, 0},
     LK_OPT_OBJECT,
     TEXT,
     AT (object),
     NULL},
    {{"cluster", required_argument, NULL, 0},
     LK_OPT_INIT,
     TEXT,
     AT (cluster),
     NULL},
    {{"members", required_argument, NULL, 0},
     LK_OPT_INIT | LK_OPT_SANDBOX,
     TEXT,
     AT (members),
     NULL},
    {{"host", required_argument, NULL, 0},
     LK_OPT_INIT | LK_OPT_LIST,
     TEXT,
     AT (host),
     NULL},
    {{"state", required_argument, NULL, 0},
     LK_OPT_INIT,
     TEXT,
     AT (state),
     NULL},
    {{"first", no_argument, NULL, 0}, LK_OPT_INIT, FLAG, AT (first), NULL},
    {{"join", no_argument, NULL, 0}, LK_OPT_INIT, FLAG, AT (join), NULL},
    {{"proxy", no_argument, NULL, 0}, LK_OPT_INIT, FLAG, AT (proxy), NULL},
    {{"unseen", no_argument, NULL, 0}, LK_OPT_INIT, FLAG, AT (unseen), NULL},
    {{"address", required_argument, NULL, 0},
     LK_OPT_INIT,
     TEXT,
     AT (address),
     NULL},
    {{"invitation", required_argument, NULL, 0},
     LK_OPT_INIT,
     TEXT,
     AT (invitation),
     NULL},
    {{"minutes", required_argument, NULL, 0},
     LK_OPT_INVITE,
     NUMBER,
     AT (minutes),
     "--minutes needs a number from 1 to 60"},
    {{"dry-run", no_argument, NULL, 0}, LK_OPT_INIT, FLAG, AT (dry_run), NULL},
    {{"config", required_argument, NULL, 0},
     LK_OPT_CONFIG | LK_OPT_INIT,
     TEXT,
     AT (config),
     NULL},
    {{"drop-in", required_argument, NULL, 0},
     LK_OPT_CONFIG,
     TEXT,
     AT (drop_in),
     NULL},
    {{"origin", no_argument, NULL, 0}, LK_OPT_CONFIG, FLAG, AT (origin), NULL},
    {{"unset", no_argument, NULL, 0}, LK_OPT_CONFIG, FLAG, AT (unset), NULL},
    {{"hosts", required_argument, NULL, 0},
     LK_OPT_SANDBOX,
     NUMBER,
     AT (hosts),
     "--hosts needs a number"},
    {{"dir", required_argument, NULL, 0}, LK_OPT_SANDBOX, TEXT, AT (dir), NULL},
    {{"hosted", no_argument, NULL, 0}, LK_OPT_SANDBOX, FLAG, AT (hosted), NULL},
    {{"plain", no_argument, NULL, 0},
     LK_OPT_SANDBOX | LK_OPT_INIT,
     FLAG,
     AT (plain),
     NULL},
    {{"keep", no_argument, NULL, 0}, LK_OPT_SANDBOX, FLAG, AT (keep), NULL},
    {{"set", required_argument, NULL, 0},
     LK_OPT_SANDBOX,
     SETTING,
     AT (set),
     "there are too many --set"},
    {{"help", no_argument, NULL, 0}, LK_OPT_HELP, FLAG, AT (help), NULL},
};

#define KNOWN_COUNT (sizeof known / sizeof known[0])

/*  -------------------------------------------------------- values */

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
read_number (const char *text, int64_t least, int64_t most, int64_t *number)
{
    char *end;
    *number = strtoll (text, &end, 10);
    return strspn (text, "0123456789") == strlen (text) && end != text
           && *number >= least && *number <= most;
}

bool
lk_cli_read_token (const char *text, uint64_t *token)
{
    int64_t number;
    const bool good = read_number (text, 1, INT64_MAX, &number);
    *token = (uint64_t) number;
    return good;
}

bool
lk_cli_read_key (const char *text, uint64_t *key)
{
    char *end;
    *key = strtoull (text, &end, 16);
    return *end == '\0' && end != text
           && strspn (text, "0123456789abcdefABCDEF") == strlen (text)
           && strlen (text) <= 16;
}

/*  With or without "sig", or its number. */
static bool
read_signal (const char *text, int64_t *number)
{
    static const struct {
        const char *name;
        int number;
    } names[] = {{"hup", SIGHUP},    {"int", SIGINT},   {"quit", SIGQUIT},
                 {"usr1", SIGUSR1},  {"usr2", SIGUSR2}, {"alrm", SIGALRM},
                 {"term", SIGTERM},  {"cont", SIGCONT}, {"urg", SIGURG},
                 {"winch", SIGWINCH}};
    if (read_number (text, 1, SIGRTMAX, number)) {
        return true;
    }
    const char *name = strncasecmp (text, "sig", 3) == 0 ? text + 3 : text;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcasecmp (name, names[i].name) == 0) {
            *number = names[i].number;
            return true;
        }
    }
    return false;
}

static bool
add_setting (lk_options *self, char *value)
{
    size_t count = 0;
    while (self->set[count] != NULL) {
        count++;
    }
    if (count == LK_SETTINGS_MAX) {
        return false;
    }
    self->set[count] = value;
    return true;
}

/*  False: that is no value of it. */
static bool
take_value (lk_options *self, const known_option *option, char *value)
{
    void *place = (char *) self + option->place;
    switch (option->kind) {
    case FLAG:
        *(bool *) place = true;
        return true;
    case TEXT:
        *(const char **) place = value;
        return true;
    case SECONDS:
        return read_seconds (value, place);
    case SOME:
        return read_seconds (value, place) && *(int64_t *) place > 0;
    case NUMBER:
        return read_number (value, 1, INT32_MAX, place);
    case TOKEN:
        return lk_cli_read_token (value, place);
    case KEY:
        return lk_cli_read_key (value, place);
    case CODE:
        return read_number (value, 0, 255, place);
    case SIGNAL:
        return read_signal (value, place);
    case SETTING:
        return add_setting (self, value);
    }
    return false;
}

/*  -------------------------------------------------------- all of them */

static void
set_defaults (lk_options *self)
{
    memset (self, 0, sizeof *self);
    self->endpoint = lk_where (NULL);
    self->wait_ms = LK_FOREVER;
    self->timeout_ms = LK_FOREVER;
    self->hosts = 3;
    self->on_busy = LK_EXIT_LATE;
}

/*  What of this is for that verb, for getopt_long. */
static void
choose (struct option *options, unsigned takes)
{
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        if ((known[i].bit & takes) != 0) {
            *options = known[i].option;
            options->val = OPT_FIRST + (int) i;
            options++;
        }
    }
    *options = (struct option) {0};
}

static void
say_no_option (const lk_verb *verb, const struct option *options,
               const char *word)
{
    lk_guess guess;
    lk_guess_init (&guess, word + strspn (word, "-"));
    for (; word[1] == '-' && options->name != NULL; options++) {
        lk_guess_try (&guess, options->name);
    }
    lk_cli_misused (
        verb, "'%s' is no option of '%s'%s%s%s", lk_shown_name (word).text,
        verb->name, guess.best != NULL ? ": did you mean '--" : "",
        guess.best != NULL ? guess.best : "", guess.best != NULL ? "'?" : "");
}

/*  Behind its first name all options may be those of a command that lacks the
 *  "--" ahead of it: to print help is no success then. */
static bool
is_of_command (const lk_options *self, const lk_verb *verb, unsigned takes)
{
    if ((takes & LK_OPT_COMMAND) == 0 || self->names == 0) {
        return false;
    }
    lk_cli_misused (verb, "'%s' needs '--' ahead of the command", verb->name);
    return true;
}

/*  Moves what was read from there on ahead of the names in front of it, so that
 *  these are next to each other. */
static void
pass_names (char **argv, int from, int names)
{
    for (; from < optind; from++) {
        char **first = argv + from - names;
        char *it = argv[from];
        memmove (first + 1, first, (size_t) names * sizeof *first);
        *first = it;
    }
}

bool
lk_options_read (lk_options *self, const lk_verb *verb, unsigned takes,
                 int argc, char **argv, int *code)
{
    struct option options[KNOWN_COUNT + 1];
    choose (options, takes | LK_OPT_HELP);
    set_defaults (self);
    *code = LK_EXIT_FAILED;
    opterr = 0;
    optind = 0; /* it begins anew */
    int option, from = 1;
    const char *value = NULL;
    while ((option = getopt_long (argc, argv, "-:h", options, NULL)) != -1) {
        value = optarg;
        if (option == 1) {
            self->names++;
            from = optind;
            continue;
        }
        if (option == ':') {
            lk_cli_misused (verb, "option '%s' needs a value",
                            lk_shown_name (argv[optind - 1]).text);
            return false;
        }
        if (option == '?') {
            if (self->names < 2 || !is_of_command (self, verb, takes)) {
                say_no_option (verb, options, argv[optind - 1]);
            }
            return false;
        }
        const known_option *it = option == 'h' ? &known[KNOWN_COUNT - 1]
                                               : &known[option - OPT_FIRST];
        if (!take_value (self, it, optarg)) {
            lk_cli_misused (verb, "%s, not '%s'", it->problem,
                            lk_shown_name (optarg).text);
            return false;
        }
        if (self->help) {
            if (!is_of_command (self, verb, takes)) {
                lk_cli_print_help (verb);
                *code = LK_EXIT_OK;
            }
            return false;
        }
        pass_names (argv, from, self->names);
        from = optind;
    }
    /*  One that is the value of an option ends nothing. */
    self->is_split = optind > 1 && argv[optind - 1] != value
                     && strcmp (argv[optind - 1], "--") == 0;
    pass_names (argv, from, self->names);
    self->argument = argv + optind - self->names;
    self->count = argc - optind + self->names;
    return true;
}
