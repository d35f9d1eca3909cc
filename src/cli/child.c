/*  child.c - the command that `run` runs, in a process group of its own
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/child.h"

#include "cli/cli.h"
#include "cli/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define TERMINAL STDIN_FILENO

static bool
have_terminal (void)
{
    return isatty (TERMINAL) && tcgetpgrp (TERMINAL) == getpgrp ();
}

/*  Who is not in the foreground group and calls this is stopped by TTOU
 *  unless that is blocked. */
static void
give_terminal (pid_t group)
{
    sigset_t set, old;
    sigemptyset (&set);
    sigaddset (&set, SIGTTOU);
    sigprocmask (SIG_BLOCK, &set, &old);
    (void) tcsetpgrp (TERMINAL, group);
    sigprocmask (SIG_SETMASK, &old, NULL);
}

/*  Killed along with us: without a holder the lock goes to the next one. */
static _Noreturn void
become (const lk_child *self, char **argv, lk_child_prepare *prepare,
        void *user, int report_fd)
{
    int problem = ECANCELED;
    setpgid (0, 0);
    if (self->has_terminal) {
        give_terminal (getpid ());
    }
    prctl (PR_SET_PDEATHSIG, SIGKILL);
    if (prepare == NULL || prepare (user)) {
        lk_watch_unblock ();
        execvp (argv[0], argv);
        problem = errno;
    }
    (void) !write (report_fd, &problem, sizeof problem);
    _exit (LK_EXIT_NOT_FOUND);
}

bool
lk_child_start (lk_child *self, char **argv, lk_child_prepare *prepare,
                void *user)
{
    int report[2];
    if (pipe2 (report, O_CLOEXEC) != 0) {
        return false;
    }
    self->has_terminal = have_terminal ();
    self->pid = fork ();
    if (self->pid == 0) {
        become (self, argv, prepare, user, report[1]);
    }
    close (report[1]);
    int problem = self->pid < 0 ? errno : 0;
    if (self->pid > 0) {
        setpgid (self->pid, self->pid);
        if (read (report[0], &problem, sizeof problem)
            == (ssize_t) sizeof problem) {
            (void) waitpid (self->pid, NULL, 0);
            if (self->has_terminal) {
                give_terminal (getpgrp ());
            }
        } else {
            problem = 0;
        }
    }
    close (report[0]);
    errno = problem;
    return problem == 0;
}

void
lk_child_signal (const lk_child *self, int signal)
{
    (void) kill (-self->pid, signal);
}

lk_child_state
lk_child_take (lk_child *self, int status, int *code)
{
    const bool stopped = WIFSTOPPED (status);
    if (self->has_terminal) {
        give_terminal (getpgrp ());
    }
    if (stopped) {
        return self->has_terminal ? LK_CHILD_STOPPED : LK_CHILD_RUNS;
    }
    *code = WIFEXITED (status) ? WEXITSTATUS (status)
                               : LK_EXIT_SIGNAL + WTERMSIG (status);
    return LK_CHILD_ENDED;
}

bool
lk_child_ended (lk_child *self, int *code)
{
    int status;
    while (waitpid (self->pid, &status, WNOHANG | WUNTRACED) == self->pid) {
        const lk_child_state state = lk_child_take (self, status, code);
        if (state == LK_CHILD_ENDED) {
            return true;
        }
        if (state == LK_CHILD_STOPPED) {
            raise (SIGSTOP);
        }
    }
    return false;
}

void
lk_child_continue (const lk_child *self)
{
    if (self->has_terminal) {
        give_terminal (self->pid);
    }
    lk_child_signal (self, SIGCONT);
}
