/*  apps_resume.c - applications whose lock service was restarted
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  They say to the next one what they hold, once or more often, and some
 *  change their mind; some say so of what they never held.
 */

#include "world.h"

#include "node_view.h"

bool
sim_request_resumes (const sim_request *request)
{
    return request->state == SIM_REQUEST_RESUMING
           || request->state == SIM_REQUEST_PRETENDING;
}

static void
say (sim_world *world, uint8_t host, const sim_app *app,
     const sim_request *request)
{
    sim_tell (world, host, "app %u goes on with request %llu, token %llx",
              app->number, (unsigned long long) request->serial,
              (unsigned long long) request->token);
    sim_call_send (world, host, app, request, LK_ON_LOCK);
}

bool
sim_resume_orphan (sim_world *world, uint8_t host, sim_app *app,
                   sim_request *request)
{
    if (request->rest_count > 0 || request->mode.is_static
        || !sim_chance (world, world->apps.habits.resume)) {
        return false;
    }
    request->state = SIM_REQUEST_RESUMING;
    request->wait_ms = -1;
    say (world, host, app, request);
    return true;
}

/*  With a key that is another's, or nobody's. */
bool
sim_resume_pretend (sim_world *world, uint8_t host, sim_app *app,
                    sim_request *request)
{
    sim_apps *self = &world->apps;
    uint8_t object = (uint8_t) sim_between (world, 0, SIM_OBJECTS - 1);
    uint64_t key = self->posted_key[object];

    if (self->habits.resume == 0 || !sim_chance (world, 20)) {
        return false;
    }
    if (key == 0 || self->posted_by[object] == app->number
        || sim_chance (world, 300)) {
        key = lk_rng_next (&world->rng) | 1;
    }
    *request = (sim_request) {
        .state = SIM_REQUEST_PRETENDING,
        .serial = ++self->last_serial,
        .object = object,
        .wait_ms = -1,
        .key = key,
        .token = self->posted_token[object] ? self->posted_token[object] : 1,
        .type = LK_EXCLUSIVE,
        .orphan_clock = sim_host_clock (world, host) + 2000};
    say (world, host, app, request);
    return true;
}

bool
sim_resume_act (sim_world *world, uint8_t host, sim_app *app,
                sim_request *request)
{
    if (!world->apps.open || world->now >= request->orphan_until
        || sim_chance (world, 60)) {
        sim_apps_give_back (world, host, app, request);
        return true;
    }
    if (sim_chance (world, 200)) {
        say (world, host, app, request);
        return true;
    }
    return false;
}

/*  Its clock and ours may be a millisecond apart. */
void
sim_resume_locked (sim_world *world, uint8_t host, sim_app *app,
                   sim_request *request, const lk_answer *answer)
{
    const sim_who who = sim_who_is (host, app, request);
    const sim_service *service = &world->checker.service[host];
    const int64_t until = sim_true_time (world, host, answer->until_ms);

    if (request->state == SIM_REQUEST_PRETENDING) {
        sim_checker_fail (&world->checker,
                          "RESUMED: request %llu of h%d, which it never held",
                          (unsigned long long) who.serial, host);
        return;
    }
    if (world->now > request->orphan_until + 1) {
        sim_checker_fail (&world->checker,
                          "RESUMED: request %llu of h%d, too late",
                          (unsigned long long) who.serial, host);
    }
    if (world->now + 1 >= request->orphan_until
        || world->now >= request->until) {
        sim_apps_give_back (world, host, app, request);
        return;
    }
    world->totals.resumed++;
    request->state = SIM_REQUEST_HELD;
    request->danger = false;
    request->token = answer->token;
    request->until = until < request->until ? until : request->until;
    sim_checker_resumed (&world->checker, who,
                         &(sim_grant) {.token = answer->token,
                                       .key = answer->key,
                                       .type = answer->type,
                                       .until = request->until,
                                       .process = service->process,
                                       .session = service->session,
                                       .lease_until = service->lease_until});
}

/*  In a reclaim all may be lost, which it knows of ahead of the judge. */
void
sim_resume_refused (sim_world *world, sim_who who)
{
    const lk_node *node = world->base.node[who.host];

    if (!node || lk_node_core (node)->in_reclaim == 0) {
        sim_checker_not_resumed (&world->checker, who);
    }
}

/*  In good time, or the old lease is over. */
void
sim_resume_lost (sim_world *world, sim_who who, sim_request *request,
                 lk_err error)
{
    if (error == LK_LOST) {
        sim_resume_refused (world, who);
    } else if (error == LK_TIMEDOUT) {
        sim_checker_resumed_late (&world->checker, who);
        sim_checker_expired (&world->checker, who);
    } else if (error == LK_DISCONNECTED
               && world->now + 1 < request->orphan_until) {
        sim_checker_fail (&world->checker,
                          "DISCONNECTED: request %llu of h%d, too early",
                          (unsigned long long) who.serial, who.host);
    }
}
