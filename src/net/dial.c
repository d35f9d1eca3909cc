/*  dial.c - see dial.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/dial.h"

#include "net/clock.h"
#include "net/tcp.h"
#include "util/alloc.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/*  A thread that asks for a name's addresses. It may outlive who began it: the
 *  last of the two frees this. */
typedef struct {
    atomic_int users;
    lk_tcp_address name;
    int fd; /* readable when it is done */
    int error;
    int number; /* errno */
    struct addrinfo *found;
} lookup;

#define LOOKUPS_MAX 64 /* at once: a server of names may take long */

static atomic_int lookups;

struct lk_dial {
    lk_loop *loop;
    lk_dial_fn *fn;
    void *user;
    lookup *lookup; /* NULL: there is none, or not any more */
    struct addrinfo *found;
    const struct addrinfo *next; /* of those, to be tried */
    int fd;                      /* -1: none is being connected */
    lk_reader *reader;           /* of that, or of the lookup */
    lk_timer timer;              /* until the next step */
    lk_problem problem;          /* the last */
};

/*  -------------------------------------------------------- names */

static const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                      .ai_flags = AI_NUMERICSERV};

static void
leave_lookup (lookup *self)
{
    if (atomic_fetch_sub (&self->users, 1) > 1) {
        return;
    }
    if (self->found) {
        freeaddrinfo (self->found);
    }
    close (self->fd);
    lk_free (self);
    atomic_fetch_sub (&lookups, 1);
}

static void *
look_up (void *user)
{
    lookup *self = user;
    const uint64_t one = 1;

    self->error =
        getaddrinfo (self->name.host, self->name.port, &hints, &self->found);
    self->number = errno;
    (void) !write (self->fd, &one, sizeof one);
    leave_lookup (self);
    return NULL;
}

/*  NULL and errno. */
static lookup *
begin_lookup (const lk_tcp_address *name)
{
    pthread_t thread;
    const int fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);

    if (fd == -1) {
        return NULL;
    }
    lookup *self = lk_alloc (sizeof *self);
    *self = (lookup) {.users = 2, .name = *name, .fd = fd};
    const int error = atomic_fetch_add (&lookups, 1) < LOOKUPS_MAX
                          ? pthread_create (&thread, NULL, look_up, self)
                          : EAGAIN;
    if (error == 0) {
        pthread_detach (thread);
        return self;
    }
    leave_lookup (self);
    leave_lookup (self);
    errno = error;
    return NULL;
}

/*  -------------------------------------------------------- addresses */

static void step (void *user);

static void
step_soon (lk_dial *self)
{
    lk_timer_set (&self->timer, 0);
}

static void
stop_waiting (lk_dial *self)
{
    lk_loop_remove (self->loop, &self->reader);
    lk_timer_clear (&self->timer);
}

static void
hang_up (lk_dial *self)
{
    if (self->fd != -1) {
        close (self->fd);
        self->fd = -1;
    }
}

/*  The connection stands, or has failed. */
static void
connected (void *user)
{
    lk_dial *self = user;
    const int fd = self->fd;
    int error = 0;
    socklen_t size = sizeof error;

    (void) getsockopt (fd, SOL_SOCKET, SO_ERROR, &error, &size);
    stop_waiting (self);
    if (error == 0) {
        self->fd = -1;
        lk_tcp_set_up (fd);
        self->fn (self->user, fd, NULL);
        return;
    }
    errno = error;
    (void) lk_problem_errno (&self->problem, "cannot connect");
    hang_up (self);
    step_soon (self);
}

static void
try_next (lk_dial *self)
{
    self->fd = lk_tcp_connect (self->next);
    self->next = self->next->ai_next;
    if (self->fd == -1) {
        (void) lk_problem_errno (&self->problem, "cannot connect");
        step_soon (self);
        return;
    }
    self->reader = lk_loop_add_fd (self->loop, self->fd, connected, self);
    lk_loop_want_room (self->loop, self->reader, true);
    lk_timer_set (&self->timer, lk_clock_ms () + LK_DIAL_MS);
}

/*  At first, after a failure, and when an attempt took too long. */
static void
step (void *user)
{
    lk_dial *self = user;

    if (self->fd != -1) {
        errno = ETIMEDOUT;
        (void) lk_problem_errno (&self->problem, "cannot connect");
        stop_waiting (self);
        hang_up (self);
    }
    if (self->next) {
        try_next (self);
    } else {
        const lk_problem problem = self->problem;
        self->fn (self->user, -1, &problem);
    }
}

bool
lk_dial_next (lk_dial *self)
{
    if (self->next) {
        step_soon (self);
    }
    return self->next != NULL;
}

/*  -------------------------------------------------------- life */

static void
complain (lk_dial *self, int error, int number)
{
    if (error == EAI_SYSTEM) {
        errno = number;
        (void) lk_problem_errno (&self->problem, "cannot look up its name");
    } else if (error != 0) {
        (void) lk_problem_set (&self->problem, LK_SYSTEM,
                               "its name does not resolve: %s",
                               gai_strerror (error));
    }
}

static void
looked_up (void *user)
{
    lk_dial *self = user;
    lookup *done = self->lookup;

    stop_waiting (self);
    self->lookup = NULL;
    self->found = done->found;
    self->next = self->found;
    done->found = NULL;
    complain (self, done->error, done->number);
    leave_lookup (done);
    step (self);
}

static void
resolve (lk_dial *self, const lk_tcp_address *name)
{
    struct addrinfo numeric = hints;

    numeric.ai_flags |= AI_NUMERICHOST;
    if (getaddrinfo (name->host, name->port, &numeric, &self->found) == 0) {
        self->next = self->found;
        step_soon (self);
        return;
    }
    self->found = NULL;
    self->lookup = begin_lookup (name);
    if (self->lookup) {
        self->reader =
            lk_loop_add_fd (self->loop, self->lookup->fd, looked_up, self);
    } else {
        complain (self, EAI_SYSTEM, errno);
        step_soon (self);
    }
}

lk_dial *
lk_dial_new (lk_loop *loop, const char *address, lk_dial_fn *fn, void *user)
{
    lk_dial *self = lk_alloc (sizeof *self);
    lk_tcp_address name;

    *self = (lk_dial) {.loop = loop, .fn = fn, .user = user, .fd = -1};
    lk_timer_init (&self->timer, loop, step, self);
    if (lk_tcp_split (address, &name, &self->problem) == LK_OK) {
        resolve (self, &name);
    } else {
        step_soon (self);
    }
    return self;
}

void
lk_dial_destroy (lk_dial **self_p)
{
    lk_dial *self = *self_p;

    if (!self) {
        return;
    }
    stop_waiting (self);
    hang_up (self);
    if (self->lookup) {
        leave_lookup (self->lookup);
    }
    if (self->found) {
        freeaddrinfo (self->found);
    }
    lk_free (self);
    *self_p = NULL;
}
