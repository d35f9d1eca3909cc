/*  attempt.c - one run in a process of its own
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "attempt.h"

#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONGEST_S 5 /* of its own time */

/*  Becomes the run; never returns. Its last words are in `words`, all else is
 *  in the world, which both processes see. */
static _Noreturn void
be_run (const sim_options *options, uint64_t seed, FILE *story, FILE *words,
        sim_world *world)
{
    const struct itimerval longest = {.it_value.tv_sec = LONGEST_S};
    int quiet = open ("/dev/null", O_WRONLY);

    setitimer (ITIMER_VIRTUAL, &longest, NULL);
    dup2 (story ? fileno (story) : quiet, STDOUT_FILENO);
    dup2 (fileno (words), STDERR_FILENO);
    sim_world_init (world);
    sim_world_run (world, options, seed);
    fflush (stdout);
    _exit (0);
}

/*  The run ended before it could say what it was. */
static void
note_death (int status, FILE *words, sim_outcome *outcome)
{
    char line[200] = "";

    rewind (words);
    if (!fgets (line, sizeof line, words)) {
        line[0] = '\0';
    }
    line[strcspn (line, "\n")] = '\0';
    outcome->failed = true;
    snprintf (outcome->failure, sizeof outcome->failure, "%s: %s",
              WIFSIGNALED (status) && WTERMSIG (status) == SIGVTALRM
                  ? "ENDLESS"
                  : "GAVE UP",
              line);
}

void
sim_outcome_note (sim_outcome *outcome, const sim_world *world)
{
    outcome->failed = sim_checker_failed (&world->checker);
    memcpy (outcome->failure, world->checker.failure, sizeof outcome->failure);
    outcome->members = world->member_count;
    outcome->others = world->base.count - world->member_count;
    outcome->apps = sim_apps_present (world);
    outcome->remotes = world->remotes.count;
    outcome->now = world->now;
    outcome->steps = world->totals.steps;
    outcome->faults = world->faults;
}

static bool
run_apart (const sim_options *options, uint64_t seed, FILE *story, FILE *words,
           sim_world *world, sim_outcome *outcome)
{
    pid_t child;
    int status;

    fflush (stdout);
    child = fork ();
    if (child == 0) {
        be_run (options, seed, story, words, world);
    }
    if (child < 0 || waitpid (child, &status, 0) < 0) {
        return false;
    }
    sim_outcome_note (outcome, world);
    if (!WIFEXITED (status) || WEXITSTATUS (status) != 0) {
        note_death (status, words, outcome);
    }
    return true;
}

bool
sim_attempt (const sim_options *options, uint64_t seed, FILE *story,
             sim_outcome *outcome)
{
    FILE *words = tmpfile ();
    sim_world *world = mmap (NULL, sizeof *world, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool good = words && world != MAP_FAILED
                && run_apart (options, seed, story, words, world, outcome);

    if (world != MAP_FAILED) {
        munmap (world, sizeof *world);
    }
    if (words) {
        fclose (words);
    }
    return good;
}

/*  The next letter of a failure's words; those with digits count as none. */
static char
next_letter (const char **text)
{
    for (;;) {
        size_t size = strspn (*text, " ,.:()'");
        *text += size;
        size = strcspn (*text, " ,.:()'");
        if (size == 0) {
            return '\0';
        }
        if (strcspn (*text, "0123456789") >= size) {
            return *(*text)++;
        }
        *text += size;
    }
}

bool
sim_same_failure (const char *one, const char *other)
{
    const char *colon = strchr (one, ':');
    char letter;

    /*  "TWO HOLDERS of mill: ..." is one whatever follows. */
    if (colon && isupper ((unsigned char) one[0])
        && isupper ((unsigned char) one[1]) && strncmp (one, "LIVENESS", 8) != 0
        && strncmp (one, "GAVE UP", 7) != 0) {
        return strncmp (one, other,
                        strcspn (one, "abcdefghijklmnopqrstuvwxyz:"))
               == 0;
    }
    do {
        letter = next_letter (&one);
        if (letter != next_letter (&other)) {
            return false;
        }
    } while (letter != '\0');
    return true;
}
