/*  jobs.c - seed after seed, on several processes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "jobs.h"

#include "attempt.h"
#include "report.h"
#include "shrink.h"
#include "watch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHRUNK_MAX 5 /* seeds; each may take its time */
#define CRASHES_MAX 1000
#define WATCH_US 20000

static volatile sig_atomic_t interrupted;

static void
interrupt (int number)
{
    (void) number;
    interrupted = 1;
}

/*  -------------------------------------------------------- one seed */

/*  One line of how it was, and what can be done about it. */
static void
tell_failure (const sim_task *task, sim_board *board,
              const sim_options *options, uint64_t seed,
              const sim_outcome *outcome)
{
    sim_options again = *options;
    char command[SIM_COMMAND_MAX];

    if (!task->keep_going) {
        board->stop = true;
    }
    printf ("seed %llu: %zu members and %zu others, at %lld ms: %s\n",
            (unsigned long long) seed, outcome->members, outcome->others,
            (long long) outcome->now, outcome->failure);
    again.verbose = true;
    sim_command (task->program, &again, seed, command);
    printf ("  replay: %s\n", command);
    fflush (stdout);
    if (task->shrink
        && __atomic_fetch_add (&board->shrunk, 1, __ATOMIC_RELAXED)
               < SHRUNK_MAX) {
        sim_shrink (task, options, seed);
    }
}

/*  False if a seed did not do the same again. */
static bool
run_again (sim_world *world, const sim_options *options, uint64_t seed)
{
    uint64_t digest = world->digest;

    sim_world_run (world, options, seed);
    if (world->digest != digest) {
        sim_checker_fail (&world->checker, "the second run was another one");
        world->totals.failures = 1;
    }
    return !sim_checker_failed (&world->checker);
}

static void
run_one (sim_world *world, const sim_task *task, sim_board *board,
         const sim_options *options, uint64_t seed)
{
    static sim_outcome outcome;

    if (sim_world_run (world, options, seed)
        && (!task->twice || run_again (world, options, seed))) {
        return;
    }
    sim_outcome_note (&outcome, world);
    tell_failure (task, board, options, seed, &outcome);
}

/*  -------------------------------------------------------- one process */

static bool
is_enough (const sim_task *task, const sim_board *board)
{
    return board->stop || (task->steps > 0 && board->steps >= task->steps);
}

static void
run_seed (sim_world *world, const sim_task *task, sim_board *board, int job)
{
    int scripts = task->all_scripts ? (int) sim_script_count : 1;
    sim_options options = task->world;

    for (int i = 0; i < scripts && (i == 0 || !board->stop); i++) {
        if (task->all_scripts) {
            board->script[job] = i;
            options.script = &sim_scripts[i];
        }
        run_one (world, task, board, &options, board->seed[job]);
        sim_totals_add (&board->totals[job], &world->totals);
        board->digest[job] ^= world->digest;
        __atomic_fetch_add (&board->steps, world->totals.steps,
                            __ATOMIC_RELAXED);
    }
}

static void
run_job (const sim_task *task, sim_board *board, int job)
{
    static sim_world world;

    sim_world_init (&world);
    while (!is_enough (task, board)) {
        uint64_t run = __atomic_fetch_add (&board->next, 1, __ATOMIC_RELAXED);
        if (task->runs > 0 && run >= task->runs) {
            break;
        }
        board->seed[job] = task->seed + run;
        run_seed (&world, task, board, job);
    }
    board->done[job] = true;
    sim_world_clear (&world);
}

/*  -------------------------------------------------------- all of them */

static pid_t
start_job (const sim_task *task, sim_board *board, int job)
{
    pid_t child;

    fflush (stdout);
    child = fork ();
    if (child == 0) {
        signal (SIGINT, SIG_IGN); /* the parent tells when to stop */
        signal (SIGTERM, SIG_DFL);
        setvbuf (stdout, NULL, _IOLBF, 0); /* no line within another's */
        run_job (task, board, job);
        exit (0);
    }
    if (child < 0) {
        perror ("fork");
        board->stop = true;
    }
    return child;
}

/*  The core gave up, and the process with it. */
static void
bury (const sim_task *task, sim_board *board, int job)
{
    static sim_outcome outcome;
    sim_options options = task->world;

    if (task->all_scripts) {
        options.script = &sim_scripts[board->script[job]];
    }
    board->totals[job].failures++;
    board->totals[job].seeds++;
    board->stop |= ++board->crashes >= CRASHES_MAX;
    options.story = options.verbose = false;
    if (sim_attempt (&options, board->seed[job], NULL, &outcome)) {
        tell_failure (task, board, &options, board->seed[job], &outcome);
    }
}

/*  A process has ended; a new one goes on if that was too early. */
static void
reap (const sim_task *task, sim_board *board, pid_t *child, pid_t ended)
{
    for (int job = 0; job < task->jobs; job++) {
        if (child[job] != ended) {
            continue;
        }
        child[job] = -1;
        if (!board->done[job]) {
            bury (task, board, job);
            if (!board->stop) {
                child[job] = start_job (task, board, job);
            }
        }
    }
}

static void
sum_up (const sim_task *task, const sim_board *board, sim_totals *sum,
        uint64_t *digest)
{
    *sum = (sim_totals) {0};
    *digest = 0;
    for (int job = 0; job < task->jobs; job++) {
        sim_totals_add (sum, &board->totals[job]);
        *digest ^= board->digest[job];
    }
}

/*  Says now and then how far they are. */
static void
watch (const sim_task *task, sim_board *board, double begin)
{
    static double told;
    double now = sim_seconds () - begin;
    sim_totals sum;
    uint64_t digest;

    board->stop |= interrupted;
    if (task->progress_s > 0 && now - told >= task->progress_s) {
        told = now;
        sum_up (task, board, &sum, &digest);
        sim_report_progress (&sum, now, task->seed + board->next);
    }
}

static void
run_processes (const sim_task *task, sim_board *board, double begin)
{
    pid_t child[SIM_JOBS_MAX];
    pid_t ended;

    for (int job = 0; job < task->jobs; job++) {
        child[job] = start_job (task, board, job);
    }
    while ((ended = waitpid (-1, NULL, WNOHANG)) >= 0) {
        if (ended > 0) {
            reap (task, board, child, ended);
        } else {
            usleep (WATCH_US);
            watch (task, board, begin);
        }
    }
}

int
sim_jobs_run (const sim_task *task)
{
    double begin = sim_seconds ();
    sim_totals sum;
    uint64_t digest;
    sim_board *board = mmap (NULL, sizeof *board, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (board == MAP_FAILED) {
        perror ("mmap");
        return 2;
    }
    signal (SIGINT, interrupt);
    signal (SIGTERM, interrupt);
    run_processes (task, board, begin);
    sum_up (task, board, &sum, &digest);
    sim_report (&sum, digest, sim_seconds () - begin, task->jobs);
    if (task->runs == 0) {
        printf ("next seed: %llu\n",
                (unsigned long long) (task->seed + board->next));
    }
    return sum.failures == 0 && sum.seeds > 0 ? 0 : 1;
}
