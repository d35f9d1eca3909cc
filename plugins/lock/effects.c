/*  effects.c - carries out what the core says, in its order
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  What could not be written is followed by nothing: the service ends. What
 *  the bus does not take is lost if it is for another lock service, since
 *  the core repeats that, and kept if it is an answer to an application.
 */

#include "lockd.h"

#include "net/log.h"
#include "wire/lock_codec.h"
#include "wire/object_name.h"

#define RESEND_MS 100

/*  -------------------------------------------------------- messages */

bool
lk_lockd_send (lk_lockd *self, lk_message *message)
{
    bool sent = self->attached && !self->failed
                && lk_bus_send (self->bus, &message) == LK_OK;
    lk_message_destroy (&message);
    return sent;
}

static void
send_to_peer (lk_lockd *self, const lk_lock_message *message)
{
    if (!self->attached) {
        return;
    }
    lk_message *sealed = lk_lock_encode (message, &self->roster, self->self);
    if (message->kind == LK_MSG_STARTED) {
        lk_charter_write (&self->peers.charter, sealed);
    }
    (void) lk_lockd_send (self, sealed);
}

/*  -------------------------------------------------------- answers */

static lk_message *
new_answer (const lk_app *app, const lk_request *request, const char *command,
            uint64_t serial)
{
    lk_message *answer = lk_message_new (app->address, command);
    lk_message_set_serial (answer, serial);
    lk_object_set (answer, request->object);
    return answer;
}

static void
set_error (lk_message *answer, lk_err error)
{
    lk_message_set_text (answer, "error", lk_err_word (error));
    lk_message_set_text (answer, "text", lk_err_text (error));
}

static lk_message *
write_locked (lk_lockd *self, const lk_app *app, const lk_request *request,
              const lk_answer *answer)
{
    lk_message *message = new_answer (app, request, "LOCKED", request->serial);
    bool limited = answer->until_ms != INT64_MAX;
    int64_t left = limited ? answer->until_ms - lk_bus_now (self->bus) : -1;
    lk_message_set_hex (message, "token", answer->token);
    lk_message_set_hex (message, "key", answer->key);
    lk_message_set_number (message, "left", limited && left < 0 ? 0 : left);
    lk_message_set_number (message, "until", limited ? answer->until_ms : -1);
    lk_message_set_number (message, "session", (int64_t) self->session);
    lk_message_set_number (message, "lease_until", self->lease_until_ms);
    lk_message_set_text (message, "lease_page", self->page_path);
    return message;
}

/*  The end of a request. Who waits for its UNLOCK is told by that serial; who
 *  does not is told by the one of the LOCK, or of the UNLOCK by key. */
static lk_message *
write_end (const lk_app *app, const lk_request *request,
           const lk_answer *answer)
{
    bool lost = answer->kind == LK_ANSWER_UNLOCKED && !request->by_key
                && request->unlock == 0;
    bool failed = answer->error != LK_OK && !lost;
    lk_message *message =
        new_answer (app, request, failed ? "LOCKFAILED" : "UNLOCKED",
                    request->unlock ? request->unlock : request->serial);
    if (!request->by_key) {
        lk_message_set_number (message, "request", (int64_t) request->serial);
    }
    if (answer->error != LK_OK) {
        set_error (message, answer->error);
    }
    return message;
}

/*  One that ran out of its duration keeps its object until it is unlocked or
 *  the grace is over too, one that is lost because we stop for a while, too: so
 *  its UNLOCK must still be understood. */
static bool
is_last_word (const lk_request *request, const lk_answer *answer)
{
    bool keeps = answer->error == LK_TIMEDOUT || answer->error == LK_SHUTDOWN;
    bool ended = answer->kind == LK_ANSWER_UNLOCKED && keeps && !request->by_key
                 && request->unlock == 0;
    return answer->kind != LK_ANSWER_LOCKED && !ended;
}

/*  Sends an answer or keeps it for later; forgets a request that is over. */
static void
deliver (lk_lockd *self, lk_app *app, lk_request *request,
         const lk_answer *answer)
{
    lk_message *message = answer->kind == LK_ANSWER_LOCKED
                              ? write_locked (self, app, request, answer)
                              : write_end (app, request, answer);
    if (!lk_lockd_send (self, message)) {
        lk_app_keep (app, request, answer);
        int64_t again = lk_bus_now (self->bus) + RESEND_MS;
        if (self->attached && again < self->resend_at_ms) {
            self->resend_at_ms = again;
        }
        return;
    }
    lk_app_sent (app, request);
    if (is_last_word (request, answer)) {
        lk_app_remove (app, request);
    } else {
        request->over = answer->kind != LK_ANSWER_LOCKED;
    }
}

static void
tell (lk_lockd *self, const lk_answer *answer)
{
    lk_app *app = lk_apps_by_number (&self->apps, answer->app);
    lk_request *request = app ? lk_app_find (app, answer->serial) : NULL;
    if (!request) {
        return; /* it is gone, the core hears so or has heard */
    }
    if (request->over && request->unlock == 0
        && answer->kind != LK_ANSWER_LOCKED) {
        lk_app_remove (app, request); /* was told already */
        return;
    }
    deliver (self, app, request, answer);
}

void
lk_lockd_resend (lk_lockd *self, lk_app *app)
{
    lk_request *request, *next;
    if (app->unsent == 0) {
        return;
    }
    HASH_ITER (hh, app->requests, request, next) {
        if (request->unsent) {
            lk_answer answer = request->answer;
            deliver (self, app, request, &answer);
        }
    }
}

/*  -------------------------------------------------------- the others */

static void
publish_lease (lk_lockd *self, const lk_effect *effect)
{
    self->session = effect->session;
    self->lease_until_ms = effect->lease_until_ms;
    lk_lease_page_set (self->page, effect->session, effect->lease_until_ms);
}

static void
persist (lk_lockd *self, const lk_facts *facts)
{
    self->state.facts = *facts;
    if (!lk_lockd_persist (self)) {
        self->failed = true;
        lk_bus_stop (self->bus, 1);
    }
}

static void
trace (const lk_effect *effect)
{
    static const lk_log_level level[] = {
        [LK_TRACE_DEBUG] = LK_LOG_DEBUG,   [LK_TRACE_INFO] = LK_LOG_INFO,
        [LK_TRACE_NOTICE] = LK_LOG_NOTICE, [LK_TRACE_WARNING] = LK_LOG_WARNING,
        [LK_TRACE_ERROR] = LK_LOG_ERROR,
    };
    LK_LOG (level[effect->level], "%s", effect->text);
}

static void
carry_out (lk_lockd *self, const lk_effect *effect)
{
    switch (effect->type) {
    case LK_DO_PERSIST:
        persist (self, &effect->facts);
        break;
    case LK_DO_SEND:
        send_to_peer (self, effect->message);
        break;
    case LK_DO_TELL:
        tell (self, &effect->answer);
        break;
    case LK_DO_LEASE:
        publish_lease (self, effect);
        break;
    case LK_DO_STATUS:
        self->status_changed = true;
        break;
    case LK_DO_CHANGED:
        lk_lockd_changed (self, effect->error, effect->text);
        break;
    case LK_DO_TRACE:
        trace (effect);
        break;
    case LK_DO_ALERT:
        lk_lockd_alert (self, effect);
        break;
    }
}

void
lk_lockd_carry_out (lk_lockd *self, const lk_effects *effects)
{
    for (size_t i = 0; i < effects->count && !self->failed; i++) {
        carry_out (self, &effects->item[i]);
    }
    if (self->status_changed && !self->failed) {
        self->status_changed = false;
        lk_lockd_tell_status (self, NULL);
    }
}
