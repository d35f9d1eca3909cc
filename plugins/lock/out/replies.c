/*  replies.c - what applications are told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The core says with each of them what was asked. One that the bus does not
 *  take is kept and sent again.
 */

#include "out.h"

#include "wire/message_frame.h"
#include "wire/object_key.h"
#include "wire/object_name.h"

#define RESEND_MS 100
#define REFUSALS_MAX 8 /* of one application, at a time */
#define LOST_TTL_S 255 /* the router's own bound is shorter */

/*  -------------------------------------------------------- messages */

/*  A set has no name of its own. */
static lk_message *
new_reply (const lk_app *app, const lk_answer *answer, const char *command,
           uint64_t serial)
{
    lk_name zone, context, object;
    lk_message *reply = lk_message_new (app->address, command);
    lk_message_set_serial (reply, serial);
    if (!answer->asked.listed
        && lk_object_parts (answer->asked.object, &zone, &context, &object)) {
        lk_object_set (reply, object);
    }
    return reply;
}

static void
set_error (lk_message *reply, lk_err error)
{
    lk_message_set_text (reply, "error", lk_err_word (error));
    lk_message_set_text (reply, "text", lk_err_text (error));
}

/*  -------------------------------------------------------- LOCKED */

static void
add_granted (lk_message *reply, const lk_granted *granted)
{
    lk_name zone, context, object;
    if (lk_object_parts (granted->object, &zone, &context, &object)) {
        lk_message *row = lk_message_row_new ();
        lk_object_set (row, object);
        lk_message_set_hex (row, "token", granted->token);
        lk_message_set_hex (row, "key", granted->key);
        lk_message_add_row (reply, "locks", &row);
    }
}

/*  A set of one is to the core a lock like any other. */
static void
write_set (lk_message *reply, const lk_answer *answer)
{
    const lk_granted one = {answer->asked.object, answer->token, answer->key};
    if (answer->set_count == 0) {
        add_granted (reply, &one);
    }
    for (size_t i = 0; i < answer->set_count; i++) {
        add_granted (reply, &answer->set[i]);
    }
}

static void
write_one (lk_message *reply, const lk_answer *answer)
{
    lk_message_set_hex (reply, "token", answer->token);
    lk_message_set_hex (reply, "key", answer->key);
    lk_message_set_number (reply, "ordinal", answer->ordinal);
    if (answer->turn > 0) {
        lk_message_set_number (reply, "turn", answer->turn);
    }
    if (answer->asked.is_static) {
        lk_message_set_flag (reply, "static", true);
    }
}

/*  Until when the duration lasts: by the clock of an application on another
 *  machine, or by that of this host, as its lease. */
static void
write_end (lk_lockd *self, lk_message *reply, const lk_app *app,
           const lk_answer *answer)
{
    const bool limited = answer->until_ms != INT64_MAX;
    const int64_t left = answer->until_ms - lk_bus_now (self->bus);
    if (app->far) {
        lk_message_set_number (reply, "left", answer->left_ms);
        lk_message_set_number (reply, "as_of", answer->sent);
        return;
    }
    lk_message_set_number (reply, "left", !limited ? -1 : left < 0 ? 0 : left);
    lk_message_set_number (reply, "until", limited ? answer->until_ms : -1);
    lk_message_set_number (reply, "session", (int64_t) self->session);
    lk_message_set_number (reply, "lease_until", self->lease_until_ms);
    lk_message_set_number (reply, "lease", self->options.host_lease_ms);
    lk_message_set_text (reply, "lease_page", self->page_path);
}

static lk_message *
write_locked (lk_lockd *self, const lk_app *app, const lk_answer *answer)
{
    lk_message *reply = new_reply (app, answer, "LOCKED", answer->serial);
    if (answer->asked.listed) {
        write_set (reply, answer);
    } else {
        write_one (reply, answer);
    }
    lk_message_set_text (reply, "type", lk_lock_type_words[answer->type]);
    write_end (self, reply, app, answer);
    return reply;
}

/*  -------------------------------------------------------- the others */

static bool
is_lock (const lk_answer *answer)
{
    return answer->asked.asks == LK_ON_LOCK;
}

/*  By which its application waits for it. */
static uint64_t
serial_of (const lk_answer *answer)
{
    return answer->asked.unlock ? answer->asked.unlock : answer->serial;
}

/*  Not done; of a change of type: the lock is held as it was. */
static lk_message *
write_failed (const lk_app *app, const lk_answer *answer)
{
    lk_message *reply =
        new_reply (app, answer, "LOCKFAILED",
                   answer->turn == 0 ? serial_of (answer) : answer->serial);
    if (is_lock (answer)) {
        lk_message_set_number (reply, "request", (int64_t) answer->serial);
    }
    if (answer->turn > 0) {
        lk_message_set_number (reply, "turn", answer->turn);
    }
    set_error (reply, answer->error);
    if (answer->text) {
        lk_message_set_text (
            reply, "text",
            lk_lockd_mask_text (app, answer->error, answer->text));
    }
    return reply;
}

/*  Who waits for the UNLOCK of its own lock is told by that serial; who does
 *  not, by the one of the LOCK: it is lost. Nobody asks for that again, so it
 *  waits for one that its router does not know, having been restarted; but on
 *  another machine, which goes by its leases. */
static lk_message *
write_unlocked (const lk_app *app, const lk_answer *answer)
{
    lk_message *reply = new_reply (app, answer, "UNLOCKED", serial_of (answer));
    if (is_lock (answer)) {
        lk_message_set_number (reply, "request", (int64_t) answer->serial);
    }
    if (answer->error == LK_LATE) {
        lk_message_set_flag (reply, "late", true);
    } else if (answer->error != LK_OK) {
        set_error (reply, answer->error);
        lk_lockd_set_text (reply, "reason", answer->reason);
        if (!app->far) {
            lk_message_set_ttl (reply, LOST_TTL_S);
        }
    }
    return reply;
}

/*  What was asked for is not done. */
static bool
is_refused (const lk_answer *answer)
{
    bool asked = !is_lock (answer) || answer->asked.unlock != 0;
    return answer->kind == LK_ANSWER_UNLOCKED && asked && answer->error != LK_OK
           && answer->error != LK_LATE;
}

static lk_message *
write_jeopardy (const lk_app *app, const lk_answer *answer)
{
    lk_message *reply = new_reply (app, answer, "LOCKJEOPARDY", answer->serial);
    lk_message_set_number (reply, "request", (int64_t) answer->serial);
    lk_message_set_flag (reply, "danger", answer->danger);
    if (answer->error != LK_OK) {
        set_error (reply, answer->error);
    }
    return reply;
}

/*  It comes true later: its holder is stopping, or cannot be asked. */
static lk_message *
write_pending (const lk_lockd *self, const lk_app *app, const lk_answer *answer)
{
    lk_message *reply = new_reply (app, answer, "LOCKSTOPPING", answer->serial);
    if (app->who.zone[0] == '\0') { /* else it is no concern of a zone */
        lk_message_set_text (reply, "host",
                             lk_hostmap_name (&self->hostmap, answer->host));
    }
    lk_message_set_number (reply, "left", answer->left_ms);
    if (answer->silent_ms >= 0) {
        lk_message_set_number (reply, "silent", answer->silent_ms);
    }
    return reply;
}

static lk_message *
write_checked (const lk_app *app, const lk_answer *answer)
{
    lk_message *reply = new_reply (app, answer, "LOCKCHECK", answer->serial);
    lk_message_set_hex (reply, "token", answer->token);
    lk_message_set_flag (reply, "held", answer->held);
    lk_message_set_hex (reply, "newest", answer->newest);
    return reply;
}

/*  -------------------------------------------------------- registrations */

static lk_message *
write_registered (const lk_lockd *self, const lk_app *app)
{
    lk_message *reply = lk_message_new (app->address, "LOCKREGISTER");
    lk_message_set_serial (reply, app->far->serial);
    lk_message_set_number (reply, "lease", self->options.host_lease_ms);
    lk_message_set_text (reply, "version", LK_VERSION);
    return reply;
}

static lk_message *
write_lease (const lk_app *app, const lk_answer *answer)
{
    lk_message *reply = lk_message_new (app->address, "LOCKLEASE");
    if (app->far->lease_sent == answer->sent) {
        lk_message_set_serial (reply, app->far->lease);
    }
    lk_message_set_number (reply, "sent", answer->sent);
    lk_message_set_number (reply, "left", answer->left_ms);
    return reply;
}

static lk_message *
write_unregistered (const lk_app *app, const lk_answer *answer)
{
    lk_message *reply = lk_message_new (app->address, "LOCKUNREGISTERED");
    if (answer->error != LK_OK) {
        set_error (reply, answer->error);
    }
    return reply;
}

/*  That is told of the registration itself, not of what it asks for. */
static lk_message *
write_of_registration (const lk_lockd *self, const lk_app *app,
                       const lk_answer *answer)
{
    switch (answer->kind) {
    case LK_ANSWER_READY:
        return write_registered (self, app);
    case LK_ANSWER_LEASE:
        return write_lease (app, answer);
    case LK_ANSWER_UNKNOWN:
        return write_unregistered (app, answer);
    case LK_ANSWER_MOVE:
        return lk_message_new (app->address, "LOCKMOVE");
    case LK_ANSWER_LOCKED:
    case LK_ANSWER_FAILED:
    case LK_ANSWER_UNLOCKED:
    case LK_ANSWER_JEOPARDY:
    case LK_ANSWER_PENDING:
    case LK_ANSWER_CHECKED:
        break;
    }
    return NULL;
}

static lk_message *
mark (lk_message *reply, const lk_registered *id)
{
    lk_message_set_number (reply, "registration", (int64_t) id->number);
    if (id->drawn != 0) {
        lk_message_set_hex (reply, "drawn", id->drawn);
    }
    return reply;
}

/*  It repeats what it asks until it is answered. True: it was such a one. */
static bool
tell_of_registration (lk_lockd *self, lk_app *app, const lk_answer *answer)
{
    if (!app->far) {
        return false;
    }
    if (answer->kind == LK_ANSWER_READY) {
        lk_apps_ready (&self->apps, app, answer->far.drawn);
    }
    lk_message *reply = write_of_registration (self, app, answer);
    if (!reply) {
        return false;
    }
    lk_message_set_serial (reply, answer->serial != 0
                                      ? answer->serial
                                      : lk_message_serial (reply));
    (void) lk_lockd_send (self, mark (reply, &app->far->id));
    if (answer->kind == LK_ANSWER_UNKNOWN) {
        lk_apps_remove (&self->apps, app);
    }
    return true;
}

static lk_message *
write_answer (lk_lockd *self, const lk_app *app, const lk_answer *answer)
{
    switch (answer->kind) {
    case LK_ANSWER_LOCKED:
        return write_locked (self, app, answer);
    case LK_ANSWER_JEOPARDY:
        return write_jeopardy (app, answer);
    case LK_ANSWER_PENDING:
        return write_pending (self, app, answer);
    case LK_ANSWER_READY:
    case LK_ANSWER_LEASE:
    case LK_ANSWER_UNKNOWN:
    case LK_ANSWER_MOVE:
        break; /* to applications on other machines */
    case LK_ANSWER_CHECKED:
        return write_checked (app, answer);
    case LK_ANSWER_UNLOCKED:
        if (!is_refused (answer)) {
            return write_unlocked (app, answer);
        }
        break;
    case LK_ANSWER_FAILED:
        break;
    }
    return write_failed (app, answer);
}

static lk_message *
write_reply (lk_lockd *self, const lk_app *app, const lk_answer *answer)
{
    lk_message *reply = write_answer (self, app, answer);
    return app->far ? mark (reply, &app->far->id) : reply;
}

/*  -------------------------------------------------------- sending */

static void
send_later (lk_lockd *self)
{
    const int64_t again_ms = lk_bus_now (self->bus) + RESEND_MS;
    if (self->attached && again_ms < self->resend_at_ms) {
        self->resend_at_ms = again_ms;
    }
}

static void
keep (lk_lockd *self, lk_app *app, const lk_answer *answer)
{
    lk_unsent_keep (&app->unsent, answer);
    send_later (self);
}

/*  A danger comes behind the LOCKED that it is of. */
void
lk_lockd_tell (lk_lockd *self, const lk_answer *answer)
{
    lk_app *app = lk_apps_by_number (&self->apps, answer->app);
    if (!app) {
        return; /* it is gone, the core hears so or has heard */
    }
    if (tell_of_registration (self, app, answer)) {
        return;
    }
    lk_lockd_note_answer (self, app, answer);
    const bool has_to_wait = answer->kind == LK_ANSWER_JEOPARDY
                             && lk_unsent_has (app->unsent, answer->serial);
    const bool sent =
        !has_to_wait && lk_lockd_send (self, write_reply (self, app, answer));
    if (answer->text) {
        return; /* who asks that again is told again */
    }
    if (sent) {
        lk_unsent_sent (&app->unsent, answer);
    } else {
        keep (self, app, answer);
    }
}

/*  One that cannot be sent is no reason not to try others. */
void
lk_lockd_resend (lk_lockd *self, lk_app *app)
{
    const lk_answer *kept;
    int left = REFUSALS_MAX;
    while (left > 0 && (kept = lk_unsent_first (app->unsent))) {
        if (lk_lockd_send (self, write_reply (self, app, kept))) {
            lk_unsent_sent (&app->unsent, kept);
        } else {
            lk_unsent_defer (&app->unsent);
            left--;
        }
    }
    if (app->unsent) {
        send_later (self);
    }
}
