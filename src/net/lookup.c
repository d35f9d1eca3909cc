/*  lookup.c - see lookup.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/lookup.h"

#include "util/alloc.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define LOOKUPS_MAX 64 /* at once: a server of names may take long */

static atomic_int lookups;

/*  The thread may outlive who began it: the last of the two frees this. */
struct lk_lookup {
    atomic_int users;
    lk_tcp_address name;
    int fd;
    int error;
    int number; /* errno */
    struct addrinfo *found;
};

static const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                      .ai_flags = AI_NUMERICSERV};

static void
leave (lk_lookup *self)
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
    lk_lookup *self = user;
    const uint64_t one = 1;

    self->error =
        getaddrinfo (self->name.host, self->name.port, &hints, &self->found);
    self->number = errno;
    (void) !write (self->fd, &one, sizeof one);
    leave (self);
    return NULL;
}

struct addrinfo *
lk_lookup_numbers (const lk_tcp_address *name)
{
    struct addrinfo numeric = hints;
    struct addrinfo *found = NULL;

    numeric.ai_flags |= AI_NUMERICHOST;
    return getaddrinfo (name->host, name->port, &numeric, &found) == 0 ? found
                                                                       : NULL;
}

static void
explain (int error, int number, lk_problem *problem)
{
    if (error == EAI_SYSTEM) {
        errno = number;
        (void) lk_problem_errno (problem, "cannot look up its name");
    } else {
        (void) lk_problem_set (problem, LK_SYSTEM,
                               "its name does not resolve: %s",
                               gai_strerror (error));
    }
}

/*  It is ours until it ends. Signals are for the threads of the program that we
 *  are in. */
static int
create_thread (pthread_t *thread, lk_lookup *self)
{
    sigset_t all, former;

    sigfillset (&all);
    pthread_sigmask (SIG_SETMASK, &all, &former);
    const int error = pthread_create (thread, NULL, look_up, self);
    pthread_sigmask (SIG_SETMASK, &former, NULL);
    return error;
}

static int
start_thread (lk_lookup *self)
{
    pthread_t thread;

    if (atomic_fetch_add (&lookups, 1) >= LOOKUPS_MAX) {
        return EAGAIN;
    }
    const int error = create_thread (&thread, self);
    if (error == 0) {
        pthread_detach (thread);
    }
    return error;
}

lk_lookup *
lk_lookup_new (const lk_tcp_address *name, lk_problem *problem)
{
    const int fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);

    if (fd == -1) {
        explain (EAI_SYSTEM, errno, problem);
        return NULL;
    }
    lk_lookup *self = lk_alloc (sizeof *self);
    *self = (lk_lookup) {.users = 2, .name = *name, .fd = fd};
    const int error = start_thread (self);
    if (error != 0) {
        leave (self);
        leave (self);
        explain (EAI_SYSTEM, error, problem);
        return NULL;
    }
    return self;
}

int
lk_lookup_fd (const lk_lookup *self)
{
    return self->fd;
}

struct addrinfo *
lk_lookup_take (lk_lookup *self, lk_problem *problem)
{
    struct addrinfo *found = self->found;

    self->found = NULL;
    if (self->error != 0) {
        explain (self->error, self->number, problem);
    }
    return found;
}

void
lk_lookup_destroy (lk_lookup **self_p)
{
    if (*self_p) {
        leave (*self_p);
        *self_p = NULL;
    }
}
