/*  servers.c - see servers.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/servers.h"

#include "net/attach.h"
#include "net/clock.h"
#include "net/random.h"
#include "util/alloc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define TRIED_MAX 2    /* at a time */
#define TRY_MS 1000    /* until the next one is tried, too */
#define AGAIN_MS 1000  /* until the same one is tried again */
#define LOOK_MS 50     /* while one is tried */
#define SILENT_MS 2000 /* what does not answer for so long is dialled anew */
#define IDLE_MS 5000   /* nothing was said to it for so long: hang up */
#define LINGER_MS 500
#define NEVER (INT64_MIN / 2)

typedef struct {
    lk_servers *all;
    int place;
    const lk_client_server *about;
    lk_attach *attach; /* NULL: none */
    unsigned rounds;   /* that were in vain when it was tried */
    bool is_tried;
    int64_t begun_ms; /* it was tried last */
    int64_t said_ms;  /* something was said to it last, ... */
    int64_t asked_ms; /* ... or first since it was heard; NEVER */
    lk_problem why;   /* it was no use; "" */
} server;

struct lk_servers {
    lk_client_file file;
    char name[LK_SERVICE_LEN_MAX + 1];
    lk_servers_fn *fn;
    void *user;
    server *server;
    size_t last; /* that was tried */
    int64_t begun_ms;
    bool is_wanted; /* one is, as was said last */
    int epoll_fd;
    pid_t owner;
};

/*  -------------------------------------------------------- connections */

static void
on_message (void *user, const lk_message *message)
{
    server *self = user;
    self->asked_ms = NEVER;
    self->all->fn (self->all->user, self->place, message);
}

static const lk_attach_calls calls = {.message = on_message};

static void
note (server *self, const char *why, int number)
{
    snprintf (self->why.text, sizeof self->why.text, "%s", why);
    self->why.number = number;
}

static void
hang_up (server *self)
{
    if (self->attach != NULL) {
        if (lk_servers_are_ours (self->all)) {
            (void) epoll_ctl (self->all->epoll_fd, EPOLL_CTL_DEL,
                              lk_attach_fd (self->attach), NULL);
        }
        lk_attach_destroy (&self->attach);
    }
    self->is_tried = false;
}

static void
dial (server *self)
{
    lk_problem problem;
    lk_servers *all = self->all;
    lk_curve_call call;
    struct epoll_event event = {.events = EPOLLIN};
    lk_client_file_call (&all->file, (size_t) self->place, &call);
    const lk_attach_options options = {.endpoint = self->about->endpoint,
                                       .call = &call,
                                       .name = all->name,
                                       .version = LK_VERSION,
                                       .application = true,
                                       .linger_ms = LINGER_MS};
    self->attach = lk_attach_new (&options, &calls, self, &problem);
    explicit_bzero (&call, sizeof call);
    if (self->attach == NULL) {
        note (self, problem.text, problem.number);
        return;
    }
    (void) epoll_ctl (all->epoll_fd, EPOLL_CTL_ADD, lk_attach_fd (self->attach),
                      &event);
    self->asked_ms = NEVER;
}

static bool
is_up (const server *self)
{
    return self->attach != NULL
           && lk_attach_get_state (self->attach) == LK_ATTACH_READY;
}

/*  -------------------------------------------------------- choosing */

/*  Of one that is not up. */
static void
note_attach (server *self)
{
    lk_problem problem;
    if (self->attach != NULL) {
        lk_attach_problem (self->attach, &problem);
        note (self, problem.text, problem.number);
    }
}

/*  A connection that nobody answers on may be one that only we believe in. One
 *  that is not there yet goes on to be tried. */
static void
try (server *self, int64_t now_ms)
{
    if (is_up (self) && self->asked_ms != NEVER
        && now_ms - self->asked_ms >= SILENT_MS) {
        hang_up (self);
    }
    self->begun_ms = self->said_ms = now_ms;
    if (self->attach == NULL) {
        dial (self);
    }
    self->is_tried = self->attach != NULL;
    self->rounds = self->is_tried ? lk_attach_rounds (self->attach) : 0;
}

/*  Behind the one that was tried last; NULL: all were tried just now. */
static server *
pick (lk_servers *self, int64_t now_ms)
{
    for (size_t i = 1; i <= self->file.count; i++) {
        const size_t place = (self->last + i) % self->file.count;
        server *it = &self->server[place];
        if (!it->is_tried && now_ms - it->begun_ms >= AGAIN_MS) {
            self->last = place;
            return it;
        }
    }
    return NULL;
}

/*  Whether that which is tried is no use. */
static bool
is_in_vain (const server *self, int64_t now_ms)
{
    return lk_attach_get_state (self->attach) == LK_ATTACH_REFUSED
           || lk_attach_rounds (self->attach) != self->rounds
           || now_ms - self->begun_ms >= TRIED_MAX * TRY_MS;
}

/*  Our key may be known there the next time. */
static void
end_refused (server *self)
{
    if (lk_attach_get_state (self->attach) == LK_ATTACH_REFUSED) {
        hang_up (self);
    }
}

/*  How many are tried; those that are in vain are no more. */
static size_t
count_tried (lk_servers *self, int64_t now_ms)
{
    size_t count = 0;
    for (size_t i = 0; i < self->file.count; i++) {
        server *it = &self->server[i];
        if (it->is_tried && !is_up (it) && is_in_vain (it, now_ms)) {
            note_attach (it);
            it->is_tried = false;
            end_refused (it);
        }
        count += it->is_tried;
    }
    return count;
}

static void
hang_up_idle (lk_servers *self, int latest, int64_t now_ms)
{
    for (size_t i = 0; i < self->file.count; i++) {
        server *it = &self->server[i];
        if (it->attach != NULL && !it->is_tried && it->place != latest
            && now_ms - it->said_ms >= IDLE_MS) {
            hang_up (it);
        }
    }
}

static int
take_up (lk_servers *self, int64_t now_ms)
{
    for (size_t i = 0; i < self->file.count; i++) {
        server *it = &self->server[i];
        if (it->is_tried && is_up (it)) {
            it->is_tried = false;
            it->said_ms = now_ms;
            return it->place;
        }
    }
    return -1;
}

int
lk_servers_choose (lk_servers *self, bool is_wanted, int latest, int64_t now_ms)
{
    self->is_wanted = is_wanted;
    hang_up_idle (self, latest, now_ms);
    if (!is_wanted) {
        for (size_t i = 0; i < self->file.count; i++) {
            self->server[i].is_tried = false;
        }
        return -1;
    }
    const size_t tried = count_tried (self, now_ms);
    if (tried == 0
        || (tried < TRIED_MAX && now_ms - self->begun_ms >= TRY_MS)) {
        server *next = pick (self, now_ms);
        if (next != NULL) {
            self->begun_ms = now_ms;
            try (next, now_ms);
        }
    }
    return take_up (self, now_ms);
}

void
lk_servers_note (lk_servers *self, int place, const char *why)
{
    note (&self->server[place], why != NULL ? why : "", ETIMEDOUT);
}

static void
add_problem (lk_way_problem *problem, const server *it)
{
    const size_t size = strlen (problem->text);
    snprintf (problem->text + size, sizeof problem->text - size, "%s'%s': %s",
              size == 0 ? "no server serves us: " : "; ", it->about->endpoint,
              it->why.text);
    if (problem->number != EACCES) {
        problem->number = it->why.number;
    }
}

void
lk_servers_problem (const lk_servers *self, lk_way_problem *problem)
{
    *problem = (lk_way_problem) {.text = ""};
    for (size_t i = 0; i < self->file.count; i++) {
        server one = self->server[i];
        if (one.attach != NULL && !is_up (&one)) {
            note_attach (&one);
        } else if (one.attach != NULL && one.why.text[0] == '\0') {
            note (&one, "its lock service does not answer", ETIMEDOUT);
        }
        if (one.why.text[0] != '\0') {
            add_problem (problem, &one);
        }
    }
}

/*  -------------------------------------------------------- to and fro */

void
lk_servers_send (lk_servers *self, int place, lk_message **message_p)
{
    server *it = &self->server[place];
    if (!is_up (it)) {
        lk_message_destroy (message_p);
        return;
    }
    it->said_ms = lk_clock_ms ();
    if (it->asked_ms == NEVER) {
        it->asked_ms = it->said_ms;
    }
    (void) lk_attach_send (it->attach, message_p);
}

void
lk_servers_flush (lk_servers *self)
{
    for (size_t i = 0; i < self->file.count; i++) {
        if (self->server[i].attach != NULL) {
            lk_attach_flush (self->server[i].attach);
        }
    }
}

void
lk_servers_work (lk_servers *self)
{
    for (size_t i = 0; i < self->file.count; i++) {
        if (self->server[i].attach != NULL) {
            lk_attach_work (self->server[i].attach);
        }
    }
}

int
lk_servers_fd (const lk_servers *self)
{
    return self->epoll_fd;
}

int64_t
lk_servers_deadline (const lk_servers *self)
{
    int64_t due_ms = self->is_wanted ? lk_clock_ms () + LOOK_MS : INT64_MAX;
    for (size_t i = 0; i < self->file.count; i++) {
        const server *it = &self->server[i];
        const int64_t attach_ms =
            it->attach != NULL ? lk_attach_deadline (it->attach) : INT64_MAX;
        due_ms = attach_ms < due_ms ? attach_ms : due_ms;
    }
    return due_ms;
}

/*  -------------------------------------------------------- life */

bool
lk_servers_are_ours (const lk_servers *self)
{
    return self->owner == getpid ();
}

const char *
lk_servers_host (const lk_servers *self, int place)
{
    const lk_attach *attach = self->server[place].attach;
    return attach != NULL ? lk_attach_host (attach) : "";
}

bool
lk_servers_is_up (const lk_servers *self, int place)
{
    return is_up (&self->server[place]);
}

static void
add_servers (lk_servers *self)
{
    uint64_t begin = 0;
    self->server = lk_alloc (self->file.count * sizeof *self->server);
    for (size_t i = 0; i < self->file.count; i++) {
        self->server[i] = (server) {.all = self,
                                    .place = (int) i,
                                    .about = &self->file.server[i],
                                    .begun_ms = NEVER,
                                    .said_ms = NEVER,
                                    .asked_ms = NEVER};
    }
    if (self->file.is_random) {
        lk_random_fill (&begin, sizeof begin);
    }
    self->last = (begin + self->file.count - 1) % self->file.count;
}

lk_servers *
lk_servers_new (const lk_client_file *file, const char *name, lk_servers_fn *fn,
                void *user, lk_problem *problem)
{
    lk_servers *self = lk_alloc (sizeof *self);
    *self = (lk_servers) {.file = *file,
                          .fn = fn,
                          .user = user,
                          .begun_ms = NEVER,
                          .owner = getpid ()};
    snprintf (self->name, sizeof self->name, "%s", name);
    self->epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
    if (self->epoll_fd == -1) {
        (void) lk_problem_errno (problem, "cannot make an epoll descriptor");
        lk_client_file_clear (&self->file);
        lk_free (self);
        return NULL;
    }
    add_servers (self);
    return self;
}

void
lk_servers_destroy (lk_servers **self_p)
{
    lk_servers *self = *self_p;
    if (self == NULL) {
        return;
    }
    for (size_t i = 0; i < self->file.count; i++) {
        hang_up (&self->server[i]);
    }
    lk_client_file_clear (&self->file);
    close (self->epoll_fd);
    lk_free (self->server);
    lk_free (self);
    *self_p = NULL;
}
