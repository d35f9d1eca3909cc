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
 *  after fork (2). It has no thread of its own.
 *  Times are milliseconds of the host's boot clock. Functions that return
 *  lk_err change nothing when they fail; lk_session_problem () tells the last
 *  failure in a sentence.
 *
 *  Requests are repeated until they are answered, and the session finds a
 *  router or lock service again that was restarted; all that an application
 *  has to watch for is lk_lock_held (), or LK_EVENT_LOST.
 *
 *  Names of locks are bytes, 1 to LK_OBJECT_LEN_MAX of them, of any value;
 *  where only a pointer is taken it is a text up to its NUL.
 */

#ifndef LOCKKEEPER_LOCKKEEPER_H
#define LOCKKEEPER_LOCKKEEPER_H

#include <lockkeeper/error.h>
#include <lockkeeper/mode.h>
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
    const char *endpoint; /* NULL: $LOCKKEEPER_ENDPOINT, then that of the
                             host's lockkeeper.conf(5); or several,
                             "ipc://PATH,ipc://PATH", tried in turn. With a
                             client file: NULL, or "tcp://HOST:PORT,..." in
                             place of the servers that it has */
    const char *name;     /* shown to others, with '_' for what no name of a
                             service has; NULL: the program's name */
    int connect_ms;       /* how long to wait for the router; 0: 5000 */
    const char *client;   /* a client file, on a machine without a router: the
                             servers that it names are used, one after the
                             other. NULL: $LOCKKEEPER_CLIENT, unless `endpoint`
                             is one of this host; if that is empty, too, this
                             host's router is used */
} lk_session_options;

/*  Attaches to this host's router, waiting for it if need be. NULL if there
 *  is none within connect_ms or it refuses; errno tells (ENOENT, ECONNREFUSED,
 *  ETIMEDOUT, EACCES; EINVAL: the endpoint or the client file makes no sense,
 *  or the router refused; EDQUOT: the zone may have no more sessions; or what
 *  else the system says). */
lk_session *lk_session_new (const lk_session_options *options);

/*  Gives back all locks but static ones that are held, and leaves; its locks
 *  are freed, too. Waits for the lock service for up to a second. NULL-safe;
 *  sets the pointer to NULL. */
void lk_session_destroy (lk_session **self_p);

/*  The last failure in a sentence; empty if there was none. Belongs to the
 *  session and is replaced by the next failure. Of NULL: why this thread's last
 *  lk_session_new failed, with all endpoints or servers that were tried. */
const char *lk_session_problem (const lk_session *self);

/*  The name of this host, as its router calls it; with a client file: of the
 *  server in use. Belongs to the session. */
const char *lk_session_host (const lk_session *self);

/*  What this session asks for from now on is shown as a request of the process
 *  `pid` of this host, for which this one holds locks; 0: of this one. */
void lk_session_act_for (lk_session *self, int64_t pid);

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
    LK_EVENT_GRANTED,   /* the lock is held */
    LK_EVENT_FAILED,    /* it is not, and why */
    LK_EVENT_LOST,      /* it was held and is no more, and why; told once */
    LK_EVENT_RELEASED,  /* the release that was asked for is done */
    LK_EVENT_CHANGED,   /* it is of the type that was asked for */
    LK_EVENT_UNCHANGED, /* it is not, and why; still held as it was */
    LK_EVENT_JEOPARDY,  /* still held, but may soon be lost: come to an end */
    LK_EVENT_SAFE       /* that is over */
} lk_event_kind;

typedef struct {
    lk_event_kind kind;
    lk_lock *lock; /* valid until lk_lock_release or _forget */
    lk_err error;  /* of FAILED, LOST and UNCHANGED; of RELEASED: as
                      lk_lock_release returns it */
} lk_lock_event;

/*  Does what is to do and takes the next event; waits for it at most
 *  wait_ms (0: not at all, LK_FOREVER). Returns the event's kind. Signals do
 *  not end the wait. */
lk_event_kind lk_session_poll (lk_session *self, int wait_ms,
                               lk_lock_event *event);

/*  -------------------------------------------------------- asking */

/*  How a lock is wanted. All zeroes is an exclusive lock without limit of
 *  duration for which we do not want to wait. In place of a NULL pointer the
 *  same is asked for, but we wait for ever. */
typedef struct {
    int64_t wait_ms;     /* 0: not queued, LK_FOREVER */
    int64_t duration_ms; /* 0: no limit */
    lk_lock_mode mode;   /* exclusive, shared, semaphore; see mode.h */
    const char *context; /* a name of the same bytes in another context is
                            another lock; up to 255 bytes of UTF-8. NULL: "" */
    int64_t linger_ms;   /* kept for so long when this process ends, unless it
                            gave it back; 0: not at all */
    bool reentrant;      /* what this session has asked for already, with the
                            same name, context and type, is counted up and given
                            once more; each of them is to be released. Wait,
                            duration and all else are those of the first one */
    uint64_t key;        /* takes over the lock of that key which lingers on
                            this host; 0: none; not with a client file */
    bool guarded;        /* for who ends what it does by force, and has a second
                            process for that which watches the lease page
                            (`lockkeeper run`): the lock is over lk_lock_spare
                            ahead of the end of the lease; and who takes it away
                            waits for a host lease more, should this process not
                            answer */
} lk_lock_options;

/*  Asks for a lock and returns at once; GRANTED or FAILED follows. `object` is
 *  its name: `len` bytes of any value, 1 to 4096, copied. FAILED comes at the
 *  latest 5 s after the wait is over, even if nobody answers. LK_INVALID: the
 *  name or the options make no sense. LK_REFUSED: the router refused us for
 *  good. LK_CREDENTIAL: servers refuse us until there is another credential;
 *  FAILED comes with it, too, as soon as that is known. Here and below *lock_p
 *  is NULL after anything but LK_OK.
 *
 *  While it is held the host prolongs it by itself, without end: nothing is to
 *  be renewed. When a duration is over the lock is LOST with LK_TIMEDOUT;
 *  nobody else gets it until it is released (or forgotten), or a grace is
 *  over, too: stop your work, then release. */
lk_err lk_lock_request (lk_session *self, const char *object, size_t len,
                        const lk_lock_options *options, lk_lock **lock_p);

/*  The same and waits, at most options->wait_ms and the 5 s: LK_OK and the
 *  lock; or, without a lock, why not: LK_FULL (we did not want to wait, and it
 *  is not free), LK_TIMEDOUT, or what else error.h has. GRANTED and FAILED are
 *  not told as events then; those of other locks are kept for later. */
lk_err lk_lock_acquire (lk_session *self, const char *object, size_t len,
                        const lk_lock_options *options, lk_lock **lock_p);

/*  The same for an exclusive lock, with a text as its name. */
lk_err lk_lock_wait (lk_session *self, const char *object, int64_t wait_ms,
                     lk_lock **lock_p);

/*  Bytes that name a lock. */
typedef struct {
    const char *object;
    size_t len; /* 0: up to the NUL */
} lk_object_name;

/*  Several locks, all or nothing, as one lk_lock: held when all of them are,
 *  lost when one is. Whatever the order of the names, sets do not wait for
 *  each other in a circle. `count` is 1 to LK_SET_MAX, and no name is there
 *  twice. The options hold for all; lenient, static, quiet_ms, reentrant
 *  and key are not for sets. One that lingers is taken over by nobody. */
lk_err lk_lock_request_all (lk_session *self, const lk_object_name *names,
                            size_t count, const lk_lock_options *options,
                            lk_lock **lock_p);
lk_err lk_lock_acquire_all (lk_session *self, const lk_object_name *names,
                            size_t count, const lk_lock_options *options,
                            lk_lock **lock_p);

/*  -------------------------------------------------------- holding */

/*  Whether this process may still act as the holder, by the host's own
 *  clock: false as soon as the lease of the host or the duration is over,
 *  even if nobody could tell us. Takes what has arrived, without waiting for
 *  more, so that a loss is seen here although nobody polls; its event is told
 *  all the same. Cheap: ask it often. A static lock needs no lease; a lenient
 *  one no duration. False in a child of the session's process. */
bool lk_lock_held (const lk_lock *self);

/*  Until when that is so if nobody is heard any more (CLOCK_BOOTTIME, ms);
 *  while all is well it moves on. 0: it is not held; INT64_MAX: no limit. A
 *  child of the session's process may ask it, too: it reads the lease that the
 *  lock had at the fork. */
int64_t lk_lock_until (const lk_lock *self);

/*  How long a guarded holder has to stop what it does, ms, from the end of the
 *  lock on (lk_lock_until), or from when it is told that it is lost: that long
 *  nobody else gets it. Of any other: how long before the end of the lease it
 *  has to begin, to have as much. Stays what it was when the lock is lost. */
int64_t lk_lock_spare (const lk_lock *self);

/*  The lease page that it is held by, and the session there, for a process of
 *  yours that is to look for itself: lockkeeper-protocol(7), 7.2.
 *  They are others when another lock service goes on with the lock. NULL: it is
 *  not held, or static, or had by a client file: a child of this process can
 *  ask lk_lock_until then. Belongs to the lock. */
const char *lk_lock_lease_page (const lk_lock *self, uint64_t *session);

/*  The fencing token: grows with every grant of the object (shared ones that
 *  are granted together have the same), and when a shared lock becomes
 *  exclusive. 0 if not held yet. Give it to whatever the lock protects. Of a
 *  set: that of its first name. */
uint64_t lk_lock_token (const lk_lock *self);

/*  The unlock key: who has it may unlock, from anywhere. 0 if not held yet. Of
 *  a set: that of its first name, which ends all of it. */
uint64_t lk_lock_key (const lk_lock *self);

/*  Milliseconds until the lock ends by its duration; -1: no limit. */
int64_t lk_lock_left (const lk_lock *self);

/*  As which it is held; while it is not: as which it was asked for. */
lk_lock_type lk_lock_get_type (const lk_lock *self);

/*  By how many it was held when it was granted, itself too: which unit of a
 *  semaphore it is, if none was given back meanwhile. 0 if not held yet. */
uint32_t lk_lock_ordinal (const lk_lock *self);

/*  Whether JEOPARDY was told and SAFE was not. */
bool lk_lock_in_jeopardy (const lk_lock *self);

/*  What the operator said who took it away by force; else "". Belongs to the
 *  lock. */
const char *lk_lock_reason (const lk_lock *self);

/*  The lock's name, with a NUL behind it. Belongs to the lock. Of a set: its
 *  first name. */
const char *lk_lock_object (const lk_lock *self);

/*  How many names the lock has: 1, but for sets. And each of them, in the
 *  order of asking, with its length, its fencing token and its key; NULL and 0
 *  behind the last one. `len_p` may be NULL. */
size_t lk_lock_count (const lk_lock *self);
const char *lk_lock_object_at (const lk_lock *self, size_t at, size_t *len_p);
uint64_t lk_lock_token_at (const lk_lock *self, size_t at);
uint64_t lk_lock_key_at (const lk_lock *self, size_t at);

/*  Your own pointer, for finding your way back from an event. */
void lk_lock_set_user (lk_lock *self, void *user);
void *lk_lock_user (const lk_lock *self);

/*  -------------------------------------------------------- changing */

/*  Makes a shared lock exclusive, or an exclusive one shared, without giving
 *  it back; waits at most wait_ms (0: not queued, LK_FOREVER). LK_OK; or why
 *  not, while the lock is still held as it was: LK_DEADLOCK (another holder
 *  waits to be exclusive already: release), LK_FULL, LK_TIMEDOUT. LK_INVALID:
 *  it was never held, or is a set or semaphore; or static, had by a client
 *  file, and the server that granted it is in use no more. If it was or is lost
 *  the reason is returned, and told as an event, too.
 *
 *  Who waits to be exclusive is served before all who wait for the lock, and
 *  keeps its share meanwhile. From asking for it to be shared on it counts as
 *  such. */
lk_err lk_lock_change (lk_lock *self, lk_lock_type type, int64_t wait_ms);

/*  The same without waiting: CHANGED or UNCHANGED follows. It takes the place
 *  of a change that is still open, of which nothing is told then. */
lk_err lk_lock_change_start (lk_lock *self, lk_lock_type type, int64_t wait_ms);

/*  -------------------------------------------------------- giving back */

/*  Gives the lock back (or takes back the request), waits until the leaders
 *  have it in writing, frees it and sets the pointer to NULL. LK_OK: it was
 *  held until now, or never. LK_LATE: its duration was over before. If it was
 *  lost for another reason, that one (LK_FORCED, LK_RELEASED, LK_ISOLATED ...),
 *  whether or not LOST was told before: what was done under it may have been
 *  done by another one as well. LK_TIMEDOUT if nobody confirmed within 5 s: it
 *  is given back all the same, while the session lasts by asking on, else it
 *  may take until the end of the host's lease. NULL-safe. */
lk_err lk_lock_release (lk_lock **self_p);

/*  The same without waiting: always LK_OK, and RELEASED follows, once; then
 *  call lk_lock_forget. */
lk_err lk_lock_release_start (lk_lock *self);

/*  Frees a lock that failed, was lost or released; its events go, too. Any
 *  other is given back unseen. NULL-safe; sets the pointer to NULL. */
void lk_lock_forget (lk_lock **self_p);

/*  Frees a lock that is static, or lingers, and leaves it held: a static one,
 *  which ending the session leaves, too, is ended only by its key, an operator
 *  or its duration from now on; the other one after linger_ms from the end of
 *  the session. LK_INVALID: it is neither, was never held, or was requested
 *  more than once. If it was lost, the reason. */
lk_err lk_lock_leave (lk_lock **self_p);

/*  -------------------------------------------------------- locks of others */

/*  A lock as others see it. */
typedef struct {
    const char *object;
    size_t len;          /* 0: up to the NUL */
    const char *context; /* NULL: "" */
} lk_lock_name;

/*  A holder that was asked to stop. */
typedef struct {
    const char *host;
    int64_t left_ms;   /* it has stopped then at the latest; -1: not known */
    int64_t silent_ms; /* nothing was heard of its host for so long, and nobody
                          can ask it; -1: it is heard */
} lk_stopping;

/*  How a lock is taken from its holder. All zeroes, as in place of a NULL
 *  pointer: the holder is told that the lock is lost, and nobody else gets it
 *  before the holder has given it back, or had a quarter of a host lease to
 *  stop what it does; a guarded one that does not answer a host lease more. */
typedef struct {
    bool now;       /* the next one may have it at once, beside a holder that
                           still believes in it */
    uint64_t token; /* by force: from the one that has it; 0: from all */
    const char *reason; /* by force: up to LK_REASON_MAX bytes of text that the
                           holders see; NULL: none */
    void (*stopping) (void *user,
                      const lk_stopping *what); /* called now and then
                           while we wait; NULL */
    void *user;
} lk_taking;

/*  Releases a lock that somebody else holds, with its key, from any host of
 *  the cluster. LK_DENIED if the key is not the holder's, or who asks has no
 *  role for that, as lk_session_problem tells then; LK_UNKNOWN if nobody holds
 *  it, LK_INVALID if the name makes no sense, LK_TIMEDOUT if it is not done
 *  within wait_ms: it may still happen then. */
lk_err lk_session_unlock (lk_session *self, const lk_lock_name *name,
                          uint64_t key, const lk_taking *how, int64_t wait_ms);

/*  Takes a lock away from its holders, as an operator. LK_OK when the last one
 *  is gone; LK_UNKNOWN if there is none, LK_DENIED if there are none with that
 *  token; LK_DENIED as to roles, LK_INVALID, LK_TIMEDOUT as above. */
lk_err lk_session_force (lk_session *self, const lk_lock_name *name,
                         const lk_taking *how, int64_t wait_ms);

/*  For who guards a resource: whether a lock is held with that fencing token
 *  now. LK_OK; LK_DENIED if not. `newest_p`, which may be NULL, gets the
 *  highest token that is held, 0 if none is. LK_INVALID, LK_TIMEDOUT as
 *  above. */
lk_err lk_session_check (lk_session *self, const lk_lock_name *name,
                         uint64_t token, int64_t wait_ms, uint64_t *newest_p);

/*  The library's version, "0.1.0". Static. */
const char *lk_version (void);

#ifdef __cplusplus
}
#endif

#endif
