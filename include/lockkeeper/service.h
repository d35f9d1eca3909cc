/*  service.h - how a service attaches to its host's router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A service is a set of callbacks and knows no socket. What runs it, a
 *  process of its own (lk_service_run) or the router's own loop (plugin.h),
 *  calls them from one thread, one at a time; what is NULL is not called.
 *  plugins/greeter is a small example with comments; plugins/lock is the
 *  large one.
 */

#ifndef LOCKKEEPER_SERVICE_H
#define LOCKKEEPER_SERVICE_H

#include <lockkeeper/message.h>

#ifdef __cplusplus
extern "C" {
#endif

/*  The service's way to its router; given to `attach`, the same each time,
 *  valid until lk_service_run returns, or a plug-in is destroyed. */
typedef struct lk_bus lk_bus;

typedef struct {
    const char *name;    /* as in name@host; one per host */
    const char *version; /* shown by STATUS, up to 31 bytes; NULL: "" */

    /*  Broadcast commands and cluster events to be given, NULL at the end
     *  (up to 64, those of lk_bus_subscribe included: more asserts):
     *  CLUSTERUP CLUSTERDOWN CLUSTERCOMPLETE CLUSTERINCOMPLETE HANGUP
     *  DISCONNECTED NEWREMOTECONNECTION STATUS, or any of your own. */
    const char *const *subscriptions;

    /*  READY came from the router: the host's name is known, send away.
     *  Called again after the router was lost and found. */
    void (*attach) (void *self, lk_bus *bus);

    /*  A message for this service (borrowed for the call). Another host's
     *  router is one more sender: what it answers, and its
     *  TRANSMISSIONREPORT, come here; what it says of this host counts for
     *  nothing. */
    void (*message) (void *self, const lk_message *message);

    /*  A message from the router of this host (borrowed for the call): a
     *  cluster event, the answer to what was sent to `router@.`, or
     *  TRANSMISSIONREPORT about a message that it could not deliver. ALIVE
     *  comes while another process asks for this service's name, ten times a
     *  second, and needs no answer: leave what you do not know alone. */
    void (*event) (void *self, const lk_message *event);

    /*  The time of lk_bus_wake_at has come; also after a message that
     *  changed it to the past. */
    void (*timer) (void *self);

    /*  All that this wake-up brought was given: what is sent now leaves along
     *  with what was sent before. At the end of each wake-up, whether or not it
     *  brought anything (in a router maybe more than once), and not before the
     *  first attach. */
    void (*settle) (void *self);

    /*  Files that it has read may have changed: SIGHUP, or the router that
     *  hosts it reads its configuration again. */
    void (*reload) (void *self);

    /*  The service is to stop ("stop", "signal"; "interrupt": by SIGINT, which
     *  says that it will not be back soon), and has something to do before:
     *  it goes on, and calls lk_bus_stop itself when that is done. Told so once
     *  more it has no time left: detach follows. NULL: detach, at once. Not
     *  called before the first attach. */
    void (*leave) (void *self, const char *reason);

    /*  The router is gone ("router lost"), or the service has to stop ("stop",
     *  "signal", "interrupt", "refused: ..."; also while there is no router).
     *  The last messages sent here still go out. Not called before the first
     *  attach, nor after lk_bus_stop. */
    void (*detach) (void *self, const char *reason);
} lk_service;

/*  Sends and destroys *message_p (destroys it also when it fails); the
 *  sender's address is filled in. What one callback sends leaves together
 *  when it returns. LK_DISCONNECTED if there is no router now, LK_OVERLOADED
 *  if its queue is full or the body over LK_BODY_SIZE_MAX: nothing was sent
 *  then. */
lk_err lk_bus_send (lk_bus *self, lk_message **message_p);

/*  Subscribes to one more broadcast command, for good. */
void lk_bus_subscribe (lk_bus *self, const char *command);

/*  The name of this host ("" before the first attach), and of this service.
 *  They belong to the bus. */
const char *lk_bus_host (const lk_bus *self);
const char *lk_bus_service (const lk_bus *self);

/*  How other hosts' routers reach this host's, "10.0.0.1:4040"; "" if the
 *  router did not say. */
const char *lk_bus_address (const lk_bus *self);

/*  Milliseconds of the host's boot clock; runs while it is suspended. */
int64_t lk_bus_now (const lk_bus *self);

/*  Asks for one call of `timer` at that time (boot clock, ms); replaces the
 *  time asked for before. INT64_MAX: none. */
void lk_bus_wake_at (lk_bus *self, int64_t when_ms);

/*  Calls `fn` whenever the descriptor is readable, as another callback of the
 *  service, until lk_bus_unwatch, which comes before it is closed. */
void lk_bus_watch (lk_bus *self, int fd, void (*fn) (void *user), void *user);
void lk_bus_unwatch (lk_bus *self, int fd);

/*  Ends lk_service_run after this callback; `exit_code` is what it returns. The
 *  router that hosts it goes on, and logs that code. */
void lk_bus_stop (lk_bus *self, int exit_code);

/*  The exit code of a service that has to begin anew, with what it has written:
 *  its process does that, or the router that hosts it. */
#define LK_SERVICE_AGAIN 75

typedef struct {
    const char *endpoint; /* the router's; NULL: the host's
                             ipc:///run/lockkeeper/router */
    const char *program;  /* for the log; NULL: "lockkeeper" */
} lk_service_options;

/*  Runs one service as this process until lk_bus_stop, SIGTERM, SIGINT, or
 *  STOP from the router of this host; from anybody else that is answered with
 *  INVALID, and no callback sees it. Waits for a router that is not there yet
 *  and attaches again to one that comes back. Takes these signals and SIGHUP,
 *  for `reload`, and ignores SIGPIPE: call it before there are threads.
 *  Returns the exit code: that of lk_bus_stop; 0 after a signal or STOP; 1,
 *  and why in the log, if endpoint or name make no sense or the router
 *  refuses. */
int lk_service_run (const lk_service *service, void *self,
                    const lk_service_options *options);

#ifdef __cplusplus
}
#endif

#endif
