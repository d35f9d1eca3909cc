/*  beacon.c - see beacon.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/beacon.h"

#include "net/zprocess.h"
#include "util/alloc.h"

#include <czmq.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <utlist.h>

struct lk_beacon {
    zactor_t *actor;
    struct lk_beacon *prev;
    struct lk_beacon *next;
};

/*  -------------------------------------------------------- at exit */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static lk_beacon *alive; /* of this process: */
static pid_t owner;

/*  Its thread aborts the program if CZMQ ends the context under it, as it does
 *  when the program exits; what was registered later is called first. */
static void
end_all (void)
{
    if (owner == getpid ()) {
        while (alive != NULL) {
            lk_beacon *it = alive;
            lk_beacon_destroy (&it);
        }
    }
}

static void
note_alive (lk_beacon *self)
{
    pthread_mutex_lock (&mutex);
    if (owner != getpid ()) {
        owner = getpid ();
        alive = NULL;
        (void) atexit (end_all);
    }
    DL_APPEND (alive, self);
    pthread_mutex_unlock (&mutex);
}

static void
note_end (lk_beacon *self)
{
    pthread_mutex_lock (&mutex);
    DL_DELETE (alive, self);
    pthread_mutex_unlock (&mutex);
}

/*  -------------------------------------------------------- life */

/*  Signals are for the threads of the program that we are in. */
static zactor_t *
new_actor (void)
{
    sigset_t all, former;
    sigfillset (&all);
    pthread_sigmask (SIG_SETMASK, &all, &former);
    zactor_t *actor = zactor_new (zbeacon, NULL);
    pthread_sigmask (SIG_SETMASK, &former, NULL);
    return actor;
}

/*  Whether there is an interface for it. */
static bool
configure (lk_beacon *self, int port)
{
    zsock_send (self->actor, "si", "CONFIGURE", port);
    char *address = zstr_recv (self->actor);
    const bool is_good = address != NULL && address[0] != '\0';
    zstr_free (&address);
    return is_good;
}

lk_beacon *
lk_beacon_new (int port, lk_problem *problem)
{
    if (lk_zprocess_prepare (problem) != LK_OK) {
        return NULL;
    }
    lk_beacon *self = lk_alloc (sizeof *self);
    self->actor = new_actor ();
    note_alive (self);
    if (!configure (self, port)) {
        (void) lk_problem_set (problem, LK_SYSTEM,
                               "no network interface for beacons on port %d: "
                               "$ZSYS_INTERFACE names one that can broadcast; "
                               "or the port is not for us",
                               port);
        lk_beacon_destroy (&self);
    }
    return self;
}

void
lk_beacon_destroy (lk_beacon **self_p)
{
    lk_beacon *self = *self_p;
    if (self != NULL) {
        note_end (self);
        zactor_destroy (&self->actor);
        lk_free (self);
        *self_p = NULL;
    }
}

/*  -------------------------------------------------------- lines */

void
lk_beacon_say (lk_beacon *self, const char *line)
{
    zsock_send (self->actor, "sbi", "PUBLISH", line, strlen (line),
                LK_BEACON_MS);
}

void
lk_beacon_listen (lk_beacon *self, const char *begin)
{
    zsock_send (self->actor, "sb", "SUBSCRIBE", begin, strlen (begin));
}

int
lk_beacon_fd (lk_beacon *self)
{
    return (int) zsock_fd (self->actor);
}

/*  The sender's address is ahead of it, which nobody knows to be true. */
size_t
lk_beacon_next (lk_beacon *self, char line[LK_BEACON_SIZE])
{
    size_t size = 0;
    while (size == 0 && (zsock_events (self->actor) & ZMQ_POLLIN) != 0) {
        zmsg_t *message = zmsg_recv (self->actor);
        zframe_t *frame = message != NULL ? zmsg_last (message) : NULL;
        if (frame != NULL && zframe_size (frame) < LK_BEACON_SIZE) {
            size = zframe_size (frame);
            memcpy (line, zframe_data (frame), size);
        }
        zmsg_destroy (&message);
    }
    return size;
}
