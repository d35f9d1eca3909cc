/*  register.c - an application that adds to a register under a lock
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A tool for the tests beside it, not a test. It gets the lock for a short
 *  time, reads the whole register, often sleeps for longer than that time,
 *  writes the register with one number more, and gives the lock back. It
 *  never asks whether it still holds it. A guarded register refuses who comes
 *  with a lower token than it has seen, to read or to write; another one
 *  takes what comes. What was written is acknowledged in another file; of
 *  that nothing may be missing in the end.
 *
 *  The parent wakes what put itself to sleep. SIGTERM ends it.
 */

#include "lib/history.h"
#include "util/rng.h"

#include <lockkeeper/lockkeeper.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NUMBERS_MAX = 65536, DURATION_MS = 300, SLEEP_MAX_MS = 1800 };

#define NS_PER_MS INT64_C (1000000)

typedef struct {
    uint64_t token; /* the highest that it has seen */
    uint32_t count;
    uint32_t number[NUMBERS_MAX];
} contents;

typedef struct {
    const char *host;
    const char *endpoint;
    const char *register_path;
    const char *acknowledged_path;
    const char *history_path;
    uint64_t seed;
    bool guarded;
    lk_rng rng;
    lk_session *session;
    char process[32];
    int history_fd;
    uint64_t requests;
} application;

static const char usage[] =
    "usage: register count FILE ACKNOWLEDGED\n"
    "       register guarded|open FILE ACKNOWLEDGED HOST IPC HISTORY SEED\n";

static volatile sig_atomic_t told_to_end;

static void
note_signal (int number)
{
    (void) number;
    told_to_end = 1;
}

/*  -------------------------------------------------------- the register */

static int
open_register (const char *path)
{
    const int fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        fprintf (stderr, "register: cannot open '%s': %s\n", path,
                 strerror (errno));
        exit (2);
    }
    return fd;
}

static void
load (int fd, contents *it)
{
    memset (it, 0, sizeof *it);
    if (pread (fd, it, sizeof *it, 0) < 0) {
        perror ("register");
        exit (2);
    }
}

static void
store (int fd, const contents *it)
{
    const size_t size =
        offsetof (contents, number) + it->count * sizeof it->number[0];
    if (pwrite (fd, it, size, 0) != (ssize_t) size) {
        perror ("register");
        exit (2);
    }
}

/*  What a server of the register does: reads it, and writes it if `wanted`.
 *  False: refused. */
static bool
serve (const application *self, uint64_t token, contents *read,
       const contents *wanted)
{
    static contents now;
    const int fd = open_register (self->register_path);
    flock (fd, LOCK_EX);
    load (fd, &now);
    const bool taken = !self->guarded || token >= now.token;
    if (taken) {
        if (read != NULL) {
            *read = now;
        }
        if (wanted != NULL) {
            now = *wanted;
        }
        now.token = token;
        store (fd, &now);
    }
    close (fd);
    return taken;
}

/*  -------------------------------------------------------- one update */

static void
note (const application *self, lk_history_kind kind, int64_t number,
      int64_t word_ms, const char *word)
{
    lk_history_event event = {.kind = kind,
                              .request = self->requests,
                              .number = number,
                              .object = "register"};
    snprintf (event.process, sizeof event.process, "%s", self->process);
    snprintf (event.word, sizeof event.word, "%s", word);
    if (word_ms >= 0) {
        snprintf (event.word, sizeof event.word, "%" PRId64, word_ms);
    }
    lk_history_note (self->history_fd, &event);
}

static void
acknowledge (const application *self, uint32_t number)
{
    const int fd = open (self->acknowledged_path,
                         O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (write (fd, &number, sizeof number) != sizeof number) {
        perror ("register");
        exit (2);
    }
    close (fd);
}

static void
sleep_ms (int64_t ms)
{
    const struct timespec wait = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep (&wait, NULL);
}

static void
update (application *self, uint64_t token)
{
    static contents seen;
    if (!serve (self, token, &seen, NULL) || seen.count == NUMBERS_MAX) {
        return;
    }
    sleep_ms (lk_rng_between (&self->rng, 1, 20));
    if (lk_rng_between (&self->rng, 0, 99) < (self->guarded ? 12 : 40)) {
        raise (SIGSTOP);
    }
    const uint32_t number = (uint32_t) lk_rng_next (&self->rng);
    seen.number[seen.count++] = number;
    if (serve (self, token, NULL, &seen)) {
        acknowledge (self, number);
    }
}

/*  -------------------------------------------------------- the lock */

static void
be_granted (application *self, lk_lock *lock)
{
    const int64_t now_ms = lk_history_now () / NS_PER_MS;
    const uint64_t token = lk_lock_token (lock);
    note (self, LK_HISTORY_GRANTED, (int64_t) token,
          now_ms + lk_lock_left (lock), "");
    if (lk_lock_held (lock)) {
        update (self, token);
    } else {
        note (self, LK_HISTORY_UNHELD, 0, -1, "");
    }
}

/*  Until it is granted, fails or is not wanted any more. */
static lk_event_kind
await (application *self, lk_lock_event *event)
{
    lk_event_kind kind = LK_EVENT_NONE;
    while (kind == LK_EVENT_NONE && !told_to_end) {
        kind = lk_session_poll (self->session, 100, event);
    }
    return kind;
}

static void
take_a_turn (application *self)
{
    const lk_lock_options times = {.wait_ms = LK_FOREVER,
                                   .duration_ms = DURATION_MS};
    lk_lock *lock = NULL;
    lk_lock_event event;
    self->requests++;
    note (self, LK_HISTORY_ASKED, LK_FOREVER, DURATION_MS, "");
    const lk_err error =
        lk_lock_request (self->session, "register", 8, &times, &lock);
    const lk_event_kind kind =
        error == LK_OK ? await (self, &event) : LK_EVENT_FAILED;
    if (kind == LK_EVENT_FAILED) {
        note (self, LK_HISTORY_FAILED, 0, -1,
              lk_err_word (error != LK_OK ? error : event.error));
        lk_lock_forget (&lock);
        return;
    }
    if (kind == LK_EVENT_GRANTED) {
        be_granted (self, lock);
    }
    note (self, LK_HISTORY_UNLOCK, 0, -1, "");
    (void) !lk_lock_release (&lock);
    note (self, LK_HISTORY_RELEASED, 0, -1, "");
}

static int
run (application *self)
{
    const lk_session_options options = {
        .endpoint = self->endpoint, .name = "register", .connect_ms = 10000};
    struct sigaction action = {.sa_handler = note_signal};
    sigaction (SIGTERM, &action, NULL);
    snprintf (self->process, sizeof self->process, "%s/%d", self->host,
              (int) getpid ());
    lk_rng_init (&self->rng, self->seed);
    self->history_fd = lk_history_open (self->history_path);
    self->session = lk_session_new (&options);
    if (self->session == NULL || self->history_fd < 0) {
        perror ("register");
        return 1;
    }
    while (!told_to_end) {
        take_a_turn (self);
    }
    lk_session_destroy (&self->session);
    return 0;
}

/*  -------------------------------------------------------- the parent */

/*  Wakes it, after a while that is often longer than its lock. */
static int
watch_over (application *self, pid_t child)
{
    int status;
    lk_rng rng;
    struct sigaction action = {.sa_handler = note_signal};
    sigaction (SIGTERM, &action, NULL);
    lk_rng_init (&rng, self->seed + 1);
    for (;;) {
        if (waitpid (child, &status, WUNTRACED) == child
            && !WIFSTOPPED (status)) {
            return WIFEXITED (status) ? WEXITSTATUS (status) : 1;
        }
        if (!told_to_end) {
            sleep_ms (lk_rng_between (&rng, 10, SLEEP_MAX_MS));
        }
        if (told_to_end) {
            kill (child, SIGTERM);
        }
        kill (child, SIGCONT);
    }
}

/*  -------------------------------------------------------- counting */

static bool
has (const contents *it, uint32_t number)
{
    for (uint32_t i = 0; i < it->count; i++) {
        if (it->number[i] == number) {
            return true;
        }
    }
    return false;
}

/*  While others write: what was acknowledged is read before the rest. */
static int
count (const char *path, const char *acknowledged_path)
{
    static contents it;
    static uint32_t number[NUMBERS_MAX];
    FILE *file = fopen (acknowledged_path, "re");
    if (file == NULL) {
        perror ("register");
        return 2;
    }
    const size_t acknowledged =
        fread (number, sizeof number[0], NUMBERS_MAX, file);
    size_t lost = 0;
    fclose (file);
    const int fd = open_register (path);
    flock (fd, LOCK_SH);
    load (fd, &it);
    close (fd);
    for (size_t i = 0; i < acknowledged; i++) {
        lost += !has (&it, number[i]);
    }
    printf ("%zu updates acknowledged, %zu lost\n", acknowledged, lost);
    return lost != 0;
}

int
main (int argc, char **argv)
{
    if (argc == 4 && strcmp (argv[1], "count") == 0) {
        return count (argv[2], argv[3]);
    }
    if (argc != 8) {
        fputs (usage, stderr);
        return 2;
    }
    application self = {.guarded = strcmp (argv[1], "guarded") == 0,
                        .register_path = argv[2],
                        .acknowledged_path = argv[3],
                        .host = argv[4],
                        .endpoint = argv[5],
                        .history_path = argv[6],
                        .seed = strtoull (argv[7], NULL, 10)};
    const pid_t child = fork ();
    if (child == 0) {
        prctl (PR_SET_PDEATHSIG, SIGKILL);
        return run (&self);
    }
    return watch_over (&self, child);
}
