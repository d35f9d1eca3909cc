/*  tcp.c - see tcp.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/tcp.h"

#include "net/endpoint.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*  Of a silent connection: asked after so many seconds, each so many, and over
 *  if so many were not answered. */
#define ASK_AFTER 30
#define ASK_EACH 10
#define ASK_MAX 3

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

static void
set (int fd, int level, int option, int value)
{
    (void) setsockopt (fd, level, option, &value, sizeof value);
}

void
lk_tcp_set_up (int fd)
{
    set (fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set (fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set (fd, IPPROTO_TCP, TCP_KEEPIDLE, ASK_AFTER);
    set (fd, IPPROTO_TCP, TCP_KEEPINTVL, ASK_EACH);
    set (fd, IPPROTO_TCP, TCP_KEEPCNT, ASK_MAX);
}

static int
open_socket (const struct addrinfo *of)
{
    return socket (of->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                   IPPROTO_TCP);
}

static int
close_failed (int fd)
{
    const int error = errno;

    close (fd);
    errno = error;
    return -1;
}

int
lk_tcp_connect (const struct addrinfo *to)
{
    const int fd = open_socket (to);

    if (fd == -1 || connect (fd, to->ai_addr, to->ai_addrlen) == 0
        || errno == EINPROGRESS) {
        return fd;
    }
    return close_failed (fd);
}

/*  -------------------------------------------------------- binding */

/*  The number of an interface's first address; else the text is one itself. */
static void
find_interface (char *host, size_t size)
{
    struct ifaddrs *all, *it;

    if (getifaddrs (&all) != 0) {
        return;
    }
    for (it = all; it; it = it->ifa_next) {
        if (strcmp (it->ifa_name, host) == 0 && it->ifa_addr
            && it->ifa_addr->sa_family == AF_INET) {
            (void) getnameinfo (it->ifa_addr, sizeof (struct sockaddr_in), host,
                                (socklen_t) size, NULL, 0, NI_NUMERICHOST);
            break;
        }
    }
    freeifaddrs (all);
}

static void
say_endpoint (int fd, char *bound, size_t size)
{
    struct sockaddr_storage address;
    socklen_t address_size = sizeof address;
    lk_tcp_address text;

    (void) getsockname (fd, (struct sockaddr *) &address, &address_size);
    (void) getnameinfo ((const struct sockaddr *) &address, address_size,
                        text.host, sizeof text.host, text.port,
                        sizeof text.port, NI_NUMERICHOST | NI_NUMERICSERV);
    const bool is_six = address.ss_family == AF_INET6;
    snprintf (bound, size, LK_TCP "%s%s%s:%s", is_six ? "[" : "", text.host,
              is_six ? "]" : "", text.port);
}

static int
bind_to (const struct addrinfo *to)
{
    const int fd = open_socket (to);

    if (fd == -1) {
        return -1;
    }
    set (fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (to->ai_family == AF_INET6) {
        set (fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    }
    if (bind (fd, to->ai_addr, to->ai_addrlen) == 0) {
        return fd;
    }
    return close_failed (fd);
}

int
lk_tcp_bind (const char *endpoint, char *bound, size_t size,
             lk_problem *problem)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    lk_tcp_address at;
    struct addrinfo *found;

    if (lk_endpoint_check (endpoint, LK_TCP, problem) != LK_OK
        || lk_tcp_split (endpoint + strlen (LK_TCP), &at, problem) != LK_OK) {
        return -1;
    }
    find_interface (at.host, sizeof at.host);
    const char *host = strcmp (at.host, "*") == 0 ? "0.0.0.0" : at.host;
    const char *port = strcmp (at.port, "*") == 0 ? "0" : at.port;
    const int error = getaddrinfo (host, port, &hints, &found);
    if (error != 0) {
        (void) lk_problem_set (problem, LK_SYSTEM,
                               "cannot bind '%s': '%s' is neither an address "
                               "in numbers nor a network interface",
                               endpoint, at.host);
        return -1;
    }
    const int fd = bind_to (found);
    freeaddrinfo (found);
    if (fd == -1) {
        (void) lk_problem_errno (problem, "cannot bind '%s'", endpoint);
    } else {
        say_endpoint (fd, bound, size);
    }
    return fd;
}
