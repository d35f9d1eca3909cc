/*  requests.c - what applications ask
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  LOCK, UNLOCK and LOCKCHECK become events of the core, which answers
 *  repeated ones again. What makes no sense is answered here and never gets
 *  there.
 */

#include "in.h"
#include "look.h"
#include "members.h"
#include "out.h"

#include "wire/message_frame.h"

#include <lockkeeper/lockkeeper.h>

#include <stdio.h>

/*  -------------------------------------------------------- answers */

/*  Not as many hosts are there as have to be. */
static void
refuse_short (lk_lockd *self, const lk_message *request)
{
    char text[LK_LOCKD_REASON_SIZE];
    lk_node_status status;
    lk_lockd_get_status (self, &status);
    lk_lockd_describe_wait (self, &status, text, sizeof text);
    lk_lockd_fail (self, request, LK_ISOLATED, text);
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
fill_event (lk_event *event, lk_event_type type, lk_app *app,
            const lk_request *request, const lk_app_request *core)
{
    *event = (lk_event) {.type = type, .request = *core};
    app->asked = true;
    event->request.app = app->number;
    event->request.serial = request->serial;
    event->request.object = request->key;
    event->request.rest = request->rest;
    event->request.rest_count = request->rest_count;
}

static bool
fail_unknown (lk_lockd *self, const lk_message *message)
{
    lk_lockd_fail (self, message, LK_UNKNOWN,
                   "there is no such request (any more)");
    return false;
}

/*  A change of type is one of a lock that we know. */
static bool
lock (lk_lockd *self, lk_ask *ask, lk_app *app, lk_event *event)
{
    const bool known = lk_app_find (app, ask->core.serial) != NULL;
    if (ask->core.turn > 0 && !known) {
        return fail_unknown (self, ask->message);
    }
    if (self->short_of_hosts && ask->core.token == 0 && !known) {
        refuse_short (self, ask->message);
        return false;
    }
    lk_request *request = enter_request (self, LK_ON_LOCK, ask, app);
    if (!request) {
        return false;
    }
    request->over = false; /* who asks again wants to be told again */
    ask->core.owner = lk_app_owner (app);
    fill_event (event, LK_ON_LOCK, app, request, &ask->core);
    return true;
}

/*  What is asked under a serial of its own, and over with its answer. */
static bool
ask_once (lk_lockd *self, lk_event_type type, const lk_ask *ask, lk_app *app,
          lk_event *event)
{
    lk_request *request = enter_request (self, type, ask, app);
    if (request) {
        fill_event (event, type, app, request, &ask->core);
    }
    return request != NULL;
}

static bool
check (lk_lockd *self, lk_ask *ask, lk_app *app, lk_event *event)
{
    return ask_once (self, LK_ON_CHECK, ask, app, event);
}

static void
unlock_own (lk_app *app, lk_request *request, const lk_ask *ask,
            lk_event *event)
{
    const lk_app_request core = {.wait_ms = LK_FOREVER,
                                 .key = ask->core.key,
                                 .owner = lk_app_owner (app)};
    request->unlock = ask->core.serial;
    fill_event (event, LK_ON_UNLOCK, app, request, &core);
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
static bool
unlock_named (lk_lockd *self, lk_app *app, lk_ask *ask, lk_event *event)
{
    lk_request *request = ask->named ? lk_app_find (app, ask->named) : NULL;
    if (request && is_meant (request, ask)) {
        unlock_own (app, request, ask, event);
        return true;
    }
    if (!ask->has_key) {
        return fail_unknown (self, ask->message);
    }
    if (ask->named != 0) {
        ask->core.owner = lk_app_owner (app); /* it gives back its own */
    }
    return ask_once (self, LK_ON_UNLOCK_BY_KEY, ask, app, event);
}

static bool
unlock (lk_lockd *self, lk_ask *ask, lk_app *app, lk_event *event)
{
    if (!ask->force) {
        return unlock_named (self, app, ask, event);
    }
    /*  One that is repeated is open still, or was answered just now. */
    if (!lk_app_find (app, ask->core.serial)
        && ask->core.serial != app->forced) {
        app->forced = ask->core.serial;
        lk_lockd_note_force (self, app, &ask->core);
    }
    return ask_once (self, LK_ON_FORCE, ask, app, event);
}

/*  -------------------------------------------------------- dispatch */

/*  Which messages are such, how they are read and what is done then. */
typedef struct {
    const char *command;
    bool (*read) (lk_ask *ask, const lk_message *message);
    bool (*take) (lk_lockd *self, lk_ask *ask, lk_app *app, lk_event *event);
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
    {"LOCKOWNERS", lk_lockd_tell_owners},
    {"LOCKHISTORY", lk_lockd_tell_history},
    {"LOCKTOP", lk_lockd_tell_top},
};

static bool
take (lk_lockd *self, const asking *row, const lk_message *message, bool local,
      lk_input *input)
{
    if (!local) {
        lk_lockd_fail (self, message, LK_INVALID,
                       "ask the lock service of your own host");
        return false;
    }
    input->asks = true;
    if (!row->read (&input->ask, message)) {
        lk_lockd_fail (self, message, LK_INVALID, input->ask.problem);
        return false;
    }
    lk_app *app = find_app (self, message);
    return app && row->take (self, &input->ask, app, &input->event);
}

bool
lk_lockd_from_app (lk_lockd *self, const lk_message *message, bool local,
                   lk_input *input)
{
    lk_slice body;
    input->asks = false;
    if (lk_message_packed (message, &body)) {
        if (!lk_message_is_complaint (message)) {
            answer_packed (self, message);
        }
        return false;
    }
    for (size_t i = 0; i < sizeof askings / sizeof askings[0]; i++) {
        if (lk_message_is (message, askings[i].command)) {
            return take (self, &askings[i], message, local, input);
        }
    }
    if (lk_message_is (message, "LOCKMEMBERS")) {
        return lk_lockd_ask_members (self, message, &input->event);
    }
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        if (lk_message_is (message, questions[i].command)) {
            questions[i].tell (self, message);
            return false;
        }
    }
    if (!lk_message_is_complaint (message)) {
        answer_unknown (self, message);
    }
    return false;
}

void
lk_input_clear (lk_input *self)
{
    if (self->asks) {
        lk_ask_clear (&self->ask);
    }
}
