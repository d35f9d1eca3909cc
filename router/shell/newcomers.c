/*  newcomers.c - see newcomers.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  libzmq closes descriptors when it likes, and numbers are used again: what is
 *  shut down is still that which was noted, by its inode.
 */

#include "newcomers.h"
#include "peer_address.h"

#include "net/clock.h"
#include "util/alloc.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define ENDED_MAX 1024 /* that are not told yet; more are not */

typedef struct {
    ino_t inode; /* 0: none of ours, or struck out */
    int64_t noted_ms;
    lk_peer_address from; /* of another machine; else none */
} newcomer;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static newcomer *all; /* by descriptor */
static size_t room;
static lk_peer_address ended[ENDED_MAX];
static size_t ended_count;

static ino_t
inode_of (int fd)
{
    struct stat found;
    return fstat (fd, &found) == 0 && S_ISSOCK (found.st_mode) ? found.st_ino
                                                               : 0;
}

static void
make_room (size_t wanted)
{
    if (wanted > room) {
        const size_t more = 2 * wanted;
        all = lk_realloc (all, more * sizeof *all);
        memset (all + room, 0, (more - room) * sizeof *all);
        room = more;
    }
}

/*  It is over. */
static void
note_end (newcomer *self)
{
    if (self->inode != 0 && self->from.size > 0 && ended_count < ENDED_MAX) {
        ended[ended_count++] = self->from;
    }
    self->inode = 0;
}

static void
note (int fd, ino_t inode, const lk_peer_address *from)
{
    pthread_mutex_lock (&mutex);
    make_room ((size_t) fd + 1);
    if (all[fd].inode != inode) {
        note_end (&all[fd]);
    }
    all[fd] = (newcomer) {inode, lk_clock_ms (), *from};
    pthread_mutex_unlock (&mutex);
}

void
lk_newcomers_note (int fd, bool is_far)
{
    lk_peer_address from = {.size = 0};
    if (is_far) {
        lk_peer_address_of (&from, fd);
    }
    note (fd, inode_of (fd), &from);
}

void
lk_newcomers_hear (int fd)
{
    pthread_mutex_lock (&mutex);
    if (fd >= 0 && (size_t) fd < room) {
        all[fd].from.size = 0;
    }
    pthread_mutex_unlock (&mutex);
}

const char *
lk_newcomers_next_ended (void)
{
    static char text[LK_PEER_ADDRESS_SIZE];
    pthread_mutex_lock (&mutex);
    const bool is_any = ended_count > 0;
    if (is_any) {
        lk_peer_address_text (&ended[--ended_count], text);
    }
    pthread_mutex_unlock (&mutex);
    return is_any ? text : NULL;
}

void
lk_newcomers_doubt (int fd, ino_t which)
{
    if (which != 0 && inode_of (fd) == which) {
        note (fd, which, &(lk_peer_address) {.size = 0});
    }
}

bool
lk_newcomers_hung_up (int fd, ino_t which)
{
    struct pollfd look = {.fd = fd, .events = POLLRDHUP};
    return which != 0 && inode_of (fd) == which && poll (&look, 1, 0) == 1
           && (look.revents & (POLLRDHUP | POLLHUP)) != 0;
}

void
lk_newcomers_hang_up (int fd, ino_t which)
{
    if (which != 0 && inode_of (fd) == which) {
        (void) shutdown (fd, SHUT_RDWR);
    }
}

ino_t
lk_newcomers_strike (int fd)
{
    const ino_t which = fd >= 0 ? inode_of (fd) : 0;
    pthread_mutex_lock (&mutex);
    if (fd >= 0 && (size_t) fd < room) {
        all[fd].inode = 0;
    }
    pthread_mutex_unlock (&mutex);
    return which;
}

unsigned
lk_newcomers_end (int64_t until_ms, unsigned *left)
{
    unsigned count = 0;
    *left = 0;
    pthread_mutex_lock (&mutex);
    for (size_t fd = 0; fd < room; fd++) {
        newcomer *one = &all[fd];
        if (one->inode != 0 && inode_of ((int) fd) != one->inode) {
            note_end (one); /* it has ended by itself */
        } else if (one->inode != 0 && one->noted_ms > until_ms) {
            *left += 1;
        } else if (one->inode != 0) {
            note_end (one);
            count += shutdown ((int) fd, SHUT_RDWR) == 0;
        }
    }
    pthread_mutex_unlock (&mutex);
    return count;
}
