/*  requests.c - what applications ask
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  LOCK, UNLOCK and LOCKCHECK become events of the core, which answers
 *  repeated ones again. What makes no sense is answered here and never gets
 *  there.
 */

#include "lockd.h"
#include "request_fields.h"

#include "wire/message_frame.h"
#include "wire/object_name.h"

#include <lockkeeper/lockkeeper.h>

#include <stdio.h>

/*  -------------------------------------------------------- answers */

/*  A change of type that is refused leaves the lock as it was, so that its
 *  number goes along. */
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
    const int64_t turn = lk_message_number (request, "turn", 0);
    if (turn > 0) {
        lk_message_set_number (answer, "turn", turn);
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

static void
answer_packed (lk_lockd *self, const lk_message *message)
{
    lk_message *answer = lk_message_reply (message, "INVALID");
    lk_message_set_text (answer, "reason",
                         "packed bodies are for lock services, say it in JSON");
    (void) lk_lockd_send (self, answer);
}

/*  -------------------------------------------------------- requests */

/*  The router tells whether it is there; if so, what it asks for again is
 *  heard. */
static void
ask_who_is_there (lk_lockd *self, const char *address)
{
    lk_message *question = lk_message_new ("router@.", "SERVICESTATUS");
    lk_message_set_text (question, "service", address);
    (void) lk_lockd_send (self, question);
}

/*  The application of a request, at the limit answered; NULL: there is none.
 *  Only the router says who is there: a message may have waited for us for
 *  longer than its sender was. */
static lk_app *
find_app (lk_lockd *self, const lk_message *message)
{
    const char *address = lk_message_from (message);
    lk_app *app = lk_apps_find (&self->apps, address);
    if (app && app->attached == self->attachment) {
        lk_lockd_resend (self, app);
        return app;
    }
    if (!app && lk_apps_are_full (&self->apps)) {
        lk_lockd_fail (self, message, LK_OVERLOADED,
                       "this host has too many applications");
    } else {
        ask_who_is_there (self, address);
    }
    return NULL;
}

/*  The entry of a request, new or repeated; NULL if it was answered. */
static lk_request *
enter_request (lk_lockd *self, lk_event_type asks, const lk_ask *ask,
               lk_app *app)
{
    lk_request *request = lk_app_find (app, ask->core.serial);
    if (!request) {
        request = lk_app_add (&self->apps, app, asks, &ask->core);
        if (!request) {
            lk_lockd_fail (self, ask->message, LK_OVERLOADED,
                           "this application has too many requests");
            return NULL;
        }
        request->is_set = ask->is_set;
        request->asked_ms = lk_bus_now (self->bus);
    } else if (request->is_set != ask->is_set
               || !lk_request_is (request, asks, &ask->core)) {
        lk_lockd_fail (self, ask->message, LK_INVALID,
                       "the serial is that of another request");
        return NULL;
    }
    return request;
}

/*  With the names of the entry, which stay. */
static void
step_request (lk_lockd *self, lk_event_type type, lk_app *app,
              const lk_request *request, const lk_app_request *core)
{
    lk_event event = {.type = type, .request = *core};
    app->asked = true;
    event.request.app = app->number;
    event.request.serial = request->serial;
    event.request.object = request->key;
    event.request.rest = request->rest;
    event.request.rest_count = request->rest_count;
    lk_lockd_step (self, &event);
}

static void
fail_unknown (lk_lockd *self, const lk_message *message)
{
    lk_lockd_fail (self, message, LK_UNKNOWN,
                   "there is no such request (any more)");
}

/*  A change of type is one of a lock that we know. */
static void
lock (lk_lockd *self, lk_ask *ask)
{
    lk_app *app = find_app (self, ask->message);
    if (!app) {
        return;
    }
    if (ask->core.turn > 0 && !lk_app_find (app, ask->core.serial)) {
        fail_unknown (self, ask->message);
        return;
    }
    if (self->short_of_hosts && ask->core.token == 0
        && !lk_app_find (app, ask->core.serial)) {
        lk_lockd_refuse_short (self, ask->message);
        return;
    }
    lk_request *request = enter_request (self, LK_ON_LOCK, ask, app);
    if (request) {
        request->over = false; /* who asks again wants to be told again */
        ask->core.owner = lk_app_owner (app);
        step_request (self, LK_ON_LOCK, app, request, &ask->core);
    }
}

/*  What is asked under a serial of its own, and over with its answer. */
static void
ask_once (lk_lockd *self, lk_event_type type, const lk_ask *ask, lk_app *app)
{
    lk_request *request = enter_request (self, type, ask, app);
    if (request) {
        step_request (self, type, app, request, &ask->core);
    }
}

static void
check (lk_lockd *self, lk_ask *ask)
{
    lk_app *app = find_app (self, ask->message);
    if (app) {
        ask_once (self, LK_ON_CHECK, ask, app);
    }
}

static void
unlock_own (lk_lockd *self, lk_app *app, lk_request *request, const lk_ask *ask)
{
    const lk_app_request core = {.wait_ms = LK_FOREVER,
                                 .key = ask->core.key,
                                 .owner = lk_app_owner (app)};
    request->unlock = ask->core.serial;
    step_request (self, LK_ON_UNLOCK, app, request, &core);
}

/*  Whether an UNLOCK means that request. A name need not be said, and a set has
 *  none. */
static bool
is_meant (const lk_request *request, const lk_ask *ask)
{
    if (!ask->has_object) {
        return request->asks == LK_ON_LOCK;
    }
    return !request->is_set && lk_request_is (request, LK_ON_LOCK, &ask->core);
}

/*  `request` names one of the application's own; if we do not know it, having
 *  been restarted since, or if there is none, it goes by `key`. */
static void
unlock_named (lk_lockd *self, lk_app *app, lk_ask *ask)
{
    lk_request *request = ask->named ? lk_app_find (app, ask->named) : NULL;
    if (request && is_meant (request, ask)) {
        unlock_own (self, app, request, ask);
    } else if (ask->has_key) {
        if (ask->named != 0) {
            ask->core.owner = lk_app_owner (app); /* it gives back its own */
        }
        ask_once (self, LK_ON_UNLOCK_BY_KEY, ask, app);
    } else {
        fail_unknown (self, ask->message);
    }
}

static void
unlock (lk_lockd *self, lk_ask *ask)
{
    lk_app *app = find_app (self, ask->message);
    if (app && ask->force) {
        /*  One that is repeated is open still, or was answered just now. */
        if (!lk_app_find (app, ask->core.serial)
            && ask->core.serial != app->forced) {
            app->forced = ask->core.serial;
            lk_lockd_note_force (self, app, &ask->core);
        }
        ask_once (self, LK_ON_FORCE, ask, app);
    } else if (app) {
        unlock_named (self, app, ask);
    }
}

/*  -------------------------------------------------------- dispatch */

/*  Which messages are such, how they are read and what is done then. */
typedef struct {
    const char *command;
    bool (*read) (lk_ask *ask, const lk_message *message);
    void (*take) (lk_lockd *self, lk_ask *ask);
} asking;

static const asking askings[] = {
    {"LOCK", lk_ask_lock, lock},
    {"UNLOCK", lk_ask_unlock, unlock},
    {"LOCKCHECK", lk_ask_check, check},
};

/*  What anybody may ask, of any host. */
typedef struct {
    const char *command;
    void (*tell) (lk_lockd *self, const lk_message *message);
} question;

static const question questions[] = {
    {"LOCKSTATUS", lk_lockd_tell_status},
    {"LOCKLIST", lk_lockd_tell_list},
    {"LOCKMEMBERS", lk_lockd_tell_members},
    {"LOCKOWNERS", lk_lockd_tell_owners},
    {"LOCKHISTORY", lk_lockd_tell_history},
    {"LOCKTOP", lk_lockd_tell_top},
};

static void
take (lk_lockd *self, const asking *row, const lk_message *message, bool local)
{
    lk_ask ask;
    if (!local) {
        lk_lockd_fail (self, message, LK_INVALID,
                       "ask the lock service of your own host");
        return;
    }
    if (row->read (&ask, message)) {
        row->take (self, &ask);
    } else {
        lk_lockd_fail (self, message, LK_INVALID, ask.problem);
    }
    lk_ask_clear (&ask);
}

void
lk_lockd_from_app (lk_lockd *self, const lk_message *message, bool local)
{
    lk_slice body;
    if (lk_message_packed (message, &body)) {
        if (!lk_message_is_complaint (message)) {
            answer_packed (self, message);
        }
        return;
    }
    for (size_t i = 0; i < sizeof askings / sizeof askings[0]; i++) {
        if (lk_message_is (message, askings[i].command)) {
            take (self, &askings[i], message, local);
            return;
        }
    }
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        if (lk_message_is (message, questions[i].command)) {
            questions[i].tell (self, message);
            return;
        }
    }
    if (!lk_message_is_complaint (message)) {
        answer_unknown (self, message);
    }
}
