/*  load.c - keeps an application at work on a host, through all its lives
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A tool for the tests beside it, not a test. SIGTERM ends it as soon as the
 *  application has an answer to all that it asked for; code 1 if that takes
 *  too long, or if the application ended in a way of its own. SIGINT kills
 *  the application and ends it at once.
 */

#include "lib/history.h"
#include "lib/worker.h"
#include "util/rng.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S INT64_C (1000000000)

enum { PATIENCE_MS = 90000 }; /* then it hangs */

typedef struct {
    lk_worker_options worker;
    const char *style;
    const char *history;
    int life_ms;
    lk_rng rng;
    sigset_t signals;
    pid_t pid;
} load;

static const char usage[] =
    "usage: load --host H --endpoint IPC --history FILE [--seed N]\n"
    "            [--object NAME] [--objects N] "
    "[--style mixed|steady|hold]\n"
    "            [--life MS] [--rest MS]\n";

/*  -------------------------------------------------------- options */

static bool
read_options (load *self, int argc, char **argv)
{
    static const struct option table[] = {
        {"host", 1, NULL, 'h'},    {"endpoint", 1, NULL, 'e'},
        {"history", 1, NULL, 'f'}, {"seed", 1, NULL, 's'},
        {"object", 1, NULL, 'o'},  {"objects", 1, NULL, 'n'},
        {"style", 1, NULL, 'y'},   {"life", 1, NULL, 'l'},
        {"rest", 1, NULL, 'r'},    {NULL, 0, NULL, 0}};
    lk_worker_options *worker = &self->worker;
    for (int option;
         (option = getopt_long (argc, argv, "", table, NULL)) != -1;) {
        switch (option) {
        case 'h':
            worker->host = optarg;
            break;
        case 'e':
            worker->endpoint = optarg;
            break;
        case 'f':
            self->history = optarg;
            break;
        case 's':
            worker->seed = strtoull (optarg, NULL, 10);
            break;
        case 'o':
            worker->object = optarg;
            break;
        case 'n':
            worker->objects = (int) strtol (optarg, NULL, 10);
            break;
        case 'r':
            worker->rest_ms = (int) strtol (optarg, NULL, 10);
            break;
        case 'l':
            self->life_ms = (int) strtol (optarg, NULL, 10);
            break;
        case 'y':
            self->style = optarg;
            break;
        default:
            return false;
        }
    }
    return worker->host != NULL && worker->endpoint != NULL
           && self->history != NULL && worker->objects >= 1
           && worker->objects
                  <= (strcmp (self->style, "steady") == 0 ? 9 : 999);
}

/*  -------------------------------------------------------- one life */

/*  Returns how long it may live before it is killed; -1: for ever. */
static int
choose_life (load *self)
{
    lk_worker_options *worker = &self->worker;
    worker->seed = lk_rng_next (&self->rng);
    worker->end = LK_WORKER_STAYS;
    worker->birth = (int) (lk_history_now () / NS_PER_S);
    if (strcmp (self->style, "mixed") != 0) {
        worker->style = strcmp (self->style, "hold") == 0 ? LK_WORKER_HOLD
                                                          : LK_WORKER_STEADY;
        return -1;
    }
    worker->style = lk_rng_between (&self->rng, 0, 2) == 0 ? LK_WORKER_BLOCKING
                                                           : LK_WORKER_EVENTS;
    worker->life_ms = (int) lk_rng_between (&self->rng, 200, self->life_ms);
    const int64_t end = lk_rng_between (&self->rng, 0, 2);
    if (end == 0) {
        return worker->life_ms;
    }
    worker->end = end == 1 ? LK_WORKER_LEAVES : LK_WORKER_EXITS;
    return -1;
}

static void
start (load *self)
{
    const pid_t parent = getpid ();
    self->pid = fork ();
    if (self->pid != 0) {
        return;
    }
    prctl (PR_SET_PDEATHSIG, SIGKILL);
    if (getppid () != parent) {
        _exit (0);
    }
    _exit (lk_worker_run (&self->worker));
}

/*  A signal to us, or 0 when the time is over. */
static int
await_signal (const load *self, int wait_ms)
{
    const struct timespec wait = {wait_ms / 1000, wait_ms % 1000 * 1000000L};
    int number;
    do {
        number = wait_ms < 0 ? sigwaitinfo (&self->signals, NULL)
                             : sigtimedwait (&self->signals, NULL, &wait);
    } while (number < 0 && errno == EINTR);
    return number > 0 ? number : 0;
}

/*  What it was about to note comes after this, and counts for nothing. */
static void
kill_it (load *self)
{
    lk_history_event event = {.kind = LK_HISTORY_ENDED};
    snprintf (event.process, sizeof event.process, "%s/%d.%d",
              self->worker.host, (int) self->pid, self->worker.birth);
    lk_history_note (self->worker.history_fd, &event);
    kill (self->pid, SIGKILL);
}

static bool
ended_well (const load *self, int status, bool killed)
{
    const bool well = WIFEXITED (status)
                          ? WEXITSTATUS (status) == 0
                          : killed && WTERMSIG (status) == SIGKILL;
    if (!well) {
        fprintf (stderr, "load: application %s/%d ended with status %#x\n",
                 self->worker.host, (int) self->pid, (unsigned) status);
    }
    return well;
}

/*  False: that was the last one; *code says how it went. */
static bool
live (load *self, int *code)
{
    int life_ms = choose_life (self), status;
    bool killed = false, last = false;
    start (self);
    while (waitpid (self->pid, &status, WNOHANG) == 0) {
        const int number = await_signal (self, life_ms);
        if (number == SIGTERM) {
            kill (self->pid, SIGTERM);
            life_ms = PATIENCE_MS;
            last = true;
        } else if (number == 0 && last) {
            fprintf (stderr, "load: %s/%d still waits for answers\n",
                     self->worker.host, (int) self->pid);
            kill (self->pid, SIGKILL);
        } else if (number == 0 || number == SIGINT) {
            kill_it (self);
            killed = true;
            last = last || number == SIGINT;
            life_ms = -1;
        }
    }
    *code = ended_well (self, status, killed) ? 0 : 1;
    return !last && *code == 0;
}

int
main (int argc, char **argv)
{
    load self = {
        .style = "mixed",
        .life_ms = 15000,
        .worker = {.object = "o", .objects = 5, .seed = 1, .rest_ms = 1}};
    int code = 0;
    if (!read_options (&self, argc, argv)) {
        fputs (usage, stderr);
        return 2;
    }
    self.worker.history_fd = lk_history_open (self.history);
    if (self.worker.history_fd < 0) {
        fprintf (stderr, "load: cannot open '%s'\n", self.history);
        return 2;
    }
    lk_rng_init (&self.rng, self.worker.seed);
    sigemptyset (&self.signals);
    sigaddset (&self.signals, SIGTERM);
    sigaddset (&self.signals, SIGINT);
    sigaddset (&self.signals, SIGCHLD);
    sigprocmask (SIG_BLOCK, &self.signals, NULL);
    while (live (&self, &code)) {
    }
    return code;
}
