/*  bare.h - an application that says what it is told to, and no more
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For tests of real lock services. Bodies are JSON with ' for ". What does
 *  not come as it should is a case that failed (router_fixture.h).
 */

#ifndef LK_BARE_H
#define LK_BARE_H

#include "lib/router_fixture.h"

/*  What LOCKED says. */
typedef struct {
    uint64_t serial;
    uint64_t token;
    uint64_t key;
    int64_t ordinal;
    int64_t turn;
    int64_t left;
    bool is_static;
    char type[16];
} lk_bare_grant;

/*  A new application at that router. */
lk_client *lk_bare_enter (const char *endpoint);

/*  Ends in good order, as its process would. */
void lk_bare_leave (lk_client **app);

/*  Says it under a new serial, which is returned; or LOCK under one that was
 *  used. */
uint64_t lk_bare_say (lk_client *app, const char *command, const char *body);
void lk_bare_say_again (lk_client *app, uint64_t serial, const char *body);

/*  The next message, which has to be that within `wait_ms`; NULL: it is not. */
const lk_message *lk_bare_await (lk_client *app, uint64_t serial,
                                 const char *command, const char *what,
                                 int wait_ms);

/*  The same within some seconds; ... with that error. */
const lk_message *lk_bare_told (lk_client *app, uint64_t serial,
                                const char *command, const char *what);
void lk_bare_told_error (lk_client *app, uint64_t serial, const char *command,
                         const char *error, const char *what);
void lk_bare_failed (lk_client *app, uint64_t serial, const char *error,
                     const char *what);
void lk_bare_silent (lk_client *app, const char *what);

/*  LOCKSTOPPING: the holder, on that host, has time to stop. It comes now and
 *  then; freed: UNLOCKED, after any number of these. */
void lk_bare_stopping (lk_client *app, uint64_t serial, const char *host,
                       const char *what);
void lk_bare_freed (lk_client *app, uint64_t serial, const char *what);

/*  LOCKED, to a serial or to what is asked now. */
lk_bare_grant lk_bare_granted (lk_client *app, uint64_t serial,
                               const char *what);
lk_bare_grant lk_bare_lock (lk_client *app, const char *body, const char *what);

/*  Gives back, by the fields of its name and its number, and hears so; or asks
 *  for the end of anybody's, with the serial returned. */
void lk_bare_unlock (lk_client *app, const lk_bare_grant *lock,
                     const char *name);
uint64_t lk_bare_unlock_with (lk_client *app, const char *name, uint64_t key);

typedef void (*lk_bare_try) (void);

/*  A test with an application on each of three hosts, whose routers' endpoints
 *  are its arguments; returns the exit code. */
int lk_bare_main (int argc, char **argv, lk_client **const apps[3],
                  const char *endpoints[3], const lk_bare_try *tries,
                  size_t count);

#endif
