/*  newcomers.h - connections of which nothing good was heard yet
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  libzmq keeps one that says nothing after its handshake, or half a message,
 *  for ever, and a ROUTER cannot hang up on anybody. So each descriptor is
 *  noted when it is accepted (accept.c), struck out when it is known who that
 *  is, and shut down otherwise: libzmq sees the connection's end and closes it.
 */

#ifndef LK_NEWCOMERS_H
#define LK_NEWCOMERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*  In any thread. Its number may have been another connection's before.
 *  `is_far`: of another machine, whose end is told. */
void lk_newcomers_note (int fd, bool is_far);

/*  It has said something that makes sense: its end is not told. */
void lk_newcomers_hear (int fd);

/*  From where one came whose end is told, and that had no name; false: there is
 *  none more. Its memory is another's with the next call. */
const char *lk_newcomers_next_ended (void);

/*  That tcp port is for applications on other machines, which leave descriptors
 *  to others (accept.c). */
void lk_newcomers_keep_back (unsigned port);

/*  It is known who that is; -1: nobody's. What tells that connection apart from
 *  others of the same number; 0: it is over. */
ino_t lk_newcomers_strike (int fd);

/*  It is not known any more, and has as long as a new one again. */
void lk_newcomers_doubt (int fd, ino_t which);

/*  Its other end has hung up, and libzmq has not closed it yet. */
bool lk_newcomers_hung_up (int fd, ino_t which);

/*  Ends that one. */
void lk_newcomers_hang_up (int fd, ino_t which);

/*  Ends those that were noted by then; returns how many, and how many stay. */
unsigned lk_newcomers_end (int64_t until_ms, unsigned *left);

#endif
