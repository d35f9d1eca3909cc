/*  hold.c - `lockkeeper lock`: holds a lock for a shell script
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A lock lives as long as the process that has it. In the foreground that
 *  is this one; with --background it is a child, which goes on until the
 *  lock is released, or the shell that called us (or --pid) has ended.
 */

#include "cli/cli.h"
#include "cli/nested.h"
#include "cli/watch.h"

#include <fcntl.h>
#include <inttypes.h>
#include <lockkeeper/message.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    const lk_options *options;
    lk_watch watch;
    lk_lock *lock;
    int report_fd; /* background: tells the parent how it went; else -1 */
} holder;

/*  For a shell; the tokens of a set, too. */
static void
print_plain (const lk_lock *lock)
{
    const size_t count = lk_lock_count (lock);
    printf ("key=%016" PRIx64 " token=%" PRIu64, lk_lock_key (lock),
            lk_lock_token (lock));
    for (size_t i = 0; count > 1 && i < count; i++) {
        printf ("%s%" PRIu64 "%s", i == 0 ? " tokens='" : " ",
                lk_lock_token_at (lock, i), i == count - 1 ? "'" : "");
    }
    putchar ('\n');
}

/*  An object for each name. */
static void
print_json (const lk_lock *lock)
{
    for (size_t i = 0; i < lk_lock_count (lock); i++) {
        lk_message *message = lk_message_new ("lock@.", "LOCKED");
        lk_cli_set_object (message, lk_lock_object_at (lock, i, NULL));
        lk_message_set_hex (message, "key", lk_lock_key (lock));
        lk_message_set_number (message, "token",
                               (int64_t) lk_lock_token_at (lock, i));
        puts (lk_message_body (message));
        lk_message_destroy (&message);
    }
}

/*  False: nobody would know its key. */
static bool
print_lock (const holder *self)
{
    if (self->options->json) {
        print_json (self->lock);
    } else {
        print_plain (self->lock);
    }
    return fflush (stdout) == 0 && !ferror (stdout);
}

/*  Lets the parent go, and whoever reads our output. */
static void
go_background (holder *self)
{
    if (self->report_fd < 0) {
        return;
    }
    unsigned char code = LK_EXIT_OK;
    (void) !write (self->report_fd, &code, 1);
    close (self->report_fd);
    int null_fd = open ("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; fd++) {
        dup2 (null_fd, fd);
    }
}

/*  Who gives a key wants that lock, and no other one of that name. */
static bool
is_other (const holder *self)
{
    return self->options->key != 0
           && lk_lock_key (self->lock) != self->options->key;
}

static int
ended (const holder *self, lk_err error)
{
    if (error == LK_RELEASED) {
        return LK_EXIT_OK;
    }
    return lk_cli_say_lost (self->watch.session, self->options, self->lock,
                            error);
}

/*  We are told to end, or our owner has ended. What lingers is not given
 *  back. */
static int
leave (holder *self, int code)
{
    if (!lk_lock_held (self->lock)) {
        return code;
    }
    if (self->options->linger_ms > 0) {
        (void) lk_lock_leave (&self->lock);
    }
    return LK_EXIT_OK;
}

/*  Before somebody relies on it for days. */
static void
warn_of_static (const holder *self)
{
    if (self->options->is_static
        && !lk_cli_has_journal (self->options->endpoint)) {
        lk_cli_hint ("'%s' is static: it stays until it is unlocked, but is "
                     "gone when all leaders are down at once, as in a power "
                     "failure",
                     lk_shown_name (self->options->argument[0]).text);
    }
}

/*  It is granted. False: there is nothing more to do here. */
static bool
begin (holder *self, int *code)
{
    *code = LK_EXIT_OK;
    if (!print_lock (self)) {
        *code = lk_cli_fail (LK_EXIT_FAILED, "cannot write to stdout: %m");
        return false;
    }
    warn_of_static (self);
    go_background (self);
    return !self->options->is_static || lk_lock_leave (&self->lock) != LK_OK;
}

/*  Until it is granted, and then until it is over. */
static int
hold (holder *self)
{
    int code;
    bool hinted = false;
    for (;;) {
        lk_saw saw =
            lk_watch_next (&self->watch, hinted ? LK_FOREVER : LK_HINT_MS);
        if (saw == LK_SAW_NOTHING) {
            hinted = lk_cli_hint_nested (self->options);
        }
        if (saw == LK_SAW_OTHER) {
            return leave (self, LK_EXIT_OK);
        }
        if (saw == LK_SAW_SIGNAL && lk_watch_is_end (self->watch.signal)) {
            return leave (self, LK_EXIT_SIGNAL + self->watch.signal);
        }
        if (saw != LK_SAW_EVENT) {
            continue;
        }
        switch (self->watch.event.kind) {
        case LK_EVENT_GRANTED:
            hinted = true;
            if (is_other (self)) {
                return lk_cli_say_other (self->options);
            }
            if (!begin (self, &code)) {
                return code;
            }
            break;
        case LK_EVENT_LOST:
            return ended (self, self->watch.event.error);
        case LK_EVENT_FAILED:
            return lk_cli_say_failed (self->watch.session, self->options,
                                      self->watch.event.error);
        default:
            break;
        }
    }
}

static int
hold_with_session (holder *self)
{
    int code = lk_cli_request (self->watch.session, self->options, &self->lock);
    if (code != LK_EXIT_OK) {
        return code;
    }
    code = hold (self);
    if (self->lock != NULL && lk_lock_token (self->lock) != 0) {
        (void) lk_lock_release (&self->lock);
    }
    return code;
}

/*  `owner`: the process whose end is ours, 0: none. */
static int
hold_for (const lk_options *options, pid_t owner, int report_fd)
{
    holder self = {.options = options, .report_fd = report_fd};
    if (lk_watch_init (&self.watch) != 0) {
        return lk_cli_fail (LK_EXIT_FAILED, "cannot watch signals: %m");
    }
    if (owner != 0) {
        self.watch.other_fd = (int) syscall (SYS_pidfd_open, owner, 0);
        if (self.watch.other_fd < 0) {
            return lk_cli_fail (LK_EXIT_FAILED,
                                "cannot wait for the end of process %d: %m",
                                (int) owner);
        }
    }
    lk_session *session = lk_cli_session_for (options->endpoint, NULL, owner);
    self.watch.session = session;
    int code = session != NULL ? hold_with_session (&self) : LK_EXIT_FAILED;
    lk_session_destroy (&session);
    lk_watch_clear (&self.watch);
    return code;
}

/*  Forks before there is a session, which is of one process alone. Returns in
 *  the parent only. */
static int
hold_in_background (const lk_options *options)
{
    pid_t owner = options->pid != 0 ? (pid_t) options->pid : getppid ();
    int report[2];
    if (pipe2 (report, O_CLOEXEC) != 0) {
        return lk_cli_fail (LK_EXIT_FAILED, "cannot make a pipe: %m");
    }
    pid_t child = fork ();
    if (child < 0) {
        return lk_cli_fail (LK_EXIT_FAILED, "cannot fork: %m");
    }
    if (child == 0) {
        close (report[0]);
        setsid ();
        exit (hold_for (options, owner, report[1]));
    }
    close (report[1]);
    unsigned char code;
    int status = 0;
    if (read (report[0], &code, 1) == 1) {
        return code;
    }
    waitpid (child, &status, 0);
    return WIFEXITED (status) ? WEXITSTATUS (status) : LK_EXIT_FAILED;
}

static int
take_lock (lk_options *options, int argc, char **argv)
{
    int code;
    if (!lk_options_read (options, &lk_verb_lock, argc, argv, &code)) {
        return code;
    }
    if (options->names < 1 || options->is_split
        || (options->names > 1 && !options->all)) {
        return lk_cli_misused (&lk_verb_lock, "'lock' needs the name of one "
                                              "lock; --all takes several");
    }
    if (!lk_cli_check_kind (options)
        || lk_cli_check_names (options->argument, options->names)
               != LK_EXIT_OK) {
        return LK_EXIT_FAILED;
    }
    if (options->background) {
        return hold_in_background (options);
    }
    return hold_for (options, (pid_t) options->pid, -1);
}

/*  A mistake may stand before the option. */
static bool
is_for_eval (const lk_options *options, char **argv)
{
    bool is = options->background || options->is_static;
    for (; *argv != NULL; argv++) {
        is = is || strcmp (*argv, "--background") == 0
             || strcmp (*argv, "--static") == 0;
    }
    return is && !options->json;
}

/*  A shell that evaluates nothing takes it for success. */
static int
run_lock (int argc, char **argv)
{
    lk_options options;
    int code = take_lock (&options, argc, argv);
    if (code != LK_EXIT_OK && is_for_eval (&options, argv)) {
        puts ("false");
    }
    return code;
}

static const lk_verb_option takes[] = {
    LK_TAKES_KIND,
    LK_TAKES_AS (ALL, "several names, all or none of them: lock --all A B"),
    LK_TAKES (BACKGROUND),
    LK_TAKES_AS (PID, "until process PID ends instead"),
    LK_TAKES (LINGER),
    LK_TAKES (KEY),
    LK_TAKES (STATIC),
    LK_TAKES_AS (JSON, "print a JSON object for each name"),
    LK_TAKES (ENDPOINT),
    LK_TAKES_END};

const lk_verb lk_verb_lock = {
    .name = "lock",
    .usage = "NAME [options]",
    .summary = "Gets a lock, prints its key and token, and holds it",
    .options = takes,
    .help = "Prints 'key=KEY token=TOKEN'; with --all also tokens='T1 T2 ...'; "
            "--background\n"
            "and --static print 'false' if they fail, so that a shell's eval "
            "does, too. The\n"
            "lock is given back by `lockkeeper unlock NAME KEY`, or by a "
            "signal to the process\n"
            "that holds it.\n"
            "\n"
            "Exit code: 0 held and given back; 1 no lock with the key of "
            "--key; 122 lost; 124,\n"
            "or that of --on-busy, not obtained in time; 125 failed.\n",
    .arguments = lk_follows_lock,
    .is_far = true,
    .run = run_lock,
};
