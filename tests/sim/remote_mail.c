/*  remote_mail.c - letters between applications on other machines and hosts
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Also what the shell of a host does for them: it knows which registration an
 *  answer is for.
 */

#include "world.h"

#include "util/alloc.h"

#include <stdio.h>
#include <string.h>

/*  Numbers of applications: of a registration; of one that has none. */
#define FIRST_ROUTE 0x60000000u
#define NO_ROUTE 0x70000000u

/*  -------------------------------------------------------- on the way */

static uint32_t
keep_mail (sim_remotes *self, const sim_mail *mail)
{
    uint32_t place = self->first_free;

    if (place == self->mail_count) {
        uint32_t count = place ? place * 2 : 64;
        self->mail = lk_realloc (self->mail, count * sizeof *self->mail);
        for (uint32_t i = place; i < count; i++) {
            self->mail[i].next_free = i + 1;
        }
        self->mail_count = count;
    }
    self->first_free = self->mail[place].next_free;
    self->mail[place] = *mail;
    return place;
}

static void
free_mail (sim_remotes *self, uint32_t place)
{
    self->mail[place].next_free = self->first_free;
    self->first_free = place;
}

/*  A letter that comes long after the storm would keep silence away. */
static int64_t
in_time (const sim_world *world, int64_t late_ms)
{
    const int64_t most_ms = world->storm_end + 2000 - world->now;

    return late_ms < most_ms ? late_ms : most_ms;
}

static int64_t
delay (sim_world *world)
{
    const sim_remote_habits *habits = &world->remotes.habits;

    if (world->stormy && sim_chance (world, habits->very_slow)) {
        return in_time (world, sim_between (world, 500, 15000));
    }
    if (world->stormy && sim_chance (world, habits->slow)) {
        return sim_between (world, 10, 1500);
    }
    return sim_between (world, 1, 6);
}

static bool
is_cut (const sim_world *world, const sim_mail *mail)
{
    const sim_remote *remote = &world->remotes.item[mail->remote];
    int64_t until = mail->to_host ? remote->cut_to[mail->host]
                                  : remote->cut_from[mail->host];

    return world->stormy && world->now < until;
}

void
sim_mail_deliver_at (sim_world *world, const sim_mail *mail, int64_t at)
{
    sim_post (world, at, SIM_EVENT_MAIL, mail->host,
              keep_mail (&world->remotes, mail));
}

static void
show_mail (sim_world *world, const sim_mail *mail, const char *how)
{
    static const char *const words[] = {
        "REGISTER", "READY",  "LEASE",    "LOCK",    "UNLOCK", "GOODBYE",
        "LOCKED",   "FAILED", "UNLOCKED", "UNKNOWN", "MOVE"};

    if (world->options.verbose) {
        sim_tell (world, mail->host,
                  "%s remote %u %s number %llu serial %llu token %llx "
                  "left %lld%s",
                  mail->to_host ? "<-" : "->", mail->life,
                  words[mail->letter.kind],
                  (unsigned long long) mail->letter.number,
                  (unsigned long long) mail->letter.serial,
                  (unsigned long long) mail->letter.token,
                  (long long) mail->letter.left_ms, how);
    }
}

void
sim_mail_send (sim_world *world, sim_mail *mail)
{
    const sim_remote_habits *habits = &world->remotes.habits;

    mail->sent_at = world->now;
    lk_rng former =
        sim_dice_take (world, SIM_DIE_REMOTE, ++world->remotes.letters);

    if (sim_plot_takes_mail (world, mail)) {
        show_mail (world, mail, ", by the script");
    } else if (is_cut (world, mail)
               || (world->stormy && sim_chance (world, habits->lost))) {
        show_mail (world, mail, ", lost");
    } else {
        int64_t again = in_time (world, sim_between (world, 0, 8000));
        bool twice = world->stormy && sim_chance (world, habits->repeated);
        show_mail (world, mail, "");
        sim_mail_deliver_at (world, mail, world->now + delay (world));
        if (twice) {
            sim_mail_deliver_at (world, mail, world->now + again);
        }
    }
    world->rng = former;
}

/*  -------------------------------------------------------- at a host */

static lk_registered
id_of (const sim_mail *mail)
{
    return (lk_registered) {.owner = {mail->life, mail->remote + 1u},
                            .number = mail->letter.number,
                            .drawn = mail->letter.drawn};
}

static uint32_t
new_route (sim_remotes *self, const sim_mail *mail)
{
    if (self->route_count == self->route_room) {
        self->route_room = self->route_room ? self->route_room * 2 : 64;
        self->route =
            lk_realloc (self->route, self->route_room * sizeof *self->route);
    }
    self->route[self->route_count] = (sim_route) {.remote = mail->remote,
                                                  .life = mail->life,
                                                  .until_ms = INT64_MAX,
                                                  .earliest_ms = INT64_MAX};
    self->route[self->route_count].id = id_of (mail);
    return FIRST_ROUTE + self->route_count++;
}

/*  Whether the host learns from the letter of that registration's credential: a
 *  REGISTER that is said again is of the registration that there is. */
static bool
is_of (const sim_route *route, const sim_mail *mail)
{
    return route->life == mail->life && route->id.number == mail->letter.number
           && (mail->letter.kind == LK_ROAM_REGISTER
               || (route->id.drawn == mail->letter.drawn && !route->over));
}

/*  Of one that has died meanwhile the host knows no more than before; 0: no
 *  end. */
static int64_t
last_until (const sim_remotes *self, const sim_mail *mail)
{
    const sim_route *latest = NULL;

    for (uint32_t i = 0; i < self->route_count; i++) {
        const sim_route *route = &self->route[i];
        if (is_of (route, mail)
            && (!latest || route->noted_at > latest->noted_at)) {
            latest = route;
        }
    }
    return latest && latest->until_ms != INT64_MAX ? latest->until_ms : 0;
}

/*  The end by the host's wall clock goes with REGISTER and LEASE. */
static void
note_credential (sim_world *world, const sim_mail *mail,
                 lk_app_request *request)
{
    sim_remotes *self = &world->remotes;
    const sim_remote *sender = &self->item[mail->remote];

    request->until_ms = sender->life == mail->life
                            ? sim_remote_until (world, sender, mail->host)
                            : last_until (self, mail);
    for (uint32_t i = 0; i < self->route_count; i++) {
        if (is_of (&self->route[i], mail)) {
            sim_remote_note_until (world, &self->route[i], request->until_ms);
        }
    }
}

/*  Its names, and what it has of each. */
static void
note_wish (lk_app_request *request, const sim_mail *mail)
{
    static lk_name rest[SIM_REMOTE_SET_MAX];
    static char text[64];
    const sim_want *want = &mail->want;

    for (size_t i = 1; i < want->count; i++) {
        rest[i - 1] = sim_object_name (want->object[i]);
    }
    if (want->count > 0) {
        request->object = sim_object_name (want->object[0]);
        request->rest = rest;
        request->rest_count = want->count - 1;
    }
    if (want->count > 1 && mail->letter.token != 0) {
        request->claims = want->held;
    }
    request->mode.is_static = want->is_static;
    request->duration_ms = want->duration_ms;
    request->linger_ms = want->linger_ms;
    request->turn = mail->letter.turn;
    if (request->turn != 0) {
        request->wait_ms = want->turn_wait_ms;
    }
    request->owner.size =
        (uint16_t) snprintf (text, sizeof text, "remote-%llu",
                             (unsigned long long) mail->letter.number);
    request->owner.data = text;
}

static lk_event
event_of (sim_world *world, const sim_mail *mail)
{
    static const lk_event_type types[] = {[LK_ROAM_REGISTER] = LK_ON_REGISTER,
                                          [LK_ROAM_LEASE] = LK_ON_LEASE,
                                          [LK_ROAM_LOCK] = LK_ON_LOCK,
                                          [LK_ROAM_UNLOCK] = LK_ON_UNLOCK,
                                          [LK_ROAM_GOODBYE] = LK_ON_GOODBYE};
    const lk_roam_letter *letter = &mail->letter;
    lk_event event = {.type = types[letter->kind]};
    lk_app_request *request = &event.request;

    *request = (lk_app_request) {.app = NO_ROUTE + mail->remote,
                                 .serial = letter->serial,
                                 .far = id_of (mail),
                                 .left_ms = letter->left_ms,
                                 .sent = letter->sent,
                                 .asked_before = letter->asked_before,
                                 .wait_ms = -1,
                                 .token = letter->token,
                                 .key = letter->key,
                                 .mode = {.type = mail->type},
                                 .pid = mail->life};
    if (letter->kind == LK_ROAM_REGISTER) {
        request->app = new_route (&world->remotes, mail);
        note_credential (world, mail, request);
    } else if (letter->kind == LK_ROAM_LEASE) {
        note_credential (world, mail, request);
    } else if (letter->serial != 0) {
        note_wish (request, mail);
    }
    return event;
}

static sim_who
who_of (const sim_mail *mail)
{
    return (sim_who) {.host = (uint8_t) (SIM_HOSTS_MAX + mail->remote),
                      .app = mail->life,
                      .serial = mail->letter.serial};
}

static void
arrive_at_host (sim_world *world, const sim_mail *mail)
{
    lk_event event;

    if (!sim_host_is_up (world, mail->host)
        || sim_is_arbiter (world, mail->host)) {
        return;
    }
    if (sim_host_is_paused (world, mail->host)) {
        sim_mail_deliver_at (world, mail, world->host[mail->host].paused_until);
        return;
    }
    if (mail->letter.kind == LK_ROAM_LOCK) {
        sim_checker_carries (&world->checker, who_of (mail), mail->host);
    } else if (mail->letter.kind == LK_ROAM_GOODBYE) {
        sim_checker_unregistered (&world->checker, who_of (mail),
                                  mail->letter.number);
    }
    event = event_of (world, mail);
    sim_host_step (world, mail->host, &event);
}

static void
arrive_at_remote (sim_world *world, const sim_mail *mail)
{
    const sim_remote *remote = &world->remotes.item[mail->remote];

    if (remote->life != mail->life || !remote->roam) {
        return;
    }
    if (world->now < remote->paused_until) {
        sim_mail_deliver_at (world, mail, remote->paused_until);
        return;
    }
    sim_remote_hear (world, mail);
}

void
sim_mail_arrive (sim_world *world, uint32_t letter)
{
    const sim_mail mail = world->remotes.mail[letter];

    free_mail (&world->remotes, letter);
    if (is_cut (world, &mail)) {
        return;
    }
    if (mail.to_host) {
        arrive_at_host (world, &mail);
    } else {
        arrive_at_remote (world, &mail);
    }
}

/*  -------------------------------------------------------- its answers */

/*  False: it is not for such an application. */
static bool
kind_of (const lk_answer *answer, lk_roam_kind *kind)
{
    switch (answer->kind) {
    case LK_ANSWER_LOCKED:
        *kind = LK_ROAM_LOCKED;
        return true;
    case LK_ANSWER_FAILED:
        *kind = LK_ROAM_FAILED;
        return true;
    case LK_ANSWER_UNLOCKED:
        *kind = answer->error == LK_OK || answer->error == LK_LATE
                    ? LK_ROAM_UNLOCKED
                    : LK_ROAM_FAILED;
        return true;
    case LK_ANSWER_READY:
        *kind = LK_ROAM_READY;
        return true;
    case LK_ANSWER_LEASE:
        *kind = LK_ROAM_LEASE;
        return true;
    case LK_ANSWER_UNKNOWN:
        *kind = LK_ROAM_UNKNOWN;
        return true;
    case LK_ANSWER_MOVE:
        *kind = LK_ROAM_MOVE;
        return true;
    case LK_ANSWER_JEOPARDY:
    case LK_ANSWER_PENDING:
    case LK_ANSWER_CHECKED:
        break;
    }
    return false;
}

/*  Of no registration: it says itself which one was meant. */
static sim_route
route_of (const sim_remotes *self, const lk_answer *answer)
{
    if (answer->far.number != 0) {
        return (sim_route) {.remote = (uint8_t) (answer->far.owner[1] - 1),
                            .life = (uint32_t) answer->far.owner[0],
                            .id = answer->far};
    }
    return self->route[answer->app - FIRST_ROUTE];
}

static void
note_set (sim_mail *mail, const lk_answer *answer)
{
    mail->want.count = answer->set_count;
    for (size_t i = 0; i < answer->set_count && i < SIM_REMOTE_SET_MAX; i++) {
        const lk_granted *one = &answer->set[i];
        for (uint8_t object = 0; object < SIM_OBJECTS; object++) {
            const lk_name name = sim_object_name (object);
            if (name.size == one->object.size
                && memcmp (name.data, one->object.data, name.size) == 0) {
                mail->want.object[i] = object;
            }
        }
        mail->want.held[i] = (lk_claim) {one->token, one->key};
    }
    if (answer->set_count > 0) {
        mail->letter.token = answer->set[0].token;
        mail->letter.key = answer->set[0].key;
    }
}

bool
sim_remote_answered (sim_world *world, uint8_t host, const lk_answer *answer)
{
    sim_remotes *self = &world->remotes;
    sim_mail mail = {.host = host};

    if (answer->app < FIRST_ROUTE || answer->app > NO_ROUTE + SIM_REMOTES_MAX) {
        return false;
    }
    sim_route route = route_of (self, answer);
    if (answer->app - FIRST_ROUTE < self->route_count) {
        sim_route *registration = &self->route[answer->app - FIRST_ROUTE];
        sim_remote_check_told (world, host, registration, answer);
        registration->over |= answer->kind == LK_ANSWER_UNKNOWN;
    }
    if (!kind_of (answer, &mail.letter.kind)) {
        return true;
    }
    if (answer->kind == LK_ANSWER_READY) {
        self->route[answer->app - FIRST_ROUTE].id = answer->far;
    }
    mail.remote = route.remote;
    mail.life = route.life;
    mail.letter.server = host;
    mail.letter.number = route.id.number;
    mail.letter.drawn = route.id.drawn;
    mail.letter.serial = answer->serial;
    mail.letter.token = answer->token;
    mail.letter.key = answer->key;
    mail.letter.turn = answer->turn;
    note_set (&mail, answer);
    mail.letter.left_ms = answer->left_ms;
    mail.letter.sent = answer->sent;
    mail.type = answer->type;
    mail.error = answer->error;
    mail.refused = answer->kind == LK_ANSWER_FAILED;
    if (answer->kind == LK_ANSWER_UNKNOWN
        || (mail.refused && mail.error == LK_CREDENTIAL)) {
        sim_checker_unregistered (&world->checker, who_of (&mail),
                                  mail.letter.number);
    } else if (mail.letter.kind == LK_ROAM_FAILED) {
        sim_checker_unqueued (&world->checker, who_of (&mail));
    }
    sim_mail_send (world, &mail);
    return true;
}
