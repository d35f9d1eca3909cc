/*  client_book.h - a book of the library's, with a lock service and a user that
 *  the test plays
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For one test program each.
 */

#ifndef CLIENT_BOOK_H
#define CLIENT_BOOK_H

#include "client/book.h"

#include "wire/message_frame.h"

#include <check.h>
#include <stdlib.h>

#define START 1000000 /* the boot clock when a test begins */
#define LEASE 8000
#define WORD_MS 50 /* for the lock service to say why a lease ended */

typedef struct {
    lk_book *book;
    int64_t now;
    lk_lock_event event;
    uint64_t serial; /* of the last message that was sent */
    uint64_t request;
    uint64_t key;
    int64_t wait;
} world;

#define FAKE __attribute__ ((unused)) static

FAKE const lk_object_name thing = {"thing", 0};
FAKE const lk_lock_name stranger = {.object = "thing"};

FAKE void
set_up (world *self)
{
    *self = (world) {.book = lk_book_new (100), .now = START};
}

FAKE void
tear_down (world *self)
{
    lk_book_destroy (&self->book);
}

/*  -------------------------------------------------------- the service */

/*  The next message has that command; its fields are noted. */
FAKE void
expect_sent (world *self, const char *command)
{
    lk_message *message = lk_book_next_message (self->book);
    ck_assert_ptr_nonnull (message);
    ck_assert_str_eq (lk_message_command (message), command);
    ck_assert_str_eq (lk_message_to (message), "lock@.");
    ck_assert_str_eq (lk_message_text (message, "object"), "thing");
    self->serial = lk_message_serial (message);
    self->request = (uint64_t) lk_message_number (message, "request", 0);
    self->wait = lk_message_number (message, "wait", -9);
    self->key = 0;
    (void) lk_message_hex (message, "key", &self->key);
    lk_message_destroy (&message);
}

FAKE void
expect_nothing_sent (world *self)
{
    ck_assert_ptr_null (lk_book_next_message (self->book));
}

FAKE void
deliver (world *self, lk_message *message, uint64_t serial)
{
    lk_message_set_serial (message, serial);
    (void) lk_book_message (self->book, message, self->now);
    lk_message_destroy (&message);
}

FAKE void
say_locked (world *self, uint64_t serial, uint64_t key, int64_t until)
{
    lk_message *message = lk_message_new ("app@.", "LOCKED");
    lk_message_set_text (message, "object", "thing");
    lk_message_set_hex (message, "token", 7);
    lk_message_set_hex (message, "key", key);
    lk_message_set_number (message, "session", 3);
    lk_message_set_number (message, "until", until);
    lk_message_set_number (message, "lease_until", START + LEASE);
    deliver (self, message, serial);
}

FAKE void
say (world *self, const char *command, uint64_t serial, const char *error)
{
    lk_message *message = lk_message_new ("app@.", command);
    lk_message_set_text (message, "object", "thing");
    if (error != NULL) {
        lk_message_set_text (message, "error", error);
        lk_message_set_text (message, "text", "because");
    }
    deliver (self, message, serial);
}

/*  -------------------------------------------------------- the user */

FAKE void
expect_event (world *self, lk_event_kind kind, const lk_lock *lock,
              lk_err error)
{
    ck_assert (lk_book_next_event (self->book, &self->event));
    ck_assert_int_eq (self->event.kind, kind);
    ck_assert_ptr_eq (self->event.lock, lock);
    ck_assert_int_eq (self->event.error, error);
}

FAKE void
expect_no_event (world *self)
{
    ck_assert (!lk_book_next_event (self->book, &self->event));
}

FAKE lk_lock *
ask (world *self, int64_t wait_ms)
{
    const lk_lock_options options = {.wait_ms = wait_ms};
    lk_lock *lock = lk_book_lock (self->book, &thing, 1, &options, self->now);
    expect_sent (self, "LOCK");
    ck_assert_uint_eq (self->serial, lock->serial);
    return lock;
}

FAKE lk_lock *
get_until (world *self, int64_t until)
{
    lk_lock *lock = ask (self, LK_FOREVER);
    say_locked (self, lock->serial, 55, until);
    expect_event (self, LK_EVENT_GRANTED, lock, LK_OK);
    ck_assert (lk_book_held (lock, self->now));
    return lock;
}

FAKE lk_lock *
get (world *self)
{
    return get_until (self, -1);
}

FAKE void
pass (world *self, int64_t ms)
{
    self->now += ms;
    lk_book_tick (self->book, self->now);
}

/*  -------------------------------------------------------- every kind */

/*  The next message has that command, serial and body; the process's number
 *  is 1. */
FAKE void
expect_letter (world *self, const char *command, uint64_t serial,
               const char *body)
{
    lk_message *message = lk_book_next_message (self->book);
    ck_assert_ptr_nonnull (message);
    ck_assert_str_eq (lk_message_command (message), command);
    ck_assert_uint_eq (lk_message_serial (message), serial);
    if (lk_message_has (message, "pid")) {
        lk_message_set_number (message, "pid", 1);
    }
    ck_assert_str_eq (lk_message_body (message), body);
    lk_message_destroy (&message);
}

FAKE lk_message *
new_locked (void)
{
    lk_message *message = lk_message_new ("app@.", "LOCKED");
    lk_message_set_text (message, "object", "thing");
    lk_message_set_hex (message, "token", 7);
    lk_message_set_hex (message, "key", 55);
    lk_message_set_number (message, "session", 3);
    lk_message_set_number (message, "until", -1);
    lk_message_set_number (message, "lease_until", START + LEASE);
    return message;
}

FAKE lk_lock *
wish (world *self, const lk_lock_options *options)
{
    lk_lock *lock = lk_book_lock (self->book, &thing, 1, options, self->now);
    expect_sent (self, "LOCK");
    return lock;
}

FAKE void
grant_as (world *self, const lk_lock *lock, const char *type)
{
    lk_message *message = new_locked ();
    lk_message_set_text (message, "type", type);
    deliver (self, message, lock->serial);
}

FAKE lk_lock *
get_as (world *self, lk_lock_type type)
{
    const lk_lock_options options = {.wait_ms = LK_FOREVER,
                                     .mode = {.type = type, .limit = 0}};
    lk_lock *lock = wish (self, &options);
    grant_as (self, lock, type == LK_SHARED ? "shared" : "exclusive");
    expect_event (self, LK_EVENT_GRANTED, lock, LK_OK);
    return lock;
}

FAKE const lk_lock_options again = {.wait_ms = LK_FOREVER, .reentrant = true};

FAKE lk_lock *
join (world *self, lk_lock *lock)
{
    lk_lock *other = lk_book_lock (self->book, &thing, 1, &again, self->now);
    ck_assert_ptr_eq (other, lock);
    expect_nothing_sent (self);
    return other;
}

#endif
