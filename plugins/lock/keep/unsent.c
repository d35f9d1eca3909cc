/*  unsent.c - answers to an application that the router did not take
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "unsent.h"

#include "util/alloc.h"
#include "util/map.h"

#include <string.h>

typedef enum { ANSWER, DANGER, SLOTS } slot;

/*  Of one request. */
struct lk_unsent {
    uint64_t serial;
    lk_answer *kept[SLOTS];
    UT_hash_handle hh;
};

/*  -------------------------------------------------------- copies */

static void
move_name (lk_name *name, char **room)
{
    if (name->size > 0) {
        memcpy (*room, name->data, name->size);
    }
    name->data = *room;
    *room += name->size;
}

/*  Bytes of all names. */
static size_t
names_size (const lk_answer *answer)
{
    size_t size = answer->reason.size + answer->asked.object.size;
    for (size_t i = 0; i < answer->set_count; i++) {
        size += answer->set[i].object.size;
    }
    for (size_t i = 0; i < answer->asked.rest_count; i++) {
        size += answer->asked.rest[i].size;
    }
    return size;
}

/*  In one piece: rows behind the answer, names behind these. */
static lk_answer *
copy (const lk_answer *answer)
{
    const size_t set_count = answer->set_count;
    const size_t rest_count = answer->asked.rest_count;
    lk_answer *self =
        lk_alloc (sizeof *self + set_count * sizeof (lk_granted)
                  + rest_count * sizeof (lk_name) + names_size (answer));
    lk_granted *set = (lk_granted *) (self + 1);
    lk_name *rest = (lk_name *) (set + set_count);
    char *room = (char *) (rest + rest_count);
    *self = *answer;
    self->set = set;
    self->asked.rest = rest;
    move_name (&self->reason, &room);
    move_name (&self->asked.object, &room);
    for (size_t i = 0; i < set_count; i++) {
        set[i] = answer->set[i];
        move_name (&set[i].object, &room);
    }
    for (size_t i = 0; i < rest_count; i++) {
        rest[i] = answer->asked.rest[i];
        move_name (&rest[i], &room);
    }
    return self;
}

/*  -------------------------------------------------------- the map */

static lk_unsent *
find (const lk_unsent *self, uint64_t serial)
{
    lk_unsent *found = NULL;
    HASH_FIND (hh, self, &serial, sizeof serial, found);
    return found;
}

static slot
slot_of (const lk_answer *answer)
{
    return answer->kind == LK_ANSWER_JEOPARDY ? DANGER : ANSWER;
}

/*  Nothing is held any more that could be in danger. */
static bool
is_end (const lk_answer *answer)
{
    return answer->kind == LK_ANSWER_UNLOCKED
           || (answer->kind == LK_ANSWER_FAILED && answer->turn == 0);
}

static void
forget (lk_unsent *entry, slot at)
{
    lk_free (entry->kept[at]);
    entry->kept[at] = NULL;
}

void
lk_unsent_keep (lk_unsent **self_p, const lk_answer *answer)
{
    lk_answer *kept = copy (answer);
    lk_unsent *entry = find (*self_p, answer->serial);
    if (!entry) {
        entry = lk_alloc (sizeof *entry);
        entry->serial = answer->serial;
        HASH_ADD (hh, *self_p, serial, sizeof entry->serial, entry);
    }
    if (is_end (answer)) {
        forget (entry, DANGER);
    }
    forget (entry, slot_of (kept));
    entry->kept[slot_of (kept)] = kept;
}

void
lk_unsent_sent (lk_unsent **self_p, const lk_answer *answer)
{
    lk_unsent *entry = find (*self_p, answer->serial);
    if (!entry) {
        return;
    }
    const bool ends = is_end (answer);
    forget (entry, slot_of (answer)); /* it may be this very one */
    if (ends) {
        forget (entry, DANGER);
    }
    if (!entry->kept[ANSWER] && !entry->kept[DANGER]) {
        HASH_DEL (*self_p, entry);
        lk_free (entry);
    }
}

const lk_answer *
lk_unsent_first (const lk_unsent *self)
{
    if (!self) {
        return NULL;
    }
    return self->kept[ANSWER] ? self->kept[ANSWER] : self->kept[DANGER];
}

void
lk_unsent_defer (lk_unsent **self_p)
{
    lk_unsent *entry = *self_p;
    if (entry) {
        HASH_DEL (*self_p, entry);
        HASH_ADD (hh, *self_p, serial, sizeof entry->serial, entry);
    }
}

bool
lk_unsent_has (const lk_unsent *self, uint64_t serial)
{
    const lk_unsent *entry = find (self, serial);
    return entry && entry->kept[ANSWER];
}

void
lk_unsent_clear (lk_unsent **self_p)
{
    lk_unsent *entry;
    while ((entry = *self_p)) {
        forget (entry, ANSWER);
        forget (entry, DANGER);
        HASH_DEL (*self_p, entry);
        lk_free (entry);
    }
}
