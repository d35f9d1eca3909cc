/*  letter.c - the messages that a session sends to its lock service
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "client/letter.h"

#include <unistd.h>

#define LOCK_SERVICE "lock@."

static int64_t
wait_left (const lk_lock *lock, int64_t now_ms)
{
    if (lock->wait_ms <= 0) {
        return lock->wait_ms;
    }
    int64_t left = lock->asked_at + lock->wait_ms - now_ms;
    return left > 0 ? left : 0;
}

lk_message *
lk_letter_lock (const lk_lock *lock, int64_t now_ms)
{
    lk_message *message = lk_message_new (LOCK_SERVICE, "LOCK");
    lk_message_set_serial (message, lock->serial);
    lk_message_set_text (message, "object", lock->object);
    lk_message_set_text (message, "type", "exclusive");
    lk_message_set_number (message, "wait", wait_left (lock, now_ms));
    lk_message_set_number (message, "duration", lock->duration_ms);
    lk_message_set_number (message, "pid", getpid ());
    return message;
}

lk_message *
lk_letter_unlock (const lk_lock *lock)
{
    lk_message *message = lk_message_new (LOCK_SERVICE, "UNLOCK");
    lk_message_set_serial (message, lock->serial + 1);
    lk_message_set_text (message, "object", lock->object);
    if (!lock->by_key) {
        lk_message_set_number (message, "request", (int64_t) lock->serial);
    }
    if (lock->by_key || lock->token != 0) {
        lk_message_set_hex (message, "key", lock->key);
    }
    return message;
}

lk_message *
lk_letter_give_back (const lk_message *grant)
{
    const char *object = lk_message_text (grant, "object");
    uint64_t key;
    if (object == NULL || !lk_message_hex (grant, "key", &key)) {
        return NULL;
    }
    uint64_t serial = lk_message_serial (grant);
    lk_message *message = lk_message_new (LOCK_SERVICE, "UNLOCK");
    lk_message_set_serial (message, serial + 1);
    lk_message_set_text (message, "object", object);
    lk_message_set_number (message, "request", (int64_t) serial);
    lk_message_set_hex (message, "key", key);
    return message;
}

/*  A session is a number in LOCKED, as in LOCKREADY. */
bool
lk_letter_read_grant (const lk_message *message, lk_grant *grant)
{
    int64_t session = lk_message_number (message, "session", 0);
    grant->session = (uint64_t) session;
    grant->until_ms = lk_message_number (message, "until", -1);
    if (grant->until_ms < 0) {
        grant->until_ms = INT64_MAX;
    }
    grant->lease_until_ms = lk_message_number (message, "lease_until", 0);
    grant->lease_page = lk_message_text (message, "lease_page");
    return session > 0 && lk_message_hex (message, "token", &grant->token)
           && grant->token != 0 && lk_message_hex (message, "key", &grant->key);
}
