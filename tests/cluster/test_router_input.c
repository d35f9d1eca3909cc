/*  test_router_input.c - a router among liars, garbage and the deaf
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/router_fixture.h"
#include "util/alloc.h"
#include "util/rng.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LOUD_SIZE = 1024 * 1024, /* a frame */
    SOON_MS = 60000,
    ROUNDS = 2000,
    ECHOES = 20000,
    HOPS = 4,
    DESCRIPTORS = 400
};

static lk_fixture fixture;
static lk_client *good; /* "a", who behaves */
static lk_rng rng;

static bool
answers (void)
{
    lk_client_drain (good);
    lk_client_say (good, "a@h1", "router@.", "ALIVE", 77, NULL);
    const lk_message *message = lk_client_await (good, "ABSOLUTELY", SOON_MS);
    return message != NULL && lk_message_serial (message) == 77;
}

static void
tcp_endpoint (size_t which, char *endpoint, size_t size)
{
    snprintf (endpoint, size, "tcp://%s", fixture.router[which].address);
}

/*  A process of its own that registers; what it counts is its own. */
static pid_t
start_child (const char *name, void (*run) (lk_client *child))
{
    fflush (stdout);
    const pid_t pid = fork ();
    if (pid == 0) {
        if (freopen ("/dev/null", "w", stdout) == NULL) {
            _exit (1);
        }
        lk_client *child =
            lk_client_enter (fixture.router[0].endpoint, name, "");
        run (child);
        lk_client_destroy (&child);
        _exit (0);
    }
    return pid;
}

/*  -------------------------------------------------------- garbage */

/*  A right message that is cut, or of which some bytes are others. */
static size_t
spoil (char *bytes, size_t size)
{
    const int64_t flips = lk_rng_between (&rng, 0, 4);
    for (int64_t i = 0; i < flips; i++) {
        bytes[lk_rng_between (&rng, 0, (int64_t) size - 1)] =
            (char) lk_rng_next (&rng);
    }
    return (size_t) lk_rng_between (&rng, 0, (int64_t) size);
}

static void
throw_garbage (const char *endpoint, const char *from)
{
    lk_client *bad = lk_client_new (endpoint, "bad");
    for (int i = 0; i < ROUNDS; i++) {
        lk_bytes frame = {0};
        const lk_frame_envelope envelope = {.to = i % 2 ? "router@." : "a@h1",
                                            .from = from,
                                            .command = "REGISTER",
                                            .serial = 3};
        const size_t start = lk_frame_begin (&frame, &envelope);
        static const char body[] = "{\"service\":\"x\",\"pid\":1}";
        lk_bytes_add (&frame, body, sizeof body - 1);
        (void) lk_frame_finish (&frame, start);
        const size_t size = spoil (frame.data, frame.size);
        (void) lk_client_throw (bad, frame.data, size);
        lk_bytes_clear (&frame);
    }
    usleep (100000);
    lk_client_destroy (&bad);
}

/*  Bytes that are not even ZeroMQ's. */
static void
throw_bytes (int family, const struct sockaddr *address, socklen_t size)
{
    static const char greeting[] =
        "\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    char bytes[512];
    for (int i = 0; i < 50; i++) {
        const int fd = socket (family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        for (size_t k = 0; k < sizeof bytes; k++) {
            bytes[k] = (char) lk_rng_next (&rng);
        }
        if (i % 2) {
            memcpy (bytes, greeting, sizeof greeting - 1);
        }
        if (connect (fd, address, size) == 0) {
            const size_t count =
                (size_t) lk_rng_between (&rng, 1, sizeof bytes);
            (void) !send (fd, bytes, count, MSG_NOSIGNAL);
        }
        close (fd);
    }
}

static void
survives_garbage (void)
{
    char endpoint[64];
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in mesh = {.sin_family = AF_INET};
    const char *port = strchr (fixture.router[0].address, ':') + 1;
    throw_garbage (fixture.router[0].endpoint, "x@.");
    EXPECT (answers (), "garbage in frames of processes does no harm");
    tcp_endpoint (0, endpoint, sizeof endpoint);
    throw_garbage (endpoint, "router@h9");
    EXPECT (answers (), "nor in frames of routers");

    snprintf (local.sun_path, sizeof local.sun_path, "%.100s",
              fixture.router[0].endpoint + strlen ("ipc://"));
    throw_bytes (AF_UNIX, (struct sockaddr *) &local, sizeof local);
    EXPECT (answers (), "nor bytes that are no frames, from processes");
    mesh.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
    mesh.sin_port = htons ((uint16_t) strtol (port, NULL, 10));
    throw_bytes (AF_INET, (struct sockaddr *) &mesh, sizeof mesh);
    EXPECT (answers (), "nor from routers");
}

/*  More connections than it has descriptors for. */
static void
survives_a_crowd (void)
{
    enum { CROWD = 700 };
    static int fd[CROWD];
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    snprintf (local.sun_path, sizeof local.sun_path, "%.100s",
              fixture.router[0].endpoint + strlen ("ipc://"));
    for (int i = 0; i < CROWD; i++) {
        fd[i] = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect (fd[i], (struct sockaddr *) &local, sizeof local) != 0) {
            usleep (1000);
        }
    }
    usleep (100000);
    EXPECT (answers (), "more connections than descriptors do no harm");
    for (int i = 0; i < CROWD; i++) {
        close (fd[i]);
    }
    usleep (100000);
    lk_client *late = lk_client_enter (fixture.router[0].endpoint, "late", "");
    lk_client_destroy (&late);
}

static void
answers_what_is_broken (void)
{
    lk_client_drain (good);
    (void) lk_client_throw (good, "half", 4);
    EXPECT (lk_client_await (good, "INVALID", SOON_MS) != NULL,
            "what is no frame is answered with INVALID");
    lk_client_say (good, "a@h1", "router@.", "NONSENSE", 4, NULL);
    const lk_message *message = lk_client_await (good, "UNKNOWN", SOON_MS);
    EXPECT (message != NULL && lk_message_serial (message) == 4,
            "what the router does not know, with UNKNOWN");
    lk_client_say (good, "a@h1", "router@.", "ALIVE", 5, "{\"half\":");
    message = lk_client_await (good, "INVALID", SOON_MS);
    EXPECT (message != NULL && lk_message_serial (message) == 5,
            "a body that is no JSON, with INVALID");
    lk_client_say (good, "a@h1", "router@.", "ROUTERSTATUS", 6, NULL);
    message = lk_client_await (good, "ROUTERSTATUS", SOON_MS);
    EXPECT (message != NULL && lk_message_number (message, "broken", 0) > 100,
            "and counted");
}

/*  -------------------------------------------------------- lies */

static void
takes_no_lies (void)
{
    char endpoint[64], body[256];
    lk_client *liar = lk_client_enter (fixture.router[0].endpoint, "liar", "");
    lk_client_drain (good);
    lk_client_say (liar, "lock@h1", "a@h1", "TOKEN", 1, NULL);
    EXPECT (lk_client_await (liar, "INVALID", SOON_MS) != NULL,
            "a lie about the sender is refused");
    lk_client_say (liar, "liar@h2", "a@h1", "TOKEN", 2, NULL);
    EXPECT (lk_client_await (liar, "INVALID", SOON_MS) != NULL,
            "about its host, too");
    lk_client_destroy (&liar);

    tcp_endpoint (0, endpoint, sizeof endpoint);
    liar = lk_client_new (endpoint, "liar");
    lk_client_say (liar, "lock@h2", "a@h1", "TOKEN", 3, NULL);
    lk_client_say (liar, "router@h2", "a@h1", "TOKEN", 3, NULL);
    EXPECT (lk_client_await (liar, "INVALID", SOON_MS) != NULL,
            "nobody speaks for a host without CONNECT");
    snprintf (body, sizeof body,
              "{\"host\":\"h2\",\"address\":\"127.0.0.1:9\","
              "\"version\":\"1\",\"incarnation\":\"00000000000000aa\"}");
    lk_client_say (liar, "router@h2", "router@.", "CONNECT", 0, body);
    EXPECT (lk_client_await (liar, "REFUSE", SOON_MS) != NULL,
            "nor with it, for a host that is live");
    lk_client_destroy (&liar);
    EXPECT (lk_client_await (good, "TOKEN", 300) == NULL,
            "nothing of it arrived");

    liar = lk_client_new (fixture.router[0].endpoint, "liar");
    snprintf (body, sizeof body, "{\"service\":\"x\",\"pid\":%d}",
              (int) getppid ());
    lk_client_say (liar, "x@.", "router@.", "REGISTER", 1, body);
    EXPECT (lk_client_await (liar, "REFUSE", SOON_MS) != NULL,
            "a process cannot register as another");
    snprintf (body, sizeof body, "{\"service\":\"a\",\"pid\":%d}",
              (int) getpid ());
    lk_client_say (liar, "a@.", "router@.", "REGISTER", 1, body);
    EXPECT (lk_client_await (liar, "REFUSE", SOON_MS) != NULL,
            "nor under a name that is taken");
    lk_client_destroy (&liar);
    EXPECT (lk_client_await_live (good, 2, SOON_MS), "the link stands");
}

/*  -------------------------------------------------------- processes */

static void
wait_for_ever (lk_client *child)
{
    (void) child;
    pause ();
}

static void
sees_the_end_of_a_process (void)
{
    lk_client_drain (good);
    const pid_t pid = start_child ("child", wait_for_ever);
    const lk_message *message =
        lk_client_await_with (good, "STATUS", "service", "child@h1", SOON_MS);
    EXPECT (message != NULL && lk_message_number (message, "pid", 0) == pid,
            "a process that comes is told");
    lk_client_drain (good);
    const int64_t began = lk_fixture_now_us ();
    kill (pid, SIGKILL);
    message = lk_client_await_with (good, "STATUS", "status", "down", SOON_MS);
    const int64_t took = lk_fixture_now_us () - began;
    EXPECT (message != NULL, "its end is told");
    printf ("measured: STATUS down after kill -9 of a process: %lld us\n",
            (long long) took);
    waitpid (pid, NULL, 0);
    lk_client *other =
        lk_client_enter (fixture.router[0].endpoint, "child", "");
    lk_client_destroy (&other);

    /*  Now its connection ended, but not its process: the next who wants the
     *  name gets it. */
    other = lk_client_enter (fixture.router[0].endpoint, "child", "");
    lk_client_say (other, "child@h1", "router@.", "UNREGISTER", 1, NULL);
    EXPECT (lk_client_await_with (good, "STATUS", "status", "down", SOON_MS)
                != NULL,
            "UNREGISTER is told");
    lk_client_destroy (&other);
}

/*  -------------------------------------------------------- the deaf */

static long
memory_kib (pid_t pid)
{
    char path[64], line[256];
    long kib = 0;
    snprintf (path, sizeof path, "/proc/%d/status", (int) pid);
    FILE *file = fopen (path, "r");
    while (file != NULL && fgets (line, sizeof line, file) != NULL) {
        (void) sscanf (line, "VmRSS: %ld", &kib);
    }
    if (file != NULL) {
        fclose (file);
    }
    return kib;
}

/*  Sends to one who is stopped until that is answered. */
static int
fill_up (const char *to, int most)
{
    static char body[100000];
    memset (body, ' ', sizeof body - 1);
    body[0] = '{';
    body[sizeof body - 2] = '}';
    for (int i = 0; i < most; i++) {
        lk_client_say (good, "a@h1", to, "MORE", (uint64_t) i + 1, body);
        for (const lk_message *message;
             (message = lk_client_next (good, 0)) != NULL;) {
            if (lk_message_is (message, "TRANSMISSIONREPORT")) {
                return i;
            }
        }
    }
    return most;
}

static void
stop_itself (lk_client *child)
{
    (void) child;
    raise (SIGSTOP);
}

static void
is_not_held_up_by_the_deaf (void)
{
    enum { MOST = 4000 };
    const pid_t pid = start_child ("deaf", stop_itself);
    int status;
    waitpid (pid, &status, WUNTRACED);
    lk_client_drain (good);
    const int sent = fill_up ("deaf@h1", MOST);
    EXPECT (sent < MOST, "one who does not read gets no more, and the "
                         "sender knows");
    EXPECT (answers (), "the router goes on");
    const long kib = memory_kib (fixture.router[0].pid);
    EXPECT (kib < 200 * 1024, "its memory is bounded (%ld MiB)", kib / 1024);
    lk_client_drain (good);
    kill (pid, SIGKILL);
    EXPECT (lk_client_await_with (good, "STATUS", "service", "deaf@h1", SOON_MS)
                != NULL,
            "its end is told");
    EXPECT (lk_client_await (good, "TRANSMISSIONREPORT", SOON_MS) != NULL,
            "what waited in the router comes back");
    waitpid (pid, &status, 0);

    lk_fixture_signal (&fixture, 1, SIGSTOP);
    EXPECT (fill_up ("b@h2", MOST) < MOST,
            "a router that does not read holds nobody up");
    EXPECT (answers (), "the router goes on then, too");
    lk_fixture_signal (&fixture, 1, SIGCONT);
    EXPECT (lk_client_await_live (good, 2, SOON_MS), "and takes it back");
}

/*  How many messages it has read, by its own count. */
static int64_t
messages_read (void)
{
    lk_client_say (good, "a@h1", "router@.", "ROUTERSTATUS", 78, NULL);
    const lk_message *status = lk_client_await (good, "ROUTERSTATUS", SOON_MS);
    return status != NULL ? lk_message_number (status, "messages", -1) : -1;
}

/*  A frame of as many messages as fit, which are never answered. */
static int64_t
fill_frame (lk_bytes *frame, size_t size)
{
    const lk_frame_envelope envelope = {
        .to = "nobody@h1", .from = "loud@h1", .command = "UNKNOWN"};
    int64_t count = 0;
    while (frame->size + 64 < size) {
        const size_t start = lk_frame_begin (frame, &envelope);
        (void) lk_frame_finish (frame, start);
        count++;
    }
    return count;
}

/*  As fast as the router reads, until it is killed. */
static void
shout (lk_client *child)
{
    lk_bytes frame = {0};
    (void) fill_frame (&frame, LOUD_SIZE);
    while (lk_client_throw (child, frame.data, frame.size)) {
        continue;
    }
    lk_bytes_clear (&frame);
}

/*  Of the loud one's frames few are read between a question and its answer. We
 *  may get no processor meanwhile, hence the tries. */
static void
is_not_held_up_by_the_loud (void)
{
    enum { TRIES = 20, FRAMES_MAX = 8 };
    lk_bytes frame = {0};
    const int64_t messages = fill_frame (&frame, LOUD_SIZE);
    const int64_t at_first = messages_read ();
    const pid_t pid = start_child ("loud", shout);
    int64_t least = INT64_MAX;
    bool well = true;
    while (messages_read () < at_first + 40 * messages) {
        usleep (1000);
    }
    for (int i = 0; i < TRIES && well; i++) {
        const int64_t before = messages_read ();
        well = answers ();
        const int64_t read = messages_read () - before;
        least = read < least ? read : least;
    }
    printf ("measured: %lld of %lld messages read ahead of an answer\n",
            (long long) least, (long long) messages);
    EXPECT (well && least < FRAMES_MAX * messages,
            "who says much holds nobody up");
    kill (pid, SIGKILL);
    waitpid (pid, NULL, 0);
    lk_bytes_clear (&frame);
}

/*  -------------------------------------------------------- figures */

static int
by_size (const void *left, const void *right)
{
    const int64_t a = *(const int64_t *) left, b = *(const int64_t *) right;
    return (a > b) - (a < b);
}

static void
echo (lk_client *child)
{
    while (lk_client_await (child, "PING", SOON_MS) != NULL) {
        lk_client_say (child, "echo@h1", "a@h1", "PONG", 1, NULL);
    }
}

/*  a -> router -> echo -> router -> a, one at a time. */
static void
measures_an_echo (void)
{
    static int64_t took[ECHOES];
    const pid_t pid = start_child ("echo", echo);
    lk_client_await_with (good, "STATUS", "service", "echo@h1", SOON_MS);
    bool all = true;
    for (int i = 0; i < ECHOES && all; i++) {
        const int64_t began = lk_fixture_now_us ();
        lk_client_say (good, "a@h1", "echo@h1", "PING", 1, NULL);
        all = lk_client_await (good, "PONG", SOON_MS) != NULL;
        took[i] = lk_fixture_now_us () - began;
    }
    EXPECT (all, "%d echoes come back", ECHOES);
    qsort (took, ECHOES, sizeof took[0], by_size);
    printf ("measured: echo through the router, four hops: p50 %lld us, "
            "one hop %.1f us\n",
            (long long) took[ECHOES / 2], (double) took[ECHOES / 2] / HOPS);
    kill (pid, SIGKILL);
    waitpid (pid, NULL, 0);
}

int
main (void)
{
    lk_rng_init (&rng, 1);
    lk_fixture_begin (&fixture, 2);
    fixture.descriptors = DESCRIPTORS;
    lk_fixture_start (&fixture, 0, NULL);
    lk_fixture_start (&fixture, 1, NULL);
    good = lk_client_enter (fixture.router[0].endpoint, "a", "STATUS");
    lk_client *other =
        lk_client_enter (fixture.router[1].endpoint, "b", "STATUS");
    EXPECT (lk_client_await_live (good, 2, SOON_MS), "two hosts are linked");
    survives_garbage ();
    survives_a_crowd ();
    answers_what_is_broken ();
    takes_no_lies ();
    sees_the_end_of_a_process ();
    is_not_held_up_by_the_deaf ();
    is_not_held_up_by_the_loud ();
    measures_an_echo ();
    lk_client_destroy (&good);
    lk_client_destroy (&other);
    for (size_t i = 0; i < 2; i++) {
        lk_fixture_signal (&fixture, i, SIGTERM);
        EXPECT (lk_fixture_wait (&fixture, i, SOON_MS) == 0,
                "router h%zu ends with 0", i + 1);
    }
    return lk_fixture_end (&fixture);
}
