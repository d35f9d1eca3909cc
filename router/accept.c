/*  accept.c - keeps descriptors back from those who connect
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  libzmq 4.3 ends the program when accept fails for want of descriptors, and
 *  any process of the host can use them up by connecting often enough. This
 *  takes the place of the C library's accept4 in the router: a connection
 *  above the limit is closed at once, and who asked is told that it was
 *  aborted, which it takes calmly. What is kept back is for pidfds and for
 *  connections that the router opens itself. When even that is gone one spare
 *  descriptor is given up for a moment, to take a connection and close it, or
 *  it would wake who listens for ever.
 */

#include "net/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { KEPT_BACK_MAX = 1024, KEPT_BACK_PART = 8 };

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
note_short (bool now)
{
    static bool is_short;
    if (now && !is_short) {
        lk_log_warning ("router: no descriptors left, connections of this "
                        "host's processes and of neighbours are closed");
    } else if (!now && is_short) {
        lk_log_notice ("router: there are descriptors again");
    }
    is_short = now;
}

static int
turn_away (int accepted)
{
    if (accepted >= 0) {
        (void) close (accepted);
    }
    note_short (true);
    errno = ECONNABORTED;
    return -1;
}

static int
accept_if_there_is_room (int fd, struct sockaddr *address, socklen_t *length,
                         int flags)
{
    static int spare = -1;
    if (spare == -1) {
        spare = open ("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    int accepted = (int) syscall (SYS_accept4, fd, address, length, flags);
    if (accepted == -1 && (errno == EMFILE || errno == ENFILE)) {
        if (spare != -1) {
            (void) close (spare);
            accepted = (int) syscall (SYS_accept4, fd, address, length, flags);
        }
        (void) turn_away (accepted);
        spare = open ("/dev/null", O_RDONLY | O_CLOEXEC);
        errno = ECONNABORTED;
        return -1;
    }
    if (accepted >= 0 && (rlim_t) accepted >= descriptors_for_others ()) {
        return turn_away (accepted);
    }
    if (accepted >= 0) {
        note_short (false);
    }
    return accepted;
}

/*  We accept processes, libzmq's thread accepts neighbours. */
int
accept4 (int fd, __SOCKADDR_ARG address, socklen_t *restrict length, int flags)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock (&lock);
    const int accepted =
        accept_if_there_is_room (fd, address.__sockaddr__, length, flags);
    const int error = errno;
    pthread_mutex_unlock (&lock);
    errno = error;
    return accepted;
}
