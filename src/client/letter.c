/*  letter.c - the messages that a session sends to its lock service
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/letter.h"

#include "wire/lock_mode.h"
#include "wire/message_frame.h"
#include "wire/object_name.h"

#include <string.h>
#include <unistd.h>

#define LOCK_SERVICE "lock@."

/*  -------------------------------------------------------- fields */

static lk_message *
new_letter (const char *command, uint64_t serial)
{
    lk_message *message = lk_message_new (LOCK_SERVICE, command);
    lk_message_set_serial (message, serial);
    return message;
}

static lk_name
name_of (const char *object, size_t len)
{
    return (lk_name) {object, (uint16_t) len};
}

static void
set_name (lk_message *message, const lk_lock *lock)
{
    lk_object_set (message, name_of (lock->object, lock->len));
    if (lock->context[0] != '\0') {
        lk_message_set_text (message, "context", lock->context);
    }
}

/*  A name of a set, with what it is held by; token 0: it is not. */
static void
add_name (lk_message *message, lk_name name, uint64_t token, uint64_t key)
{
    lk_message *row = lk_message_row_new ();
    lk_object_set (row, name);
    if (token != 0) {
        lk_message_set_hex (row, "token", token);
        lk_message_set_hex (row, "key", key);
    }
    lk_message_add_row (message, "locks", &row);
}

/*  One name, or those of a set; `held`: and what it is held by. */
static void
set_names (lk_message *message, const lk_lock *lock, bool held)
{
    if (lock->other_count == 0) {
        set_name (message, lock);
        if (held) {
            lk_message_set_hex (message, "token", lock->token);
            lk_message_set_hex (message, "key", lock->key);
        }
        return;
    }
    add_name (message, name_of (lock->object, lock->len),
              held ? lock->token : 0, lock->key);
    for (size_t i = 0; i < lock->other_count; i++) {
        const lk_further *other = &lock->others[i];
        add_name (message, name_of (other->object, other->len),
                  held ? other->token : 0, other->key);
    }
    if (lock->context[0] != '\0') {
        lk_message_set_text (message, "context", lock->context);
    }
}

/*  -------------------------------------------------------- LOCK */

static int64_t
pid_of (const lk_lock *lock)
{
    return lock->pid != 0 ? lock->pid : getpid ();
}

static int64_t
wait_left (bool tries, int64_t wait_ms, int64_t since_ms, int64_t now_ms)
{
    if (tries) {
        return 0;
    }
    if (wait_ms <= 0) {
        return wait_ms;
    }
    int64_t left = since_ms + wait_ms - now_ms;
    return left > 0 ? left : 0;
}

/*  A lock service that is not there, maybe just being restarted, may still get
 *  it in time. */
static void
let_wait (lk_message *message, int64_t wait_ms)
{
    const int64_t wait_s = (wait_ms + 999) / 1000;
    lk_message_set_ttl (message, wait_ms < 0 || wait_s > UINT8_MAX
                                     ? UINT8_MAX
                                     : (unsigned) wait_s);
}

/*  How it ends if we cannot say so. */
static void
set_end (lk_message *message, const lk_lock_options *wish)
{
    lk_message_set_any (message, "linger", wish->linger_ms);
    if (wish->guarded) {
        lk_message_set_flag (message, "guarded", true);
    }
}

static int64_t
wait_of (const lk_lock *lock, int64_t now_ms)
{
    return wait_left (lock->tries, lock->wish.wait_ms, lock->asked_at, now_ms);
}

static lk_message *
new_wish (const lk_lock *lock, uint64_t serial, int64_t now_ms)
{
    const lk_lock_options *wish = &lock->wish;
    lk_message *message = new_letter ("LOCK", serial);
    set_names (message, lock, false);
    lk_lock_mode_set (message, &wish->mode);
    lk_message_set_number (message, "wait", wait_of (lock, now_ms));
    lk_message_set_number (message, "duration", wish->duration_ms);
    return message;
}

lk_message *
lk_letter_lock (const lk_lock *lock, int64_t now_ms)
{
    const lk_lock_options *wish = &lock->wish;
    lk_message *message = new_wish (lock, lock->serial, now_ms);
    let_wait (message, wait_of (lock, now_ms));
    set_end (message, wish);
    if (wish->key != 0) {
        lk_message_set_hex (message, "key", wish->key);
    }
    lk_message_set_number (message, "pid", pid_of (lock));
    return message;
}

lk_message *
lk_letter_change (const lk_lock *lock, int64_t now_ms)
{
    return lk_letter_turn (lock, lock->serial, lock->turn, now_ms);
}

lk_message *
lk_letter_turn (const lk_lock *lock, uint64_t serial, uint32_t turn,
                int64_t now_ms)
{
    const lk_type_change *change = &lock->change;
    lk_message *message = new_letter ("LOCK", serial);
    set_name (message, lock);
    lk_message_set_text (message, "type", lk_lock_type_words[change->type]);
    lk_message_set_number (
        message, "wait",
        wait_left (change->tries, change->wait_ms, change->asked_at, now_ms));
    lk_message_set_number (message, "turn", turn);
    lk_message_set_number (message, "pid", pid_of (lock));
    return message;
}

/*  A held lock, as the lock service knew it, and until when. Of a set no home
 *  knows the duration: so it says what is left of that. */
static lk_message *
new_claim (const lk_lock *lock, uint64_t serial, const char *until,
           int64_t until_ms, int64_t now_ms)
{
    const lk_lock_options *wish = &lock->wish;
    lk_lock_mode mode = wish->mode;
    lk_message *message = new_letter ("LOCK", serial);
    int64_t duration_ms = wish->duration_ms;
    mode.type = lock->type;
    if (mode.type
        == LK_SHARED) { /* changed to that from a soft exclusive one */
        mode.soft = false;
        mode.quiet_ms = 0;
    }
    if (lock->other_count > 0 && duration_ms > 0) {
        duration_ms = lock->until_ms > now_ms ? lock->until_ms - now_ms : 1;
    }
    set_names (message, lock, true);
    lk_lock_mode_set (message, &mode);
    lk_message_set_number (message, until, until_ms);
    lk_message_set_number (message, "duration", duration_ms);
    return message;
}

lk_message *
lk_letter_resume (const lk_lock *lock, int64_t now_ms)
{
    const lk_lock_options *wish = &lock->wish;
    lk_message *message = new_claim (lock, lock->serial, "lease_until",
                                     lk_lease_until (lock->lease), now_ms);
    set_end (message, wish);
    if (wish->key != 0 && wish->key == lock->key) {
        lk_message_set_flag (message, "heir", true); /* as which it came */
    }
    lk_message_set_number (message, "pid", pid_of (lock));
    return message;
}

lk_message *
lk_letter_far_lock (const lk_lock *lock, uint64_t serial, int64_t left_ms,
                    int64_t now_ms)
{
    lk_message *message =
        left_ms > 0 ? new_claim (lock, serial, "left", left_ms, now_ms)
                    : new_wish (lock, serial, now_ms);
    set_end (message, &lock->wish);
    lk_message_set_number (message, "pid", pid_of (lock));
    return message;
}

/*  -------------------------------------------------------- UNLOCK */

/*  Of our own request; and with the key, if that is known, in case that the
 *  lock service is another one by now. A set goes by its request alone. */
static void
set_own (lk_message *message, const lk_lock *lock, uint64_t serial)
{
    lk_message_set_number (message, "request", (int64_t) serial);
    if (lock->other_count == 0) {
        set_name (message, lock);
        if (lock->token != 0) {
            lk_message_set_hex (message, "key", lock->key);
        }
    }
}

static void
set_now (lk_message *message, const lk_lock *lock)
{
    if (lock->now) {
        lk_message_set_flag (message, "now", true);
    }
}

lk_message *
lk_letter_end (const lk_lock *lock)
{
    lk_message *message = new_letter (
        lock->deed == LK_DEED_CHECK ? "LOCKCHECK" : "UNLOCK", lock->serial + 1);
    switch (lock->deed) {
    case LK_DEED_LOCK:
        set_own (message, lock, lock->serial);
        break;
    case LK_DEED_UNLOCK:
        set_name (message, lock);
        lk_message_set_hex (message, "key", lock->key);
        set_now (message, lock);
        break;
    case LK_DEED_FORCE:
        set_name (message, lock);
        lk_message_set_flag (message, "force", true);
        lk_message_set_text (message, "reason", lock->reason);
        set_now (message, lock);
        if (lock->token != 0) {
            lk_message_set_hex (message, "token", lock->token);
        }
        break;
    case LK_DEED_CHECK:
        set_name (message, lock);
        lk_message_set_hex (message, "token", lock->token);
        break;
    }
    return message;
}

/*  A server that does not know the request gives it back by its names. */
lk_message *
lk_letter_far_unlock (const lk_lock *lock, uint64_t serial)
{
    lk_message *message = new_letter ("UNLOCK", serial + 1);
    set_own (message, lock, serial);
    if (lock->other_count > 0) {
        set_names (message, lock, false);
    }
    return message;
}

/*  A lock service that does not know the request is not the one that granted
 *  it: then it is given back already. */
lk_message *
lk_letter_give_back (const lk_message *grant)
{
    const uint64_t serial = lk_message_serial (grant);
    lk_message *message = new_letter ("UNLOCK", serial + 1);
    lk_message_set_number (message, "request", (int64_t) serial);
    return message;
}

/*  -------------------------------------------------------- LOCKED */

/*  What a set is granted of one of its names; false if that row is missing or
 *  broken. */
static bool
find_row (const lk_message *message, lk_name name, uint64_t *token,
          uint64_t *key)
{
    char room[LK_OBJECT_LEN_MAX];
    bool found = false;
    lk_message *row;
    for (size_t at = 0;
         !found && (row = lk_message_row (message, "locks", at)) != NULL;
         at++) {
        lk_name other;
        lk_flaw flaw;
        found = lk_object_get (row, room, &other, &flaw)
                && other.size == name.size
                && memcmp (other.data, name.data, name.size) == 0
                && lk_message_hex (row, "token", token) && *token != 0
                && lk_message_hex (row, "key", key);
        lk_message_destroy (&row);
    }
    return found;
}

bool
lk_letter_read_first (const lk_message *message, const lk_lock *lock,
                      lk_grant *grant)
{
    return find_row (message, name_of (lock->object, lock->len), &grant->token,
                     &grant->key);
}

bool
lk_letter_has_others (const lk_message *message, const lk_lock *lock)
{
    uint64_t token, key;
    bool whole = true;
    for (size_t i = 0; whole && i < lock->other_count; i++) {
        const lk_further *other = &lock->others[i];
        whole = find_row (message, name_of (other->object, other->len), &token,
                          &key);
    }
    return whole;
}

bool
lk_letter_read_others (const lk_message *message, lk_lock *lock)
{
    bool whole = true;
    for (size_t i = 0; whole && i < lock->other_count; i++) {
        lk_further *other = &lock->others[i];
        whole = find_row (message, name_of (other->object, other->len),
                          &other->token, &other->key);
    }
    return whole;
}

static lk_lock_type
read_type (const lk_message *message)
{
    const char *word = lk_message_text (message, "type");
    lk_lock_type type = 0;
    while (type < LK_LOCK_TYPE_COUNT
           && (word == NULL || strcmp (word, lk_lock_type_words[type]) != 0)) {
        type++;
    }
    return type;
}

static uint32_t
read_small (const lk_message *message, const char *name)
{
    const int64_t number = lk_message_number (message, name, 0);
    return number > 0 && number <= UINT32_MAX ? (uint32_t) number : 0;
}

/*  When its duration is over, by our clock; -1: it has none. */
static int64_t
read_until (const lk_message *message, bool is_far)
{
    if (!is_far) {
        return lk_message_number (message, "until", -1);
    }
    const int64_t left_ms = lk_message_number (message, "left", -1);
    const int64_t as_of = lk_message_number (message, "as_of", 0);
    return left_ms < 0 || as_of < 0 || left_ms > INT64_MAX - as_of
               ? -1
               : as_of + left_ms;
}

/*  A session is a number in LOCKED, as in LOCKREADY. */
bool
lk_letter_read_grant (const lk_message *message, lk_grant *grant)
{
    const bool is_far = lk_message_has (message, "registration");
    int64_t session =
        lk_message_number (message, is_far ? "registration" : "session", 0);
    *grant = (lk_grant) {.session = (uint64_t) session,
                         .until_ms = read_until (message, is_far),
                         .lease_until_ms =
                             lk_message_number (message, "lease_until", 0),
                         .lease_ms = lk_message_number (message, "lease", 0),
                         .lease_page = lk_message_text (message, "lease_page"),
                         .type = read_type (message),
                         .ordinal = read_small (message, "ordinal"),
                         .turn = read_small (message, "turn"),
                         .is_static = lk_message_flag (message, "static"),
                         .is_set = lk_message_has (message, "locks"),
                         .is_far = is_far};
    if (grant->until_ms < 0) {
        grant->until_ms = INT64_MAX;
    }
    return session > 0
           && (grant->is_set
               || (lk_message_hex (message, "token", &grant->token)
                   && grant->token != 0
                   && lk_message_hex (message, "key", &grant->key)));
}
