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

/*  What the judge has to know of a LOCKED. */
static void
tell_checker (sim_world *world, sim_who who, const lk_answer *answer)
{
    const sim_service *service = &world->checker.service[who.host];
    sim_grant grants[SIM_OBJECTS];
    sim_grant all = {.token = answer->token,
                     .key = answer->key,
                     .type = answer->type,
                     .ordinal = answer->ordinal,
                     .turn = answer->turn,
                     .until = sim_true_time (world, who.host, answer->until_ms),
                     .process = service->process,
                     .session = service->session,
                     .lease_until = service->lease_until};

    if (answer->set_count == 0) {
        sim_checker_granted (&world->checker, who, &all);
        return;
    }
    all.ordinal = 0;
    for (size_t i = 0; i < answer->set_count && i < SIM_OBJECTS; i++) {
        grants[i] = all;
        grants[i].object = answer->set[i].object;
        grants[i].token = answer->set[i].token;
        grants[i].key = answer->set[i].key;
    }
    sim_checker_granted_all (&world->checker, who, grants, answer->set_count);
}

static void
count_grant (sim_world *world, const sim_request *request)
{
    sim_totals *totals = &world->totals;

    totals->shared += request->mode.type == LK_SHARED;
    totals->units += request->mode.type == LK_SEMAPHORE;
    totals->sets += request->rest_count > 0;
    totals->kept += request->mode.is_static;
    totals->heirs += request->heir_of != 0 && request->heir_of == request->key;
}

/*  What an application keeps of a LOCKED. */
static void
take (sim_world *world, sim_request *request, const lk_answer *answer)
{
    request->granted_count = answer->set_count;
    for (size_t i = 0; i < answer->set_count && i < SIM_OBJECTS; i++) {
        request->granted[i] = answer->set[i];
    }
    request->token =
        answer->set_count > 0 ? answer->set[0].token : answer->token;
    request->key = answer->set_count > 0 ? answer->set[0].key : answer->key;
    request->type = answer->type;
    count_grant (world, request);
    if (sim_chance (world, 300)) {
        world->apps.posted_key[request->object] = request->key;
        world->apps.posted_token[request->object] = request->token;
        world->apps.posted_by[request->object] = answer->app;
    }
}

/*  A change of type makes no lock longer: its home may count a later end than
 *  its holder was told before the lock service was restarted, since a journal
 *  does not know how long it lay there. Protocol 9.11, 9.13, 9.18. */
static void
take_until (sim_world *world, uint8_t host, sim_request *request,
            const lk_answer *answer)
{
    const int64_t until = sim_true_time (world, host, answer->until_ms);

    if (request->state != SIM_REQUEST_HELD || until < request->until) {
        request->until = until;
    }
}

/*  What was asked for is held; or what is held is of another type. */
static void
told_locked (sim_world *world, sim_who who, sim_request *request,
             const lk_answer *answer)
{
    sim_checker *checker = &world->checker;

    take_until (world, who.host, request, answer);
    switch (request->state) {
    case SIM_REQUEST_ASKED:
        request->state = SIM_REQUEST_HELD;
        take (world, request, answer);
        tell_checker (world, who, answer);
        break;
    case SIM_REQUEST_HELD:
        tell_checker (world, who, answer);
        if (request->changing && answer->turn == request->turn) {
            request->changing = false;
            request->type = answer->type;
            request->token = answer->token;
            world->totals.changed_types++;
        }
        break;
    case SIM_REQUEST_EXPIRED:
        break; /* of a change of type, and too late */
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

/*  A journal may bring back what a dead host holds; and while others are
 *  forgotten, nobody can say that none of them was that host. */
static bool
keeps_the_dead (const sim_world *world)
{
    return world->forgetful && world->common.journal != LK_JOURNAL_OFF;
}

/*  A change of type failed: it is held as it was. */
static void
told_unchanged (sim_world *world, sim_who who, sim_request *request,
                const lk_answer *answer)
{
    if (request->changing && answer->turn == request->turn) {
        request->changing = false;
        sim_checker_unchanged (&world->checker, who, answer->turn,
                               answer->error);
    }
}

static void
told_failed (sim_world *world, sim_who who, sim_request *request,
             const lk_answer *answer)
{
    sim_checker *checker = &world->checker;

    if (answer->turn > 0) {
        told_unchanged (world, who, request, answer);
        return;
    }
    if (request->state == SIM_REQUEST_RESUMING) {
        sim_resume_lost (world, who, request, answer->error);
    }
    /*  A duration may be over when LOCKED arrives, long before the wait. */
    if (request->state == SIM_REQUEST_ASKED && answer->error == LK_TIMEDOUT
        && request->duration_ms == 0) {
        sim_checker_timed_out (checker, who);
    } else if (request->state == SIM_REQUEST_ASKED) {
        if (answer->error == LK_FULL && !keeps_the_dead (world)) {
            sim_checker_full (checker, who);
        }
        sim_checker_ended (checker, who);
    } else if (request->state == SIM_REQUEST_HELD) {
        sim_checker_fail (checker,
                          "LOCKFAILED for request %llu of h%d, "
                          "which was told LOCKED",
                          (unsigned long long) who.serial, who.host);
    } else if (request->state == SIM_REQUEST_KEY) {
        sim_kinds_freed (world, request, answer->error);
    }
    request->state = SIM_REQUEST_NONE;
}

/*  Somebody else ended it, and said why. */
static void
told_forced (sim_world *world, sim_who who, const sim_request *request,
             const lk_answer *answer)
{
    lk_name said = sim_object_word (request->object);

    world->totals.forced++;
    if (request->rest_count == 0 && answer->reason.size > 0
        && (answer->reason.size != said.size
            || memcmp (answer->reason.data, said.data, said.size) != 0)) {
        sim_checker_fail (&world->checker,
                          "FORCED: request %llu of h%d is told another reason",
                          (unsigned long long) who.serial, who.host);
    }
    sim_checker_forced (&world->checker, who);
}

/*  A lock that its application held is gone, or only its time is over; that is
 *  said again to who asks for another type then. */
static void
told_lost (sim_world *world, sim_who who, sim_request *request,
           const lk_answer *answer)
{
    sim_checker *checker = &world->checker;

    if (answer->error == LK_TIMEDOUT && request->state == SIM_REQUEST_EXPIRED) {
        return;
    }
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
    } else if (answer->error == LK_FORCED) {
        told_forced (world, who, request, answer);
    } else if (answer->error == LK_ISOLATED || answer->error == LK_QUORUM) {
        sim_plot_isolated (world, who.host);
    }
    sim_checker_ended (checker, who);
    request->state = SIM_REQUEST_NONE;
    world->totals.lost++;
}

/*  What was given back is nobody's in any table. */
static void
note_returned (sim_world *world, const sim_request *request)
{
    sim_checker *checker = &world->checker;

    for (size_t i = 0; i < request->granted_count; i++) {
        sim_checker_returned (checker, request->granted[i].key,
                              request->granted[i].token);
    }
    if (request->granted_count == 0 && request->token != 0) {
        sim_checker_returned (checker, request->key, request->token);
    }
}

/*  Late is who gives back what was over already. Who does so after a session
 *  has ended, too, is not told: nobody knows that any more. */
static void
check_late (sim_world *world, sim_who who, const sim_request *request,
            const lk_answer *answer)
{
    if (answer->error == LK_LATE && request->token != 0 && !request->expired
        && world->now < request->until) {
        sim_checker_fail (&world->checker,
                          "LATE: request %llu of h%d was given back in time",
                          (unsigned long long) who.serial, who.host);
    }
}

static void
told_left (sim_world *world, sim_who who, const sim_request *request,
           const lk_answer *answer)
{
    if (answer->error == LK_OK || answer->error == LK_LATE) {
        check_late (world, who, request, answer);
        note_returned (world, request);
    }
}

static void
told_by_key (sim_world *world, sim_who who, const sim_request *request,
             const lk_answer *answer)
{
    if (answer->error != LK_OK) {
        return;
    }
    if (request->made_up) {
        sim_checker_fail (&world->checker,
                          "WRONG KEY: request %llu of h%d unlocked "
                          "with a made-up key",
                          (unsigned long long) who.serial, who.host);
    }
    sim_checker_key_done (&world->checker, request->key);
    sim_kinds_freed (world, request, LK_OK);
}

static void
told_unlocked (sim_world *world, sim_who who, sim_request *request,
               const lk_answer *answer)
{
    sim_checker *checker = &world->checker;

    switch (request->state) {
    case SIM_REQUEST_HELD:
    case SIM_REQUEST_EXPIRED:
        told_lost (world, who, request, answer);
        return;
    case SIM_REQUEST_RESUMING:
        sim_resume_lost (world, who, request, answer->error);
        told_lost (world, who, request, answer);
        return;
    case SIM_REQUEST_LEAVING:
        told_left (world, who, request, answer);
        break;
    case SIM_REQUEST_KEY:
        told_by_key (world, who, request, answer);
        break;
    case SIM_REQUEST_FORCE:
        if (answer->error == LK_OK) {
            sim_checker_forces_done (checker, sim_object_name (request->object),
                                     request->token, request->sent_at);
        }
        break;
    default:
        break;
    }
    sim_checker_ended (checker, who);
    request->state = SIM_REQUEST_NONE;
}

static void
told_checked (sim_world *world, sim_request *request, const lk_answer *answer)
{
    if (request->state == SIM_REQUEST_CHECK) {
        world->totals.checks++;
        sim_checker_checked (&world->checker, sim_object_name (request->object),
                             request->token, answer->held, answer->newest,
                             request->sent_at);
        request->state = SIM_REQUEST_NONE;
    }
}

/*  It comes and goes by turns, of what is held. */
static void
told_jeopardy (sim_world *world, sim_who who, sim_request *request,
               const lk_answer *answer)
{
    world->totals.dangers += answer->danger;
    if (request->state == SIM_REQUEST_HELD
        && request->danger == answer->danger) {
        sim_checker_fail (&world->checker,
                          "JEOPARDY: request %llu of h%d is told %s twice",
                          (unsigned long long) who.serial, who.host,
                          answer->danger ? "danger" : "safety");
    }
    request->danger = answer->danger;
}

/*  Of what somebody else holds. */
static void
told_pending (sim_world *world, sim_who who, const sim_request *request)
{
    if (request->state != SIM_REQUEST_KEY
        && request->state != SIM_REQUEST_FORCE) {
        sim_checker_fail (&world->checker,
                          "STOPPING told to request %llu of h%d, which ends "
                          "nobody's lock",
                          (unsigned long long) who.serial, who.host);
    }
}

static void
show_answer (sim_world *world, sim_who who, const lk_answer *answer)
{
    static const char *const kinds[] = {"LOCKED",       "LOCKFAILED",
                                        "UNLOCKED",     "LOCKJEOPARDY",
                                        "LOCKSTOPPING", "LOCKCHECK"};

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
        sim_call_decline (world, host, app, answer->serial);
    }
}

void
sim_apps_answered (sim_world *world, uint8_t host, const lk_answer *answer)
{
    sim_who who = {.host = host, .app = answer->app, .serial = answer->serial};
    sim_app *app;
    sim_request *request =
        sim_apps_find (world, host, answer->app, answer->serial, &app);

    if (sim_ballast_answered (world, host, answer)
        || sim_dining_answered (world, host, answer)) {
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
        if (request->state == SIM_REQUEST_RESUMING
            || request->state == SIM_REQUEST_PRETENDING) {
            sim_resume_locked (world, host, app, request, answer);
        } else {
            told_locked (world, who, request, answer);
        }
        break;
    case LK_ANSWER_FAILED:
        told_failed (world, who, request, answer);
        break;
    case LK_ANSWER_UNLOCKED:
        told_unlocked (world, who, request, answer);
        break;
    case LK_ANSWER_JEOPARDY:
        told_jeopardy (world, who, request, answer);
        break;
    case LK_ANSWER_PENDING:
        told_pending (world, who, request);
        break;
    case LK_ANSWER_CHECKED:
        told_checked (world, request, answer);
        break;
    case LK_ANSWER_READY:
    case LK_ANSWER_LEASE:
    case LK_ANSWER_UNKNOWN:
    case LK_ANSWER_MOVE:
        break; /* of a remote one */
    }
}

/*  -------------------------------------------------------- services */

void
sim_apps_lease (sim_world *world, uint8_t host, int64_t until, int64_t clock)
{
    world->apps.lease_until[host] = until;
    world->apps.lease_clock[host] = clock;
}

/*  What is static and was lost sight of is anybody's to end. */
static void
lose_sight (sim_world *world, uint8_t host, sim_app *app, sim_request *request)
{
    sim_who who = sim_who_is (host, app, request);

    sim_kinds_leave (world, host, request);
    if (request->mode.is_static && request->state == SIM_REQUEST_HELD) {
        sim_checker_leaves (&world->checker, who);
        request->state = SIM_REQUEST_NONE;
    } else if (request->state == SIM_REQUEST_HELD) {
        request->state = SIM_REQUEST_ORPHAN;
        if (request->changing && request->asked_type == LK_SHARED) {
            request->type = LK_SHARED;
        }
        request->changing = false;
        request->orphan_until = world->apps.lease_until[host];
        request->orphan_clock = world->apps.lease_clock[host];
    } else {
        sim_checker_ended (&world->checker, who);
        request->state = SIM_REQUEST_NONE;
    }
}

static void
lose_service (sim_world *world, uint8_t host, sim_app *app,
              sim_request *request)
{
    switch (request->state) {
    case SIM_REQUEST_NONE:
    case SIM_REQUEST_ORPHAN:
        break;
    case SIM_REQUEST_RESUMING:
        request->state = SIM_REQUEST_ORPHAN;
        break;
    case SIM_REQUEST_PRETENDING:
        request->state = SIM_REQUEST_NONE;
        break;
    case SIM_REQUEST_ASKED:
    case SIM_REQUEST_AGAIN:
        request->state =
            sim_chance (world, 500) ? SIM_REQUEST_AGAIN : SIM_REQUEST_NONE;
        break;
    case SIM_REQUEST_HELD:
    case SIM_REQUEST_EXPIRED:
    case SIM_REQUEST_LEAVING:
    case SIM_REQUEST_KEY:
    case SIM_REQUEST_FORCE:
    case SIM_REQUEST_CHECK:
        lose_sight (world, host, app, request);
        break;
    }
}

void
sim_apps_service_gone (sim_world *world, uint8_t host, bool reboot)
{
    sim_ballast_service_gone (world, host);
    for (int place = 0; place < world->apps.habits.per_host; place++) {
        sim_app *app = &world->apps.app[host][place];
        for (int i = 0; i < SIM_REQUESTS_MAX; i++) {
            if (reboot) {
                sim_kinds_leave (world, host, &app->request[i]);
            } else {
                lose_service (world, host, app, &app->request[i]);
            }
        }
        if (reboot) {
            *app = (sim_app) {.number = ++world->apps.last_number};
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
is_about (const sim_request *request, uint8_t object)
{
    uint8_t objects[SIM_OBJECTS];
    size_t count = sim_request_objects (request, objects);

    return memchr (objects, object, count) != NULL;
}

static bool
any_request (const sim_world *world, uint8_t host, uint8_t object, bool held)
{
    for (int place = 0; place < SIM_APPS_MAX; place++) {
        const sim_app *app = &world->apps.app[host][place];
        for (int i = 0; i < SIM_REQUESTS_MAX; i++) {
            const sim_request *request = &app->request[i];
            if (is_about (request, object)
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
    return sim_ballast_knows (world, host, object)
           || sim_dining_knows (world, host, object);
}
