/*  socket.c - sockets, endpoints, peers, the monitor
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/socket.h"
#include "net/endpoint.h"

#include "net/clock.h"
#include "net/loop.h"
#include "net/monitor.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char dir[64];
static char endpoint[128];
static const char *path;
static lk_context *context;
static lk_socket *router, *dealer;
static lk_part part;
static lk_identity from;
static lk_problem problem;
static lk_socket_options options = {.linger_ms = 0};

static void
set_up (void)
{
    snprintf (dir, sizeof dir, "/tmp/lk-socket-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (dir));
    snprintf (endpoint, sizeof endpoint, "ipc://%s/s", dir);
    path = endpoint + strlen ("ipc://");
    context = lk_context_new ();
    router = lk_socket_router_new (context, &options, &problem);
    dealer = lk_socket_dealer_new (context, &options, &problem);
    ck_assert (context && router && dealer);
    lk_part_init (&part);
}

static void
tear_down (void)
{
    lk_part_clear (&part);
    lk_socket_destroy (&router);
    lk_socket_destroy (&dealer);
    lk_context_destroy (&context);
    unlink (path);
    ck_assert_int_eq (rmdir (dir), 0);
}

static void
bind_and_connect (void)
{
    ck_assert_int_eq (
        lk_socket_bind_ipc (router, endpoint, 0600, NULL, &problem), LK_OK);
    ck_assert_int_eq (lk_socket_connect (dealer, endpoint, &problem), LK_OK);
}

static lk_io
send_text (lk_socket *self, const lk_identity *to, const char *text)
{
    lk_part_fill (&part, text, strlen (text));
    return lk_socket_send (self, to, &part);
}

/*  Waits in the way of a loop: asks pending, then sleeps on the signal. */
static lk_io
receive (lk_socket *self)
{
    int64_t until = lk_clock_ms () + 3000;
    for (;;) {
        lk_io io = lk_socket_receive (self, &from, &part);
        if (io != LK_IO_WAIT || lk_clock_ms () > until) {
            return io;
        }
        struct pollfd item = {lk_socket_fd (self), POLLIN, 0};
        if (!lk_socket_pending (self)) {
            poll (&item, 1, 1000);
        }
    }
}

static void
expect (lk_socket *self, const char *text)
{
    ck_assert_int_eq (receive (self), LK_IO_DONE);
    ck_assert_uint_eq (lk_part_size (&part), strlen (text));
    ck_assert_mem_eq (lk_part_data (&part), text, strlen (text));
}

/*  -------------------------------------------------------- parts */

START_TEST (parts_move_and_share)
{
    lk_part other, third;
    char large[5000];
    memset (large, 'x', sizeof large);
    lk_part_init (&other);
    lk_part_init (&third);
    lk_part_fill (&part, large, sizeof large);
    const void *data = lk_part_data (&part);
    lk_part_move (&other, &part);
    ck_assert_ptr_eq (lk_part_data (&other), data);
    ck_assert_uint_eq (lk_part_size (&part), 0);
    lk_part_share (&third, &other);
    ck_assert_ptr_eq (lk_part_data (&third), data);
    lk_part_clear (&other);
    ck_assert_mem_eq (lk_part_data (&third), large, sizeof large);
    lk_part_clear (&third);
    ck_assert_uint_eq (lk_part_size (&third), 0);
}
END_TEST

/*  -------------------------------------------------------- to and fro */

START_TEST (there_and_back)
{
    bind_and_connect ();
    ck_assert_int_eq (send_text (dealer, NULL, "hello"), LK_IO_DONE);
    ck_assert_uint_eq (lk_part_size (&part), 0);
    expect (router, "hello");
    ck_assert_int_eq (lk_socket_receive (router, &from, &part), LK_IO_WAIT);
    ck_assert_int_eq (send_text (router, &from, "and back"), LK_IO_DONE);
    expect (dealer, "and back");
    ck_assert_int_eq (send_text (dealer, NULL, "me"), LK_IO_DONE);
    expect (router, "me");
    ck_assert_int_ge (lk_part_fd (&part), 0);
}
END_TEST

START_TEST (unreachable_is_not_full)
{
    bind_and_connect ();
    lk_identity nobody;
    lk_identity_set (&nobody, "nobody", 6);
    ck_assert_int_eq (send_text (router, &nobody, "x"), LK_IO_UNREACHABLE);
    ck_assert_uint_eq (lk_part_size (&part), 1);
    ck_assert (!lk_socket_was_blocked (router));
}
END_TEST

START_TEST (waits_for_a_peer)
{
    ck_assert_int_eq (send_text (dealer, NULL, "x"), LK_IO_WAIT);
    ck_assert_uint_eq (lk_part_size (&part), 1);
    ck_assert (lk_socket_was_blocked (dealer));
    ck_assert (!lk_socket_was_blocked (dealer));
}
END_TEST

START_TEST (queue_has_an_end)
{
    lk_socket_options small = {.send_max = 5, .receive_max = 5};
    lk_socket_destroy (&router);
    router = lk_socket_router_new (context, &small, &problem);
    bind_and_connect ();
    ck_assert_int_eq (send_text (dealer, NULL, "hello"), LK_IO_DONE);
    expect (router, "hello");
    lk_io io = LK_IO_DONE;
    char *large = calloc (1, 100000);
    int sent = 0;
    for (; sent < 10000 && io == LK_IO_DONE; sent++) {
        lk_part_fill (&part, large, 100000);
        io = lk_socket_send (router, &from, &part);
    }
    free (large);
    ck_assert_int_eq (io, LK_IO_WAIT);
    ck_assert_uint_eq (lk_part_size (&part), 100000);
    for (int i = 1; i < sent; i++) {
        ck_assert_int_eq (receive (dealer), LK_IO_DONE);
    }
    lk_identity peer = from;
    io = LK_IO_WAIT;
    for (int i = 0; i < 1000 && io == LK_IO_WAIT; i++) {
        usleep (1000);
        io = send_text (router, &peer, "room");
    }
    ck_assert_int_eq (io, LK_IO_DONE);
    expect (dealer, "room");
}
END_TEST

/*  Whoever sends too much is cut off; the others go on. */
START_TEST (part_over_the_limit)
{
    lk_socket_options small = {.part_max = 1000};
    lk_socket_destroy (&router);
    router = lk_socket_router_new (context, &small, &problem);
    bind_and_connect ();
    char large[1001] = {0};
    lk_part_fill (&part, large, sizeof large);
    ck_assert_int_eq (lk_socket_send (dealer, NULL, &part), LK_IO_DONE);
    usleep (50000);
    ck_assert_int_eq (lk_socket_receive (router, &from, &part), LK_IO_WAIT);
    lk_socket *other = lk_socket_dealer_new (context, &options, &problem);
    ck_assert_int_eq (lk_socket_connect (other, endpoint, &problem), LK_OK);
    ck_assert_int_eq (send_text (other, NULL, "fine"), LK_IO_DONE);
    expect (router, "fine");
    lk_socket_destroy (&other);
}
END_TEST

static int
connect_raw (void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket (AF_UNIX, SOCK_STREAM, 0);
    snprintf (address.sun_path, sizeof address.sun_path, "%s", path);
    ck_assert_int_eq (
        connect (fd, (struct sockaddr *) &address, sizeof address), 0);
    return fd;
}

/*  ZMTP 3.0 by hand: the greeting and READY. */
static void
shake_hands (int fd)
{
    static const char greeting[64] = "\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL";
    static const char ready[] = "\x04\x1c\5READY\13Socket-Type\0\0\0\6DEALER";
    ck_assert_int_eq (write (fd, greeting, 64), 64);
    ck_assert_int_eq (write (fd, ready, sizeof ready - 1), 30);
}

/*  By hand, since our own sockets send one part only. */
START_TEST (more_parts_than_one)
{
    static const char parts[] = "\1\1a\0\1b"      /* two */
                                "\1\0\1\3xyz\0\0" /* three */
                                "\0\5whole";
    bind_and_connect ();
    int fd = connect_raw ();
    shake_hands (fd);
    for (ssize_t got = 0; got < 64 + 43;) { /* its greeting and READY */
        char answer[200];
        ssize_t size = read (fd, answer, sizeof answer);
        ck_assert_int_gt (size, 0);
        got += size;
    }
    usleep (20000);
    ck_assert_int_eq (write (fd, parts, sizeof parts - 1), 22);
    ck_assert_int_eq (receive (router), LK_IO_BROKEN);
    ck_assert_int_eq (receive (router), LK_IO_BROKEN);
    expect (router, "whole");
    close (fd);
    ck_assert_int_eq (send_text (dealer, NULL, "next"), LK_IO_DONE);
    expect (router, "next");
}
END_TEST

/*  Bytes that are no ZMTP, a greeting cut short, and silence. */
START_TEST (garbage_on_the_wire)
{
    bind_and_connect ();
    int noise = connect_raw (), half = connect_raw (), mute = connect_raw ();
    ck_assert_int_gt (write (noise, "GET / HTTP/1.1\r\n\r\n", 18), 0);
    ck_assert_int_gt (write (half, "\xff\0\0\0\0\0\0\0\1\x7f\3", 11), 0);
    usleep (20000);
    close (half);
    ck_assert_int_eq (send_text (dealer, NULL, "still here"), LK_IO_DONE);
    expect (router, "still here");
    close (noise);
    close (mute);
}
END_TEST

/*  -------------------------------------------------------- endpoints */

START_TEST (ipc_mode_group_and_removal)
{
    struct stat status;
    char group[20];
    snprintf (group, sizeof group, "%u", (unsigned) getgid ());
    ck_assert_int_eq (
        lk_socket_bind_ipc (router, endpoint, 0620, group, &problem), LK_OK);
    ck_assert_int_eq (stat (path, &status), 0);
    ck_assert_uint_eq (status.st_mode & 0777, 0620);
    ck_assert_uint_eq (status.st_gid, getgid ());
    ck_assert_int_eq (lk_endpoint_probe (endpoint), 0);
    lk_socket_destroy (&router);
    ck_assert_int_eq (stat (path, &status), -1);
    ck_assert_int_eq (lk_endpoint_probe (endpoint), ENOENT);
}
END_TEST

START_TEST (ipc_alive_is_not_stolen)
{
    lk_socket *second = lk_socket_router_new (context, &options, &problem);
    bind_and_connect ();
    ck_assert_int_eq (
        lk_socket_bind_ipc (second, endpoint, 0600, NULL, &problem),
        LK_REFUSED);
    ck_assert_ptr_nonnull (strstr (problem.text, "another process"));
    lk_socket_destroy (&second);
    ck_assert_int_eq (send_text (dealer, NULL, "hello"), LK_IO_DONE);
    expect (router, "hello");
}
END_TEST

START_TEST (ipc_left_behind_is_removed)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket (AF_UNIX, SOCK_STREAM, 0);
    snprintf (address.sun_path, sizeof address.sun_path, "%s", path);
    ck_assert_int_eq (bind (fd, (struct sockaddr *) &address, sizeof address),
                      0);
    close (fd);
    ck_assert_int_eq (lk_endpoint_probe (endpoint), ECONNREFUSED);
    bind_and_connect ();
    ck_assert_int_eq (lk_endpoint_probe (endpoint), 0);
}
END_TEST

START_TEST (ipc_that_cannot_be)
{
    char long_one[300] = "ipc:///tmp/";
    memset (long_one + 11, 'a', 200);
    ck_assert_int_eq (
        lk_socket_bind_ipc (router, long_one, 0600, NULL, &problem), LK_SYSTEM);
    ck_assert_int_eq (problem.number, ENAMETOOLONG);
    ck_assert_int_eq (
        lk_socket_bind_ipc (router, "ipc:///none/x", 0600, NULL, &problem),
        LK_SYSTEM);
    ck_assert_ptr_nonnull (
        strstr (problem.text, "'ipc:///none/x': there is no folder '/none'"));
    ck_assert_int_eq (
        lk_socket_bind_ipc (router, "tcp://x", 0600, NULL, &problem),
        LK_INVALID);
    ck_assert_int_eq (
        lk_socket_bind_ipc (router, endpoint, 0600, "no-such", &problem),
        LK_INVALID);
    close (open (path, O_CREAT | O_WRONLY, 0600));
    ck_assert_int_eq (
        lk_socket_bind_ipc (router, endpoint, 0600, NULL, &problem),
        LK_REFUSED);
    ck_assert_int_eq (access (path, F_OK), 0);
}
END_TEST

START_TEST (tcp_tells_its_port)
{
    lk_socket *second = lk_socket_router_new (context, &options, &problem);
    ck_assert_int_eq (
        lk_socket_bind_tcp (router, "tcp://127.0.0.1:*", &problem), LK_OK);
    const char *bound = lk_socket_endpoint (router);
    ck_assert_int_eq (strncmp (bound, "tcp://127.0.0.1:", 16), 0);
    ck_assert_int_gt (strtol (bound + 16, NULL, 10), 0);
    ck_assert_int_eq (lk_socket_bind_tcp (second, bound, &problem), LK_SYSTEM);
    ck_assert_int_eq (problem.number, EADDRINUSE);
    ck_assert_int_eq (lk_socket_bind_tcp (second, "tcp://nonsense", &problem),
                      LK_SYSTEM);
    ck_assert_int_eq (lk_socket_connect (dealer, "what", &problem), LK_SYSTEM);
    ck_assert_int_eq (lk_socket_connect (dealer, bound, &problem), LK_OK);
    ck_assert_int_eq (send_text (dealer, NULL, "tcp"), LK_IO_DONE);
    expect (router, "tcp");
    lk_socket_destroy (&second);
}
END_TEST

/*  -------------------------------------------------------- turns */

static void
take (int count)
{
    while (count > 0) {
        count -= lk_socket_receive (router, &from, &part) == LK_IO_DONE;
    }
}

static void
send_many (int count)
{
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq (send_text (dealer, NULL, "x"), LK_IO_DONE);
    }
}

START_TEST (turns)
{
    bind_and_connect ();
    ck_assert_int_eq (lk_socket_turn (router), LK_DRAIN_MAX);
    for (int i = 0; i < 100; i++) {
        send_many (1);
        take (1);
        ck_assert (i < 99 || lk_socket_turn (router) == 1);
        (void) lk_socket_turn (router);
    }
    send_many (2);
    usleep (300000); /* both are there then: nothing tells without taking one */
    take (1);
    ck_assert (lk_socket_pending (router));
    ck_assert_int_eq (lk_socket_turn (router), LK_DRAIN_MAX);
    take (1);
    ck_assert (!lk_socket_pending (router));
    ck_assert_int_eq (lk_socket_turn (router), LK_DRAIN_MAX);
}
END_TEST

/*  Two that answer each other, now and then with several parts at once: what a
 *  turn leaves behind is found, and who sent has lost no signal by it. */
enum { ANSWERS = 10000 };

static int answers, awaited;

static void
answer_turn (void *user)
{
    (void) user;
    for (int i = lk_socket_turn (router); i > 0; i--) {
        if (lk_socket_receive (router, &from, &part) != LK_IO_DONE) {
            break;
        }
        ck_assert_int_eq (lk_socket_send (router, &from, &part), LK_IO_DONE);
    }
}

static void
ask_turn (void *user)
{
    (void) user;
    for (int i = lk_socket_turn (dealer); i > 0; i--) {
        if (lk_socket_receive (dealer, NULL, &part) != LK_IO_DONE) {
            break;
        }
        answers++;
        awaited--;
    }
    if (awaited == 0) {
        awaited = answers % 100 == 99 ? 3 : 1;
        send_many (awaited);
    }
}

START_TEST (turns_lose_nothing)
{
    lk_loop *loop = lk_loop_new ();
    bind_and_connect ();
    lk_reader *far = lk_loop_add_socket (loop, router, answer_turn, NULL);
    lk_reader *near = lk_loop_add_socket (loop, dealer, ask_turn, NULL);
    int64_t since_ms = lk_clock_ms ();
    answers = awaited = 0;
    ask_turn (NULL);
    for (int before = 0; answers < ANSWERS; before = answers) {
        lk_loop_once (loop, 5000);
        since_ms = answers > before ? lk_clock_ms () : since_ms;
        ck_assert_msg (lk_clock_ms () < since_ms + 5000, "nobody is woken");
    }
    lk_loop_remove (loop, &far);
    lk_loop_remove (loop, &near);
    lk_loop_destroy (&loop);
}
END_TEST

/*  -------------------------------------------------------- mesh */

static bool
next_event (lk_monitor *monitor, lk_monitor_event *event)
{
    int64_t until = lk_clock_ms () + 3000;
    while (!lk_monitor_next (monitor, event)) {
        if (lk_clock_ms () > until) {
            return false;
        }
        usleep (1000);
    }
    return true;
}

START_TEST (monitor_hears_of_connections)
{
    lk_socket *far = lk_socket_router_new (context, &options, &problem);
    lk_monitor_event event;
    lk_identity name;
    char bound[128];
    lk_monitor *monitor = lk_monitor_new (router, &problem);
    ck_assert_ptr_nonnull (monitor);
    ck_assert_int_eq (lk_socket_bind_tcp (far, "tcp://127.0.0.1:*", &problem),
                      LK_OK);
    snprintf (bound, sizeof bound, "%s", lk_socket_endpoint (far));
    ck_assert_int_eq (lk_socket_dial (router, bound, &name, &problem), LK_OK);
    ck_assert (next_event (monitor, &event));
    ck_assert_int_eq (event.kind, LK_MONITOR_CONNECTED);
    ck_assert_str_eq (event.endpoint, bound);
    int fd = event.fd;
    ck_assert_int_eq (send_text (router, &name, "out"), LK_IO_DONE);
    expect (far, "out");
    ck_assert_int_eq (send_text (far, &from, "back"), LK_IO_DONE);
    expect (router, "back");
    ck_assert (lk_identity_equal (&from, &name));
    ck_assert_int_eq (lk_part_fd (&part), fd);
    bind_and_connect ();
    ck_assert_int_eq (send_text (dealer, NULL, "hello"), LK_IO_DONE);
    expect (router, "hello");
    ck_assert (next_event (monitor, &event));
    ck_assert_int_eq (event.kind, LK_MONITOR_ACCEPTED);
    ck_assert_int_eq (event.fd, lk_part_fd (&part));
    ck_assert_int_eq (send_text (dealer, NULL, "last"), LK_IO_DONE);
    lk_socket_destroy (&dealer);
    ck_assert (next_event (monitor, &event));
    ck_assert_int_eq (event.kind, LK_MONITOR_LEFT);
    ck_assert_int_eq (lk_socket_receive (router, &from, &part), LK_IO_DONE);
    ck_assert_int_eq (event.fd, lk_part_fd (&part));
    lk_socket_destroy (&far);
    ck_assert (next_event (monitor, &event));
    ck_assert_int_eq (event.kind, LK_MONITOR_DISCONNECTED);
    ck_assert_str_eq (event.endpoint, bound);
    ck_assert_int_eq (event.fd, fd);
    lk_monitor_destroy (&monitor);
}
END_TEST

/*  A listener that lets others connect and says nothing. */
static int
listen_silently (char *bound, size_t size)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl (INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    const int on = 1, fd = socket (AF_INET, SOCK_STREAM, 0);
    setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    ck_assert (bind (fd, (struct sockaddr *) &address, len) == 0
               && listen (fd, 1) == 0
               && getsockname (fd, (struct sockaddr *) &address, &len) == 0);
    snprintf (bound, size, "tcp://127.0.0.1:%d", ntohs (address.sin_port));
    return fd;
}

enum { FILLERS = 64 };

/*  Dials there and gives up amid the handshake. No later connection gets the
 *  descriptor of this one: `filler` has all that were free. */
static void
give_up_amid_handshake (const char *bound, int listener, int filler[FILLERS])
{
    lk_identity name;
    char byte;
    ck_assert_int_eq (lk_socket_dial (router, bound, &name, &problem), LK_OK);
    const int silent = accept (listener, NULL, NULL);
    ck_assert_int_eq (recv (silent, &byte, 1, 0), 1);
    lk_socket_disconnect (router, bound);
    ssize_t got;
    while ((got = recv (silent, &byte, 1, MSG_DONTWAIT)) > 0
           || (got < 0 && errno == EAGAIN)) {
        (void) lk_socket_pending (router); /* libzmq needs us for the end */
        lk_socket_touch (router);
        usleep (1000);
    }
    close (silent);
    close (listener);
    for (int i = 0; i < FILLERS; i++) {
        filler[i] = dup (STDERR_FILENO);
    }
}

/*  Nobody tells of the end of the one that was given up. The next one of that
 *  endpoint is told by its own number, and so is its end. */
START_TEST (monitor_after_a_handshake_was_given_up)
{
    lk_socket *far = lk_socket_router_new (context, &options, &problem);
    lk_monitor *monitor = lk_monitor_new (router, &problem);
    lk_monitor_event event;
    lk_identity name;
    int filler[FILLERS];
    char bound[64];
    const int listener = listen_silently (bound, sizeof bound);
    give_up_amid_handshake (bound, listener, filler);
    ck_assert_int_eq (lk_socket_bind_tcp (far, bound, &problem), LK_OK);
    ck_assert_int_eq (lk_socket_dial (router, bound, &name, &problem), LK_OK);
    ck_assert (next_event (monitor, &event));
    ck_assert_int_eq (event.kind, LK_MONITOR_CONNECTED);
    const int fd = event.fd;
    ck_assert_int_eq (send_text (router, &name, "out"), LK_IO_DONE);
    expect (far, "out");
    ck_assert_int_eq (send_text (far, &from, "back"), LK_IO_DONE);
    expect (router, "back");
    ck_assert_int_eq (lk_part_fd (&part), fd);
    lk_socket_destroy (&far);
    ck_assert (next_event (monitor, &event));
    ck_assert_int_eq (event.kind, LK_MONITOR_DISCONNECTED);
    ck_assert_int_eq (event.fd, fd);
    for (int i = 0; i < FILLERS; i++) {
        close (filler[i]);
    }
    lk_monitor_destroy (&monitor);
}
END_TEST

/*  Of two connections of an endpoint one comes up, nobody can say which: each
 *  end is told by its own number, whichever is first. */
START_TEST (monitor_of_two_at_once)
{
    lk_monitor *monitor = lk_monitor_new (router, &problem);
    lk_monitor_event event;
    lk_identity name;
    int end[2];
    char bound[64], byte;
    const int listener = listen_silently (bound, sizeof bound);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq (lk_socket_dial (router, bound, &name, &problem),
                          LK_OK);
        end[i] = accept (listener, NULL, NULL);
        ck_assert_int_eq (recv (end[i], &byte, 1, 0), 1);
    }
    close (listener);
    shake_hands (end[0]);
    ck_assert (next_event (monitor, &event));
    ck_assert_int_eq (event.kind, LK_MONITOR_CONNECTED);
    const int fd = event.fd; /* of end[1], as it is the newer one */
    for (int i = 0; i < 2; i++) {
        const int which = i ^ _i;
        close (end[which]);
        ck_assert (next_event (monitor, &event));
        ck_assert_int_eq (event.kind,
                          i == 0 ? LK_MONITOR_DISCONNECTED : LK_MONITOR_FAILED);
        ck_assert ((event.fd == fd) == (which == 1));
    }
    lk_monitor_destroy (&monitor);
}
END_TEST

/*  A label of more than 63 characters is nobody's, and no server is asked. */
START_TEST (monitor_hears_of_names_without_address)
{
    lk_socket *far = lk_socket_router_new (context, &options, &problem);
    lk_monitor_event event;
    lk_identity name;
    char bound[128], lost[128];
    lk_monitor *monitor = lk_monitor_new (router, &problem);
    ck_assert_int_eq (lk_socket_bind_tcp (far, "tcp://127.0.0.1:*", &problem),
                      LK_OK);
    snprintf (bound, sizeof bound, "%s", lk_socket_endpoint (far));
    snprintf (lost, sizeof lost, "tcp://%080d.example:7411", 0);
    ck_assert_int_eq (lk_socket_dial (router, lost, &name, &problem), LK_OK);
    ck_assert (next_event (monitor, &event));
    ck_assert_int_eq (event.kind, LK_MONITOR_UNRESOLVED);
    ck_assert_str_eq (event.endpoint, lost);
    ck_assert (!next_event (monitor, &event)); /* once */

    /*  An address where nobody is resolves, and so does one that was lost. */
    ck_assert_int_eq (lk_socket_dial (router, bound, &name, &problem), LK_OK);
    ck_assert (next_event (monitor, &event));
    ck_assert_int_eq (event.kind, LK_MONITOR_CONNECTED);
    lk_socket_destroy (&far);
    ck_assert (next_event (monitor, &event));
    ck_assert_int_eq (event.kind, LK_MONITOR_DISCONNECTED);
    ck_assert (!next_event (monitor, &event));
    lk_monitor_destroy (&monitor);
}
END_TEST

/*  A host may list its own address among its neighbours': it dials itself,
 *  finds out, and must not stop listening with that. */
START_TEST (dialling_oneself)
{
    lk_identity name;
    ck_assert_int_eq (
        lk_socket_bind_tcp (router, "tcp://127.0.0.1:*", &problem), LK_OK);
    char own[160], by_name[170];
    snprintf (own, sizeof own, "%s", lk_socket_endpoint (router));
    snprintf (by_name, sizeof by_name, "tcp://localhost%s", strrchr (own, ':'));
    const char *const texts[] = {own, by_name};
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq (lk_socket_dial (router, texts[i], &name, &problem),
                          LK_OK);
        lk_socket_disconnect (router, texts[i]);
        lk_socket_disconnect (router, texts[i]); /* is not dialled any more */
    }
    lk_socket *near = lk_socket_router_new (context, &options, &problem);
    ck_assert_int_eq (lk_socket_dial (near, own, &name, &problem), LK_OK);
    ck_assert_int_eq (send_text (near, &name, "still there"), LK_IO_DONE);
    expect (router, "still there");
    lk_socket_destroy (&near);
}
END_TEST

/*  At once and many times, the peer there or not. */
START_TEST (redial)
{
    lk_identity last = {0}, name;
    ck_assert_int_eq (
        lk_socket_bind_ipc (router, endpoint, 0600, NULL, &problem), LK_OK);
    lk_socket *near = lk_socket_router_new (context, &options, &problem);
    for (int i = 0; i < 50; i++) {
        ck_assert_int_eq (lk_socket_dial (near, endpoint, &name, &problem),
                          LK_OK);
        ck_assert (!lk_identity_equal (&name, &last));
        if (i > 0) {
            ck_assert_int_eq (send_text (near, &last, "x"), LK_IO_UNREACHABLE);
        }
        last = name;
        if (i < 49) {
            lk_socket_disconnect (near, endpoint);
        }
    }
    lk_socket_disconnect (near, "tcp://127.0.0.1:1");
    ck_assert_int_eq (send_text (near, &last, "last"), LK_IO_DONE);
    expect (router, "last");
    lk_socket_destroy (&near);
}
END_TEST

/*  -------------------------------------------------------- in a loop */

static lk_loop *loop;
static int received, wanted;

static void
take_all (void *user)
{
    (void) user;
    while (lk_socket_receive (router, &from, &part) == LK_IO_DONE) {
        received++;
        ck_assert_int_eq (send_text (router, &from, "ack"), LK_IO_DONE);
        if (received == wanted) {
            lk_loop_stop (loop, 0);
            return;
        }
        if (received % 7 == 0) {
            return; /* leaves something: the loop has to come back */
        }
    }
}

START_TEST (loop_forgets_nothing)
{
    loop = lk_loop_new ();
    bind_and_connect ();
    lk_reader *reader = lk_loop_add_socket (loop, router, take_all, NULL);
    wanted = 500;
    for (int i = 0; i < wanted; i++) {
        ck_assert_int_eq (send_text (dealer, NULL, "x"), LK_IO_DONE);
    }
    ck_assert_int_eq (lk_loop_run (loop), 0);
    ck_assert_int_eq (received, wanted);
    for (int i = 0; i < wanted; i++) {
        expect (dealer, "ack");
    }
    lk_loop_remove (loop, &reader);
    lk_loop_destroy (&loop);
}
END_TEST

static void
add_tests (TCase *tcase)
{
    tcase_add_test (tcase, parts_move_and_share);
    tcase_add_test (tcase, there_and_back);
    tcase_add_test (tcase, unreachable_is_not_full);
    tcase_add_test (tcase, waits_for_a_peer);
    tcase_add_test (tcase, queue_has_an_end);
    tcase_add_test (tcase, part_over_the_limit);
    tcase_add_test (tcase, more_parts_than_one);
    tcase_add_test (tcase, garbage_on_the_wire);
    tcase_add_test (tcase, ipc_mode_group_and_removal);
    tcase_add_test (tcase, ipc_alive_is_not_stolen);
    tcase_add_test (tcase, ipc_left_behind_is_removed);
    tcase_add_test (tcase, ipc_that_cannot_be);
    tcase_add_test (tcase, tcp_tells_its_port);
    tcase_add_test (tcase, turns);
    tcase_add_test (tcase, turns_lose_nothing);
    tcase_add_test (tcase, monitor_hears_of_connections);
    tcase_add_test (tcase, monitor_after_a_handshake_was_given_up);
    tcase_add_loop_test (tcase, monitor_of_two_at_once, 0, 2);
    tcase_add_test (tcase, monitor_hears_of_names_without_address);
    tcase_add_test (tcase, redial);
    tcase_add_test (tcase, dialling_oneself);
    tcase_add_test (tcase, loop_forgets_nothing);
}

int
main (void)
{
    TCase *tcase = tcase_create ("socket");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_set_timeout (tcase, 20);
    add_tests (tcase);
    Suite *suite = suite_create ("socket");
    suite_add_tcase (suite, tcase);
    SRunner *runner = srunner_create (suite);
    srunner_run_all (runner, CK_ENV);
    const int failed = srunner_ntests_failed (runner);
    srunner_free (runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
