/*  accept.c - stands in for accept4, and keeps descriptors back
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Any process of the host can use up the descriptors by connecting often
 *  enough, and libzmq aborts then, or spins. It calls what stands here, in its
 *  own thread: the program's accept4 comes ahead of the C library's. So a
 *  connection above a limit is closed at once. What is kept back is for pidfds
 *  and for connections that the router opens itself; other machines leave an
 *  eighth more to processes of this host and to neighbours. When all is gone
 *  one spare descriptor is given up for a moment, to take a connection and
 *  close it, or it would wake who listens for ever.
 */

#include "gate.h"
#include "newcomers.h"

#include "net/log.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEPT_BACK_MAX 1024
#define KEPT_BACK_PART 8

static atomic_uint clients_port;

void
lk_newcomers_keep_back (unsigned port)
{
    clients_port = port;
}

static bool
is_for_clients (int fd)
{
    struct sockaddr_in6 own; /* its port is where that of IPv4 is */
    socklen_t size = sizeof own;

    return clients_port != 0
           && getsockname (fd, (struct sockaddr *) &own, &size) == 0
           && (own.sin6_family == AF_INET || own.sin6_family == AF_INET6)
           && ntohs (own.sin6_port) == clients_port;
}

static rlim_t
descriptors_for_others (void)
{
    struct rlimit limit;

    if (getrlimit (RLIMIT_NOFILE, &limit) != 0) {
        return 0;
    }
    const rlim_t part = limit.rlim_cur / KEPT_BACK_PART;
    return limit.rlim_cur - (part < KEPT_BACK_MAX ? part : KEPT_BACK_MAX);
}

/*  Once when it begins and once when it is over. */
static void
note_short (bool is_far, bool now)
{
    static bool is_short[2];

    if (now && !is_short[is_far]) {
        lk_log_warning ("router: no descriptors left, connections of %s are "
                        "closed",
                        is_far ? "other machines"
                               : "this host's processes and of neighbours");
    } else if (!now && is_short[is_far]) {
        lk_log_notice ("router: there are descriptors again");
    }
    is_short[is_far] = now;
}

static int
turn_away (int accepted, bool is_far)
{
    if (accepted >= 0) {
        (void) close (accepted);
    }
    note_short (is_far, true);
    errno = ECONNABORTED;
    return -1;
}

static int
accept_one (int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    return (int) syscall (SYS_accept4, fd, address, size, flags);
}

/*  To libzmq one that is turned away was gone again: it tries the next. */
int
accept4 (int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    static int spare = -1;
    const bool is_far = is_for_clients (fd);
    rlim_t most = descriptors_for_others ();

    if (spare == -1) {
        spare = open ("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    int accepted = accept_one (fd, address, size, flags);
    if (accepted == -1 && (errno == EMFILE || errno == ENFILE)) {
        if (spare != -1) {
            (void) close (spare);
            accepted = accept_one (fd, address, size, flags);
        }
        (void) turn_away (accepted, false);
        spare = open ("/dev/null", O_RDONLY | O_CLOEXEC);
        errno = ECONNABORTED;
        return -1;
    }
    if (accepted >= 0 && is_far && lk_gate_is_shut (accepted)) {
        (void) close (accepted);
        errno = ECONNABORTED;
        return -1;
    }
    most -= is_far ? most / KEPT_BACK_PART : 0;
    if (accepted >= 0 && (rlim_t) accepted >= most) {
        return turn_away (accepted, is_far);
    }
    if (accepted >= 0) {
        note_short (is_far, false);
        lk_newcomers_note (accepted, is_far);
    }
    return accepted;
}
