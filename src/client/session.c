/*  session.c - a session with this host's router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/session.h"

#include "net/clock.h"
#include "net/where.h"
#include "wire/address.h"
#include "wire/reasons.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define CONNECT_MS 5000
#define LINGER_MS 500
#define GIVE_BACK_MS 1000 /* how long destroy waits for UNLOCKED */

static const char *const subscriptions[] = {"STATUS:lock", NULL};

/*  -------------------------------------------------------- from the router */

static void
on_ready (void *user)
{
    lk_session *self = user;
    lk_book_repeat (self->book, lk_clock_ms ());
}

static void
on_lost (void *user)
{
    lk_session *self = user;
    lk_book_desert (self->book, true);
}

static void
on_refused (void *user, const char *reason)
{
    lk_session *self = user;
    (void) lk_session_fail (self, LK_REFUSED, reason);
    lk_book_give_up (self->book, lk_clock_ms ());
}

/*  Whether `address` is that service of this host. */
static bool
is_from (const lk_session *self, const char *address, const char *service)
{
    size_t size = strlen (service);
    return strncmp (address, service, size) == 0 && address[size] == '@'
           && strcmp (address + size + 1, lk_attach_host (self->attach)) == 0;
}

/*  Whether the lock service that granted what we hold has ended; one that only
 *  lost its connection may come back. */
static bool
has_ended (const lk_session *self, const lk_message *status, bool is_up)
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
take_status (lk_session *self, const lk_message *message)
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
    lk_session *self = user;
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

static const lk_attach_calls calls = {on_ready, on_lost, on_refused,
                                      on_message};

/*  -------------------------------------------------------- work */

/*  What cannot be sent now is repeated anyway. */
void
lk_session_say (lk_session *self)
{
    lk_message *message;
    while ((message = lk_book_next_message (self->book)) != NULL) {
        (void) lk_attach_send (self->attach, &message);
    }
    lk_attach_flush (self->attach);
}

static void
tick (lk_session *self)
{
    lk_book_tick (self->book, lk_clock_ms ());
    lk_session_say (self);
}

void
lk_session_work (lk_session *self)
{
    lk_attach_work (self->attach);
    tick (self);
}

/*  When something is to do at the latest. */
static int64_t
due_at (const lk_session *self)
{
    const int64_t attach_ms = lk_attach_deadline (self->attach);
    const int64_t book_ms = lk_book_deadline (self->book);
    return book_ms < attach_ms ? book_ms : attach_ms;
}

bool
lk_session_hear (lk_session *self)
{
    struct epoll_event event;
    if (!lk_attach_is_ours (self->attach)) {
        return false;
    }
    if (epoll_wait (lk_attach_fd (self->attach), &event, 1, 0) > 0
        || lk_clock_ms () >= due_at (self)) {
        lk_session_work (self);
    }
    return true;
}

void
lk_session_wait (lk_session *self, int64_t until_ms)
{
    int64_t deadline = lk_book_deadline (self->book);
    lk_session_say (self);
    lk_attach_wait (self->attach, deadline < until_ms ? deadline : until_ms);
    tick (self);
}

lk_err
lk_session_fail (lk_session *self, lk_err error, const char *text)
{
    if (text == NULL) {
        text = lk_book_remark (self->book);
    }
    if (text[0] == '\0') {
        text = lk_err_text (error);
    }
    snprintf (self->problem, sizeof self->problem, "%s", text);
    return error;
}

/*  -------------------------------------------------------- life */

/*  "backup-1234-1": unlike that of any other session of this host. */
static void
make_name (const char *base, char *name)
{
    static atomic_uint sessions;
    char tail[32];
    snprintf (tail, sizeof tail, "-%d-%u", (int) getpid (),
              atomic_fetch_add (&sessions, 1) + 1);
    size_t room = LK_SERVICE_LEN_MAX - strlen (tail);
    size_t size = 0;
    for (; size < room && base[size] != '\0'; size++) {
        name[size] = lk_address_allows (base[size]) ? base[size] : '_';
    }
    snprintf (name + size, sizeof tail, "%s", tail);
}

/*  Serials unlike those of a former process of the same name and number. */
static uint64_t
first_serial (void)
{
    return ((uint64_t) lk_clock_ms () & 0xffffffff) << 16;
}

/*  Of this thread's last session that could not be had. */
static _Thread_local lk_problem failure;

static lk_session *
new_session (const char *endpoint, const char *name)
{
    char own_name[LK_SERVICE_LEN_MAX + 1];
    failure = (lk_problem) {.text = ""};
    make_name (name, own_name);
    lk_attach_options options = {.endpoint = endpoint,
                                 .name = own_name,
                                 .version = LK_VERSION,
                                 .application = true,
                                 .subscriptions = subscriptions,
                                 .linger_ms = LINGER_MS};
    lk_session *self = lk_alloc (sizeof *self);
    self->book = lk_book_new (first_serial ());
    self->attach = lk_attach_new (&options, &calls, self, &failure);
    if (self->attach == NULL) {
        lk_book_destroy (&self->book);
        lk_free (self);
        errno = failure.number != 0 ? failure.number : EINVAL;
        return NULL;
    }
    return self;
}

static bool
await_router (lk_session *self, int connect_ms)
{
    int64_t until_ms = lk_clock_ms () + connect_ms;
    lk_attach_state state;
    while ((state = lk_attach_get_state (self->attach)) != LK_ATTACH_READY
           && state != LK_ATTACH_REFUSED && lk_clock_ms () < until_ms) {
        lk_session_wait (self, until_ms);
    }
    return state == LK_ATTACH_READY;
}

lk_session *
lk_session_new (const lk_session_options *options)
{
    const lk_session_options defaults = {0};
    if (options == NULL) {
        options = &defaults;
    }
    lk_session *self = new_session (
        lk_where (options->endpoint),
        options->name != NULL ? options->name : program_invocation_short_name);
    if (self != NULL
        && !await_router (self, options->connect_ms > 0 ? options->connect_ms
                                                        : CONNECT_MS)) {
        lk_attach_problem (self->attach, &failure);
        lk_session_destroy (&self);
        errno = failure.number != 0 ? failure.number : ETIMEDOUT;
    }
    return self;
}

/*  The router tells the lock service that we are gone, so nothing leaks if
 *  this does not get through. One that is just being restarted tells it late,
 *  so that it is worth waiting for. */
static void
give_back_all (lk_session *self)
{
    int64_t now_ms = lk_clock_ms ();
    int64_t until_ms = now_ms + GIVE_BACK_MS;
    lk_lock *lock, *next = lk_book_next_lock (self->book, NULL);
    while ((lock = next) != NULL) {
        next = lk_book_next_lock (self->book, lock);
        lk_book_abandon (self->book, lock, now_ms);
    }
    while (lk_book_open_count (self->book) > 0 && lk_clock_ms () < until_ms
           && lk_attach_is_ours (self->attach)) {
        lk_session_wait (self, until_ms);
    }
}

void
lk_session_destroy (lk_session **self_p)
{
    lk_session *self = *self_p;
    *self_p = NULL;
    if (self == NULL) {
        return;
    }
    int problem = errno;
    give_back_all (self);
    lk_attach_destroy (&self->attach);
    lk_book_destroy (&self->book);
    lk_free (self);
    errno = problem;
}

/*  -------------------------------------------------------- questions */

const char *
lk_session_problem (const lk_session *self)
{
    return self != NULL ? self->problem : failure.text;
}

const char *
lk_session_host (const lk_session *self)
{
    return lk_attach_host (self->attach);
}

void
lk_session_act_for (lk_session *self, int64_t pid)
{
    lk_book_act_for (self->book, pid);
}

int
lk_session_fd (const lk_session *self)
{
    return lk_attach_fd (self->attach);
}

int
lk_session_timeout (const lk_session *self)
{
    if (lk_book_has_event (self->book)) {
        return 0;
    }
    return lk_clock_poll_ms (due_at (self));
}

const char *
lk_version (void)
{
    return LK_VERSION;
}
