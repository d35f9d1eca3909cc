/*  postgresql.c - advisory locks of PostgreSQL
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Session locks, by statements that are prepared once. In libpq's pipeline
 *  mode, so that one connection has any number of them under way; a server's
 *  process does them one after the other.
 */

#include "peer.h"
#include "util/alloc.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

struct peer_client {
    PGconn *db;
    peer_lock **calls; /* whose answers are awaited, in their order: a ring */
    unsigned ring_size;
    unsigned first;
    unsigned next;
};

static void
prepare (PGconn *db, const char *name, const char *query)
{
    PGresult *result = PQprepare (db, name, query, 1, NULL);
    if (PQresultStatus (result) != PGRES_COMMAND_OK) {
        peer_die ("PostgreSQL says '%s'", PQerrorMessage (db));
    }
    PQclear (result);
}

/*  `where` is a port. */
peer_client *
client_new (const char *where, int locks)
{
    char options[128];
    peer_client *self = lk_alloc (sizeof *self);
    self->ring_size = (unsigned) locks + 1;
    self->calls = lk_alloc (self->ring_size * sizeof (peer_lock *));
    snprintf (options, sizeof options,
              "host=127.0.0.1 port=%d user=bench dbname=postgres "
              "sslmode=disable gssencmode=disable",
              peer_port (where, 0));
    self->db = PQconnectdb (options);
    if (PQstatus (self->db) != CONNECTION_OK) {
        peer_die ("PostgreSQL says '%s'", PQerrorMessage (self->db));
    }
    prepare (self->db, "lock",
             "SELECT pg_advisory_lock (hashtextextended ($1, 0))");
    prepare (self->db, "unlock",
             "SELECT pg_advisory_unlock (hashtextextended ($1, 0))");
    if (!PQenterPipelineMode (self->db)) {
        peer_die ("PostgreSQL has no pipeline");
    }
    return self;
}

void
client_destroy (peer_client **self)
{
    PQfinish ((*self)->db);
    lk_free ((*self)->calls);
    lk_free (*self);
    *self = NULL;
}

static void
send (peer_client *self, peer_lock *lock, const char *statement)
{
    const char *values[] = {lock->name};
    if (!PQsendQueryPrepared (self->db, statement, 1, values, NULL, NULL, 0)
        || !PQpipelineSync (self->db)) {
        peer_die ("PostgreSQL says '%s'", PQerrorMessage (self->db));
    }
    self->calls[self->next] = lock;
    self->next = (self->next + 1) % self->ring_size;
}

void
client_lock (peer_client *self, peer_lock *lock)
{
    send (self, lock, "lock");
}

void
client_unlock (peer_client *self, peer_lock *lock)
{
    send (self, lock, "unlock");
}

void
client_prepare (peer_client *self, struct pollfd *sockets)
{
    sockets[0].fd = PQsocket (self->db);
    sockets[0].events = POLLIN | (PQflush (self->db) == 1 ? POLLOUT : 0);
}

/*  One part of an answer: the row, its end, and what PQpipelineSync asks. */
static void
take (peer_client *self, const PGresult *result)
{
    peer_lock *lock = self->calls[self->first];
    switch (PQresultStatus (result)) {
    case PGRES_TUPLES_OK:
        if (lock->held && strcmp (PQgetvalue (result, 0, 0), "t") != 0) {
            peer_die ("PostgreSQL does not know that '%s' is held", lock->name);
        }
        break;
    case PGRES_PIPELINE_SYNC:
        self->first = (self->first + 1) % self->ring_size;
        (lock->held ? peer_unlocked : peer_locked) (lock);
        break;
    default:
        peer_die ("PostgreSQL says '%s'", PQresultErrorMessage (result));
    }
}

void
client_read (peer_client *self, const struct pollfd *sockets)
{
    if ((sockets[0].revents & ~POLLOUT) == 0) {
        return;
    }
    if (!PQconsumeInput (self->db)) {
        peer_die ("PostgreSQL says '%s'", PQerrorMessage (self->db));
    }
    while (self->first != self->next && !PQisBusy (self->db)) {
        PGresult *result = PQgetResult (self->db);
        if (result) {
            take (self, result);
            PQclear (result);
        }
    }
}
