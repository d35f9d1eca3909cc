/*  zprocess.c - see zprocess.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The one place that makes a thread beside lookup.c, to see that it can.
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

#define THREADS 2 /* of the context */

/*  Three for each session. */
#define SOCKETS_MAX 16384

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *
do_nothing (void *user)
{
    return user;
}

/*  Its threads are made with the first socket. */
static bool
has_threads (void)
{
    pthread_t thread[THREADS];
    int count = 0;

    while (count < THREADS
           && (errno = pthread_create (&thread[count], NULL, do_nothing, NULL))
                  == 0) {
        count++;
    }
    const int number = errno;
    for (int i = 0; i < count; i++) {
        pthread_join (thread[i], NULL);
    }
    errno = number;
    return count == THREADS;
}

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

static lk_err
begin_once (lk_problem *problem)
{
    static pid_t begun; /* by this process */

    if (begun == getpid ()) {
        return LK_OK;
    }
    if (!has_threads ()) {
        return lk_problem_errno (problem, "cannot make a thread");
    }
    begun = getpid ();
    begin ();
    return LK_OK;
}

lk_err
lk_zprocess_prepare (lk_problem *problem)
{
    if (!has_descriptors ()) {
        return lk_problem_errno (problem, "cannot make a socket");
    }
    pthread_mutex_lock (&mutex);
    const lk_err error = begin_once (problem);
    pthread_mutex_unlock (&mutex);
    return error;
}
