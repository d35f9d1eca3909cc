/*  book.c - what a session has asked for and holds
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/book_private.h"

#include <string.h>

#define SHORT_MS 100 /* an answer may take longer than such a wait */

/*  -------------------------------------------------------- queues */

lk_message *
lk_book_next_message (lk_book *self)
{
    return lk_message_queue_take (&self->messages);
}

bool
lk_book_next_event (lk_book *self, lk_lock_event *event)
{
    if (!lk_event_queue_take (&self->events, event)) {
        return false;
    }
    event->lock->events--;
    return true;
}

bool
lk_book_has_event (const lk_book *self)
{
    return self->events.first != NULL;
}

/*  -------------------------------------------------------- life */

static uint32_t
name_hash (const char *object, size_t len)
{
    return (uint32_t) lk_hash64 (object, len);
}

static uint32_t
hash_of_name (const lk_index_link *link)
{
    const lk_lock *lock = (const lk_lock *) link;
    return name_hash (lock->object, lock->len);
}

static uint32_t *
place_in_due (void *lock)
{
    return &((lk_lock *) lock)->due_place;
}

lk_book *
lk_book_new (uint64_t serial)
{
    LK_ASSERT (serial % 2 == 0);
    lk_book *self = lk_alloc (sizeof *self);
    self->serial = serial;
    self->credential_ends_ms = INT64_MAX;
    lk_index_init (&self->names, hash_of_name);
    lk_heap_init (&self->due, place_in_due);
    return self;
}

void
lk_book_act_for (lk_book *self, int64_t pid)
{
    self->pid = pid;
}

void
lk_book_destroy (lk_book **self_p)
{
    lk_book *self = *self_p;
    if (self == NULL) {
        return;
    }
    lk_lock *lock, *next;
    HASH_ITER (hh, self->locks, lock, next) {
        lk_book_destroy_lock (lock);
    }
    lk_message *message;
    while ((message = lk_book_next_message (self)) != NULL) {
        lk_message_destroy (&message);
    }
    lk_lease_drop (&self->lease);
    lk_lease_leave (&self->shelf);
    (void) lk_index_clear (&self->names);
    lk_heap_clear (&self->due);
    lk_free (self);
    *self_p = NULL;
}

/*  -------------------------------------------------------- new entries */

static lk_lock *
start_deed (lk_book *self, const lk_lock_name *name, lk_deed deed,
            int64_t now_ms)
{
    lk_lock *lock = lk_book_add_lock (self, name, now_ms);
    lock->deed = deed;
    lock->life = LK_LIFE_GIVING;
    return lock;
}

/*  -------------------------------------------------------- re-entrance */

static bool
is_same (const lk_lock *lock, const lk_lock_name *name, lk_lock_type type)
{
    return lock->deed == LK_DEED_LOCK && !lock->is_unit && lock->users > 0
           && lock->other_count == 0 && lock->type == type
           && lock->len == name->len
           && memcmp (lock->object, name->object, name->len) == 0
           && strcmp (lock->context, name->context) == 0;
}

/*  The oldest that is held, or asked for. */
static lk_lock *
find_same (const lk_book *self, const lk_lock_name *name, lk_lock_type type,
           int64_t now_ms)
{
    lk_lock *found = NULL;
    lk_index_link *link =
        lk_index_find (&self->names, name_hash (name->object, name->len));
    for (; link != NULL; link = link->next) {
        lk_lock *lock = (lk_lock *) link;
        if (is_same (lock, name, type)
            && (lock->life == LK_LIFE_ASKED || lk_book_held (lock, now_ms))
            && (found == NULL || lock->serial < found->serial)) {
            found = lock;
        }
    }
    return found;
}

/*  What we have of that name and type; one more request has it then. */
static lk_lock *
join (lk_book *self, const lk_lock_name *name, lk_lock_type type,
      int64_t now_ms)
{
    lk_lock *lock = find_same (self, name, type, now_ms);
    if (lock != NULL) {
        lock->users++;
        if (lk_book_holds (lock)) {
            lk_book_tell (lock, LK_EVENT_GRANTED, LK_OK);
        }
    }
    return lock;
}

/*  -------------------------------------------------------- giving back */

static void
note_ending (lk_lock *lock, int64_t now_ms)
{
    lock->late |= lk_book_holds (lock) && now_ms >= lock->until_ms;
    lock->loss = lk_book_loss (lock, now_ms);
}

bool
lk_book_count_down (lk_lock *lock, int64_t now_ms)
{
    if (lock->users - lock->given < 2) {
        return false;
    }
    note_ending (lock, now_ms);
    lock->users--;
    return true;
}

/*  -------------------------------------------------------- wishes */

/*  Whether the wait may be over before anybody can answer: then it is tried
 *  first whether that can be had without waiting. */
static bool
is_short (int64_t wait_ms)
{
    return wait_ms > 0 && wait_ms < SHORT_MS;
}

lk_lock *
lk_book_lock (lk_book *self, const lk_object_name *names, size_t count,
              const lk_lock_options *options, int64_t now_ms)
{
    const lk_lock_name name = {
        .object = names[0].object,
        .len = lk_book_name_len (names[0].object, names[0].len),
        .context = options->context != NULL ? options->context : ""};
    lk_lock *lock = options->reentrant
                        ? join (self, &name, options->mode.type, now_ms)
                        : NULL;
    if (lock != NULL) {
        return lock;
    }
    lock = lk_book_add_lock (self, &name, now_ms);
    if (count > 1) {
        lk_book_add_others (lock, names + 1, count - 1);
    }
    lock->wish = *options;
    lock->wish.context = lock->context;
    lock->type = options->mode.type;
    lock->tries = is_short (options->wait_ms);
    lk_book_send_open (lock, now_ms);
    return lock;
}

void
lk_book_renumber (lk_lock *lock)
{
    HASH_DEL (lock->book->locks, lock);
    lk_book_enter_serial (lock);
}

void
lk_book_wait_on (lk_lock *lock, int64_t now_ms)
{
    lk_book_renumber (lock);
    lock->tries = false;
    lk_book_send_open (lock, now_ms);
}

lk_lock *
lk_book_unlock_by_key (lk_book *self, const lk_lock_name *name, uint64_t key,
                       bool now, int64_t now_ms)
{
    lk_lock *lock = start_deed (self, name, LK_DEED_UNLOCK, now_ms);
    lock->key = key;
    lock->now = now;
    lk_book_send_open (lock, now_ms);
    return lock;
}

lk_lock *
lk_book_force (lk_book *self, const lk_lock_name *name, const lk_taking *how,
               int64_t now_ms)
{
    lk_lock *lock = start_deed (self, name, LK_DEED_FORCE, now_ms);
    lock->token = how->token;
    lock->now = how->now;
    lock->reason = how->reason != NULL ? lk_strdup (how->reason) : NULL;
    lk_book_send_open (lock, now_ms);
    return lock;
}

lk_lock *
lk_book_check (lk_book *self, const lk_lock_name *name, uint64_t token,
               int64_t now_ms)
{
    lk_lock *lock = start_deed (self, name, LK_DEED_CHECK, now_ms);
    lock->token = token;
    lk_book_send_open (lock, now_ms);
    return lock;
}

void
lk_book_change (lk_book *self, lk_lock *lock, lk_lock_type type,
                int64_t wait_ms, int64_t now_ms)
{
    LK_ASSERT (lock->book == self && lk_book_holds (lock));
    lock->error = LK_OK;
    if (lock->life == LK_LIFE_HELD && lock->type == type) {
        lk_book_tell (lock, LK_EVENT_CHANGED, LK_OK);
        return;
    }
    lock->change = (lk_type_change) {.type = type,
                                     .wait_ms = wait_ms,
                                     .asked_at = now_ms,
                                     .tries = is_short (wait_ms)};
    lk_book_occur (lock, LK_ON_CHANGE, LK_OK, now_ms);
}

void
lk_book_release (lk_book *self, lk_lock *lock, int64_t now_ms)
{
    LK_ASSERT (lock->book == self);
    note_ending (lock, now_ms);
    if (lock->users - lock->given > 1) {
        lock->given++;
        lk_book_tell (lock, LK_EVENT_RELEASED, lk_book_ending (lock));
        return;
    }
    lock->given = lock->users;
    lk_book_occur (lock, LK_ON_RELEASE, LK_OK, now_ms);
}

static void
let_go (lk_lock *lock, lk_occurrence how, int64_t now_ms)
{
    lk_book_drop_events (lock->book, lock, LK_EVENT_NONE);
    lock->users = lock->given = 0;
    lock->user = NULL;
    lk_book_occur (lock, how, LK_OK, now_ms);
}

void
lk_book_forget (lk_book *self, lk_lock *lock, int64_t now_ms)
{
    LK_ASSERT (lock->book == self);
    if (lock->users > 1) {
        lock->users--;
        lock->given -= lock->given > 0;
        return;
    }
    let_go (lock, LK_ON_FORGET, now_ms);
}

void
lk_book_leave (lk_book *self, lk_lock *lock, int64_t now_ms)
{
    LK_ASSERT (lock->book == self && lk_book_holds (lock));
    let_go (lock, LK_ON_LEAVE, now_ms);
}

void
lk_book_abandon (lk_book *self, lk_lock *lock, int64_t now_ms)
{
    LK_ASSERT (lock->book == self);
    let_go (lock,
            lock->is_static && lk_book_holds (lock) ? LK_ON_LEAVE
                                                    : LK_ON_FORGET,
            now_ms);
}

void
lk_book_discard (lk_book *self, lk_lock *lock)
{
    LK_ASSERT (lock->book == self);
    lk_book_destroy_lock (lock);
}

void
lk_book_desert (lk_book *self, bool deserted)
{
    self->deserted = deserted;
    for (lk_lock *lock = self->locks; lock != NULL; lock = lock->hh.next) {
        lk_book_reconsider (lock);
    }
}

void
lk_book_set_credential (lk_book *self, bool ends, int64_t now_ms)
{
    lk_lock *lock, *next;
    self->credential_ends = ends;
    HASH_ITER (hh, self->locks, lock, next) {
        lk_book_weigh_credential (lock, now_ms);
    }
}

void
lk_book_set_credential_end (lk_book *self, int64_t ends_ms)
{
    self->credential_ends_ms = ends_ms;
}

void
lk_book_orphan (lk_book *self, int64_t now_ms)
{
    lk_lock *lock, *next;
    HASH_ITER (hh, self->locks, lock, next) {
        lk_book_orphan_lock (lock, now_ms);
    }
}

void
lk_book_repeat (lk_book *self, int64_t now_ms)
{
    lk_lock *lock, *next;
    HASH_ITER (hh, self->locks, lock, next) {
        if (lk_book_may_resume (lock)) {
            lock->resuming = true;
        }
        if (lock->resuming || lock->repeat_at != INT64_MAX) {
            lk_book_send_open (lock, now_ms);
        }
    }
}

void
lk_book_give_up (lk_book *self, int64_t now_ms)
{
    lk_lock *lock, *next;
    HASH_ITER (hh, self->locks, lock, next) {
        if (lock->repeat_at != INT64_MAX) {
            lock->error = LK_REFUSED;
            lk_book_occur (
                lock, lk_book_holds (lock) ? LK_ON_UNCHANGED : LK_ON_REFUSED,
                LK_REFUSED, now_ms);
        }
    }
}

/*  -------------------------------------------------------- questions */

size_t
lk_book_open_count (const lk_book *self)
{
    size_t count = 0;
    const lk_lock *lock = NULL;
    while ((lock = lk_book_next_lock (self, lock)) != NULL) {
        count += lock->life != LK_LIFE_CLOSED && lock->life != LK_LIFE_LEFT;
    }
    return count;
}

lk_lock *
lk_book_next_lock (const lk_book *self, const lk_lock *lock)
{
    return lock == NULL ? self->locks : lock->hh.next;
}

lk_lock *
lk_book_newest_unit (const lk_book *self, const char *object)
{
    lk_lock *newest = NULL;
    lk_index_link *link =
        lk_index_find (&self->names, name_hash (object, strlen (object)));
    for (; link != NULL; link = link->next) {
        lk_lock *lock = (lk_lock *) link;
        if (lock->is_unit && lock->users > 0
            && strcmp (lock->object, object) == 0
            && (newest == NULL || lock->serial > newest->serial)) {
            newest = lock;
        }
    }
    return newest;
}

const char *
lk_book_remark (const lk_book *self)
{
    return self->remark;
}
