/*  main.c - sim: runs the cluster of one seed after the other
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      sim [--seed N] [--runs M] [--jobs J] [--nodes n] [--script NAME|all]
 *          [--twice] [--keep-going] [--verbose] [--list]
 *
 *  With --twice each seed runs twice, and has to do the same both times.
 *  Prints each failing seed with the reason and the command that replays it,
 *  and in the end what was done. Exits with 1 if a seed failed.
 */

#include "world.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define JOBS_MAX 64

typedef struct {
    uint64_t seed;
    uint64_t runs;
    int jobs;
    bool keep_going;
    bool twice;
    bool all_scripts;
    sim_options world;
} sim_task;

/*  Seen by all jobs. */
typedef struct {
    sim_totals totals[JOBS_MAX];
    uint64_t digest[JOBS_MAX];
    volatile bool failed;
} sim_board;

static const char *program;
static char replay[200]; /* the command for the present seed */

static void
usage (FILE *stream)
{
    fprintf (stream,
             "usage: %s [--seed N] [--runs M] [--jobs J] [--nodes 1..7]\n"
             "       [--script NAME|all] [--twice] [--keep-going] "
             "[--verbose] [--list]\n",
             program);
}

static void
list_scripts (void)
{
    for (size_t i = 0; i < sim_script_count; i++) {
        printf ("%-22s %s\n", sim_scripts[i].name, sim_scripts[i].story);
    }
}

/*  -------------------------------------------------------- one job */

/*  A failed assertion in the core: say which seed it was. */
static void
die_with_seed (int number)
{
    static const char text[] = "the core gave up; replay: ";

    if (write (STDERR_FILENO, text, sizeof text - 1) < 0
        || write (STDERR_FILENO, replay, strlen (replay)) < 0) {
        _exit (2);
    }
    signal (number, SIG_DFL);
    raise (number);
}

static void
note_replay (const sim_options *options, uint64_t seed)
{
    int used = snprintf (replay, sizeof replay,
                         "%s --seed %llu --runs 1 "
                         "--verbose",
                         program, (unsigned long long) seed);

    if (options->members > 0) {
        used += snprintf (replay + used, sizeof replay - (size_t) used,
                          " --nodes %d", options->members);
    }
    if (options->script) {
        used += snprintf (replay + used, sizeof replay - (size_t) used,
                          " --script %s", options->script->name);
    }
    snprintf (replay + used, sizeof replay - (size_t) used, "\n");
}

static void
add_totals (sim_totals *sum, const sim_totals *more)
{
    uint64_t *to = (uint64_t *) sum;
    const uint64_t *from = (const uint64_t *) more;

    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++) {
        to[i] += from[i];
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

static bool
run_one (sim_world *world, const sim_task *task, const sim_options *options,
         uint64_t seed)
{
    note_replay (options, seed);
    if (sim_world_run (world, options, seed)
        && (!task->twice || run_again (world, options, seed))) {
        return true;
    }
    printf ("seed %llu: %zu members and %zu others, at %lld ms: %s\n"
            "  replay: %s",
            (unsigned long long) seed, world->member_count,
            world->host_count - world->member_count, (long long) world->now,
            world->checker.failure, replay);
    fflush (stdout);
    return false;
}

/*  Every jobs'th seed, from this job's first. */
static void
run_job (const sim_task *task, sim_board *board, int job)
{
    static sim_world world;
    sim_options options = task->world;
    size_t scripts = task->all_scripts ? sim_script_count : 1;

    signal (SIGABRT, die_with_seed);
    signal (SIGSEGV, die_with_seed);
    sim_world_init (&world);
    for (uint64_t run = (uint64_t) job; run < task->runs;
         run += (uint64_t) task->jobs) {
        for (size_t i = 0; i < scripts; i++) {
            if (board->failed && !task->keep_going) {
                break;
            }
            if (task->all_scripts) {
                options.script = &sim_scripts[i];
            }
            if (!run_one (&world, task, &options, task->seed + run)) {
                board->failed = true;
            }
            add_totals (&board->totals[job], &world.totals);
            board->digest[job] ^= world.digest;
        }
    }
    sim_world_clear (&world);
}

/*  False if a job came to a bad end. */
static bool
run_jobs (const sim_task *task, sim_board *board)
{
    bool good = true;
    int status;

    if (task->jobs == 1) {
        run_job (task, board, 0);
        return true;
    }
    for (int job = 0; job < task->jobs; job++) {
        pid_t child = fork ();
        if (child < 0) {
            perror ("fork");
            return false;
        }
        if (child == 0) {
            run_job (task, board, job);
            fflush (stdout);
            _exit (0);
        }
    }
    for (int job = 0; job < task->jobs; job++) {
        good &= wait (&status) > 0 && status == 0;
    }
    return good;
}

/*  -------------------------------------------------------- summary */

static void
print_totals (const sim_totals *totals, uint64_t digest, double seconds)
{
#define PRINT(name, text)                                                      \
    printf ("%s %llu, ", text, (unsigned long long) totals->name);
#define PRINT_FAULT(name, text)                                                \
    if (totals->name > 0) {                                                    \
        printf ("%s %llu, ", text, (unsigned long long) totals->name);         \
    }
    SIM_TOTALS (PRINT)
    printf ("digest %016llx\nfaults: ", (unsigned long long) digest);
    SIM_FAULTS (PRINT_FAULT)
    printf ("\n%.1f s, %.0f steps per second\n", seconds,
            (double) totals->steps / seconds);
#undef PRINT
#undef PRINT_FAULT
}

static double
seconds_now (void)
{
    struct timespec now;

    clock_gettime (CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

/*  -------------------------------------------------------- options */

/*  0 for what is not a number from 1 to 99. */
static int
small_number (const char *text)
{
    char *end;
    long value = strtol (text, &end, 10);

    return *end == '\0' && value >= 1 && value <= 99 ? (int) value : 0;
}

static bool
set_script (sim_task *task, const char *name)
{
    task->all_scripts = strcmp (name, "all") == 0;
    if (!task->all_scripts) {
        task->world.script = sim_script_find (name);
    }
    return task->all_scripts || task->world.script;
}

/*  -1: go on; else the exit code. */
static int
read_options (int count, char **words, sim_task *task)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'},
        {"runs", required_argument, NULL, 'r'},
        {"jobs", required_argument, NULL, 'j'},
        {"nodes", required_argument, NULL, 'n'},
        {"script", required_argument, NULL, 'p'},
        {"twice", no_argument, NULL, 't'},
        {"keep-going", no_argument, NULL, 'k'},
        {"verbose", no_argument, NULL, 'v'},
        {"list", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    bool good = true;
    int option;

    while ((option = getopt_long (count, words, "", options, NULL)) != -1) {
        switch (option) {
        case 's':
            task->seed = strtoull (optarg, NULL, 10);
            break;
        case 'r':
            task->runs = strtoull (optarg, NULL, 10);
            break;
        case 'j':
            task->jobs = small_number (optarg);
            good &= task->jobs >= 1 && task->jobs <= JOBS_MAX;
            break;
        case 'n':
            task->world.members = small_number (optarg);
            good &= task->world.members >= 1 && task->world.members <= 7;
            break;
        case 'p':
            good &= set_script (task, optarg);
            break;
        case 't':
            task->twice = true;
            break;
        case 'k':
            task->keep_going = true;
            break;
        case 'v':
            task->world.verbose = true;
            break;
        case 'l':
            list_scripts ();
            return 0;
        case 'h':
            usage (stdout);
            return 0;
        default:
            good = false;
        }
    }
    if (!good || optind != count) {
        usage (stderr);
        return 2;
    }
    return -1;
}

int
main (int count, char **words)
{
    sim_task task = {
        .seed = 1, .runs = 1, .jobs = 1, .world = SIM_OPTIONS_NONE};
    sim_totals sum = {0};
    uint64_t digest = 0;
    sim_board *board;
    double begin;
    bool good;
    int code;

    program = words[0];
    code = read_options (count, words, &task);
    if (code >= 0) {
        return code;
    }
    board = mmap (NULL, sizeof *board, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED) {
        perror ("mmap");
        return 2;
    }
    begin = seconds_now ();
    good = run_jobs (&task, board);
    for (int job = 0; job < task.jobs; job++) {
        add_totals (&sum, &board->totals[job]);
        digest ^= board->digest[job];
    }
    print_totals (&sum, digest, seconds_now () - begin);
    return good && sum.failures == 0 ? 0 : 1;
}
