/*  desk.c - see desk.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "desk.h"
#include "newcomers.h"
#include "seats.h"
#include "standing.h"

#include "daemon/notify.h"
#include "net/clock.h"
#include "net/endpoint.h"
#include "net/hostport.h"
#include "net/log.h"
#include "net/zap.h"
#include "util/alloc.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/*  Last words are waited for; a caller that is never known is cut off. */
enum { LINGER_MS = 500, LEAVE_MS = 50, NEWCOMER_MS = 15000, LOOK_MS = 1000 };

/*  Between two looks at which connections are over. */
enum { GONE_MS = 50 };

enum { REPORT_MS = 10000 };

typedef struct {
    const lk_arbiter_options *options;
    char address[LK_ADDRESS_LEN_MAX + 1];
    lk_curve_pair pair;
    lk_loop *loop;
    lk_listener *listener;
    lk_zap *zap;
    lk_hook *hook;
    lk_timer newcomers, look, report, end;
    int64_t looked_ms; /* which connections are over */
    lk_seats seats;
    uint64_t refused; /* connections by keys that no cluster has */
    bool stopping;    /* once all votes have ended, */
    bool leaving;     /* hosts are told */
} lk_desk;

/*  -------------------------------------------------------- who comes */

/*  As whom: its key, since what that means may change. */
static bool
may_connect (void *user, const lk_zap_caller *caller,
             char name[LK_CURVE_USER_SIZE])
{
    lk_desk *self = user;
    if (lk_seats_find (&self->seats, caller->public_key) != NULL) {
        snprintf (name, LK_CURVE_USER_SIZE, "%s", caller->public_key);
        return true;
    }
    if (self->refused++ % 1000 == 0) {
        lk_log_warning ("arbiter: refused: no cluster has its key address=%s "
                        "count=%llu",
                        caller->address, (unsigned long long) self->refused);
    }
    return false;
}

/*  The seat of that caller; one without a seat any more is hung up on. */
static lk_seat *
seat_of (lk_desk *self, const lk_identity *from)
{
    const char *key = lk_listener_user (self->listener, from);
    lk_seat *seat = key != NULL ? lk_seats_find (&self->seats, key) : NULL;
    if (seat == NULL) {
        const int fd = lk_listener_fd (self->listener, from);
        lk_newcomers_hang_up (fd, lk_newcomers_strike (fd));
    }
    return seat;
}

static void
take_frame (void *user, const lk_identity *from, lk_part *frame)
{
    lk_seat *seat = seat_of (user, from);
    if (seat != NULL) {
        lk_seat_take (seat, from, frame);
    }
}

static void
take_broken (void *user, const lk_identity *from)
{
    lk_seat *seat = seat_of (user, from);
    if (seat != NULL) {
        lk_seat_take_broken (seat, from);
    }
}

static void
look (void *user)
{
    lk_desk *self = user;
    lk_seat *seat;
    lk_listener_drain (self->listener);
    for (seat = self->seats.first; seat != NULL; seat = seat->next) {
        lk_seat_look (seat);
    }
    self->looked_ms = lk_clock_ms ();
}

/*  All are looked at, and anybody may come and go: not without end. */
static void
take_gone (void *user)
{
    lk_desk *self = user;
    const int64_t due_ms = self->looked_ms + GONE_MS;
    if (due_ms <= lk_clock_ms ()) {
        look (self);
    } else if (!lk_timer_is_set (&self->look)) {
        lk_timer_set (&self->look, due_ms);
    }
}

static const lk_listener_calls listener_calls = {.frame = take_frame,
                                                 .broken = take_broken,
                                                 .gone = take_gone};

/*  -------------------------------------------------------- life */

/*  The good bye is on its way to all hosts. */
static void
leave (lk_desk *self)
{
    lk_seat *seat;
    self->leaving = true;
    for (seat = self->seats.first; seat != NULL; seat = seat->next) {
        lk_seat_say_good_bye (seat);
    }
    lk_timer_set (&self->end, lk_clock_ms () + LEAVE_MS);
}

static void
flush (void *user)
{
    lk_desk *self = user;
    lk_seats_flush (&self->seats);
    if (self->stopping && !self->leaving
        && lk_seats_running (&self->seats) == 0) {
        leave (self);
    }
}

static void
end (void *user)
{
    lk_desk *self = user;
    lk_loop_stop (self->loop, 0);
}

static void
end_newcomers (void *user)
{
    lk_desk *self = user;
    const int64_t now_ms = lk_clock_ms ();
    unsigned left;
    (void) lk_newcomers_end (now_ms - NEWCOMER_MS, &left);
    lk_timer_set (&self->newcomers, now_ms + LOOK_MS);
}

static void
report (void *user)
{
    lk_desk *self = user;
    lk_standing_write (self->options->run_dir, &self->seats,
                       self->pair.public_key);
    lk_notify_status (LK_NOTIFY_ROUTER, "votes in %zu clusters",
                      lk_seats_count (&self->seats));
    lk_timer_set (&self->report, lk_clock_ms () + REPORT_MS);
}

static void
read_folder (lk_desk *self)
{
    lk_problem problem;
    if (lk_seats_read (&self->seats, &problem) != LK_OK) {
        lk_log_error ("%s", problem.text);
    }
    report (self);
}

static void
on_signal (void *user, int number)
{
    lk_desk *self = user;
    lk_seat *seat;
    lk_log_notice ("arbiter: signal number=%d", number);
    if (number == SIGHUP) {
        if (!self->stopping) {
            read_folder (self);
        }
        return;
    }
    self->stopping = true;
    for (seat = self->seats.first; seat != NULL; seat = seat->next) {
        lk_seat_leave (seat, "stop");
    }
}

/*  -------------------------------------------------------- begin */

static lk_err
open_pair (lk_desk *self, lk_problem *problem)
{
    char path[PATH_MAX + sizeof "/keys"];
    bool is_new = false;
    lk_curve_ring *ring = lk_alloc (sizeof *ring);
    snprintf (path, sizeof path, "%s/keys", self->options->state_dir);
    const lk_err error =
        lk_curve_ring_read_or_make (ring, path, &is_new, problem);
    if (error == LK_OK) {
        self->pair = *lk_curve_ring_used (ring);
    }
    if (is_new) {
        lk_log_notice ("arbiter: made the keys of this arbiter file=%s", path);
    }
    explicit_bzero (ring, sizeof *ring);
    lk_free (ring);
    return error;
}

/*  Where it is dialled: what was told, or else where it listens; at all
 *  addresses, by its name. */
static void
find_address (lk_desk *self)
{
    const char *bound = lk_listener_endpoint (self->listener) + strlen (LK_TCP);
    if (self->options->address[0] != '\0') {
        snprintf (self->address, sizeof self->address, "%s",
                  self->options->address);
    } else if (lk_hostport_is_wildcard (bound)) {
        snprintf (self->address, sizeof self->address, "%s%s",
                  self->options->host, strrchr (bound, ':'));
    } else {
        snprintf (self->address, sizeof self->address, "%s", bound);
    }
}

static lk_err
open_all (lk_desk *self, lk_problem *problem)
{
    lk_err error = open_pair (self, problem);
    if (error == LK_OK) {
        self->zap = lk_zap_new (self->loop, may_connect, self, problem);
        error = self->zap != NULL ? LK_OK : LK_SYSTEM;
    }
    if (error == LK_OK) {
        error = lk_listener_bind_tcp (self->listener, self->options->listen,
                                      &self->pair, problem);
    }
    if (error == LK_OK) {
        find_address (self);
    }
    return error;
}

static void
begin (lk_desk *self)
{
    const lk_seat_place place = {.host = self->options->host,
                                 .address = self->address,
                                 .state = self->options->state_dir,
                                 .loop = self->loop,
                                 .listener = self->listener};
    lk_seats_init (&self->seats, &place);
    self->hook = lk_loop_add_hook (self->loop, flush, self);
    lk_timer_init (&self->newcomers, self->loop, end_newcomers, self);
    lk_timer_set (&self->newcomers, 0);
    lk_timer_init (&self->look, self->loop, look, self);
    lk_timer_init (&self->report, self->loop, report, self);
    lk_timer_init (&self->end, self->loop, end, self);
    read_folder (self);
    lk_log_notice ("arbiter: down -> up host=%s address=%s key=%s clusters=%zu",
                   self->options->host, self->address, self->pair.public_key,
                   lk_seats_count (&self->seats));
    lk_notify_ready ();
}

static void
close_all (lk_desk *self)
{
    if (self->hook != NULL) {
        lk_seats_clear (&self->seats);
        lk_timer_clear (&self->newcomers);
        lk_timer_clear (&self->look);
        lk_timer_clear (&self->report);
        lk_timer_clear (&self->end);
        lk_loop_remove_hook (self->loop, &self->hook);
    }
    lk_listener_destroy (&self->listener, LINGER_MS);
    lk_zap_destroy (&self->zap);
    lk_loop_destroy (&self->loop);
    explicit_bzero (&self->pair, sizeof self->pair);
}

int
lk_desk_run (const lk_arbiter_options *options)
{
    lk_desk self = {.options = options};
    lk_problem problem;
    int code = 1;
    self.loop = lk_loop_new ();
    lk_loop_on_signal (self.loop, on_signal, &self);
    self.listener = lk_listener_new (self.loop, &listener_calls, &self);
    if (open_all (&self, &problem) == LK_OK) {
        begin (&self);
        code = lk_loop_run (self.loop);
        lk_log_notice ("arbiter: stopped host=%s", options->host);
    } else {
        lk_log_error ("%s", problem.text);
    }
    close_all (&self);
    return code;
}
