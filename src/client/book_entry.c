/*  book_entry.c - an entry of the book: added, told of, freed
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/book_private.h"

#include <string.h>

size_t
lk_book_name_len (const char *object, size_t len)
{
    return len > 0 ? len : strlen (object);
}

void
lk_book_enter_serial (lk_lock *lock)
{
    lk_book *self = lock->book;
    self->serial += 2;
    lock->serial = self->serial;
    HASH_ADD (hh, self->locks, serial, sizeof lock->serial, lock);
}

lk_lock *
lk_book_add_lock (lk_book *self, const lk_lock_name *name, int64_t now_ms)
{
    lk_lock *lock = lk_alloc (sizeof *lock);
    lock->book = self;
    lock->users = 1;
    lock->pid = self->pid;
    lock->len = lk_book_name_len (name->object, name->len);
    lock->object = lk_memdup (name->object, lock->len);
    lock->context = lk_strdup (name->context != NULL ? name->context : "");
    lock->asked_at = now_ms;
    lock->until_ms = INT64_MAX;
    lock->danger.look_at = INT64_MAX;
    lk_book_enter_serial (lock);
    lk_index_add (&self->names, &lock->by_name);
    return lock;
}

void
lk_book_add_others (lk_lock *lock, const lk_object_name *names, size_t count)
{
    lock->others = lk_alloc (count * sizeof *lock->others);
    lock->other_count = count;
    for (size_t i = 0; i < count; i++) {
        const size_t len = lk_book_name_len (names[i].object, names[i].len);
        lock->others[i].object = lk_memdup (names[i].object, len);
        lock->others[i].len = len;
    }
}

/*  -------------------------------------------------------- events */

void
lk_book_tell (lk_lock *lock, lk_event_kind kind, lk_err error)
{
    lk_lock_event event = {kind, lock, error};
    if (lock->users > 0) {
        lk_event_queue_add (&lock->book->events, &event);
        lock->events++;
    }
}

void
lk_book_drop_events (lk_book *self, lk_lock *lock, lk_event_kind kind)
{
    if (lock->events > 0) {
        lock->events -= lk_event_queue_drop (&self->events, lock, kind);
    }
}

/*  -------------------------------------------------------- ending */

lk_err
lk_book_ending (const lk_lock *lock)
{
    return lock->late ? LK_LATE : lock->loss;
}

void
lk_book_destroy_lock (lk_lock *lock)
{
    lk_book *self = lock->book;
    lk_book_drop_events (self, lock, LK_EVENT_NONE);
    HASH_DEL (self->locks, lock);
    lk_index_remove (&self->names, &lock->by_name);
    lk_heap_take (&self->due, lock);
    lk_lease_drop (&lock->lease);
    for (size_t i = 0; i < lock->other_count; i++) {
        lk_free (lock->others[i].object);
    }
    lk_free (lock->others);
    lk_free (lock->reason);
    lk_free (lock->context);
    lk_free (lock->object);
    lk_free (lock);
}
