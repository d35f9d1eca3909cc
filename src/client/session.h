/*  session.h - a session with a lock service, as the library sees it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The shell around the book of requests: it reads the clock, and brings
 *  messages from and to the way. session.c opens and closes it, lock.c has
 *  what is done with locks.
 */

#ifndef LK_CLIENT_SESSION_H
#define LK_CLIENT_SESSION_H

#include "client/book.h"
#include "client/way.h"

struct lk_session {
    lk_way *way;
    lk_book *book;
    char problem[512];
};

/*  LK_OK, or why the other end refuses us: LK_REFUSED, for good, or
 *  LK_CREDENTIAL, as of now. */
lk_err lk_session_check_refused (lk_session *self);

/*  Why no such lock can be had; NULL: it can. */
const char *lk_session_objection (const lk_session *self,
                                  const lk_lock_options *options);

/*  Why a lock that is held cannot change its type; NULL: it can. */
const char *lk_session_turn_objection (const lk_session *self,
                                       const lk_lock *lock);

/*  Notes why a lock was lost; returns `error`. */
lk_err lk_session_lose (lk_session *self, lk_err error);

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
