/*  gate.c - see gate.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "gate.h"
#include "newcomers.h"
#include "offenders.h"
#include "peer_address.h"

#include "net/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    char place[LK_PLACE_SIZE];
    int64_t until_ms;
} shut;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static shut all[LK_SHUT_OUT_MAX];
static size_t count;

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
    char text[LK_PEER_ADDRESS_SIZE], place[LK_PLACE_SIZE];
    lk_peer_address from;
    lk_peer_address_of (&from, fd);
    lk_peer_address_text (&from, text);
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
        lk_offenders_ended (router, address);
    }
    if (!router->shut_out.is_told) {
        router->shut_out.is_told = true;
        pthread_mutex_lock (&mutex);
        take (router);
        pthread_mutex_unlock (&mutex);
    }
}
