/*  zookeeper.c - locks of ZooKeeper 3.8: the recipe, and a bare node
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The recipe of ZooKeeper's manual: a lock is a folder. Who wants it makes an
 *  ephemeral node with the next number in there and lists them all; it has the
 *  lock if its own is the first, else it watches the one before. Bare ("bare"
 *  instead of "recipe" in $ZOOKEEPER_LOCK): the lock is an ephemeral node; who
 *  finds it there watches it, and all that wait for it try again at its end. A
 *  session ends $ZOOKEEPER_SESSION_MS after its last sign of life.
 *
 *  With the C library that has no threads: it costs the client least.
 */

#include "lib/figures.h"
#include "peer.h"
#include "util/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <zookeeper/zookeeper.h>

#define SESSION_MS 4000 /* the least that it grants as it comes */
#define CONNECT_NS 10000000000
#define PAUSE_US 10000 /* after a lost connection */
#define DIGITS 10      /* of the number that ZooKeeper appends */

enum { START, MADE, WATCHING }; /* steps to a lock */

struct peer_client {
    zhandle_t *zookeeper;
    bool bare;
    char hosts[64 * PEER_SOCKETS];
};

/*  ------------------------------------------------------------ results */

/*  False: there was no answer; it starts once more. */
static bool
answered (int result, peer_lock *lock)
{
    if (result == ZCONNECTIONLOSS || result == ZOPERATIONTIMEOUT) {
        peer_lost (zerror (result));
        peer_again (lock, PAUSE_US);
        return false;
    }
    return true;
}

static void
expect (int result, int other, const char *what)
{
    if (result != ZOK && result != other) {
        peer_die ("ZooKeeper: %s: %s", what, zerror (result));
    }
}

/*  ------------------------------------------------------------ waiting */

static void
on_watch (zhandle_t *zookeeper, int type, int state, const char *path,
          void *user)
{
    peer_lock *lock = user;
    (void) zookeeper;
    (void) state;
    (void) path;
    if (type == ZOO_DELETED_EVENT && lock->step == WATCHING) {
        lock->step = MADE;
        client_lock (lock->client, lock);
    }
}

/*  Of the node that is before it. There is a watch only if that still is. */
static void
on_before (int result, const char *value, int size, const struct Stat *stat,
           const void *user)
{
    peer_lock *lock = (peer_lock *) user;
    peer_client *self = lock->client;
    (void) value;
    (void) size;
    if (!answered (result, lock)) {
        return;
    }
    expect (result, ZNONODE, "watch");
    if (result == ZNONODE) {
        client_lock (self, lock);
    } else if (self->bare
               && stat->ephemeralOwner
                      == zoo_client_id (self->zookeeper)->client_id) {
        peer_locked (lock); /* made before the connection was lost */
    } else {
        lock->step = WATCHING;
    }
}

static void
watch (peer_client *self, peer_lock *lock, const char *node)
{
    expect (zoo_awget (self->zookeeper, node, on_watch, lock, on_before, lock),
            ZOK, "watch");
}

/*  ------------------------------------------------------------ the recipe */

static void make (peer_client *self, peer_lock *lock);

static void list (peer_client *self, peer_lock *lock);

/*  What its node is called, without the number. */
static void
node_prefix (const peer_client *self, const peer_lock *lock, char text[64])
{
    long id = (long) zoo_client_id (self->zookeeper)->client_id;
    snprintf (text, 64, "%016lx-%d-", (unsigned long) id, lock->index);
}

static long
number_of (const char *node)
{
    size_t size = strlen (node);
    return size < DIGITS ? 0 : strtol (node + size - DIGITS, NULL, 10);
}

/*  Its own node among these, and the last one before that. */
static const char *
find_own (const struct String_vector *nodes, const char *prefix,
          const char **before)
{
    const char *own = NULL;
    for (int i = 0; i < nodes->count; i++) {
        if (strncmp (nodes->data[i], prefix, strlen (prefix)) == 0) {
            own = nodes->data[i];
        }
    }
    *before = NULL;
    for (int i = 0; own && i < nodes->count; i++) {
        const char *node = nodes->data[i];
        if (number_of (node) < number_of (own)
            && (!*before || number_of (node) > number_of (*before))) {
            *before = node;
        }
    }
    return own;
}

static void
on_list (int result, const struct String_vector *nodes, const void *user)
{
    peer_lock *lock = (peer_lock *) user;
    char prefix[64], path[256];
    const char *before;
    if (!answered (result, lock)) {
        return;
    }
    expect (result, ZOK, "list");
    node_prefix (lock->client, lock, prefix);
    const char *own = find_own (nodes, prefix, &before);
    if (!own) {
        make (lock->client, lock);
        return;
    }
    snprintf (lock->key, sizeof lock->key, "/%s/%s", lock->name, own);
    if (!before) {
        peer_locked (lock);
        return;
    }
    snprintf (path, sizeof path, "/%s/%s", lock->name, before);
    watch (lock->client, lock, path);
}

static void
list (peer_client *self, peer_lock *lock)
{
    char path[80];
    snprintf (path, sizeof path, "/%s", lock->name);
    expect (zoo_aget_children (self->zookeeper, path, 0, on_list, lock), ZOK,
            "list");
}

static void
on_folder (int result, const char *value, const void *user)
{
    peer_lock *lock = (peer_lock *) user;
    (void) value;
    if (answered (result, lock)) {
        expect (result, ZNODEEXISTS, "make a folder");
        make (lock->client, lock);
    }
}

static void
on_made (int result, const char *value, const void *user)
{
    peer_lock *lock = (peer_lock *) user;
    peer_client *self = lock->client;
    char path[80];
    (void) value;
    if (!answered (result, lock)) {
        return;
    }
    if (result != ZNONODE) {
        expect (result, ZOK, "make a node");
        list (self, lock);
        return;
    }
    snprintf (path, sizeof path, "/%s", lock->name);
    expect (zoo_acreate (self->zookeeper, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE,
                         0, on_folder, lock),
            ZOK, "make a folder");
}

static void
make (peer_client *self, peer_lock *lock)
{
    char prefix[64], path[256];
    node_prefix (self, lock, prefix);
    snprintf (path, sizeof path, "/%s/%s", lock->name, prefix);
    lock->step = MADE;
    expect (zoo_acreate (self->zookeeper, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE,
                         ZOO_EPHEMERAL_SEQUENTIAL, on_made, lock),
            ZOK, "make a node");
}

/*  ------------------------------------------------------------ bare */

static void
on_bare_made (int result, const char *value, const void *user)
{
    peer_lock *lock = (peer_lock *) user;
    (void) value;
    if (!answered (result, lock)) {
        return;
    }
    expect (result, ZNODEEXISTS, "make a node");
    if (result == ZOK) {
        peer_locked (lock);
    } else {
        watch (lock->client, lock, lock->key);
    }
}

static void
make_bare (peer_client *self, peer_lock *lock)
{
    snprintf (lock->key, sizeof lock->key, "/%s", lock->name);
    expect (zoo_acreate (self->zookeeper, lock->key, NULL, -1,
                         &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, on_bare_made,
                         lock),
            ZOK, "make a node");
}

/*  ------------------------------------------------------------ both */

void
client_lock (peer_client *self, peer_lock *lock)
{
    if (self->bare) {
        make_bare (self, lock);
    } else if (lock->step == START) {
        make (self, lock);
    } else {
        list (self, lock);
    }
}

static void
on_deleted (int result, const void *user)
{
    peer_lock *lock = (peer_lock *) user;
    if (answered (result, lock)) {
        expect (result, ZNONODE, "delete");
        peer_unlocked (lock);
    }
}

void
client_unlock (peer_client *self, peer_lock *lock)
{
    expect (zoo_adelete (self->zookeeper, lock->key, -1, on_deleted, lock), ZOK,
            "delete");
}

void
client_prepare (peer_client *self, struct pollfd *sockets)
{
    int interest = 0;
    struct timeval wait;
    int result =
        zookeeper_interest (self->zookeeper, &sockets[0].fd, &interest, &wait);
    if (result != ZOK) {
        peer_lost (zerror (result));
    }
    sockets[0].events = (short) ((interest & ZOOKEEPER_READ ? POLLIN : 0)
                                 | (interest & ZOOKEEPER_WRITE ? POLLOUT : 0));
}

/*  One message is read at a time: as long as there are any. */
void
client_read (peer_client *self, const struct pollfd *sockets)
{
    int events = (sockets[0].revents & ~POLLOUT ? ZOOKEEPER_READ : 0)
                 | (sockets[0].revents & POLLOUT ? ZOOKEEPER_WRITE : 0);
    int result;
    do {
        result = zookeeper_process (self->zookeeper, events);
    } while (result == ZOK && (events & ZOOKEEPER_READ));
    if (result != ZOK && result != ZNOTHING) {
        peer_lost (zerror (result));
    }
}

static void
connect_client (peer_client *self)
{
    int64_t end_ns = lk_figures_now_ns () + CONNECT_NS;
    while (zoo_state (self->zookeeper) != ZOO_CONNECTED_STATE) {
        struct pollfd socket = {.fd = -1};
        if (lk_figures_now_ns () > end_ns) {
            peer_die ("no ZooKeeper at '%s'", self->hosts);
        }
        client_prepare (self, &socket);
        if (poll (&socket, 1, 10) > 0) {
            client_read (self, &socket);
        }
    }
}

peer_client *
client_new (const char *where, int locks)
{
    peer_client *self = lk_alloc (sizeof *self);
    const char *kind = getenv ("ZOOKEEPER_LOCK");
    const char *session_ms = getenv ("ZOOKEEPER_SESSION_MS");
    int port;
    (void) locks;
    self->bare = kind && strcmp (kind, "bare") == 0;
    for (int i = 0; (port = peer_port (where, i)) > 0; i++) {
        size_t size = strlen (self->hosts);
        snprintf (self->hosts + size, sizeof self->hosts - size,
                  "%s127.0.0.1:%d", i ? "," : "", port);
    }
    zoo_set_debug_level (0); /* says nothing: peer_lost () does */
    zoo_deterministic_conn_order (1);
    self->zookeeper = zookeeper_init (
        self->hosts, NULL,
        session_ms ? (int) strtol (session_ms, NULL, 10) : SESSION_MS, NULL,
        NULL, 0);
    if (!self->zookeeper) {
        peer_die ("out of memory");
    }
    connect_client (self);
    return self;
}

void
client_destroy (peer_client **self)
{
    zookeeper_close ((*self)->zookeeper);
    lk_free (*self);
    *self = NULL;
}
