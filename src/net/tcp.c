/*  tcp.c - see tcp.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/tcp.h"

#include "net/endpoint.h"

#include <stdio.h>
#include <string.h>

lk_err
lk_tcp_split (const char *text, lk_tcp_address *address, lk_problem *problem)
{
    const char *colon = strrchr (text, ':');
    size_t size = colon ? (size_t) (colon - text) : 0;

    if (size > 2 && text[0] == '[' && text[size - 1] == ']') {
        text++;
        size -= 2;
    }
    if (size == 0 || size >= sizeof address->host
        || strlen (colon + 1) >= sizeof address->port) {
        return lk_problem_set (problem, LK_INVALID, "'%s' is not HOST:PORT",
                               text);
    }
    snprintf (address->host, sizeof address->host, "%.*s", (int) size, text);
    snprintf (address->port, sizeof address->port, "%s", colon + 1);
    return LK_OK;
}

void
lk_tcp_endpoint (const struct sockaddr *address, socklen_t size,
                 char endpoint[LK_TCP_ENDPOINT_SIZE])
{
    char host[64] = "", port[8] = "";
    const bool is_six = address->sa_family == AF_INET6;

    (void) getnameinfo (address, size, host, sizeof host, port, sizeof port,
                        NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf (endpoint, LK_TCP_ENDPOINT_SIZE, LK_TCP "%s%s%s:%s",
              is_six ? "[" : "", host, is_six ? "]" : "", port);
}
