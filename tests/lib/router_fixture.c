/*  router_fixture.c - routers as real processes, and clients that may lie
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/router_fixture.h"

#include "net/clock.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "wire/message_frame.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 64, SEND_TRIES = 1000 };

static int passed, failed;

bool
lk_fixture_case (bool holds, const char *file, int line, const char *format,
                 ...)
{
    va_list list;
    va_start (list, format);
    printf ("%s %d - ", holds ? "ok" : "not ok", passed + failed + 1);
    vprintf (format, list);
    va_end (list);
    if (holds) {
        printf ("\n");
        passed++;
    } else {
        printf (" (%s:%d)\n", file, line);
        failed++;
    }
    fflush (stdout);
    return holds;
}

int64_t
lk_fixture_now_us (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/*  -------------------------------------------------------- routers */

/*  Below the ports that the kernel gives away by itself. */
static int
free_port (void)
{
    static int last;
    last = last != 0 ? last : 20000 + (int) (getpid () % 900) * 10;
    for (int tries = 0; tries < 2000; tries++) {
        struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons ((uint16_t) ++last)};
        address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
        const int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const int error =
            bind (fd, (struct sockaddr *) &address, sizeof address);
        close (fd);
        if (error == 0) {
            return last;
        }
    }
    LK_ASSERT (!"a free port");
    return 0;
}

void
lk_fixture_begin (lk_fixture *self, size_t count)
{
    const char *tmp = getenv ("TMPDIR");
    LK_ASSERT (count <= LK_FIXTURE_ROUTERS_MAX);
    *self = (lk_fixture) {.count = count};
    snprintf (self->dir, sizeof self->dir, "%.40s/lkr.XXXXXX",
              tmp != NULL ? tmp : "/tmp");
    LK_ASSERT (mkdtemp (self->dir) != NULL);
    signal (SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < count; i++) {
        lk_fixture_router *router = &self->router[i];
        snprintf (router->host, sizeof router->host, "h%zu", i + 1);
        snprintf (router->address, sizeof router->address, "127.0.0.1:%d",
                  free_port ());
        snprintf (router->endpoint, sizeof router->endpoint, "ipc://%s/%s",
                  self->dir, router->host);
        snprintf (router->log, sizeof router->log, "%s/%s.log", self->dir,
                  router->host);
    }
}

int
lk_fixture_end (lk_fixture *self)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->router[i].pid != 0) {
            lk_fixture_signal (self, i, SIGCONT);
            lk_fixture_signal (self, i, SIGKILL);
            lk_fixture_wait (self, i, 5000);
        }
        if (failed > 0) {
            continue;
        }
        (void) unlink (self->router[i].log);
        (void) unlink (self->router[i].endpoint + strlen ("ipc://"));
    }
    if (failed > 0) {
        printf ("# logs are in %s\n", self->dir);
    } else {
        (void) rmdir (self->dir);
    }
    printf ("1..%d\n", passed + failed);
    return failed > 0 ? 1 : 0;
}

static void
run_router (const lk_fixture_router *router, unsigned long descriptors,
            char *const *arguments)
{
    const struct rlimit limit = {descriptors, descriptors};
    char program[512];
    const char *build = getenv ("BUILD");
    FILE *log = freopen (router->log, "a", stderr);
    snprintf (program, sizeof program, "%s/lockkeeper-router",
              build != NULL ? build : "build");
    prctl (PR_SET_PDEATHSIG, SIGKILL);
    if (log != NULL && dup2 (STDERR_FILENO, STDOUT_FILENO) == STDOUT_FILENO
        && (descriptors == 0 || setrlimit (RLIMIT_NOFILE, &limit) == 0)) {
        execv (program, arguments);
        perror (program);
    }
    _exit (127);
}

void
lk_fixture_start (lk_fixture *self, size_t which, const char *const *more)
{
    lk_fixture_router *router = &self->router[which];
    const char *arguments[ARGUMENTS_MAX];
    char listen_at[64];
    size_t count = 0;
    snprintf (listen_at, sizeof listen_at, "tcp://%s", router->address);
    const char *const first[] = {
        "lockkeeper-router", "--host",      router->host,
        "--listen",          listen_at,     "--endpoint",
        router->endpoint,    "--log-level", "debug"};
    for (; count < sizeof first / sizeof first[0]; count++) {
        arguments[count] = first[count];
    }
    for (size_t i = 0; i < self->count; i++) {
        if (i != which) {
            arguments[count++] = "--neighbour";
            arguments[count++] = self->router[i].address;
        }
    }
    for (size_t i = 0; more != NULL && more[i] != NULL; i++) {
        arguments[count++] = more[i];
    }
    LK_ASSERT (count < ARGUMENTS_MAX);
    arguments[count] = NULL;
    fflush (stdout);
    router->pid = fork ();
    LK_ASSERT (router->pid >= 0);
    if (router->pid == 0) {
        run_router (router, self->descriptors, (char *const *) arguments);
    }
}

void
lk_fixture_signal (lk_fixture *self, size_t which, int number)
{
    if (self->router[which].pid != 0) {
        kill (self->router[which].pid, number);
    }
}

int
lk_fixture_wait (lk_fixture *self, size_t which, int wait_ms)
{
    int status = -1;
    for (int i = 0; i <= wait_ms / 5; i++) {
        const pid_t pid = waitpid (self->router[which].pid, &status, WNOHANG);
        if (pid == self->router[which].pid) {
            self->router[which].pid = 0;
            return status;
        }
        usleep (5000);
    }
    return -1;
}

bool
lk_fixture_logged (const lk_fixture *self, size_t which, const char *text,
                   int wait_ms)
{
    char line[1024];
    for (int i = 0; i <= wait_ms / 20; i++) {
        bool found = false;
        FILE *file = fopen (self->router[which].log, "r");
        while (file != NULL && !found
               && fgets (line, sizeof line, file) != NULL) {
            found = strstr (line, text) != NULL;
        }
        if (file != NULL) {
            fclose (file);
        }
        if (found) {
            return true;
        }
        usleep (20000);
    }
    return false;
}

/*  -------------------------------------------------------- clients */

lk_client *
lk_client_new (const char *endpoint, const char *name)
{
    lk_client *self = lk_alloc (sizeof (lk_client));
    const lk_socket_options options = {0};
    snprintf (self->name, sizeof self->name, "%s", name);
    self->context = lk_context_new ();
    self->socket = lk_socket_dealer_new (self->context, &options);
    lk_socket_connect (self->socket, endpoint);
    return self;
}

void
lk_client_destroy (lk_client **self_p)
{
    lk_client *self = *self_p;
    if (self != NULL) {
        lk_message_destroy (&self->message);
        lk_bytes_clear (&self->in);
        lk_socket_destroy (&self->socket);
        lk_context_destroy (&self->context);
        lk_free (self);
        *self_p = NULL;
    }
}

bool
lk_client_throw (lk_client *self, const void *data, size_t size)
{
    lk_part part;
    lk_part_init (&part);
    lk_part_fill (&part, data, size);
    lk_io io = LK_IO_WAIT;
    for (int i = 0; i < SEND_TRIES && io == LK_IO_WAIT; i++) {
        io = lk_socket_send (self->socket, NULL, &part);
        if (io == LK_IO_WAIT) {
            usleep (1000);
        }
    }
    lk_part_clear (&part);
    return io == LK_IO_DONE;
}

void
lk_client_say (lk_client *self, const char *from, const char *to,
               const char *command, uint64_t serial, const char *body)
{
    lk_bytes frame = {0};
    const lk_frame_envelope envelope = {
        .to = to, .from = from, .command = command, .serial = serial};
    const size_t start = lk_frame_begin (&frame, &envelope);
    lk_bytes_add (&frame, body, body != NULL ? strlen (body) : 0);
    const lk_err error = lk_frame_finish (&frame, start);
    LK_ASSERT (error == LK_OK);
    (void) lk_client_throw (self, frame.data, frame.size);
    lk_bytes_clear (&frame);
}

static bool
receive (lk_client *self, int64_t until_ms)
{
    lk_part part;
    lk_part_init (&part);
    lk_io io;
    while ((io = lk_socket_receive (self->socket, NULL, &part)) == LK_IO_WAIT
           && lk_clock_ms () < until_ms) {
        if (!lk_socket_pending (self->socket)) {
            struct pollfd fd = {.fd = lk_socket_fd (self->socket),
                                .events = POLLIN};
            poll (&fd, 1, lk_clock_poll_ms (until_ms));
        }
    }
    if (io == LK_IO_DONE) {
        lk_bytes_cut (&self->in, 0);
        lk_bytes_add (&self->in, lk_part_data (&part), lk_part_size (&part));
        self->at = 0;
    }
    lk_part_clear (&part);
    return io == LK_IO_DONE;
}

const lk_message *
lk_client_next (lk_client *self, int wait_ms)
{
    lk_frame_header header;
    const char *problem = "";
    char text[128];
    lk_message_destroy (&self->message);
    if (self->at == self->in.size
        && !receive (self, lk_clock_ms () + wait_ms)) {
        return NULL;
    }
    const lk_frame_result result = lk_frame_next (self->in.data, self->in.size,
                                                  &self->at, &header, &problem);
    LK_ASSERT (result == LK_FRAME_MESSAGE);
    self->message = lk_message_read (&header, text, sizeof text);
    LK_ASSERT (self->message != NULL);
    return self->message;
}

const lk_message *
lk_client_await_with (lk_client *self, const char *command, const char *field,
                      const char *text, int wait_ms)
{
    const int64_t until_ms = lk_clock_ms () + wait_ms;
    const lk_message *message = NULL;
    int left = wait_ms;
    while (left >= 0 && (message = lk_client_next (self, left)) != NULL) {
        const char *value =
            field != NULL ? lk_message_text (message, field) : NULL;
        if (lk_message_is (message, command)
            && (field == NULL
                || (value != NULL && strcmp (value, text) == 0))) {
            return message;
        }
        left = (int) (until_ms - lk_clock_ms ());
    }
    return NULL;
}

const lk_message *
lk_client_await (lk_client *self, const char *command, int wait_ms)
{
    return lk_client_await_with (self, command, NULL, NULL, wait_ms);
}

void
lk_client_drain (lk_client *self)
{
    while (lk_client_next (self, 0) != NULL) {
        continue;
    }
}

/*  "A","B" of "A B". */
static void
list_of (const char *words, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t len; words[0] != '\0'; words += len) {
        words += strspn (words, " ");
        len = strcspn (words, " ");
        if (len > 0) {
            used += (size_t) snprintf (text + used, size - used, "%s\"%.*s\"",
                                       used > 0 ? "," : "", (int) len, words);
        }
    }
}

lk_client *
lk_client_enter (const char *endpoint, const char *name,
                 const char *subscriptions)
{
    lk_client *self = lk_client_new (endpoint, name);
    char from[80], list[512], body[768];
    list_of (subscriptions, list, sizeof list);
    snprintf (from, sizeof from, "%s@.", name);
    snprintf (body, sizeof body,
              "{\"service\":\"%s\",\"version\":\"1\",\"pid\":%d,"
              "\"application\":false,\"subscribe\":[%s]}",
              name, (int) getpid (), list);
    lk_client_say (self, from, "router@.", "REGISTER", 1, body);
    const lk_message *ready = lk_client_await (self, "READY", 60000);
    EXPECT (ready != NULL, "'%s' is taken by its router", name);
    if (ready != NULL) {
        snprintf (self->address, sizeof self->address, "%s@%s", name,
                  lk_message_text (ready, "host"));
    }
    return self;
}

bool
lk_client_await_live (lk_client *self, int live, int wait_ms)
{
    const int64_t until_ms = lk_clock_ms () + wait_ms;
    do {
        lk_client_say (self, self->address, "router@.", "CLUSTERSTATUS", 99,
                       NULL);
        const lk_message *message = NULL;
        while ((message = lk_client_next (self, 1000)) != NULL
               && lk_message_serial (message) != 99) {
            continue;
        }
        if (message != NULL && lk_message_number (message, "live", 0) == live) {
            return true;
        }
        usleep (10000);
    } while (lk_clock_ms () < until_ms);
    return false;
}
