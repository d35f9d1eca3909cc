/*  test_router_ends.c - what a process said last, and its end
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A router may hear of the end of a process ahead of what that one said last,
 *  which is still in the kernel: it is stopped until both are there.
 */

#include "lib/router_fixture.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SOON_MS = 60000,
    HELD_BACK_MS = 30,
    LATE_MS = 500,
    CROWD = 200,
    ENDS = 40
};

static lk_fixture fixture;
static lk_client *good; /* "a" */

/*  -------------------------------------------------------- children */

/*  A registered process that does `act` when a byte comes. */
typedef struct {
    pid_t pid;
    int go;
} actor;

typedef void act (lk_client *self, uint64_t serial);

static void
speak (lk_client *self, uint64_t serial)
{
    lk_client_say (self, self->address, "a@h1", "LAST", serial, NULL);
}

static void
speak_and_leave (lk_client *self, uint64_t serial)
{
    speak (self, serial);
    lk_socket_set_linger (self->socket, SOON_MS);
    lk_client_destroy (&self);
    _exit (0);
}

/*  In good time to be killed. */
static void
speak_and_stay (lk_client *self, uint64_t serial)
{
    speak (self, serial);
    sleep (60);
}

/*  Its child has the connection for longer than anybody waits, and is of its
 *  process group. */
static void
fork_and_end (lk_client *self, uint64_t serial)
{
    (void) self;
    (void) serial;
    if (setpgid (0, 0) == 0 && fork () == 0) {
        sleep (60);
    }
    _exit (0);
}

static actor
start (const char *name, act *run, uint64_t serial)
{
    int ends[2];
    if (pipe (ends) != 0) {
        abort ();
    }
    fflush (stdout);
    actor self = {.pid = fork (), .go = ends[1]};
    if (self.pid == 0) {
        char byte;
        close (ends[1]);
        if (freopen ("/dev/null", "w", stdout) == NULL) {
            _exit (1);
        }
        lk_client *client =
            lk_client_enter (fixture.router[0].endpoint, name, "");
        if (read (ends[0], &byte, 1) == 1) {
            run (client, serial);
        }
        _exit (1);
    }
    close (ends[0]);
    return self;
}

static bool
is_told (const char *service, const char *status)
{
    const lk_message *message =
        lk_client_await_with (good, "STATUS", "service", service, SOON_MS);
    return message != NULL
           && strcmp (lk_message_text (message, "status"), status) == 0;
}

static bool
is_up (const char *service)
{
    return is_told (service, "up");
}

static void
let_go (actor *self)
{
    if (write (self->go, "", 1) != 1) {
        abort ();
    }
    close (self->go);
}

static void
stop (actor *self, const char *service)
{
    kill (self->pid, SIGKILL);
    waitpid (self->pid, NULL, 0);
    close (self->go);
    (void) is_told (service, "down");
}

/*  -------------------------------------------------------- tests */

/*  The message comes, and the end behind it. */
static void
expect_last (uint64_t serial, const char *what)
{
    bool said = false, down = false;
    while (!down) {
        const lk_message *message = lk_client_next (good, SOON_MS);
        if (message == NULL) {
            break;
        }
        said |= lk_message_is (message, "LAST")
                && lk_message_serial (message) == serial;
        down = lk_message_is (message, "STATUS")
               && strcmp (lk_message_text (message, "status"), "down") == 0;
    }
    EXPECT (said, "%s is heard", what);
    EXPECT (down, "and its end is told behind it");
}

static void
last_words_are_heard (act *run, bool killed, const char *what)
{
    actor child = start ("last", run, 7);
    EXPECT (is_up ("last@h1"), "a process comes");
    usleep (20000);
    lk_fixture_signal (&fixture, 0, SIGSTOP);
    let_go (&child);
    if (killed) {
        usleep (2000000); /* for its last words */
        kill (child.pid, SIGKILL);
    }
    waitpid (child.pid, NULL, 0);
    usleep (HELD_BACK_MS * 1000);
    lk_fixture_signal (&fixture, 0, SIGCONT);
    expect_last (7, what);
}

/*  The thread of the process that is libzmq's; 0: none. */
static pid_t
thread_of_libzmq (pid_t pid)
{
    pid_t found = 0;
    char path[300], name[32];
    snprintf (path, sizeof path, "/proc/%ld/task", (long) pid);
    DIR *threads = opendir (path);
    for (struct dirent *one; threads && !found && (one = readdir (threads));) {
        snprintf (path, sizeof path, "/proc/%ld/task/%s/comm", (long) pid,
                  one->d_name);
        FILE *file = fopen (path, "r");
        if (file != NULL && fgets (name, sizeof name, file) != NULL
            && strncmp (name, "ZMQbg/IO", 8) == 0) {
            found = (pid_t) strtol (one->d_name, NULL, 10);
        }
        if (file != NULL) {
            fclose (file);
        }
    }
    if (threads != NULL) {
        closedir (threads);
    }
    return found;
}

/*  The router runs, and its libzmq gets no processor. */
static void
libzmq_is_late (void)
{
    const pid_t thread = thread_of_libzmq (fixture.router[0].pid);
    actor child = start ("waits", speak_and_leave, 8);
    EXPECT (is_up ("waits@h1"), "a process comes");
    if (ptrace (PTRACE_SEIZE, thread, NULL, NULL) != 0) {
        printf ("# SKIP no thread can be held back here: %m\n");
        stop (&child, "waits@h1");
        return;
    }
    ptrace (PTRACE_INTERRUPT, thread, NULL, NULL);
    waitpid (thread, NULL, __WALL);
    let_go (&child);
    waitpid (child.pid, NULL, 0);
    usleep (LATE_MS * 1000);
    ptrace (PTRACE_DETACH, thread, NULL, NULL);
    expect_last (8, "what it says while libzmq is late");
}

/*  Numbers of descriptors are used again and again. */
static void
a_crowd_is_heard (void)
{
    static actor crowd[CROWD];
    static bool heard[CROWD];
    int count = 0;
    for (int i = 0; i < CROWD; i++) {
        char name[32];
        snprintf (name, sizeof name, "one%d", i);
        crowd[i] = start (name, speak_and_leave, (uint64_t) i);
        if (i % 3) {
            let_go (&crowd[i]);
        }
    }
    for (int i = 0; i < CROWD; i += 3) {
        let_go (&crowd[i]);
    }
    while (count < CROWD && lk_client_await (good, "LAST", SOON_MS) != NULL) {
        const uint64_t serial = lk_message_serial (good->message);
        count += serial < CROWD && !heard[serial];
        heard[serial % CROWD] = true;
    }
    EXPECT (count == CROWD, "of %d that come and go each is heard, %d are",
            CROWD, count);
    for (int i = 0; i < CROWD; i++) {
        waitpid (crowd[i].pid, NULL, 0);
    }
    lk_client_drain (good);
}

static void
another_has_the_connection (void)
{
    prctl (PR_SET_CHILD_SUBREAPER, 1); /* its child is ours then */
    actor child = start ("forks", fork_and_end, 0);
    EXPECT (is_up ("forks@h1"), "a process comes that will fork");
    let_go (&child);
    waitpid (child.pid, NULL, 0);
    const int64_t began = lk_fixture_now_us ();
    const bool told =
        lk_client_await_with (good, "STATUS", "status", "down", SOON_MS)
        != NULL;
    const int64_t took_ms = (lk_fixture_now_us () - began) / 1000;
    EXPECT (told && took_ms < 30000,
            "its end is told though its child has the connection, after "
            "%lld ms",
            (long long) took_ms);
    kill (-child.pid, SIGKILL);
    waitpid (-child.pid, NULL, 0);
}

/*  A subscriber to the STATUS of one service hears of no other. */
static void
one_service_is_asked_for (void)
{
    const lk_message *message;
    lk_client *early =
        lk_client_enter (fixture.router[0].endpoint, "early", "STATUS:wanted");
    actor other = start ("other", speak_and_stay, 0);
    bool all = is_up ("other@h1");
    actor wanted = start ("wanted", speak_and_stay, 0);
    message = lk_client_await (early, "STATUS", SOON_MS);
    all = all && message != NULL
          && strcmp (lk_message_text (message, "service"), "wanted@h1") == 0;
    EXPECT (all, "who asks for one service is told of no other");
    lk_client *late =
        lk_client_enter (fixture.router[0].endpoint, "late", "STATUS:wanted");
    message = lk_client_await (late, "STATUS", SOON_MS);
    EXPECT (message != NULL
                && strcmp (lk_message_text (message, "service"), "wanted@h1")
                       == 0,
            "nor if it is there already");
    stop (&other, "other@h1");
    stop (&wanted, "wanted@h1");
    lk_client_destroy (&early);
    lk_client_destroy (&late);
}

static int
by_size (const void *left, const void *right)
{
    const int64_t a = *(const int64_t *) left, b = *(const int64_t *) right;
    return (a > b) - (a < b);
}

static void
ends_are_told_soon (void)
{
    int64_t took[ENDS] = {0};
    bool all = true;
    for (int i = 0; i < ENDS && all; i++) {
        actor child = start ("ended", speak_and_stay, 0);
        all = is_up ("ended@h1");
        const int64_t began = lk_fixture_now_us ();
        kill (child.pid, SIGKILL);
        all = all && is_told ("ended@h1", "down");
        took[i] = lk_fixture_now_us () - began;
        waitpid (child.pid, NULL, 0);
        close (child.go);
    }
    qsort (took, ENDS, sizeof took[0], by_size);
    EXPECT (all, "each end is told");
    printf ("measured: half of all ends are told within %lld us\n",
            (long long) took[ENDS / 2]);
}

int
main (void)
{
    lk_fixture_begin (&fixture, 1);
    lk_fixture_start (&fixture, 0, NULL);
    good = lk_client_enter (fixture.router[0].endpoint, "a", "STATUS");
    one_service_is_asked_for ();
    last_words_are_heard (speak_and_leave, false, "what it says and ends");
    last_words_are_heard (speak_and_stay, true, "what it says and is killed");
    libzmq_is_late ();
    a_crowd_is_heard ();
    another_has_the_connection ();
    ends_are_told_soon ();
    lk_client_destroy (&good);
    return lk_fixture_end (&fixture);
}
