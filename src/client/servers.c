/*  servers.c - see servers.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/servers.h"

#include "client/known_servers.h"
#include "client/servers_beacon.h"
#include "client/servers_list.h"
#include "net/attach.h"
#include "net/clock.h"
#include "net/random.h"
#include "util/alloc.h"
#include "wire/announcement.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <utlist.h>

#define TRIED_MAX 2    /* at a time */
#define SHARED_MAX 4   /* ... if there are several behind the address */
#define TRY_MS 1000    /* until the next one is tried, too */
#define RACE_MS 100    /* ... if it may answer sooner, and is as near */
#define LIST_MS 100    /* for a list that may tell of a nearer one */
#define LOOK_MS 50     /* while one is tried */
#define SILENT_MS 2000 /* what does not answer for so long is dialled anew */
#define IDLE_MS 5000   /* nothing was said to it for so long: hang up */
#define LINGER_MS 500
#define NEVER LK_KNOWN_SERVER_NEVER

/*  A connection with one of them. */
typedef struct server {
    lk_servers *all;
    lk_known_server *about;
    lk_attach *attach;
    unsigned rounds;  /* that were in vain when it was tried */
    int64_t said_ms;  /* something was said to it last, ... */
    int64_t asked_ms; /* ... or first since it was heard; NEVER */
    int64_t ready_ms; /* it was up first; NEVER */
    bool has_told;    /* ... and has told its list */
    bool is_double;   /* a later connection leads to the same host */
    struct server *prev;
    struct server *next;
} server;

struct lk_servers {
    lk_client_file file;
    lk_credential_file credential;
    char name[LK_SERVICE_LEN_MAX + 1];
    lk_servers_fn *fn;
    void *user;
    lk_known_servers *known;
    lk_beacon *beacon; /* NULL: none */
    server *server;
    int64_t shown_ms;  /* another credential was shown last; NEVER */
    int64_t begun_ms;  /* one was tried last, ... */
    size_t begun_step; /* ... which is so near */
    bool is_wanted;    /* one is, as was said last */
    bool is_first;     /* ... and none was used before */
    int epoll_fd;
    pid_t owner;
};

static server *
find (const lk_servers *self, int number)
{
    server *it;
    DL_FOREACH (self->server, it) {
        if (it->about->number == number) {
            return it;
        }
    }
    return NULL;
}

static bool
is_up (const server *self)
{
    return lk_attach_get_state (self->attach) == LK_ATTACH_READY;
}

static void
note (lk_known_server *it, const char *why, int number)
{
    snprintf (it->why.text, sizeof it->why.text, "%s", why);
    it->why.number = number;
}

/*  -------------------------------------------------------- connections */

static void
hang_up (server *self)
{
    if (lk_servers_are_ours (self->all)) {
        (void) epoll_ctl (self->all->epoll_fd, EPOLL_CTL_DEL,
                          lk_attach_fd (self->attach), NULL);
    }
    lk_attach_destroy (&self->attach);
    self->about->is_tried = self->about->is_used = false;
    DL_DELETE (self->all->server, self);
    lk_free (self);
}

static void
on_message (void *user, const lk_message *message)
{
    server *self = user;
    lk_servers *all = self->all;
    self->asked_ms = NEVER;
    if (!all->file.is_closed
        && lk_servers_list_read (all->known, message,
                                 lk_attach_host (self->attach),
                                 lk_clock_ms ())) {
        self->has_told = true;
        return;
    }
    all->fn (all->user, self->about->number, message);
}

/*  A host knows one connection of that name, the last one. */
static void
on_ready (void *user)
{
    server *self = user;
    const char *host = lk_attach_host (self->attach);
    self->ready_ms = lk_clock_ms ();
    self->has_told = false;
    lk_known_servers_answered (self->about, lk_attach_answer_ms (self->attach));
    server *it, *next;
    DL_FOREACH_SAFE (self->all->server, it, next) {
        if (it != self && is_up (it)
            && strcmp (lk_attach_host (it->attach), host) == 0) {
            it->is_double = true;
        }
    }
}

static const lk_attach_calls calls = {.ready = on_ready, .message = on_message};
static const char *const subscriptions[] = {LK_SERVERS_LIST, NULL};

static server *
dial (lk_servers *self, lk_known_server *about)
{
    lk_problem problem;
    lk_curve_call call;
    struct epoll_event event = {.events = EPOLLIN};
    lk_client_file_call (&self->file, about->key, &call);
    const lk_attach_options options = {
        .endpoint = about->endpoint,
        .call = &call,
        .name = self->name,
        .version = LK_VERSION,
        .application = true,
        .credential = &self->credential,
        .subscriptions = self->file.is_closed ? NULL : subscriptions,
        .linger_ms = LINGER_MS};
    server *it = lk_alloc (sizeof *it);
    *it = (server) {.all = self,
                    .about = about,
                    .said_ms = NEVER,
                    .asked_ms = NEVER,
                    .ready_ms = NEVER};
    it->attach = lk_attach_new (&options, &calls, it, &problem);
    explicit_bzero (&call, sizeof call);
    if (it->attach == NULL) {
        note (about, problem.text, problem.number);
        lk_free (it);
        return NULL;
    }
    (void) epoll_ctl (self->epoll_fd, EPOLL_CTL_ADD, lk_attach_fd (it->attach),
                      &event);
    about->is_used = true;
    DL_APPEND (self->server, it);
    return it;
}

/*  -------------------------------------------------------- trying */

/*  Of one that is not up. */
static void
note_attach (const server *self)
{
    lk_problem problem;
    lk_attach_problem (self->attach, &problem);
    note (self->about, problem.text, problem.number);
}

/*  A connection that nobody answers on may be one that only we believe in. One
 *  that is not there yet goes on to be tried. */
static void
try (lk_servers *self, lk_known_server *about, int64_t now_ms)
{
    server *it = find (self, about->number);
    if (it != NULL && is_up (it) && it->asked_ms != NEVER
        && now_ms - it->asked_ms >= SILENT_MS) {
        hang_up (it);
        it = NULL;
    }
    if (it == NULL) {
        it = dial (self, about);
    }
    about->begun_ms = self->begun_ms = now_ms;
    self->begun_step = lk_known_servers_step (self->known, about);
    about->tries++;
    about->is_tried = it != NULL;
    if (it != NULL) {
        it->said_ms = now_ms;
        it->rounds = lk_attach_rounds (it->attach);
    }
}

static bool
is_shared (const lk_servers *self, const lk_known_server *about)
{
    return lk_known_servers_share (self->known, about);
}

/*  Whether that which is tried is no use. Another connection with the same
 *  address may lead to a server that is better. */
static bool
is_in_vain (const server *self, int64_t now_ms)
{
    const int64_t patience_ms =
        is_shared (self->all, self->about) ? TRY_MS : TRIED_MAX * TRY_MS;
    return lk_attach_get_state (self->attach) == LK_ATTACH_REFUSED
           || lk_attach_rounds (self->attach) != self->rounds
           || now_ms - self->about->begun_ms >= patience_ms;
}

/*  It is dialled anew the next time if our key may be known there then, or
 *  another server be behind the address, or if it has another one. Its words
 *  may be of a former credential. */
static void
end_trial (server *self)
{
    lk_known_server *about = self->about;
    if (about->begun_ms >= self->all->shown_ms) {
        note_attach (self);
    }
    about->is_tried = false;
    if (is_shared (self->all, about) || about->other[0] != '\0'
        || lk_attach_get_state (self->attach) == LK_ATTACH_REFUSED) {
        hang_up (self);
    }
    lk_known_servers_turn (about);
}

/*  How many are tried; those that are in vain are no more. */
static size_t
count_tried (lk_servers *self, int64_t now_ms)
{
    size_t count = 0;
    server *it, *next;
    DL_FOREACH_SAFE (self->server, it, next) {
        if (it->about->is_tried && !is_up (it)) {
            if (is_in_vain (it, now_ms)) {
                end_trial (it);
            } else {
                count++;
            }
        }
    }
    return count;
}

static void
hang_up_idle (lk_servers *self, int latest, int64_t now_ms)
{
    server *it, *next;
    DL_FOREACH_SAFE (self->server, it, next) {
        if (it->is_double
            || (!it->about->is_tried && it->about->number != latest
                && now_ms - it->said_ms >= IDLE_MS)) {
            hang_up (it);
        }
    }
}

/*  -------------------------------------------------------- choosing */

/*  Whether it may tell of one that is nearer any moment now: its list comes
 *  right behind READY. */
static bool
is_telling (const server *self, int64_t now_ms)
{
    const lk_servers *all = self->all;
    return !self->has_told && !all->file.is_closed
           && lk_known_servers_step (all->known, self->about) > 0
           && now_ms - self->ready_ms < LIST_MS;
}

/*  The best one that is there. */
static server *
best_there (lk_servers *self, int64_t now_ms)
{
    server *it, *best = NULL;
    DL_FOREACH (self->server, it) {
        lk_known_server *about = it->about;
        if (!about->is_tried || !is_up (it) || is_telling (it, now_ms)) {
            continue;
        }
        if (!lk_known_servers_allow (self->known, about, &about->why)) {
            about->is_tried = false;
        } else if (best == NULL
                   || lk_known_servers_precedes (self->known, about,
                                                 best->about)) {
            best = it;
        }
    }
    return best;
}

static bool
is_nearer (const lk_servers *self, const lk_known_server *it,
           const server *than)
{
    return lk_known_servers_step (self->known, it)
           < lk_known_servers_step (self->known, than->about);
}

/*  Whether one that is nearer is being tried, and for the first time. */
static bool
has_hope (const lk_servers *self, const server *best, int64_t now_ms)
{
    const server *it;
    DL_FOREACH (self->server, it) {
        if (it->about->is_tried && (!is_up (it) || is_telling (it, now_ms))
            && it->about->tries == 1 && is_nearer (self, it->about, best)
            && now_ms - it->about->begun_ms < TRY_MS) {
            return true;
        }
    }
    return false;
}

/*  How long that which is tried has before that one is, too. What has locks
 *  moves with many others, which had the same server, and has more time; but
 *  behind one address most tries are in vain. */
static int64_t
patience_ms (const lk_servers *self, const lk_known_server *next)
{
    return (self->is_first || is_shared (self, next))
                   && lk_known_servers_race (self->known)
                   && lk_known_servers_step (self->known, next)
                          <= self->begun_step
               ? RACE_MS
               : TRY_MS;
}

/*  Another one is wanted; `best` is there: then only one that is nearer. */
static void
try_next (lk_servers *self, const server *best, int64_t now_ms)
{
    const size_t tried = count_tried (self, now_ms);
    lk_known_server *next = lk_known_servers_next (self->known, now_ms);
    if (next == NULL
        || (best != NULL
            && (next->tries > 0 || !is_nearer (self, next, best)))) {
        return;
    }
    const size_t tried_max = is_shared (self, next) ? SHARED_MAX : TRIED_MAX;
    if (tried == 0
        || (tried < tried_max
            && now_ms - self->begun_ms >= patience_ms (self, next))) {
        try (self, next, now_ms);
    }
}

/*  One that is used is well: a nearer one may have come. */
static void
try_nearer (lk_servers *self, int latest, int64_t now_ms)
{
    const lk_known_server *used = lk_known_servers_find (self->known, latest);
    if (used != NULL && count_tried (self, now_ms) == 0) {
        lk_known_server *nearer =
            lk_known_servers_nearer (self->known, used, now_ms);
        if (nearer != NULL) {
            try (self, nearer, now_ms);
        }
    }
}

/*  Those that were tried are not needed any more, or are tried anew; the one
 *  that is used was, in vain. */
static void
turn (lk_servers *self, bool is_wanted, int latest)
{
    lk_known_server *it;
    self->is_wanted = is_wanted;
    self->is_first = latest < 0;
    lk_known_servers_settle (self->known);
    for (size_t i = 0; (it = lk_known_servers_at (self->known, i)) != NULL;
         i++) {
        it->is_tried = false;
        it->tries = is_wanted && it->number == latest;
    }
}

int
lk_servers_choose (lk_servers *self, bool is_wanted, int latest, int64_t now_ms)
{
    if (is_wanted != self->is_wanted) {
        turn (self, is_wanted, latest);
    }
    hang_up_idle (self, latest, now_ms);
    if (is_wanted) {
        try_next (self, best_there (self, now_ms), now_ms);
    } else {
        try_nearer (self, latest, now_ms);
    }
    server *best = best_there (self, now_ms);
    if (best == NULL || has_hope (self, best, now_ms)) {
        return -1;
    }
    best->about->is_tried = false;
    best->said_ms = now_ms;
    return best->about->number;
}

void
lk_servers_note (lk_servers *self, int which, const char *why, int number)
{
    lk_known_server *it = lk_known_servers_find (self->known, which);
    if (it != NULL) {
        note (it, why != NULL ? why : "", number);
    }
}

void
lk_servers_note_move (lk_servers *self, int number, int64_t now_ms)
{
    lk_known_server *it = lk_known_servers_find (self->known, number);
    if (it != NULL) {
        note (it, "it stops, or serves as many as it can", ETIMEDOUT);
        lk_known_servers_moved (it, now_ms);
    }
}

/*  Why that one is no use; "" if nothing is known against it. */
static lk_problem
why_not (const lk_servers *self, const lk_known_server *it)
{
    lk_problem why = it->why;
    const server *there = find (self, it->number);
    if (!lk_known_servers_allow (self->known, it, &why)) {
        return why;
    }
    if (there != NULL && !is_up (there)) {
        lk_attach_problem (there->attach, &why);
    } else if (there != NULL && why.text[0] == '\0') {
        (void) lk_problem_set (&why, LK_TIMEDOUT,
                               "its lock service does not answer");
        why.number = ETIMEDOUT;
    }
    return why;
}

void
lk_servers_problem (const lk_servers *self, lk_way_problem *problem)
{
    const lk_known_server *it;
    *problem = (lk_way_problem) {.text = ""};
    for (size_t i = 0; (it = lk_known_servers_at (self->known, i)) != NULL;
         i++) {
        const lk_problem why = why_not (self, it);
        const size_t size = strlen (problem->text);
        if (why.text[0] == '\0') {
            continue;
        }
        snprintf (problem->text + size, sizeof problem->text - size,
                  "%s'%s': %s", size == 0 ? "no server serves us: " : "; ",
                  it->endpoint, why.text);
        if (problem->number != EACCES && problem->number != EKEYREJECTED) {
            problem->number = why.number;
        }
    }
    if (problem->text[0] == '\0' && self->beacon != NULL) {
        snprintf (problem->text, sizeof problem->text, "%s",
                  "no beacon was heard of a server whose key we have");
        problem->number = ETIMEDOUT;
    }
}

bool
lk_servers_deny_credential (const lk_servers *self)
{
    const lk_known_server *it;
    size_t count = 0;
    for (size_t i = 0; (it = lk_known_servers_at (self->known, i)) != NULL;
         i++) {
        if (it->is_of_file) {
            if (it->why.number != EKEYREJECTED) {
                return false;
            }
            count++;
        }
    }
    return count > 0;
}

/*  -------------------------------------------------------- credential */

lk_credential_file *
lk_servers_credential (lk_servers *self)
{
    return &self->credential;
}

int64_t
lk_servers_credential_ends_ms (const lk_servers *self, int number)
{
    const server *it = find (self, number);
    return it != NULL ? lk_attach_credential_ends_ms (it->attach) : INT64_MAX;
}

void
lk_servers_show_credential (lk_servers *self)
{
    lk_known_server *about;
    server *it;
    self->shown_ms = lk_clock_ms ();
    for (size_t i = 0; (about = lk_known_servers_at (self->known, i)) != NULL;
         i++) {
        if (about->why.number == EKEYREJECTED) {
            note (about, "", 0);
        }
    }
    DL_FOREACH (self->server, it) {
        lk_attach_show_credential (it->attach);
    }
}

/*  -------------------------------------------------------- to and fro */

void
lk_servers_send (lk_servers *self, int number, lk_message **message_p)
{
    server *it = find (self, number);
    if (it == NULL || !is_up (it)) {
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
    server *it;
    DL_FOREACH (self->server, it) {
        lk_attach_flush (it->attach);
    }
}

void
lk_servers_work (lk_servers *self)
{
    server *it;
    DL_FOREACH (self->server, it) {
        lk_attach_work (it->attach);
    }
    if (self->beacon != NULL) {
        lk_servers_beacon_work (self->beacon, &self->file, self->known,
                                lk_clock_ms ());
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
    bool is_tried = self->is_wanted;
    int64_t due_ms = INT64_MAX;
    const server *it;
    DL_FOREACH (self->server, it) {
        const int64_t attach_ms = lk_attach_deadline (it->attach);
        due_ms = attach_ms < due_ms ? attach_ms : due_ms;
        is_tried |= it->about->is_tried;
    }
    const int64_t look_ms = is_tried ? lk_clock_ms () + LOOK_MS : INT64_MAX;
    return look_ms < due_ms ? look_ms : due_ms;
}

/*  -------------------------------------------------------- life */

bool
lk_servers_are_ours (const lk_servers *self)
{
    return self->owner == getpid ();
}

const char *
lk_servers_host (const lk_servers *self, int number)
{
    const server *it = find (self, number);
    return it != NULL ? lk_attach_host (it->attach) : "";
}

bool
lk_servers_is_up (const lk_servers *self, int number)
{
    const server *it = find (self, number);
    return it != NULL && is_up (it);
}

void
lk_servers_destroy (lk_servers **self_p)
{
    lk_servers *self = *self_p;
    if (self == NULL) {
        return;
    }
    while (self->server != NULL) {
        hang_up (self->server);
    }
    if (lk_servers_are_ours (self)) {
        lk_beacon_destroy (&self->beacon);
    }
    lk_known_servers_destroy (&self->known);
    lk_client_file_clear (&self->file);
    close (self->epoll_fd);
    lk_free (self);
    *self_p = NULL;
}

static bool
open_beacon (lk_servers *self, lk_problem *problem)
{
    struct epoll_event event = {.events = EPOLLIN};
    self->beacon = lk_beacon_new (self->file.beacon, problem);
    if (self->beacon == NULL) {
        return false;
    }
    lk_beacon_listen (self->beacon, LK_ANNOUNCEMENT_BEGIN);
    (void) epoll_ctl (self->epoll_fd, EPOLL_CTL_ADD,
                      lk_beacon_fd (self->beacon), &event);
    return true;
}

lk_servers *
lk_servers_new (const lk_client_file *file, const char *name, lk_servers_fn *fn,
                void *user, lk_problem *problem)
{
    uint64_t seed;
    lk_servers *self = lk_alloc (sizeof *self);
    *self = (lk_servers) {.file = *file,
                          .fn = fn,
                          .user = user,
                          .shown_ms = NEVER,
                          .begun_ms = NEVER,
                          .owner = getpid ()};
    snprintf (self->name, sizeof self->name, "%s", name);
    lk_credential_file_init (&self->credential, file->credential);
    self->epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
    if (self->epoll_fd == -1) {
        (void) lk_problem_errno (problem, "cannot make an epoll descriptor");
        lk_client_file_clear (&self->file);
        lk_free (self);
        return NULL;
    }
    lk_random_fill (&seed, sizeof seed);
    self->known = lk_known_servers_new (file, seed);
    if (file->beacon != 0 && !open_beacon (self, problem)) {
        lk_servers_destroy (&self);
    }
    return self;
}
