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

/*  The first one. */
int64_t
sim_remote_true_time (const sim_remote *self, int64_t clock)
{
    if (clock <= self->offset) {
        return 0;
    }
    if (clock == INT64_MAX) {
        return SIM_FOREVER;
    }
    return ((clock - self->offset) * 1000 + self->rate - 1) / self->rate;
}

static uint8_t
index_of (const sim_world *world, const sim_remote *self)
{
    return (uint8_t) (self - world->remotes.item);
}

sim_who
sim_remote_who (const sim_world *world, const sim_remote *self,
                const sim_want *want)
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
        if (!want->lock || !want->told || want->is_static
            || want->lock->state != LK_ROAM_HELD) {
            continue;
        }
        int64_t until = lk_roam_until (self->roam, want->lock);
        sim_checker_leased (
            &world->checker, sim_remote_who (world, self, want),
            until == LK_ROAM_NEVER ? 0 : sim_remote_true_time (self, until));
        until = want->lock->ends_ms < until ? want->lock->ends_ms : until;
        sim_checker_believes (
            &world->checker, sim_remote_who (world, self, want),
            until == LK_ROAM_NEVER ? 0 : sim_remote_true_time (self, until),
            paused);
        if (until != LK_ROAM_NEVER) {
            sim_remote_check_belief (world, self,
                                     sim_remote_true_time (self, until));
        }
    }
}

static void
end_claim (sim_world *world, sim_remote *self, sim_want *want)
{
    if (want->told) {
        want->told = false;
        sim_checker_ended (&world->checker, sim_remote_who (world, self, want));
    }
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
    const sim_mail *heard = world->remotes.heard;
    bool taken =
        heard && (heard->error == LK_FORCED || heard->error == LK_RELEASED);

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
    if (!was_taken (world) && !sim_remote_may_lose (world, self)
        && world->checker.settled_at > 0
        && world->now - world->checker.settled_at > 2000) {
        FAIL (world, "REMOTE: %u loses a lock, though nothing is amiss",
              self->life);
    }
}

/*  The judge hears what it asks for. */
static void
note_asked (sim_world *world, sim_remote *self, sim_want *want)
{
    const sim_who who = sim_remote_who (world, self, want);
    int64_t grace_ms = world->common.grace_ms;

    grace_ms = grace_ms < want->duration_ms ? want->duration_ms : grace_ms;
    want->told = true;
    for (size_t i = 0; i < want->count; i++) {
        sim_checker_asked (&world->checker, who,
                           sim_object_name (want->object[i]),
                           grace_ms * 6 / 10);
    }
    sim_checker_kind (
        &world->checker, who,
        &(sim_kind) {.mode = {.type = want->type, .is_static = want->is_static},
                     .duration_ms = want->duration_ms * 9 / 10,
                     .linger_ms = want->linger_ms * 9 / 10});
}

static sim_remote *
owner_of (sim_world *world, const sim_want *want)
{
    for (int i = 0; i < world->remotes.count; i++) {
        sim_remote *each = &world->remotes.item[i];
        if (want >= each->want && want < each->want + SIM_OBJECTS_MAX) {
            return each;
        }
    }
    LK_ASSERT (!"of nobody");
    return NULL;
}

/*  Its duration may be over, or its time by its own clock. */
static void
note_lost_lock (sim_world *world, sim_remote *self, sim_want *want)
{
    const bool expired =
        want->lock->ends_ms
        <= sim_remote_clock (world, index_of (world, self)) + 2000;
    if (!expired) {
        note_lost (world, self);
    }
    end_claim (world, self, want);
}

static void
give_back (sim_world *world, sim_remote *self, sim_want *want)
{
    end_claim (world, self, want);
    lk_roam_give_back (self->roam, want->lock,
                       sim_remote_clock (world, index_of (world, self)));
}

static void
told_of (sim_world *world, sim_remote *self, sim_want *want, lk_roam_news news)
{
    switch (news) {
    case LK_ROAM_GRANTED:
        world->totals.remote_grants++;
        sim_remote_tell_granted (world, self, want);
        want->until = world->now + draw_hold (world);
        break;
    case LK_ROAM_GOES_ON:
        world->totals.remote_moves++;
        if (want->ends_ms > sim_remote_clock (world, index_of (world, self))) {
            sim_remote_tell_resumed (world, self, want);
        } else {
            give_back (world, self, want); /* its duration was over */
        }
        break;
    case LK_ROAM_LOST:
        note_lost_lock (world, self, want);
        break;
    case LK_ROAM_REFUSED:
        end_claim (world, self, want);
        break;
    case LK_ROAM_DONE:
        want->lock = NULL;
        break;
    case LK_ROAM_ANEW:
        end_claim (world, self, want);
        want->serial = want->lock->serial;
        note_asked (world, self, want);
        break;
    case LK_ROAM_TURNED:
    case LK_ROAM_NOT_TURNED:
        sim_remote_tell_turned (world, self, want, news == LK_ROAM_TURNED);
        break;
    }
}

static void
told (void *context, lk_roam_lock *lock, lk_roam_news news)
{
    sim_world *world = context;
    sim_want *want = lock->user;
    sim_remote *self = owner_of (world, want);

    sim_tell (world, -1, "remote %u: serial %llu news %d token %llx",
              self->life, (unsigned long long) lock->serial, (int) news,
              (unsigned long long) lock->token);
    want->lock = lock; /* it may be told before it is known */
    told_of (world, self, want, news);
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
    if (sim_remote_clings (world, self)
        && (letter->kind == LK_ROAM_UNLOCK
            || letter->kind == LK_ROAM_GOODBYE)) {
        if (want) {
            sim_remote_note_clinging (world, self, want);
        }
        return;
    }
    sim_mail mail = {.letter = *letter,
                     .remote = remote,
                     .host = (uint8_t) letter->server,
                     .to_host = true,
                     .life = self->life};

    if (want) {
        mail.want = *want;
        mail.type = letter->turn ? want->asked_type : want->type;
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
    sim_remote_get_credential (world, self);
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
    for (uint8_t i = 0; i < SIM_OBJECTS; i++) {
        sim_remote_leaves (world, self, &self->want[i]);
    }
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
                             .special = sim_chance (world, 400) ? 0 : 500,
                             .change = sim_chance (world, 500) ? 0 : 200,
                             .impatient = 20};
}

/*  In a part of the runs there are some. */
static int
draw_count (sim_world *world)
{
    const bool some = sim_chance (world, 330);
    const int count = (int) sim_between (world, 1, SIM_REMOTES_MAX);

    if (world->options.remotes >= 0) {
        return world->options.remotes;
    }
    if (world->options.script) {
        return world->options.script->remotes;
    }
    return some ? count : 0;
}

void
sim_remotes_begin (sim_world *world)
{
    sim_remotes *self = &world->remotes;
    lk_rng former = sim_dice_take (world, SIM_DIE_REMOTE, 0);

    self->route_count = 0;
    self->letters = 0;
    self->credentials = 0;
    self->last_life = 0;
    self->count = draw_count (world);
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
    sim_credentials_begin (world);
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

static bool
is_wanted (const sim_remote *self, uint8_t object)
{
    for (uint8_t i = 0; i < SIM_OBJECTS; i++) {
        const sim_want *want = &self->want[i];
        for (size_t j = 0; want->lock && j < want->count; j++) {
            if (want->object[j] == object) {
                return true;
            }
        }
    }
    return false;
}

static void
ask (sim_world *world, sim_remote *self, uint8_t object)
{
    sim_want *want = &self->want[object];

    sim_remote_wish (world, self, object, want);
    for (size_t i = 0; i < want->count; i++) {
        if (is_wanted (self, want->object[i])) {
            return;
        }
    }
    want->serial = lk_roam_next_serial (self->roam);
    note_asked (world, self, want);
    sim_tell (world, -1,
              "remote %u asks for %.*s: serial %llu, %zu names%s, duration "
              "%lld",
              self->life, (int) sim_object_word (object).size,
              sim_object_word (object).data, (unsigned long long) want->serial,
              want->count, want->is_static ? ", static" : "",
              (long long) want->duration_ms);
    want->lock =
        lk_roam_ask_for (self->roam, want,
                         (lk_roam_kind_of_lock) {.is_static = want->is_static,
                                                 .is_set = want->count > 1},
                         sim_remote_clock (world, index_of (world, self)));
    world->totals.requests++;
}

static void
act_on (sim_world *world, sim_remote *self, uint8_t object)
{
    sim_want *want = &self->want[object];
    const bool open = world->apps.open;

    if (!want->lock) {
        if (open && sim_chance (world, 500)
            && sim_remote_may_ask (world, self)) {
            ask (world, self, object);
        }
        return;
    }
    const bool held = want->lock->state == LK_ROAM_HELD;
    const bool expired = held
                         && want->lock->ends_ms <= sim_remote_clock (
                                world, index_of (world, self));
    if (held && open && !expired && sim_remote_changes (world, self, want)) {
        return;
    }
    if (held
            ? !open || expired || world->now >= want->until
            : want->lock->state == LK_ROAM_WAITS
                  && (!open
                      || sim_chance (world, world->remotes.habits.impatient))) {
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
    const uint8_t host =
        in_need && latest ? sim_next_served (
            world, (uint8_t) ((latest->server + 1) % (int) world->base.count))
                          : sim_any_served (world);

    self->move_at =
        world->now
        + sim_between (world, 200, 2 * world->remotes.habits.move_ms);
    lk_roam_register (self->roam, host,
                      sim_remote_clock (world, index_of (world, self)));
}

void
sim_remotes_go_to (sim_world *world, uint8_t host)
{
    for (uint8_t i = 0; i < world->remotes.count; i++) {
        sim_remote *self = &world->remotes.item[i];
        if (self->roam && world->now >= self->paused_until) {
            world->remotes.acting = i;
            lk_roam_register (self->roam, host, sim_remote_clock (world, i));
        }
    }
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
        sim_remote_true_time (
            self,
            lk_roam_deadline (self->roam, sim_remote_clock (world, remote))));
    sim_remote_credential_wake (world, remote);
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
    if (sim_remote_credential_act (world, self)) {
        die (world, self);
        return;
    }
    lk_roam_tick (self->roam, now_ms);
    const bool in_need = lk_roam_wants_server (self->roam, now_ms)
                         && world->now >= self->shut_out_till;
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

/*  Of a set its own first name counts, wherever that stands in the letter; and
 *  the latest change of type may have failed. */
static void
read_locked (const sim_remote *self, const sim_mail *mail,
             lk_roam_letter *letter)
{
    const lk_roam_lock *lock = lk_roam_first (self->roam);

    while (lock && lock->serial != letter->serial) {
        lock = lock->next;
    }
    const sim_want *want = lock ? lock->user : NULL;
    if (want && letter->kind == LK_ROAM_LOCKED
        && mail->type != want->asked_type) {
        letter->turn = 0;
    }
    for (size_t i = 0; want && i < mail->want.count; i++) {
        if (mail->want.object[i] == want->object[0]) {
            letter->token = mail->want.held[i].token;
            letter->key = mail->want.held[i].key;
        }
    }
}

/*  A claim that was not taken is said elsewhere, or again. */
static bool
is_no_news (const sim_remote *self, const sim_mail *mail)
{
    const lk_roam_lock *lock = lk_roam_first (self->roam);

    while (lock && lock->serial != mail->letter.serial) {
        lock = lock->next;
    }
    return mail->refused && mail->error == LK_CREDENTIAL
           && mail->letter.turn == 0 && lock && lock->state == LK_ROAM_HELD;
}

void
sim_remote_hear (sim_world *world, const sim_mail *mail)
{
    sim_remote *self = &world->remotes.item[mail->remote];
    lk_roam_letter letter = mail->letter;

    sim_remote_shut_out (world, self, mail);
    if (is_no_news (self, mail)) {
        return;
    }
    read_locked (self, mail, &letter);
    world->remotes.acting = mail->remote;
    world->remotes.heard = mail;
    lk_roam_hear (self->roam, &letter, sim_remote_clock (world, mail->remote));
    world->remotes.heard = NULL;
    say_beliefs (world, self);
    schedule (world, mail->remote);
}

/*  -------------------------------------------------------- questions */

bool
sim_remote_knows (const sim_world *world, const lk_far_id *remote,
                  lk_name object)
{
    const sim_remote *self = &world->remotes.item[remote->owner[1] - 1];

    const lk_roam_lock *lock = self->roam ? lk_roam_first (self->roam) : NULL;
    for (; lock; lock = lock->next) {
        const sim_want *want = lock->user;
        for (size_t i = 0; lock->serial == remote->serial && i < want->count;
             i++) {
            const lk_name name = sim_object_name (want->object[i]);
            if (name.size == object.size
                && memcmp (name.data, object.data, name.size) == 0) {
                return self->life == remote->owner[0];
            }
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
