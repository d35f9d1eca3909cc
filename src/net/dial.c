/*  dial.c - see dial.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/dial.h"

#include "net/clock.h"
#include "net/lookup.h"
#include "util/alloc.h"

#include <errno.h>
#include <string.h>

/*  libzmq gives the connection up by itself, and then who is there and does not
 *  say who it is. */
#define PATIENCE_MS (3 * LK_DIAL_MS)

struct lk_dial {
    lk_loop *loop;
    lk_dial_fn *fn;
    void *user;
    lk_lookup *lookup; /* NULL: there is none, or not any more */
    struct addrinfo *found;
    const struct addrinfo *next; /* of those, to be tried, */
    lk_curve_calls calls;        /* with that of these, */
    size_t call;                 /* then without if they say so */
    lk_dealer *dealer;           /* that is being connected; or NULL */
    lk_reader *reader;           /* of its monitor, or of the lookup */
    lk_timer timer;              /* until the next step */
    int64_t began_ms;            /* to connect it */
    lk_problem problem;          /* the last */
};

static void
step_soon (lk_dial *self)
{
    lk_timer_set (&self->timer, 0);
}

static void
stop_waiting (lk_dial *self)
{
    lk_loop_remove (self->loop, &self->reader);
    lk_timer_clear (&self->timer);
}

/*  -------------------------------------------------------- one address */

static bool
is_there (lk_dealer_state state)
{
    return state == LK_DEALER_DENIED || state == LK_DEALER_REFUSED;
}

static void
note_failure (lk_dial *self, lk_dealer_state state)
{
    if (is_there (state)) {
        (void) lk_problem_set (
            &self->problem, LK_SYSTEM,
            "it was reached, but does not answer as a router, or does not know "
            "our keys");
    } else {
        const int64_t took_ms = lk_clock_ms () - self->began_ms;
        errno = took_ms < LK_DIAL_MS ? ECONNREFUSED : ETIMEDOUT;
        (void) lk_problem_errno (&self->problem, "cannot connect");
    }
}

/*  Whoever is there may take us otherwise. */
static void
go_on (lk_dial *self, lk_dealer_state state)
{
    const size_t ways = self->calls.count + self->calls.plain;

    if (is_there (state) && self->call + 1 < ways) {
        self->call++;
    } else {
        self->call = 0;
        self->next = self->next->ai_next;
    }
}

/*  What its monitor has to tell; or it took too long. */
static void
look (void *user)
{
    lk_dial *self = user;
    lk_dealer *dealer = self->dealer;
    const lk_dealer_state state = lk_dealer_look (dealer);

    if (state == LK_DEALER_CONNECTING
        && lk_clock_ms () < self->began_ms + PATIENCE_MS) {
        lk_loop_touch (self->loop, self->reader);
        return;
    }
    stop_waiting (self);
    if (state == LK_DEALER_UP) {
        self->dealer = NULL;
        self->fn (self->user, dealer, NULL);
        return;
    }
    note_failure (self, state);
    lk_dealer_destroy (&self->dealer, 0);
    go_on (self, state);
    step_soon (self);
}

static bool
is_pending (void *user)
{
    const lk_dial *self = user;

    return self->dealer && lk_dealer_has_news (self->dealer);
}

const lk_curve_call *
lk_dial_call (const lk_dial *self)
{
    return self->call < self->calls.count ? &self->calls.call[self->call]
                                          : NULL;
}

static void
try_next (lk_dial *self)
{
    char endpoint[LK_TCP_ENDPOINT_SIZE];

    lk_tcp_endpoint (self->next->ai_addr, self->next->ai_addrlen, endpoint);
    self->dealer = lk_dealer_new (endpoint, lk_dial_call (self), LK_DIAL_MS,
                                  &self->problem);
    if (!self->dealer) {
        go_on (self, false);
        step_soon (self);
        return;
    }
    self->began_ms = lk_clock_ms ();
    self->reader =
        lk_loop_add_queue (self->loop, lk_dealer_monitor_fd (self->dealer),
                           is_pending, look, self);
    lk_loop_touch (self->loop, self->reader);
    lk_timer_set (&self->timer, self->began_ms + PATIENCE_MS);
}

/*  At first, after a failure, and when an attempt took too long. */
static void
step (void *user)
{
    lk_dial *self = user;

    if (self->dealer) {
        look (self);
    } else if (self->next) {
        try_next (self);
    } else {
        const lk_problem problem = self->problem;
        self->fn (self->user, NULL, &problem);
    }
}

/*  -------------------------------------------------------- life */

static void
looked_up (void *user)
{
    lk_dial *self = user;

    stop_waiting (self);
    self->found = lk_lookup_take (self->lookup, &self->problem);
    self->next = self->found;
    lk_lookup_destroy (&self->lookup);
    step (self);
}

static void
resolve (lk_dial *self, const lk_tcp_address *name)
{
    self->found = lk_lookup_numbers (name);
    self->next = self->found;
    if (!self->found) {
        self->lookup = lk_lookup_new (name, &self->problem);
    }
    if (self->lookup) {
        self->reader = lk_loop_add_fd (self->loop, lk_lookup_fd (self->lookup),
                                       looked_up, self);
    } else {
        step_soon (self);
    }
}

lk_dial *
lk_dial_new (lk_loop *loop, const char *address, const lk_curve_calls *calls,
             lk_dial_fn *fn, void *user)
{
    lk_dial *self = lk_alloc (sizeof *self);
    lk_tcp_address name;

    *self = (lk_dial) {.loop = loop, .fn = fn, .user = user};
    lk_curve_calls_copy (&self->calls, calls);
    lk_timer_init (&self->timer, loop, step, self);
    if (calls->count == 0 && !calls->plain) {
        (void) lk_problem_set (&self->problem, LK_REFUSED,
                               "no key of the router there is accepted");
        step_soon (self);
    } else if (lk_tcp_split (address, &name, &self->problem) == LK_OK) {
        resolve (self, &name);
    } else {
        step_soon (self);
    }
    return self;
}

void
lk_dial_destroy (lk_dial **self_p)
{
    lk_dial *self = *self_p;

    if (!self) {
        return;
    }
    stop_waiting (self);
    lk_dealer_destroy (&self->dealer, 0);
    lk_lookup_destroy (&self->lookup);
    if (self->found) {
        freeaddrinfo (self->found);
    }
    lk_curve_calls_clear (&self->calls);
    lk_free (self);
    *self_p = NULL;
}
