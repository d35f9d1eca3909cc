/*  tcp.h - addresses of other hosts, and sockets to them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_TCP_SOCKET_H
#define LK_TCP_SOCKET_H

#include "net/problem.h"

#include <netdb.h>
#include <stddef.h>

/*  HOST:PORT taken apart; no brackets about IPv6's numbers any more. */
typedef struct {
    char host[256];
    char port[8];
} lk_tcp_address;

lk_err lk_tcp_split (const char *text, lk_tcp_address *address,
                     lk_problem *problem);

/*  A descriptor bound to tcp://ADDRESS:PORT, that does not block and is closed
 *  by exec; -1 and problem. ADDRESS: numbers, the name of a network interface
 *  for its first IPv4 address, or `*` for all of IPv4; PORT may be `*`. `bound`
 *  is the endpoint that came of it. */
int lk_tcp_bind (const char *endpoint, char *bound, size_t size,
                 lk_problem *problem);

/*  A descriptor that is being connected, likewise; writable once it is done.
 *  -1 and errno. */
int lk_tcp_connect (const struct addrinfo *to);

/*  Each message leaves at once; and who is silent for long is asked whether
 *  they are still there, so that no connection outlives its other end. */
void lk_tcp_set_up (int fd);

#endif
