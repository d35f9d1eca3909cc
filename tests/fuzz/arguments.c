/*  arguments.c - fuzz target: any bytes as a command line
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The first byte says of which program: a daemon's, or a verb's of
 *  lockkeeper(1). The other bytes are its arguments, each ends with a NUL.
 */

#include "settings/keys.h"
#include "settings/router.h"

#include "lib/fuel.h"
#include "net/arguments.h"
#include "util/alloc.h"
#include "util/assert.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*  The verbs' reader, which is in no library; what it prints is not of
 *  interest here. */
#include "../../src/cli/options.c"
#include "../../src/cli/table.c"

#define ARGUMENTS_MAX 128

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static size_t complaints;

int
lk_cli_misused (const lk_verb *verb, const char *format, ...)
{
    (void) verb;
    LK_ASSERT (format[0] != '\0');
    complaints++;
    return LK_EXIT_FAILED;
}

int
lk_cli_fail (int code, const char *format, ...)
{
    LK_ASSERT (format[0] != '\0');
    complaints++;
    return code;
}

void
lk_cli_print_help (const lk_verb *verb)
{
    (void) verb;
}

lk_shown
lk_shown_name (const char *name)
{
    lk_shown shown = {{0}};
    LK_ASSERT (name != NULL);
    snprintf (shown.text, sizeof shown.text, "%s", name);
    return shown;
}

/*  -------------------------------------------------------- the line */

typedef struct {
    char *text;
    int count;
    char *argument[ARGUMENTS_MAX + 2];
} line;

static void
line_read (line *self, const lk_fuel *fuel)
{
    static char program[] = "program";
    *self = (line) {.text = lk_alloc (fuel->size + 1), .count = 1};
    if (fuel->size > 0) {
        memcpy (self->text, fuel->data, fuel->size);
    }
    self->argument[0] = program;
    for (size_t at = 0; at < fuel->size && self->count <= ARGUMENTS_MAX;
         at += strlen (self->text + at) + 1) {
        self->argument[self->count++] = self->text + at;
    }
}

/*  -------------------------------------------------------- readers */

/*  What it prints goes nowhere. */
static int
read_quietly (const lk_arguments *self, lk_config *config, line *given)
{
    static FILE *nowhere;
    FILE *const out = stdout, *const err = stderr;
    const char *path;
    if (nowhere == NULL) {
        nowhere = fopen ("/dev/null", "w");
        LK_ASSERT (nowhere != NULL);
    }
    stdout = nowhere;
    stderr = nowhere;
    optind = 0;
    const int code =
        lk_arguments_read (self, config, &path, given->count, given->argument);
    stdout = out;
    stderr = err;
    return code;
}

static void
read_daemon (line *given)
{
    static const struct option options[] = {
        {"config", required_argument, NULL, LK_ARGUMENT_CONFIG},
        {"host", required_argument, NULL, LK_ARGUMENT_KEY},
        {"listen", required_argument, NULL, LK_ARGUMENT_KEY},
        {"mode", required_argument, NULL, LK_ARGUMENT_KEY},
        {"neighbour", required_argument, NULL, LK_ARGUMENT_KEY},
        {"dead-after", required_argument, NULL, LK_ARGUMENT_KEY},
        {"log-level", required_argument, NULL, LK_ARGUMENT_KEY},
        {"syslog", no_argument, NULL, LK_ARGUMENT_YES},
        {"help", no_argument, NULL, LK_ARGUMENT_HELP},
        {"version", no_argument, NULL, LK_ARGUMENT_VERSION},
        {NULL, 0, NULL, 0},
    };
    static const lk_arguments arguments = {"program", "router", "", options};
    lk_config *config = lk_config_new (lk_settings);
    lk_router_options wanted;
    lk_problem problem = {0};
    const int code = read_quietly (&arguments, config, given);
    LK_ASSERT (code == -1 || code == 0 || code == LK_ARGUMENTS_WRONG);
    if (code == -1) {
        const lk_err error = lk_router_options_read (&wanted, config, &problem);
        LK_ASSERT ((error == LK_OK) == (problem.text[0] == '\0'));
    }
    lk_config_destroy (&config);
}

static void
read_verb (line *given, const lk_verb *verb)
{
    lk_options options;
    int code;
    complaints = 0;
    if (!lk_options_read (&options, verb, given->count, given->argument,
                          &code)) {
        LK_ASSERT ((code == LK_EXIT_OK) == (complaints == 0));
        return;
    }
    LK_ASSERT (options.endpoint != NULL && options.pid >= 0);
    LK_ASSERT (options.wait_ms >= LK_FOREVER && options.duration_ms >= 0);
    LK_ASSERT (options.count >= 0 && options.hosts > 0);
    LK_ASSERT (options.argument[options.count] == NULL);
    LK_ASSERT (options.names >= 0 && options.names <= options.count);
    LK_ASSERT (options.on_busy >= 0 && options.on_busy <= 255);
    for (int i = 0; i < options.count; i++) {
        LK_ASSERT (options.argument[i] != NULL);
    }
}

static const lk_verb_option of_locks[] = {
    LK_TAKES_KIND,     LK_TAKES (ENDPOINT), LK_TAKES (STATIC),
    LK_TAKES (LINGER), LK_TAKES (KEY),      LK_TAKES (BACKGROUND),
    LK_TAKES (PID),    LK_TAKES (ALL),      LK_TAKES_END};

static const lk_verb_option of_init[] = {
    LK_TAKES (CLUSTER), LK_TAKES (MEMBERS),    LK_TAKES (HOST),
    LK_TAKES (STATE),   LK_TAKES (FIRST),      LK_TAKES (JOIN),
    LK_TAKES (ADDRESS), LK_TAKES (INVITATION), LK_TAKES (CONFIG),
    LK_TAKES_END};

static const lk_verb_option of_sandbox[] = {
    LK_TAKES (HOSTS), LK_TAKES (MEMBERS), LK_TAKES (DIR),
    LK_TAKES (KEEP),  LK_TAKES (SET),     LK_TAKES_END};

static const lk_verb_option of_see[] = {LK_TAKES (JSON), LK_TAKES (OBJECT),
                                        LK_TAKES_END};

static const lk_verb_option of_all[] = {
#define X(id, ...) LK_TAKES_WORD (id, NULL, "hard soft"),
    LK_OPTIONS (X)
#undef X
        LK_TAKES_END};

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    static const lk_verb verbs[] = {
        {.name = "verb", .options = of_locks},
        {.name = "verb", .options = of_init},
        {.name = "verb", .options = of_sandbox},
        {.name = "verb", .options = of_see},
        {.name = "verb", .options = of_all, .needs_command = true}};
    lk_fuel fuel = {data, size};
    line given;
    const uint8_t program = lk_fuel_byte (&fuel);
    line_read (&given, &fuel);
    if (program % 2 == 0) {
        read_daemon (&given);
    } else {
        read_verb (&given,
                   &verbs[program / 2 % (sizeof verbs / sizeof verbs[0])]);
    }
    lk_free (given.text);
    return 0;
}
