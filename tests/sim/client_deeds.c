/*  client_deeds.c - applications with the library: what they want, and are told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client.h"

#include "world.h"

/*  -------------------------------------------------------- the child */

static void
start_child (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];

    self->child_excused = !world->fair_clocks;
    self->child_until = world->now + sim_between (world, 100, 6000);
    if (!self->child_excused) {
        sim_checker_works (&world->checker, sim_client_who (host, self),
                           sim_object_name (self->object), self->lock->type,
                           self->child_until);
    }
}

static void
forget (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];

    sim_checker_ended (&world->checker, sim_client_who (host, self));
    lk_book_forget (self->book, self->lock, sim_host_clock (world, host));
    self->lock = NULL;
    self->held = self->by_key = self->made_up = false;
    self->errand = self->has_read = false;
    self->child_until = 0;
}

/*  TERM, and KILL later: an eighth of a host lease is the second that
 *  `lockkeeper run` allows where that lease is 8 s. Nobody waits for it where
 *  somebody else took the lock away. */
static void
stop_child (sim_world *world, uint8_t host, lk_err error)
{
    sim_client *self = &world->clients.item[host];
    int64_t kill_ms = error == LK_TIMEDOUT ? world->common.grace_ms / 4
                                           : world->common.host_lease_ms / 8;
    int64_t end = world->now + sim_between (world, 0, kill_ms);

    if (self->child_until > end) {
        self->child_until = end;
    }
    if (!self->child_excused) {
        sim_checker_works (
            &world->checker, sim_client_who (host, self),
            sim_object_name (self->object), self->lock->type,
            error == LK_FORCED || error == LK_RELEASED ? 0 : self->child_until);
    }
}

/*  -------------------------------------------------------- told */

static sim_grant
grant_of (const sim_world *world, uint8_t host)
{
    const sim_client *self = &world->clients.item[host];
    const lk_lock *lock = self->lock;

    return (sim_grant) {.token = lock->token,
                        .key = lock->key,
                        .type = lock->type,
                        .ordinal = lock->ordinal,
                        .until = sim_true_time (world, host, lock->until_ms),
                        .process = self->process,
                        .session = self->session,
                        .lease_until = sim_true_time (
                            world, host, lk_lease_until (lock->lease))};
}

static void
told_granted (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    sim_grant grant;

    /*  Who slept may be told what is over already. */
    if (!lk_book_held (self->lock, sim_host_clock (world, host))) {
        return;
    }
    self->held = true;
    grant = grant_of (world, host);
    sim_checker_granted (&world->checker, sim_client_who (host, self), &grant);
    if (self->kind == SIM_RUNNER) {
        start_child (world, host);
    }
}

/*  Who slept may hear of it when its time is over. */
void
sim_client_resumed (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    sim_grant grant;

    if (self->held && lk_book_held (self->lock, sim_host_clock (world, host))) {
        grant = grant_of (world, host);
        world->totals.resumed++;
        sim_checker_resumed (&world->checker, sim_client_who (host, self),
                             &grant);
    }
}

static void
told_changed (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    sim_grant grant;

    if (self->held && lk_book_held (self->lock, sim_host_clock (world, host))) {
        grant = grant_of (world, host);
        grant.turn = self->lock->turn;
        world->totals.changed_types++;
        sim_checker_granted (&world->checker, sim_client_who (host, self),
                             &grant);
    }
}

static void
told_lost (sim_world *world, uint8_t host, lk_err error)
{
    sim_client *self = &world->clients.item[host];
    sim_who who = sim_client_who (host, self);

    world->totals.lost++;
    if (error == LK_TIMEDOUT && self->held) {
        sim_checker_expired (&world->checker, who);
    } else if (error == LK_RELEASED) {
        sim_checker_released (&world->checker, who);
    } else if (error == LK_FORCED) {
        sim_checker_forced (&world->checker, who);
    } else if (error == LK_LOST) {
        sim_checker_not_resumed (&world->checker, who);
        sim_checker_ended (&world->checker, who);
    } else {
        sim_checker_ended (&world->checker, who);
    }
    self->held = false;
    if (self->child_until > world->now) {
        stop_child (world, host, error);
        self->deed_at = self->child_until;
    }
}

void
sim_client_told (sim_world *world, uint8_t host, const lk_lock_event *event)
{
    static const char *const kinds[] = {"NONE",      "GRANTED",  "FAILED",
                                        "LOST",      "RELEASED", "CHANGED",
                                        "UNCHANGED", "JEOPARDY", "SAFE"};
    sim_client *self = &world->clients.item[host];

    sim_tell (world, host, "client %u: %s, request %llu, %s", self->number,
              kinds[event->kind], (unsigned long long) event->lock->serial,
              lk_err_word (event->error));
    if (event->lock != self->lock) {
        sim_checker_fail (&world->checker,
                          "client of h%d is told of another's lock", host);
        return;
    }
    switch (event->kind) {
    case LK_EVENT_NONE:
    case LK_EVENT_JEOPARDY:
    case LK_EVENT_SAFE:
        break;
    case LK_EVENT_CHANGED:
        told_changed (world, host);
        break;
    case LK_EVENT_UNCHANGED:
        sim_checker_unchanged (&world->checker, sim_client_who (host, self),
                               self->lock->turn, event->error);
        break;
    case LK_EVENT_GRANTED:
        told_granted (world, host);
        break;
    case LK_EVENT_LOST:
        told_lost (world, host, event->error);
        break;
    case LK_EVENT_RELEASED:
        if (self->made_up && self->lock->error == LK_OK) {
            sim_checker_fail (&world->checker,
                              "WRONG KEY: client of h%d unlocked with a "
                              "made-up key",
                              host);
        } else if (self->by_key && self->lock->error == LK_OK) {
            sim_checker_key_done (&world->checker, self->lock->key);
        }
        forget (world, host);
        break;
    case LK_EVENT_FAILED:
        forget (world, host);
        break;
    }
}

/*  Homes count their tokens by themselves: locks of two names may have the same
 *  one. */
void
sim_client_errand_done (sim_world *world, const sim_errand *errand)
{
    sim_client *self = &world->clients.item[errand->host];

    if (self->number != errand->client || !self->lock
        || self->lock->token != errand->token
        || self->object != errand->object) {
        return; /* by now it is about another lock, or another process */
    }
    self->errand = false;
    self->has_read = !errand->refused && !errand->write;
    self->value = errand->value;
}

/*  -------------------------------------------------------- wants */

static void
release (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];

    sim_tell (world, host, "client %u gives back request %llu", self->number,
              (unsigned long long) self->lock->serial);
    sim_checker_ended (&world->checker, sim_client_who (host, self));
    self->held = false;
    lk_book_release (self->book, self->lock, sim_host_clock (world, host));
}

static void
use_key (sim_world *world, uint8_t host, uint64_t key)
{
    sim_client *self = &world->clients.item[host];
    const lk_name word = sim_object_word (self->object);
    const lk_lock_name name = {.object = word.data, .len = word.size};

    self->by_key = true;
    self->made_up = sim_chance (world, 400);
    if (self->made_up) {
        key = lk_rng_next (&world->rng) | 1;
    }
    world->totals.keys++;
    sim_checker_key_used (&world->checker, key);
    self->lock = lk_book_unlock_by_key (self->book, &name, key,
                                        sim_host_clock (world, host));
}

/*  What the judge has to know of a LOCK. */
static void
tell_checker (sim_world *world, uint8_t host, const lk_lock_options *options)
{
    sim_client *self = &world->clients.item[host];
    sim_who who = sim_client_who (host, self);
    int64_t grace = world->common.grace_ms;

    if (grace < options->duration_ms) {
        grace = options->duration_ms;
    }
    sim_checker_asked (&world->checker, who, sim_object_name (self->object),
                       grace * 6 / 10);
    sim_checker_kind (
        &world->checker, who,
        &(sim_kind) {.mode = options->mode,
                     .duration_ms = options->duration_ms * 9 / 10});
    sim_checker_persists (&world->checker, who);
}

/*  As applications do, but for one name, and nothing that outlives it. */
static lk_lock_mode
wish_mode (sim_world *world, uint8_t host, int64_t duration_ms)
{
    const sim_client *self = &world->clients.item[host];
    sim_request wish = {.object = self->object, .duration_ms = duration_ms};

    if (!world->apps.habits.kinds || self->kind == SIM_WRITER) {
        return (lk_lock_mode) {.type = LK_EXCLUSIVE};
    }
    sim_kinds_wish (world, host, &wish);
    wish.mode.is_static = false;
    return wish.mode;
}

static void
ask (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    const sim_habits *habits = &world->apps.habits;
    lk_lock_options options = {.wait_ms = LK_FOREVER};
    const lk_name word = sim_object_word (self->object);
    const lk_object_name name = {word.data, word.size};

    if (sim_chance (world, habits->bounded)) {
        options.wait_ms =
            sim_chance (world, 300) ? 0 : sim_between (world, 1, 4000);
    }
    if (sim_chance (world, habits->limited)) {
        options.duration_ms = sim_between (world, 300, 3000);
    }
    options.mode = wish_mode (world, host, options.duration_ms);
    self->lock = lk_book_lock (self->book, &name, 1, &options,
                               sim_host_clock (world, host));
    world->totals.requests++;
    sim_tell (world, host,
              "client %u asks for %s%s: request %llu, wait %lld, duration %lld",
              self->number, name.object,
              sim_kinds_words (&(sim_request) {.mode = options.mode}),
              (unsigned long long) self->lock->serial,
              (long long) options.wait_ms, (long long) options.duration_ms);
    tell_checker (world, host, &options);
}

static void
act_on_nothing (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    uint64_t key;

    self->object = (uint8_t) sim_between (world, 0, SIM_OBJECTS - 1);
    key = world->apps.posted_key[self->object];
    if (key && sim_chance (world, world->apps.habits.use_key)) {
        use_key (world, host, key);
    } else {
        ask (world, host);
    }
}

/*  Reads the register, then writes what follows; some look once more whether
 *  they still hold the lock, and all may fall asleep behind that. */
static void
count_on (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    sim_errand errand = {.host = host,
                         .client = self->number,
                         .object = self->object,
                         .token = self->lock->token,
                         .write = self->has_read,
                         .value = self->value + 1};

    if (!self->has_read
        && sim_chance (world, world->apps.habits.give_back / 2)) {
        release (world, host);
        return;
    }
    if (self->has_read && world->stormy && sim_chance (world, 100)) {
        sim_client_pause (world, host, sim_between (world, 1000, 20000));
        return;
    }
    self->errand = true;
    self->has_read = false;
    sim_register_ask (world, &errand);
}

/*  Asks for another type. */
static void
change (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    lk_lock_type type =
        self->lock->type == LK_SHARED ? LK_EXCLUSIVE : LK_SHARED;

    if (self->lock->type == LK_SEMAPHORE || !lk_book_holds (self->lock)
        || !sim_chance (world, world->apps.habits.change)) {
        return;
    }
    world->totals.changes++;
    lk_book_change (self->book, self->lock, type,
                    sim_chance (world, 500) ? LK_FOREVER
                                            : sim_between (world, 0, 2000),
                    sim_host_clock (world, host));
    sim_tell (world, host, "client %u wants request %llu %s", self->number,
              (unsigned long long) self->lock->serial,
              type == LK_SHARED ? "shared" : "exclusive");
    sim_checker_changes (&world->checker, sim_client_who (host, self), type,
                         self->lock->turn);
}

static void
act_on_held (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    bool enough =
        !world->apps.open || sim_chance (world, world->apps.habits.give_back);

    switch (self->kind) {
    case SIM_WORKER:
        if (enough) {
            release (world, host);
        } else if (world->apps.habits.kinds) {
            change (world, host);
        }
        break;
    case SIM_WRITER:
        if (!world->apps.open) {
            release (world, host);
        } else if (!self->errand) {
            count_on (world, host);
        }
        break;
    case SIM_RUNNER:
        if (world->now >= self->child_until || !world->apps.open) {
            sim_checker_works (&world->checker, sim_client_who (host, self),
                               sim_object_name (self->object), LK_EXCLUSIVE, 0);
            self->child_until = 0;
            release (world, host);
        }
        break;
    }
}

/*  A writer that was told LOST may have been about to write. */
static void
act_on_lost (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];

    if (self->kind == SIM_WRITER && self->has_read && !self->errand
        && sim_chance (world, 500)) {
        count_on (world, host);
    } else if (self->child_until <= world->now) {
        forget (world, host);
    }
}

void
sim_client_act (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    const sim_habits *habits = &world->apps.habits;

    self->deed_at =
        world->now
        + sim_between (world, 40, world->apps.open ? habits->pause_ms : 200);
    if (!self->lock) {
        if (world->apps.open) {
            act_on_nothing (world, host);
        }
    } else if (self->held) {
        act_on_held (world, host);
    } else if (self->lock->life == LK_LIFE_ASKED) {
        if (sim_chance (world, habits->lose_patience) || !world->apps.open) {
            release (world, host);
        }
    } else if (self->lock->life == LK_LIFE_ENDED
               || self->lock->life == LK_LIFE_CLOSED) {
        act_on_lost (world, host);
    }
}
