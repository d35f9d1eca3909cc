/*  apps_told.c - applications: what they make of what they are told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

#include <string.h>

static sim_app *
find_app (sim_world *world, uint8_t host, uint32_t number)
{
    for (int place = 0; place < SIM_APPS_MAX; place++) {
        if (world->apps.app[host][place].number == number) {
            return &world->apps.app[host][place];
        }
    }
    return NULL;
}

static sim_request *
find_request (sim_app *app, uint64_t serial)
{
    for (int i = 0; i < SIM_REQUESTS_MAX; i++) {
        if (app->request[i].serial == serial
            && app->request[i].state != SIM_REQUEST_NONE) {
            return &app->request[i];
        }
    }
    return NULL;
}

sim_request *
sim_apps_find (sim_world *world, uint8_t host, uint32_t number, uint64_t serial,
               sim_app **app)
{
    *app = find_app (world, host, number);
    return *app ? find_request (*app, serial) : NULL;
}

/*  -------------------------------------------------------- answers */

static void
told_locked (sim_world *world, sim_who who, sim_request *request,
             const lk_answer *answer)
{
    sim_checker *checker = &world->checker;
    int64_t until = sim_true_time (world, who.host, answer->until_ms);

    switch (request->state) {
    case SIM_REQUEST_ASKED:
        request->state = SIM_REQUEST_HELD;
        request->token = answer->token;
        request->key = answer->key;
        if (sim_chance (world, 300)) {
            world->apps.posted_key[request->object] = answer->key;
        }
        sim_checker_locked (checker, who, answer->token, answer->key, until);
        break;
    case SIM_REQUEST_HELD:
        sim_checker_locked (checker, who, answer->token, answer->key, until);
        break;
    case SIM_REQUEST_LEAVING:
        if (request->delivered) {
            sim_checker_fail (checker,
                              "LOCKED for request %llu of h%d after "
                              "its UNLOCK",
                              (unsigned long long) who.serial, who.host);
        }
        break;
    default:
        sim_checker_fail (checker,
                          "LOCKED for request %llu of h%d, which "
                          "is no open LOCK",
                          (unsigned long long) who.serial, who.host);
    }
}

static void
told_failed (sim_world *world, sim_who who, sim_request *request,
             const lk_answer *answer)
{
    sim_checker *checker = &world->checker;

    /*  A duration may be over when LOCKED arrives, long before the wait. */
    if (request->state == SIM_REQUEST_ASKED && answer->error == LK_TIMEDOUT
        && request->duration_ms == 0) {
        sim_checker_timed_out (checker, who);
    } else if (request->state == SIM_REQUEST_ASKED) {
        sim_checker_ended (checker, who);
    } else if (request->state == SIM_REQUEST_HELD) {
        sim_checker_fail (checker,
                          "LOCKFAILED for request %llu of h%d, "
                          "which was told LOCKED",
                          (unsigned long long) who.serial, who.host);
    }
    request->state = SIM_REQUEST_NONE;
}

/*  A lock that its application held is gone, or only its time is over. */
static void
told_lost (sim_world *world, sim_who who, sim_request *request,
           const lk_answer *answer)
{
    sim_checker *checker = &world->checker;

    if (answer->error == LK_TIMEDOUT && request->state == SIM_REQUEST_HELD) {
        sim_checker_expired (checker, who);
        request->state = SIM_REQUEST_EXPIRED;
        return;
    }
    if (answer->error == LK_OK) {
        sim_checker_fail (checker,
                          "UNLOCKED for request %llu of h%d, which "
                          "nobody gave back",
                          (unsigned long long) who.serial, who.host);
    } else if (answer->error == LK_RELEASED) {
        sim_checker_released (checker, who);
    } else if (answer->error == LK_ISOLATED) {
        sim_plot_isolated (world, who.host);
    }
    sim_checker_ended (checker, who);
    request->state = SIM_REQUEST_NONE;
    world->totals.lost++;
}

static void
told_unlocked (sim_world *world, sim_who who, sim_request *request,
               const lk_answer *answer)
{
    sim_checker *checker = &world->checker;
    sim_request_state state = request->state;

    if (state == SIM_REQUEST_HELD || state == SIM_REQUEST_EXPIRED) {
        told_lost (world, who, request, answer);
        return;
    }
    if (state == SIM_REQUEST_LEAVING && answer->error == LK_OK
        && request->token != 0) {
        sim_checker_returned (checker, request->key, request->token);
    }
    if (state == SIM_REQUEST_KEY && answer->error == LK_OK
        && request->made_up) {
        sim_checker_fail (checker,
                          "WRONG KEY: request %llu of h%d unlocked "
                          "with a made-up key",
                          (unsigned long long) who.serial, who.host);
    }
    if (state == SIM_REQUEST_KEY && answer->error == LK_OK) {
        sim_checker_key_done (checker, request->key);
    }
    sim_checker_ended (checker, who);
    request->state = SIM_REQUEST_NONE;
}

static void
show_answer (sim_world *world, sim_who who, const lk_answer *answer)
{
    static const char *const kinds[] = {"LOCKED", "LOCKFAILED", "UNLOCKED"};

    sim_tell (world, who.host,
              "app %u is told %s of request %llu: %s, token "
              "%llx",
              who.app, kinds[answer->kind], (unsigned long long) who.serial,
              lk_err_word (answer->error), (unsigned long long) answer->token);
}

/*  A LOCKED that nobody waits for any more, as when a repeated LOCK and its
 *  answer crossed, is given back. */
static void
decline (sim_world *world, uint8_t host, sim_app *app, const lk_answer *answer)
{
    if (answer->kind == LK_ANSWER_LOCKED) {
        sim_apps_give_back_unknown (world, host, app->number, answer->serial);
    }
}

void
sim_apps_answered (sim_world *world, uint8_t host, const lk_answer *answer)
{
    sim_who who = {.host = host, .app = answer->app, .serial = answer->serial};
    sim_app *app;
    sim_request *request =
        sim_apps_find (world, host, answer->app, answer->serial, &app);

    if (sim_ballast_answered (world, host, answer)) {
        return;
    }
    if (world->options.story) {
        show_answer (world, who, answer);
    }
    if (!request) {
        if (app) {
            decline (world, host, app, answer);
        }
        return;
    }
    switch (answer->kind) {
    case LK_ANSWER_LOCKED:
        told_locked (world, who, request, answer);
        break;
    case LK_ANSWER_FAILED:
        told_failed (world, who, request, answer);
        break;
    case LK_ANSWER_UNLOCKED:
        told_unlocked (world, who, request, answer);
        break;
    case LK_ANSWER_JEOPARDY:
    case LK_ANSWER_CHECKED:
        break;
    }
}

/*  -------------------------------------------------------- services */

void
sim_apps_lease (sim_world *world, uint8_t host, int64_t until)
{
    world->apps.lease_until[host] = until;
}

static void
lose_service (sim_world *world, uint8_t host, sim_app *app,
              sim_request *request)
{
    switch (request->state) {
    case SIM_REQUEST_NONE:
    case SIM_REQUEST_ORPHAN:
        break;
    case SIM_REQUEST_HELD:
        request->state = SIM_REQUEST_ORPHAN;
        request->orphan_until = world->apps.lease_until[host];
        break;
    case SIM_REQUEST_ASKED:
    case SIM_REQUEST_AGAIN:
        request->state =
            sim_chance (world, 500) ? SIM_REQUEST_AGAIN : SIM_REQUEST_NONE;
        break;
    case SIM_REQUEST_EXPIRED:
    case SIM_REQUEST_LEAVING:
    case SIM_REQUEST_KEY:
        sim_checker_ended (&world->checker, sim_who_is (host, app, request));
        request->state = SIM_REQUEST_NONE;
        break;
    }
}

void
sim_apps_service_gone (sim_world *world, uint8_t host, bool reboot)
{
    sim_ballast_service_gone (world, host);
    for (int place = 0; place < world->apps.habits.per_host; place++) {
        sim_app *app = &world->apps.app[host][place];
        if (reboot) {
            *app = (sim_app) {.number = ++world->apps.last_number};
            continue;
        }
        for (int i = 0; i < SIM_REQUESTS_MAX; i++) {
            lose_service (world, host, app, &app->request[i]);
        }
    }
    world->apps.lease_until[host] = 0;
}

/*  -------------------------------------------------------- questions */

const sim_request *
sim_apps_unanswered (const sim_world *world, uint8_t host)
{
    for (int place = 0; place < SIM_APPS_MAX; place++) {
        const sim_app *app = &world->apps.app[host][place];
        for (int i = 0; i < SIM_REQUESTS_MAX; i++) {
            sim_request_state state = app->request[i].state;
            if (state != SIM_REQUEST_NONE && state != SIM_REQUEST_HELD) {
                return &app->request[i];
            }
        }
    }
    return NULL;
}

static bool
any_request (const sim_world *world, uint8_t host, uint8_t object, bool held)
{
    for (int place = 0; place < SIM_APPS_MAX; place++) {
        const sim_app *app = &world->apps.app[host][place];
        for (int i = 0; i < SIM_REQUESTS_MAX; i++) {
            const sim_request *request = &app->request[i];
            if (request->object == object
                && (held ? request->state == SIM_REQUEST_HELD
                         : request->state != SIM_REQUEST_NONE)) {
                return true;
            }
        }
    }
    return false;
}

bool
sim_apps_holds (const sim_world *world, uint8_t host, uint8_t object)
{
    return any_request (world, host, object, true);
}

bool
sim_apps_knows (const sim_world *world, uint8_t host, lk_name object)
{
    for (uint8_t i = 0; i < SIM_OBJECTS; i++) {
        lk_name name = sim_object_name (i);
        if (name.size == object.size
            && memcmp (name.data, object.data, name.size) == 0) {
            return any_request (world, host, i, false);
        }
    }
    return sim_ballast_knows (world, host, object);
}
