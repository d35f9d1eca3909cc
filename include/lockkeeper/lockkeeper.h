/*  lockkeeper.h - locks for applications
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Shortest use:
 *
 *      lk_session *session = lk_session_new (NULL);
 *      lk_lock *lock = NULL;
 *      if (lk_lock_wait (session, "backup", 10000, &lock) == LK_OK) {
 *          while (lk_lock_held (lock) && more_to_do ()) { ... }
 *          lk_lock_release (&lock);
 *      }
 *      lk_session_destroy (&session);
 *
 *  A session and its locks belong to one thread, and to one process: open it
 *  after fork (2). It has a thread of libzmq's, which calls nothing of yours.
 *  Times are milliseconds of the host's boot clock. Functions that return
 *  lk_err change nothing when they fail; lk_session_problem () tells the last
 *  failure in a sentence.
 *
 *  Requests are repeated until they are answered, and the session finds a
 *  router or lock service again that was restarted; all that an application
 *  has to watch for is lk_lock_held (), or LK_EVENT_LOST.
 */

#ifndef LOCKKEEPER_LOCKKEEPER_H
#define LOCKKEEPER_LOCKKEEPER_H

#include <lockkeeper/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LK_OBJECT_LEN_MAX 4096 /* bytes of a lock's name */
#define LK_FOREVER (-1)        /* as a wait: no limit */

typedef struct lk_session lk_session;
typedef struct lk_lock lk_lock;

/*  -------------------------------------------------------- sessions */

typedef struct {
    const char *endpoint; /* NULL: $LOCKKEEPER_ENDPOINT, then the host's
                             ipc:///run/lockkeeper/router */
    const char *name;     /* shown to others, with '_' for what no name of a
                             service has; NULL: the program's name */
    int connect_ms;       /* how long to wait for the router; 0: 5000 */
} lk_session_options;

/*  Attaches to this host's router, waiting for it if need be. NULL if there
 *  is none within connect_ms or it refuses; errno tells (ENOENT, ECONNREFUSED,
 *  ETIMEDOUT, EACCES; EINVAL: the endpoint makes no sense, or the router
 *  refused; or what else the system says). */
lk_session *lk_session_new (const lk_session_options *options);

/*  Gives back all locks and leaves; its locks are freed, too. Waits for the
 *  lock service for up to a second. NULL-safe; sets the pointer to NULL. */
void lk_session_destroy (lk_session **self_p);

/*  The last failure in a sentence; empty if there was none. Belongs to the
 *  session and is replaced by the next failure. */
const char *lk_session_problem (const lk_session *self);

/*  The name of this host, as its router calls it. Belongs to the session. */
const char *lk_session_host (const lk_session *self);

/*  For programs with a loop of their own: a descriptor for poll(2) or
 *  epoll(7), which stays the same, and how long to sleep on it at most (ms;
 *  -1: as long as you like). Ask for the timeout right before sleeping. When
 *  the descriptor is readable or the timeout is over, call lk_session_poll
 *  (session, 0, &event) until it says LK_EVENT_NONE. */
int lk_session_fd (const lk_session *self);
int lk_session_timeout (const lk_session *self);

/*  -------------------------------------------------------- events */

typedef enum {
    LK_EVENT_NONE,
    LK_EVENT_GRANTED, /* the lock is held */
    LK_EVENT_FAILED,  /* it is not, and why */
    LK_EVENT_LOST,    /* it was held and is no more, and why; told once */
    LK_EVENT_RELEASED /* the release that was asked for is done */
} lk_event_kind;

typedef struct {
    lk_event_kind kind;
    lk_lock *lock; /* valid until lk_lock_release or _forget */
    lk_err error;  /* of FAILED and LOST */
} lk_lock_event;

/*  Does what is to do and takes the next event; waits for it at most
 *  wait_ms (0: not at all, LK_FOREVER). Returns the event's kind. Signals do
 *  not end the wait. */
lk_event_kind lk_session_poll (lk_session *self, int wait_ms,
                               lk_lock_event *event);

/*  -------------------------------------------------------- locks */

typedef struct {
    int64_t wait_ms;     /* 0: not queued, LK_FOREVER */
    int64_t duration_ms; /* 0: no limit */
} lk_lock_options;

/*  Asks for an exclusive lock and returns at once; GRANTED or FAILED follows.
 *  NULL options: wait for ever, no limit of duration. `object` is `len`
 *  bytes of UTF-8 text without NUL, copied. FAILED comes at the latest 5 s
 *  after the wait is over, even if nobody answers. LK_INVALID: the name or a
 *  time makes no sense. LK_REFUSED: the router refused us for good.
 *
 *  When a duration is over the lock is LOST with LK_TIMEDOUT; nobody else
 *  gets it until it is released (or forgotten), or a grace is over, too: stop
 *  your work, then release. */
lk_err lk_lock_request (lk_session *self, const char *object, size_t len,
                        const lk_lock_options *options, lk_lock **lock_p);

/*  The same and waits, at most wait_ms (0: not queued, LK_FOREVER) and the 5 s:
 *  LK_OK and the lock; or, without a lock, why not: LK_FULL (wait_ms is 0 and
 *  somebody holds it), LK_TIMEDOUT, or what else error.h has. GRANTED and
 *  FAILED are not told as events then; those of other locks are kept for
 *  later. */
lk_err lk_lock_wait (lk_session *self, const char *object, int64_t wait_ms,
                     lk_lock **lock_p);

/*  Whether this process may still act as the holder, by the host's own
 *  clock: false as soon as the lease of the host or the duration is over,
 *  even if nobody could tell us. Cheap: ask it often. */
bool lk_lock_held (const lk_lock *self);

/*  The fencing token: grows with every grant of the object. 0 if not held
 *  yet. Give it to whatever the lock protects. */
uint64_t lk_lock_token (const lk_lock *self);

/*  The unlock key: who has it may unlock, from anywhere. 0 if not held yet. */
uint64_t lk_lock_key (const lk_lock *self);

/*  Milliseconds until the lock ends by its duration; -1: no limit. */
int64_t lk_lock_left (const lk_lock *self);

/*  The lock's name, with a NUL behind it. Belongs to the lock. */
const char *lk_lock_object (const lk_lock *self);

/*  Your own pointer, for finding your way back from an event. */
void lk_lock_set_user (lk_lock *self, void *user);
void *lk_lock_user (const lk_lock *self);

/*  Gives the lock back (or takes back the request), waits until the leaders
 *  have it in writing, frees it and sets the pointer to NULL. LK_OK, also if
 *  it was lost or failed before; or LK_TIMEDOUT if nobody confirmed within
 *  5 s: it is given back all the same, while the session lasts by asking on,
 *  else it may take until the end of the host's lease. NULL-safe. */
lk_err lk_lock_release (lk_lock **self_p);

/*  The same without waiting: always LK_OK, and RELEASED follows, once; then
 *  call lk_lock_forget. */
lk_err lk_lock_release_start (lk_lock *self);

/*  Frees a lock that failed, was lost or released; its events go, too. Any
 *  other is given back unseen. NULL-safe; sets the pointer to NULL. */
void lk_lock_forget (lk_lock **self_p);

/*  Releases a lock that somebody else holds, with its key, from any host of
 *  the cluster. LK_DENIED if the key is not the holder's, LK_UNKNOWN if nobody
 *  holds it, LK_INVALID if the name makes no sense, LK_TIMEDOUT if nobody
 *  answers within wait_ms: it may still happen then. */
lk_err lk_session_unlock (lk_session *self, const char *object, uint64_t key,
                          int64_t wait_ms);

/*  The library's version, "0.1.0". Static. */
const char *lk_version (void);

#ifdef __cplusplus
}
#endif

#endif
