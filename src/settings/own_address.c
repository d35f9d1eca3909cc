/*  own_address.c - which of all hosts' addresses are this one's
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings/own_address.h"

#include "net/endpoint.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define OWN_MAX 64
#define NOBODY_ELSE "tcp://127.0.0.1:7411"

/*  -------------------------------------------------------- interfaces */

/*  Numeric; empty if it is of no use: addresses of a link need its name. */
static void
write_address (const struct sockaddr *address, char text[LK_OWN_ADDRESS_SIZE])
{
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *) address;
    const struct sockaddr_in *v4 = (const struct sockaddr_in *) address;
    text[0] = '\0';
    if (address->sa_family == AF_INET) {
        inet_ntop (AF_INET, &v4->sin_addr, text, LK_OWN_ADDRESS_SIZE);
    } else if (address->sa_family == AF_INET6
               && !IN6_IS_ADDR_LINKLOCAL (&v6->sin6_addr)) {
        inet_ntop (AF_INET6, &v6->sin6_addr, text, LK_OWN_ADDRESS_SIZE);
    }
}

static size_t
add_addresses (const struct ifaddrs *all, bool loopback,
               char text[][LK_OWN_ADDRESS_SIZE], size_t count, size_t max)
{
    for (; all != NULL && count < max; all = all->ifa_next) {
        const bool up = (all->ifa_flags & IFF_UP) != 0;
        const bool inner = (all->ifa_flags & IFF_LOOPBACK) != 0;
        if (all->ifa_addr != NULL && up && inner == loopback) {
            write_address (all->ifa_addr, text[count]);
            count += text[count][0] != '\0';
        }
    }
    return count;
}

size_t
lk_own_addresses (char text[][LK_OWN_ADDRESS_SIZE], size_t max)
{
    struct ifaddrs *all = NULL;
    size_t count = 0;
    if (getifaddrs (&all) == 0) {
        count = add_addresses (all, false, text, 0, max);
        count = add_addresses (all, true, text, count, max);
        freeifaddrs (all);
    }
    return count;
}

/*  -------------------------------------------------------- hostports */

/*  All of 127.0.0.0/8 is this host's. */
static bool
is_own (const struct sockaddr *address, const char *text)
{
    char own[OWN_MAX][LK_OWN_ADDRESS_SIZE];
    const struct sockaddr_in *v4 = (const struct sockaddr_in *) address;
    if (address->sa_family == AF_INET
        && ntohl (v4->sin_addr.s_addr) >> 24 == 127) {
        return true;
    }
    const size_t count = lk_own_addresses (own, OWN_MAX);
    for (size_t i = 0; i < count; i++) {
        if (strcmp (own[i], text) == 0) {
            return true;
        }
    }
    return false;
}

/*  HOST of HOST:PORT, without brackets. */
static const char *
split (const char *hostport, char *host, size_t size)
{
    const char *colon = strrchr (hostport, ':');
    const bool bracketed = hostport[0] == '[';
    if (colon == NULL || colon - hostport < (bracketed ? 2 : 1)) {
        return NULL;
    }
    snprintf (host, size, "%.*s",
              (int) (colon - hostport) - (bracketed ? 2 : 0),
              hostport + (bracketed ? 1 : 0));
    return colon + 1;
}

bool
lk_own_address_is (const char *hostport, char numeric[LK_ADDRESS_LEN_MAX + 1])
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char host[LK_ADDRESS_LEN_MAX + 1], text[LK_OWN_ADDRESS_SIZE];
    bool own = false;
    const char *port = split (hostport, host, sizeof host);
    if (port == NULL || getaddrinfo (host, NULL, &hints, &found) != 0) {
        return false;
    }
    for (const struct addrinfo *at = found; at != NULL && !own;
         at = at->ai_next) {
        write_address (at->ai_addr, text);
        own = text[0] != '\0' && is_own (at->ai_addr, text);
        if (own) {
            const bool v6 = at->ai_family == AF_INET6;
            snprintf (numeric, LK_ADDRESS_LEN_MAX + 1, "%s%s%s:%s",
                      v6 ? "[" : "", text, v6 ? "]" : "", port);
        }
    }
    freeaddrinfo (found);
    return own;
}

/*  A datagram's socket has a way before anything was sent. */
static bool
find_way (const struct addrinfo *to, char text[LK_OWN_ADDRESS_SIZE])
{
    struct sockaddr_storage own = {0};
    socklen_t size = sizeof own;
    const int fd =
        socket (to->ai_family, to->ai_socktype | SOCK_CLOEXEC, to->ai_protocol);
    const bool found =
        fd != -1 && connect (fd, to->ai_addr, to->ai_addrlen) == 0
        && getsockname (fd, (struct sockaddr *) &own, &size) == 0;
    text[0] = '\0';
    if (found) {
        write_address ((const struct sockaddr *) &own, text);
    }
    if (fd != -1) {
        close (fd);
    }
    return text[0] != '\0' && strncmp (text, "127.", 4) != 0
           && strcmp (text, "::1") != 0;
}

bool
lk_own_address_towards (const char *hostport, char text[LK_OWN_ADDRESS_SIZE])
{
    const struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
    struct addrinfo *all = NULL;
    char host[LK_ADDRESS_LEN_MAX + 1];
    bool found = false;
    const char *port = split (hostport, host, sizeof host);
    if (port == NULL || getaddrinfo (host, port, &hints, &all) != 0) {
        return false;
    }
    for (const struct addrinfo *to = all; to != NULL && !found;
         to = to->ai_next) {
        found = find_way (to, text);
    }
    freeaddrinfo (all);
    return found;
}

/*  -------------------------------------------------------- the own one */

static lk_err
tell_none (lk_problem *problem)
{
    char own[4][LK_OWN_ADDRESS_SIZE];
    char list[sizeof own + 16] = "";
    const size_t count = lk_own_addresses (own, 4);
    for (size_t i = 0; i < count; i++) {
        const size_t used = strlen (list);
        snprintf (list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
                  own[i]);
    }
    return lk_problem_set (problem, LK_SYSTEM,
                           "no 'router/neighbour' is an address of this host, "
                           "which has %s: add its own, or set "
                           "'router/listen'",
                           list);
}

lk_err
lk_own_address_find (const char *const *neighbour,
                     char listen[LK_ADDRESS_LEN_MAX + 1], lk_problem *problem)
{
    char numeric[LK_ADDRESS_LEN_MAX + 1];
    const char *found = NULL;
    snprintf (listen, LK_ADDRESS_LEN_MAX + 1, NOBODY_ELSE);
    for (size_t i = 0; neighbour[i] != NULL; i++) {
        if (!lk_own_address_is (neighbour[i], numeric)) {
            continue;
        }
        if (found != NULL) {
            return lk_problem_set (problem, LK_SYSTEM,
                                   "two 'router/neighbour' are addresses of "
                                   "this host, '%s' and '%s': set "
                                   "'router/listen'",
                                   found, neighbour[i]);
        }
        found = neighbour[i];
        if (snprintf (listen, LK_ADDRESS_LEN_MAX + 1, LK_TCP "%s", numeric)
            > LK_ADDRESS_LEN_MAX) {
            return lk_problem_set (problem, LK_SYSTEM, "'%s' is too long",
                                   found);
        }
    }
    return found != NULL || neighbour[0] == NULL ? LK_OK : tell_none (problem);
}
