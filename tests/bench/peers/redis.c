/*  redis.c - the lock of Redis on one node, and Redlock on several
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Locked is who did SET NAME TOKEN NX PX on most of the nodes, asked in
 *  parallel; a script deletes the name where it has that token. On one node
 *  that is the lock as everybody does it. Who does not get it tries again:
 *  there is no queue.
 */

#include "peer.h"
#include "util/alloc.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>

#define LEASE "30000"
#define SHA_SIZE 41
#define PAUSE_US 100
#define PAUSE_DOUBLINGS 5

static const char release_script[] =
    "if redis.call('get', KEYS[1]) == ARGV[1] then "
    "return redis.call('del', KEYS[1]) else return 0 end";

/*  An operation whose answer is awaited; a connection answers in order. */
typedef struct {
    peer_lock *lock;
    bool is_lock;
} call;

typedef struct {
    redisContext *redis;
    call *calls; /* a ring */
    unsigned first;
    unsigned next;
} node;

/*  The nodes' answers on one lock. */
typedef struct {
    int asked; /* that have answered LOCK */
    int yes;
    int released; /* that have answered UNLOCK */
    int deleted;
} votes;

struct peer_client {
    node node[PEER_SOCKETS];
    int nodes;
    unsigned ring_size;
    votes *votes;
    char sha[SHA_SIZE];
    uint64_t tokens;
};

static void
connect_node (peer_client *self, int port)
{
    node *to = &self->node[self->nodes++];
    to->redis = redisConnect ("127.0.0.1", port);
    to->calls = lk_alloc (self->ring_size * sizeof *to->calls);
    if (!to->redis || to->redis->err) {
        peer_die ("no Redis at port %d", port);
    }
    redisReply *reply =
        redisCommand (to->redis, "SCRIPT LOAD %s", release_script);
    if (!reply || reply->type != REDIS_REPLY_STRING) {
        peer_die ("Redis takes no script");
    }
    snprintf (self->sha, sizeof self->sha, "%s", reply->str);
    freeReplyObject (reply);
}

peer_client *
client_new (const char *where, int locks)
{
    static uint64_t clients;
    peer_client *self = lk_alloc (sizeof *self);
    self->ring_size = 2 * (unsigned) locks + 1; /* LOCK and UNLOCK of each */
    self->votes = lk_alloc ((size_t) locks * sizeof *self->votes);
    self->tokens = ++clients << 32;
    for (int i = 0; i < PEER_SOCKETS && peer_port (where, i) > 0; i++) {
        connect_node (self, peer_port (where, i));
    }
    return self;
}

void
client_destroy (peer_client **self)
{
    for (int i = 0; i < (*self)->nodes; i++) {
        redisFree ((*self)->node[i].redis);
        lk_free ((*self)->node[i].calls);
    }
    lk_free ((*self)->votes);
    lk_free (*self);
    *self = NULL;
}

static int
majority (const peer_client *self)
{
    return self->nodes / 2 + 1;
}

static void
append (peer_client *self, call what, int argc, const char **argv)
{
    for (int i = 0; i < self->nodes; i++) {
        node *to = &self->node[i];
        redisAppendCommandArgv (to->redis, argc, argv, NULL);
        to->calls[to->next] = what;
        to->next = (to->next + 1) % self->ring_size;
    }
}

void
client_lock (peer_client *self, peer_lock *lock)
{
    self->votes[lock->index] = (votes) {0};
    snprintf (lock->key, sizeof lock->key, "%016lx",
              (unsigned long) ++self->tokens);
    const char *argv[] = {"SET", lock->name, lock->key, "NX", "PX", LEASE};
    append (self, (call) {lock, true}, 6, argv);
}

void
client_unlock (peer_client *self, peer_lock *lock)
{
    const char *argv[] = {"EVALSHA", self->sha, "1", lock->name, lock->key};
    append (self, (call) {lock, false}, 5, argv);
}

/*  After a random time of up to 100 us, then twice that, up to 3 ms: so 8 and
 *  64 clients that want one name get about the most from it. */
static void
try_again (peer_lock *lock)
{
    peer_again (lock, random () % (PAUSE_US << lock->step));
    lock->step += lock->step < PAUSE_DOUBLINGS;
}

static void
lock_answered (peer_client *self, peer_lock *lock, bool yes)
{
    votes *v = &self->votes[lock->index];
    v->asked++;
    v->yes += yes;
    if (yes && v->yes == majority (self)) {
        peer_locked (lock);
    } else if (v->asked == self->nodes && v->yes == 0) {
        try_again (lock);
    } else if (v->asked == self->nodes && v->yes < majority (self)) {
        client_unlock (self, lock); /* gives back what these gave */
    }
}

static void
unlock_answered (peer_client *self, peer_lock *lock, bool yes)
{
    votes *v = &self->votes[lock->index];
    v->deleted += yes;
    if (++v->released < self->nodes) {
        return;
    }
    if (v->deleted < v->yes) {
        peer_die ("the lease of '%s' ran out", lock->name);
    }
    if (lock->held) {
        peer_unlocked (lock);
    } else {
        try_again (lock);
    }
}

void
client_prepare (peer_client *self, struct pollfd *sockets)
{
    for (int i = 0; i < self->nodes; i++) {
        int all = 0;
        while (!all) {
            if (redisBufferWrite (self->node[i].redis, &all) != REDIS_OK) {
                peer_die ("lost: Redis");
            }
        }
        sockets[i].fd = self->node[i].redis->fd;
        sockets[i].events = POLLIN;
    }
}

static void
read_node (peer_client *self, node *from)
{
    void *reply = NULL;
    if (redisBufferRead (from->redis) != REDIS_OK) {
        peer_die ("lost: Redis");
    }
    while (redisGetReplyFromReader (from->redis, &reply) == REDIS_OK && reply) {
        const redisReply *r = reply;
        const call *answered = &from->calls[from->first];
        from->first = (from->first + 1) % self->ring_size;
        if (r->type == REDIS_REPLY_ERROR) {
            peer_die ("Redis says '%s'", r->str);
        }
        if (answered->is_lock) {
            lock_answered (self, answered->lock, r->type == REDIS_REPLY_STATUS);
        } else {
            unlock_answered (self, answered->lock, r->integer == 1);
        }
        freeReplyObject (reply);
    }
}

void
client_read (peer_client *self, const struct pollfd *sockets)
{
    for (int i = 0; i < self->nodes; i++) {
        if (sockets[i].revents) {
            read_node (self, &self->node[i]);
        }
    }
}
