/*  sweep.c - clears up after a sandbox, even one that was killed
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The sweeper reads a pipe whose other end only the sandbox has: its end of
 *  file means that the sandbox is gone. The daemons die along with it (see
 *  PR_SET_PDEATHSIG in hosts.c); the command's group is killed here.
 */

#include "cli/cli.h"
#include "cli/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRIES 50 /* while dying daemons may still write into it */
#define PAUSE_MS 20
#define OPEN_DIRS 16

static bool keep_top;

static int
remove_entry (const char *path, const struct stat *status, int type,
              struct FTW *place)
{
    (void) status;
    (void) type;
    if (place->level == 0 && keep_top) {
        return 0;
    }
    return remove (path) == 0 || errno == ENOENT ? 0 : -1;
}

static void
remove_tree (const char *dir)
{
    struct timespec pause = {0, PAUSE_MS * 1000000L};
    for (int i = 0; i < TRIES; i++) {
        if (nftw (dir, remove_entry, OPEN_DIRS, FTW_DEPTH | FTW_PHYS) == 0
            || errno == ENOENT) {
            return;
        }
        nanosleep (&pause, NULL);
    }
}

/*  Nothing that is meant for the sandbox ends us before it. */
static void
ignore_signals (void)
{
    signal (SIGINT, SIG_IGN);
    signal (SIGTERM, SIG_IGN);
    signal (SIGHUP, SIG_IGN);
    signal (SIGQUIT, SIG_IGN);
    signal (SIGPIPE, SIG_IGN);
}

static _Noreturn void
sweep (int fd, const char *dir, bool own, bool keep)
{
    pid_t group = 0, noted;
    prctl (PR_SET_NAME, "lk-sweeper");
    ignore_signals ();
    while (read (fd, &noted, sizeof noted) == (ssize_t) sizeof noted) {
        group = noted;
    }
    if (group > 0) {
        (void) kill (-group, SIGKILL);
    }
    keep_top = !own;
    if (!keep) {
        remove_tree (dir);
    }
    _exit (0);
}

bool
lk_sweeper_start (lk_sweeper *self, const char *dir, bool own, bool keep)
{
    int ends[2];
    if (pipe2 (ends, O_CLOEXEC) != 0) {
        lk_cli_fail (0, "cannot make a pipe: %m");
        return false;
    }
    self->pid = fork ();
    if (self->pid == 0) {
        setsid ();
        close (ends[1]);
        sweep (ends[0], dir, own, keep);
    }
    close (ends[0]);
    self->fd = ends[1];
    if (self->pid < 0) {
        lk_cli_fail (0, "cannot fork: %m");
        return false;
    }
    return true;
}

void
lk_sweeper_note (const lk_sweeper *self, pid_t group)
{
    (void) !write (self->fd, &group, sizeof group);
}

void
lk_sweeper_finish (lk_sweeper *self)
{
    lk_sweeper_note (self, 0);
    close (self->fd);
    while (waitpid (self->pid, NULL, 0) < 0 && errno == EINTR) {
    }
}
