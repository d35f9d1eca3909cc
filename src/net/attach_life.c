/*  attach_life.c - registers with the router, and again when it was away
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The table at the end says what happens in which state.
 */

#include "net/attach_life.h"

#include "net/clock.h"
#include "net/random.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <unistd.h>

#define TAKEN_RETRY_MS 100

typedef void attach_handler (lk_attach *self);

static void
retry_at (lk_attach *self, int64_t when_ms)
{
    self->retry_ms = when_ms;
    if (self->loop) {
        lk_timer_set (&self->timer, when_ms);
    }
}

/*  Many sessions lose a router at once: so not all at the same time. */
int
lk_attach_seek_ms (lk_attach *self)
{
    int ms = LK_ATTACH_SEEK_SOON_MS << self->misses;

    if (self->link.numbers) {
        return LK_ATTACH_SEEK_FAR_MS;
    }
    if (ms < LK_ATTACH_SEEK_MS) {
        self->misses++;
    } else {
        ms = LK_ATTACH_SEEK_MS;
    }
    return ms * 3 / 4 + (int) (lk_random_id () % ((unsigned) ms / 2 + 1));
}

static void
ignore (lk_attach *self)
{
    (void) self;
}

/*  One that takes the connection and says nothing is not waited for if there
 *  are others. */
static void
wait_for_sign (lk_attach *self)
{
    retry_at (self, lk_link_has_others (&self->link)
                        ? lk_clock_ms () + LK_ATTACH_PATIENCE_MS
                        : INT64_MAX);
}

static void
seek (lk_attach *self)
{
    lk_problem problem;

    self->state = LK_ATTACH_SEEKING;
    self->taken_since = 0;
    lk_link_drop (&self->link);
    self->open_since = lk_clock_ms ();
    if (lk_link_open (&self->link, &problem) == LK_OK) {
        wait_for_sign (self);
    } else {
        retry_at (self, lk_clock_ms () + lk_attach_seek_ms (self));
    }
}

/*  Nobody takes the connection, or whoever does does not speak with us. */
static void
seek_later (lk_attach *self)
{
    lk_link_pass_over (&self->link);
    lk_link_drop (&self->link);
    retry_at (self, lk_clock_ms () + lk_attach_seek_ms (self));
}

void
lk_attach_say_register (lk_attach *self)
{
    const char *credential = self->credential != NULL
                                 ? lk_credential_file_line (self->credential)
                                 : "";
    lk_message *message = lk_message_new (LK_ATTACH_ROUTER, "REGISTER");

    lk_message_set_from (message, self->address);
    lk_message_set_serial (message, ++self->serial);
    lk_message_set_text (message, "service", self->name);
    lk_message_set_text (message, "version", self->version);
    lk_message_set_number (message, "pid", getpid ());
    lk_message_set_flag (message, "application", self->is_application);
    lk_message_set_true (message, "privileged", !self->is_application);
    for (size_t i = 0; i < self->subscription_count; i++) {
        lk_message_add_item (message, "subscribe", self->subscriptions[i]);
    }
    if (credential[0] != '\0') {
        lk_message_set_text (message, "credential", credential);
    }
    self->shown_ms = lk_clock_ms ();
    if (lk_link_pack (&self->link, message) == LK_OK) {
        (void) lk_link_flush (&self->link);
    }
    lk_message_destroy (&message);
}

/*  Frames that were packed for a former connection are not sent on this one. */
static void
send_register (lk_attach *self)
{
    lk_bytes_cut (&self->link.out, 0);
    lk_attach_say_register (self);
    retry_at (self, lk_clock_ms () + LK_ATTACH_REGISTER_MS);
}

static void
seek_next (lk_attach *self)
{
    lk_link_pass_over (&self->link);
    seek (self);
}

static void
repeat_register (lk_attach *self)
{
    if (lk_link_has_others (&self->link) && self->taken_since == 0
        && lk_clock_ms () - self->open_since >= LK_ATTACH_PATIENCE_MS) {
        seek_next (self);
    } else {
        send_register (self);
    }
}

static void
become_ready (lk_attach *self)
{
    self->state = LK_ATTACH_READY;
    self->misses = 0;
    self->answer_ms = lk_clock_ms () - self->asked_ms;
    retry_at (self, INT64_MAX);
    if (!self->is_visitor) {
        snprintf (self->address, sizeof self->address, "%s@%s", self->name,
                  self->host);
    }
    if (self->calls.ready) {
        self->calls.ready (self->user);
    }
}

/*  A visitor is there as soon as it is connected. */
static void
begin_register (lk_attach *self)
{
    self->asked_ms = lk_clock_ms ();
    snprintf (self->address, sizeof self->address, "%s@.", self->name);
    if (self->is_visitor) {
        self->host[0] = '\0';
        become_ready (self);
    } else {
        self->state = LK_ATTACH_REGISTERING;
        send_register (self);
    }
}

static void
lose (lk_attach *self)
{
    seek (self);
    if (self->calls.lost) {
        self->calls.lost (self->user);
    }
}

static void
become_refused (lk_attach *self)
{
    self->state = LK_ATTACH_REFUSED;
    lk_link_drop (&self->link);
    retry_at (self, INT64_MAX);
    if (self->calls.refused) {
        self->calls.refused (self->user, self->reason);
    }
}

static void
wait_for_name (lk_attach *self)
{
    int64_t now = lk_clock_ms ();

    if (self->taken_since == 0) {
        self->taken_since = now;
    }
    if (now - self->taken_since >= self->taken_ms) {
        become_refused (self);
    } else {
        retry_at (self, now + TAKEN_RETRY_MS);
    }
}

static attach_handler *const life[][LK_ATTACH_EVENTS] = {
    [LK_ATTACH_SEEKING] =
        {
            [LK_ATTACH_UP] = begin_register,
            [LK_ATTACH_DOWN] = seek_later,
            [LK_ATTACH_TIME] = seek_next,
            [LK_ATTACH_WELCOME] = ignore,
            [LK_ATTACH_NAME_TAKEN] = ignore,
            [LK_ATTACH_REFUSAL] = ignore,
        },
    [LK_ATTACH_REGISTERING] =
        {
            [LK_ATTACH_UP] = ignore,
            [LK_ATTACH_DOWN] = seek,
            [LK_ATTACH_TIME] = repeat_register,
            [LK_ATTACH_WELCOME] = become_ready,
            [LK_ATTACH_NAME_TAKEN] = wait_for_name,
            [LK_ATTACH_REFUSAL] = become_refused,
        },
    [LK_ATTACH_READY] =
        {
            [LK_ATTACH_UP] = ignore,
            [LK_ATTACH_DOWN] = lose,
            [LK_ATTACH_TIME] = ignore,
            [LK_ATTACH_WELCOME] = ignore,    /* to a repeated REGISTER */
            [LK_ATTACH_NAME_TAKEN] = ignore, /* likewise: by ourselves */
            [LK_ATTACH_REFUSAL] = ignore,
        },
    [LK_ATTACH_REFUSED] =
        {
            [LK_ATTACH_UP] = ignore,
            [LK_ATTACH_DOWN] = ignore,
            [LK_ATTACH_TIME] = ignore,
            [LK_ATTACH_WELCOME] = ignore,
            [LK_ATTACH_NAME_TAKEN] = ignore,
            [LK_ATTACH_REFUSAL] = ignore,
        },
};

void
lk_attach_step (lk_attach *self, lk_attach_event event)
{
    life[self->state][event](self);
}
