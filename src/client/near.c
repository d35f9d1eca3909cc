/*  near.c - the way to the lock service by the router of this host
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/way.h"

#include "net/attach.h"
#include "net/clock.h"
#include "util/alloc.h"
#include "wire/reasons.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINGER_MS 500

typedef struct {
    lk_way way;
    lk_attach *attach;
    lk_book *book;
    int64_t service; /* the process of the host's lock service; 0: none yet */
    void (*refused) (void *user, const char *reason);
    void *user;
} near_way;

static const char *const subscriptions[] = {"STATUS:lock", NULL};

/*  -------------------------------------------------------- from the router */

static void
on_ready (void *user)
{
    near_way *self = user;
    lk_book_repeat (self->book, lk_clock_ms ());
}

static void
on_lost (void *user)
{
    near_way *self = user;
    lk_book_desert (self->book, true);
}

static void
on_refused (void *user, const char *reason)
{
    near_way *self = user;
    self->refused (self->user, reason);
    lk_book_give_up (self->book, lk_clock_ms ());
}

/*  Whether `address` is that service of this host. */
static bool
is_from (const near_way *self, const char *address, const char *service)
{
    size_t size = strlen (service);
    return strncmp (address, service, size) == 0 && address[size] == '@'
           && strcmp (address + size + 1, lk_attach_host (self->attach)) == 0;
}

/*  Whether the lock service that granted what we hold has ended; one that only
 *  lost its connection may come back. */
static bool
has_ended (const near_way *self, const lk_message *status, bool is_up)
{
    const char *reason = lk_message_text (status, "reason");
    if (is_up) {
        return self->service != 0
               && self->service != lk_message_number (status, "pid", 0);
    }
    return reason != NULL && strcmp (reason, LK_SESSION_CUT) != 0;
}

/*  This host's lock service ended, or has come (back): then it knows of
 *  nothing. */
static void
take_status (near_way *self, const lk_message *message)
{
    const char *service = lk_message_text (message, "service");
    const char *status = lk_message_text (message, "status");
    if (service == NULL || status == NULL || !is_from (self, service, "lock")) {
        return;
    }
    bool is_up = strcmp (status, "up") == 0;
    lk_book_desert (self->book, !is_up);
    if (has_ended (self, message, is_up)) {
        lk_book_orphan (self->book, lk_clock_ms ());
    }
    if (is_up) {
        self->service = lk_message_number (message, "pid", 0);
        lk_book_repeat (self->book, lk_clock_ms ());
    }
}

static void
on_message (void *user, const lk_message *message)
{
    near_way *self = user;
    const char *from = lk_message_from (message);
    int64_t now_ms = lk_clock_ms ();
    if (is_from (self, from, "lock")) {
        (void) lk_book_message (self->book, message, now_ms);
    } else if (is_from (self, from, "router")) {
        if (!lk_message_is (message, "STATUS")) {
            (void) lk_book_message (self->book, message, now_ms);
        } else {
            take_status (self, message);
        }
    }
}

static const lk_attach_calls attach_calls = {on_ready, on_lost, on_refused,
                                             on_message};

/*  -------------------------------------------------------- work */

/*  A message that cannot be sent now is repeated anyway. */
static void
say (lk_way *way)
{
    near_way *self = (near_way *) way;
    lk_message *message;
    while ((message = lk_book_next_message (self->book)) != NULL) {
        (void) lk_attach_send (self->attach, &message);
    }
    lk_attach_flush (self->attach);
}

static void
tick (near_way *self)
{
    lk_book_tick (self->book, lk_clock_ms ());
    say (&self->way);
}

static void
work (lk_way *way)
{
    near_way *self = (near_way *) way;
    lk_attach_work (self->attach);
    tick (self);
}

static void
wait_for (lk_way *way, int64_t until_ms)
{
    near_way *self = (near_way *) way;
    int64_t deadline = lk_book_deadline (self->book);
    say (way);
    lk_attach_wait (self->attach, deadline < until_ms ? deadline : until_ms);
    tick (self);
}

static int64_t
deadline (const lk_way *way)
{
    const near_way *self = (const near_way *) way;
    const int64_t attach_ms = lk_attach_deadline (self->attach);
    const int64_t book_ms = lk_book_deadline (self->book);
    return book_ms < attach_ms ? book_ms : attach_ms;
}

/*  -------------------------------------------------------- questions */

static lk_way_state
state (const lk_way *way)
{
    switch (lk_attach_get_state (((const near_way *) way)->attach)) {
    case LK_ATTACH_READY:
        return LK_WAY_READY;
    case LK_ATTACH_REFUSED:
        return LK_WAY_REFUSED;
    default:
        return LK_WAY_SEEKING;
    }
}

static void
problem_of (const lk_way *way, lk_way_problem *problem)
{
    lk_problem one;
    lk_attach_problem (((const near_way *) way)->attach, &one);
    problem->number = one.number;
    snprintf (problem->text, sizeof problem->text, "%s", one.text);
}

static bool
is_ours (const lk_way *way)
{
    return lk_attach_is_ours (((const near_way *) way)->attach);
}

static const char *
host (const lk_way *way)
{
    return lk_attach_host (((const near_way *) way)->attach);
}

static int
fd_of (const lk_way *way)
{
    return lk_attach_fd (((const near_way *) way)->attach);
}

static const char *
objection (const lk_lock_options *options)
{
    (void) options;
    return NULL;
}

static const char *
turn_objection (const lk_way *way, const lk_lock *lock)
{
    (void) way;
    (void) lock;
    return NULL;
}

/*  -------------------------------------------------------- life */

/*  The router tells the lock service that we are gone. */
static void
destroy (lk_way *way)
{
    near_way *self = (near_way *) way;
    lk_attach_destroy (&self->attach);
    lk_free (self);
}

static const lk_way_calls calls = {
    .state = state,
    .problem = problem_of,
    .is_ours = is_ours,
    .host = host,
    .objection = objection,
    .turn_objection = turn_objection,
    .loss = lk_err_text,
    .say = say,
    .work = work,
    .wait = wait_for,
    .fd = fd_of,
    .deadline = deadline,
    .destroy = destroy,
};

/*  "backup-1234-1": unlike that of any other session of this host. */
static void
make_name (const char *base, char name[LK_SERVICE_LEN_MAX + 1])
{
    char tail[32];
    snprintf (tail, sizeof tail, "-%d-%u", (int) getpid (), lk_way_count ());
    lk_way_make_name ("", base, tail, name);
}

lk_way *
lk_near_new (const lk_way_options *options, const char *endpoint,
             lk_problem *problem)
{
    char name[LK_SERVICE_LEN_MAX + 1];
    make_name (options->name, name);
    const lk_attach_options wish = {.endpoint = endpoint,
                                    .name = name,
                                    .version = LK_VERSION,
                                    .application = true,
                                    .subscriptions = subscriptions,
                                    .linger_ms = LINGER_MS};
    near_way *self = lk_alloc (sizeof *self);
    *self = (near_way) {.way = {&calls},
                        .book = options->book,
                        .refused = options->refused,
                        .user = options->user};
    self->attach = lk_attach_new (&wish, &attach_calls, self, problem);
    if (self->attach == NULL) {
        lk_free (self);
        return NULL;
    }
    return &self->way;
}
