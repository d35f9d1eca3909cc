/*  run.c - `lockkeeper run`: a command under a lock
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Who ends the command when: see guard.h.
 */

#include "cli/child.h"
#include "cli/cli.h"
#include "cli/nested.h"
#include "cli/run/guard.h"
#include "cli/run/report.h"
#include "cli/tree.h"
#include "cli/watch.h"
#include "net/clock.h"
#include "util/alloc.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*  If we are killed the guard has so much time to end the command before the
 *  lock goes to the next one. */
#define LINGER_MS 500
#define KILLED_MS 1000 /* how long the end may take after KILL */
#define DESERTED_MS 50 /* likewise the guard's, that the kernel killed */
#define BEAT_MIN_MS 10
#define BEAT_MAX_MS 500

typedef struct {
    const lk_options *options;
    lk_watch watch;
    lk_lock *lock;
    lk_job job;
    lk_guard guard;
    lk_child child;
    lk_run_report report;
    int64_t until_ms;   /* when we looked last the lock was good until then */
    bool has_ended;     /* the command, with `code` */
    bool is_deserted;   /* the guard has ended */
    bool is_given_back; /* by the guard */
    int code;
} runner;

/*  LK_EXIT_OK, or the exit code if there will be no lock. */
static int
obtain (runner *self)
{
    for (bool hinted = false;;) {
        lk_saw saw =
            lk_watch_next (&self->watch, hinted ? LK_FOREVER : LK_HINT_MS);
        if (saw == LK_SAW_SIGNAL && lk_watch_is_end (self->watch.signal)) {
            return LK_EXIT_SIGNAL + self->watch.signal;
        }
        if (saw == LK_SAW_NOTHING) {
            hinted = lk_cli_hint_nested (self->options);
        }
        if (saw != LK_SAW_EVENT) {
            continue;
        }
        if (self->watch.event.kind == LK_EVENT_GRANTED) {
            return LK_EXIT_OK;
        }
        if (self->watch.event.kind == LK_EVENT_LOST) {
            return lk_cli_say_lost (self->watch.session, self->options,
                                    self->lock, self->watch.event.error);
        }
        return lk_cli_say_failed (self->watch.session, self->options,
                                  self->watch.event.error);
    }
}

/*  -------------------------------------------------------- environment */

static void
export_tokens (const lk_lock *lock)
{
    const size_t count = lk_lock_count (lock);
    const size_t size = count * 21 + 1;
    char *text = lk_alloc (size);
    for (size_t i = 0, used = 0; i < count; i++) {
        used +=
            (size_t) snprintf (text + used, size - used, "%s%" PRIu64,
                               i > 0 ? " " : "", lk_lock_token_at (lock, i));
    }
    setenv ("LOCKKEEPER_TOKENS", text, 1);
    lk_free (text);
}

/*  By which the guard knows the command's children when we are gone. */
static void
export_mark (runner *self)
{
    static const char name[] = "LOCKKEEPER_RUN";
    snprintf (self->job.mark, sizeof self->job.mark, "%s=%d.%" PRId64, name,
              (int) getpid (), lk_clock_ms ());
    setenv (name, self->job.mark + sizeof name, 1);
}

/*  In seconds of the boot clock, as /proc/uptime has it. */
static void
export_deadline (const lk_lock *lock)
{
    char text[40] = "inf";
    const int64_t left = lk_lock_left (lock);
    if (left >= 0) {
        const int64_t end = lk_clock_ms () + left;
        snprintf (text, sizeof text, "%" PRId64 ".%03d", end / 1000,
                  (int) (end % 1000));
    }
    setenv ("LOCKKEEPER_DEADLINE", text, 1);
}

static void
export_lock (runner *self)
{
    char text[32];
    snprintf (text, sizeof text, "%" PRIu64, lk_lock_token (self->lock));
    setenv ("LOCKKEEPER_TOKEN", text, 1);
    snprintf (text, sizeof text, "%016" PRIx64, lk_lock_key (self->lock));
    setenv ("LOCKKEEPER_KEY", text, 1);
    setenv ("LOCKKEEPER_NAME", self->options->argument[0], 1);
    export_mark (self);
    export_tokens (self->lock);
    export_deadline (self->lock);
}

/*  -------------------------------------------------------- the command */

/*  In its process. */
static bool
prepare (void *user)
{
    runner *self = user;
    lk_cgroup_enter (&self->job.cgroup);
    return lk_guard_admit (&self->guard);
}

/*  All of our children: orphans among our descendants are, too. */
static void
reap (runner *self)
{
    pid_t pid;
    int status;
    while ((pid = waitpid (-1, &status, WNOHANG | WUNTRACED)) > 0) {
        if (pid == self->guard.pid) {
            self->is_deserted = self->is_deserted || !WIFSTOPPED (status);
        } else if (pid == self->child.pid && !self->has_ended) {
            const lk_child_state state =
                lk_child_take (&self->child, status, &self->code);
            self->has_ended = state == LK_CHILD_ENDED;
            if (state == LK_CHILD_STOPPED) {
                lk_guard_suspend (&self->guard, true);
                raise (SIGSTOP);
                lk_guard_suspend (&self->guard, false);
            }
        }
    }
}

/*  TERM to all that is left of it, then KILL in time: at once if we are late,
 *  as after a time in which the host stood still. The guard does so should we
 *  not be able to. */
static void
end_job (runner *self)
{
    const int64_t now_ms = lk_clock_ms ();
    const int64_t ends_ms = self->until_ms < now_ms ? self->until_ms : now_ms;
    const int64_t kill_ms = ends_ms + lk_lock_spare (self->lock) * 4 / 5;
    lk_guard_note_end (&self->guard, kill_ms);
    lk_job_terminate (&self->job);
    while (lk_job_is_left (&self->job) && lk_clock_ms () < kill_ms) {
        (void) lk_watch_next (&self->watch, BEAT_MIN_MS);
        reap (self);
    }
    lk_job_kill (&self->job);
    const int64_t until_ms = lk_clock_ms () + KILLED_MS;
    while (lk_job_is_left (&self->job) && lk_clock_ms () < until_ms) {
        (void) lk_watch_next (&self->watch, BEAT_MIN_MS);
        reap (self);
    }
}

static int
lose (runner *self, lk_err error)
{
    const lk_session *session = self->watch.session;
    self->watch.session = NULL;
    self->report.lost = true;
    const int code =
        lk_cli_say_lost (session, self->options, self->lock, error);
    end_job (self);
    return code;
}

/*  What the session has to tell, if the lock was lost while we were stopped or
 *  could not look. */
static lk_err
why_lost (runner *self)
{
    lk_lock_event event;
    while (lk_session_poll (self->watch.session, 0, &event) != LK_EVENT_NONE) {
        if (event.kind == LK_EVENT_LOST) {
            return event.error;
        }
    }
    return LK_DISCONNECTED;
}

/*  Who is killed along with the guard may be gone before it. */
static void
await_guard (runner *self)
{
    const int64_t until_ms = lk_clock_ms () + DESERTED_MS;
    while (self->code == LK_EXIT_SIGNAL + SIGKILL && !self->is_deserted
           && lk_clock_ms () < until_ms) {
        (void) lk_watch_next (&self->watch, BEAT_MIN_MS);
        reap (self);
    }
}

/*  The command or its guard has ended. */
static int
conclude (runner *self)
{
    await_guard (self);
    const bool is_ending = lk_guard_is_ending (&self->guard);
    if (!lk_guard_gives_back (&self->guard) && !lk_lock_held (self->lock)
        && (is_ending || self->is_deserted)) {
        return lose (self, why_lost (self));
    }
    if (is_ending || self->is_deserted) {
        const int code = lk_cli_fail (
            LK_EXIT_FAILED,
            is_ending ? "the command was ended: lockkeeper was stopped for "
                        "too long to guard it"
                      : "the command was killed: its guard was killed, or "
                        "stopped for too long");
        end_job (self);
        return code;
    }
    if (lk_job_is_left (&self->job)) {
        end_job (self);
    }
    return self->code;
}

static void
take_signal (runner *self)
{
    switch (self->watch.signal) {
    case SIGCHLD:
        break;
    case SIGCONT:
        if (lk_lock_held (self->lock)) {
            lk_child_continue (&self->child);
        }
        break;
    default:
        lk_child_signal (&self->child, self->watch.signal);
        break;
    }
}

static void
warn (const runner *self)
{
    if (self->options->on_jeopardy != 0) {
        lk_child_signal (&self->child, (int) self->options->on_jeopardy);
    }
}

static int
attend (runner *self)
{
    int64_t beat_ms = lk_lock_spare (self->lock) * 2 / 5;
    beat_ms = beat_ms < BEAT_MIN_MS   ? BEAT_MIN_MS
              : beat_ms > BEAT_MAX_MS ? BEAT_MAX_MS
                                      : beat_ms;
    for (;;) {
        if (lk_lock_held (self->lock)) {
            self->until_ms = lk_lock_until (self->lock);
            lk_guard_follow (&self->guard, self->lock);
        }
        lk_guard_beat (&self->guard);
        const lk_saw saw = lk_watch_next (&self->watch, (int) beat_ms);
        if (saw == LK_SAW_EVENT && self->watch.event.kind == LK_EVENT_LOST) {
            return lk_guard_gives_back (&self->guard)
                       ? conclude (self)
                       : lose (self, self->watch.event.error);
        }
        if (saw == LK_SAW_EVENT
            && self->watch.event.kind == LK_EVENT_JEOPARDY) {
            warn (self);
        }
        if (saw == LK_SAW_SIGNAL) {
            take_signal (self);
        }
        reap (self);
        if (self->has_ended || self->is_deserted) {
            return conclude (self);
        }
    }
}

static int
run_command (runner *self, char **command)
{
    int code;
    self->job.owner = getpid ();
    export_lock (self);
    lk_tree_adopt ();
    lk_cgroup_make (&self->job.cgroup);
    if (!lk_guard_start (&self->guard, self->lock, &self->job, self->options)) {
        lk_cgroup_remove (&self->job.cgroup);
        return lk_cli_fail (LK_EXIT_FAILED, "cannot start a guard: %m");
    }
    self->job.guard = self->guard.pid;
    if (lk_child_start (&self->child, command, prepare, self)) {
        self->job.group = self->child.pid;
        code = attend (self);
    } else {
        code = lk_cli_say_not_run (command[0]);
    }
    self->is_given_back = lk_guard_gives_back (&self->guard);
    lk_guard_finish (&self->guard);
    lk_cgroup_remove (&self->job.cgroup);
    return code;
}

/*  -------------------------------------------------------- the verb */

/*  The command has ended. What it did may have been done by another one as well
 *  if the lock turns out to be lost only now. */
static int
give_back (runner *self, int code)
{
    const bool is_known = self->report.lost || self->is_given_back;
    const lk_err ending = lk_lock_release (&self->lock);
    if (is_known || ending == LK_OK || ending == LK_LATE
        || ending == LK_TIMEDOUT) {
        return code;
    }
    self->report.lost = true;
    return lk_cli_say_lost (self->watch.session, self->options, NULL, ending);
}

static int
run_with_session (runner *self, char **command)
{
    int code = lk_cli_request (self->watch.session, self->options, &self->lock);
    if (code == LK_EXIT_OK) {
        code = obtain (self);
    }
    if (code == LK_EXIT_OK) {
        lk_report_granted (&self->report, self->lock);
        code = give_back (self, run_command (self, command));
    }
    return code;
}

/*  What people see of who holds it. */
static const char *
title_of (const char *command)
{
    const char *base = basename (command);
    return base[0] != '\0' ? base : NULL;
}

static int
run_with (lk_options *options, char **command)
{
    runner self = {.options = options};
    if (lk_watch_init (&self.watch) != 0) {
        return lk_cli_fail (LK_EXIT_FAILED, "cannot watch signals: %m");
    }
    options->linger_ms = LINGER_MS;
    options->guarded = true;
    lk_report_begin (&self.report);
    lk_session *session =
        lk_cli_session_for (options->endpoint, title_of (command[0]), 0);
    self.watch.session = session;
    const int code =
        session != NULL ? run_with_session (&self, command) : LK_EXIT_FAILED;
    lk_session_destroy (&session);
    lk_watch_clear (&self.watch);
    if (options->json) {
        lk_report_print (&self.report, options, code);
    }
    return code;
}

/*  Returns what is wrong, NULL if nothing. Without "--" the options of the
 *  command would be taken for ours. */
static const char *
find_problem (const lk_options *options)
{
    if (!options->is_split && options->names > 1) {
        return "'run' needs '--' ahead of the command";
    }
    if (options->names < 1 || options->count == options->names) {
        return "'run' needs the name of a lock and a command";
    }
    if (!options->all && options->names > 1) {
        return "several names need --all";
    }
    return NULL;
}

static int
run_run (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_run, argc, argv, &code)) {
        return code;
    }
    const char *problem = find_problem (&options);
    if (problem != NULL) {
        return lk_cli_misused (&lk_verb_run, "%s", problem);
    }
    if (!lk_cli_check_kind (&options)
        || lk_cli_check_names (options.argument, options.names) != LK_EXIT_OK) {
        return LK_EXIT_FAILED;
    }
    return run_with (&options, options.argument + options.names);
}

static const lk_verb_option takes[] = {
    LK_TAKES_KIND,
    LK_TAKES_WORD (ON_JEOPARDY, NULL, LK_SIGNALS (LK_SIGNAL_WORD)),
    LK_TAKES_AS (ALL,
                 "several names, all or none of them: run --all A B -- CMD"),
    LK_TAKES_AS (
        JSON, "at the end, print a JSON object on stderr: what became of it"),
    LK_TAKES (ENDPOINT),
    LK_TAKES_END};

const lk_verb lk_verb_run = {
    .name = "run",
    .usage = "NAME [options] -- CMD...",
    .summary = "Runs a command while it holds a lock",
    .options = takes,
    .help =
        "CMD finds LOCKKEEPER_NAME, LOCKKEEPER_KEY, LOCKKEEPER_TOKEN (a "
        "fencing token)\n"
        "and LOCKKEEPER_DEADLINE (the end of --duration in seconds, as the "
        "first number of\n"
        "/proc/uptime counts them; or inf) in its environment, and with --all "
        "the tokens\n"
        "of all names in LOCKKEEPER_TOKENS. INT, TERM, HUP and QUIT are passed "
        "on to it.\n"
        "When the lock is lost, CMD and all that it started gets TERM and, an "
        "eighth of a\n"
        "host lease later (1 s), KILL: before anybody else can have the lock. "
        "What it left\n"
        "running at its end is ended likewise before the lock is given back.\n"
        "\n"
        "Exit code: CMD's own (128 and the signal's number if one ended it); "
        "122 the\n"
        "lock was lost; 124, or that of --on-busy, it was not obtained in "
        "time; 125\n"
        "lockkeeper itself failed; 126 CMD cannot be run; 127 there is no "
        "CMD.\n",
    .arguments = lk_follows_lock,
    .needs_command = true,
    .is_far = true,
    .run = run_run,
};
