/*  client.c - applications with the library: their life and their sessions
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The shell around a book, as src/client/session.c is one.
 */

#include "client.h"

#include "wire/message_frame.h"
#include "world.h"

#include <stdio.h>
#include <string.h>

#define GUARD_MS 200 /* to kill the child of a runner that was killed */

sim_who
sim_client_who (uint8_t host, const sim_client *client)
{
    return (sim_who) {.host = host,
                      .app = client->number,
                      .serial = client->lock ? client->request : 0};
}

/*  -------------------------------------------------------- life */

static void
wake_at (sim_world *world, uint8_t host, int64_t at)
{
    sim_client *self = &world->clients.item[host];

    if (at <= world->now) {
        at = world->now;
    }
    if (at < self->wake_at) {
        self->wake_at = at;
        sim_post (world, at, SIM_EVENT_CLIENT, host, SIM_CLIENT_PLACE);
    }
}

static void
new_life (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    sim_client_kind kind = self->kind;

    *self = (sim_client) {.kind = kind,
                          .number = ++world->apps.last_number,
                          .wake_at = SIM_FOREVER,
                          .deed_at = world->now + 100};
    snprintf (self->address, sizeof self->address, "c%u@h%u", self->number,
              host);
    self->book = lk_book_new ((uint64_t) self->number << 20);
}

static void
end_life (sim_client *self)
{
    lk_message *message;

    lk_book_destroy (&self->book);
    while ((message = lk_message_queue_take (&self->letters))) {
        lk_message_destroy (&message);
    }
    self->number = 0;
}

void
sim_client_begin (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    unsigned bit = sim_app_bit (host, SIM_CLIENT_PLACE);

    if (!(world->options.apps >> bit & 1)) {
        return;
    }
    if (self->number) { /* of the host that had this number */
        end_life (self);
    }
    sim_dice_take (world, SIM_DIE_APP, bit);
    if (sim_chance (world, 300) || sim_is_arbiter (world, host)) {
        return;
    }
    self->kind = sim_chance (world, 250)   ? SIM_WORKER
                 : sim_chance (world, 300) ? SIM_WRITER
                                           : SIM_RUNNER;
    new_life (world, host);
    wake_at (world, host, world->now + sim_between (world, 100, 900));
}

void
sim_clients_begin (sim_world *world)
{
    sim_clients_clear (world);
    for (uint8_t host = 0; host < world->base.count; host++) {
        sim_client_begin (world, host);
    }
}

void
sim_clients_clear (sim_world *world)
{
    for (uint8_t host = 0; host < SIM_HOSTS_MAX; host++) {
        if (world->clients.item[host].number) {
            end_life (&world->clients.item[host]);
        }
    }
    memset (&world->clients, 0, sizeof world->clients);
}

/*  Killed; its child is killed by the guard, in a moment. Another begins. */
static void
die (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    const bool works = sim_child_works (world, host);

    sim_tell (world, host, "client %u dies", self->number);
    sim_checker_app_gone (&world->checker, host, self->number);
    if (works) {
        sim_child_say (world, host, world->now + GUARD_MS);
    }
    sim_desk_send (world, host, self->address, NULL);
    end_life (self);
    new_life (world, host);
    wake_at (world, host, world->now + sim_between (world, 50, 500));
}

/*  -------------------------------------------------------- waking up */

/*  Who granted it: the book keeps only the lease. True: goes on with it. */
static bool
note_grant (sim_client *self, const lk_message *message)
{
    const char *page = lk_message_text (message, "lease_page");
    unsigned host;

    if (self->lock
        && (self->lock->life == LK_LIFE_ASKED || self->lock->resuming) && page
        && lk_message_is (message, "LOCKED")
        && lk_message_serial (message) == self->lock->serial) {
        sscanf (page, "%u.%u", &host, &self->process);
        self->session = (uint64_t) lk_message_number (message, "session", 0);
        return self->lock->resuming;
    }
    return false;
}

/*  Whether it is told that what is to go on is over, by its duration. */
static bool
ends_resuming (const sim_client *self, const lk_message *message)
{
    const char *error = lk_message_text (message, "error");

    return self->lock && self->lock->resuming
           && lk_message_is (message, "UNLOCKED")
           && lk_message_serial (message) == self->lock->serial && error
           && strcmp (error, lk_err_word (LK_TIMEDOUT)) == 0;
}

/*  True: its lock goes on. */
static bool
read_answer (sim_world *world, uint8_t host, const lk_message *message)
{
    sim_client *self = &world->clients.item[host];
    const bool resumes = note_grant (self, message);
    const uint32_t turn = self->lock ? self->lock->turn : 0;

    if (ends_resuming (self, message)) {
        sim_checker_resumed_late (&world->checker, sim_client_who (host, self));
    }
    (void) lk_book_message (self->book, message, sim_host_clock (world, host));
    if (self->lock && self->lock->turn != turn) {
        sim_checker_changes (&world->checker, sim_client_who (host, self),
                             self->lock->change.type, self->lock->turn);
    }
    return resumes && !self->lock->resuming;
}

/*  Its lock service has ended, or has come (back): as the router tells of it,
 *  behind what the service said before. */
static void
read_status (sim_client *self, const lk_message *message, int64_t now_ms)
{
    if (strcmp (lk_message_text (message, "status"), "up") == 0) {
        lk_book_repeat (self->book, now_ms);
    } else {
        lk_book_orphan (self->book, now_ms);
    }
}

/*  That it goes on may be taken back by what it reads next. */
static void
read_all (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    const int64_t now_ms = sim_host_clock (world, host);
    bool resumed = false;
    lk_message *message;

    while ((message = lk_message_queue_take (&self->letters))) {
        if (lk_message_is (message, "STATUS")) {
            read_status (self, message, now_ms);
        } else {
            resumed |= read_answer (world, host, message);
        }
        lk_message_destroy (&message);
    }
    if (resumed) {
        sim_client_resumed (world, host);
    }
    lk_book_tick (self->book, now_ms);
}

/*  What it would answer now if it were asked whether it holds its lock. Nobody
 *  asks while it is paused, nor before it wakes up in the very moment in which
 *  it has to, when its lock service was the first to do so. */
void
sim_client_sees (sim_world *world, uint8_t host)
{
    const sim_client *self = &world->clients.item[host];
    const bool paused = self->paused_clock != 0 || self->wake_at == world->now;

    if (self->number && self->held) {
        int64_t until = sim_true_time (world, host, lk_book_until (self->lock));
        sim_checker_believes (&world->checker, sim_client_who (host, self),
                              until, paused);
    }
}

static void
send_all (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    lk_message *message;

    while ((message = lk_book_next_message (self->book))) {
        sim_desk_send (world, host, self->address, message);
    }
}

static void
schedule (sim_world *world, uint8_t host)
{
    const sim_client *self = &world->clients.item[host];
    int64_t due = sim_true_time (world, host, lk_book_deadline (self->book));

    wake_at (world, host, due <= world->now ? world->now + 1 : due);
    wake_at (world, host, self->deed_at);
    if (sim_child_works (world, host)) {
        wake_at (world, host, self->child_until);
    }
}

static void
work (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    lk_lock_event event;

    self->paused_clock = 0;
    sim_child_watch (world, host);
    read_all (world, host);
    while (lk_book_next_event (self->book, &event)) {
        sim_client_told (world, host, &event);
    }
    if (world->now >= self->deed_at) {
        if (world->apps.open && sim_chance (world, world->apps.habits.vanish)) {
            die (world, host);
            return;
        }
        sim_client_act (world, host);
    }
    sim_client_sees (world, host);
    send_all (world, host);
    schedule (world, host);
}

void
sim_client_wake (sim_world *world, uint8_t host)
{
    sim_client *self = &world->clients.item[host];
    int64_t until = world->host[host].frozen_until;

    if (!self->number || self->wake_at != world->now
        || world->host[host].gone_for_good) {
        return;
    }
    self->wake_at = SIM_FOREVER;
    if (until < self->paused_until) {
        until = self->paused_until;
    }
    if (world->now < until) {
        wake_at (world, host, until);
        return;
    }
    work (world, host);
}

/*  -------------------------------------------------------- from outside */

static void
note_answered (sim_world *world, uint8_t host, const lk_message *message)
{
    sim_client *self = &world->clients.item[host];
    const char *error = lk_message_text (message, "error");
    sim_who who = sim_client_who (host, self);

    sim_checker_answered (&world->checker, who);
    if (lk_message_is (message, "UNLOCKED") && error
        && (strcmp (error, lk_err_word (LK_TIMEDOUT)) == 0
            || strcmp (error, lk_err_word (LK_FORCED)) == 0
            || strcmp (error, lk_err_word (LK_RELEASED)) == 0)) {
        sim_checker_ending (&world->checker, who);
    }
}

void
sim_client_deliver (sim_world *world, uint8_t host, lk_message *message)
{
    sim_client *self = &world->clients.item[host];

    if (!self->number || strcmp (lk_message_to (message), self->address) != 0) {
        lk_message_destroy (&message);
        return;
    }
    if (self->lock
        && (lk_message_serial (message) & ~UINT64_C (1))
               == self->lock->serial) {
        note_answered (world, host, message);
    }
    if (world->options.verbose) {
        const char *error = lk_message_text (message, "error");
        sim_tell (world, host, "client %u is sent %s of request %llu: %s",
                  self->number, lk_message_command (message),
                  (unsigned long long) lk_message_serial (message),
                  error ? error : "ok");
    }
    lk_message_queue_add (&self->letters, message);
    wake_at (world, host, world->now);
}

static void
tell_status (sim_world *world, uint8_t host, const char *status)
{
    sim_client *self = &world->clients.item[host];
    lk_message *message;

    if (self->number) {
        message = lk_message_new (self->address, "STATUS");
        lk_message_set_text (message, "status", status);
        lk_message_queue_add (&self->letters, message);
        wake_at (world, host, world->now);
    }
}

void
sim_client_service_up (sim_world *world, uint8_t host)
{
    tell_status (world, host, "up");
}

void
sim_client_service_gone (sim_world *world, uint8_t host, bool reboot)
{
    sim_client *self = &world->clients.item[host];

    tell_status (world, host, "down");
    if (self->number && reboot) {
        end_life (self);
        new_life (world, host);
        wake_at (world, host, world->now + 300);
    }
}

void
sim_client_look (sim_world *world, uint8_t host)
{
    sim_child_watch (world, host);
}

void
sim_client_pause (sim_world *world, uint8_t host, int64_t duration)
{
    sim_client *self = &world->clients.item[host];
    int64_t until = world->now + duration;

    if (self->number && world->now >= self->paused_until) {
        self->paused_until =
            until < world->storm_end ? until : world->storm_end;
        sim_tell (world, host, "client %u paused till %lld", self->number,
                  (long long) self->paused_until);
        self->paused_clock = sim_host_clock (world, host);
        sim_child_watch (world, host);
    }
}

/*  -------------------------------------------------------- questions */

bool
sim_client_knows (const sim_world *world, uint8_t host, lk_name object)
{
    const sim_client *self = &world->clients.item[host];
    bool is_own = false;

    for (size_t i = 0; i < self->object_count; i++) {
        const lk_name own = sim_object_name (self->objects[i]);
        is_own |= own.size == object.size
                  && memcmp (own.data, object.data, own.size) == 0;
    }
    return is_own && self->number && lk_book_open_count (self->book) > 0;
}

bool
sim_client_waits (const sim_world *world, uint8_t host)
{
    const sim_client *self = &world->clients.item[host];
    const lk_lock *lock = NULL;

    while (self->number && (lock = lk_book_next_lock (self->book, lock))) {
        if (lock->life != LK_LIFE_HELD && lock->life != LK_LIFE_CLOSED) {
            return true;
        }
    }
    return false;
}
