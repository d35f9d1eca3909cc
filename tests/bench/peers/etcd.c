/*  etcd.c - the lock service of etcd 3.4
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Debian has no C client, so the few messages are put together here. A client
 *  has one connection and one lease, for which it holds its locks. LOCK is one
 *  call of v3lockpb.Lock: the server makes the key, and waits for the keys
 *  before it on the client's behalf.
 *
 *  If `where` has more than one port, the client goes on with the next one
 *  when the connection breaks or an answer takes too long; by the lease the
 *  servers know what was done already.
 */

#include "grpc.h"
#include "lib/figures.h"
#include "peer.h"
#include "util/alloc.h"

#include <string.h>
#include <unistd.h>

#define LEASE_SECONDS 600
#define ANSWER_NS 100000000 /* later than that: the next port */
#define PAUSE_US 10000      /* after an error */

struct peer_client {
    const char *where;
    int at; /* which of the ports */
    bool lost;
    grpc *grpc;
    uint64_t lease;
    grpc_call lease_call;
    grpc_call *calls; /* one for each lock */
    int locks;
};

/*  ------------------------------------------------------------ protobuf */

static void
add_number (grpc_call *call, int field, uint64_t value)
{
    call->request[call->request_size++] = (uint8_t) (field << 3);
    for (; value > 127; value >>= 7) {
        call->request[call->request_size++] = (uint8_t) (value | 128);
    }
    call->request[call->request_size++] = (uint8_t) value;
}

/*  Of less than 128 bytes. */
static void
add_text (grpc_call *call, int field, const char *text)
{
    size_t size = strlen (text);
    if (size > 127) {
        peer_die ("'%s' is too long", text);
    }
    call->request[call->request_size++] = (uint8_t) (field << 3 | 2);
    call->request[call->request_size++] = (uint8_t) size;
    memcpy (call->request + call->request_size, text, size);
    call->request_size += size;
}

/*  The key in a LockResponse: field 2 behind the header, both short texts. */
static void
take_key (const grpc_call *call, peer_lock *lock)
{
    const uint8_t *at = call->reply + GRPC_HEAD;
    const uint8_t *end = call->reply + call->reply_size;
    while (end - at > 2 && at[0] != (2 << 3 | 2)) {
        at += 2 + at[1];
    }
    if (end - at <= 2 || at[1] > 127 || at[1] > end - at - 2) {
        peer_die ("etcd answers without a key");
    }
    memcpy (lock->key, at + 2, at[1]);
    lock->key[at[1]] = '\0';
}

/*  ------------------------------------------------------------ calls */

static void
on_done (void *owner, grpc_call *call)
{
    peer_lock *lock = call->user;
    (void) owner;
    if (call->reply_size == 0) {
        peer_lost ("etcd refuses it");
        if (lock) {
            peer_again (lock, PAUSE_US);
        }
    } else if (lock && lock->held) {
        peer_unlocked (lock);
    } else if (lock) {
        take_key (call, lock);
        peer_locked (lock);
    }
}

void
client_lock (peer_client *self, peer_lock *lock)
{
    grpc_call *call = &self->calls[lock->index];
    if (!self->grpc) {
        peer_again (lock, PAUSE_US);
        return;
    }
    call->user = lock;
    call->request_size = GRPC_HEAD;
    add_text (call, 1, lock->name);
    add_number (call, 2, self->lease);
    grpc_start (self->grpc, "/v3lockpb.Lock/Lock", call);
}

void
client_unlock (peer_client *self, peer_lock *lock)
{
    grpc_call *call = &self->calls[lock->index];
    if (!self->grpc) {
        peer_again (lock, PAUSE_US);
        return;
    }
    call->user = lock;
    call->request_size = GRPC_HEAD;
    add_text (call, 1, lock->key);
    grpc_start (self->grpc, "/v3lockpb.Lock/Unlock", call);
}

/*  ------------------------------------------------------------ connection */

/*  With the port where it is, or the one after that. */
static void
reconnect (peer_client *self)
{
    grpc_destroy (&self->grpc);
    for (int i = 0; i < self->locks; i++) {
        if (self->calls[i].open) {
            self->calls[i].open = false;
            peer_again (self->calls[i].user, 0);
        }
    }
    self->at = peer_port (self->where, self->at + 1) > 0 ? self->at + 1 : 0;
    self->grpc = grpc_new (peer_port (self->where, self->at), on_done, self);
    self->lost = !self->grpc;
}

/*  Many leases are asked for; the number of one is its client's choice. */
static void
get_lease (peer_client *self)
{
    static uint64_t leases;
    grpc_call *call = &self->lease_call;
    self->lease = ((uint64_t) getpid () << 32 | ++leases);
    call->request_size = GRPC_HEAD;
    add_number (call, 1, LEASE_SECONDS);
    add_number (call, 2, self->lease);
    grpc_start (self->grpc, "/etcdserverpb.Lease/LeaseGrant", call);
    while (call->open) {
        if (!grpc_send (self->grpc) || !grpc_read (self->grpc)) {
            peer_die ("lost: etcd");
        }
    }
    if (call->reply_size == 0) {
        peer_die ("etcd gives no lease");
    }
}

peer_client *
client_new (const char *where, int locks)
{
    peer_client *self = lk_alloc (sizeof *self);
    self->where = where;
    self->locks = locks;
    self->calls = lk_alloc ((size_t) locks * sizeof *self->calls);
    self->grpc = grpc_new (peer_port (where, 0), on_done, self);
    if (!self->grpc) {
        peer_die ("no etcd at port %d", peer_port (where, 0));
    }
    get_lease (self);
    return self;
}

void
client_destroy (peer_client **self)
{
    grpc_destroy (&(*self)->grpc);
    lk_free ((*self)->calls);
    lk_free (*self);
    *self = NULL;
}

static bool
takes_too_long (const peer_client *self)
{
    int64_t now_ns = lk_figures_now_ns ();
    for (int i = 0; i < self->locks; i++) {
        const grpc_call *call = &self->calls[i];
        if (call->open && now_ns - call->started_ns > ANSWER_NS) {
            return true;
        }
    }
    return false;
}

void
client_prepare (peer_client *self, struct pollfd *sockets)
{
    bool others = peer_port (self->where, 1) > 0;
    if (self->lost || (others && takes_too_long (self))) {
        peer_lost ("etcd");
        reconnect (self);
    }
    if (self->grpc && !grpc_send (self->grpc)) {
        self->lost = true;
    }
    sockets[0].fd = self->grpc ? grpc_socket (self->grpc) : -1;
    sockets[0].events = POLLIN;
}

void
client_read (peer_client *self, const struct pollfd *sockets)
{
    (void) sockets;
    if (!grpc_read (self->grpc)) {
        self->lost = true;
    }
}
