/*  bus_fake.h - a bus that is scripted: what is sent is kept
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Defines lk_bus_* itself, so that those of the library are not linked. For
 *  one test program each.
 */

#ifndef LK_BUS_FAKE_H
#define LK_BUS_FAKE_H

#include "wire/message_frame.h"

#include <check.h>
#include <lockkeeper/service.h>

#ifndef SENT_MAX
#define SENT_MAX 64
#endif

struct lk_bus {
    int64_t now_ms;
    int64_t wake_ms;
    int stopped; /* exit code + 1 */
    lk_err refuses;
    lk_message *sent[SENT_MAX];
    size_t count;
    void (*look) (void); /* ahead of each sending */
};

static lk_bus bus;
static const char *bus_address = "10.1.2.3:4040";
static const char *bus_host = "h1";

lk_err
lk_bus_send (lk_bus *self, lk_message **message_p)
{
    if (self->refuses) {
        return self->refuses;
    }
    if (self->look) {
        self->look ();
    }
    ck_assert_uint_lt (self->count, SENT_MAX);
    self->sent[self->count++] = *message_p;
    *message_p = NULL;
    return LK_OK;
}

void
lk_bus_subscribe (lk_bus *self, const char *command)
{
    (void) self;
    (void) command;
}

const char *
lk_bus_host (const lk_bus *self)
{
    (void) self;
    return bus_host;
}

const char *
lk_bus_address (const lk_bus *self)
{
    (void) self;
    return bus_address;
}

const char *
lk_bus_service (const lk_bus *self)
{
    (void) self;
    return "lock";
}

int64_t
lk_bus_now (const lk_bus *self)
{
    return self->now_ms;
}

void
lk_bus_wake_at (lk_bus *self, int64_t when_ms)
{
    self->wake_ms = when_ms;
}

void
lk_bus_watch (lk_bus *self, int fd, void (*fn) (void *user), void *user)
{
    (void) self;
    (void) fd;
    (void) fn;
    (void) user;
}

void
lk_bus_unwatch (lk_bus *self, int fd)
{
    (void) self;
    (void) fd;
}

void
lk_bus_stop (lk_bus *self, int exit_code)
{
    self->stopped = exit_code + 1;
}

static inline void
forget_sent (void)
{
    for (size_t i = 0; i < bus.count; i++) {
        lk_message_destroy (&bus.sent[i]);
    }
    bus.count = 0;
}

/*  The only message sent since then, which must be that. */
static inline const lk_message *
only_sent (const char *to, const char *command)
{
    ck_assert_uint_eq (bus.count, 1);
    ck_assert_str_eq (lk_message_to (bus.sent[0]), to);
    ck_assert_str_eq (lk_message_command (bus.sent[0]), command);
    return bus.sent[0];
}

static inline void
check_text (const lk_message *message, const char *field, const char *text)
{
    ck_assert_ptr_nonnull (lk_message_text (message, field));
    ck_assert_str_eq (lk_message_text (message, field), text);
}

#endif
