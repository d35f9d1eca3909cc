/*  far_letter.c - roam's letters as messages, and messages as its letters
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/far.h"

#include "client/letter.h"
#include "net/clock.h"
#include "wire/message_frame.h"

#include <string.h>

#define LOCK_SERVICE "lock@."
#define LEASE_MAX_MS 3600000 /* more than a host may have */

/*  Serials of what is about a registration; those of locks are smaller. */
#define REGISTRATION_SERIAL (UINT64_C (1) << 62)

/*  -------------------------------------------------------- saying */

static void
sign (lk_message *message, uint64_t number, uint64_t drawn)
{
    lk_message_set_number (message, "registration", (int64_t) number);
    if (drawn != 0) {
        lk_message_set_hex (message, "drawn", drawn);
    }
}

void
lk_far_sign (lk_message *message, const lk_roam_place *place)
{
    sign (message, place->number, place->drawn);
}

static lk_message *
new_message (const char *command, const lk_roam_letter *letter)
{
    lk_message *message = lk_message_new (LOCK_SERVICE, command);
    lk_message_set_serial (message, REGISTRATION_SERIAL | letter->number);
    return message;
}

static lk_message *
render_register (const lk_far_way *self, const lk_roam_letter *letter)
{
    lk_message *message = new_message ("LOCKREGISTER", letter);
    lk_message_set_number (message, "lease", letter->left_ms);
    lk_message_set_hex (message, "secret", self->secret[0]);
    lk_message_set_hex (message, "secret2", self->secret[1]);
    lk_message_set_number (message, "sent", letter->sent);
    return message;
}

static lk_message *
render_lease (const lk_roam_letter *letter)
{
    lk_message *message = new_message ("LOCKLEASE", letter);
    lk_message_set_number (message, "sent", letter->sent);
    return message;
}

static lk_message *
render_lock (const lk_far_lock *lock, const lk_roam_letter *letter,
             int64_t now_ms)
{
    if (letter->turn != 0) {
        return lk_letter_turn (lock->lock, lock->serial, letter->turn, now_ms);
    }
    lk_message *message =
        lk_letter_far_lock (lock->lock, lock->serial,
                            letter->token != 0 ? letter->left_ms : 0, now_ms);
    if (letter->asked_before) {
        lk_message_set_flag (message, "again", true);
    }
    lk_message_set_number (message, "sent", letter->sent);
    return message;
}

/*  A set that began anew has other serials to give back. */
static const lk_far_lock *
meant (const lk_roam_letter *letter)
{
    const lk_far_lock *lock = letter->user;
    while (lock->known != letter->serial && lock->former != NULL) {
        lock = lock->former;
    }
    return lock;
}

lk_message *
lk_far_render (const lk_far_way *self, const lk_roam_letter *letter,
               int64_t now_ms)
{
    const lk_far_lock *lock = letter->user != NULL ? meant (letter) : NULL;
    lk_message *message = NULL;
    switch (letter->kind) {
    case LK_ROAM_REGISTER:
        message = render_register (self, letter);
        break;
    case LK_ROAM_LEASE:
        message = render_lease (letter);
        break;
    case LK_ROAM_LOCK:
        message = render_lock (lock, letter, now_ms);
        break;
    case LK_ROAM_UNLOCK:
        message = lk_letter_far_unlock (lock->lock, lock->serial);
        break;
    case LK_ROAM_GOODBYE:
        message = new_message ("LOCKGOODBYE", letter);
        break;
    default:
        return NULL;
    }
    sign (message, letter->number, letter->drawn);
    return message;
}

lk_message *
lk_far_give_back (const lk_message *grant)
{
    uint64_t drawn = 0;
    lk_message *message = lk_letter_give_back (grant);
    (void) lk_message_hex (grant, "drawn", &drawn);
    sign (message, (uint64_t) lk_message_number (grant, "registration", 0),
          drawn);
    return message;
}

/*  -------------------------------------------------------- reading */

bool
lk_far_is_register (uint64_t serial)
{
    return (serial & REGISTRATION_SERIAL) != 0;
}

static bool
read_registration (const lk_message *message, lk_roam_letter *letter)
{
    const int64_t number = lk_message_number (message, "registration", 0);
    letter->number = (uint64_t) number;
    (void) lk_message_hex (message, "drawn", &letter->drawn);
    return number > 0;
}

/*  A lease that lasts for ever would be nobody's. */
static bool
read_lease (const lk_message *message, lk_roam_letter *letter)
{
    letter->sent = lk_message_number (message, "sent", -1);
    letter->left_ms = lk_message_number (message, "left", 0);
    return letter->sent >= 0 && letter->left_ms > 0
           && letter->left_ms <= LEASE_MAX_MS;
}

bool
lk_far_read (const lk_message *message, lk_roam_letter *letter)
{
    static const struct {
        const char *command;
        lk_roam_kind kind;
    } kinds[] = {{"LOCKREGISTER", LK_ROAM_READY},
                 {"LOCKLEASE", LK_ROAM_LEASE},
                 {"LOCKMOVE", LK_ROAM_MOVE},
                 {"LOCKUNREGISTERED", LK_ROAM_UNKNOWN}};
    size_t i = 0;
    while (i < 4 && !lk_message_is (message, kinds[i].command)) {
        i++;
    }
    if (i == 4 || !read_registration (message, letter)) {
        return false;
    }
    letter->kind = kinds[i].kind;
    return letter->kind != LK_ROAM_LEASE || read_lease (message, letter);
}

static lk_err
error_of (const lk_message *message)
{
    const char *word = lk_message_text (message, "error");
    return lk_message_is (message, "INVALID") ? LK_INVALID
           : word == NULL                     ? LK_OK
                                              : lk_err_from_word (word);
}

static lk_roam_state
state_of (const lk_far_lock *lock)
{
    return lock->is_former ? LK_ROAM_GIVES : lock->roam->state;
}

/*  The change of type that has failed; 0: it is about the lock. What makes no
 *  sense to a server repeats no turn; but where nothing is claimed it is asked
 *  for nothing else. */
static uint32_t
failed_turn (const lk_message *message, const lk_far_lock *lock)
{
    const int64_t turn = lk_message_number (message, "turn", 0);
    const lk_roam_lock *roam = lock->roam;
    if (turn > 0 && turn <= UINT32_MAX) {
        return (uint32_t) turn;
    }
    return error_of (message) == LK_INVALID && state_of (lock) == LK_ROAM_HELD
                   && !roam->doubtful
               ? roam->turn
               : 0;
}

/*  One that is too busy is asked again; and one that says that our credential
 *  has ended takes no claim: what is held is believed as long as it was. */
static bool
read_failure (const lk_message *message, const lk_far_lock *lock,
              lk_roam_letter *letter)
{
    const lk_err error = error_of (message);
    if (lk_message_serial (message) % 2 == 1) {
        letter->kind = LK_ROAM_UNLOCKED;
        return error == LK_DENIED || error == LK_INVALID || error == LK_UNKNOWN;
    }
    letter->kind = LK_ROAM_FAILED;
    letter->turn = failed_turn (message, lock);
    return letter->turn != 0
           || (error != LK_OVERLOADED && error != LK_CREDENTIAL)
           || state_of (lock) == LK_ROAM_WAITS;
}

/*  A lock that is taken away from its holder is kept until it is given back. */
static bool
read_end (const lk_message *message, const lk_far_lock *lock,
          lk_roam_letter *letter)
{
    const lk_err error = error_of (message);
    const bool is_kept = error == LK_TIMEDOUT || error == LK_SHUTDOWN
                         || error == LK_FORCED || error == LK_RELEASED;
    if (lk_message_flag (message, "moved")) {
        return false;
    }
    if (lk_message_serial (message) % 2 == 1) {
        letter->kind = LK_ROAM_UNLOCKED;
        return true;
    }
    letter->kind = LK_ROAM_FAILED;
    return !is_kept || state_of (lock) != LK_ROAM_HELD;
}

/*  One name, or all of a set; into the grant goes the first of them. */
static bool
read_names (const lk_message *message, const lk_lock *lock, lk_grant *grant)
{
    return lk_letter_read_grant (message, grant)
           && grant->is_set == (lock->other_count > 0)
           && (!grant->is_set
               || (lk_letter_read_first (message, lock, grant)
                   && lk_letter_has_others (message, lock)));
}

/*  The change of type that is over, if it is what was asked for. */
static uint32_t
made_turn (const lk_grant *grant, const lk_lock *lock)
{
    return grant->type == lock->change.type || grant->type == LK_LOCK_TYPE_COUNT
               ? grant->turn
               : 0;
}

static bool
read_locked (const lk_message *message, const lk_far_lock *lock,
             lk_roam_letter *letter)
{
    lk_grant grant;
    letter->kind = LK_ROAM_LOCKED;
    if (!read_names (message, lock->lock, &grant)) {
        return false;
    }
    letter->token = grant.token;
    letter->key = grant.key;
    letter->turn = made_turn (&grant, lock->lock);
    letter->left_ms = grant.until_ms == INT64_MAX ? -1 : grant.until_ms;
    return true;
}

bool
lk_far_read_answer (const lk_message *message, const lk_far_lock *lock,
                    lk_roam_letter *letter)
{
    const bool is_signed = read_registration (message, letter);
    letter->serial = lock->known;
    letter->user = (void *) lock;
    if (lk_message_is (message, "LOCKED")) {
        return is_signed && read_locked (message, lock, letter);
    }
    if (lk_message_is (message, "UNLOCKED")) {
        return is_signed && read_end (message, lock, letter);
    }
    return (lk_message_is (message, "INVALID")
            || (is_signed && lk_message_is (message, "LOCKFAILED")))
           && read_failure (message, lock, letter);
}
