/*  zprocess.c - see zprocess.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/zprocess.h"

#include <czmq.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/*  The context takes seven, a socket with its monitor and a connection four;
 *  the rest is for who takes some at the same time. */
#define DESCRIPTORS 16

/*  Three for each session. */
#define SOCKETS_MAX 16384

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/*  CZMQ would take SIGINT and SIGTERM, write to standard output, and seed
 *  random (), which is the program's. */
static void
begin (void)
{
    char state[64];
    char *before = initstate (1, state, sizeof state);

    zsys_handler_set (NULL);
    (void) zmq_ctx_set (zsys_init (), ZMQ_MAX_SOCKETS, SOCKETS_MAX);
    (void) setstate (before);
    zsys_set_logstream (NULL);
}

static bool
has_descriptors (void)
{
    int fd[DESCRIPTORS];
    int count = 0;

    while (count < DESCRIPTORS
           && (fd[count] = eventfd (0, EFD_CLOEXEC)) != -1) {
        count++;
    }
    const int number = errno;
    for (int i = 0; i < count; i++) {
        close (fd[i]);
    }
    errno = number;
    return count == DESCRIPTORS;
}

lk_err
lk_zprocess_prepare (lk_problem *problem)
{
    static pid_t begun; /* by this process */

    if (!has_descriptors ()) {
        return lk_problem_errno (problem, "cannot make a socket");
    }
    pthread_mutex_lock (&mutex);
    if (begun != getpid ()) {
        begun = getpid ();
        begin ();
    }
    pthread_mutex_unlock (&mutex);
    return LK_OK;
}
