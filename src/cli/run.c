/*  run.c - `lockkeeper run`: a command under a lock
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/child.h"
#include "cli/cli.h"
#include "cli/watch.h"
#include "net/clock.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/*  From TERM to KILL. Who is cut off from the cluster has a quarter of the
 *  host lease (8 s) until somebody else can get the lock, who outlives the
 *  duration has the whole grace. */
#define KILL_AFTER_LOSS_MS 1000
#define KILL_AFTER_DURATION_MS 2000
#define KILLED_MS 1000 /* how long the end may take after KILL */

typedef struct {
    const char *name;
    lk_watch watch;
    lk_lock *lock;
    lk_child child;
} runner;

/*  LK_EXIT_OK, or the exit code if there will be no lock. */
static int
obtain (runner *self)
{
    for (;;) {
        lk_saw saw = lk_watch_next (&self->watch, LK_FOREVER);
        if (saw == LK_SAW_SIGNAL && lk_watch_is_end (self->watch.signal)) {
            return LK_EXIT_SIGNAL + self->watch.signal;
        }
        if (saw != LK_SAW_EVENT) {
            continue;
        }
        if (self->watch.event.kind == LK_EVENT_GRANTED) {
            return LK_EXIT_OK;
        }
        return lk_cli_say_failed (self->watch.session, self->name,
                                  self->watch.event.error);
    }
}

static void
export_lock (const runner *self)
{
    char text[32];
    snprintf (text, sizeof text, "%" PRIu64, lk_lock_token (self->lock));
    setenv ("LOCKKEEPER_TOKEN", text, 1);
    snprintf (text, sizeof text, "%016" PRIx64, lk_lock_key (self->lock));
    setenv ("LOCKKEEPER_KEY", text, 1);
    setenv ("LOCKKEEPER_NAME", self->name, 1);
}

/*  Whether the command has ended by then. */
static bool
await_child (runner *self, int64_t wait_ms)
{
    int ignored;
    int64_t until_ms = lk_clock_ms () + wait_ms;
    while (!lk_child_ended (&self->child, &ignored)) {
        if (lk_clock_ms () >= until_ms) {
            return false;
        }
        (void) lk_watch_next (&self->watch, lk_clock_poll_ms (until_ms));
    }
    return true;
}

/*  The whole group, so that no child of the command goes on working. */
static int
stop_child (runner *self, lk_err error)
{
    int code = lk_cli_say_lost (self->name, error);
    self->watch.session = NULL;
    lk_child_signal (&self->child, SIGTERM);
    lk_child_signal (&self->child, SIGCONT);
    bool ended =
        await_child (self, error == LK_TIMEDOUT ? KILL_AFTER_DURATION_MS
                                                : KILL_AFTER_LOSS_MS);
    lk_child_signal (&self->child, SIGKILL);
    if (!ended) {
        (void) await_child (self, KILLED_MS);
    }
    return code;
}

static int
attend (runner *self)
{
    int code;
    for (;;) {
        lk_saw saw = lk_watch_next (&self->watch, LK_FOREVER);
        if (saw == LK_SAW_EVENT && self->watch.event.kind == LK_EVENT_LOST) {
            return stop_child (self, self->watch.event.error);
        }
        if (saw != LK_SAW_SIGNAL) {
            continue;
        }
        if (self->watch.signal == SIGCONT) {
            lk_child_continue (&self->child);
        } else if (self->watch.signal != SIGCHLD) {
            lk_child_signal (&self->child, self->watch.signal);
        } else if (lk_child_ended (&self->child, &code)) {
            return code;
        }
    }
}

static int
run_command (runner *self, char **command)
{
    export_lock (self);
    if (!lk_child_start (&self->child, command)) {
        return lk_cli_say_not_run (command[0]);
    }
    return attend (self);
}

static int
run_with_session (runner *self, const lk_options *options)
{
    int code = lk_cli_request (self->watch.session, options, &self->lock);
    if (code == LK_EXIT_OK) {
        code = obtain (self);
    }
    if (code == LK_EXIT_OK) {
        code = run_command (self, options->argument + 1);
        (void) lk_lock_release (&self->lock);
    }
    return code;
}

static int
run_run (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_run,
                          LK_OPT_ENDPOINT | LK_OPT_WAIT | LK_OPT_DURATION, argc,
                          argv, &code)) {
        return code;
    }
    if (options.count < 2) {
        return lk_cli_misused (&lk_verb_run, "'run' needs the name of a lock "
                                             "and a command");
    }
    if (lk_cli_check_name (options.argument[0]) != LK_EXIT_OK) {
        return LK_EXIT_FAILED;
    }
    runner self = {.name = options.argument[0]};
    if (lk_watch_init (&self.watch) != 0) {
        return lk_cli_fail (LK_EXIT_FAILED, "cannot watch signals: %m");
    }
    lk_session *session = lk_cli_session (options.endpoint);
    self.watch.session = session;
    code = LK_EXIT_FAILED;
    if (session != NULL) {
        code = run_with_session (&self, &options);
    }
    lk_session_destroy (&session);
    lk_watch_clear (&self.watch);
    return code;
}

const lk_verb lk_verb_run = {
    "run",
    "NAME [--wait S] [--duration S] -- CMD...",
    "Runs a command while it holds a lock",
    "  --wait S       give up after S seconds; 0: do not queue (default: "
    "wait for ever)\n"
    "  --duration S   the lock ends S seconds after it was got\n"
    "  --endpoint E   where the router is\n\n"
    "CMD finds LOCKKEEPER_NAME, LOCKKEEPER_KEY and LOCKKEEPER_TOKEN in its\n"
    "environment. When the lock is lost, CMD's process group gets TERM and, 1\n"
    "second later (2 after --duration), KILL. INT, TERM, HUP and QUIT are "
    "passed on to it.\n\n"
    "Exit code: CMD's own (128 and the signal's number if one ended it); 122 "
    "the\nlock was lost; 124 it was not obtained in time; 125 lockkeeper "
    "itself failed;\n126 CMD cannot be run; 127 there is no CMD.\n",
    run_run,
};
