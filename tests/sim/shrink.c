/*  shrink.c - makes a failing run small
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "shrink.h"

#include "attempt.h"
#include "watch.h"

#include <string.h>

#define STEPS_MAX 10000000 /* of all attempts: some 8 s ... */
#define TIME_S 45.0        /* ... on a machine that has time */
#define STORY_LINES 60
#define SMALL 6000 /* steps: nobody needs it smaller */

typedef struct {
    uint64_t seed;
    sim_options options;  /* of the smallest run so far ... */
    sim_fault_set faults; /* ... where `options.faults` points ... */
    sim_outcome smallest; /* ... and how it came out */
    sim_outcome first;
    sim_outcome last; /* of the last attempt */
    int attempts;
    uint64_t steps; /* of all attempts */
    double until;
} sim_shrinking;

/*  Faults or applications, as a list. */
typedef struct {
    uint64_t item[SIM_FAULTS_MAX];
    size_t count;
} sim_items;

typedef bool (*sim_trial) (sim_shrinking *self, const sim_items *items);

/*  -------------------------------------------------------- attempts */

static bool
is_over (const sim_shrinking *self)
{
    return self->steps >= STEPS_MAX || sim_seconds_busy () > self->until;
}

/*  Keeps these options if the run still fails in the same way. */
static bool
attempt (sim_shrinking *self, const sim_options *options)
{
    if (is_over (self)) {
        return false;
    }
    self->attempts++;
    if (!sim_attempt (options, self->seed, NULL, &self->last)) {
        return false;
    }
    self->steps += self->last.steps;
    if (!self->last.failed
        || !sim_same_failure (self->first.failure, self->last.failure)) {
        return false;
    }
    self->smallest = self->last;
    self->options = *options;
    if (options->faults) {
        self->faults = *options->faults;
        self->options.faults = &self->faults;
    }
    return true;
}

static bool
try_faults (sim_shrinking *self, const sim_items *items)
{
    static sim_fault_set set;
    sim_options options = self->options;

    memcpy (set.item, items->item, items->count * sizeof set.item[0]);
    set.count = items->count;
    options.faults = &set;
    return attempt (self, &options);
}

static bool
try_apps (sim_shrinking *self, const sim_items *items)
{
    sim_options options = self->options;

    options.apps = 0;
    for (size_t i = 0; i < items->count; i++) {
        options.apps |= 1ull << items->item[i];
    }
    return attempt (self, &options);
}

/*  -------------------------------------------------------- lists */

/*  The list without part `part` of `parts`. */
static void
leave_out (const sim_items *all, size_t part, size_t parts, sim_items *rest)
{
    size_t begin = all->count * part / parts;
    size_t end = all->count * (part + 1) / parts;

    rest->count = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (i < begin || i >= end) {
            rest->item[rest->count++] = all->item[i];
        }
    }
}

/*  Leaves out as many as it can; true if any. */
static bool
thin (sim_shrinking *self, sim_items *items, sim_trial trial)
{
    static sim_items rest;
    size_t parts = 2;
    size_t before = items->count;

    rest.count = 0;
    if (items->count > 0 && trial (self, &rest)) {
        *items = rest;
        return true;
    }
    while (items->count > 0 && parts <= items->count && !is_over (self)) {
        bool smaller = false;
        for (size_t part = 0; part < parts && !smaller; part++) {
            leave_out (items, part, parts, &rest);
            smaller = trial (self, &rest);
        }
        if (smaller) {
            *items = rest;
            parts = parts > 2 ? parts - 1 : 2;
        } else {
            parts = parts < items->count && 2 * parts > items->count
                        ? items->count
                        : 2 * parts;
        }
    }
    return items->count < before;
}

static bool
thin_faults (sim_shrinking *self)
{
    static sim_items items;

    /*  A run that failed before the end knows none that come later. */
    memcpy (items.item, self->smallest.faults.item, sizeof items.item);
    items.count = self->smallest.faults.count;
    if (!try_faults (self, &items)) {
        return false;
    }
    return thin (self, &items, try_faults);
}

static bool
thin_apps (sim_shrinking *self)
{
    static sim_items items;
    size_t hosts = self->smallest.members + self->smallest.others;

    items.count = 0;
    for (size_t bit = 0; bit < hosts * SIM_ACTORS_MAX; bit++) {
        if (self->smallest.apps >> bit & 1) {
            items.item[items.count++] = bit;
        }
    }
    return thin (self, &items, try_apps);
}

/*  -------------------------------------------------------- sizes */

static bool
fewer_members (sim_shrinking *self)
{
    for (int members = 1; members < (int) self->smallest.members; members++) {
        sim_options options = self->options;
        options.members = members;
        options.others = (int) self->smallest.others;
        if (attempt (self, &options)) {
            return true;
        }
    }
    return false;
}

static bool
fewer_others (sim_shrinking *self)
{
    for (int others = 0; others < (int) self->smallest.others; others++) {
        sim_options options = self->options;
        options.members = (int) self->smallest.members;
        options.others = others;
        if (attempt (self, &options)) {
            return (int) self->smallest.others == others;
        }
    }
    return false;
}

static bool
fewer_leaders (sim_shrinking *self)
{
    int most = self->options.leaders ? self->options.leaders : 5;

    for (int leaders = 1; leaders < most; leaders += 2) {
        sim_options options = self->options;
        options.leaders = leaders;
        if (attempt (self, &options)) {
            return true;
        }
    }
    return false;
}

static bool
fewer_remotes (sim_shrinking *self)
{
    for (int remotes = 0; remotes < self->smallest.remotes; remotes++) {
        sim_options options = self->options;
        options.remotes = remotes;
        if (attempt (self, &options)) {
            return true;
        }
    }
    return false;
}

/*  It has to end earlier, or after fewer steps. */
static bool
shorter_storm (sim_shrinking *self)
{
    int64_t most =
        self->options.storm_ms ? self->options.storm_ms : self->smallest.now;

    for (int64_t storm = 1000; storm < most - 500; storm += 1 + storm / 2) {
        sim_options options = self->options;
        options.storm_ms = storm;
        if (attempt (self, &options)) {
            return true;
        }
    }
    return false;
}

/*  Less time where faults were left out. */
static bool
shorter_gaps (sim_shrinking *self)
{
    static const int64_t gaps[] = {0, 30, 100, 300, 1000};

    for (size_t i = 0; i < sizeof gaps / sizeof gaps[0]; i++) {
        sim_options options = self->options;
        options.gap_ms = gaps[i];
        if (gaps[i] < self->options.gap_ms && attempt (self, &options)) {
            return true;
        }
    }
    return false;
}

/*  What a script needs is its own. */
static void
shrink (sim_shrinking *self)
{
    bool any = true;

    while (any && !is_over (self)) {
        any = thin_faults (self);
        if (!self->options.script) {
            any |= fewer_members (self);
            any |= fewer_others (self);
            any |= fewer_leaders (self);
            any |= fewer_remotes (self);
        }
        any |= thin_apps (self);
        any |= shorter_gaps (self);
        any |= shorter_storm (self);
    }
}

/*  -------------------------------------------------------- elsewhere */

/*  What needs much to come together is hard to thin out, since whatever is
 *  left out changes all that follows. Then other seeds of small worlds are
 *  asked whether they fail in the same way. */
static void
look_elsewhere (sim_shrinking *self)
{
    sim_shrinking found = *self;

    for (uint64_t i = 0; !is_over (self); i++) {
        found.seed = self->seed + i;
        found.options = (sim_options) SIM_OPTIONS_NONE;
        found.options.members = 2 + (int) (i % 4);
        found.options.others = (int) (i / 4 % 2);
        found.options.storm_ms = 3000 << (i / 8 % 3);
        if (attempt (&found, &found.options)
            && found.smallest.steps < self->smallest.steps) {
            shrink (&found);
            *self = found;
            return;
        }
        self->steps = found.steps;
        self->attempts = found.attempts;
    }
}

/*  -------------------------------------------------------- report */

static int
count_bits (uint64_t bits)
{
    return __builtin_popcountll (bits);
}

/*  The last lines of what the run tells. */
static void
print_story (const sim_shrinking *self)
{
    sim_options options = self->options;
    FILE *story = tmpfile ();
    sim_outcome outcome;
    char line[512];
    int lines = 0;

    options.story = true;
    if (!story || !sim_attempt (&options, self->seed, story, &outcome)) {
        return;
    }
    for (rewind (story); fgets (line, sizeof line, story); lines++) {
    }
    rewind (story);
    if (lines > STORY_LINES) {
        printf ("  | ... %d lines before\n", lines - STORY_LINES);
    }
    for (int i = 0; fgets (line, sizeof line, story); i++) {
        if (i >= lines - STORY_LINES) {
            printf ("  | %s", line);
        }
    }
    printf ("  | %8lld ---- FAILS: %s\n", (long long) outcome.now,
            outcome.failure);
    fclose (story);
}

static void
print_smallest (const sim_shrinking *self, const char *program)
{
    const sim_outcome *small = &self->smallest;
    const sim_outcome *first = &self->first;
    sim_options options = self->options;
    char command[SIM_COMMAND_MAX];

    options.story = true;
    sim_command (program, &options, self->seed, command);
    printf ("  shrunk in %d runs: %zu+%zu hosts of %zu+%zu, %zu faults of %zu,"
            " %d applications of %d, %llu steps of %llu,\n"
            "    at %lld ms: %s\n  shrunk replay: %s\n",
            self->attempts, small->members, small->others, first->members,
            first->others, small->faults.count, first->faults.count,
            count_bits (small->apps), count_bits (first->apps),
            (unsigned long long) small->steps,
            (unsigned long long) first->steps, (long long) small->now,
            small->failure, command);
}

void
sim_shrink (const sim_task *task, const sim_options *options, uint64_t seed)
{
    static sim_shrinking self;

    self = (sim_shrinking) {.seed = seed, .options = *options};
    self.until = sim_seconds_busy () + TIME_S;
    self.options.story = self.options.verbose = false;
    if (!sim_attempt (&self.options, seed, NULL, &self.first)
        || !self.first.failed) {
        printf ("  does not fail again in a process of its own\n");
        return;
    }
    self.smallest = self.first;
    shrink (&self);
    if (self.smallest.steps > SMALL && !options->script) {
        self.steps = STEPS_MAX * 2 / 3;
        look_elsewhere (&self);
    }
    print_smallest (&self, task->program);
    print_story (&self);
    fflush (stdout);
}
