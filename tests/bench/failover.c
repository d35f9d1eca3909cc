/*  failover.c - how long nobody gets a lock when something dies
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  failover SIGNAL PIDS THEN MS CLIENT...
 *
 *  A CLIENT is LABEL=NAME@CORE:ENDPOINT: a process that locks and unlocks its
 *  name in a loop; with a '#' at its end another name each time, and it waits
 *  for none of them. When all are at it the signal (0: none) is sent to PIDS,
 *  which have commas in between, and the shell command THEN is started. MS
 *  later, or as soon after that as all get locks again, they end. Prints a line
 *  LABEL GAP for each: the longest time in ms without a pair that was
 *  completed, from the last one before the signal on.
 */

#include <lockkeeper/lockkeeper.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS_MAX 8
#define PIDS_MAX 32
#define NAME_SIZE 64
#define WARM_PAIRS 30
#define PATIENCE_MS 10000 /* for the first pairs, and after the signal */
#define FRESH_MS 50       /* who had a pair within that gets locks */

/*  Written by the client alone. */
typedef struct {
    _Atomic int64_t pairs;
    _Atomic int64_t last_us; /* when the last pair was completed */
    _Atomic int64_t gap_us;  /* the longest since the count began */
} client_record;

typedef struct {
    _Atomic bool stop;
    _Atomic int64_t count_from_us; /* pairs that end later count */
    client_record client[CLIENTS_MAX];
} record;

typedef struct {
    const char *label;
    const char *name;
    const char *endpoint;
    int core;
    pid_t pid;
} client;

static int64_t
clock_us (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void
sleep_ms (int64_t ms)
{
    struct timespec rest = {.tv_sec = ms / 1000,
                            .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep (&rest, &rest) != 0) {
    }
}

/*  -------------------------------------------------------- the clients */

static void
note_pair (record *shared, client_record *own)
{
    int64_t now_us = clock_us ();
    int64_t gap_us = now_us - own->last_us;
    if (now_us >= shared->count_from_us && gap_us > own->gap_us) {
        own->gap_us = gap_us;
    }
    own->last_us = now_us;
    own->pairs++;
}

static void
pin (int core)
{
    cpu_set_t set;
    CPU_ZERO (&set);
    CPU_SET (core, &set);
    (void) sched_setaffinity (0, sizeof set, &set);
}

static bool
is_changing (const client *self)
{
    size_t size = strlen (self->name);
    return size > 0 && self->name[size - 1] == '#';
}

static bool
lock_once (lk_session *session, const client *self, int64_t number)
{
    char name[NAME_SIZE];
    lk_lock *lock = NULL;
    bool changing = is_changing (self);
    snprintf (name, sizeof name, "%s", self->name);
    if (changing) {
        snprintf (name, sizeof name, "%s%lld", self->name, (long long) number);
    }
    return lk_lock_wait (session, name, changing ? 0 : LK_FOREVER, &lock)
               == LK_OK
           && lk_lock_release (&lock) == LK_OK;
}

/*  A lock that is lost, or a release that nobody confirms, is no pair. */
static int
run_client (record *shared, client_record *own, const client *self)
{
    pin (self->core);
    lk_session *session = lk_session_new (
        &(lk_session_options) {.endpoint = self->endpoint, .name = "failover"});
    if (!session) {
        perror (self->endpoint);
        return 1;
    }
    own->last_us = clock_us ();
    for (int64_t tries = 0; !shared->stop; tries++) {
        if (lock_once (session, self, tries)) {
            note_pair (shared, own);
        }
    }
    lk_session_destroy (&session);
    return 0;
}

static bool
all_are_warm (const record *shared, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (shared->client[i].pairs < WARM_PAIRS) {
            return false;
        }
    }
    return true;
}

static bool
all_get_locks (const record *shared, size_t count)
{
    int64_t since_us = clock_us () - FRESH_MS * 1000;
    for (size_t i = 0; i < count; i++) {
        if (shared->client[i].last_us < since_us) {
            return false;
        }
    }
    return true;
}

static bool
await (bool (*state) (const record *, size_t), const record *shared,
       size_t count)
{
    int64_t end_us = clock_us () + PATIENCE_MS * 1000;
    while (!state (shared, count)) {
        if (clock_us () > end_us) {
            fprintf (stderr, "failover: somebody gets no locks\n");
            return false;
        }
        sleep_ms (1);
    }
    return true;
}

/*  A client that still waits cannot be asked to stop. */
static void
end_clients (record *shared, const client *list, size_t count)
{
    int64_t end_us = clock_us () + 200000;
    shared->stop = true;
    for (size_t i = 0; i < count; i++) {
        while (waitpid (list[i].pid, NULL, WNOHANG) == 0) {
            if (clock_us () > end_us) {
                kill (list[i].pid, SIGKILL);
            }
            sleep_ms (1);
        }
    }
}

/*  -------------------------------------------------------- arguments */

static bool
read_client (client *self, char *text)
{
    char *equals = strchr (text, '=');
    char *at = equals ? strchr (equals, '@') : NULL;
    char *colon = at ? strchr (at, ':') : NULL;
    if (!colon) {
        return false;
    }
    *equals = *at = *colon = '\0';
    *self = (client) {.label = text,
                      .name = equals + 1,
                      .endpoint = colon + 1,
                      .core = (int) strtol (at + 1, NULL, 10)};
    return true;
}

static size_t
read_pids (pid_t pids[PIDS_MAX], char *text)
{
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r (text, ",", &rest); word && count < PIDS_MAX;
         word = strtok_r (NULL, ",", &rest)) {
        pids[count] = (pid_t) strtol (word, NULL, 10);
        count += pids[count] > 1;
    }
    return count;
}

/*  -------------------------------------------------------- the run */

typedef struct {
    int number; /* of the signal; 0: none */
    char *pids;
    const char *then;
    int64_t ms;
} blow_plan;

static void
start_clients (record *shared, client *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        list[i].pid = fork ();
        if (list[i].pid == 0) {
            _exit (run_client (shared, &shared->client[i], &list[i]));
        }
    }
}

static void
strike (const blow_plan *plan)
{
    pid_t pids[PIDS_MAX];
    size_t count = read_pids (pids, plan->pids);
    for (size_t i = 0; plan->number != 0 && i < count; i++) {
        kill (pids[i], plan->number);
    }
    if (plan->then[0] != '\0' && fork () == 0) {
        execl ("/bin/sh", "sh", "-c", plan->then, (char *) NULL);
        _exit (127);
    }
}

static void
print_gaps (const record *shared, const client *list, size_t count)
{
    int64_t now_us = clock_us ();
    for (size_t i = 0; i < count; i++) {
        const client_record *one = &shared->client[i];
        int64_t open_us = now_us - one->last_us;
        int64_t gap_us = open_us > one->gap_us ? open_us : one->gap_us;
        printf ("%s %.3f\n", list[i].label, (double) gap_us / 1000);
    }
}

static bool
run (record *shared, client *list, size_t count, const blow_plan *plan)
{
    start_clients (shared, list, count);
    bool good = await (all_are_warm, shared, count);
    if (good) {
        shared->count_from_us = clock_us ();
        strike (plan);
        sleep_ms (plan->ms);
        good = await (all_get_locks, shared, count);
        print_gaps (shared, list, count);
    }
    end_clients (shared, list, count);
    return good;
}

int
main (int argc, char **argv)
{
    client list[CLIENTS_MAX];
    size_t count = 0;
    for (int i = 5; i < argc && count < CLIENTS_MAX; i++) {
        if (!read_client (&list[count++], argv[i])) {
            count = 0;
            break;
        }
    }
    if (count == 0) {
        fprintf (stderr, "usage: failover SIGNAL PIDS THEN MS "
                         "LABEL=NAME@CORE:ENDPOINT...\n");
        return 2;
    }
    record *shared = mmap (NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror ("failover");
        return 1;
    }
    shared->count_from_us = INT64_MAX;
    blow_plan plan = {.number = (int) strtol (argv[1], NULL, 10),
                      .pids = argv[2],
                      .then = argv[3],
                      .ms = strtol (argv[4], NULL, 10)};
    return run (shared, list, count, &plan) ? 0 : 1;
}
