/*  request_fields.c - the fields of what applications ask
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "request_fields.h"

#include "util/alloc.h"
#include "wire/address.h"
#include "wire/message_frame.h"
#include "wire/object_key.h"
#include "wire/object_name.h"

#include <lockkeeper/lockkeeper.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX (INT64_C (1) << 45) /* ms: a thousand years */
#define COUNT_MAX (INT64_C (1) << 53)

/*  -------------------------------------------------------- problems */

static bool
is_fine (const lk_ask *self)
{
    return self->problem[0] == '\0';
}

static void
complain (lk_ask *self, const char *field, const char *what)
{
    if (is_fine (self)) {
        snprintf (self->problem, sizeof self->problem, "the field '%s' %s",
                  field, what);
    }
}

static bool
has (const lk_ask *self, const char *field)
{
    return lk_message_has (self->message, field);
}

/*  That field alone would mean less than who sent it thinks. */
static void
needs (lk_ask *self, bool does, const char *field, const char *what)
{
    if (!does && has (self, field)) {
        complain (self, field, what);
    }
}

/*  -------------------------------------------------------- plain fields */

static const char *
read_text (lk_ask *self, const char *field, size_t len_max)
{
    const char *text = lk_message_text (self->message, field);
    if (!text) {
        if (has (self, field)) {
            complain (self, field, "is no text");
        }
        return "";
    }
    if (strlen (text) > len_max) {
        complain (self, field, "is too long");
        return "";
    }
    return text;
}

static int64_t
read_number (lk_ask *self, const char *field, int64_t low, int64_t high,
             int64_t otherwise)
{
    if (!has (self, field)) {
        return otherwise;
    }
    int64_t number = lk_message_number (self->message, field, INT64_MIN);
    if (number == INT64_MIN) {
        complain (self, field, "is no whole number");
    } else if (number < low || number > high) {
        complain (self, field, "is out of range");
    }
    return number;
}

static uint32_t
read_small (lk_ask *self, const char *field, uint32_t high)
{
    return (uint32_t) read_number (self, field, 0, high, 0);
}

static bool
read_flag (lk_ask *self, const char *field)
{
    if (has (self, field) && !lk_message_is_flag (self->message, field)) {
        complain (self, field, "is neither true nor false");
    }
    return lk_message_flag (self->message, field);
}

/*  Whether it is there. */
static bool
read_hex (lk_ask *self, const char *field, uint64_t *value)
{
    if (has (self, field) && !lk_message_hex (self->message, field, value)) {
        complain (self, field, "is not 16 hexadecimal digits");
    }
    return has (self, field);
}

static int64_t
read_wait (lk_ask *self)
{
    return read_number (self, "wait", LK_FOREVER, TIME_MAX, LK_FOREVER);
}

/*  -------------------------------------------------------- names */

static lk_name
make_key (lk_ask *self, lk_name object, char buffer[LK_NAME_SIZE_MAX])
{
    const char *said = read_text (self, "zone", LK_OBJECT_PART_LEN_MAX);
    const char *zone = has (self, "zone") ? lk_zone_plain (said) : self->zone;
    const char *context = read_text (self, "context", LK_OBJECT_PART_LEN_MAX);
    return lk_object_key (zone, context, object, buffer, LK_NAME_SIZE_MAX);
}

static void
read_object (lk_ask *self)
{
    char room[LK_OBJECT_LEN_MAX];
    lk_name object = {0};
    lk_flaw flaw;
    if (!lk_object_get (self->message, room, &object, &flaw)) {
        complain (self, flaw.field, flaw.what);
    }
    self->core.object = make_key (self, object, self->key);
}

/*  With what it is held already, if it is. */
static void
read_claim (lk_ask *self, const lk_message *row, size_t place)
{
    lk_claim *claim = &self->claims[place];
    const bool is_there =
        lk_message_has (row, "token") || lk_message_has (row, "key");
    if (is_there
        && !(lk_message_hex (row, "token", &claim->token) && claim->token != 0
             && lk_message_hex (row, "key", &claim->key) && claim->key != 0)) {
        complain (self, "locks",
                  "has an item without a token and a key of 16 hexadecimal "
                  "digits each");
    }
    self->claimed += is_there;
}

/*  The name at that place of the list. */
static void
read_member (lk_ask *self, size_t place)
{
    char room[LK_OBJECT_LEN_MAX], buffer[LK_NAME_SIZE_MAX];
    lk_name object = {0};
    lk_flaw flaw = {"locks", "has an item that is no object"};
    lk_message *row = lk_message_row (self->message, "locks", place);
    if (!row || !lk_object_get (row, room, &object, &flaw)) {
        complain (self, flaw.field, flaw.what);
    } else {
        read_claim (self, row, place);
    }
    if (place == 0) {
        self->core.object = make_key (self, object, self->key);
    } else if (is_fine (self)) {
        const lk_name key = make_key (self, object, buffer);
        self->rest[self->core.rest_count++] =
            (lk_name) {lk_memdup (key.data, key.size), key.size};
    }
    lk_message_destroy (&row);
}

static int
compare_names (const void *a, const void *b)
{
    const lk_name *one = a, *other = b;
    if (one->size != other->size) {
        return one->size < other->size ? -1 : 1;
    }
    return memcmp (one->data, other->data, one->size);
}

static bool
has_twice (const lk_ask *self)
{
    lk_name names[LK_SET_MAX];
    const size_t count = self->core.rest_count + 1;
    names[0] = self->core.object;
    memcpy (names + 1, self->rest, self->core.rest_count * sizeof names[0]);
    qsort (names, count, sizeof names[0], compare_names);
    for (size_t i = 1; i < count; i++) {
        if (compare_names (&names[i - 1], &names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void
read_set (lk_ask *self)
{
    const size_t count = lk_message_item_count (self->message, "locks");
    if (count == 0) {
        complain (self, "locks", "is no list, or an empty one");
    } else if (count > LK_SET_MAX) {
        complain (self, "locks", "names more than 128 locks");
    }
    needs (self, false, "object", "is there, and so is 'locks'");
    needs (self, false, "object_hex", "is there, and so is 'locks'");
    for (size_t i = 0; i < count && is_fine (self); i++) {
        read_member (self, i);
    }
    if (is_fine (self) && has_twice (self)) {
        complain (self, "locks", "names a lock twice");
    }
    self->core.rest = self->rest;
}

/*  All that is said to be held, or nothing; one alone is a lock like any
 *  other. */
static void
take_claims (lk_ask *self)
{
    lk_app_request *core = &self->core;
    if (self->claimed == 0) {
        return;
    }
    if (self->claimed != core->rest_count + 1) {
        complain (self, "locks", "has items with a token, and some without");
    }
    core->claims = self->claims;
    core->token = self->claims[0].token;
    if (core->rest_count == 0) {
        core->key = self->claims[0].key;
    }
}

/*  -------------------------------------------------------- kinds of locks */

static lk_lock_type
read_type (lk_ask *self)
{
    const char *word = read_text (self, "type", LK_COMMAND_LEN_MAX);
    for (int type = 0; type < LK_LOCK_TYPE_COUNT; type++) {
        if (strcmp (word, lk_lock_type_words[type]) == 0) {
            return (lk_lock_type) type;
        }
    }
    needs (self, false, "type",
           "is none of 'exclusive', 'shared' and 'semaphore'");
    return LK_EXCLUSIVE;
}

static bool
read_policy (lk_ask *self)
{
    const char *word = read_text (self, "policy", LK_COMMAND_LEN_MAX);
    const bool soft = strcmp (word, "soft") == 0;
    needs (self, soft || strcmp (word, "hard") == 0, "policy",
           "is neither 'hard' nor 'soft'");
    return soft;
}

static void
read_mode (lk_ask *self, lk_lock_mode *mode)
{
    mode->type = read_type (self);
    mode->soft = read_policy (self);
    mode->quiet_ms = read_small (self, "quiet", LK_QUIET_MAX_MS);
    mode->limit = read_small (self, "limit", LK_LIMIT_MAX);
    mode->bound = read_small (self, "bound", LK_LIMIT_MAX);
    mode->lenient = read_flag (self, "lenient");
    mode->is_static = read_flag (self, "static");
}

/*  Whether the fields of a mode go together. */
static void
check_mode (lk_ask *self, const lk_lock_mode *mode)
{
    const bool semaphore = mode->type == LK_SEMAPHORE;
    needs (self, !mode->soft || mode->type == LK_EXCLUSIVE, "policy",
           "is 'soft', which only an exclusive lock can be");
    needs (self, mode->quiet_ms == 0 || mode->soft, "quiet",
           "needs the policy 'soft'");
    needs (self, mode->limit == 0 || semaphore, "limit",
           "needs the type 'semaphore'");
    needs (self, mode->bound == 0 || semaphore, "bound",
           "needs the type 'semaphore'");
    if (semaphore && mode->limit == 0 && mode->bound == 0) {
        complain (self, "limit", "is missing, and so is 'bound'");
    }
    needs (self, !mode->is_static || self->core.linger_ms == 0, "linger",
           "makes no sense for a static lock, which stays anyway");
    needs (self, !mode->is_static || !mode->lenient, "lenient",
           "is not for a static lock, whose holder may not be there to be "
           "asked for it");
}

static void
check_turn (lk_ask *self)
{
    needs (self, self->core.turn == 0 || self->core.mode.type != LK_SEMAPHORE,
           "type", "cannot be changed to 'semaphore'");
    needs (self, self->core.turn == 0 || self->core.key == 0, "key",
           "makes no sense with 'turn'");
}

/*  Until when it is held, by a lease of this host; on another machine: for how
 *  long. */
static void
read_time_left (lk_ask *self, bool resumes)
{
    lk_app_request *core = &self->core;
    const char *field = self->far ? "left" : "lease_until";
    if (self->far) {
        core->left_ms = read_number (self, field, 0, TIME_MAX, 0);
    } else {
        core->lease_until_ms =
            read_number (self, field, 0, INT64_MAX - TIME_MAX, 0);
    }
    if (resumes && !has (self, field)) {
        complain (self, field, "is missing, and 'token' is there");
    }
    needs (self, resumes, field, "needs 'token'");
}

/*  A lock that is held already, of a former session, or registration. */
static void
read_resume (lk_ask *self)
{
    lk_app_request *core = &self->core;
    bool resumes = read_hex (self, "token", &core->token);
    if (resumes && core->token == 0) {
        complain (self, "token", "is 0, which is none");
    }
    take_claims (self);
    resumes |= self->claimed > 0;
    read_time_left (self, resumes);
    core->heir = read_flag (self, "heir");
    needs (self, resumes && !self->core.listed, "heir",
           "needs 'token', and one lock");
    needs (self, core->key != 0 || self->core.listed, "token", "needs 'key'");
    needs (self, core->turn == 0, "token", "makes no sense with 'turn'");
    needs (self, !core->mode.is_static, "token",
           "makes no sense for a static lock, which stays anyway");
    needs (self, !resumes || !self->far || core->asked_before, "token",
           "needs 'again'");
}

static void
check_set (lk_ask *self)
{
    static const char what[] = "is not for several locks at once";
    const lk_app_request *core = &self->core;
    needs (self, core->turn == 0, "turn", what);
    needs (self, false, "key", what);
    needs (self, false, "token", what);
    needs (self, core->mode.quiet_ms == 0, "quiet", what);
    needs (self, !core->mode.lenient, "lenient", what);
    needs (self, !core->mode.is_static, "static", what);
}

/*  -------------------------------------------------------- other machines */

/*  Of which registration it is. */
static void
read_registration (lk_ask *self, bool has_drawn)
{
    static const char *const fields[] = {"registration", "drawn", "again",
                                         "left", "sent"};
    lk_app_request *core = &self->core;
    for (size_t i = 0; !self->far && i < sizeof fields / sizeof fields[0];
         i++) {
        needs (self, false, fields[i], "is for applications on other machines");
    }
    if (!self->far) {
        return;
    }
    needs (self, false, "lease_until", "is for applications of this host");
    core->far.number =
        (uint64_t) read_number (self, "registration", 1, COUNT_MAX, 0);
    if (!has (self, "registration")) {
        complain (self, "registration", "is missing");
    }
    if (has_drawn && !read_hex (self, "drawn", &core->far.drawn)) {
        complain (self, "drawn", "is missing");
    }
}

/*  -------------------------------------------------------- messages */

static void
open (lk_ask *self, const lk_message *message)
{
    const char *zone = self->zone;
    memset (self, 0, offsetof (lk_ask, key));
    self->zone = zone;
    self->message = message;
    self->core.serial = lk_message_serial (message);
    self->far = lk_address_is_far (lk_slice_of (lk_message_from (message)));
}

static void
begin (lk_ask *self, const lk_message *message)
{
    open (self, message);
    if (self->core.serial == 0 || self->core.serial > INT64_MAX) {
        snprintf (self->problem, sizeof self->problem,
                  "a request needs a serial from 1 to 2^63 - 1");
    }
}

bool
lk_ask_lock (lk_ask *self, const lk_message *message)
{
    lk_app_request *core = &self->core;
    begin (self, message);
    self->core.listed = has (self, "locks");
    if (self->core.listed) {
        read_set (self);
    } else {
        read_object (self);
    }
    core->wait_ms = read_wait (self);
    core->duration_ms = read_number (self, "duration", 0, TIME_MAX, 0);
    core->linger_ms = read_number (self, "linger", 0, TIME_MAX, 0);
    core->guarded = read_flag (self, "guarded");
    core->pid = read_small (self, "pid", UINT32_MAX);
    core->turn = read_small (self, "turn", UINT32_MAX);
    (void) read_hex (self, "key", &core->key);
    read_mode (self, &core->mode);
    check_mode (self, &core->mode);
    check_turn (self);
    read_registration (self, true);
    core->asked_before = self->far && read_flag (self, "again");
    core->sent = self->far ? read_number (self, "sent", 0, TIME_MAX, 0) : 0;
    read_resume (self);
    if (self->core.listed) {
        check_set (self);
    }
    return is_fine (self);
}

static void
read_force (lk_ask *self)
{
    self->force = read_flag (self, "force");
    self->core.now = read_flag (self, "now");
    (void) read_hex (self, "token", &self->core.token);
    const char *reason = read_text (self, "reason", LK_REASON_MAX);
    self->core.reason = (lk_name) {reason, (uint16_t) strlen (reason)};
    needs (self, self->force || self->has_key, "now", "needs 'key' or 'force'");
    needs (self, self->force, "token", "needs 'force'");
    needs (self, self->force, "reason", "needs 'force'");
    needs (self, !self->force, "key", "is there, and so is 'force'");
    needs (self, !self->force, "request", "is there, and so is 'force'");
}

/*  A server that does not know the request of another one goes by them. */
static void
read_names (lk_ask *self)
{
    self->core.listed = self->far && has (self, "locks");
    needs (self, self->far, "locks", "is for applications on other machines");
    if (self->core.listed) {
        read_set (self);
        needs (self, self->named != 0 && !self->has_key, "locks",
               "needs 'request', and no 'key'");
        needs (self, self->claimed == 0, "locks",
               "has an item with a token, which UNLOCK does not say");
    } else if (has (self, "object") || has (self, "object_hex") || self->has_key
               || self->named == 0) {
        read_object (self);
    }
}

bool
lk_ask_unlock (lk_ask *self, const lk_message *message)
{
    begin (self, message);
    read_registration (self, true);
    self->core.wait_ms = read_wait (self);
    self->named = (uint64_t) read_number (self, "request", 1, INT64_MAX, 0);
    self->has_key = read_hex (self, "key", &self->core.key);
    read_force (self);
    read_names (self);
    if (!self->has_key && self->named == 0 && !self->force) {
        complain (self, "request", "is missing, and so are 'key' and 'force'");
    }
    return is_fine (self);
}

bool
lk_ask_check (lk_ask *self, const lk_message *message)
{
    begin (self, message);
    read_object (self);
    read_registration (self, true);
    self->core.wait_ms = read_wait (self);
    if (!read_hex (self, "token", &self->core.token)) {
        complain (self, "token", "is missing");
    }
    return is_fine (self);
}

/*  These are repeated, and told apart by what they say: a serial is of no
 *  use. */
static void
begin_far (lk_ask *self, const lk_message *message, bool has_drawn)
{
    open (self, message);
    if (!self->far) {
        snprintf (self->problem, sizeof self->problem,
                  "that is for applications on other machines");
    }
    read_registration (self, has_drawn);
}

static void
require (lk_ask *self, const char *field)
{
    if (!has (self, field)) {
        complain (self, field, "is missing");
    }
}

/*  The time by the application's clock. */
static void
read_clock (lk_ask *self)
{
    require (self, "sent");
    self->core.sent = read_number (self, "sent", 0, TIME_MAX, 0);
}

bool
lk_ask_register (lk_ask *self, const lk_message *message)
{
    begin_far (self, message, false);
    read_clock (self);
    require (self, "lease");
    require (self, "secret");
    require (self, "secret2");
    self->core.left_ms = read_number (self, "lease", 1, TIME_MAX, 0);
    (void) read_hex (self, "secret", &self->secret[0]);
    (void) read_hex (self, "secret2", &self->secret[1]);
    return is_fine (self);
}

bool
lk_ask_lease (lk_ask *self, const lk_message *message)
{
    begin_far (self, message, true);
    read_clock (self);
    return is_fine (self);
}

bool
lk_ask_goodbye (lk_ask *self, const lk_message *message)
{
    begin_far (self, message, true);
    return is_fine (self);
}

void
lk_ask_clear (lk_ask *self)
{
    for (size_t i = 0; i < self->core.rest_count; i++) {
        lk_free ((char *) self->rest[i].data);
    }
    self->core.rest_count = 0;
}
