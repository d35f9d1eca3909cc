/*  lookup.h - the addresses of a name, while the loop goes on
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  getaddrinfo may take half a minute, so it is asked in a thread of its own,
 *  each time anew.
 */

#ifndef LK_LOOKUP_H
#define LK_LOOKUP_H

#include "net/problem.h"
#include "net/tcp.h"

#include <netdb.h>

typedef struct lk_lookup lk_lookup;

/*  Numbers need no thread: their addresses, for freeaddrinfo; NULL: it is a
 *  name. */
struct addrinfo *lk_lookup_numbers (const lk_tcp_address *name);

/*  NULL and problem: there is no thread to be had. */
lk_lookup *lk_lookup_new (const lk_tcp_address *name, lk_problem *problem);

/*  Readable when it is done. */
int lk_lookup_fd (const lk_lookup *self);

/*  Once it is done: the addresses, for freeaddrinfo; NULL and problem. */
struct addrinfo *lk_lookup_take (lk_lookup *self, lk_problem *problem);

/*  Gives up what it is at. NULL-safe, nulls the pointer. */
void lk_lookup_destroy (lk_lookup **self_p);

#endif
