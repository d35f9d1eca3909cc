/*  worker.c - an application that asks for locks and writes down what it sees
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/worker.h"

#include "lib/history.h"
#include "util/rng.h"

#include <lockkeeper/lockkeeper.h>

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SLOTS_MAX = 9,
    TICK_MS = 2,
    IDLE_MS = 50,
    LATE_MS = 14000,
    BRIEF_MS = 30,
    LINGER_MS = 1500 /* some give back late what is over its duration */
};

#define LATE_PERCENT 15 /* of what the first slot asks for */

#define NS_PER_MS INT64_C (1000000)
#define EPOCH_NS (2500 * NS_PER_MS)

typedef enum { IDLE, ASKED, HELD, GIVING } slot_state;

/*  One request at a time. */
typedef struct {
    slot_state state;
    lk_lock *lock;
    uint64_t request;
    char object[24];
    int64_t next_ns;      /* when to go on: ask, or give back */
    int64_t last_true_ns; /* of held () */
    bool late;            /* holds long */
    bool unheld;
    bool lost;
} slot;

typedef struct {
    const lk_worker_options *options;
    char process[32];
    lk_rng rng;
    lk_session *session;
    uint64_t requests;
    slot slots[SLOTS_MAX];
    size_t slot_count;
    int64_t end_ns;
} worker;

static volatile sig_atomic_t told_to_end;

static void
note_signal (int number)
{
    (void) number;
    told_to_end = 1;
}

static int64_t
between (worker *self, int64_t low, int64_t high)
{
    return lk_rng_between (&self->rng, low, high);
}

static bool
chance (worker *self, int percent)
{
    return between (self, 0, 99) < percent;
}

static void
note (worker *self, lk_history_kind kind, const slot *it, int64_t number,
      const char *word)
{
    lk_history_event event = {.kind = kind, .number = number};
    snprintf (event.process, sizeof event.process, "%s", self->process);
    snprintf (event.word, sizeof event.word, "%s", word);
    if (it != NULL) {
        event.request = it->request;
        snprintf (event.object, sizeof event.object, "%s", it->object);
    }
    lk_history_note (self->options->history_fd, &event);
}

/*  -------------------------------------------------------- choices */

/*  What a dead process held is nobody's for a host lease. So that others meet
 *  at something else meanwhile, most names are new ones every few seconds. */
static void
choose_object (worker *self, slot *it)
{
    const lk_worker_options *options = self->options;
    const int number = (int) between (self, 0, options->objects - 1);
    const long epoch = (long) (lk_history_now () / EPOCH_NS) % 1000;
    char *name = it->object;
    const size_t size = sizeof it->object;
    it->late = false;
    if (options->style == LK_WORKER_HOLD || options->objects == 1) {
        snprintf (name, size, "%s", options->object);
    } else if (options->style == LK_WORKER_STEADY) {
        snprintf (name, size, "%s%d", options->object,
                  (int) (it - self->slots));
    } else if (chance (self, it == self->slots ? LATE_PERCENT : 0)) {
        snprintf (name, size, "%s-late%d", options->object, number);
        it->late = true;
    } else if (chance (self, 30)) {
        snprintf (name, size, "%s%d", options->object, number);
    } else {
        snprintf (name, size, "%s%ld.%d", options->object, epoch, number);
    }
}

static lk_lock_options
choose_times (worker *self)
{
    lk_lock_options times = {.wait_ms = LK_FOREVER};
    if (self->options->style <= LK_WORKER_BLOCKING) {
        const int64_t kind = between (self, 0, 9);
        times.wait_ms = kind == 0  ? 0
                        : kind < 7 ? between (self, 1, 2000)
                                   : LK_FOREVER;
        times.duration_ms = chance (self, self->options->objects == 1 ? 25 : 5)
                                ? between (self, 5, 100)
                                : 0;
    }
    return times;
}

static int64_t
choose_hold_ms (worker *self, const slot *it)
{
    if (self->options->style == LK_WORKER_HOLD) {
        return INT32_MAX;
    }
    if (self->options->style == LK_WORKER_STEADY) {
        return 0;
    }
    if (it->late) {
        return between (self, LATE_MS / 4, LATE_MS);
    }
    return chance (self, 5) ? between (self, 0, 200)
                            : between (self, 0, BRIEF_MS);
}

/*  -------------------------------------------------------- one request */

static void
wait_until (slot *it, slot_state state, int64_t wait_ms)
{
    it->state = state;
    it->next_ns = lk_history_now () + wait_ms * NS_PER_MS;
}

static void
rest (worker *self, slot *it)
{
    it->lock = NULL;
    wait_until (it, IDLE,
                self->options->style == LK_WORKER_STEADY
                    ? self->options->rest_ms
                    : between (self, 0, 20));
}

static void
look (worker *self, slot *it)
{
    const int64_t now = lk_history_now ();
    if (lk_lock_held (it->lock)) {
        it->last_true_ns = now;
    } else if (!it->unheld) {
        it->unheld = true;
        note (self, LK_HISTORY_UNHELD, it, it->last_true_ns, "");
    }
}

static void
be_granted (worker *self, slot *it)
{
    char until[24] = "";
    const int64_t now_ms = lk_history_now () / NS_PER_MS;
    const int64_t left_ms = lk_lock_left (it->lock);
    if (left_ms >= 0) {
        snprintf (until, sizeof until, "%" PRId64, now_ms + left_ms);
    }
    note (self, LK_HISTORY_GRANTED, it, (int64_t) lk_lock_token (it->lock),
          until);
    if (it->state == ASKED) {
        look (self, it);
        wait_until (it, HELD, choose_hold_ms (self, it));
    }
}

static void
be_refused (worker *self, slot *it, lk_err error)
{
    note (self, LK_HISTORY_FAILED, it, 0, lk_err_word (error));
    if (it->lock != NULL) {
        lk_lock_forget (&it->lock);
    }
    rest (self, it);
}

static void
lose (worker *self, slot *it, lk_err error)
{
    note (self, LK_HISTORY_LOST, it, it->last_true_ns, lk_err_word (error));
    it->lost = true;
    if (it->state != HELD) {
        return;
    }
    if (error == LK_TIMEDOUT || chance (self, 30)) {
        wait_until (
            it, HELD,
            between (self, 0, chance (self, 30) ? LINGER_MS : BRIEF_MS));
        return;
    }
    lk_lock_forget (&it->lock);
    rest (self, it);
}

static void
give_back (worker *self, slot *it)
{
    note (self, LK_HISTORY_UNLOCK, it, 0, "");
    if (self->options->style != LK_WORKER_BLOCKING && !chance (self, 10)) {
        (void) !lk_lock_release_start (it->lock);
        wait_until (it, GIVING, 0);
        return;
    }
    const lk_err error = lk_lock_release (&it->lock);
    note (self, LK_HISTORY_RELEASED, it, 0, lk_err_word (error));
    rest (self, it);
}

static void
be_released (worker *self, slot *it)
{
    note (self, LK_HISTORY_RELEASED, it, 0, "");
    lk_lock_forget (&it->lock);
    rest (self, it);
}

/*  Names it and notes that it is asked for. */
static lk_lock_options
begin_request (worker *self, slot *it)
{
    it->request = ++self->requests;
    it->unheld = it->lost = false;
    it->last_true_ns = 0;
    choose_object (self, it);
    const lk_lock_options times = choose_times (self);
    char duration[24] = "";
    if (times.duration_ms > 0) {
        snprintf (duration, sizeof duration, "%" PRId64, times.duration_ms);
    }
    note (self, LK_HISTORY_ASKED, it, times.wait_ms, duration);
    return times;
}

/*  -------------------------------------------------------- event loop */

static void
ask (worker *self, slot *it)
{
    const lk_lock_options times = begin_request (self, it);
    const lk_err error = lk_lock_request (
        self->session, it->object, strlen (it->object), &times, &it->lock);
    if (error != LK_OK) {
        be_refused (self, it, error);
        return;
    }
    lk_lock_set_user (it->lock, it);
    const bool impatient =
        self->options->style == LK_WORKER_EVENTS
        && chance (self, self->options->objects == 1 ? 30 : 4);
    wait_until (it, ASKED, impatient ? between (self, 0, 500) : INT32_MAX);
}

static void
take_events (worker *self)
{
    lk_lock_event event;
    while (lk_session_poll (self->session, 0, &event) != LK_EVENT_NONE) {
        slot *it = lk_lock_user (event.lock);
        switch (event.kind) {
        case LK_EVENT_GRANTED:
            be_granted (self, it);
            break;
        case LK_EVENT_FAILED:
            be_refused (self, it, event.error);
            break;
        case LK_EVENT_LOST:
            lose (self, it, event.error);
            break;
        case LK_EVENT_RELEASED:
            be_released (self, it);
            break;
        case LK_EVENT_NONE:
        case LK_EVENT_CHANGED:
        case LK_EVENT_UNCHANGED:
        case LK_EVENT_JEOPARDY:
        case LK_EVENT_SAFE:
            break;
        }
    }
}

static bool
is_over (const worker *self)
{
    return told_to_end || lk_history_now () >= self->end_ns;
}

/*  Who is told to end does not, nor does who lost what it was to hold. */
static bool
will_ask (const worker *self, const slot *it)
{
    return it->state == IDLE && !told_to_end
           && !(it->lost && self->options->style == LK_WORKER_HOLD);
}

/*  Who is told to end gives back what it holds, and waits for the rest. */
static void
go_on (worker *self, slot *it)
{
    const bool due = lk_history_now () >= it->next_ns;
    if (it->state == HELD) {
        look (self, it);
        if (due || told_to_end) {
            give_back (self, it);
        }
    } else if (it->state == ASKED && due) {
        give_back (self, it);
    } else if (due && will_ask (self, it)) {
        ask (self, it);
    }
}

static bool
is_idle (const worker *self)
{
    for (size_t i = 0; i < self->slot_count; i++) {
        if (self->slots[i].state != IDLE) {
            return false;
        }
    }
    return true;
}

/*  Who holds something looks at it often. */
static int64_t
choose_tick_ms (const worker *self)
{
    const int64_t now = lk_history_now ();
    int64_t tick_ms = IDLE_MS;
    for (size_t i = 0; i < self->slot_count; i++) {
        const slot *it = &self->slots[i];
        const int64_t left_ms = (it->next_ns - now) / NS_PER_MS + 1;
        const bool is_due = it->state == ASKED || will_ask (self, it);
        const int64_t most_ms = it->state == HELD ? TICK_MS
                                : is_due          ? left_ms
                                                  : IDLE_MS;
        tick_ms = most_ms < tick_ms ? most_ms : tick_ms;
    }
    return tick_ms > 0 ? tick_ms : 0;
}

static void
sleep_a_while (const worker *self)
{
    struct pollfd poller = {.fd = lk_session_fd (self->session),
                            .events = POLLIN};
    int wait_ms = (int) choose_tick_ms (self);
    const int timeout_ms = lk_session_timeout (self->session);
    if (timeout_ms >= 0 && timeout_ms < wait_ms) {
        wait_ms = timeout_ms;
    }
    (void) poll (&poller, 1, wait_ms);
}

static void
run_events (worker *self)
{
    while (lk_history_now () < self->end_ns
           && !(told_to_end && is_idle (self))) {
        for (size_t i = 0; i < self->slot_count; i++) {
            go_on (self, &self->slots[i]);
        }
        sleep_a_while (self);
        take_events (self);
    }
}

/*  -------------------------------------------------------- blocking */

/*  Watches what it holds; the only event there can be is its loss. */
static void
hold (worker *self, slot *it)
{
    lk_lock_event event;
    while (it->state == HELD && !is_over (self)
           && lk_history_now () < it->next_ns) {
        look (self, it);
        if (lk_session_poll (self->session, 1, &event) == LK_EVENT_LOST) {
            lose (self, it, event.error);
        }
    }
}

static void
run_blocking (worker *self)
{
    slot *it = &self->slots[0];
    lk_lock_event event;
    while (!is_over (self)) {
        const lk_lock_options times = begin_request (self, it);
        const lk_err error =
            lk_lock_wait (self->session, it->object, times.wait_ms, &it->lock);
        if (error != LK_OK) {
            be_refused (self, it, error);
        } else {
            it->state = ASKED;
            be_granted (self, it);
            hold (self, it);
        }
        if (it->state == HELD && (told_to_end || !is_over (self))) {
            give_back (self, it);
        }
        if (!is_over (self)) {
            (void) lk_session_poll (self->session, (int) between (self, 0, 20),
                                    &event);
        }
    }
}

/*  -------------------------------------------------------- life */

static bool
open_session (worker *self)
{
    const lk_session_options options = {.endpoint = self->options->endpoint,
                                        .name = "worker",
                                        .connect_ms = 2000};
    while (self->session == NULL && !is_over (self)) {
        self->session = lk_session_new (&options);
    }
    return self->session != NULL;
}

static void
init (worker *self, const lk_worker_options *options)
{
    *self = (worker) {.options = options, .end_ns = INT64_MAX};
    snprintf (self->process, sizeof self->process, "%s/%d.%d", options->host,
              (int) getpid (), options->birth);
    lk_rng_init (&self->rng, options->seed);
    if (options->end != LK_WORKER_STAYS) {
        self->end_ns = lk_history_now () + options->life_ms * NS_PER_MS;
    }
    self->slot_count = options->style == LK_WORKER_EVENTS ? 4
                       : options->style == LK_WORKER_STEADY
                           ? (size_t) options->objects
                           : 1;
    struct sigaction action = {.sa_handler = note_signal};
    sigset_t none;
    sigaction (SIGTERM, &action, NULL);
    sigemptyset (&none);
    sigprocmask (SIG_SETMASK, &none, NULL);
}

int
lk_worker_run (const lk_worker_options *options)
{
    worker self;
    init (&self, options);
    if (!open_session (&self)) {
        return 0;
    }
    if (options->style == LK_WORKER_BLOCKING) {
        run_blocking (&self);
    } else {
        run_events (&self);
    }
    if (!told_to_end || !is_idle (&self)) {
        note (&self, LK_HISTORY_ENDED, NULL, 0, "");
    }
    if (!told_to_end && options->end == LK_WORKER_EXITS) {
        _exit (0);
    }
    lk_session_destroy (&self.session);
    return 0;
}
