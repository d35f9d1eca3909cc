/*  sandbox.h - a whole cluster on this machine, in a throw-away directory
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *      sandbox.c  the verb, and what it waits for
 *      hosts.c    the daemons: ports, starting, stopping, readiness
 *      config.c   their configuration
 *      await.c    waits until locks can be had
 *      control.c  a socket by which `sandbox restart` asks for one
 *      sweep.c    a child that clears up even if we are killed
 *
 *  DIR/HOST/ has router (the ipc socket), lockkeeper.conf, lock.state,
 *  lock.lease, and router.log, lockd.log, router.pid, lockd.pid; no lockd.*
 *  if routers host their lock services.
 */

#ifndef LK_SANDBOX_H
#define LK_SANDBOX_H

#include "cli/watch.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define LK_SANDBOX_HOSTS_MAX 15
#define LK_SANDBOX_PATH_MAX 100 /* bytes of a socket's path: 107 at most */

typedef enum { LK_ROUTER, LK_LOCKD, LK_DAEMON_COUNT } lk_daemon;

typedef struct {
    char name[16]; /* h1 ... h15 */
    int port;
    pid_t pid[LK_DAEMON_COUNT]; /* 0: does not run */
    int ended[LK_DAEMON_COUNT]; /* its exit code, if that was not 0 */
} lk_sandbox_host;

typedef struct {
    char dir[LK_SANDBOX_PATH_MAX];
    char programs[400]; /* folder of the daemons, "" for PATH */
    size_t count;
    size_t members; /* so many of them, the first, have a genesis */
    lk_sandbox_host host[LK_SANDBOX_HOSTS_MAX];
    lk_watch watch;  /* other_fd: the control socket */
    int interrupted; /* the signal that asks for the end; 0 */
    bool hosted;     /* no lockd: routers host the lock services */
    bool plain;      /* routers speak without keys */
    bool quiet;      /* ends are not told, as while a command runs */
} lk_sandbox;

/*  -------------------------------------------------------- hosts */

const char *lk_daemon_name (lk_daemon daemon); /* "router", "lockd" */

/*  Whether there is such a daemon on each host. */
bool lk_sandbox_has (const lk_sandbox *self, lk_daemon daemon);

/*  Makes the directories, and the genesis of each member. False: said why. */
bool lk_sandbox_prepare (lk_sandbox *self);

/*  Makes the keys of each host, which has those of all others, and their ports.
 *  False: said why. */
bool lk_sandbox_write_keys (const lk_sandbox *self);

/*  Writes the configuration of each host: a NULL-ended list of
 *  "lock/host-lease=3000". False: said why. */
bool lk_sandbox_write_config (const lk_sandbox *self, char *const *settings);

/*  Chooses a port for each router. False: said why. Somebody else may take
 *  one before its router does: then it is not free. */
bool lk_sandbox_choose_ports (lk_sandbox *self);
bool lk_sandbox_ports_are_free (const lk_sandbox *self);

/*  Starts one daemon, or all. False: said why. */
bool lk_sandbox_start (lk_sandbox *self, size_t host, lk_daemon daemon);
bool lk_sandbox_start_all (lk_sandbox *self);

/*  Ends daemons with TERM, and KILL for those that take too long. */
void lk_sandbox_stop (lk_sandbox *self, size_t host, lk_daemon daemon);
void lk_sandbox_stop_all (lk_sandbox *self);

/*  Collects daemons that have ended, and says so; how many. */
size_t lk_sandbox_reap (lk_sandbox *self);

/*  Waits until locks can be had on each host. False: said why not, with the
 *  ends of the logs, or a signal came (self->interrupted). */
bool lk_sandbox_await (lk_sandbox *self);

/*  "ipc://DIR/h1/router" into `text`. */
void lk_sandbox_endpoint (const lk_sandbox *self, size_t host, char *text,
                          size_t size);

/*  -------------------------------------------------------- control */

/*  Listens at DIR/control. -1: said why not. */
int lk_control_listen (const lk_sandbox *self);

/*  Answers one that has come. */
void lk_control_serve (lk_sandbox *self);

/*  The other side: asks the sandbox in `dir` to (re)start a daemon, NULL:
 *  both. Says what came of it; the exit code. */
int lk_control_ask (const char *dir, const char *host, const char *daemon);

/*  -------------------------------------------------------- sweep */

typedef struct {
    pid_t pid;
    int fd;
} lk_sweeper;

/*  A child that removes `dir` once we are gone, for whatever reason; `own`
 *  false: only what is in it. False: said why not. */
bool lk_sweeper_start (lk_sweeper *self, const char *dir, bool own, bool keep);

/*  That process group is to be killed, too, if we are; 0: none any more. */
void lk_sweeper_note (const lk_sweeper *self, pid_t group);

/*  Lets it sweep now and waits for that. */
void lk_sweeper_finish (lk_sweeper *self);

#endif
