/*  sessions.h - many sessions of one process
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each is served when it has something to hear, or to say: so one thread keeps
 *  all of their leases.
 */

#ifndef LK_SESSIONS_H
#define LK_SESSIONS_H

#include <lockkeeper/lockkeeper.h>

typedef struct {
    lk_session *session;
    lk_lock *lock; /* the caller's */
} lk_sessions_member;

typedef struct {
    lk_sessions_member *member;
    size_t count;
    int epoll_fd;
    int64_t look_ms;
    void (*event) (void *user, size_t place, const lk_lock_event *event);
    void *user;
} lk_sessions;

/*  Opens so many by that client file. What fails ends the program. */
void lk_sessions_open (lk_sessions *self, size_t count, const char *file);

/*  For a moment: tells `event`, if there is one, of all that comes. */
void lk_sessions_serve (lk_sessions *self);

/*  Ends all of them. */
void lk_sessions_close (lk_sessions *self);

/*  A session by the router at `endpoint`, or by a client file. */
lk_session *lk_sessions_begin (const char *endpoint, const char *file);

_Noreturn void lk_sessions_die (const char *what, const lk_session *session);

#endif
