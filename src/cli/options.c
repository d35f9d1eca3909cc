/*  options.c - the options of the verbs
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/cli.h"
#include "net/where.h"
#include "util/assert.h"
#include "util/guess.h"

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define SECONDS_MAX (100.0 * 365 * 24 * 3600)
#define OPT_FIRST 256
#define SPAN_MAX (INT64_C (100) * 365 * 86400)
#define MOST_MAX INT64_C (1000000000000) /* as zones.c has it */
#define WORDS_SIZE 200                   /* those of an option */

/*  Where its value is kept in lk_options. */
static const size_t places[LK_OPT_COUNT] = {
#define X(id, name, value, value_name, field, ...)                             \
    [LK_OPT_##id] = offsetof (lk_options, field),
    LK_OPTIONS (X)
#undef X
};

/*  The texts for a value that is wrong. */
static const char *const needs[LK_VALUE_COUNT] = {
#define X(id, word, needs) [LK_VALUE_##id] = needs,
    LK_VALUES (X)
#undef X
};

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
    } names[] = {
#define X(name) {#name, SIG##name},
        LK_SIGNALS (X)
#undef X
    };
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

/*  "12h" -> 43200; the unit has to be there, but for 0. */
static bool
read_span (const char *text, int64_t *seconds)
{
    static const struct {
        char unit;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    char digits[16];
    const size_t size = strspn (text, "0123456789");
    if (size == 0 || size >= sizeof digits
        || strlen (text) > size + (text[size] != '\0')) {
        return false;
    }
    snprintf (digits, sizeof digits, "%.*s", (int) size, text);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (text[size] == units[i].unit) {
            const int64_t most = SPAN_MAX / units[i].seconds;
            const bool good = read_number (digits, 0, most, seconds);
            *seconds *= units[i].seconds;
            return good;
        }
    }
    return read_number (text, 0, 0, seconds);
}

/*  Seconds since 1970. */
static bool
read_date (const char *text, int64_t *seconds)
{
    struct tm utc = {0};
    const char *end = strptime (text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    *seconds = timegm (&utc);
    return end != NULL && *end == '\0' && *seconds >= 0;
}

static bool
add_value (char *values[LK_SETTINGS_MAX + 1], char *value)
{
    size_t count = 0;
    while (values[count] != NULL) {
        count++;
    }
    if (count == LK_SETTINGS_MAX) {
        return false;
    }
    values[count] = value;
    return true;
}

/*  Whether it is one of those words, which have a blank behind each but the
 *  last. */
static bool
is_word (const char *words, const char *value)
{
    const size_t size = strlen (value);
    LK_ASSERT (words != NULL);
    while (*words != '\0') {
        const size_t next = strcspn (words, " ");
        if (next == size && memcmp (words, value, size) == 0) {
            return true;
        }
        words += next + (words[next] != '\0');
    }
    return false;
}

/*  False: that is no value of it. */
static bool
take_value (lk_options *self, const lk_verb_option *option, char *value)
{
    void *place = (char *) self + places[option->option];
    switch (lk_option_at (option->option)->value) {
    case LK_VALUE_FLAG:
        *(bool *) place = true;
        return true;
    case LK_VALUE_WORD:
        *(const char **) place = value;
        return is_word (option->words, value);
    case LK_VALUE_SECONDS:
        return read_seconds (value, place);
    case LK_VALUE_SOME_SECONDS:
        return read_seconds (value, place) && *(int64_t *) place > 0;
    case LK_VALUE_NUMBER:
    case LK_VALUE_HOLDERS:
    case LK_VALUE_PROCESS:
        return read_number (value, 1, INT32_MAX, place);
    case LK_VALUE_MINUTES:
        return read_number (value, 1, 60, place);
    case LK_VALUE_TOKEN:
        return lk_cli_read_token (value, place);
    case LK_VALUE_KEY:
        return lk_cli_read_key (value, place);
    case LK_VALUE_CODE:
        return read_number (value, 0, 255, place);
    case LK_VALUE_SIGNAL:
        return read_signal (value, place);
    case LK_VALUE_SPAN:
        return read_span (value, place);
    case LK_VALUE_SOME_SPAN:
        return read_span (value, place) && *(int64_t *) place > 0;
    case LK_VALUE_DATE:
        return read_date (value, place);
    case LK_VALUE_MOST:
        return read_number (value, 0, MOST_MAX, place);
    case LK_VALUE_SETTING:
    case LK_VALUE_FILES:
        return add_value (place, value);
    default:
        *(const char **) place = value;
        return true;
    }
}

/*  -------------------------------------------------------- where */

const char *
lk_cli_default_endpoint (void)
{
    const char *endpoint = NULL;
    return lk_where_client (NULL, &endpoint) != NULL ? NULL
                                                     : lk_where_admin (NULL);
}

bool
lk_cli_is_far (const char *endpoint)
{
    return lk_where_client (NULL, &endpoint) != NULL;
}

/*  -------------------------------------------------------- all of them */

static void
set_defaults (lk_options *self)
{
#define X(id, name, value, value_name, field, otherwise, about)                \
    .field = otherwise,
    *self = (lk_options) {LK_OPTIONS (X)};
#undef X
}

/*  The option of `verb` that getopt_long returned. */
static const lk_verb_option *
option_of (const lk_verb *verb, int value)
{
    static const lk_verb_option help = {LK_OPT_HELP, NULL, NULL};
    const lk_verb_option *it = verb->options;
    while (it != NULL && it->option != LK_OPT_NONE
           && it->option != (lk_option) (value - OPT_FIRST)) {
        it++;
    }
    return it != NULL && it->option != LK_OPT_NONE ? it : &help;
}

static struct option
long_option (lk_option option)
{
    const lk_option_row *row = lk_option_at (option);
    return (struct option) {row->name,
                            row->value == LK_VALUE_FLAG ? no_argument
                                                        : required_argument,
                            NULL, OPT_FIRST + (int) option};
}

/*  The options of that verb, for getopt_long. */
static void
choose (struct option *options, const lk_verb *verb)
{
    const lk_verb_option *it = verb->options;
    for (; it != NULL && it->option != LK_OPT_NONE; it++) {
        *options++ = long_option (it->option);
    }
    *options++ = long_option (LK_OPT_HELP);
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

/*  "name host left" -> "one of name, host and left". */
static void
list_words (const char *words, char *text, size_t size)
{
    size_t used = (size_t) snprintf (text, size, "one of ");
    LK_ASSERT (words != NULL);
    while (used < size) {
        const size_t next = strcspn (words, " ");
        const bool is_last = words[next] == '\0';
        const bool is_ahead =
            !is_last && strchr (words + next + 1, ' ') == NULL;
        used += (size_t) snprintf (text + used, size - used, "%.*s%s",
                                   (int) next, words,
                                   is_last    ? ""
                                   : is_ahead ? " and "
                                              : ", ");
        if (is_last) {
            break;
        }
        words += next + 1;
    }
}

static void
say_no_value (const lk_verb *verb, const lk_verb_option *option,
              const char *value)
{
    char words[WORDS_SIZE];
    const lk_option_row *row = lk_option_at (option->option);
    if (row->value == LK_VALUE_WORD) {
        list_words (option->words, words, sizeof words);
    }
    lk_cli_misused (verb, "--%s needs %s, not '%s'", row->name,
                    row->value == LK_VALUE_WORD ? words : needs[row->value],
                    lk_shown_name (value).text);
}

/*  Behind its first name all options may be those of a command that lacks the
 *  "--" ahead of it: to print help is no success then. */
static bool
is_of_command (const lk_options *self, const lk_verb *verb)
{
    if (!verb->needs_command || self->names == 0) {
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

static bool
takes_endpoint (const lk_verb *verb)
{
    const lk_verb_option *it = verb->options;
    while (it != NULL && it->option != LK_OPT_NONE
           && it->option != LK_OPT_ENDPOINT) {
        it++;
    }
    return it != NULL && it->option == LK_OPT_ENDPOINT;
}

void
lk_cli_say_for_hosts (const char *what)
{
    lk_cli_fail (0,
                 "'%s' is not to be had from a machine without a router: run "
                 "it on a host of the cluster",
                 what);
}

/*  Whether it can be done from where we are; else says it. */
static bool
is_in_reach (const lk_options *self, const lk_verb *verb)
{
    if (verb->is_far || verb->is_zoned || !takes_endpoint (verb)
        || !lk_cli_is_far (self->endpoint)) {
        return true;
    }
    lk_cli_say_for_hosts (verb->name);
    return false;
}

bool
lk_options_read (lk_options *self, const lk_verb *verb, int argc, char **argv,
                 int *code)
{
    struct option options[LK_OPT_COUNT + 1];
    choose (options, verb);
    set_defaults (self);
    self->verb = verb;
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
            if (self->names < 2 || !is_of_command (self, verb)) {
                say_no_option (verb, options, argv[optind - 1]);
            }
            return false;
        }
        const lk_verb_option *it =
            option_of (verb, option == 'h' ? OPT_FIRST + LK_OPT_HELP : option);
        if (!take_value (self, it, optarg)) {
            say_no_value (verb, it, optarg);
            return false;
        }
        if (self->help) {
            if (!is_of_command (self, verb)) {
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
    return is_in_reach (self, verb);
}
