/*  peer.h - one load on any lock service: what its client has to bring
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  peer.c has the loads and the clock; etcd.c, zookeeper.c, redis.c and
 *  postgresql.c each have one system's client, linked with it to one program.
 *  All is one thread: a client starts an operation and returns; when the
 *  answer has come, it says so. So any number of locks is in flight on any
 *  number of connections, and none waits for another.
 */

#ifndef PEER_H
#define PEER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEER_SOCKETS 3 /* at most so many has a client */

/*  A connection, or as many as one client of the system needs. */
typedef struct peer_client peer_client;

/*  A lock that is asked for and released again and again. */
typedef struct {
    peer_client *client;
    int index;     /* among its client's locks, from 0 */
    char name[64]; /* what is locked */
    char key[256]; /* the system's name for this hold of it */
    int step;      /* the system's own, 0 at first */
    bool held;
    int64_t asked_ns;
    int64_t again_ns; /* when to repeat what failed; 0: nothing did */
} peer_lock;

/*  ---- what each system has: */

/*  Connects. `where` is from the command line, the leader first; the client
 *  will have that many locks. */
peer_client *client_new (const char *where, int locks);

void client_destroy (peer_client **self);

/*  Starts LOCK or UNLOCK. In the end it calls peer_locked or peer_unlocked,
 *  or peer_again. */
void client_lock (peer_client *self, peer_lock *lock);

void client_unlock (peer_client *self, peer_lock *lock);

/*  Sends what there is to send, and says what to wait for. Called after
 *  anything was started or has arrived, and every few milliseconds. */
void client_prepare (peer_client *self, struct pollfd *sockets);

/*  Something has arrived. */
void client_read (peer_client *self, const struct pollfd *sockets);

/*  ---- what they call: */

void peer_locked (peer_lock *lock);

void peer_unlocked (peer_lock *lock);

/*  It did not get the lock, or no answer: it is started once more, after so
 *  many microseconds. */
void peer_again (peer_lock *lock, int64_t pause_us);

/*  A connection is lost. The program ends, unless it is there to see that. */
void peer_lost (const char *what);

_Noreturn void peer_die (const char *format, ...)
    __attribute__ ((format (printf, 1, 2)));

/*  The `index`th of the ports in "PORT,PORT,..."; 0 behind the last. */
int peer_port (const char *where, int index);

#endif
