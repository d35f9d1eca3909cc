/*  lockkeeper.c - ourselves, by the same loop and loads as the others
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  With liblockkeeper, as applications have it. `where` is ENDPOINT, or
 *  ENDPOINT,PLACE,COUNT: only names whose home is at that place of so many
 *  leaders.
 */

#include "peer.h"
#include "util/alloc.h"
#include "util/hash.h"

#include <lockkeeper/lockkeeper.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct peer_client {
    lk_session *session;
    lk_lock **held; /* of each lock, or asked for */
    uint64_t place;
    uint64_t places;
};

peer_client *
client_new (const char *where, int locks)
{
    char endpoint[128];
    peer_client *self = lk_alloc (sizeof *self);
    self->place = (uint64_t) peer_port (where, 1);
    self->places = (uint64_t) peer_port (where, 2);
    snprintf (endpoint, sizeof endpoint, "%.*s", (int) strcspn (where, ","),
              where);
    self->session = lk_session_new (
        &(lk_session_options) {.endpoint = endpoint, .name = "bench"});
    if (!self->session) {
        peer_die ("no lockkeeper at '%s'", endpoint);
    }
    self->held = lk_alloc ((size_t) locks * sizeof (lk_lock *));
    return self;
}

void
client_destroy (peer_client **self)
{
    lk_session_destroy (&(*self)->session);
    lk_free ((*self)->held);
    lk_free (*self);
    *self = NULL;
}

/*  The hash of zone NUL context NUL object tells the home. */
static bool
is_home (const peer_client *self, const char *name)
{
    char text[sizeof ((peer_lock *) NULL)->key + 2] = {0};
    size_t size = 2 + (size_t) snprintf (text + 2, sizeof text - 2, "%s", name);
    return self->places == 0
           || lk_hash64 (text, size) % self->places == self->place;
}

/*  The name, made longer until that is right; once. */
static void
make_name (const peer_client *self, peer_lock *lock)
{
    for (int i = 0; lock->key[0] == '\0' || !is_home (self, lock->key); i++) {
        snprintf (lock->key, sizeof lock->key, "%s-%d", lock->name, i);
    }
}

void
client_lock (peer_client *self, peer_lock *lock)
{
    lk_lock_options options = {.wait_ms = -1};
    make_name (self, lock);
    if (lk_lock_request (self->session, lock->key, strlen (lock->key), &options,
                         &self->held[lock->index])
        != LK_OK) {
        peer_die ("lockkeeper: %s", lk_session_problem (self->session));
    }
    lk_lock_set_user (self->held[lock->index], lock);
}

void
client_unlock (peer_client *self, peer_lock *lock)
{
    if (lk_lock_release_start (self->held[lock->index]) != LK_OK) {
        peer_die ("lockkeeper: %s", lk_session_problem (self->session));
    }
}

void
client_prepare (peer_client *self, struct pollfd *sockets)
{
    sockets[0].fd = lk_session_fd (self->session);
    sockets[0].events = POLLIN;
    if (lk_session_timeout (self->session) == 0) {
        client_read (self, sockets);
    }
}

/*  All that has come. */
void
client_read (peer_client *self, const struct pollfd *sockets)
{
    lk_lock_event event;
    lk_event_kind kind;
    (void) sockets;
    while ((kind = lk_session_poll (self->session, 0, &event))
           != LK_EVENT_NONE) {
        peer_lock *lock = lk_lock_user (event.lock);
        if (kind == LK_EVENT_GRANTED) {
            peer_locked (lock);
        } else if (kind == LK_EVENT_RELEASED) {
            lk_lock_forget (&self->held[lock->index]);
            peer_unlocked (lock);
        } else {
            peer_die ("lockkeeper: event %d", (int) kind);
        }
    }
}
