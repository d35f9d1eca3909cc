/*  requests.c - what applications ask, checked field by field
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  LOCK and UNLOCK become events of the core, which answers repeated ones
 *  again. What makes no sense is answered here and never gets there.
 */

#include "lockd.h"

#include "wire/message_frame.h"
#include "wire/object_name.h"

#include <lockkeeper/lockkeeper.h>

#include <stdio.h>
#include <string.h>

#define TIME_MAX (INT64_C (1) << 45) /* ms: a thousand years */

/*  The checks of one message: the first that fails leaves its sentence. */
typedef struct {
    const lk_message *message;
    char problem[160];
    char key[LK_NAME_SIZE_MAX];
} lk_check;

/*  -------------------------------------------------------- checks */

static bool
is_fine (const lk_check *self)
{
    return self->problem[0] == '\0';
}

static void
complain (lk_check *self, const char *field, const char *what)
{
    if (is_fine (self)) {
        snprintf (self->problem, sizeof self->problem, "the field '%s' %s",
                  field, what);
    }
}

static const char *
read_text (lk_check *self, const char *field, size_t len_max)
{
    const char *text = lk_message_text (self->message, field);
    if (!text) {
        if (lk_message_has (self->message, field)) {
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
read_number (lk_check *self, const char *field, int64_t low, int64_t high,
             int64_t otherwise)
{
    if (!lk_message_has (self->message, field)) {
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

static void
read_type (lk_check *self)
{
    const char *type = read_text (self, "type", LK_COMMAND_LEN_MAX);
    if (type[0] && strcmp (type, "exclusive") != 0) {
        complain (self, "type", "is not 'exclusive', the only type there is");
    }
}

/*  Zone, context and name as the object's key, in self->key. */
static lk_name
read_object (lk_check *self)
{
    char room[LK_OBJECT_LEN_MAX];
    lk_name object = {0};
    lk_flaw flaw;
    if (!lk_object_get (self->message, room, &object, &flaw)) {
        complain (self, flaw.field, flaw.what);
    }
    const char *zone = read_text (self, "zone", LK_OBJECT_PART_LEN_MAX);
    const char *context = read_text (self, "context", LK_OBJECT_PART_LEN_MAX);
    return lk_object_key (zone, context, object, self->key, sizeof self->key);
}

static uint64_t
read_serial (lk_check *self)
{
    uint64_t serial = lk_message_serial (self->message);
    if (serial == 0 && is_fine (self)) {
        snprintf (self->problem, sizeof self->problem,
                  "a request needs a serial that is not 0");
    }
    return serial;
}

/*  -------------------------------------------------------- answers */

void
lk_lockd_fail (lk_lockd *self, const lk_message *request, lk_err error,
               const char *text)
{
    lk_message *answer = lk_message_reply (request, "LOCKFAILED");
    char room[LK_OBJECT_LEN_MAX];
    lk_name object;
    lk_flaw flaw;
    if (lk_object_get (request, room, &object, &flaw)) {
        lk_object_set (answer, object);
    }
    lk_message_set_text (answer, "error", lk_err_word (error));
    lk_message_set_text (answer, "text", text);
    (void) lk_lockd_send (self, answer);
}

static void
answer_unknown (lk_lockd *self, const lk_message *message)
{
    char reason[80];
    snprintf (reason, sizeof reason, "the lock service knows no '%s'",
              lk_message_command (message));
    lk_message *answer = lk_message_reply (message, "UNKNOWN");
    lk_message_set_text (answer, "command", lk_message_command (message));
    lk_message_set_text (answer, "reason", reason);
    (void) lk_lockd_send (self, answer);
}

/*  -------------------------------------------------------- requests */

static void
step_request (lk_lockd *self, lk_event_type type, lk_app *app,
              const lk_app_request *request)
{
    app->asked = true;
    lk_event event = {.type = type, .request = *request};
    lk_lockd_step (self, &event);
}

/*  The application of a request, at its limit answered. */
static lk_app *
find_app (lk_lockd *self, const lk_message *message)
{
    lk_app *app = lk_apps_intern (&self->apps, lk_message_from (message));
    if (!app) {
        lk_lockd_fail (self, message, LK_OVERLOADED,
                       "this host has too many applications");
        return NULL;
    }
    app->attached = self->attachment;
    lk_lockd_resend (self, app);
    return app;
}

static bool
same_key (lk_name one, lk_name other)
{
    return one.size == other.size
           && memcmp (one.data, other.data, one.size) == 0;
}

/*  The entry of a request, new or repeated; NULL if it was answered. */
static lk_request *
enter_request (lk_lockd *self, const lk_message *message, lk_app *app,
               lk_name key, bool by_key)
{
    uint64_t serial = lk_message_serial (message);
    lk_request *request = lk_app_find (app, serial);
    if (!request) {
        request = lk_app_add (&self->apps, app, serial, key);
        if (!request) {
            lk_lockd_fail (self, message, LK_OVERLOADED,
                           "this application has too many requests");
            return NULL;
        }
        request->by_key = by_key;
    } else if (request->by_key != by_key || !same_key (request->key, key)) {
        lk_lockd_fail (self, message, LK_INVALID,
                       "the serial is that of another request");
        return NULL;
    }
    return request;
}

static void
take_lock (lk_lockd *self, const lk_message *message)
{
    lk_check check = {.message = message};
    lk_app_request core = {.serial = read_serial (&check)};
    core.object = read_object (&check);
    core.wait_ms =
        read_number (&check, "wait", LK_FOREVER, TIME_MAX, LK_FOREVER);
    core.duration_ms = read_number (&check, "duration", 0, TIME_MAX, 0);
    core.pid = (uint32_t) read_number (&check, "pid", 0, UINT32_MAX, 0);
    read_type (&check);
    if (!is_fine (&check)) {
        lk_lockd_fail (self, message, LK_INVALID, check.problem);
        return;
    }
    lk_app *app = find_app (self, message);
    lk_request *request =
        app ? enter_request (self, message, app, core.object, false) : NULL;
    if (!request) {
        return;
    }
    request->over = false; /* who asks again wants to be told again */
    core.app = app->number;
    core.object = request->key;
    core.owner = lk_app_owner (app);
    step_request (self, LK_ON_LOCK, app, &core);
}

static void
unlock_own (lk_lockd *self, lk_app *app, lk_request *request, uint64_t serial)
{
    request->unlock = serial;
    lk_app_request core = {.app = app->number,
                           .serial = request->serial,
                           .object = request->key,
                           .wait_ms = LK_FOREVER};
    step_request (self, LK_ON_UNLOCK, app, &core);
}

static void
unlock_by_key (lk_lockd *self, const lk_message *message, lk_app *app,
               lk_app_request *core)
{
    lk_request *request =
        enter_request (self, message, app, core->object, true);
    if (!request) {
        return;
    }
    core->app = app->number;
    core->object = request->key;
    step_request (self, LK_ON_UNLOCK_BY_KEY, app, core);
}

/*  `request` names one of the application's own; if we do not know it, having
 *  been restarted since, or if there is none, it goes by `key`. */
static void
take_unlock (lk_lockd *self, const lk_message *message)
{
    lk_check check = {.message = message};
    lk_app_request core = {.serial = read_serial (&check)};
    core.object = read_object (&check);
    core.wait_ms =
        read_number (&check, "wait", LK_FOREVER, TIME_MAX, LK_FOREVER);
    uint64_t named =
        (uint64_t) read_number (&check, "request", 1, INT64_MAX, 0);
    bool has_key = lk_message_hex (message, "key", &core.key);
    if (!has_key && lk_message_has (message, "key")) {
        complain (&check, "key", "is not 16 hexadecimal digits");
    }
    if (!has_key && named == 0) {
        complain (&check, "request", "is missing, and so is 'key'");
    }
    if (!is_fine (&check)) {
        lk_lockd_fail (self, message, LK_INVALID, check.problem);
        return;
    }
    lk_app *app = find_app (self, message);
    if (!app) {
        return;
    }
    lk_request *request = named ? lk_app_find (app, named) : NULL;
    if (request && !request->by_key && same_key (request->key, core.object)) {
        unlock_own (self, app, request, core.serial);
    } else if (has_key) {
        if (named != 0) {
            core.owner = lk_app_owner (app); /* it gives back its own */
        }
        unlock_by_key (self, message, app, &core);
    } else {
        lk_lockd_fail (self, message, LK_UNKNOWN,
                       "there is no such request (any more)");
    }
}

/*  -------------------------------------------------------- dispatch */

void
lk_lockd_from_app (lk_lockd *self, const lk_message *message, bool local)
{
    bool asks =
        lk_message_is (message, "LOCK") || lk_message_is (message, "UNLOCK");
    if (asks && !local) {
        lk_lockd_fail (self, message, LK_INVALID,
                       "ask the lock service of your own host");
    } else if (lk_message_is (message, "LOCK")) {
        take_lock (self, message);
    } else if (lk_message_is (message, "UNLOCK")) {
        take_unlock (self, message);
    } else if (lk_message_is (message, "LOCKSTATUS")) {
        lk_lockd_tell_status (self, message);
    } else if (lk_message_is (message, "LOCKLIST")) {
        lk_lockd_tell_list (self, message);
    } else if (lk_message_is (message, "LOCKMEMBERS")) {
        lk_lockd_tell_members (self, message);
    } else if (!lk_message_is_complaint (message)) {
        answer_unknown (self, message);
    }
}
