/*  roam_lock.c - an application on another machine: what it asks and believes
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/roam_private.h"

#include "util/alloc.h"
#include "util/hash.h"

#include <utlist.h>

#define REPEAT_MS 400 /* until LOCK or UNLOCK is said again */

/*  -------------------------------------------------------- belief */

/*  A lock that was claimed of a later registration is believed as long as then.
 *  Protocol 9.20: Moving. */
int64_t
lk_roam_until (const lk_roam *self, const lk_roam_lock *lock)
{
    const lk_roam_place *place = lk_roam_find_place (self, lock->told_by);
    if (lock->state != LK_ROAM_HELD) {
        return LK_ROAM_NEVER;
    }
    if (lock->kind.is_static) {
        return INT64_MAX;
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

/*  -------------------------------------------------------- needs */

/*  Whether its place in a queue may still be that of an earlier registration: a
 *  claim of one that waits has no answer of its own. */
static bool
is_moving (const lk_roam *self, const lk_roam_lock *lock, int64_t now_ms)
{
    return lock->claimed_ms != LK_ROAM_NEVER
           && now_ms - lock->claimed_ms < self->config.lease_ms;
}

static bool
is_kept (const lk_roam_lock *lock)
{
    return lock->state == LK_ROAM_HELD && lock->kind.is_static;
}

/*  Whether it is asked of that one, or believed in by its word, or may have its
 *  place there. */
bool
lk_roam_lock_needs (const lk_roam *self, const lk_roam_lock *lock,
                    uint64_t number, int64_t now_ms)
{
    if (is_kept (lock) || lock->over) {
        return false;
    }
    return lock->number == number || (lock->doubtful && lock->told_by <= number)
           || (lock->state == LK_ROAM_WAITS && lock->from <= number
               && is_moving (self, lock, now_ms));
}

/*  -------------------------------------------------------- looks */

/*  Nothing is said of what is held and told, but that it is to be of another
 *  type. */
static bool
has_to_be_said (const lk_roam_lock *lock)
{
    return !lock->over
           && (lock->state != LK_ROAM_HELD || lock->doubtful
               || lock->turn != 0);
}

/*  A lease goes on for many at once: what it was when a lock was looked at is
 *  the least. */
void
lk_roam_look_later (lk_roam *self, lk_roam_lock *lock)
{
    int64_t at_ms =
        has_to_be_said (lock) ? lock->sent_ms + REPEAT_MS : INT64_MAX;
    if (lock->state == LK_ROAM_HELD) {
        const int64_t until_ms = lk_roam_until (self, lock);
        at_ms = until_ms < at_ms ? until_ms : at_ms;
    }
    if (at_ms == INT64_MAX) {
        lk_heap_take (&self->looks, lock);
    } else {
        lk_heap_put (&self->looks, lock, at_ms);
    }
}

/*  -------------------------------------------------------- locks */

static void
say_lock (lk_roam *self, lk_roam_lock *lock, const lk_roam_place *place,
          int64_t now_ms)
{
    lk_roam_letter letter = {.kind = LK_ROAM_LOCK,
                             .serial = lock->serial,
                             .user = lock->user,
                             .sent = now_ms,
                             .asked_before = lock->claimed_ms != LK_ROAM_NEVER};
    if (lock->state == LK_ROAM_HELD) {
        letter.token = lock->token;
        letter.key = lock->key;
        letter.left_ms = lock->floor_ms - now_ms;
    }
    if (letter.token == 0 || letter.left_ms > 0) {
        lk_roam_send (self, place, letter);
    }
}

static void
say_turn (lk_roam *self, const lk_roam_lock *lock, const lk_roam_place *place)
{
    lk_roam_send (self, place,
                  (lk_roam_letter) {.kind = LK_ROAM_LOCK,
                                    .serial = lock->serial,
                                    .user = lock->user,
                                    .turn = lock->turn});
}

static void
say_unlock (lk_roam *self, const lk_roam_place *place, uint64_t serial,
            void *user)
{
    lk_roam_send (self, place,
                  (lk_roam_letter) {
                      .kind = LK_ROAM_UNLOCK, .serial = serial, .user = user});
}

static void
say_of (lk_roam *self, lk_roam_lock *lock, int64_t now_ms)
{
    const lk_roam_place *place = lk_roam_find_place (self, lock->number);
    lock->sent_ms = now_ms;
    lk_roam_look_later (self, lock);
    if (!place || !place->ready || place->over || !has_to_be_said (lock)) {
        return;
    }
    if (lock->state == LK_ROAM_GIVES) {
        say_unlock (self, place, lock->serial, lock->user);
    } else if (lock->state == LK_ROAM_WAITS || lock->doubtful) {
        say_lock (self, lock, place, now_ms);
        lock->said = true;
    } else {
        say_turn (self, lock, place);
    }
}

static void
forget (lk_roam *self, lk_roam_lock *lock)
{
    lk_heap_take (&self->looks, lock);
    lk_index_remove (&self->serials, &lock->by_serial);
    DL_DELETE (self->locks, lock);
    lk_free (lock);
}

uint64_t
lk_roam_next_serial (const lk_roam *self)
{
    return self->last_serial + 1;
}

static lk_roam_lock *
new_lock (lk_roam *self, lk_roam_state state, uint64_t serial, void *user,
          lk_roam_kind_of_lock kind)
{
    lk_roam_lock *lock = lk_alloc (sizeof *lock);
    lock->serial = serial;
    lock->user = user;
    lock->kind = kind;
    lock->state = state;
    lock->number = self->current;
    lock->claimed_ms = LK_ROAM_NEVER;
    lock->ends_ms = INT64_MAX;
    lk_index_add (&self->serials, &lock->by_serial);
    DL_APPEND (self->locks, lock);
    return lock;
}

lk_roam_lock *
lk_roam_ask_for (lk_roam *self, void *user, lk_roam_kind_of_lock kind,
                 int64_t now_ms)
{
    lk_roam_lock *lock =
        new_lock (self, LK_ROAM_WAITS, ++self->last_serial, user, kind);
    say_of (self, lock, now_ms);
    return lock;
}

lk_roam_lock *
lk_roam_ask (lk_roam *self, void *user, int64_t now_ms)
{
    return lk_roam_ask_for (self, user, (lk_roam_kind_of_lock) {false, false},
                            now_ms);
}

/*  A static lock is given back to any server. */
static void
give (lk_roam *self, lk_roam_lock *lock, int64_t now_ms)
{
    if (lock->state == LK_ROAM_GIVES) {
        return;
    }
    if (is_kept (lock)) {
        lock->number = self->current;
    }
    lock->state = LK_ROAM_GIVES;
    lock->doubtful = false;
    lock->turn = 0;
    say_of (self, lock, now_ms);
}

void
lk_roam_give_back (lk_roam *self, lk_roam_lock *lock, int64_t now_ms)
{
    give (self, lock, now_ms);
}

/*  Its server alone knows what is static.
 *  Protocol 9.20: Not moved. */
bool
lk_roam_may_turn (const lk_roam *self, const lk_roam_lock *lock)
{
    return !is_kept (lock) || lock->number == self->current;
}

uint32_t
lk_roam_turn (lk_roam *self, lk_roam_lock *lock, int64_t now_ms)
{
    if (lock->state != LK_ROAM_HELD || !lk_roam_may_turn (self, lock)) {
        return 0;
    }
    lock->turn = (lock->turn != 0 ? lock->turn : lock->turned) + 1;
    say_of (self, lock, now_ms);
    return lock->turn;
}

/*  A lock that is over stays lost, and is given back.
 *  Protocol 9.20: Lease by message. */
static void
look_at (lk_roam *self, lk_roam_lock *lock, int64_t now_ms)
{
    if (lock->state == LK_ROAM_HELD && now_ms >= lk_roam_until (self, lock)) {
        tell (self, lock, LK_ROAM_LOST);
        give (self, lock, now_ms);
    } else if (has_to_be_said (lock) && now_ms - lock->sent_ms >= REPEAT_MS) {
        say_of (self, lock, now_ms);
    } else {
        lk_roam_look_later (self, lock);
    }
}

void
lk_roam_look_at_due (lk_roam *self, int64_t now_ms)
{
    lk_roam_lock *lock;
    while ((lock = lk_heap_due (&self->looks, now_ms))) {
        look_at (self, lock, now_ms);
    }
}

/*  -------------------------------------------------------- claims */

static void
end_turn (lk_roam *self, lk_roam_lock *lock, lk_roam_news news)
{
    lock->turned = lock->turn;
    lock->turn = 0;
    lk_roam_look_later (self, lock);
    tell (self, lock, news);
}

/*  A set that waits holds some of its names at the former server, which does
 *  not pass them on. Protocol 9.20: Sets. */
static void
begin_anew (lk_roam *self, lk_roam_lock *lock, int64_t now_ms)
{
    lk_roam_lock *former =
        new_lock (self, LK_ROAM_GIVES, lock->serial, lock->user, lock->kind);
    former->later = lock;
    lock->earlier++;
    lk_index_remove (&self->serials, &lock->by_serial);
    lock->serial = ++self->last_serial;
    lk_index_add (&self->serials, &lock->by_serial);
    lock->number = self->current;
    lock->said = false;
    say_of (self, former, now_ms);
    tell (self, lock, LK_ROAM_ANEW);
    say_of (self, lock, now_ms);
}

/*  From now on nobody else's answer counts for it. Protocol 9.20: Moving. */
static void
claim (lk_roam *self, lk_roam_lock *lock, int64_t now_ms)
{
    if (lock->state == LK_ROAM_WAITS && lock->said && lock->kind.is_set) {
        begin_anew (self, lock, now_ms);
        return;
    }
    if (lock->state == LK_ROAM_HELD) {
        lock->floor_ms = lk_roam_until (self, lock);
        lock->doubtful = true;
    }
    if (lock->said) {
        lock->from = is_moving (self, lock, now_ms) ? lock->from : lock->number;
        lock->claimed_ms = now_ms;
    }
    lock->number = self->current;
    say_of (self, lock, now_ms);
}

void
lk_roam_claim_all (lk_roam *self, int64_t now_ms)
{
    lk_roam_lock *lock;
    DL_FOREACH (self->locks, lock) {
        if (lock->number >= self->current) {
            continue;
        }
        if (!is_kept (lock)) {
            claim (self, lock, now_ms);
        } else if (lock->turn != 0) {
            end_turn (self, lock, LK_ROAM_NOT_TURNED);
        }
    }
}

/*  -------------------------------------------------------- hearing */

static lk_roam_lock *
find_lock (const lk_roam *self, uint64_t serial)
{
    lk_index_link *link =
        lk_index_find (&self->serials, lk_hash_number (serial));
    while (link && ((lk_roam_lock *) link)->serial != serial) {
        link = link->next;
    }
    return (lk_roam_lock *) link;
}

static void
note_grant (lk_roam_lock *lock, const lk_roam_place *place,
            const lk_roam_letter *letter)
{
    lock->state = LK_ROAM_HELD;
    lock->doubtful = false;
    lock->token = letter->token;
    lock->key = letter->key;
    lock->told_by = place->number;
    lock->claimed_ms = LK_ROAM_NEVER;
    lock->ends_ms =
        letter->left_ms < 0 ? INT64_MAX : letter->sent + letter->left_ms;
}

/*  A change of type may have been made, though nobody heard of it. */
static bool
is_its_grant (const lk_roam_lock *lock, const lk_roam_letter *letter)
{
    const bool changed = lock->turn != 0 || lock->turned != 0;
    return letter->token == lock->token
           || (changed && letter->token > lock->token);
}

/*  Not without a lease of that very registration. */
static void
hear_locked (lk_roam *self, lk_roam_lock *lock, const lk_roam_place *place,
             const lk_roam_letter *letter, int64_t now_ms)
{
    if (place->over || place->until_ms <= now_ms) {
        return;
    }
    if (lock->state == LK_ROAM_GIVES) {
        say_of (self, lock, now_ms);
    } else if (lock->state == LK_ROAM_WAITS) {
        note_grant (lock, place, letter);
        lk_roam_look_later (self, lock);
        tell (self, lock, LK_ROAM_GRANTED);
    } else if (!is_its_grant (lock, letter)) {
        return;
    } else if (lock->doubtful) {
        note_grant (lock, place, letter);
        say_of (self, lock, now_ms);
        tell (self, lock, LK_ROAM_GOES_ON);
    } else if (lock->turn != 0 && letter->turn == lock->turn) {
        lock->token = letter->token;
        lock->key = letter->key;
        end_turn (self, lock, LK_ROAM_TURNED);
    }
}

/*  The lock is no more when all that it was before is given back, too. */
static void
hear_unlocked (lk_roam *self, lk_roam_lock *lock)
{
    lk_roam_lock *later = lock->later;
    if (later) {
        later->earlier--;
        forget (self, lock);
        lock = later;
    } else {
        lock->over = true;
        lk_heap_take (&self->looks, lock);
    }
    if (lock->over && lock->earlier == 0) {
        tell (self, lock, LK_ROAM_DONE);
        forget (self, lock);
    }
}

static void
hear_failed (lk_roam *self, lk_roam_lock *lock, const lk_roam_letter *letter,
             int64_t now_ms)
{
    if (letter->turn == 0) {
        tell (self, lock,
              lock->state == LK_ROAM_HELD ? LK_ROAM_LOST : LK_ROAM_REFUSED);
        give (self, lock, now_ms);
    } else if (lock->state == LK_ROAM_HELD && !lock->doubtful
               && letter->turn == lock->turn) {
        end_turn (self, lock, LK_ROAM_NOT_TURNED);
    }
}

void
lk_roam_hear_of_lock (lk_roam *self, const lk_roam_place *place,
                      const lk_roam_letter *letter, int64_t now_ms)
{
    lk_roam_lock *lock = find_lock (self, letter->serial);
    if (!lock && letter->kind == LK_ROAM_LOCKED) {
        say_unlock (self, place, letter->serial, letter->user);
    }
    /*  protocol 9.20: Moving */
    if (!lock || lock->number != place->number) {
        return;
    }
    if (letter->kind == LK_ROAM_LOCKED) {
        hear_locked (self, lock, place, letter, now_ms);
    } else if (lock->state == LK_ROAM_GIVES) {
        if (letter->kind == LK_ROAM_UNLOCKED) {
            hear_unlocked (self, lock);
        }
    } else if (letter->kind == LK_ROAM_FAILED) {
        hear_failed (self, lock, letter, now_ms);
    }
}

/*  -------------------------------------------------------- life */

static uint32_t
hash_of_serial (const lk_index_link *link)
{
    return lk_hash_number (((const lk_roam_lock *) link)->serial);
}

static uint32_t *
place_in_looks (void *lock)
{
    return &((lk_roam_lock *) lock)->place;
}

void
lk_roam_init_locks (lk_roam *self)
{
    lk_index_init (&self->serials, hash_of_serial);
    lk_heap_init (&self->looks, place_in_looks);
}

void
lk_roam_clear_locks (lk_roam *self)
{
    while (self->locks) {
        forget (self, self->locks);
    }
    (void) lk_index_clear (&self->serials);
    lk_heap_clear (&self->looks);
}

const lk_roam_lock *
lk_roam_first (const lk_roam *self)
{
    return self->locks;
}
