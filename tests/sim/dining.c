/*  dining.c - diners: applications that want several locks at once
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

#include <string.h>

#define FIRST_NUMBER 0x20000000 /* no other application has it */
#define FAIL(world, ...) sim_checker_fail (&(world)->checker, __VA_ARGS__)

/*  As the core knows them, in the order of their names. */
static const char dishes[SIM_DISHES][8] = {
    "dish-a", "dish-b", "dish-c", "dish-d", "dish-e", "dish-f", "dish-g"};

static lk_name
name_of (uint8_t dish)
{
    return (lk_name) {.data = dishes[dish], .size = 6};
}

static void
renew (sim_world *world, sim_diner *diner)
{
    diner->state = SIM_DINER_IDLE;
    diner->number = FIRST_NUMBER + ++world->dining.last_number;
    diner->process = world->host[diner->host].process;
}

void
sim_dining_begin (sim_world *world, bool present)
{
    sim_dining *self = &world->dining;

    *self = (sim_dining) {.count = 0};
    if (!present || !sim_fault_happens (world, SIM_FAULT_DINERS)) {
        return;
    }
    self->count = (size_t) sim_between (world, 4, SIM_DINERS_MAX);
    for (size_t i = 0; i < self->count; i++) {
        self->diner[i].host = sim_any_served (world);
        renew (world, &self->diner[i]);
        sim_post (world, sim_between (world, 2000, 3000), SIM_EVENT_DINER,
                  self->diner[i].host, (uint32_t) i);
    }
}

/*  -------------------------------------------------------- deeds */

/*  As an application asks, or says that it goes. */
static void
say (sim_world *world, sim_diner *diner, lk_event_type type)
{
    lk_name rest[SIM_DISHES_OF_ONE];
    lk_event event = {.type = type};

    for (size_t i = 1; i < diner->count; i++) {
        rest[i - 1] = name_of (diner->dish[i]);
    }
    event.request = (lk_app_request) {.app = diner->number,
                                      .serial = 1, /* once under its number */
                                      .object = name_of (diner->dish[0]),
                                      .owner = {.data = "diner", .size = 5},
                                      .wait_ms = diner->wait_ms,
                                      .duration_ms = diner->duration_ms,
                                      .mode.type = diner->type};
    if (type != LK_ON_APP_GONE) {
        event.request.rest = rest;
        event.request.rest_count = diner->count - 1;
    }
    sim_host_step (world, diner->host, &event);
}

static void
choose (sim_world *world, sim_diner *diner)
{
    uint8_t left[SIM_DISHES];

    for (uint8_t i = 0; i < SIM_DISHES; i++) {
        left[i] = i;
    }
    diner->count = (size_t) sim_between (world, 2, SIM_DISHES_OF_ONE);
    for (size_t i = 0; i < diner->count; i++) {
        size_t one = (size_t) sim_between (world, (int64_t) i, SIM_DISHES - 1);
        uint8_t dish = left[one];
        left[one] = left[i];
        diner->dish[i] = dish;
    }
    diner->type = sim_chance (world, 200) ? LK_SHARED : LK_EXCLUSIVE;
    diner->wait_ms = -1;
    if (sim_chance (world, 200)) {
        diner->wait_ms =
            sim_chance (world, 400) ? 0 : sim_between (world, 1, 4000);
    }
    diner->duration_ms =
        sim_chance (world, 100) ? sim_between (world, 200, 2000) : 0;
}

static void
ask (sim_world *world, sim_diner *diner)
{
    renew (world, diner);
    choose (world, diner);
    diner->state = SIM_DINER_ASKED;
    diner->asked_at = world->now;
    sim_tell (world, diner->host,
              "diner %u asks for %zu dishes from %s on, %s, wait %lld",
              diner->number - FIRST_NUMBER, diner->count,
              dishes[diner->dish[0]],
              diner->type == LK_SHARED ? "shared" : "exclusive",
              (long long) diner->wait_ms);
    say (world, diner, LK_ON_LOCK);
}

static void
leave (sim_world *world, sim_diner *diner)
{
    sim_tell (world, diner->host, "diner %u gives back",
              diner->number - FIRST_NUMBER);
    diner->state = SIM_DINER_LEAVING;
    say (world, diner, LK_ON_UNLOCK);
}

static void
die (sim_world *world, sim_diner *diner)
{
    sim_diner late = *diner;

    sim_tell (world, diner->host, "diner %u dies",
              diner->number - FIRST_NUMBER);
    renew (world, diner);
    say (world, &late, LK_ON_APP_GONE);
}

static void
do_something (sim_world *world, sim_diner *diner)
{
    bool wild = world->stormy;

    if (diner->state != SIM_DINER_IDLE && wild && sim_chance (world, 10)) {
        die (world, diner);
        return;
    }
    switch (diner->state) {
    case SIM_DINER_IDLE:
        if (world->apps.open) {
            ask (world, diner);
        }
        break;
    case SIM_DINER_ASKED:
        if (wild && sim_chance (world, 30)) {
            leave (world, diner);
        } else if (wild && sim_chance (world, 30)) {
            say (world, diner, LK_ON_LOCK);
        }
        break;
    case SIM_DINER_HELD:
    case SIM_DINER_OVER:
        if (!world->apps.open || sim_chance (world, 600)) {
            leave (world, diner);
        }
        break;
    case SIM_DINER_LEAVING:
        break;
    }
}

void
sim_dining_act (sim_world *world, uint32_t place)
{
    sim_diner *diner = &world->dining.diner[place];

    if (world->host[diner->host].gone_for_good) {
        diner->state = SIM_DINER_IDLE;
        return;
    }
    sim_post (world, world->now + sim_between (world, 60, 250), SIM_EVENT_DINER,
              diner->host, place);
    if (!sim_host_is_up (world, diner->host)) {
        diner->state = SIM_DINER_IDLE;
        return;
    }
    if (sim_host_is_paused (world, diner->host)) {
        return;
    }
    if (diner->process != world->host[diner->host].process) {
        renew (world, diner); /* nobody knows of it any more */
    }
    do_something (world, diner);
}

/*  -------------------------------------------------------- being told */

static bool
has_dish (const sim_diner *diner, uint8_t dish)
{
    return memchr (diner->dish, dish, diner->count) != NULL;
}

/*  As long as its lock service lives: after that it may believe longer, and
 *  that is for the other applications to test. */
static bool
believes (const sim_world *world, const sim_diner *diner)
{
    return diner->state == SIM_DINER_HELD && world->now < diner->until
           && sim_host_is_up (world, diner->host)
           && diner->process == world->host[diner->host].process
           && world->now < world->apps.lease_until[diner->host];
}

static void
check_others (sim_world *world, const sim_diner *diner)
{
    const sim_dining *self = &world->dining;

    for (size_t i = 0; i < self->count; i++) {
        const sim_diner *other = &self->diner[i];
        if (other == diner || !believes (world, other)
            || (other->type == LK_SHARED && diner->type == LK_SHARED)) {
            continue;
        }
        for (uint8_t dish = 0; dish < SIM_DISHES; dish++) {
            if (has_dish (diner, dish) && has_dish (other, dish)) {
                FAIL (world, "DINERS: %s is had on h%d and on h%d",
                      dishes[dish], other->host, diner->host);
            }
        }
    }
}

/*  All of it, in the order of the names. */
static void
check_set (sim_world *world, const sim_diner *diner, const lk_answer *answer)
{
    size_t count = 0;

    for (uint8_t dish = 0; dish < SIM_DISHES; dish++) {
        const lk_granted *one = &answer->set[count];
        if (!has_dish (diner, dish)) {
            continue;
        }
        if (count == answer->set_count || one->token == 0 || one->key == 0
            || one->object.size != 6
            || memcmp (one->object.data, dishes[dish], 6) != 0) {
            break;
        }
        count++;
    }
    if (count != diner->count || answer->set_count != count) {
        FAIL (world, "DINERS: h%d asked for %zu dishes, and was told of %zu",
              diner->host, diner->count, answer->set_count);
    }
}

static void
told_locked (sim_world *world, sim_diner *diner, const lk_answer *answer)
{
    sim_dining *self = &world->dining;
    int64_t waited_ms = world->now - diner->asked_at;

    if (diner->state != SIM_DINER_ASKED) {
        return;
    }
    check_set (world, diner, answer);
    check_others (world, diner);
    diner->state = SIM_DINER_HELD;
    diner->until = sim_true_time (world, diner->host, answer->until_ms);
    world->totals.dinners++;
    if (world->checker.settled_at != 0
        && diner->asked_at >= world->checker.settled_at
        && waited_ms > self->longest_ms) {
        self->longest_ms = waited_ms;
    }
}

static sim_diner *
find (sim_dining *self, uint32_t number)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->diner[i].number == number) {
            return &self->diner[i];
        }
    }
    return NULL;
}

bool
sim_dining_answered (sim_world *world, uint8_t host, const lk_answer *answer)
{
    sim_diner *diner = find (&world->dining, answer->app);

    if (!diner) {
        return answer->app > FIRST_NUMBER
               && answer->app <= FIRST_NUMBER + world->dining.last_number;
    }
    sim_tell (world, host, "diner %u is told %s, %s",
              diner->number - FIRST_NUMBER,
              answer->kind == LK_ANSWER_LOCKED ? "LOCKED" : "no",
              lk_err_word (answer->error));
    switch (answer->kind) {
    case LK_ANSWER_LOCKED:
        told_locked (world, diner, answer);
        break;
    case LK_ANSWER_FAILED:
        if (diner->state == SIM_DINER_HELD || diner->state == SIM_DINER_OVER) {
            FAIL (world, "DINERS: LOCKFAILED on h%d after LOCKED", host);
        }
        diner->state = SIM_DINER_IDLE;
        break;
    case LK_ANSWER_UNLOCKED:
        diner->state =
            diner->state == SIM_DINER_HELD && answer->error == LK_TIMEDOUT
                ? SIM_DINER_OVER
                : SIM_DINER_IDLE;
        break;
    case LK_ANSWER_JEOPARDY:
    case LK_ANSWER_PENDING:
    case LK_ANSWER_CHECKED:
    case LK_ANSWER_READY:
    case LK_ANSWER_LEASE:
    case LK_ANSWER_UNKNOWN:
    case LK_ANSWER_MOVE:
        break;
    }
    return true;
}

/*  -------------------------------------------------------- for the judge */

bool
sim_dining_knows (const sim_world *world, uint8_t host, lk_name object)
{
    const sim_dining *self = &world->dining;

    for (size_t i = 0; i < self->count; i++) {
        const sim_diner *diner = &self->diner[i];
        for (uint8_t dish = 0; dish < SIM_DISHES; dish++) {
            if (diner->host == host && diner->state != SIM_DINER_IDLE
                && has_dish (diner, dish) && object.size == 6
                && memcmp (object.data, dishes[dish], 6) == 0) {
                return true;
            }
        }
    }
    return false;
}

bool
sim_dining_waits (const sim_world *world, uint8_t host)
{
    const sim_dining *self = &world->dining;

    for (size_t i = 0; i < self->count; i++) {
        if (self->diner[i].host == host
            && self->diner[i].state != SIM_DINER_IDLE) {
            return true;
        }
    }
    return false;
}

void
sim_dining_end (sim_world *world)
{
    if (world->dining.count > 0) {
        sim_tell (world, -1,
                  "%zu diners, longest wait when all was well: %lld ms",
                  world->dining.count, (long long) world->dining.longest_ms);
    }
}
