/*  book.c - fuzz target: bytes as what happens to a session's locks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The user wishes, the lock service says anything at all, time passes, the
 *  lease page changes: each step is one byte and what it needs. After each
 *  what the book says of its locks must fit together.
 */

#include "client/book.h"

#include "lib/fuel.h"
#include "lib/memory_file.h"
#include "util/assert.h"
#include "wire/message_frame.h"

#include <stdio.h>
#include <string.h>

#define LOCKS_MAX 12
#define SERIAL 100
#define TIME_MAX (INT64_C (1) << 45) /* what lock.c lets through */
#define CLOCK_MAX (INT64_C (1) << 52)

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/*  A lock that the user has. */
typedef struct {
    lk_lock *lock;
    size_t requests;                /* that gave it */
    size_t told[LK_EVENT_SAFE + 1]; /* events, by their kind */
    size_t asked_back;
} owned;

typedef struct {
    lk_fuel fuel;
    lk_book *book;
    int64_t now_ms;
    owned own[LOCKS_MAX];
    size_t count;
} world;

static const lk_object_name thing = {"thing", 0};
static const lk_object_name pair[] = {{"a", 0}, {"\xff\0", 2}};
static const lk_lock_name stranger = {.object = "thing"};

static lk_memory_file page;

/*  -------------------------------------------------------- checks */

static void
check_lock (const world *self, const lk_lock *lock)
{
    LK_ASSERT (lock->book == self->book && lock->life < LK_LIFE_COUNT);
    LK_ASSERT (lock->life != LK_LIFE_CLOSED || lock->repeat_at == INT64_MAX);
    LK_ASSERT (lock->users > 0 || lock->events == 0);
    LK_ASSERT (lock->given <= lock->users);
    LK_ASSERT (!lk_book_holds (lock)
               || (lock->token != 0 && lock->lease != NULL));
    LK_ASSERT (
        !lk_book_held (lock, self->now_ms)
        || (lk_book_holds (lock)
            && (lock->wish.mode.lenient || self->now_ms < lock->until_ms)));
    LK_ASSERT (lock->life != LK_LIFE_LEFT
               || (lock->users == 0 && lock->repeat_at == INT64_MAX));
    LK_ASSERT (lock->repeat_at >= lk_book_deadline (self->book));
    LK_ASSERT (lock->serial % 2 == 0);
}

static void
check_all (const world *self)
{
    const lk_lock *lock = NULL;
    size_t open = 0, unread = 0;
    while ((lock = lk_book_next_lock (self->book, lock)) != NULL) {
        check_lock (self, lock);
        open += lock->life != LK_LIFE_CLOSED && lock->life != LK_LIFE_LEFT;
        unread += lock->events;
    }
    LK_ASSERT (open == lk_book_open_count (self->book));
    LK_ASSERT (lk_book_has_event (self->book) == (unread > 0));
}

/*  Nobody is told a second time, or of an end without a beginning. */
static void
check_told (const owned *own)
{
    const size_t *told = own->told;
    LK_ASSERT (told[LK_EVENT_GRANTED] <= own->requests
               && told[LK_EVENT_FAILED] <= own->requests);
    LK_ASSERT (told[LK_EVENT_GRANTED] == 0 || told[LK_EVENT_FAILED] == 0);
    LK_ASSERT (told[LK_EVENT_LOST] <= (told[LK_EVENT_GRANTED] > 0));
    LK_ASSERT (told[LK_EVENT_RELEASED] <= own->asked_back);
    LK_ASSERT (told[LK_EVENT_SAFE] <= told[LK_EVENT_JEOPARDY]
               && told[LK_EVENT_JEOPARDY] <= told[LK_EVENT_SAFE] + 1);
}

/*  -------------------------------------------------------- the user */

static owned *
pick (world *self)
{
    const uint8_t which = lk_fuel_byte (&self->fuel);
    return self->count > 0 ? &self->own[which % self->count] : NULL;
}

static void
own_it (world *self, lk_lock *lock, bool asked_back)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->own[i].lock == lock) {
            self->own[i].requests++; /* re-entrant */
            return;
        }
    }
    self->own[self->count++] =
        (owned) {.lock = lock, .requests = 1, .asked_back = asked_back};
}

static lk_lock_mode
choose_mode (world *self)
{
    const uint8_t how = lk_fuel_byte (&self->fuel);
    return (lk_lock_mode) {.type = how % LK_LOCK_TYPE_COUNT,
                           .limit = how % 5,
                           .lenient = (how & 32) != 0,
                           .is_static = (how & 64) != 0};
}

static void
ask (world *self)
{
    const int64_t wait = (int64_t) lk_fuel_number (&self->fuel);
    const int64_t duration = (int64_t) lk_fuel_number (&self->fuel);
    const lk_lock_options options = {
        .wait_ms = wait < LK_FOREVER || wait > TIME_MAX ? LK_FOREVER : wait,
        .duration_ms = duration < 0 || duration > TIME_MAX ? 0 : duration,
        .mode = choose_mode (self),
        .reentrant = lk_fuel_byte (&self->fuel) % 4 == 0};
    const bool many = !options.reentrant && options.mode.limit == 4;
    if (self->count < LOCKS_MAX) {
        own_it (self,
                lk_book_lock (self->book, many ? pair : &thing, many ? 2 : 1,
                              &options, self->now_ms),
                false);
    }
}

static void
begin_deed (world *self)
{
    const uint64_t number = lk_fuel_number (&self->fuel);
    lk_lock *deed;
    if (self->count == LOCKS_MAX) {
        return;
    }
    switch (number % 3) {
    case 0:
        deed = lk_book_unlock_by_key (self->book, &stranger, number, number & 4,
                                      self->now_ms);
        break;
    case 1:
        deed = lk_book_force (self->book, &stranger,
                              &(lk_taking) {.token = number & 4,
                                            .reason = number & 8 ? "why" : NULL,
                                            .now = number & 16},
                              self->now_ms);
        break;
    default:
        deed = lk_book_check (self->book, &stranger, number, self->now_ms);
    }
    own_it (self, deed, true);
}

static void
change (world *self)
{
    const int64_t wait = (int64_t) lk_fuel_number (&self->fuel);
    owned *own = pick (self);
    if (own != NULL && lk_book_holds (own->lock)) {
        lk_book_change (self->book, own->lock, wait & 1,
                        wait < LK_FOREVER || wait > TIME_MAX ? LK_FOREVER
                                                             : wait,
                        self->now_ms);
    }
}

static void
release (world *self)
{
    owned *own = pick (self);
    if (own != NULL) {
        own->asked_back++;
        lk_book_release (self->book, own->lock, self->now_ms);
    }
}

static void
let_go (world *self, bool discard)
{
    owned *own = pick (self);
    if (own == NULL) {
        return;
    }
    if (discard) {
        lk_book_discard (self->book, own->lock);
    } else if (own->lock->users > 1) {
        lk_book_forget (self->book, own->lock, self->now_ms);
        return;
    } else {
        lk_book_forget (self->book, own->lock, self->now_ms);
    }
    *own = self->own[--self->count];
}

static void
leave (world *self, bool abandon)
{
    owned *own = pick (self);
    if (own == NULL || (!abandon && !lk_book_holds (own->lock))) {
        return;
    }
    if (abandon) {
        lk_book_abandon (self->book, own->lock, self->now_ms);
    } else {
        lk_book_leave (self->book, own->lock, self->now_ms);
    }
    *own = self->own[--self->count];
}

static void
take_events (world *self)
{
    lk_lock_event event;
    while (lk_book_next_event (self->book, &event)) {
        size_t i = 0;
        while (i < self->count && self->own[i].lock != event.lock) {
            i++;
        }
        LK_ASSERT (i < self->count && event.kind <= LK_EVENT_SAFE);
        self->own[i].told[event.kind]++;
        check_told (&self->own[i]);
    }
}

static void
drop_events (world *self)
{
    take_events (self);
    owned *own = pick (self);
    if (own != NULL) {
        lk_book_drop_events (self->book, own->lock, LK_EVENT_NONE);
    }
}

/*  What is sent can be, and names a request. */
static void
take_messages (world *self)
{
    lk_message *message;
    while ((message = lk_book_next_message (self->book)) != NULL) {
        lk_bytes frame = {0};
        const bool asks = lk_message_is (message, "LOCK");
        LK_ASSERT (asks || lk_message_is (message, "UNLOCK")
                   || lk_message_is (message, "LOCKCHECK"));
        LK_ASSERT (lk_message_serial (message) % 2 == !asks);
        LK_ASSERT (!asks || lk_message_number (message, "wait", -9) >= -1);
        lk_message_set_from (message, "a@h1");
        const lk_err error = lk_message_write (message, &frame);
        LK_ASSERT (error == LK_OK);
        lk_bytes_clear (&frame);
        lk_message_destroy (&message);
    }
}

/*  -------------------------------------------------------- the service */

static void
add_row (lk_message *message, const char *field, const char *name)
{
    lk_message *row = lk_message_row_new ();
    lk_message_set_text (row, field, name);
    lk_message_set_hex (row, "token", 3);
    lk_message_add_row (message, "locks", &row);
}

static void
add_more_fields (world *self, lk_message *message)
{
    static const char *const types[] = {"exclusive", "shared", "semaphore",
                                        "?"};
    const uint8_t has = lk_fuel_byte (&self->fuel);
    if (has & 3) {
        lk_message_set_text (message, "type", types[has & 3]);
    }
    if (has & 4) {
        lk_message_set_number (message, "turn", lk_fuel_byte (&self->fuel) % 4);
    }
    lk_message_set_flag (message, "static", (has & 24) == 24);
    lk_message_set_flag (message, "danger", (has & 8) != 0);
    lk_message_set_flag (message, "late", (has & 16) != 0);
    if (has & 32) {
        lk_message_set_hex (message, "newest", has);
    }
    if (has & 64) {
        add_row (message, "object_hex", "ff00");
        add_row (message, "object", "a");
    }
    lk_message_set_number (message, "lease", has & 128 ? 8000 : 0);
}

static void
add_fields (world *self, lk_message *message)
{
    static const char *const pages[] = {"/nowhere/page", "", "/"};
    static const char *const numbers[] = {"session", "until", "lease_until",
                                          "left"};
    const uint8_t has = lk_fuel_byte (&self->fuel);
    if (has & 1) {
        lk_message_set_hex (message, "token", lk_fuel_number (&self->fuel));
    }
    if (has & 2) {
        lk_message_set_hex (message, "key", lk_fuel_number (&self->fuel));
    }
    for (size_t i = 0; i < 4; i++) {
        if (has >> i & 4) {
            const int64_t number =
                (int64_t) (lk_fuel_number (&self->fuel) & INT64_MAX) / 2;
            lk_message_set_number (message, numbers[i],
                                   i == 0 ? number : self->now_ms + number);
        }
    }
    if (has & 64) {
        const size_t which = lk_fuel_below (&self->fuel, 4);
        lk_message_set_text (message, "lease_page",
                             which == 3 ? page.path : pages[which]);
    }
    add_more_fields (self, message);
    if (has & 128) {
        lk_message_set_text (
            message, "error",
            lk_err_word (lk_fuel_below (&self->fuel, LK_ERROR_COUNT)));
        lk_message_set_text (message, "text", "because");
    }
}

static void
hear (world *self)
{
    static const char *const commands[] = {
        "LOCKED",  "UNLOCKED", "LOCKFAILED",   "INVALID",
        "UNKNOWN", "ALIVE",    "LOCKJEOPARDY", "LOCKCHECK"};
    const size_t which = lk_fuel_below (&self->fuel, 8);
    const uint64_t serial = SERIAL + lk_fuel_byte (&self->fuel) % 32;
    lk_message *message = lk_message_new ("a@h1", commands[which]);
    lk_message_set_serial (message, serial);
    lk_message_set_text (message, "object", "thing");
    add_fields (self, message);
    (void) lk_book_message (self->book, message, self->now_ms);
    lk_message_destroy (&message);
}

/*  What a lock service says that means it: any lock, until a time to come. */
static void
hear_grant (world *self)
{
    lk_message *message = lk_message_new ("a@h1", "LOCKED");
    lk_message_set_serial (message,
                           SERIAL + lk_fuel_byte (&self->fuel) % 32 / 2 * 2);
    lk_message_set_text (message, "object", "thing");
    lk_message_set_hex (message, "token", 1 + lk_fuel_byte (&self->fuel));
    lk_message_set_hex (message, "key", lk_fuel_byte (&self->fuel));
    lk_message_set_number (message, "session",
                           1 + lk_fuel_byte (&self->fuel) % 4);
    lk_message_set_number (message, "until", -1);
    lk_message_set_number (message, "lease_until", self->now_ms + 8000);
    lk_message_set_number (message, "lease", 8000);
    lk_message_set_text (message, "lease_page", page.path);
    (void) lk_book_message (self->book, message, self->now_ms);
    lk_message_destroy (&message);
}

static void
write_page (world *self)
{
    struct {
        char tag[8];
        uint64_t session;
        int64_t until_ms;
    } text = {"LKLEASE", 0, 0};
    text.tag[7] = '1';
    text.session = 1 + lk_fuel_byte (&self->fuel) % 4;
    text.until_ms = self->now_ms + (int8_t) lk_fuel_byte (&self->fuel) * 100;
    lk_memory_file_set (&page, &text, sizeof text);
}

/*  -------------------------------------------------------- steps */

static void
pass_time (world *self)
{
    const uint64_t ms = lk_fuel_number (&self->fuel);
    if (ms < (uint64_t) (CLOCK_MAX - self->now_ms)) {
        self->now_ms += (int64_t) ms;
    }
    lk_book_tick (self->book, self->now_ms);
    const lk_lock *lock = NULL;
    while ((lock = lk_book_next_lock (self->book, lock)) != NULL) {
        LK_ASSERT (lock->repeat_at > self->now_ms);
    }
}

static void
step (world *self)
{
    const size_t which = lk_fuel_below (&self->fuel, 18);
    switch (which) {
    case 0:
    case 1:
        ask (self);
        break;
    case 2:
        hear_grant (self);
        break;
    case 3:
    case 4:
        hear (self);
        break;
    case 5:
        pass_time (self);
        break;
    case 6:
        release (self);
        break;
    case 7:
        let_go (self, false);
        break;
    case 8:
        let_go (self, true);
        break;
    case 9:
        begin_deed (self);
        break;
    case 10:
        write_page (self);
        break;
    case 11:
        lk_book_repeat (self->book, self->now_ms);
        break;
    case 12:
        lk_book_give_up (self->book, self->now_ms);
        break;
    case 13:
        drop_events (self);
        break;
    case 14:
    case 15:
        change (self);
        break;
    default:
        leave (self, which == 16);
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    world self = {.fuel = {data, size}, .now_ms = 1000000};
    if (page.path[0] == '\0') {
        lk_memory_file_open (&page);
    }
    write_page (&(world) {.now_ms = self.now_ms + 8000});
    self.book = lk_book_new (SERIAL);
    while (lk_fuel_burns (&self.fuel)) {
        step (&self);
        check_all (&self);
        if (lk_fuel_byte (&self.fuel) % 4 != 0) {
            take_events (&self);
            take_messages (&self);
        }
    }
    lk_book_destroy (&self.book);
    return 0;
}
