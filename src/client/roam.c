/*  roam.c - an application on another machine: what it asks and believes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/roam.h"

#include "util/alloc.h"
#include "util/assert.h"

#include <utlist.h>

#define REPEAT_MS 400   /* until LOCK or UNLOCK is said again */
#define REGISTER_MS 300 /* ... REGISTER */
#define TRY_MS 1000     /* until another server is tried */
#define LEASE_PART 6    /* of what it was last given: LEASE is said so often */

struct lk_roam {
    lk_roam_config config;
    uint64_t number; /* of the latest registration */
    uint64_t last_serial;
    lk_roam_place place[LK_ROAM_PLACES];
    lk_roam_lock *locks;
};

/*  -------------------------------------------------------- registrations */

static lk_roam_place *
find_place (const lk_roam *self, uint64_t number)
{
    for (size_t i = 0; number != 0 && i < LK_ROAM_PLACES; i++) {
        if (self->place[i].number == number) {
            return (lk_roam_place *) &self->place[i];
        }
    }
    return NULL;
}

const lk_roam_place *
lk_roam_latest (const lk_roam *self)
{
    return find_place (self, self->number);
}

/*  Whether its place in a queue may still be that of an earlier registration: a
 *  claim of one that waits has no answer of its own. */
static bool
is_moving (const lk_roam *self, const lk_roam_lock *lock, int64_t now_ms)
{
    return lock->claimed_ms != LK_ROAM_NEVER
           && now_ms - lock->claimed_ms < self->config.lease_ms;
}

/*  Whether a lock is asked of it, or believed in by its word, or may have its
 *  place there. Protocol 9.20: Silence. */
static bool
is_used (const lk_roam *self, const lk_roam_place *place, int64_t now_ms)
{
    const lk_roam_lock *lock;
    if (place->number == self->number || !place->ready) {
        return place->number == self->number;
    }
    DL_FOREACH (self->locks, lock) {
        if (lock->number == place->number
            || (lock->doubtful && lock->told_by <= place->number)
            || (lock->state == LK_ROAM_WAITS && lock->from <= place->number
                && is_moving (self, lock, now_ms))) {
            return true;
        }
    }
    return false;
}

/*  The one that is needed least. */
static lk_roam_place *
free_place (lk_roam *self, int64_t now_ms)
{
    lk_roam_place *oldest = NULL;
    for (size_t i = 0; i < LK_ROAM_PLACES; i++) {
        lk_roam_place *place = &self->place[i];
        if (place->number == 0) {
            return place;
        }
        const bool worse = oldest && is_used (self, oldest, now_ms)
                           && !is_used (self, place, now_ms);
        if (!oldest || worse
            || (is_used (self, oldest, now_ms) == is_used (self, place, now_ms)
                && place->number < oldest->number)) {
            oldest = place;
        }
    }
    return oldest;
}

static void
say (lk_roam *self, const lk_roam_place *place, lk_roam_letter letter)
{
    letter.server = place->server;
    letter.number = place->number;
    letter.drawn = place->drawn;
    self->config.say (self->config.context, &letter);
}

static void
say_register (lk_roam *self, lk_roam_place *place, int64_t now_ms)
{
    place->sent_ms = now_ms;
    say (self, place,
         (lk_roam_letter) {.kind = LK_ROAM_REGISTER,
                           .left_ms = self->config.lease_ms});
}

static void
say_lease (lk_roam *self, lk_roam_place *place, int64_t now_ms)
{
    place->sent_ms = now_ms;
    say (self, place, (lk_roam_letter) {.kind = LK_ROAM_LEASE, .sent = now_ms});
}

void
lk_roam_register (lk_roam *self, int server, int64_t now_ms)
{
    lk_roam_place *place = free_place (self, now_ms);
    *place = (lk_roam_place) {.server = server,
                              .number = ++self->number,
                              .until_ms = LK_ROAM_NEVER,
                              .gap_ms = self->config.lease_ms,
                              .begun_ms = now_ms,
                              .heard_ms = now_ms};
    say_register (self, place, now_ms);
}

/*  Between two LEASEs, where all goes well. Protocol 9.20: Lease by message. */
static int64_t
lease_gap (const lk_roam_place *place)
{
    return place->gap_ms / LEASE_PART;
}

bool
lk_roam_wants_server (const lk_roam *self, int64_t now_ms)
{
    const lk_roam_place *place = lk_roam_latest (self);
    if (!place || place->over) {
        return true;
    }
    if (!place->ready) {
        return now_ms - place->begun_ms >= TRY_MS;
    }
    return now_ms - place->heard_ms > place->gap_ms / 2;
}

/*  -------------------------------------------------------- belief */

/*  What was claimed of a later registration is believed as long as it was then.
 *  Protocol 9.20: Moving. */
int64_t
lk_roam_until (const lk_roam *self, const lk_roam_lock *lock)
{
    const lk_roam_place *place = find_place (self, lock->told_by);
    if (lock->state != LK_ROAM_HELD) {
        return LK_ROAM_NEVER;
    }
    if (lock->doubtful) {
        return lock->floor_ms;
    }
    return place ? place->until_ms : LK_ROAM_NEVER;
}

static void
tell (lk_roam *self, lk_roam_lock *lock, lk_roam_news news)
{
    self->config.told (self->config.context, lock, news);
}

/*  -------------------------------------------------------- locks */

static void
say_lock (lk_roam *self, lk_roam_lock *lock, const lk_roam_place *place,
          int64_t now_ms)
{
    lk_roam_letter letter = {.kind = LK_ROAM_LOCK,
                             .serial = lock->serial,
                             .user = lock->user,
                             .asked_before = lock->claimed_ms != LK_ROAM_NEVER};
    if (lock->state == LK_ROAM_HELD) {
        letter.token = lock->token;
        letter.key = lock->key;
        letter.left_ms = lock->floor_ms - now_ms;
    }
    if (letter.token == 0 || letter.left_ms > 0) {
        say (self, place, letter);
    }
}

/*  Nothing is said of what is held and told. */
static void
say_of (lk_roam *self, lk_roam_lock *lock, int64_t now_ms)
{
    const lk_roam_place *place = find_place (self, lock->number);
    lock->sent_ms = now_ms;
    if (!place || !place->ready || place->over) {
        return;
    }
    if (lock->state == LK_ROAM_GIVES) {
        say (self, place,
             (lk_roam_letter) {.kind = LK_ROAM_UNLOCK,
                               .serial = lock->serial,
                               .user = lock->user});
    } else if (lock->state == LK_ROAM_WAITS || lock->doubtful) {
        say_lock (self, lock, place, now_ms);
    }
}

static void
forget (lk_roam *self, lk_roam_lock *lock)
{
    DL_DELETE (self->locks, lock);
    lk_free (lock);
}

uint64_t
lk_roam_next_serial (const lk_roam *self)
{
    return self->last_serial + 1;
}

lk_roam_lock *
lk_roam_ask (lk_roam *self, void *user, int64_t now_ms)
{
    lk_roam_lock *lock = lk_alloc (sizeof *lock);
    lock->serial = ++self->last_serial;
    lock->user = user;
    lock->state = LK_ROAM_WAITS;
    lock->number = self->number;
    lock->claimed_ms = LK_ROAM_NEVER;
    DL_APPEND (self->locks, lock);
    say_of (self, lock, now_ms);
    return lock;
}

static void
give (lk_roam *self, lk_roam_lock *lock, int64_t now_ms)
{
    lock->state = LK_ROAM_GIVES;
    lock->doubtful = false;
    say_of (self, lock, now_ms);
}

void
lk_roam_give_back (lk_roam *self, lk_roam_lock *lock, int64_t now_ms)
{
    if (lock->state != LK_ROAM_GIVES) {
        give (self, lock, now_ms);
    }
}

/*  What is over stays lost, and is given back.
 *  Protocol 9.20: Lease by message. */
static void
expire (lk_roam *self, int64_t now_ms)
{
    lk_roam_lock *lock;
    DL_FOREACH (self->locks, lock) {
        if (lock->state == LK_ROAM_HELD
            && now_ms >= lk_roam_until (self, lock)) {
            tell (self, lock, LK_ROAM_LOST);
            give (self, lock, now_ms);
        }
    }
}

/*  From now on nobody else's answer counts for it. Protocol 9.20: Moving. */
static void
claim (lk_roam *self, lk_roam_lock *lock, const lk_roam_place *place,
       int64_t now_ms)
{
    if (lock->state == LK_ROAM_HELD) {
        lock->floor_ms = lk_roam_until (self, lock);
        lock->doubtful = true;
    }
    if (!is_moving (self, lock, now_ms)) {
        lock->from = lock->number;
    }
    lock->claimed_ms = now_ms;
    lock->number = place->number;
    say_of (self, lock, now_ms);
}

static void
claim_all (lk_roam *self, const lk_roam_place *place, int64_t now_ms)
{
    lk_roam_lock *lock;
    DL_FOREACH (self->locks, lock) {
        if (lock->number < place->number) {
            claim (self, lock, place, now_ms);
        }
    }
}

/*  -------------------------------------------------------- hearing */

static lk_roam_lock *
find_lock (const lk_roam *self, uint64_t serial)
{
    lk_roam_lock *lock = self->locks;
    while (lock && lock->serial != serial) {
        lock = lock->next;
    }
    return lock;
}

/*  It counts from its LEASE on, whenever it comes.
 *  Protocol 9.20: Lease by message. */
static void
hear_lease (lk_roam_place *place, const lk_roam_letter *letter, int64_t now_ms)
{
    const int64_t until_ms = letter->sent + letter->left_ms;
    if (place->over || letter->sent > now_ms) {
        return;
    }
    if (place->until_ms < until_ms) {
        place->until_ms = until_ms;
    }
    place->gap_ms = letter->left_ms;
    place->heard_ms = now_ms;
}

static void
hear_ready (lk_roam *self, lk_roam_place *place, const lk_roam_letter *letter,
            int64_t now_ms)
{
    if (place->ready) {
        return;
    }
    place->ready = true;
    place->drawn = letter->drawn;
    place->heard_ms = now_ms;
    say_lease (self, place, now_ms);
    if (place->number == self->number) {
        claim_all (self, place, now_ms);
    }
}

/*  Not without a lease of that very registration. */
static void
hear_locked (lk_roam *self, lk_roam_lock *lock, const lk_roam_place *place,
             const lk_roam_letter *letter, int64_t now_ms)
{
    if (place->over || place->until_ms <= now_ms
        || (lock->state == LK_ROAM_HELD && lock->token != letter->token)) {
        return;
    }
    if (lock->state == LK_ROAM_WAITS) {
        lock->state = LK_ROAM_HELD;
        lock->token = letter->token;
        lock->key = letter->key;
        lock->told_by = place->number;
        lock->claimed_ms = LK_ROAM_NEVER;
        tell (self, lock, LK_ROAM_GRANTED);
    } else if (lock->state == LK_ROAM_HELD && lock->doubtful) {
        lock->doubtful = false;
        lock->told_by = place->number;
        lock->claimed_ms = LK_ROAM_NEVER;
        tell (self, lock, LK_ROAM_GOES_ON);
    } else if (lock->state == LK_ROAM_GIVES) {
        say_of (self, lock, now_ms);
    }
}

static void
hear_of_lock (lk_roam *self, const lk_roam_place *place,
              const lk_roam_letter *letter, int64_t now_ms)
{
    lk_roam_lock *lock = find_lock (self, letter->serial);
    if (!lock && letter->kind == LK_ROAM_LOCKED) {
        say (self, place,
             (lk_roam_letter) {.kind = LK_ROAM_UNLOCK,
                               .serial = letter->serial,
                               .user = letter->user});
    }
    /*  protocol 9.20: Moving */
    if (!lock || lock->number != place->number) {
        return;
    }
    if (letter->kind == LK_ROAM_LOCKED) {
        hear_locked (self, lock, place, letter, now_ms);
    } else if (lock->state == LK_ROAM_GIVES) {
        if (letter->kind == LK_ROAM_UNLOCKED) {
            tell (self, lock, LK_ROAM_DONE);
            forget (self, lock);
        }
    } else if (letter->kind == LK_ROAM_FAILED) {
        tell (self, lock,
              lock->state == LK_ROAM_HELD ? LK_ROAM_LOST : LK_ROAM_REFUSED);
        give (self, lock, now_ms);
    }
}

static lk_roam_place *
place_of (const lk_roam *self, const lk_roam_letter *letter)
{
    lk_roam_place *place = find_place (self, letter->number);
    if (!place || place->server != letter->server) {
        return NULL;
    }
    return letter->kind == LK_ROAM_READY || letter->kind == LK_ROAM_MOVE
                   || (place->ready && place->drawn == letter->drawn)
               ? place
               : NULL;
}

void
lk_roam_hear (lk_roam *self, const lk_roam_letter *letter, int64_t now_ms)
{
    lk_roam_place *place = place_of (self, letter);
    expire (self, now_ms);
    if (!place) {
        return;
    }
    switch (letter->kind) {
    case LK_ROAM_READY:
        hear_ready (self, place, letter, now_ms);
        break;
    case LK_ROAM_LEASE:
        hear_lease (place, letter, now_ms);
        break;
    case LK_ROAM_UNKNOWN:
        place->over = true;
        break;
    case LK_ROAM_MOVE: /* what it has there is good till then */
        place->heard_ms = now_ms - place->gap_ms;
        place->begun_ms = now_ms - TRY_MS;
        break;
    default:
        hear_of_lock (self, place, letter, now_ms);
        break;
    }
}

/*  -------------------------------------------------------- time */

/*  More often when nothing is heard. */
static int64_t
next_lease (const lk_roam_place *place)
{
    const int64_t gap_ms = lease_gap (place);
    const bool missed = place->sent_ms - place->heard_ms > gap_ms + REGISTER_MS;
    return place->sent_ms
           + (missed && REGISTER_MS < gap_ms ? REGISTER_MS : gap_ms);
}

/*  No claim of what was held there may be open. Protocol 9.20: Silence. */
static void
leave (lk_roam *self, lk_roam_place *place)
{
    place->left = true;
    if (place->ready && !place->over) {
        say (self, place, (lk_roam_letter) {.kind = LK_ROAM_GOODBYE});
    }
}

static void
tick_place (lk_roam *self, lk_roam_place *place, int64_t now_ms)
{
    if (place->number == 0 || place->over || place->left) {
        return;
    }
    if (!is_used (self, place, now_ms)) {
        leave (self, place);
    } else if (!place->ready && place->number == self->number
               && now_ms - place->sent_ms >= REGISTER_MS) {
        say_register (self, place, now_ms);
    } else if (place->ready && now_ms >= next_lease (place)) {
        say_lease (self, place, now_ms);
    }
}

void
lk_roam_tick (lk_roam *self, int64_t now_ms)
{
    lk_roam_lock *lock;
    const lk_roam_place *latest = lk_roam_latest (self);
    expire (self, now_ms);
    for (size_t i = 0; i < LK_ROAM_PLACES; i++) {
        tick_place (self, &self->place[i], now_ms);
    }
    if (latest && latest->ready && !latest->over) {
        claim_all (self, latest, now_ms);
    }
    DL_FOREACH (self->locks, lock) {
        if (now_ms - lock->sent_ms >= REPEAT_MS) {
            say_of (self, lock, now_ms);
        }
    }
}

static void
at_most (int64_t *deadline, int64_t at_ms)
{
    if (at_ms < *deadline) {
        *deadline = at_ms;
    }
}

int64_t
lk_roam_deadline (const lk_roam *self, int64_t now_ms)
{
    const lk_roam_lock *lock;
    int64_t deadline = now_ms + REPEAT_MS;
    for (size_t i = 0; i < LK_ROAM_PLACES; i++) {
        const lk_roam_place *place = &self->place[i];
        if (place->number != 0 && place->ready && !place->over
            && !place->left) {
            at_most (&deadline, next_lease (place));
        }
    }
    DL_FOREACH (self->locks, lock) {
        if (lock->state == LK_ROAM_HELD) {
            at_most (&deadline, lk_roam_until (self, lock));
        }
    }
    return deadline > now_ms ? deadline : now_ms + 1;
}

/*  -------------------------------------------------------- life */

lk_roam *
lk_roam_new (const lk_roam_config *config)
{
    lk_roam *self = lk_alloc (sizeof *self);
    LK_ASSERT (config->lease_ms > 0);
    self->config = *config;
    return self;
}

void
lk_roam_destroy (lk_roam **self_p)
{
    lk_roam *self = *self_p;
    if (self) {
        while (self->locks) {
            forget (self, self->locks);
        }
        lk_free (self);
        *self_p = NULL;
    }
}

const lk_roam_lock *
lk_roam_first (const lk_roam *self)
{
    return self->locks;
}
