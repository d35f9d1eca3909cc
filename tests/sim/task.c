/*  task.c - what the simulator was asked to do: options, and commands
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "task.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
usage (FILE *stream, const char *program)
{
    fprintf (
        stream,
        "usage: %s [--seed N] [--runs M | --steps S] [--jobs J]\n"
        "       [--script NAME|all] [--members 1..7] [--twice] "
        "[--keep-going]\n"
        "       [--no-shrink] [--progress SECONDS] [--story] [--verbose] "
        "[--list]\n"
        "A run may be made smaller, which the command of a failing seed "
        "does:\n"
        "       [--others N] [--leaders 1|3|5] [--journal off|async|sync]\n"
        "       [--remotes 0..4]\n"
        "       [--faults LIST|none]\n"
        "       [--apps LIST|none] [--storm MS] [--gaps MS]\n",
        program);
}

static void
list_scripts (void)
{
    for (size_t i = 0; i < sim_script_count; i++) {
        printf ("%-22s %s\n", sim_scripts[i].name, sim_scripts[i].story);
    }
}

/*  -------------------------------------------------------- values */

/*  -1 for what is not a number from `low` to `high`. */
static int
number (const char *text, int low, int high)
{
    char *end;
    long value = strtol (text, &end, 10);

    return *text != '\0' && *end == '\0' && value >= low && value <= high
               ? (int) value
               : -1;
}

static bool
count (const char *text, uint64_t *value)
{
    char *end;

    *value = strtoull (text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0';
}

static bool
set_script (sim_task *self, const char *name)
{
    self->all_scripts = strcmp (name, "all") == 0;
    if (!self->all_scripts) {
        self->world.script = sim_script_find (name);
    }
    return self->all_scripts || self->world.script;
}

/*  "0.1,2.0" for places 1 on host 0 and 0 on host 2, or "none". */
static bool
set_apps (sim_task *self, const char *text)
{
    unsigned host, place;
    int used;

    self->world.apps = 0;
    if (strcmp (text, "none") == 0) {
        return true;
    }
    while (sscanf (text, "%u.%u%n", &host, &place, &used) == 2
           && host < SIM_HOSTS_MAX && place < SIM_ACTORS_MAX) {
        self->world.apps |= 1ull << sim_app_bit (host, place);
        text += used;
        if (*text == '\0') {
            return true;
        }
        text++;
    }
    return false;
}

static bool
set_journal (sim_options *world, const char *word)
{
    world->journal = LK_JOURNAL_MODES - 1;
    while (world->journal >= 0
           && strcmp (word, lk_journal_words[world->journal]) != 0) {
        world->journal--;
    }
    return world->journal >= 0;
}

static bool
set_faults (sim_task *self, const char *text)
{
    static sim_fault_set set;

    self->world.faults = &set;
    self->shrink = false;
    return sim_fault_set_read (&set, text);
}

/*  -------------------------------------------------------- options */

static const struct option long_options[] = {
    {"seed", required_argument, NULL, 's'},
    {"runs", required_argument, NULL, 'r'},
    {"steps", required_argument, NULL, 'S'},
    {"jobs", required_argument, NULL, 'j'},
    {"members", required_argument, NULL, 'n'},
    {"others", required_argument, NULL, 'o'},
    {"leaders", required_argument, NULL, 'L'},
    {"journal", required_argument, NULL, 'J'},
    {"remotes", required_argument, NULL, 'R'},
    {"faults", required_argument, NULL, 'f'},
    {"apps", required_argument, NULL, 'a'},
    {"storm", required_argument, NULL, 'm'},
    {"gaps", required_argument, NULL, 'g'},
    {"script", required_argument, NULL, 'p'},
    {"progress", required_argument, NULL, 'P'},
    {"twice", no_argument, NULL, 't'},
    {"keep-going", no_argument, NULL, 'k'},
    {"no-shrink", no_argument, NULL, 'N'},
    {"story", no_argument, NULL, 'y'},
    {"verbose", no_argument, NULL, 'v'},
    {"list", no_argument, NULL, 'l'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

/*  What one run is to be like. */
static bool
set_world (sim_task *self, int option, const char *value)
{
    sim_options *world = &self->world;

    switch (option) {
    case 'n':
        return (world->members = number (value, 1, 7)) > 0;
    case 'o':
        return (world->others = number (value, 0, 2)) >= 0;
    case 'L':
        return (world->leaders = number (value, 1, 5)) > 0;
    case 'R':
        return (world->remotes = number (value, 0, SIM_REMOTES_MAX)) >= 0;
    case 'J':
        return set_journal (world, value);
    case 'f':
        return set_faults (self, value);
    case 'a':
        return set_apps (self, value);
    case 'm':
        return (world->storm_ms = number (value, 1, 1000000)) > 0;
    case 'g':
        return (world->gap_ms = number (value, 0, 1000000)) >= 0;
    case 'p':
        return set_script (self, value);
    case 'y':
    case 'v':
        world->story = true;
        world->verbose |= option == 'v';
        self->shrink = false;
        return true;
    default:
        return false;
    }
}

/*  How many runs, and how. */
static bool
set_option (sim_task *self, int option, const char *value)
{
    switch (option) {
    case 's':
        return count (value, &self->seed);
    case 'r':
        return count (value, &self->runs);
    case 'S':
        self->runs = 0;
        return count (value, &self->steps);
    case 'j':
        return (self->jobs = number (value, 1, SIM_JOBS_MAX)) > 0;
    case 'P':
        return (self->progress_s = number (value, 1, 100000)) > 0;
    case 't':
        self->twice = true;
        return true;
    case 'k':
        self->keep_going = true;
        return true;
    case 'N':
        self->shrink = false;
        return true;
    default:
        return set_world (self, option, value);
    }
}

int
sim_task_read (sim_task *self, int word_count, char **words)
{
    int option;

    *self = (sim_task) {.program = words[0],
                        .seed = 1,
                        .runs = 1,
                        .jobs = 1,
                        .shrink = true,
                        .world = SIM_OPTIONS_NONE};
    while ((option = getopt_long (word_count, words, "", long_options, NULL))
           != -1) {
        if (option == 'l') {
            list_scripts ();
            return 0;
        }
        if (option == 'h') {
            usage (stdout, self->program);
            return 0;
        }
        if (!set_option (self, option, optarg)) {
            usage (stderr, self->program);
            return 2;
        }
    }
    if (optind != word_count) {
        usage (stderr, self->program);
        return 2;
    }
    return -1;
}

/*  -------------------------------------------------------- commands */

__attribute__ ((format (printf, 2, 3))) static void
add (char *text, const char *format, ...)
{
    size_t used = strlen (text);
    va_list arguments;

    va_start (arguments, format);
    vsnprintf (text + used, SIM_COMMAND_MAX - used, format, arguments);
    va_end (arguments);
}

static void
add_faults (char *text, const sim_fault_set *faults)
{
    char name[SIM_FAULT_NAME_MAX];

    add (text, " --faults %s", faults->count ? "" : "none");
    for (size_t i = 0; i < faults->count; i++) {
        sim_fault_name (faults->item[i], name);
        add (text, "%s%s", i ? "," : "", name);
    }
}

static void
add_apps (char *text, uint64_t apps)
{
    const char *comma = "";

    add (text, " --apps %s", apps ? "" : "none");
    for (unsigned bit = 0; bit < SIM_HOSTS_MAX * SIM_ACTORS_MAX; bit++) {
        if (apps >> bit & 1) {
            add (text, "%s%u.%u", comma, bit / SIM_ACTORS_MAX,
                 bit % SIM_ACTORS_MAX);
            comma = ",";
        }
    }
}

void
sim_command (const char *program, const sim_options *options, uint64_t seed,
             char text[SIM_COMMAND_MAX])
{
    text[0] = '\0';
    add (text, "%s --seed %llu", program, (unsigned long long) seed);
    if (options->script) {
        add (text, " --script %s", options->script->name);
    }
    if (options->members > 0) {
        add (text, " --members %d", options->members);
    }
    if (options->others >= 0) {
        add (text, " --others %d", options->others);
    }
    if (options->leaders > 0) {
        add (text, " --leaders %d", options->leaders);
    }
    if (options->remotes >= 0) {
        add (text, " --remotes %d", options->remotes);
    }
    if (options->faults) {
        add_faults (text, options->faults);
    }
    if (options->apps != UINT64_MAX) {
        add_apps (text, options->apps);
    }
    if (options->storm_ms > 0) {
        add (text, " --storm %lld", (long long) options->storm_ms);
    }
    if (options->gap_ms != SIM_FOREVER) {
        add (text, " --gaps %lld", (long long) options->gap_ms);
    }
    add (text, "%s",
         options->verbose ? " --verbose"
         : options->story ? " --story"
                          : "");
}
