/*  remote.c - applications on other machines, which move between servers
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "world.h"

#include "util/alloc.h"

#include <string.h>

#define FAIL(world, ...) sim_checker_fail (&(world)->checker, __VA_ARGS__)

/*  A host of the judge's. */
static uint8_t
place_of (uint8_t remote)
{
    return (uint8_t) (SIM_HOSTS_MAX + remote);
}

int64_t
sim_remote_clock (const sim_world *world, uint8_t remote)
{
    const sim_remote *self = &world->remotes.item[remote];

    return self->offset + world->now * self->rate / 1000;
}

/*  The first true time at which its clock shows that. */
static int64_t
true_time (const sim_remote *self, int64_t clock)
{
    if (clock <= self->offset) {
        return 0;
    }
    return ((clock - self->offset) * 1000 + self->rate - 1) / self->rate;
}

static uint8_t
index_of (const sim_world *world, const sim_remote *self)
{
    return (uint8_t) (self - world->remotes.item);
}

static sim_who
who_of (const sim_world *world, const sim_remote *self, const sim_want *want)
{
    return (sim_who) {.host = place_of (index_of (world, self)),
                      .app = self->life,
                      .serial = want->serial};
}

/*  -------------------------------------------------------- the judge */

/*  Nobody reads its clock while it sleeps. */
static void
say_beliefs (sim_world *world, sim_remote *self)
{
    const bool paused = world->now < self->paused_until;

    for (uint8_t i = 0; i < SIM_OBJECTS; i++) {
        sim_want *want = &self->want[i];
        if (!want->lock || !want->told || want->lock->state != LK_ROAM_HELD) {
            continue;
        }
        int64_t until = lk_roam_until (self->roam, want->lock);
        sim_checker_believes (
            &world->checker, who_of (world, self, want),
            until == LK_ROAM_NEVER ? 0 : true_time (self, until), paused);
    }
}

static sim_want *
want_of (sim_remote *self, const lk_roam_lock *lock)
{
    return lock->user;
    (void) self;
}

static void
end_claim (sim_world *world, sim_remote *self, sim_want *want)
{
    if (want->told) {
        want->told = false;
        sim_checker_ended (&world->checker, who_of (world, self, want));
    }
}

static sim_grant
grant_of (const lk_roam_lock *lock, const sim_want *want)
{
    return (sim_grant) {.token = lock->token,
                        .key = lock->key,
                        .type = want->type,
                        .until = SIM_FOREVER,
                        .session = lock->told_by,
                        .lease_until = SIM_FOREVER};
}

static int64_t
draw_hold (sim_world *world)
{
    int64_t hold_ms = world->remotes.habits.hold_ms;

    return sim_chance (world, 500) ? sim_between (world, 50, hold_ms)
                                   : sim_between (world, hold_ms, 5 * hold_ms);
}

/*  By an operator, or by its key, which an earlier registration may have been
 *  told. */
static bool
was_taken (const sim_world *world)
{
    bool taken = world->remotes.taken;

    for (size_t i = 0; i < world->checker.object_count; i++) {
        const int64_t at = world->checker.object[i].forced_at;
        taken |= at > 0 && world->now - at < 60000;
    }
    return taken;
}

/*  In the calm nothing is lost by time: servers are well, and moves are in
 *  time. */
static void
note_lost (sim_world *world, const sim_remote *self)
{
    world->totals.remote_lost++;
    if (!was_taken (world) && world->checker.settled_at > 0
        && world->now - world->checker.settled_at > 2000) {
        FAIL (world, "REMOTE: %u loses a lock, though nothing is amiss",
              self->life);
    }
}

static void
told (void *context, lk_roam_lock *lock, lk_roam_news news)
{
    sim_world *world = context;
    sim_want *want = lock->user;
    sim_remote *self = NULL;

    for (int i = 0; i < world->remotes.count; i++) {
        sim_remote *each = &world->remotes.item[i];
        if (want >= each->want && want < each->want + SIM_OBJECTS_MAX) {
            self = each;
        }
    }
    LK_ASSERT (self);
    const sim_who who = who_of (world, self, want_of (self, lock));
    const sim_grant grant = grant_of (lock, want);
    sim_tell (world, -1, "remote %u: serial %llu news %d token %llx",
              self->life, (unsigned long long) lock->serial, (int) news,
              (unsigned long long) lock->token);
    switch (news) {
    case LK_ROAM_GRANTED:
        world->totals.remote_grants++;
        sim_checker_granted (&world->checker, who, &grant);
        want->until = world->now + draw_hold (world);
        break;
    case LK_ROAM_GOES_ON:
        world->totals.remote_moves++;
        sim_checker_resumed (&world->checker, who, &grant);
        break;
    case LK_ROAM_LOST:
        note_lost (world, self);
        end_claim (world, self, want);
        break;
    case LK_ROAM_REFUSED:
        end_claim (world, self, want);
        break;
    case LK_ROAM_DONE:
        want->lock = NULL;
        break;
    }
    say_beliefs (world, self);
}

static void
say (void *context, const lk_roam_letter *letter)
{
    sim_world *world = context;
    sim_remotes *remotes = &world->remotes;
    uint8_t remote = (uint8_t) remotes->acting;
    sim_remote *self = &remotes->item[remote];
    const sim_want *want = letter->user;
    sim_mail mail = {.letter = *letter,
                     .remote = remote,
                     .host = (uint8_t) letter->server,
                     .to_host = true,
                     .life = self->life};

    if (want) {
        mail.object = (uint8_t) (want - self->want);
        mail.type = want->type;
    }
    mail.letter.user = NULL;
    sim_mail_send (world, &mail);
}

/*  -------------------------------------------------------- life */

void
sim_remote_wake_at (sim_world *world, uint8_t remote, int64_t at)
{
    sim_remote *self = &world->remotes.item[remote];

    if (at <= world->now) {
        at = world->now + 1;
    }
    if (at < self->wake_at) {
        self->wake_at = at;
        sim_post (world, at, SIM_EVENT_REMOTE, remote, 0);
    }
}

static void
be_born (sim_world *world, uint8_t remote)
{
    sim_remote *self = &world->remotes.item[remote];

    self->life = ++world->remotes.last_life;
    memset (self->want, 0, sizeof self->want);
    self->roam = lk_roam_new (
        &(lk_roam_config) {.told = told,
                           .say = say,
                           .context = world,
                           .lease_ms = world->remotes.habits.lease_ms});
    self->deed_at = world->now;
    self->move_at =
        world->now
        + sim_between (world, 200, 2 * world->remotes.habits.move_ms);
    sim_tell (world, -1, "remote %u is born", self->life);
}

static void
die (sim_world *world, sim_remote *self)
{
    sim_tell (world, -1, "remote %u dies", self->life);
    sim_checker_app_gone (&world->checker, place_of (index_of (world, self)),
                          self->life);
    lk_roam_destroy (&self->roam);
    self->born_at = world->now + sim_between (world, 300, 5000);
}

static void
draw_habits (sim_world *world, sim_remote_habits *habits)
{
    static const int64_t leases[] = {2000, 3000, 6000, 6000, 12000};
    static const int64_t holds[] = {300, 3000, 3000, 12000};
    static const int64_t moves[] = {1500, 1500, 5000, 15000};

    *habits =
        (sim_remote_habits) {.lease_ms = leases[sim_between (world, 0, 4)],
                             .hold_ms = holds[sim_between (world, 0, 3)],
                             .move_ms = moves[sim_between (world, 0, 3)],
                             .pause_ms = sim_chance (world, 500) ? 300 : 1500,
                             .lost = sim_chance (world, 500) ? 0 : 30,
                             .repeated = sim_chance (world, 500) ? 0 : 100,
                             .slow = sim_chance (world, 500) ? 10 : 150,
                             .very_slow = sim_chance (world, 600) ? 0 : 10,
                             .trouble = sim_chance (world, 300) ? 0 : 60,
                             .shared = sim_chance (world, 500) ? 0 : 300,
                             .impatient = 20};
}

void
sim_remotes_begin (sim_world *world)
{
    sim_remotes *self = &world->remotes;
    lk_rng former = sim_dice_take (world, SIM_DIE_REMOTE, 0);

    self->route_count = 0;
    self->letters = 0;
    self->last_life = 0;
    self->count = world->options.remotes;
    for (uint32_t i = 0; i < self->mail_count; i++) {
        self->mail[i].next_free = i + 1;
    }
    self->first_free = 0;
    draw_habits (world, &self->habits);
    for (uint8_t i = 0; i < SIM_REMOTES_MAX; i++) {
        lk_roam_destroy (&self->item[i].roam);
        self->item[i] =
            (sim_remote) {.rate = sim_chance (world, 500)
                                      ? (sim_chance (world, 500) ? 900 : 1100)
                                      : sim_between (world, 900, 1100),
                          .offset = sim_between (world, 1000000, 9000000),
                          .born_at = sim_between (world, 500, 2500),
                          .wake_at = SIM_FOREVER};
        if (!sim_fault_happens (world, SIM_FAULT_CLOCKS)) {
            self->item[i].rate = 1000;
        }
        world->checker.service[place_of (i)] =
            (sim_service) {.session = 1, .lease_until = SIM_FOREVER};
        if (i < self->count) {
            sim_remote_wake_at (world, i, self->item[i].born_at);
        }
    }
    world->rng = former;
}

void
sim_remotes_clear (sim_world *world)
{
    sim_remotes *self = &world->remotes;

    for (uint8_t i = 0; i < SIM_REMOTES_MAX; i++) {
        lk_roam_destroy (&self->item[i].roam);
    }
    lk_free (self->mail);
    lk_free (self->route);
    memset (self, 0, sizeof *self);
}

/*  -------------------------------------------------------- deeds */

static void
ask (sim_world *world, sim_remote *self, uint8_t object)
{
    sim_want *want = &self->want[object];
    const lk_lock_type type = sim_chance (world, world->remotes.habits.shared)
                                  ? LK_SHARED
                                  : LK_EXCLUSIVE;

    *want = (sim_want) {.type = type, .until = SIM_FOREVER};
    want->serial = lk_roam_next_serial (self->roam);
    want->told = true;
    sim_checker_asked (&world->checker, who_of (world, self, want),
                       sim_object_name (object), 0);
    sim_checker_kind (&world->checker, who_of (world, self, want),
                      &(sim_kind) {.mode = {.type = type}});
    sim_tell (world, -1, "remote %u asks for %.*s: serial %llu", self->life,
              (int) sim_object_word (object).size,
              sim_object_word (object).data, (unsigned long long) want->serial);
    want->lock = lk_roam_ask (self->roam, want,
                              sim_remote_clock (world, index_of (world, self)));
    world->totals.requests++;
}

static void
give_back (sim_world *world, sim_remote *self, sim_want *want)
{
    end_claim (world, self, want);
    lk_roam_give_back (self->roam, want->lock,
                       sim_remote_clock (world, index_of (world, self)));
}

static void
act_on (sim_world *world, sim_remote *self, uint8_t object)
{
    sim_want *want = &self->want[object];
    const bool open = world->apps.open;

    if (!want->lock) {
        if (open && sim_chance (world, 500)) {
            ask (world, self, object);
        }
    } else if (want->lock->state == LK_ROAM_HELD
                   ? !open || world->now >= want->until
                   : want->lock->state == LK_ROAM_WAITS
                         && (!open
                             || sim_chance (world,
                                            world->remotes.habits.impatient))) {
        give_back (world, self, want);
    }
}

/*  It is cut off from one host or all, sleeps, or dies. */
static void
have_trouble (sim_world *world, sim_remote *self)
{
    const int64_t until =
        world->now
        + (sim_chance (world, 600) ? sim_between (world, 100, 3000)
                                   : sim_between (world, 1000, 14000));
    const bool all = sim_chance (world, 300);
    const uint8_t host = sim_any_host (world);

    if (sim_chance (world, 150)) {
        die (world, self);
        return;
    }
    if (sim_chance (world, 250)) {
        self->paused_until =
            until < world->storm_end ? until : world->storm_end;
        sim_tell (world, -1, "remote %u sleeps till %lld", self->life,
                  (long long) self->paused_until);
        say_beliefs (world, self);
        return;
    }
    for (uint8_t each = 0; each < SIM_HOSTS_MAX; each++) {
        if (all || each == host) {
            self->cut_from[each] = sim_chance (world, 800) ? until : 0;
            self->cut_to[each] = sim_chance (world, 800) ? until : 0;
        }
    }
    sim_tell (world, -1, "remote %u is cut off from h%d%s till %lld",
              self->life, host, all ? " and all" : "", (long long) until);
}

/*  Where it likes; or, as one does not answer, with the next one: after the
 *  storm some hosts serve nobody any more. */
static void
move (sim_world *world, sim_remote *self, bool in_need)
{
    const lk_roam_place *latest = lk_roam_latest (self->roam);
    const uint8_t host = in_need && latest
                             ? (uint8_t) ((latest->server + 1)
                                          % (int) world->base.count)
                             : sim_any_host (world);

    self->move_at =
        world->now
        + sim_between (world, 200, 2 * world->remotes.habits.move_ms);
    lk_roam_register (self->roam, host,
                      sim_remote_clock (world, index_of (world, self)));
}

static void
act (sim_world *world, sim_remote *self)
{
    self->deed_at =
        world->now
        + sim_between (world, 50,
                       world->apps.open ? world->remotes.habits.pause_ms : 200);
    if (world->stormy && sim_chance (world, world->remotes.habits.trouble)) {
        have_trouble (world, self);
        if (!self->roam || world->now < self->paused_until) {
            return;
        }
    }
    act_on (world, self, (uint8_t) sim_between (world, 0, SIM_OBJECTS - 1));
    if (!world->apps.open) {
        for (uint8_t object = 0; object < SIM_OBJECTS; object++) {
            act_on (world, self, object);
        }
    }
}

static void
schedule (sim_world *world, uint8_t remote)
{
    const sim_remote *self = &world->remotes.item[remote];

    if (!self->roam) {
        sim_remote_wake_at (world, remote, self->born_at);
        return;
    }
    if (world->now < self->paused_until) {
        sim_remote_wake_at (world, remote, self->paused_until);
        return;
    }
    sim_remote_wake_at (
        world, remote,
        true_time (self, lk_roam_deadline (self->roam,
                                           sim_remote_clock (world, remote))));
    sim_remote_wake_at (world, remote, self->deed_at);
    sim_remote_wake_at (world, remote, self->move_at);
}

static void
work (sim_world *world, uint8_t remote)
{
    sim_remote *self = &world->remotes.item[remote];
    const int64_t now_ms = sim_remote_clock (world, remote);

    world->remotes.acting = remote;
    if (!self->roam) {
        if (world->now < self->born_at) {
            return;
        }
        be_born (world, remote);
    }
    lk_roam_tick (self->roam, now_ms);
    const bool in_need = lk_roam_wants_server (self->roam, now_ms);
    if (in_need || (world->now >= self->move_at && world->apps.open)) {
        move (world, self, in_need);
    }
    if (world->now >= self->deed_at) {
        act (world, self);
    }
    if (self->roam) {
        say_beliefs (world, self);
    }
}

void
sim_remote_wake (sim_world *world, uint8_t remote)
{
    sim_remote *self = &world->remotes.item[remote];

    if (self->wake_at != world->now) {
        return;
    }
    self->wake_at = SIM_FOREVER;
    if (world->now >= self->paused_until) {
        work (world, remote);
    }
    schedule (world, remote);
}

void
sim_remote_hear (sim_world *world, const sim_mail *mail)
{
    sim_remote *self = &world->remotes.item[mail->remote];
    lk_roam_letter letter = mail->letter;

    world->remotes.acting = mail->remote;
    world->remotes.taken = mail->taken;
    for (uint8_t i = 0; i < SIM_OBJECTS; i++) {
        if (self->want[i].serial == letter.serial) {
            letter.user = &self->want[i];
        }
    }
    lk_roam_hear (self->roam, &letter, sim_remote_clock (world, mail->remote));
    world->remotes.taken = false;
    say_beliefs (world, self);
    schedule (world, mail->remote);
}

/*  -------------------------------------------------------- questions */

bool
sim_remote_knows (const sim_world *world, const lk_far_id *remote,
                  lk_name object)
{
    const sim_remote *self = &world->remotes.item[remote->owner[1] - 1];

    for (uint8_t i = 0; self->roam && i < SIM_OBJECTS; i++) {
        const lk_name name = sim_object_name (i);
        if (self->want[i].lock && self->want[i].serial == remote->serial
            && name.size == object.size
            && memcmp (name.data, object.data, name.size) == 0) {
            return self->life == remote->owner[0];
        }
    }
    return false;
}

void
sim_remotes_check_calm (sim_world *world)
{
    for (uint8_t i = 0; i < world->remotes.count; i++) {
        const sim_remote *self = &world->remotes.item[i];
        const lk_roam_lock *lock =
            self->roam ? lk_roam_first (self->roam) : NULL;
        if (lock) {
            FAIL (world,
                  "LIVENESS: serial %llu of remote %u is not answered "
                  "(state %d, number %llu)",
                  (unsigned long long) lock->serial, self->life,
                  (int) lock->state, (unsigned long long) lock->number);
        }
    }
}
