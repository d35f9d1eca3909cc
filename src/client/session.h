/*  session.h - a session with this host's router, as the library sees it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The shell around the book of requests: it reads the clock, and brings
 *  messages from and to the router. session.c opens and closes it, lock.c has
 *  what is done with locks.
 */

#ifndef LK_CLIENT_SESSION_H
#define LK_CLIENT_SESSION_H

#include "client/book.h"
#include "net/attach.h"

struct lk_session {
    lk_attach *attach;
    lk_book *book;
    int64_t service; /* the process of the host's lock service; 0: none yet */
    char problem[512];
};

/*  Sends what the book has to say. */
void lk_session_say (lk_session *self);

/*  Does what is to do now, sends included. */
void lk_session_work (lk_session *self);

/*  The same if there is anything: to look costs one system call. False in a
 *  child of the session's process, which hears nothing. */
bool lk_session_hear (lk_session *self);

/*  The same, after having waited for something until then at most (boot
 *  clock, ms). */
void lk_session_wait (lk_session *self, int64_t until_ms);

/*  Notes what went wrong; returns `error`. NULL text: what the book knows
 *  of it, else the error's own sentence. */
lk_err lk_session_fail (lk_session *self, lk_err error, const char *text);

#endif
