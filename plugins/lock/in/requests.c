/*  requests.c - what applications ask
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  LOCK, UNLOCK and LOCKCHECK become events of the core, which answers
 *  repeated ones again. What makes no sense is answered here and never gets
 *  there.
 */

#include "audit.h"
#include "draining.h"
#include "edits.h"
#include "far.h"
#include "in.h"
#include "look.h"
#include "members.h"
#include "out.h"
#include "quota.h"
#include "recover.h"
#include "rights.h"

#include "util/alloc.h"
#include "util/escape.h"
#include "wire/message_frame.h"
#include "wire/object_key.h"

#include <lockkeeper/lockkeeper.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

/*  Neither repeated, nor held already. */
static bool
is_new (const lk_lockd *self, const lk_ask *ask, const lk_app *app)
{
    const lk_app_request *core = &ask->core;
    return core->token == 0 && core->turn == 0
           && !lk_node_has_request (self->node, app->number, core->serial);
}

/*  While there are too few hosts a new request is refused, with that reason. */
static bool
lock (lk_lockd *self, lk_ask *ask, lk_app *app, lk_event *event)
{
    const bool is_news = is_new (self, ask, app);
    if (self->short_of_hosts && is_news && !ask->core.asked_before) {
        refuse_short (self, ask->message);
        return false;
    }
    if (is_news && !lk_lockd_may_lock (self, ask, app)) {
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

static void
audit_force (lk_lockd *self, const lk_ask *ask, const lk_app *app)
{
    char lock[120], reason[160], what[400];
    const lk_app_request *core = &ask->core;
    lk_name zone, context, object = {0};
    (void) lk_object_parts (core->object, &zone, &context, &object);
    snprintf (what, sizeof what, "lock=%s token=%016" PRIx64 " reason=\"%s\"",
              lk_escape (object.data, object.size, lock, sizeof lock),
              core->token,
              lk_escape (core->reason.data, core->reason.size, reason,
                         sizeof reason));
    lk_lockd_audit (self, "force", &app->who, app->address, what);
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
        audit_force (self, ask, app);
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
    void (*tell) (lk_lockd *self, const lk_message *message,
                  const lk_view *view);
} question;

static const question questions[] = {
    {"LOCKSTATUS", lk_lockd_answer_status},
    {"LOCKLIST", lk_lockd_tell_list},
    {"LOCKOWNERS", lk_lockd_tell_owners},
    {"LOCKHISTORY", lk_lockd_tell_history},
    {"LOCKTOP", lk_lockd_tell_top},
};

static const asking *
find_asking (const lk_message *message, bool *registers)
{
    for (size_t i = 0; i < ASKINGS + REGISTERINGS; i++) {
        const asking *row =
            i < ASKINGS ? &askings[i] : &registerings[i - ASKINGS];
        if (lk_message_is (message, row->command)) {
            *registers = i >= ASKINGS;
            return row;
        }
    }
    return NULL;
}

static const question *
find_question (const lk_message *message)
{
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        if (lk_message_is (message, questions[i].command)) {
            return &questions[i];
        }
    }
    return NULL;
}

/*  `view` is nobody's if its sender is not known. */
static bool
take (lk_lockd *self, const asking *row, bool registers,
      const lk_message *message, const lk_view *view, lk_input *input)
{
    input->asks = true;
    input->ask.zone = view->who.zone;
    if (!row->read (&input->ask, message)) {
        lk_lockd_fail (self, message, LK_INVALID, input->ask.problem);
        return false;
    }
    lk_app *app = find_app (self, message);
    if (!app || !lk_lockd_may_ask (self, message, &app->who)) {
        return false;
    }
    if (input->ask.far && !registers) {
        app = lk_lockd_registered (self, &input->ask, app);
    }
    return app && row->take (self, &input->ask, app, &input->event);
}

static bool
changes_members (const lk_message *message)
{
    return lk_message_is (message, "LOCKMEMBERS")
           && (lk_message_has (message, "add")
               || lk_message_has (message, "remove"));
}

/*  The cluster is changed from its hosts alone, but by admins. */
static bool
is_for_hosts (const lk_message *message, const lk_view *view)
{
    return lk_message_is (message, "LOCKRECOVER")
           || lk_message_is (message, "LOCKDRAIN")
           || (view->who.role < LK_ROLE_ADMIN
               && (lk_message_is (message, "LOCKSETTINGS")
                   || changes_members (message)));
}

static void
refuse_elsewhere (lk_lockd *self, const lk_message *message)
{
    lk_lockd_fail (self, message, LK_INVALID,
                   "ask the lock service of your own host");
}

/*  An operator goes to the host that is to begin. */
static void
take_recover (lk_lockd *self, const lk_message *message, bool local)
{
    if (local) {
        lk_lockd_recover (self, message);
    } else {
        refuse_elsewhere (self, message);
    }
}

/*  Takes a request of somebody who may ask that. */
static bool
answer (lk_lockd *self, const lk_message *message, const lk_view *view,
        bool local, lk_input *input)
{
    const question *asked = find_question (message);
    if (view->who.zone[0] == '\0' && lk_lockd_is_far (message)
        && is_for_hosts (message, view)) {
        lk_lockd_fail (self, message, LK_DENIED,
                       "that is for hosts of the cluster");
        return false;
    }
    if (!lk_lockd_may_say (self, message, view)
        || !lk_lockd_may_ask (self, message, &view->who)) {
        return false;
    }
    if (asked) {
        asked->tell (self, message, view);
        return false;
    }
    if (lk_message_is (message, "LOCKDRAIN")) {
        return lk_lockd_ask_drain (self, message, view, &input->event);
    }
    if (changes_members (message)) {
        lk_lockd_audit_members (self, message, view);
    } else {
        lk_lockd_audit_settings (self, message, view);
    }
    if (lk_message_is (message, "LOCKMEMBERS")) {
        return lk_lockd_ask_members (self, message, &input->event);
    }
    if (lk_message_is (message, "LOCKSETTINGS")) {
        return lk_lockd_ask_settings (self, message, view, &input->event,
                                      &input->text);
    }
    take_recover (self, message, local);
    return false;
}

static bool
is_known (const lk_message *message)
{
    return find_question (message) || lk_message_is (message, "LOCKMEMBERS")
           || lk_message_is (message, "LOCKSETTINGS")
           || lk_message_is (message, "LOCKDRAIN")
           || lk_message_is (message, "LOCKRECOVER");
}

bool
lk_lockd_from_app (lk_lockd *self, const lk_message *message, bool local,
                   lk_input *input)
{
    lk_slice body;
    lk_view view;
    bool registers;
    input->asks = false;
    input->text = NULL;
    if (lk_message_is_complaint (message)) {
        return false;
    }
    if (lk_message_packed (message, &body)) {
        answer_packed (self, message);
        return false;
    }
    if (self->options.arbiter && !lk_message_is (message, "LOCKSTATUS")) {
        answer_unknown (self, message);
        return false;
    }
    const asking *row = find_asking (message, &registers);
    const bool known = lk_lockd_recognize (self, message, local, &view);
    if (row && !local) {
        refuse_elsewhere (self, message);
        return false;
    }
    if (row) {
        return (!known || lk_lockd_may_say (self, message, &view))
               && take (self, row, registers, message, &view, input);
    }
    if (!known) {
        (void) find_app (self, message);
        return false;
    }
    if (is_known (message)) {
        return answer (self, message, &view, local, input);
    }
    if (view.who.zone[0] != '\0') {
        lk_lockd_turn_down (self, message);
    } else {
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
