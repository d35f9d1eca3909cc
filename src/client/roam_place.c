/*  roam_place.c - an application on another machine: its registrations
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/roam_private.h"

#include <utlist.h>

#define REGISTER_MS 300 /* until REGISTER is said again */
#define TRY_MS 1000     /* ... another server is tried */
#define LOOK_MS 100     /* between looks whether a registration is needed */
#define LEASE_PART 6    /* of what it was last given: LEASE is said so often, */
#define IDLE_PART 4     /* or, while nothing is asked for */

/*  -------------------------------------------------------- registrations */

/*  protocol 9.20: Silence */
static bool
is_used (const lk_roam *self, const lk_roam_place *place, int64_t now_ms)
{
    const lk_roam_lock *lock;
    if (place->number == self->number || !place->ready) {
        return place->number == self->number;
    }
    if (place->number == self->current) {
        return true;
    }
    DL_FOREACH (self->locks, lock) {
        if (lk_roam_lock_needs (self, lock, place->number, now_ms)) {
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
    bool oldest_used = false;
    for (size_t i = 0; i < LK_ROAM_PLACES; i++) {
        lk_roam_place *place = &self->place[i];
        if (place->number == 0) {
            return place;
        }
        const bool used = is_used (self, place, now_ms);
        if (!oldest || (oldest_used && !used)
            || (oldest_used == used && place->number < oldest->number)) {
            oldest = place;
            oldest_used = used;
        }
    }
    return oldest;
}

static void
say_register (lk_roam *self, lk_roam_place *place, int64_t now_ms)
{
    place->sent_ms = now_ms;
    lk_roam_send (self, place,
                  (lk_roam_letter) {.kind = LK_ROAM_REGISTER,
                                    .left_ms = self->config.lease_ms,
                                    .sent = now_ms});
}

static void
say_lease (lk_roam *self, lk_roam_place *place, int64_t now_ms)
{
    place->sent_ms = now_ms;
    lk_roam_send (self, place,
                  (lk_roam_letter) {.kind = LK_ROAM_LEASE, .sent = now_ms});
}

/*  Locks that were believed by its word are lost. */
static void
give_up (lk_roam *self, lk_roam_place *place)
{
    const uint64_t number = place->number;
    lk_roam_lock *lock;
    place->number = 0;
    DL_FOREACH (self->locks, lock) {
        if (number != 0 && lock->told_by == number) {
            lk_roam_look_later (self, lock);
        }
    }
}

void
lk_roam_register (lk_roam *self, int server, int64_t now_ms)
{
    lk_roam_place *place = free_place (self, now_ms);
    give_up (self, place);
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
lease_gap (const lk_roam *self, const lk_roam_place *place)
{
    return place->gap_ms / (self->locks ? LEASE_PART : IDLE_PART);
}

/*  A server may take longer to answer than it takes until another one is
 *  tried. */
bool
lk_roam_wants_server (const lk_roam *self, int64_t now_ms)
{
    const lk_roam_place *latest = lk_roam_latest (self);
    const lk_roam_place *place = lk_roam_current (self);
    const bool is_well =
        place && !place->over && now_ms - place->heard_ms <= place->gap_ms / 2;
    const bool waits = latest && !latest->ready && !latest->over
                       && now_ms - latest->begun_ms < TRY_MS;
    return !is_well && !waits;
}

/*  -------------------------------------------------------- hearing */

/*  It counts from its LEASE on, whenever it comes.
 *  Protocol 9.20: Lease by message. */
void
lk_roam_leased (lk_roam_place *place, const lk_roam_letter *letter,
                int64_t now_ms)
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

void
lk_roam_ready (lk_roam *self, lk_roam_place *place,
               const lk_roam_letter *letter, int64_t now_ms)
{
    if (place->ready) {
        return;
    }
    place->ready = true;
    place->drawn = letter->drawn;
    place->heard_ms = now_ms;
    say_lease (self, place, now_ms);
    if (place->number > self->current) {
        self->current = place->number;
        lk_roam_claim_all (self, now_ms);
    }
}

/*  Its locks there are good till then. */
void
lk_roam_move_on (lk_roam_place *place, int64_t now_ms)
{
    place->heard_ms = now_ms - place->gap_ms;
    place->begun_ms = now_ms - TRY_MS;
}

/*  -------------------------------------------------------- time */

/*  More often when nothing is heard. */
static int64_t
next_lease (const lk_roam *self, const lk_roam_place *place)
{
    const int64_t gap_ms = lease_gap (self, place);
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
        lk_roam_send (self, place, (lk_roam_letter) {.kind = LK_ROAM_GOODBYE});
    }
}

void
lk_roam_leave (lk_roam *self, int64_t now_ms)
{
    for (size_t i = 0; i < LK_ROAM_PLACES; i++) {
        lk_roam_place *place = &self->place[i];
        if (place->number != 0 && !place->left
            && (place->number >= self->current
                || !is_used (self, place, now_ms))) {
            leave (self, place);
        }
    }
}

/*  Whether it is needed no more; that takes a look at all locks. */
static bool
is_to_be_left (const lk_roam *self, lk_roam_place *place, int64_t now_ms)
{
    if (place->number >= self->current || now_ms < place->look_ms) {
        return false;
    }
    place->look_ms = now_ms + LOOK_MS;
    return !is_used (self, place, now_ms);
}

static void
tick_place (lk_roam *self, lk_roam_place *place, int64_t now_ms)
{
    if (place->number == 0 || place->over || place->left) {
        return;
    }
    if (is_to_be_left (self, place, now_ms)) {
        leave (self, place);
    } else if (!place->ready && place->number == self->number
               && now_ms - place->sent_ms >= REGISTER_MS) {
        say_register (self, place, now_ms);
    } else if (place->ready && now_ms >= next_lease (self, place)) {
        say_lease (self, place, now_ms);
    }
}

void
lk_roam_tick_places (lk_roam *self, int64_t now_ms)
{
    for (size_t i = 0; i < LK_ROAM_PLACES; i++) {
        tick_place (self, &self->place[i], now_ms);
    }
}

static void
at_most (int64_t *deadline, int64_t at_ms)
{
    if (at_ms < *deadline) {
        *deadline = at_ms;
    }
}

static void
await_place (const lk_roam *self, const lk_roam_place *place, int64_t *deadline)
{
    if (place->number == 0 || place->over || place->left) {
        return;
    }
    if (place->ready) {
        at_most (deadline, next_lease (self, place));
    } else if (place->number == self->number) {
        at_most (deadline, place->sent_ms + REGISTER_MS);
    }
    if (place->number < self->current) {
        at_most (deadline, place->look_ms);
    }
}

void
lk_roam_await_places (const lk_roam *self, int64_t *deadline)
{
    for (size_t i = 0; i < LK_ROAM_PLACES; i++) {
        await_place (self, &self->place[i], deadline);
    }
}
