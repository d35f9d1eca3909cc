/*  requests.c - what applications ask
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  LOCK, UNLOCK and LOCKCHECK become events of the core, which answers
 *  repeated ones again. What makes no sense is answered here and never gets
 *  there.
 */

#include "edits.h"
#include "far.h"
#include "in.h"
#include "look.h"
#include "members.h"
#include "out.h"
#include "recover.h"

#include "util/alloc.h"
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
    if (!app && lk_apps_are_full (&self->apps, address)) {
        lk_lockd_fail (self, message, LK_OVERLOADED,
                       "this host has too many applications");
    } else {
        ask_who_is_there (self, address);
    }
    return NULL;
}

static bool
ask_core (lk_event *event, lk_event_type type, const lk_ask *ask, lk_app *app)
{
    *event = (lk_event) {.type = type, .request = ask->core};
    event->request.app = app->number;
    if (app->far && (type == LK_ON_LOCK || type == LK_ON_UNLOCK)) {
        event->request.far = app->far->id;
    } else {
        event->request.far = (lk_registered) {.number = 0};
    }
    app->asked = true;
    return true;
}

/*  While there are too few hosts a new request is refused, with that reason. */
static bool
lock (lk_lockd *self, lk_ask *ask, lk_app *app, lk_event *event)
{
    const lk_app_request *core = &ask->core;
    if (self->short_of_hosts && core->token == 0 && core->turn == 0
        && !core->asked_before
        && !lk_node_has_request (self->node, app->number, core->serial)) {
        refuse_short (self, ask->message);
        return false;
    }
    ask->core.owner = lk_app_owner (app);
    return ask_core (event, LK_ON_LOCK, ask, app);
}

static bool
check (lk_lockd *self, lk_ask *ask, lk_app *app, lk_event *event)
{
    (void) self;
    return ask_core (event, LK_ON_CHECK, ask, app);
}

/*  `request` names one of the application's own; one that the core does not
 *  know, this lock service having been restarted since, goes by `key`. */
static bool
unlock_own (lk_ask *ask, lk_app *app, lk_event *event)
{
    ask->core.unlock = ask->core.serial;
    ask->core.serial = ask->named;
    ask->core.owner = lk_app_owner (app);
    return ask_core (event, LK_ON_UNLOCK, ask, app);
}

/*  One that is repeated is open still, or was answered just now. */
static void
note_force (lk_lockd *self, const lk_ask *ask, lk_app *app)
{
    const uint64_t serial = ask->core.serial;
    if (serial != app->forced
        && !lk_node_has_request (self->node, app->number, serial)) {
        app->forced = serial;
        lk_lockd_note_force (self, app, &ask->core);
    }
}

static bool
unlock (lk_lockd *self, lk_ask *ask, lk_app *app, lk_event *event)
{
    if (ask->force) {
        note_force (self, ask, app);
        return ask_core (event, LK_ON_FORCE, ask, app);
    }
    if (ask->named != 0) {
        return unlock_own (ask, app, event);
    }
    return ask_core (event, LK_ON_UNLOCK_BY_KEY, ask, app);
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

/*  The same of registrations. */
static const asking registerings[] = {
    {"LOCKREGISTER", lk_ask_register, lk_lockd_register},
    {"LOCKLEASE", lk_ask_lease, lk_lockd_lease},
    {"LOCKGOODBYE", lk_ask_goodbye, lk_lockd_goodbye},
};

enum {
    ASKINGS = sizeof askings / sizeof askings[0],
    REGISTERINGS = sizeof registerings / sizeof registerings[0]
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
take (lk_lockd *self, const asking *row, bool registers,
      const lk_message *message, bool local, lk_input *input)
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
    if (app && input->ask.far && !registers) {
        app = lk_lockd_registered (self, &input->ask, app);
    }
    return app && row->take (self, &input->ask, app, &input->event);
}

/*  The cluster is changed from its hosts alone. */
static bool
is_for_hosts (const lk_message *message)
{
    return lk_message_is (message, "LOCKSETTINGS")
           || lk_message_is (message, "LOCKRECOVER")
           || (lk_message_is (message, "LOCKMEMBERS")
               && (lk_message_has (message, "add")
                   || lk_message_has (message, "remove")));
}

/*  An operator goes to the host that is to begin. */
static void
take_recover (lk_lockd *self, const lk_message *message, bool local)
{
    if (local) {
        lk_lockd_recover (self, message);
    } else {
        lk_lockd_fail (self, message, LK_INVALID,
                       "ask the lock service of your own host");
    }
}

bool
lk_lockd_from_app (lk_lockd *self, const lk_message *message, bool local,
                   lk_input *input)
{
    lk_slice body;
    input->asks = false;
    input->text = NULL;
    if (lk_message_packed (message, &body)) {
        if (!lk_message_is_complaint (message)) {
            answer_packed (self, message);
        }
        return false;
    }
    for (size_t i = 0; i < ASKINGS + REGISTERINGS; i++) {
        const bool registers = i >= ASKINGS;
        const asking *row =
            registers ? &registerings[i - ASKINGS] : &askings[i];
        if (lk_message_is (message, row->command)) {
            return take (self, row, registers, message, local, input);
        }
    }
    if (lk_lockd_is_far (message) && is_for_hosts (message)) {
        lk_lockd_fail (self, message, LK_DENIED,
                       "that is for hosts of the cluster");
        return false;
    }
    if (lk_message_is (message, "LOCKMEMBERS")) {
        return lk_lockd_ask_members (self, message, &input->event);
    }
    if (lk_message_is (message, "LOCKSETTINGS")) {
        return lk_lockd_ask_settings (self, message, &input->event,
                                      &input->text);
    }
    if (lk_message_is (message, "LOCKRECOVER")) {
        take_recover (self, message, local);
        return false;
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
    lk_free (self->text);
}
