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

#include <stdint.h>

/*  In any thread. Its number may have been another connection's before. */
void lk_newcomers_note (int fd);

/*  It is known who that is; -1: nobody's. */
void lk_newcomers_strike (int fd);

/*  Ends those that were noted by then; returns how many. */
unsigned lk_newcomers_end (int64_t until_ms);

#endif
