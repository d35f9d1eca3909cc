/*  accept.c - keeps descriptors back from those who connect
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  libzmq 4.3 ends the program when accept fails for want of descriptors, so
 *  any process of the host could end its router by connecting often enough.
 *  This takes the place of the C library's accept4 in the router: a
 *  connection above the limit is closed at once, and libzmq told that it was
 *  aborted, which it takes calmly. What is kept back is for pidfds and for
 *  connections that the router opens itself.
 */

#include <errno.h>
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

int
accept4 (int fd, __SOCKADDR_ARG address, socklen_t *restrict length, int flags)
{
    const int accepted =
        (int) syscall (SYS_accept4, fd, address.__sockaddr__, length, flags);
    if (accepted >= 0 && (rlim_t) accepted >= descriptors_for_others ()) {
        (void) close (accepted);
        errno = ECONNABORTED;
        return -1;
    }
    return accepted;
}
