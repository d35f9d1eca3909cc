/*  getpid.c - a process's number, without a system call
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  libzmq 4.3 asks for it ahead of and after each look at one of its
 *  mailboxes, to see that it was not forked: ten times and more per message.
 *  This takes the place of the C library's getpid in the router and the lock
 *  service; lockkeeper-internals(7) has what it gains. It is no part of the
 *  library: an application's getpid is its own.
 *
 *  The number is in a page that the kernel empties in a child, however that
 *  one was made, so that a child asks for its own. (glibc kept it in a
 *  variable until 2.25, and was wrong in children that clone had made.) Where
 *  the kernel cannot do that, each call asks.
 */

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic pid_t *kept; /* 0 in it: not known; NULL: nothing is kept */

static void open_page_that_children_find_empty (void)
    __attribute__ ((constructor));

static void
open_page_that_children_find_empty (void)
{
    const size_t size = (size_t) sysconf (_SC_PAGESIZE);
    void *page = mmap (NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return;
    }
    if (madvise (page, size, MADV_WIPEONFORK) == 0) {
        kept = page;
    } else {
        (void) munmap (page, size);
    }
}

pid_t
getpid (void)
{
    pid_t pid =
        kept != NULL ? atomic_load_explicit (kept, memory_order_relaxed) : 0;
    if (pid == 0) {
        pid = (pid_t) syscall (SYS_getpid);
        if (kept != NULL) {
            atomic_store_explicit (kept, pid, memory_order_relaxed);
        }
    }
    return pid;
}
