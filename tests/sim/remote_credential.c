/*  remote_credential.c - applications on other machines: credentials that end
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Some get another one in time, some late, some never; each host reckons the
 *  end by a wall clock of its own. The judge hears what hosts tell then, and
 *  looks whether locks become free. lockkeeper-protocol(7), 9.20: Credentials.
 */

#include "world.h"

#define WALL_MS 2000   /* wall clocks differ by so much from the true time */
#define FREE_MS 2500   /* until all leaders know that a lock was given back */
#define RETRY_MS 700   /* between two attempts to register without one */
#define EXCUSE_MS 3000 /* a host's clock may be so far ahead of the end */
#define SOON_MS 65000  /* its end is told so long ahead, at most */
#define FAIL(world, ...) sim_checker_fail (&(world)->checker, __VA_ARGS__)

void
sim_credentials_begin (sim_world *world)
{
    sim_remotes *self = &world->remotes;
    lk_rng former = sim_dice_take (world, SIM_DIE_CREDENTIAL, 0);

    self->habits.credentials =
        !world->options.script && sim_chance (world, 600) ? 800 : 0;
    const bool differ = sim_chance (world, 600);
    for (uint8_t host = 0; host < SIM_HOSTS_MAX; host++) {
        self->wall[host] = differ ? sim_between (world, -WALL_MS, WALL_MS) : 0;
    }
    world->rng = former;
}

/*  -------------------------------------------------------- its life */

static int64_t
draw_span (sim_world *world)
{
    if (!world->apps.open) {
        return 10 * 60000; /* to give back all that it has */
    }
    switch (sim_between (world, 0, 4)) {
    case 0:
        return sim_between (world, 10000, 25000);
    case 1:
        return world->stormy ? sim_between (world, 60000, 70000) : 3000;
    default:
        return sim_between (world, 1500, 9000);
    }
}

static void
draw_renewal (sim_world *world, sim_remote *self, int64_t span_ms)
{
    const int64_t chance = sim_between (world, 0, 9);

    self->renew_at = SIM_FOREVER;
    if (chance < (world->stormy ? 5 : 3)) {
        self->renew_at = self->ends_at - sim_between (world, 1, span_ms / 2);
    } else if (chance < (world->stormy ? 7 : 4)) {
        self->renew_at = self->ends_at + sim_between (world, 0, 5000);
    }
}

static void
get_another (sim_world *world, sim_remote *self)
{
    const int64_t span_ms = draw_span (world);

    self->ends_at = world->now + span_ms;
    if (self->last_end < self->ends_at) {
        self->last_end = self->ends_at;
    }
    if (self->first_end > self->ends_at) {
        self->first_end = self->ends_at;
    }
    draw_renewal (world, self, span_ms);
    sim_tell (world, -1, "remote %u has a credential till %lld, renews at %lld",
              self->life, (long long) self->ends_at,
              (long long) self->renew_at);
}

void
sim_remote_get_credential (sim_world *world, sim_remote *self)
{
    lk_rng former =
        sim_dice_take (world, SIM_DIE_CREDENTIAL, ++world->remotes.credentials);

    self->ends_at = SIM_FOREVER;
    self->last_end = SIM_FOREVER;
    self->first_end = SIM_FOREVER;
    self->renew_at = SIM_FOREVER;
    self->shut_out_till = 0;
    if (sim_chance (world, world->remotes.habits.credentials)) {
        self->last_end = 0;
        self->clings = sim_chance (world, 500);
        get_another (world, self);
    }
    world->rng = former;
}

/*  When its registrations were silent, by any clock, */
static int64_t
silent_at (const sim_world *world, const sim_remote *self)
{
    const int64_t wanted_ms = world->remotes.habits.lease_ms;
    const int64_t host_ms = world->common.host_lease_ms;
    const int64_t lease_ms = wanted_ms < host_ms ? wanted_ms : host_ms;

    return self->ends_at + WALL_MS + lease_ms * 3 / 2;
}

/*  ... and what it had is free at the latest. */
static int64_t
free_at (const sim_world *world, const sim_remote *self)
{
    return silent_at (world, self) + FREE_MS;
}

static bool
is_its (const sim_world *world, const sim_remote *self, const lk_ticket *ticket)
{
    return ticket->remote.number != 0
           && ticket->remote.owner[1]
                  == (uint64_t) (self - world->remotes.item) + 1
           && ticket->remote.owner[0] == self->life && !ticket->mode.is_static;
}

/*  A lock that lingers does so for longer. */
static bool
may_linger (const sim_remote *self)
{
    bool found = false;

    for (size_t i = 0; i < SIM_OBJECTS_MAX; i++) {
        found |= self->want[i].linger_ms > 0;
    }
    return found;
}

/*  protocol 9.20: Credentials */
static void
check_free (sim_world *world, const sim_remote *self)
{
    const lk_decree *decree = sim_checker_latest (&world->checker);
    lk_ticket ticket;
    size_t cursor = 0;

    if (world->checker.settled_at == 0 || !decree || may_linger (self)
        || !world->base.node[decree->leader[0]]) {
        return;
    }
    world->totals.expired_checks++;
    while (lk_node_next_ticket (world->base.node[decree->leader[0]], &cursor,
                                &ticket)) {
        if (is_its (world, self, &ticket)) {
            FAIL (world,
                  "CREDENTIAL: serial %llu of remote %u is not free, %lld ms "
                  "after the end of its credential",
                  (unsigned long long) ticket.remote.serial, self->life,
                  (long long) (world->now - self->ends_at));
        }
    }
}

/*  True: it gives up. */
bool
sim_remote_credential_act (sim_world *world, sim_remote *self)
{
    const bool renews =
        self->ends_at != SIM_FOREVER
        && (world->now >= self->renew_at
            || (!world->apps.open && self->ends_at < world->now + 60000));

    if (renews) {
        lk_rng former = sim_dice_take (world, SIM_DIE_CREDENTIAL,
                                       ++world->remotes.credentials);
        world->totals.renewed++;
        get_another (world, self);
        world->rng = former;
        return false;
    }
    if (self->ends_at == SIM_FOREVER || world->now < free_at (world, self)) {
        return false;
    }
    world->totals.expired++;
    check_free (world, self);
    return true;
}

void
sim_remote_credential_wake (sim_world *world, uint8_t remote)
{
    const sim_remote *self = &world->remotes.item[remote];

    if (self->ends_at != SIM_FOREVER) {
        sim_remote_wake_at (world, remote, free_at (world, self));
    }
    if (self->renew_at != SIM_FOREVER) {
        sim_remote_wake_at (world, remote, self->renew_at);
    }
}

/*  It asks on for a while. */
bool
sim_remote_may_ask (const sim_world *world, const sim_remote *self)
{
    return self->ends_at == SIM_FOREVER || world->now < self->ends_at + 1000;
}

/*  Nothing becomes free by that. */
bool
sim_remote_clings (const sim_world *world, const sim_remote *self)
{
    return self->clings && self->renew_at == SIM_FOREVER
           && world->now >= self->ends_at;
}

/*  Nobody hears that it has given that back: it is no fault that nobody has it
 *  until then. */
void
sim_remote_note_clinging (sim_world *world, const sim_remote *self,
                          const sim_want *want)
{
    for (size_t i = 0; i < want->count; i++) {
        sim_checker_kept_back (&world->checker,
                               sim_object_name (want->object[i]),
                               silent_at (world, self));
    }
}

bool
sim_remote_may_lose (const sim_world *world, const sim_remote *self)
{
    return self->first_end != SIM_FOREVER
           && self->first_end <= world->now + EXCUSE_MS;
}

/*  It has no credential any more, and tries again. */
void
sim_remote_shut_out (sim_world *world, sim_remote *self, const sim_mail *mail)
{
    if (mail->letter.kind == LK_ROAM_UNKNOWN && mail->error == LK_CREDENTIAL) {
        self->shut_out_till = world->now + RETRY_MS;
    }
}

/*  -------------------------------------------------------- hosts */

/*  By the host's clock, as its wall clock says at that moment; 0: none. */
int64_t
sim_remote_until (const sim_world *world, const sim_remote *self, uint8_t host)
{
    if (self->ends_at == SIM_FOREVER) {
        return 0;
    }
    const int64_t until_ms = sim_host_clock (world, host) + self->ends_at
                             - world->now + world->remotes.wall[host];
    return until_ms == 0 ? -1 : until_ms;
}

/*  -------------------------------------------------------- the judge */

static bool
is_held (const lk_answer *answer)
{
    return answer->kind == LK_ANSWER_LOCKED || answer->kind == LK_ANSWER_LEASE;
}

static int64_t
smaller (int64_t one, int64_t other)
{
    return one < other ? one : other;
}

/*  Changes at one moment are answered at its end. */
void
sim_remote_note_until (sim_world *world, sim_route *route, int64_t until_ms)
{
    const int64_t end_ms = until_ms == 0 ? INT64_MAX : until_ms;

    if (route->noted_at != world->now) {
        route->least_ms = route->until_ms;
        route->most_ms = route->until_ms;
    }
    route->noted_at = world->now;
    route->until_ms = end_ms;
    route->least_ms = smaller (route->least_ms, end_ms);
    route->earliest_ms = smaller (route->earliest_ms, end_ms);
    route->most_ms = -smaller (-route->most_ms, -end_ms);
}

/*  A host tells nothing that goes beyond what it knows of the credential, and
 *  does not say sooner that it has ended; a request that failed by it is
 *  answered so again. */
void
sim_remote_check_told (sim_world *world, uint8_t host, const sim_route *route,
                       const lk_answer *answer)
{
    const int64_t now_ms = sim_host_clock (world, host);
    const int64_t least_ms =
        answer->kind == LK_ANSWER_LEASE ? answer->left_ms : 1;
    const bool at_once = route->noted_at == world->now;
    const int64_t first_ms = answer->kind == LK_ANSWER_FAILED
                                 ? route->earliest_ms
                             : at_once ? route->least_ms
                                       : route->until_ms;
    const int64_t last_ms = at_once ? route->most_ms : route->until_ms;
    const int64_t soon_ms = answer->kind == LK_ANSWER_JEOPARDY ? SOON_MS : 0;

    if (is_held (answer) && last_ms - now_ms < least_ms) {
        FAIL (world,
              "CREDENTIAL: h%d tells remote %u to hold, %lld ms beyond its end",
              host, route->life, (long long) (now_ms + least_ms - last_ms));
    }
    if (answer->error == LK_CREDENTIAL && first_ms > now_ms + soon_ms) {
        FAIL (world, "CREDENTIAL: h%d tells remote %u too early of its end",
              host, route->life);
    }
    world->totals.expired_told += answer->error == LK_CREDENTIAL;
}

/*  By the slowest clock. */
void
sim_remote_check_belief (sim_world *world, const sim_remote *self,
                         int64_t until)
{
    const int64_t lease_ms = world->remotes.habits.lease_ms;

    if (self->last_end != SIM_FOREVER && until != SIM_FOREVER
        && until > self->last_end + WALL_MS + lease_ms / 7 + 10) {
        FAIL (world,
              "CREDENTIAL: remote %u believes till %lld, and its credential "
              "ends at %lld",
              self->life, (long long) until, (long long) self->last_end);
    }
}
