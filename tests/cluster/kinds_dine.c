/*  kinds_dine.c - a thousand philosophers at a table with fifty forks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A tool for the script beside it, not a test. Every client thinks for a
 *  while, wants two or three forks at once, eats, and gives them back. They
 *  are carried by processes, each with one session, on the hosts whose
 *  endpoints are given in turn; a client is a request of its own. What the
 *  forks protect lies in memory that all processes share: it says whether two
 *  ever had one fork, and whether tokens grow. Code 0 if not, and if everybody
 *  was served.
 */

#include <getopt.h>
#include <inttypes.h>
#include <lockkeeper/lockkeeper.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS_MAX 4096
#define FORKS_MAX 256
#define WANTS_MAX 3
#define END_MS 90000 /* from the end of the time to where it hangs */

typedef enum { THINKING, HUNGRY, EATING, LEAVING } state;

typedef struct {
    state state;
    int want[WANTS_MAX];
    int wants;
    lk_lock *lock;
    int64_t since_ms;
    int64_t until_ms;
} client;

/*  Of one client, in shared memory. */
typedef struct {
    int64_t meals;
    int64_t longest_ms;
    int64_t waited_ms;
} tally;

typedef struct {
    atomic_int users[FORKS_MAX];
    atomic_ullong token[FORKS_MAX];
    atomic_int collisions;
    atomic_int losses;
    atomic_int failures;
    tally tally[CLIENTS_MAX];
} board;

static board *shared;
static int clients = 1000, forks = 50, processes = 20, seconds = 60;
static int think_ms = 100, eat_ms = 2;
static client them[CLIENTS_MAX];
static int first, last; /* those of this process */
static char fork_name[FORKS_MAX][16];

static int64_t
now (void)
{
    struct timespec t;
    clock_gettime (CLOCK_MONOTONIC, &t);
    return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/*  -------------------------------------------------------- meals */

static void
think (client *self, int64_t at_ms)
{
    self->state = THINKING;
    self->until_ms = at_ms + rand () % (think_ms + 1);
}

static void
choose_forks (client *self)
{
    self->wants = 2 + rand () % 2;
    for (int i = 0; i < self->wants; i++) {
        self->want[i] = rand () % forks;
        for (int k = 0; k < i; k++) {
            if (self->want[k] == self->want[i]) {
                i--;
                break;
            }
        }
    }
}

static void
be_hungry (lk_session *session, client *self, int64_t at_ms)
{
    const lk_lock_options options = {.wait_ms = LK_FOREVER};
    lk_object_name names[WANTS_MAX];
    choose_forks (self);
    for (int i = 0; i < self->wants; i++) {
        names[i] = (lk_object_name) {fork_name[self->want[i]], 0};
    }
    if (lk_lock_request_all (session, names, (size_t) self->wants, &options,
                             &self->lock)
        != LK_OK) {
        atomic_fetch_add (&shared->failures, 1);
        think (self, at_ms);
        return;
    }
    lk_lock_set_user (self->lock, self);
    self->state = HUNGRY;
    self->since_ms = at_ms;
}

/*  Each fork is in one hand, and later hands have higher tokens. */
static void
take_forks (client *self)
{
    for (size_t at = 0; at < lk_lock_count (self->lock); at++) {
        const char *name = lk_lock_object_at (self->lock, at, NULL);
        const int number = (int) strtol (name + 5, NULL, 10);
        const unsigned long long token = lk_lock_token_at (self->lock, at);
        if (atomic_fetch_add (&shared->users[number], 1) != 0
            || atomic_exchange (&shared->token[number], token) >= token) {
            atomic_fetch_add (&shared->collisions, 1);
        }
    }
}

static void
eat (client *self, int64_t at_ms)
{
    tally *it = &shared->tally[self - them];
    const int64_t waited_ms = at_ms - self->since_ms;
    take_forks (self);
    it->meals++;
    it->waited_ms += waited_ms;
    it->longest_ms = waited_ms > it->longest_ms ? waited_ms : it->longest_ms;
    self->state = EATING;
    self->until_ms = at_ms + rand () % (eat_ms + 1);
}

static void
put_back (client *self)
{
    for (int i = 0; i < self->wants; i++) {
        atomic_fetch_sub (&shared->users[self->want[i]], 1);
    }
    (void) lk_lock_release_start (self->lock);
    self->state = LEAVING;
}

static void
hear (const lk_lock_event *event, int64_t at_ms)
{
    client *self = lk_lock_user (event->lock);
    if (!self) {
        return;
    }
    switch (event->kind) {
    case LK_EVENT_GRANTED:
        eat (self, at_ms);
        break;
    case LK_EVENT_LOST:
        atomic_fetch_add (&shared->losses, 1);
        break;
    case LK_EVENT_FAILED:
        atomic_fetch_add (&shared->failures, 1);
        lk_lock_forget (&self->lock);
        think (self, at_ms);
        break;
    case LK_EVENT_RELEASED:
        lk_lock_forget (&self->lock);
        think (self, at_ms);
        break;
    default:
        break;
    }
}

/*  -------------------------------------------------------- one process */

static bool
is_served (const client *self)
{
    return self->state == THINKING && shared->tally[self - them].meals > 0;
}

/*  Returns when somebody has to do something next. At the end each client has
 *  had a meal, and asks for no more. */
static int64_t
go_on (lk_session *session, int64_t at_ms, bool closing)
{
    int64_t next_ms = at_ms + 100;
    for (client *self = them + first; self < them + last; self++) {
        if (closing && is_served (self)) {
            continue;
        }
        if (self->state == THINKING && self->until_ms <= at_ms) {
            be_hungry (session, self, at_ms);
        } else if (self->state == EATING && self->until_ms <= at_ms) {
            put_back (self);
        }
        if ((self->state == EATING || self->state == THINKING)
            && self->until_ms < next_ms) {
            next_ms = self->until_ms;
        }
    }
    return next_ms;
}

static bool
all_served (void)
{
    for (const client *self = them + first; self < them + last; self++) {
        if (!is_served (self)) {
            return false;
        }
    }
    return true;
}

static int
carry (const char *endpoint)
{
    const lk_session_options options = {.endpoint = endpoint,
                                        .connect_ms = END_MS};
    lk_session *session = lk_session_new (&options);
    if (!session) {
        perror (endpoint);
        return 1;
    }
    const int64_t end_ms = now () + (int64_t) seconds * 1000;
    srand ((unsigned) (first + 1));
    for (client *self = them + first; self < them + last; self++) {
        think (self, now ());
    }
    while (now () < end_ms || (!all_served () && now () < end_ms + END_MS)) {
        lk_lock_event event;
        const int64_t next_ms = go_on (session, now (), now () >= end_ms);
        int64_t wait_ms = next_ms - now ();
        while (
            lk_session_poll (session, wait_ms > 0 ? (int) wait_ms : 0, &event)
            != LK_EVENT_NONE) {
            hear (&event, now ());
            wait_ms = 0;
        }
    }
    const bool served = all_served ();
    lk_session_destroy (&session);
    return served ? 0 : 1;
}

/*  -------------------------------------------------------- all of them */

static int
report (void)
{
    tally sum = {0};
    int64_t least = INT64_MAX, most = 0;
    for (int i = 0; i < clients; i++) {
        const tally *it = &shared->tally[i];
        sum.meals += it->meals;
        sum.waited_ms += it->waited_ms;
        least = it->meals < least ? it->meals : least;
        most = it->meals > most ? it->meals : most;
        if (it->longest_ms > sum.longest_ms) {
            sum.longest_ms = it->longest_ms;
        }
    }
    printf ("%" PRId64 " meals of %d clients over %d names in %d s, each "
            "%" PRId64 " to %" PRId64 "; waited %" PRId64
            " ms in the mean, %" PRId64 " ms at most; %d collisions, %d lost, "
            "%d failed\n",
            sum.meals, clients, forks, seconds, least, most,
            sum.meals ? sum.waited_ms / sum.meals : 0, sum.longest_ms,
            shared->collisions, shared->losses, shared->failures);
    return least > 0 && shared->collisions == 0 && shared->losses == 0
                   && shared->failures == 0
               ? 0
               : 1;
}

static int
run (char **endpoint, int endpoints)
{
    int code = 0, status;
    for (int i = 0; i < processes; i++) {
        first = clients * i / processes;
        last = clients * (i + 1) / processes;
        if (fork () == 0) {
            exit (carry (endpoint[i % endpoints]));
        }
    }
    while (wait (&status) > 0) {
        code = status != 0 ? 1 : code;
    }
    return report () != 0 ? 1 : code;
}

static void
read_options (int argc, char **argv)
{
    static const struct {
        const char *name;
        int *number;
    } known[] = {{"clients", &clients},     {"names", &forks},
                 {"processes", &processes}, {"seconds", &seconds},
                 {"think", &think_ms},      {"eat", &eat_ms}};
    struct option table[7] = {{0}};
    for (int i = 0; i < 6; i++) {
        table[i] = (struct option) {known[i].name, 1, NULL, i};
    }
    for (int option;
         (option = getopt_long (argc, argv, "", table, NULL)) != -1;) {
        if (option == '?') {
            exit (2);
        }
        *known[option].number = (int) strtol (optarg, NULL, 10);
    }
}

int
main (int argc, char **argv)
{
    read_options (argc, argv);
    if (optind == argc || clients < 1 || clients > CLIENTS_MAX
        || forks < WANTS_MAX || forks > FORKS_MAX || processes < 1) {
        fprintf (stderr, "usage: kinds_dine [--clients N] [--names N] "
                         "[--processes N] [--seconds N] [--think MS] "
                         "[--eat MS] ENDPOINT...\n");
        return 2;
    }
    shared = mmap (NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror ("mmap");
        return 1;
    }
    for (int i = 0; i < forks; i++) {
        snprintf (fork_name[i], sizeof fork_name[i], "fork-%d", i);
    }
    return run (argv + optind, argc - optind);
}
