/*  numbers.c - see numbers.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/numbers.h"

#include "net/endpoint.h"
#include "util/alloc.h"

#include <poll.h>
#include <string.h>

struct lk_numbers {
    lk_tcp_address name;
    lk_lookup *lookup; /* NULL: none is under way */
    struct addrinfo *found;
    const struct addrinfo *next; /* of those */
};

lk_numbers *
lk_numbers_new (const char *endpoint, lk_problem *problem)
{
    lk_numbers *self = lk_alloc (sizeof *self);
    if (lk_endpoint_check (endpoint, LK_TCP, problem) != LK_OK
        || lk_tcp_split (endpoint + strlen (LK_TCP), &self->name, problem)
               != LK_OK) {
        lk_free (self);
        return NULL;
    }
    return self;
}

static void
forget (lk_numbers *self)
{
    if (self->found != NULL) {
        freeaddrinfo (self->found);
    }
    self->found = NULL;
    self->next = NULL;
}

void
lk_numbers_destroy (lk_numbers **self_p)
{
    lk_numbers *self = *self_p;
    if (self != NULL) {
        forget (self);
        lk_lookup_destroy (&self->lookup);
        lk_free (self);
        *self_p = NULL;
    }
}

/*  Whether its thread has ended. */
static bool
is_looked_up (const lk_numbers *self)
{
    struct pollfd fd = {lk_lookup_fd (self->lookup), POLLIN, 0};
    return poll (&fd, 1, 0) > 0;
}

/*  Begins to; what is in numbers already is there at once. */
static bool
look_up (lk_numbers *self, lk_problem *problem)
{
    forget (self);
    self->found = lk_lookup_numbers (&self->name);
    if (self->found == NULL) {
        self->lookup = lk_lookup_new (&self->name, problem);
    }
    self->next = self->found;
    return self->found != NULL || self->lookup != NULL;
}

static lk_numbers_state
give_next (lk_numbers *self, char endpoint[LK_TCP_ENDPOINT_SIZE])
{
    if (self->next == NULL) {
        return LK_NUMBERS_NONE;
    }
    lk_tcp_endpoint (self->next->ai_addr, self->next->ai_addrlen, endpoint);
    self->next = self->next->ai_next;
    return LK_NUMBERS_FOUND;
}

lk_numbers_state
lk_numbers_next (lk_numbers *self, char endpoint[LK_TCP_ENDPOINT_SIZE],
                 lk_problem *problem)
{
    if (self->next == NULL && self->lookup == NULL
        && !look_up (self, problem)) {
        return LK_NUMBERS_NONE;
    }
    if (self->lookup != NULL) {
        if (!is_looked_up (self)) {
            return LK_NUMBERS_WAIT;
        }
        self->found = lk_lookup_take (self->lookup, problem);
        self->next = self->found;
        lk_lookup_destroy (&self->lookup);
    }
    return give_next (self, endpoint);
}

int
lk_numbers_fd (const lk_numbers *self)
{
    return self->lookup != NULL ? lk_lookup_fd (self->lookup) : -1;
}

bool
lk_numbers_are_over (const lk_numbers *self)
{
    return self->next == NULL && self->lookup == NULL;
}
