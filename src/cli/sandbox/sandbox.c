/*  sandbox.c - `lockkeeper sandbox`: a whole cluster on this machine
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/sandbox/sandbox.h"
#include "net/arguments.h"

#include "cli/child.h"
#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PORT_ATTEMPTS 3
#define PATIENCE_MS 2000 /* from TERM to KILL, for the command */
#define ENDPOINT_SIZE (LK_SANDBOX_PATH_MAX + 32)

/*  -------------------------------------------------------- directory */

static bool
is_empty (const char *path)
{
    size_t count = 0;
    DIR *dir = opendir (path);
    while (dir != NULL && readdir (dir) != NULL) {
        count++;
    }
    if (dir != NULL) {
        closedir (dir);
    }
    return count == 2; /* itself and its parent */
}

/*  TMPDIR, unless sockets below it would have too long a path. */
static const char *
base_dir (void)
{
    const char *base = getenv ("TMPDIR");
    return base != NULL && base[0] == '/'
                   && strlen (base) < LK_SANDBOX_PATH_MAX / 2
               ? base
               : "/tmp";
}

/*  A fresh directory, or the one that was asked for. *own: we made it. */
static bool
make_dir (lk_sandbox *self, const char *wanted, bool *own)
{
    char path[4096], real[4096];
    snprintf (path, sizeof path, "%s/lk-XXXXXX", base_dir ());
    if (wanted == NULL) {
        *own = mkdtemp (path) != NULL;
    } else {
        snprintf (path, sizeof path, "%s", wanted);
        *own = mkdir (path, 0700) == 0;
    }
    if (!*own && (wanted == NULL || errno != EEXIST || !is_empty (path))) {
        lk_cli_fail (0,
                     "cannot make '%s': %s; --dir DIR takes one that is "
                     "not there or empty",
                     path,
                     errno == EEXIST ? "it is not empty" : strerror (errno));
        return false;
    }
    if (realpath (path, real) == NULL
        || strlen (real) + strlen ("/h15/router") >= LK_SANDBOX_PATH_MAX) {
        lk_cli_fail (0,
                     "the path '%s' is too long for a socket's; take a "
                     "shorter one with --dir",
                     path);
        if (*own) {
            rmdir (path);
        }
        return false;
    }
    snprintf (self->dir, sizeof self->dir, "%s", real);
    return true;
}

/*  -------------------------------------------------------- the command */

/*  Programs of the build come first in PATH, as they did for us. */
static void
export_path (const lk_sandbox *self)
{
    char value[8192];
    const char *path = getenv ("PATH");
    if (self->programs[0] != '\0') {
        snprintf (value, sizeof value, "%s:%s", self->programs,
                  path != NULL ? path : "/usr/bin:/bin");
        setenv ("PATH", value, 1);
    }
}

static void
export_hosts (const lk_sandbox *self)
{
    char name[40], endpoint[ENDPOINT_SIZE];
    setenv ("LOCKKEEPER_SANDBOX", self->dir, 1);
    for (size_t i = 0; i < self->count; i++) {
        lk_sandbox_endpoint (self, i, endpoint, sizeof endpoint);
        snprintf (name, sizeof name, "LOCKKEEPER_ENDPOINT_%s",
                  self->host[i].name);
        setenv (name, endpoint, 1);
        if (i == 0) {
            setenv ("LOCKKEEPER_ENDPOINT", endpoint, 1);
        }
    }
    export_path (self);
}

static void
print_hosts (const lk_sandbox *self, FILE *out)
{
    char endpoint[ENDPOINT_SIZE];
    fprintf (out, "%d host%s in %s, ready for locks. To be on one of them:\n",
             (int) self->count, self->count == 1 ? "" : "s", self->dir);
    for (size_t i = 0; i < self->count; i++) {
        lk_sandbox_endpoint (self, i, endpoint, sizeof endpoint);
        fprintf (out, "  %-3s  export LOCKKEEPER_ENDPOINT=%s\n",
                 self->host[i].name, endpoint);
    }
    fprintf (out, "Their processes' numbers are in %s/HOST/router.pid%s.\n",
             self->dir, self->hosted ? "" : " and lockd.pid");
    fflush (out);
}

/*  -------------------------------------------------------- the loop */

/*  The signal that ends it. */
static int
wait_for_signal (lk_sandbox *self)
{
    for (;;) {
        lk_saw saw = lk_watch_next (&self->watch, LK_FOREVER);
        if (saw == LK_SAW_OTHER) {
            lk_control_serve (self);
        } else if (saw == LK_SAW_SIGNAL
                   && lk_watch_is_end (self->watch.signal)) {
            return self->watch.signal;
        } else {
            lk_sandbox_reap (self);
        }
    }
}

/*  Until the command ends; a signal to us goes to it, and it has some time
 *  to end then. */
static int
attend (lk_sandbox *self, lk_child *child)
{
    int code, patience_ms = LK_FOREVER;
    for (;;) {
        lk_saw saw = lk_watch_next (&self->watch, patience_ms);
        if (saw == LK_SAW_NOTHING) {
            lk_child_signal (child, SIGKILL);
        } else if (saw == LK_SAW_OTHER) {
            lk_control_serve (self);
        } else if (self->watch.signal == SIGCONT) {
            lk_child_continue (child);
        } else if (self->watch.signal != SIGCHLD) {
            lk_child_signal (child, self->watch.signal);
            patience_ms = PATIENCE_MS;
        } else {
            lk_sandbox_reap (self);
            if (lk_child_ended (child, &code)) {
                return code;
            }
        }
    }
}

static int
run_command (lk_sandbox *self, const lk_sweeper *sweeper, char **command)
{
    lk_child child;
    export_hosts (self);
    self->quiet = true;
    if (!lk_child_start (&child, command, NULL, NULL)) {
        return lk_cli_say_not_run (command[0]);
    }
    lk_sweeper_note (sweeper, child.pid);
    int code = attend (self, &child);
    lk_child_signal (&child, SIGKILL); /* what it left behind */
    return code;
}

/*  -------------------------------------------------------- the verb */

/*  Whether a daemon did not like its configuration. */
static bool
is_misconfigured (const lk_sandbox *self)
{
    for (size_t i = 0; i < self->count; i++) {
        for (lk_daemon it = 0; it < LK_DAEMON_COUNT; it++) {
            if (self->host[i].ended[it] == LK_ARGUMENTS_WRONG) {
                return true;
            }
        }
    }
    return false;
}

/*  Starts all; anew with other ports if somebody took one of them. */
static bool
start (lk_sandbox *self)
{
    for (int i = 1; i <= PORT_ATTEMPTS; i++) {
        if (!lk_sandbox_choose_ports (self) || !lk_sandbox_write_keys (self)
            || !lk_sandbox_start_all (self)) {
            return false;
        }
        if (lk_sandbox_await (self)) {
            return true;
        }
        lk_sandbox_stop_all (self);
        if (self->interrupted != 0 || is_misconfigured (self)
            || lk_sandbox_ports_are_free (self)) {
            return false;
        }
        lk_cli_notice ("somebody took a port that was free: trying others");
    }
    return false;
}

static int
serve (lk_sandbox *self, const lk_sweeper *sweeper, const lk_options *options)
{
    char **command = options->argument;
    if (!lk_sandbox_prepare (self)
        || !lk_sandbox_write_config (self, options->set)) {
        return LK_EXIT_FAILED;
    }
    self->watch.other_fd = lk_control_listen (self);
    if (self->watch.other_fd < 0) {
        return LK_EXIT_FAILED;
    }
    int code = LK_EXIT_FAILED;
    if (!start (self)) {
        if (self->interrupted != 0) {
            code = LK_EXIT_SIGNAL + self->interrupted;
        }
    } else if (command[0] != NULL) {
        if (isatty (STDERR_FILENO)) {
            print_hosts (self, stderr);
        }
        code = run_command (self, sweeper, command);
    } else {
        print_hosts (self, stdout);
        puts ("Ctrl-C ends it all.");
        fflush (stdout);
        wait_for_signal (self);
        code = LK_EXIT_OK;
    }
    self->quiet = true;
    lk_sandbox_stop_all (self);
    close (self->watch.other_fd);
    return code;
}

/*  How many of the hosts are members from the start. */
static bool
read_members (lk_sandbox *self, const char *text)
{
    char *end;
    self->members = self->count;
    if (text != NULL) {
        self->members = strtoul (text, &end, 10);
        return *end == '\0' && text[0] >= '1' && text[0] <= '9'
               && self->members <= self->count;
    }
    return true;
}

static int
run_new (const lk_options *options)
{
    lk_sandbox self = {.count = (size_t) options->hosts,
                       .hosted = options->hosted,
                       .plain = options->plain};
    lk_sweeper sweeper;
    bool own;
    if (!read_members (&self, options->members)) {
        return lk_cli_misused (&lk_verb_sandbox,
                               "--members needs a number, up to that of the "
                               "hosts, not '%s'",
                               lk_shown_name (options->members).text);
    }
    if (options->hosts > LK_SANDBOX_HOSTS_MAX) {
        return lk_cli_misused (&lk_verb_sandbox,
                               "a sandbox has at most %d hosts",
                               LK_SANDBOX_HOSTS_MAX);
    }
    if (lk_watch_init (&self.watch) != 0) {
        return lk_cli_fail (LK_EXIT_FAILED, "cannot watch signals: %m");
    }
    if (!make_dir (&self, options->dir, &own)) {
        return LK_EXIT_FAILED;
    }
    if (!lk_sweeper_start (&sweeper, self.dir, own, options->keep)) {
        return LK_EXIT_FAILED;
    }
    int code = serve (&self, &sweeper, options);
    lk_sweeper_finish (&sweeper);
    lk_watch_clear (&self.watch);
    return code;
}

static int
run_restart (const lk_options *options)
{
    const char *dir =
        options->dir != NULL ? options->dir : getenv ("LOCKKEEPER_SANDBOX");
    if (options->count < 2 || options->count > 3 || dir == NULL) {
        return lk_cli_misused (&lk_verb_sandbox,
                               "'sandbox restart' needs a host, and --dir or "
                               "$LOCKKEEPER_SANDBOX");
    }
    return lk_control_ask (dir, options->argument[1], options->argument[2]);
}

static int
run_sandbox (int argc, char **argv)
{
    lk_options options;
    int code;
    if (!lk_options_read (&options, &lk_verb_sandbox, argc, argv, &code)) {
        return code;
    }
    bool command =
        options.count > 0 && strcmp (options.argument[-1], "--") == 0;
    if (!command && options.count > 0
        && strcmp (options.argument[0], "restart") == 0) {
        return run_restart (&options);
    }
    return run_new (&options);
}

static const lk_verb_option takes[] = {
    LK_TAKES (HOSTS),
    LK_TAKES (MEMBERS),
    LK_TAKES (HOSTED),
    LK_TAKES_AS (PLAIN, "routers speak with each other without keys, in clear"),
    LK_TAKES (DIR),
    LK_TAKES (KEEP),
    LK_TAKES (SET),
    LK_TAKES_END};

static const lk_verb_argument follows[] = {
    {"restart", LK_VALUE_WORD,
     "h1 h2 h3 h4 h5 h6 h7 h8 h9 h10 h11 h12 h13 h14 h15"},
    LK_FOLLOWS_END};

const lk_verb lk_verb_sandbox = {
    .name = "sandbox",
    .usage =
        "[--hosts N] [--members M] [--hosted] [--plain] [--dir DIR]\n"
        "                          [--keep] [--set K=V]... [-- CMD...]\n"
        "       lockkeeper sandbox restart HOST [router|lockd] [--dir DIR]",
    .summary = "Runs a whole cluster on this machine, to try things out",
    .options = takes,
    .help = "Starts a router and a lock service per host, waits until locks "
            "can be had, and\n"
            "runs CMD, or waits for Ctrl-C. CMD finds LOCKKEEPER_ENDPOINT "
            "(that of h1),\n"
            "LOCKKEEPER_ENDPOINT_h1 and so on, and LOCKKEEPER_SANDBOX, the "
            "directory, where\n"
            "HOST/router.pid and HOST/lockd.pid are for kill(1); `sandbox "
            "restart` starts a\n"
            "daemon again. In the end all processes and the directory are "
            "gone, even after a\n"
            "kill -9.\n"
            "\n"
            "Exit code: CMD's own; 0 after Ctrl-C without CMD; 125 it did not "
            "get ready.\n",
    .arguments = follows,
    .run = run_sandbox,
};
