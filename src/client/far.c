/*  far.c - the way to a lock service from a machine without a router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/far.h"

#include "net/clock.h"
#include "net/random.h"
#include "util/alloc.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/*  Its host gives no more than a host lease. */
#define LEASE_MS 10000
#define SILENT_FIFTHS 2 /* of a lease: so long a server may be silent, */
#define SILENT_PART 2   /* or so long while nothing is asked for */
#define FIRST_MS 300    /* for the first lease, which what is asked for needs */
#define AGAIN_MS 1000   /* until a server that forgets us is taken again */
#define PAUSE_MS 1000   /* of who waits in vain, in a child */

/*  -------------------------------------------------------- from servers */

/*  Whether `address` is that service of the server's host. */
static bool
is_from (const lk_far_way *self, int server, const char *address,
         const char *service)
{
    const size_t size = strlen (service);
    return strncmp (address, service, size) == 0 && address[size] == '@'
           && strcmp (address + size + 1,
                      lk_servers_host (self->servers, server))
                  == 0;
}

static void
become_ready (lk_far_way *self, int server, int64_t now_ms)
{
    if (self->ready_ms == 0) {
        self->ready_ms = now_ms;
    }
    lk_servers_note (self->servers, server, NULL, 0);
    snprintf (self->host, sizeof self->host, "%s",
              lk_servers_host (self->servers, server));
}

/*  One that the end of our credential cuts short is as long as before: what is
 *  to be stopped then needs its time. It counts from when it was asked for, be
 *  it that leaders were not heard for a while. */
static void
note_lease (lk_far_way *self, const lk_roam_letter *lease, int64_t now_ms)
{
    const int64_t left_ms = lease->left_ms;
    if (left_ms > self->lease_ms
        || now_ms + self->lease_ms < self->credential_ends_ms) {
        self->lease_ms = left_ms;
    }
    self->cut_ms = now_ms + left_ms >= lk_renewal_over_ms (&self->renewal)
                       ? lease->sent + left_ms
                       : INT64_MAX;
    self->is_leased = true;
}

static void
take_letter (lk_far_way *self, lk_roam_letter *letter, int server,
             int64_t now_ms)
{
    letter->server = server;
    lk_roam_hear (self->roam, letter, now_ms);
    const lk_roam_place *current = lk_roam_current (self->roam);
    const bool is_current =
        current != NULL && current->number == letter->number;
    if (letter->kind == LK_ROAM_READY && is_current) {
        become_ready (self, server, now_ms);
    } else if (letter->kind == LK_ROAM_UNKNOWN && is_current && current->over) {
        self->forgetful = server;
    } else if (letter->kind == LK_ROAM_LEASE) {
        note_lease (self, letter, now_ms);
    } else if (letter->kind == LK_ROAM_MOVE) {
        lk_servers_note_move (self->servers, server, now_ms);
    }
}

/*  The router there, or its lock service, has no use for LOCKREGISTER; or the
 *  zone may have no more sessions. */
static void
take_complaint (lk_far_way *self, int server, const lk_message *message)
{
    const lk_roam_place *latest = lk_roam_latest (self->roam);
    const bool is_limit = lk_message_text (message, "limit") != NULL;
    const char *reason =
        lk_message_text (message, is_limit ? "text" : "reason");
    if (latest != NULL && !latest->ready && latest->server == server) {
        self->is_vain = true;
        lk_servers_note (self->servers, server,
                         reason != NULL ? reason : "it does not serve us",
                         is_limit ? EDQUOT : ETIMEDOUT);
    }
}

static void
on_message (void *user, int server, const lk_message *message)
{
    lk_far_way *self = user;
    lk_roam_letter letter = {.server = server};
    const int64_t now_ms = lk_clock_ms ();
    const char *from = lk_message_from (message);
    const bool is_lock = is_from (self, server, from, "lock");
    if (!is_lock && !is_from (self, server, from, "router")) {
        return;
    }
    if (!is_lock && lk_far_renew_hear (self, message, now_ms)) {
        return;
    }
    if (is_lock && lk_far_read (message, &letter)) {
        take_letter (self, &letter, server, now_ms);
    } else if (lk_far_is_register (lk_message_serial (message))) {
        take_complaint (self, server, message);
    } else {
        lk_far_answer (self, server, message, now_ms);
    }
}

/*  -------------------------------------------------------- to servers */

static void
say_letter (void *user, const lk_roam_letter *letter)
{
    lk_far_way *self = user;
    lk_message *message = lk_far_render (self, letter, lk_clock_ms ());
    if (message != NULL) {
        lk_servers_send (self->servers, letter->server, &message);
    }
}

static bool
is_ours (const lk_way *way)
{
    return lk_servers_are_ours (((const lk_far_way *) way)->servers);
}

/*  Messages about no lock of ours. One that cannot be sent now is repeated. */
static void
say (lk_way *way)
{
    lk_far_way *self = (lk_far_way *) way;
    const lk_roam_place *current = lk_roam_current (self->roam);
    const bool is_ready = current != NULL && !current->over && is_ours (way);
    lk_message *message;
    while ((message = lk_book_next_message (self->book)) != NULL) {
        if (is_ready) {
            lk_far_sign (message, current);
            lk_servers_send (self->servers, current->server, &message);
        } else {
            lk_message_destroy (&message);
        }
    }
    if (is_ours (way)) {
        lk_servers_flush (self->servers);
    }
}

/*  -------------------------------------------------------- choosing */

/*  How long that may take. */
static int64_t
silence (const lk_far_way *self, const lk_roam_place *place)
{
    return lk_roam_first (self->roam) != NULL
               ? place->gap_ms * SILENT_FIFTHS / 5
               : place->gap_ms / SILENT_PART;
}

/*  Whether nothing is heard of the server that all is asked of. */
static bool
is_silent (const lk_far_way *self, int64_t now_ms)
{
    const lk_roam_place *current = lk_roam_current (self->roam);
    return current == NULL || !lk_servers_is_up (self->servers, current->server)
           || now_ms - current->heard_ms > silence (self, current);
}

/*  Sooner than roam, which does not see connections, unless one is being
 *  registered with. */
static bool
wants_server (const lk_far_way *self, int64_t now_ms)
{
    const lk_roam_place *latest = lk_roam_latest (self->roam);
    return lk_roam_wants_server (self->roam, now_ms)
           || ((latest->ready || self->is_vain) && is_silent (self, now_ms));
}

/*  One whose lock service was restarted is there, and as good as any other. */
static void
take_again (lk_far_way *self, int64_t now_ms)
{
    if (self->forgetful >= 0 && now_ms - self->again_ms >= AGAIN_MS
        && lk_servers_is_up (self->servers, self->forgetful)) {
        self->again_ms = now_ms;
        lk_roam_register (self->roam, self->forgetful, now_ms);
    }
    self->forgetful = -1;
}

static void
choose (lk_far_way *self, int64_t now_ms)
{
    take_again (self, now_ms);
    const lk_roam_place *current = lk_roam_current (self->roam);
    const int server =
        lk_servers_choose (self->servers, wants_server (self, now_ms),
                           current != NULL ? current->server : -1, now_ms);
    if (server >= 0) {
        self->is_vain = false;
        lk_roam_register (self->roam, server, now_ms);
    }
    const bool is_deserted = is_silent (self, now_ms);
    if (is_deserted != self->is_deserted) {
        self->is_deserted = is_deserted;
        lk_book_desert (self->book, is_deserted);
    }
}

/*  -------------------------------------------------------- work */

/*  An end by the clock no server need have told. */
static void
problem_of (const lk_way *way, lk_way_problem *problem)
{
    const lk_far_way *self = (const lk_far_way *) way;
    lk_servers_problem (self->servers, problem);
    if (self->is_over && problem->number != EKEYREJECTED) {
        problem->number = EKEYREJECTED;
        snprintf (problem->text, sizeof problem->text, "%s",
                  lk_err_text (LK_CREDENTIAL));
    }
}

/*  As long as a server serves us it is that one's to say no. */
static void
give_up (lk_far_way *self, int64_t now_ms)
{
    lk_way_problem problem;
    self->is_over = (self->is_deserted || lk_roam_current (self->roam)->over)
                    && lk_far_renew_is_over (self, now_ms);
    if (self->is_over) {
        problem_of (&self->way, &problem);
        lk_book_fail_asked (self->book, LK_CREDENTIAL, problem.text, now_ms);
    }
}

/*  Of all but the book; what is asked for meanwhile is due later. */
static void
note_due (lk_far_way *self)
{
    const int64_t servers_ms = lk_servers_deadline (self->servers);
    const int64_t now_ms = lk_clock_ms ();
    const int64_t roam_ms = lk_roam_deadline (self->roam, now_ms);
    const int64_t renew_ms = lk_far_renew_deadline (self, now_ms);
    self->due_ms = roam_ms < servers_ms ? roam_ms : servers_ms;
    self->due_ms = renew_ms < self->due_ms ? renew_ms : self->due_ms;
}

static void
tick (lk_far_way *self)
{
    const int64_t now_ms = lk_clock_ms ();
    lk_far_renew_tick (self, now_ms);
    lk_roam_tick (self->roam, now_ms);
    choose (self, now_ms);
    give_up (self, now_ms);
    if (self->is_leased) {
        self->is_leased = false;
        lk_far_lend (self);
    }
    lk_book_tick (self->book, now_ms);
    say (&self->way);
    note_due (self);
}

static void
work (lk_way *way)
{
    lk_far_way *self = (lk_far_way *) way;
    if (is_ours (way)) {
        lk_servers_work (self->servers);
        tick (self);
    }
}

static int64_t
deadline (const lk_way *way)
{
    const lk_far_way *self = (const lk_far_way *) way;
    const int64_t book_ms = lk_book_deadline (self->book);
    return book_ms < self->due_ms ? book_ms : self->due_ms;
}

static void
wait_for (lk_way *way, int64_t until_ms)
{
    lk_far_way *self = (lk_far_way *) way;
    struct epoll_event event;
    if (!is_ours (way)) {
        (void) poll (NULL, 0, PAUSE_MS);
        return;
    }
    say (way);
    const int64_t due_ms = deadline (way);
    (void) epoll_wait (
        lk_servers_fd (self->servers), &event, 1,
        lk_clock_poll_ms (due_ms < until_ms ? due_ms : until_ms));
    work (way);
}

static int
fd_of (const lk_way *way)
{
    return lk_servers_fd (((const lk_far_way *) way)->servers);
}

/*  -------------------------------------------------------- questions */

/*  Nothing is granted without a lease: so it waits for the first one, if that
 *  comes soon. */
static lk_way_state
state (const lk_way *way)
{
    const lk_far_way *self = (const lk_far_way *) way;
    const lk_roam_place *current = lk_roam_current (self->roam);
    const int64_t now_ms = lk_clock_ms ();
    if (self->is_over) {
        return LK_WAY_REFUSED;
    }
    return self->ready_ms != 0
                   && ((current != NULL && current->until_ms > now_ms)
                       || now_ms - self->ready_ms >= FIRST_MS)
               ? LK_WAY_READY
               : LK_WAY_SEEKING;
}

static const char *
host (const lk_way *way)
{
    return ((const lk_far_way *) way)->host;
}

/*  protocol 9.20: Not moved */
static const char *
objection (const lk_lock_options *options)
{
    return options->key != 0
               ? "what lingers is taken over by its key on a host alone, not "
                 "from a machine without a router"
               : NULL;
}

static const char *
turn_objection (const lk_way *way, const lk_lock *lock)
{
    return lk_far_turn_objection ((const lk_far_way *) way, lock);
}

/*  The words of an error are about this host: here it is the server's. */
static const char *
loss (lk_err error)
{
    switch (error) {
    case LK_DISCONNECTED:
        return "no server answered for as long as its lease lasted";
    case LK_ISOLATED:
        return "the server lost touch with the leaders, and no other one took "
               "over in time";
    default:
        return lk_err_text (error);
    }
}

/*  -------------------------------------------------------- life */

static void
destroy (lk_way *way)
{
    lk_far_way *self = (lk_far_way *) way;
    lk_book_set_carrier (self->book, NULL, NULL);
    if (is_ours (way)) {
        lk_roam_leave (self->roam, lk_clock_ms ());
        lk_servers_flush (self->servers);
    }
    lk_servers_destroy (&self->servers);
    lk_roam_destroy (&self->roam);
    lk_far_forget (self);
    explicit_bzero (self->secret, sizeof self->secret);
    lk_free (self);
}

static const lk_way_calls calls = {
    .state = state,
    .problem = problem_of,
    .is_ours = is_ours,
    .host = host,
    .objection = objection,
    .turn_objection = turn_objection,
    .loss = loss,
    .say = say,
    .work = work,
    .wait = wait_for,
    .fd = fd_of,
    .deadline = deadline,
    .destroy = destroy,
};

/*  "far-0123456789abcdef-backup-1234-5a3c01fe": its beginning is that of the
 *  key. Machines that share that may have processes of the same number. */
static void
make_name (const char *base, const lk_client_file *file,
           char name[LK_SERVICE_LEN_MAX + 1])
{
    char head[LK_CLIENT_HEAD_SIZE], tail[32];
    uint32_t drawn;
    lk_client_file_head (file, head);
    lk_random_fill (&drawn, sizeof drawn);
    snprintf (tail, sizeof tail, "-%d-%08x", (int) getpid (), drawn);
    lk_way_make_name (head, base, tail, name);
}

lk_way *
lk_far_new (const lk_way_options *options, const lk_client_file *file,
            lk_problem *problem)
{
    char name[LK_SERVICE_LEN_MAX + 1];
    if (lk_client_file_check_servers (file, problem) != LK_OK) {
        return NULL;
    }
    lk_far_way *self = lk_alloc (sizeof *self);
    self->way.calls = &calls;
    self->book = options->book;
    self->lease_ms = LEASE_MS;
    self->forgetful = -1;
    make_name (options->name, file, name);
    lk_random_fill (self->secret, sizeof self->secret);
    self->servers = lk_servers_new (file, name, on_message, self, problem);
    if (self->servers == NULL) {
        lk_free (self);
        return NULL;
    }
    const lk_roam_config config = {.told = lk_far_told,
                                   .say = say_letter,
                                   .context = self,
                                   .lease_ms = LEASE_MS};
    self->roam = lk_roam_new (&config);
    lk_book_set_carrier (self->book, lk_far_open, self);
    lk_far_renew_init (self);
    choose (self, lk_clock_ms ());
    return &self->way;
}
