/*  main.c - runs routers and a network that fails, seed by seed
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  ways [--seed N] [--runs M] [--seconds S] [--keep-going] [--trace]
 *       [--frames]
 *
 *  A seed that fails is printed with what was wrong. Run again with --trace it
 *  tells what happens, with --frames also what travels. --seconds: as many as
 *  fit into that time of the processor. The exit status says whether all were
 *  well.
 */

#include "ways.h"

#include "net/log.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    uint64_t seed, runs;
    double seconds;
    int keep_going, trace, frames;
} options;

static const struct option names[] = {{"seed", required_argument, NULL, 's'},
                                      {"runs", required_argument, NULL, 'r'},
                                      {"seconds", required_argument, NULL, 'S'},
                                      {"keep-going", no_argument, NULL, 'k'},
                                      {"trace", no_argument, NULL, 't'},
                                      {"frames", no_argument, NULL, 'f'},
                                      {NULL, 0, NULL, 0}};

static bool
read_options (options *self, int argc, char **argv)
{
    int option;
    while ((option = getopt_long (argc, argv, "", names, NULL)) != -1) {
        switch (option) {
        case 's':
            self->seed = strtoull (optarg, NULL, 10);
            break;
        case 'r':
            self->runs = strtoull (optarg, NULL, 10);
            break;
        case 'S':
            self->seconds = strtod (optarg, NULL);
            break;
        case 'k':
            self->keep_going = 1;
            break;
        case 'f':
            self->frames = 1;
            /* fall through */
        case 't':
            self->trace = 1;
            break;
        default:
            return false;
        }
    }
    return optind == argc;
}

/*  Of the processor's time: what others do on this machine does not count. */
static double
seconds_used (void)
{
    return (double) clock () / CLOCKS_PER_SEC;
}

int
main (int argc, char **argv)
{
    static world self;
    options wanted = {.seed = 1, .runs = 1};
    uint64_t failed = 0, runs = 0, said = 0, heard = 0, hung_up = 0, faults = 0;
    if (!read_options (&wanted, argc, argv)) {
        fprintf (stderr, "usage: ways [--seed N] [--runs M] [--seconds S] "
                         "[--keep-going] [--trace] [--frames]\n");
        return 2;
    }
    setvbuf (stdout, NULL, _IOLBF, 0);
    lk_log_set_level (LK_LOG_ERROR);
    self.is_traced = wanted.trace;
    self.shows_frames = wanted.frames;
    while (wanted.seconds > 0 ? seconds_used () < wanted.seconds
                              : runs < wanted.runs) {
        const uint64_t seed = wanted.seed + runs++;
        if (!world_run (&self, seed)) {
            printf ("seed %llu: %.1f ms: %s\n", (unsigned long long) seed,
                    (double) self.now_us / MS, self.wrong);
            failed++;
        }
        said += self.said;
        heard += self.heard;
        hung_up += self.hung_up;
        faults += self.faults;
        if (failed > 0 && !wanted.keep_going) {
            break;
        }
    }
    printf ("seeds %llu, failures %llu, faults %llu, ends told %llu, messages "
            "%llu, heard %llu\n",
            (unsigned long long) runs, (unsigned long long) failed,
            (unsigned long long) faults, (unsigned long long) hung_up,
            (unsigned long long) said, (unsigned long long) heard);
    return failed > 0;
}
