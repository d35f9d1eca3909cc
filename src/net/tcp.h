/*  tcp.h - addresses of other hosts, as people and as libzmq write them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_TCP_H
#define LK_TCP_H

#include "net/problem.h"

#include <netdb.h>
#include <sys/socket.h>

/*  HOST:PORT taken apart; no brackets about IPv6's numbers any more. */
typedef struct {
    char host[256];
    char port[8];
} lk_tcp_address;

lk_err lk_tcp_split (const char *text, lk_tcp_address *address,
                     lk_problem *problem);

/*  The endpoint of an address: tcp://NUMBERS:PORT. */
#define LK_TCP_ENDPOINT_SIZE 96
void lk_tcp_endpoint (const struct sockaddr *address, socklen_t size,
                      char endpoint[LK_TCP_ENDPOINT_SIZE]);

#endif
