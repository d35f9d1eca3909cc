/*  peer_address.c - see peer_address.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "peer_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

void
lk_peer_address_of (lk_peer_address *self, int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } from;
    socklen_t size = sizeof from;
    self->size = 0;
    if (getpeername (fd, &from.any, &size) != 0) {
        return;
    }
    if (from.any.sa_family == AF_INET) {
        self->size = sizeof from.four.sin_addr;
        memcpy (self->bytes, &from.four.sin_addr, self->size);
    } else if (from.any.sa_family == AF_INET6) {
        self->size = sizeof from.six.sin6_addr;
        memcpy (self->bytes, &from.six.sin6_addr, self->size);
    }
}

void
lk_peer_address_text (const lk_peer_address *self,
                      char text[LK_PEER_ADDRESS_SIZE])
{
    const int family = self->size == 4 ? AF_INET : AF_INET6;
    text[0] = '\0';
    if (self->size > 0) {
        (void) inet_ntop (family, self->bytes, text, LK_PEER_ADDRESS_SIZE);
    }
}
