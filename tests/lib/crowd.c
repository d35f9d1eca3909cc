/*  crowd.c - many who want the same name, of several processes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/crowd.h"

#include "lib/lanes.h"
#include "util/alloc.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES 8
#define ENTER_NS 500000000 /* for processes to start, or to queue */

/*  Of all processes. */
typedef struct {
    lk_lanes_guard guard;
    struct {
        uint64_t ended, messages;
        int64_t last_ns;
    } of[PROCESSES];
} board;

typedef struct {
    const lk_crowd_options *options;
    lk_lanes_options lanes;
    board *board;
    const char **names;
} crowd;

/*  -------------------------------------------------------- processes */

static _Noreturn void
join (crowd *self, int number)
{
    lk_lanes_result result = {0};
    prctl (PR_SET_PDEATHSIG, SIGKILL);
    lk_raw *raw = lk_raw_open (self->options->endpoint, "bench");
    lk_lanes_run (raw, &self->lanes, &result);
    self->board->of[number].ended = result.ended;
    self->board->of[number].messages = result.messages;
    self->board->of[number].last_ns =
        self->lanes.once ? lk_figures_now_ns () : result.end_ns;
    lk_raw_close (&raw);
    exit (0);
}

static void
gather (crowd *self, const lk_crowd_options *options)
{
    const int each = options->count / PROCESSES;
    self->options = options;
    self->board = mmap (NULL, sizeof *self->board, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (self->board == MAP_FAILED || each == 0) {
        lk_raw_fail ("no crowd of %d", options->count);
    }
    self->names = lk_alloc ((size_t) each * sizeof *self->names);
    for (int i = 0; i < each; i++) {
        self->names[i] = options->name;
    }
    self->lanes.type = "exclusive";
    self->lanes.names = self->names;
    self->lanes.count = each;
    self->lanes.guard = &self->board->guard;
    fflush (NULL);
    for (int i = 0; i < PROCESSES; i++) {
        const pid_t pid = fork ();
        if (pid == 0) {
            join (self, i);
        } else if (pid == -1) {
            lk_raw_fail ("cannot fork");
        }
    }
}

static void
await (void)
{
    int status;
    for (int i = 0; i < PROCESSES; i++) {
        if (wait (&status) == -1 || status != 0) {
            lk_raw_fail ("a process of the load failed");
        }
    }
}

static void
disperse (crowd *self)
{
    lk_free (self->names);
    munmap (self->board, sizeof *self->board);
}

/*  -------------------------------------------------------- counting */

static void
sleep_until (int64_t ns)
{
    const struct timespec time = {ns / 1000000000, ns % 1000000000};
    while (clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0) {
    }
}

/*  The leader's router's count of what it forwarded. */
static double
forwarded (const lk_crowd_options *options)
{
    char to[128], text[32];
    snprintf (to, sizeof to, "router@%s", options->leader);
    lk_raw_ask (options->raw, to, "ROUTERSTATUS", "forwarded", text,
                sizeof text);
    return strtod (text, NULL);
}

static void
tell (const crowd *self, const char *what, double to_leader, int64_t ns)
{
    const lk_crowd_options *options = self->options;
    double ended = 0, messages = 0;
    for (int i = 0; i < PROCESSES; i++) {
        ended += (double) self->board->of[i].ended;
        messages += (double) self->board->of[i].messages;
    }
    if (ended == 0) {
        lk_raw_fail ("no hand-over with %d", options->count);
    }
    lk_figure (options->prefix, ended * 1e9 / (double) ns, "1/s", "%s%d.rate",
               what, options->count);
    lk_figure (options->prefix, (messages - ended) / ended, "each",
               "%s%d.wakeups", what, options->count);
    lk_figure (options->prefix, to_leader / 2 / ended, "each", "%s%d.to_leader",
               what, options->count);
}

/*  When the last process came to its end. */
static int64_t
last_of (const crowd *self)
{
    int64_t last = 0;
    for (int i = 0; i < PROCESSES; i++) {
        if (self->board->of[i].last_ns > last) {
            last = self->board->of[i].last_ns;
        }
    }
    return last;
}

/*  -------------------------------------------------------- both kinds */

void
lk_crowd_handover (const lk_crowd_options *options)
{
    crowd self = {0};
    self.lanes.start_ns = lk_figures_now_ns () + ENTER_NS;
    self.lanes.end_ns = self.lanes.start_ns + options->ns;
    gather (&self, options);
    sleep_until (self.lanes.start_ns);
    const double before = forwarded (options);
    sleep_until (self.lanes.end_ns);
    double after = forwarded (options);
    await ();
    if (after == before) { /* nothing came of it in time */
        after = forwarded (options);
    }
    tell (&self, "handover", after - before,
          last_of (&self) - self.lanes.start_ns);
    disperse (&self);
}

void
lk_crowd_drain (const lk_crowd_options *options)
{
    crowd self = {.lanes = {.once = true, .end_ns = INT64_MAX}};
    const uint64_t held = lk_raw_demand (options->raw, "LOCK",
                                         "{\"object\":\"%s\"}", options->name);
    gather (&self, options);
    sleep_until (lk_figures_now_ns () + 2 * ENTER_NS);
    const double before = forwarded (options);
    const int64_t start = lk_figures_now_ns ();
    lk_raw_say (options->raw, "lock@.", "UNLOCK", held + 1,
                "{\"request\":%llu}", (unsigned long long) held);
    await ();
    const double after = forwarded (options);
    tell (&self, "drain", after - before, last_of (&self) - start);
    disperse (&self);
}
