/*  recent.c - the latest grants and ends of locks that this service saw
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A ring of bytes: each event is a head and its names behind it, in multiples
 *  of 8 bytes and in one piece. Positions count on for ever.
 */

#include "recent.h"

#include "util/alloc.h"
#include "util/assert.h"

#include <string.h>

#define FILLING 1u /* in a size: nothing up to the end of the ring */
#define SECONDS (LK_RECENT_RATE_S + 2)

typedef struct {
    uint32_t size; /* of all of it */
    uint32_t pid;
    uint64_t number;
    int64_t at_ms;
    uint64_t token;
    uint32_t waited_ms;
    uint32_t held_ms;
    uint16_t key_size;
    uint16_t owner_size;
    uint16_t reason_size;
    uint8_t user_size;
    uint8_t event;
    uint8_t error;
    char names[];
} head;

typedef struct {
    char *data;
    size_t size;
    uint64_t begin, end;
    uint64_t forgotten; /* number of the last one that is gone */
} ring;

typedef struct {
    int64_t second;
    uint32_t grants, releases;
} tally;

struct lk_recent {
    ring usual, rare;
    uint64_t number;
    uint64_t grants, releases;
    tally tally[SECONDS];
};

/*  -------------------------------------------------------- a ring */

static head *
head_at (const ring *self, uint64_t position)
{
    return (head *) (void *) (self->data + position % self->size);
}

static void
forget_first (ring *self)
{
    const head *first = head_at (self, self->begin);
    if ((first->size & FILLING) == 0) {
        self->forgotten = first->number;
    }
    self->begin += first->size & ~FILLING;
}

/*  NULL: it is larger than a ring may take. */
static head *
make_room (ring *self, size_t size)
{
    const size_t rest = self->size - self->end % self->size;
    const size_t filling = rest < size ? rest : 0;
    if (size > self->size / 4) {
        return NULL;
    }
    while (self->end + filling + size - self->begin > self->size) {
        forget_first (self);
    }
    if (filling > 0) {
        head_at (self, self->end)->size = (uint32_t) filling | FILLING;
        self->end += filling;
    }
    head *room = head_at (self, self->end);
    room->size = (uint32_t) size;
    self->end += size;
    return room;
}

static char *
put_name (char *room, lk_name name)
{
    if (name.size > 0) {
        memcpy (room, name.data, name.size);
    }
    return room + name.size;
}

static void
add (ring *self, const lk_past *past, uint64_t number)
{
    const size_t names = (size_t) past->key.size + past->owner.size
                         + past->reason.size + past->user.size;
    head *it = make_room (self, (sizeof *it + names + 7) & ~(size_t) 7);
    if (!it) {
        self->forgotten = number;
        return;
    }
    it->pid = past->pid;
    it->number = number;
    it->at_ms = past->at_ms;
    it->token = past->token;
    it->waited_ms = past->waited_ms;
    it->held_ms = past->held_ms;
    it->key_size = past->key.size;
    it->owner_size = past->owner.size;
    it->reason_size = past->reason.size;
    it->user_size = (uint8_t) past->user.size;
    it->event = (uint8_t) past->event;
    it->error = (uint8_t) past->error;
    char *place = put_name (it->names, past->key);
    place = put_name (place, past->owner);
    place = put_name (place, past->reason);
    put_name (place, past->user);
}

/*  The event at a position, which moves on to it over what is filling; NULL:
 *  there is none. */
static const head *
look (const ring *self, uint64_t *position)
{
    while (*position < self->end) {
        const head *it = head_at (self, *position);
        if ((it->size & FILLING) == 0) {
            return it;
        }
        *position += it->size & ~FILLING;
    }
    return NULL;
}

/*  -------------------------------------------------------- counts */

static tally *
tally_of (lk_recent *self, int64_t second)
{
    tally *it = &self->tally[second % SECONDS];
    if (it->second != second) {
        *it = (tally) {.second = second};
    }
    return it;
}

static void
count (lk_recent *self, const lk_past *past)
{
    tally *it = tally_of (self, past->at_ms / 1000);
    switch (past->event) {
    case LK_PAST_GRANTED:
        self->grants++;
        it->grants++;
        break;
    case LK_PAST_RELEASED:
    case LK_PAST_ENDED:
    case LK_PAST_LOST:
        self->releases++;
        it->releases++;
        break;
    case LK_PAST_FAILED:
    case LK_PAST_FORCED:
    case LK_PAST_COUNT:
        break;
    }
}

lk_recent_counts
lk_recent_count (const lk_recent *self, int64_t now_ms)
{
    lk_recent_counts counts = {.grants = self->grants,
                               .releases = self->releases};
    const int64_t now = now_ms / 1000;
    for (size_t i = 0; i < SECONDS; i++) {
        const tally *it = &self->tally[i];
        if (it->second < now && it->second >= now - LK_RECENT_RATE_S) {
            counts.grants_lately += it->grants;
            counts.releases_lately += it->releases;
        }
    }
    return counts;
}

/*  -------------------------------------------------------- life */

lk_recent *
lk_recent_new (void)
{
    lk_recent *self = lk_alloc (sizeof *self);
    self->usual.size = LK_RECENT_USUAL_SIZE;
    self->rare.size = LK_RECENT_RARE_SIZE;
    self->usual.data = lk_alloc (self->usual.size);
    self->rare.data = lk_alloc (self->rare.size);
    return self;
}

void
lk_recent_destroy (lk_recent **self_p)
{
    lk_recent *self = *self_p;
    if (self) {
        lk_free (self->usual.data);
        lk_free (self->rare.data);
        lk_free (self);
        *self_p = NULL;
    }
}

/*  -------------------------------------------------------- events */

void
lk_recent_add (lk_recent *self, const lk_past *past)
{
    LK_ASSERT (past->at_ms >= 0 && past->event < LK_PAST_COUNT);
    LK_ASSERT (past->user.size <= UINT8_MAX);
    const bool usual =
        past->event == LK_PAST_GRANTED || past->event == LK_PAST_RELEASED;
    count (self, past);
    add (usual ? &self->usual : &self->rare, past, ++self->number);
}

lk_recent_place
lk_recent_begin (const lk_recent *self)
{
    return (lk_recent_place) {self->usual.begin, self->rare.begin};
}

static lk_past
past_of (const head *it)
{
    const char *owner = it->names + it->key_size;
    const char *reason = owner + it->owner_size;
    return (lk_past) {
        .event = (lk_past_event) it->event,
        .error = (lk_err) it->error,
        .number = it->number,
        .at_ms = it->at_ms,
        .key = {it->names, it->key_size},
        .owner = {owner, it->owner_size},
        .reason = {reason, it->reason_size},
        .user = {reason + it->reason_size, it->user_size},
        .token = it->token,
        .pid = it->pid,
        .waited_ms = it->waited_ms,
        .held_ms = it->held_ms,
    };
}

bool
lk_recent_next (const lk_recent *self, lk_recent_place *place, lk_past *past)
{
    const head *usual = look (&self->usual, &place->usual);
    const head *rare = look (&self->rare, &place->rare);
    if (!usual && !rare) {
        return false;
    }
    if (!rare || (usual && usual->number < rare->number)) {
        place->usual += usual->size;
        *past = past_of (usual);
    } else {
        place->rare += rare->size;
        *past = past_of (rare);
    }
    return true;
}

uint64_t
lk_recent_number (const lk_recent *self)
{
    return self->number;
}

uint64_t
lk_recent_forgotten (const lk_recent *self)
{
    return self->usual.forgotten > self->rare.forgotten ? self->usual.forgotten
                                                        : self->rare.forgotten;
}

const char *
lk_past_word (lk_past_event event)
{
    static const char *const word[LK_PAST_COUNT] = {
        [LK_PAST_GRANTED] = "granted", [LK_PAST_RELEASED] = "released",
        [LK_PAST_ENDED] = "ended",     [LK_PAST_LOST] = "lost",
        [LK_PAST_FAILED] = "failed",   [LK_PAST_FORCED] = "forced",
    };
    LK_ASSERT ((unsigned) event < LK_PAST_COUNT);
    return word[event];
}
