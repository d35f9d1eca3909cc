/*  dial.c - connections with other hosts, which are 127.0.0.1 and others
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/dial.h"

#include "lib/foreign.h"
#include "lib/suite.h"
#include "net/clock.h"
#include "net/listener.h"

#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SOON_MS 5000
#define SLOW_MS 300

/*  -------------------------------------------------------- names

    In the place of the C library's: "two" is 127.0.0.2 and 127.0.0.1, "slow"
    is, too, but takes its time. */

typedef int lookup_fn (const char *, const char *, const struct addrinfo *,
                       struct addrinfo **);

static int lookups; /* of names */

int
getaddrinfo (const char *host, const char *port, const struct addrinfo *hints,
             struct addrinfo **found)
{
    lookup_fn *real = (lookup_fn *) dlsym (RTLD_NEXT, "getaddrinfo");
    if (hints->ai_flags & AI_NUMERICHOST || host[0] == '1') {
        return real (host, port, hints, found);
    }
    __atomic_fetch_add (&lookups, 1, __ATOMIC_RELAXED);
    if (strcmp (host, "slow") == 0) {
        poll (NULL, 0, SLOW_MS);
    }
    if (strcmp (host, "two") != 0 && strcmp (host, "slow") != 0) {
        return EAI_NONAME;
    }
    int error = real ("127.0.0.2", port, hints, found);
    return error ? error : real ("127.0.0.1", port, hints, &(*found)->ai_next);
}

/*  Connections that are to send each message at once. */
static int undelayed;

int
setsockopt (int fd, int level, int option, const void *value, socklen_t size)
{
    undelayed += level == IPPROTO_TCP && option == TCP_NODELAY
                 && *(const int *) value == 1;
    return (int) syscall (SYS_setsockopt, fd, level, option, value, size);
}

/*  -------------------------------------------------------- two hosts */

/*  What was told to one: messages in a row, "^" up, "." over, "!" failed. */
typedef struct {
    lk_listener *listener;
    char told[256];
    lk_identity from; /* of the last */
    lk_problem why;
    bool closes; /* whom it hears */
} host;

static lk_loop *loop;
static host near, far;
static lk_part part;
static lk_identity out; /* near's connection */

static void
note (host *self, const lk_identity *from, const char *text, size_t size)
{
    const size_t used = strlen (self->told);
    self->from = *from;
    snprintf (self->told + used, sizeof self->told - used, "%.*s", (int) size,
              text);
}

static void
on_frame (void *user, const lk_identity *from, lk_part *frame)
{
    host *self = user;
    note (self, from, lk_part_data (frame), lk_part_size (frame));
    if (self->closes) {
        lk_listener_close (self->listener, from);
    }
}

static void
on_broken (void *user, const lk_identity *from)
{
    note (user, from, "|", 1);
}

static void
on_up (void *user, const lk_identity *to)
{
    note (user, to, "^", 1);
}

static void
on_over (void *user, const lk_identity *from, const lk_problem *why)
{
    host *self = user;
    note (self, from, why ? "!" : ".", 1);
    if (why) {
        self->why = *why;
    }
}

/*  Once for each; that it may be told twice is not counted. */
static void
on_gone (void *user)
{
    host *self = user;
    if (self->from.size > 0
        && !lk_listener_is_there (self->listener, &self->from)) {
        lk_listener_drain (self->listener);
        note (self, &self->from, ".", 1);
        self->from.size = 0;
    }
}

static const lk_listener_calls calls = {.frame = on_frame,
                                        .broken = on_broken,
                                        .up = on_up,
                                        .over = on_over,
                                        .gone = on_gone};

static void
set_up (void)
{
    lk_problem problem;
    loop = lk_loop_new ();
    near = (host) {.listener = lk_listener_new (loop, &calls, &near)};
    far = (host) {.listener = lk_listener_new (loop, &calls, &far)};
    ck_assert_int_eq (lk_listener_bind_tcp (far.listener, "tcp://127.0.0.1:*",
                                            NULL, &problem),
                      LK_OK);
    lk_part_init (&part);
    undelayed = lookups = 0;
}

static void
tear_down (void)
{
    lk_listener_destroy (&near.listener, 0);
    lk_listener_destroy (&far.listener, 0);
    lk_part_clear (&part);
    lk_loop_destroy (&loop);
}

/*  Until that was told, and no more; false: not for so long. */
static bool
is_told (host *self, const char *text, int wait_ms)
{
    const int64_t until = lk_clock_ms () + wait_ms;
    while (strlen (self->told) < strlen (text) && lk_clock_ms () < until) {
        lk_loop_once (loop, 20);
    }
    const bool is_right = strcmp (self->told, text) == 0;
    if (!is_right) {
        printf ("told: '%s' %s\n", self->told, self->why.text);
    }
    self->told[0] = '\0';
    return is_right;
}

static int
port_in (const char *endpoint)
{
    return (int) strtol (strrchr (endpoint, ':') + 1, NULL, 10);
}

static int
port_of (host *self)
{
    return port_in (lk_listener_endpoint (self->listener));
}

static void
dial (const char *name, int port)
{
    const lk_curve_calls ways = {.plain = true};
    char address[320];
    snprintf (address, sizeof address, "%s:%d", name, port);
    lk_listener_dial (near.listener, address, &ways, &out);
}

static lk_io
say (host *self, const lk_identity *to, const char *text)
{
    lk_part_fill (&part, text, strlen (text));
    return lk_listener_send (self->listener, to, &part);
}

static void
meet (const char *name)
{
    dial (name, port_of (&far));
    ck_assert (is_told (&near, "^", SOON_MS));
    ck_assert (lk_identity_equal (&near.from, &out));
    ck_assert_int_eq (say (&near, &out, "hello"), LK_IO_DONE);
    ck_assert (is_told (&far, "hello", SOON_MS));
}

/*  Listens at that address of the port of `far`, for the test to serve. */
static int
listen_at (uint32_t address)
{
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_port = htons ((uint16_t) port_of (&far)),
                               .sin_addr.s_addr = htonl (address)};
    const int on = 1, fd = socket (AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    ck_assert_int_eq (setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on),
                      0);
    ck_assert_int_eq (bind (fd, (struct sockaddr *) &name, sizeof name), 0);
    ck_assert_int_eq (listen (fd, 8), 0);
    return fd;
}

static int
next_caller (int listener)
{
    int fd = -1;
    for (int i = 0; i < 100 && fd == -1; i++) {
        lk_loop_once (loop, 10);
        fd = accept (listener, NULL, NULL);
    }
    ck_assert_int_ne (fd, -1);
    return fd;
}

/*  -------------------------------------------------------- to and fro */

START_TEST (there_and_back)
{
    meet ("127.0.0.1");
    ck_assert_int_eq (undelayed, 2);
    ck_assert_int_eq (lookups, 0);
    ck_assert_int_eq (say (&far, &far.from, "back"), LK_IO_DONE);
    ck_assert (is_told (&near, "back", SOON_MS));
    ck_assert (lk_identity_equal (&near.from, &out));
    ck_assert_int_eq (say (&far, &far.from, "last words"), LK_IO_DONE);
    lk_listener_destroy (&far.listener, 0);
    ck_assert (is_told (&near, "last words.", SOON_MS));
    ck_assert_int_eq (say (&near, &out, "x"), LK_IO_UNREACHABLE);
}
END_TEST

START_TEST (what_is_closed_tells_nothing)
{
    meet ("127.0.0.1");
    lk_listener_close (near.listener, &out);
    ck_assert_int_eq (say (&near, &out, "x"), LK_IO_UNREACHABLE);
    ck_assert (is_told (&far, ".", SOON_MS));
    near.closes = true;
    meet ("127.0.0.1");
    ck_assert_int_eq (say (&far, &far.from, "first"), LK_IO_DONE);
    ck_assert_int_eq (say (&far, &far.from, "second"), LK_IO_DONE);
    ck_assert (is_told (&far, ".", SOON_MS));
    ck_assert (is_told (&near, "first", 0));
    dial ("127.0.0.1", port_of (&far)); /* and before it stands */
    lk_listener_close (near.listener, &out);
    ck_assert (is_told (&near, "", 100));
}
END_TEST

/*  What came over another connection is taken ahead of an end. */
START_TEST (last_words_of_another_connection)
{
    meet ("127.0.0.1");
    const lk_identity caller = far.from;
    ck_assert_int_eq (say (&near, &out, "last words"), LK_IO_DONE);
    lk_listener_destroy (&near.listener, 200);
    while (lk_listener_is_there (far.listener, &caller)) {
        lk_listener_drain (far.listener);
    }
    lk_listener_drain (far.listener);
    ck_assert (is_told (&far, "last words", 0));
}
END_TEST

/*  As a router of before, which had libzmq's sockets. */
START_TEST (libzmq_dials_and_is_dialled)
{
    lk_context *context = lk_context_new ();
    lk_socket *router =
        lk_socket_router_new (context, &(lk_socket_options) {0});
    lk_identity name;
    lk_io io;
    lk_identity_set (&name, "far", 3);
    lk_socket_dial (router, lk_listener_endpoint (far.listener), "far");
    lk_part_fill (&part, "hello", 5);
    ck_assert_int_eq (lk_socket_send (router, &name, &part), LK_IO_DONE);
    ck_assert (is_told (&far, "hello", SOON_MS));
    ck_assert_int_eq (say (&far, &far.from, "back"), LK_IO_DONE);
    lk_socket_bind (router, "tcp://127.0.0.1:*");
    dial ("127.0.0.1", port_in (lk_socket_endpoint (router)));
    ck_assert (is_told (&near, "^", SOON_MS));
    ck_assert_int_eq (say (&near, &out, "question"), LK_IO_DONE);
    for (int heard = 0; heard < 2; heard++) {
        while ((io = lk_socket_receive (router, &name, &part)) == LK_IO_WAIT) {
            poll (NULL, 0, 1);
        }
        ck_assert_int_eq (io, LK_IO_DONE);
    }
    lk_socket_destroy (&router);
    lk_context_destroy (&context);
    ck_assert (is_told (&near, ".", SOON_MS));
    ck_assert (is_told (&far, ".", SOON_MS));
}
END_TEST

/*  -------------------------------------------------------- addresses */

START_TEST (one_of_two_addresses_refuses)
{
    meet ("two");
    ck_assert_int_eq (lookups, 1);
    lk_listener_close (near.listener, &out);
    ck_assert (is_told (&far, ".", SOON_MS));
    meet ("two"); /* is looked up anew */
    ck_assert_int_eq (lookups, 2);
}
END_TEST

/*  0: says nothing; 1: something else, which may be the beginning of a name; 2:
 *  leaves. */
START_TEST (one_of_two_addresses_is_not_a_router)
{
    static const char page[] = "HTTP/1.1 400 Bad Request\r\n\r\nWe do not know "
                               "what you mean by that.\r\n";
    const int64_t since = lk_clock_ms ();
    const int listener = listen_at (INADDR_LOOPBACK + 1);
    dial ("two", port_of (&far));
    const int caller = next_caller (listener);
    if (_i == 1) {
        ck_assert_int_gt (write (caller, page, sizeof page), 64);
    } else if (_i == 2) {
        close (caller);
    }
    ck_assert (is_told (&near, "^", SOON_MS));
    ck_assert (_i == 2 || lk_clock_ms () - since >= 1900);
    ck_assert_int_eq (say (&near, &out, "hello"), LK_IO_DONE);
    ck_assert (is_told (&far, "hello", SOON_MS));
    if (_i != 2) {
        close (caller);
    }
    close (listener);
}
END_TEST

/*  Nobody else gets a port that is bound, and nobody answers there. */
static int
hold_port (int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    const int holder = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq (bind (holder, (struct sockaddr *) &address, size), 0);
    ck_assert_int_eq (getsockname (holder, (struct sockaddr *) &address, &size),
                      0);
    *port = ntohs (address.sin_port);
    return holder;
}

START_TEST (nobody_is_there)
{
    int port;
    const int holder = hold_port (&port);
    dial ("two", port);
    ck_assert (is_told (&near, "!", SOON_MS));
    ck_assert_int_eq (near.why.number, ECONNREFUSED);
    dial ("nobody", port);
    ck_assert (is_told (&near, "!", SOON_MS));
    ck_assert_ptr_nonnull (strstr (near.why.text, "does not resolve"));
    ck_assert_int_eq (near.why.number, 0);
    ck_assert (is_told (&near, "", 100));
    close (holder);
}
END_TEST

/*  Not in clear, though a router is there that would take us so. */
START_TEST (there_is_no_way)
{
    const lk_curve_calls none = {.plain = false};
    char address[64];
    snprintf (address, sizeof address, "127.0.0.1:%d", port_of (&far));
    lk_listener_dial (near.listener, address, &none, &out);
    ck_assert (is_told (&near, "!", SOON_MS));
    ck_assert_str_eq (near.why.text, "no key of the router there is accepted");
}
END_TEST

START_TEST (who_is_there_leaves_at_once)
{
    const int listener = listen_at (INADDR_LOOPBACK + 2);
    dial ("127.0.0.3", port_of (&far));
    close (next_caller (listener));
    ck_assert (is_told (&near, "!", SOON_MS));
    ck_assert_ptr_nonnull (
        strstr (near.why.text, "was reached, but does not answer"));
    close (listener);
}
END_TEST

/*  Nobody waits for a server of names; nor is one heard that nobody waits for
 *  any more. */
START_TEST (names_take_their_time)
{
    const int64_t since = lk_clock_ms ();
    dial ("slow", port_of (&far));
    lk_listener_close (near.listener, &out);
    dial ("slow", port_of (&far));
    meet ("127.0.0.1");
    ck_assert_int_lt (lk_clock_ms () - since, SLOW_MS / 2);
    ck_assert (is_told (&near, "^", SOON_MS));
    ck_assert_int_ge (lk_clock_ms () - since, SLOW_MS);
    ck_assert_int_eq (lookups, 2);
}
END_TEST

/*  -------------------------------------------------------- descriptors */

static void
allow (rlim_t count)
{
    struct rlimit limit;
    ck_assert_int_eq (getrlimit (RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = count;
    ck_assert_int_eq (setrlimit (RLIMIT_NOFILE, &limit), 0);
}

static int
turns_in (int wait_ms)
{
    const int64_t until = lk_clock_ms () + wait_ms;
    int turns = 0;
    while (lk_clock_ms () < until) {
        lk_loop_once (loop, 50);
        turns++;
    }
    return turns;
}

START_TEST (no_descriptor_is_left)
{
    meet ("127.0.0.1");
    const lk_identity old = out;
    const int free_one = dup (STDERR_FILENO);
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_port = htons ((uint16_t) port_of (&far)),
                               .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
    char byte;
    close (free_one);
    const int caller = socket (AF_INET, SOCK_STREAM, 0);
    allow ((rlim_t) free_one + 1);
    dial ("127.0.0.1", port_of (&far));
    ck_assert (is_told (&near, "!", SOON_MS));
    ck_assert_int_eq (near.why.number, EMFILE);
    dial ("two", port_of (&far));
    ck_assert (is_told (&near, "!", SOON_MS));
    ck_assert_int_eq (near.why.number, EMFILE);
    ck_assert_int_eq (connect (caller, (struct sockaddr *) &name, sizeof name),
                      0);
    ck_assert_int_lt (turns_in (300), 20);
    ck_assert_int_eq (read (caller, &byte, 1), 0); /* it was turned away */
    ck_assert_int_eq (say (&near, &old, "still here"), LK_IO_DONE);
    ck_assert (is_told (&far, "still here", SOON_MS));
    close (caller);
    allow (1000);
    meet ("127.0.0.1");
}
END_TEST

static void
add_tests (TCase *tcase)
{
    tcase_add_test (tcase, there_and_back);
    tcase_add_test (tcase, what_is_closed_tells_nothing);
    tcase_add_test (tcase, last_words_of_another_connection);
    tcase_add_test (tcase, libzmq_dials_and_is_dialled);
    tcase_add_test (tcase, one_of_two_addresses_refuses);
    tcase_add_loop_test (tcase, one_of_two_addresses_is_not_a_router, 0, 3);
    tcase_add_test (tcase, nobody_is_there);
    tcase_add_test (tcase, there_is_no_way);
    tcase_add_test (tcase, who_is_there_leaves_at_once);
    tcase_add_test (tcase, names_take_their_time);
    tcase_add_test (tcase, no_descriptor_is_left);
}

int
main (void)
{
    TCase *tcase = tcase_create ("dial");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_set_timeout (tcase, 30);
    add_tests (tcase);
    Suite *suite = suite_create ("dial");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
