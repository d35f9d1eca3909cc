/*  gate.c - see gate.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "gate.h"
#include "garbage.h"
#include "newcomers.h"

#include "net/clock.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

typedef struct {
    char place[LK_PLACE_SIZE];
    int64_t until_ms;
} shut;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static shut all[LK_SHUT_OUT_MAX];
static size_t count;

/*  -------------------------------------------------------- addresses */

void
lk_gate_address_of (lk_gate_address *self, int fd)
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
lk_gate_address_text (const lk_gate_address *self, char text[LK_GATE_TEXT_SIZE])
{
    const int family = self->size == 4 ? AF_INET : AF_INET6;
    text[0] = '\0';
    if (self->size > 0) {
        (void) inet_ntop (family, self->bytes, text, LK_GATE_TEXT_SIZE);
    }
}

/*  -------------------------------------------------------- the gate */

static bool
has (const char *place)
{
    size_t i = 0;
    while (i < count && strcmp (all[i].place, place) != 0) {
        i++;
    }
    return i < count && lk_clock_ms () < all[i].until_ms;
}

bool
lk_gate_is_shut (int fd)
{
    char text[LK_GATE_TEXT_SIZE], place[LK_PLACE_SIZE];
    lk_gate_address from;
    lk_gate_address_of (&from, fd);
    lk_gate_address_text (&from, text);
    if (!lk_place_of (text, place)) {
        return false;
    }
    pthread_mutex_lock (&mutex);
    const bool is_shut = has (place);
    pthread_mutex_unlock (&mutex);
    return is_shut;
}

static void
take (const lk_router *router)
{
    count = 0;
    for (const lk_offender *it = router->shut_out.all; it != NULL;
         it = it->hh.next) {
        if (it->is_place && lk_offender_is_out (it, router->now_ms)) {
            snprintf (all[count].place, sizeof all[count].place, "%s",
                      it->name);
            all[count++].until_ms = it->until_ms;
        }
    }
}

void
lk_gate_keep (lk_router *router)
{
    const char *address;
    while ((address = lk_newcomers_next_ended ()) != NULL) {
        lk_garbage_ended (router, address);
    }
    if (!router->shut_out.is_told) {
        router->shut_out.is_told = true;
        pthread_mutex_lock (&mutex);
        take (router);
        pthread_mutex_unlock (&mutex);
    }
}
