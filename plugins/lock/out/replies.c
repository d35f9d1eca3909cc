/*  replies.c - what applications are told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  An answer that the bus does not take is kept and sent again. With its last
 *  answer a request is forgotten.
 */

#include "out.h"

#include "wire/message_frame.h"
#include "wire/object_key.h"
#include "wire/object_name.h"

#define RESEND_MS 100
#define LOST_TTL_S 255 /* the router's own bound is shorter */

/*  -------------------------------------------------------- messages */

/*  A set has no name of its own. */
static lk_message *
new_reply (const lk_app *app, const lk_request *request, const char *command,
           uint64_t serial)
{
    lk_message *reply = lk_message_new (app->address, command);
    lk_message_set_serial (reply, serial);
    if (!request->is_set) {
        lk_object_set (reply, request->object);
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
write_set (lk_message *reply, const lk_request *request,
           const lk_answer *answer)
{
    const lk_granted one = {request->key, answer->token, answer->key};
    if (answer->set_count == 0) {
        add_granted (reply, &one);
    }
    for (size_t i = 0; i < answer->set_count; i++) {
        add_granted (reply, &answer->set[i]);
    }
}

static void
write_one (lk_message *reply, const lk_request *request,
           const lk_answer *answer)
{
    lk_message_set_hex (reply, "token", answer->token);
    lk_message_set_hex (reply, "key", answer->key);
    lk_message_set_number (reply, "ordinal", answer->ordinal);
    if (answer->turn > 0) {
        lk_message_set_number (reply, "turn", answer->turn);
    }
    if (request->is_static) {
        lk_message_set_flag (reply, "static", true);
    }
}

static lk_message *
write_locked (lk_lockd *self, const lk_app *app, const lk_request *request,
              const lk_answer *answer)
{
    lk_message *reply = new_reply (app, request, "LOCKED", request->serial);
    bool limited = answer->until_ms != INT64_MAX;
    int64_t left = limited ? answer->until_ms - lk_bus_now (self->bus) : -1;
    if (request->is_set) {
        write_set (reply, request, answer);
    } else {
        write_one (reply, request, answer);
    }
    lk_message_set_text (reply, "type", lk_lock_type_words[answer->type]);
    lk_message_set_number (reply, "left", limited && left < 0 ? 0 : left);
    lk_message_set_number (reply, "until", limited ? answer->until_ms : -1);
    lk_message_set_number (reply, "session", (int64_t) self->session);
    lk_message_set_number (reply, "lease_until", self->lease_until_ms);
    lk_message_set_number (reply, "lease", self->options.host_lease_ms);
    lk_message_set_text (reply, "lease_page", self->page_path);
    return reply;
}

/*  -------------------------------------------------------- the others */

static bool
is_lock (const lk_request *request)
{
    return request->asks == LK_ON_LOCK;
}

/*  Not done; of a change of type: the lock is held as it was. */
static lk_message *
write_failed (const lk_app *app, const lk_request *request,
              const lk_answer *answer)
{
    const bool unlocks = request->unlock != 0 && answer->turn == 0;
    lk_message *reply = new_reply (app, request, "LOCKFAILED",
                                   unlocks ? request->unlock : request->serial);
    if (is_lock (request)) {
        lk_message_set_number (reply, "request", (int64_t) request->serial);
    }
    if (answer->turn > 0) {
        lk_message_set_number (reply, "turn", answer->turn);
    }
    set_error (reply, answer->error);
    return reply;
}

/*  Who waits for the UNLOCK of its own lock is told by that serial; who does
 *  not, by the one of the LOCK: it is lost. Nobody asks for that again, so it
 *  waits for one that its router does not know, having been restarted. */
static lk_message *
write_unlocked (const lk_app *app, const lk_request *request,
                const lk_answer *answer)
{
    lk_message *reply =
        new_reply (app, request, "UNLOCKED",
                   request->unlock ? request->unlock : request->serial);
    if (is_lock (request)) {
        lk_message_set_number (reply, "request", (int64_t) request->serial);
    }
    if (answer->error == LK_LATE) {
        lk_message_set_flag (reply, "late", true);
    } else if (answer->error != LK_OK) {
        set_error (reply, answer->error);
        lk_lockd_set_text (reply, "reason", answer->reason);
        lk_message_set_ttl (reply, LOST_TTL_S);
    }
    return reply;
}

/*  What was asked for is not done. */
static bool
is_refused (const lk_request *request, const lk_answer *answer)
{
    bool asked = !is_lock (request) || request->unlock != 0;
    return answer->kind == LK_ANSWER_UNLOCKED && asked && answer->error != LK_OK
           && answer->error != LK_LATE;
}

static lk_message *
write_jeopardy (const lk_app *app, const lk_request *request,
                const lk_answer *answer)
{
    lk_message *reply =
        new_reply (app, request, "LOCKJEOPARDY", request->serial);
    lk_message_set_number (reply, "request", (int64_t) request->serial);
    lk_message_set_flag (reply, "danger", answer->danger);
    if (answer->error != LK_OK) {
        set_error (reply, answer->error);
    }
    return reply;
}

/*  It comes true later: its holder is stopping, or cannot be asked. */
static lk_message *
write_pending (const lk_lockd *self, const lk_app *app,
               const lk_request *request, const lk_answer *answer)
{
    lk_message *reply =
        new_reply (app, request, "LOCKSTOPPING", request->serial);
    lk_message_set_text (reply, "host",
                         lk_hostmap_name (&self->hostmap, answer->host));
    lk_message_set_number (reply, "left", answer->left_ms);
    if (answer->silent_ms >= 0) {
        lk_message_set_number (reply, "silent", answer->silent_ms);
    }
    return reply;
}

static lk_message *
write_checked (const lk_app *app, const lk_request *request,
               const lk_answer *answer)
{
    lk_message *reply = new_reply (app, request, "LOCKCHECK", request->serial);
    lk_message_set_hex (reply, "token", request->token);
    lk_message_set_flag (reply, "held", answer->held);
    lk_message_set_hex (reply, "newest", answer->newest);
    return reply;
}

static lk_message *
write_reply (lk_lockd *self, const lk_app *app, const lk_request *request,
             const lk_answer *answer)
{
    switch (answer->kind) {
    case LK_ANSWER_LOCKED:
        return write_locked (self, app, request, answer);
    case LK_ANSWER_JEOPARDY:
        return write_jeopardy (app, request, answer);
    case LK_ANSWER_PENDING:
        return write_pending (self, app, request, answer);
    case LK_ANSWER_CHECKED:
        return write_checked (app, request, answer);
    case LK_ANSWER_UNLOCKED:
        if (!is_refused (request, answer)) {
            return write_unlocked (app, request, answer);
        }
        break;
    case LK_ANSWER_FAILED:
        break;
    }
    return write_failed (app, request, answer);
}

/*  -------------------------------------------------------- sending */

/*  One that ran out of its duration keeps its object until it is unlocked or
 *  the grace is over, too; one that was taken away, or is lost because we stop,
 *  for a while: so its UNLOCK must still be understood. */
static bool
awaits_unlock (const lk_request *request, const lk_answer *answer)
{
    bool keeps = answer->error == LK_TIMEDOUT || answer->error == LK_SHUTDOWN
                 || answer->error == LK_FORCED || answer->error == LK_RELEASED;
    return answer->kind == LK_ANSWER_UNLOCKED && keeps && is_lock (request)
           && request->unlock == 0;
}

/*  Whether the request is over, but for one that awaits its UNLOCK. */
static bool
is_end (const lk_answer *answer)
{
    switch (answer->kind) {
    case LK_ANSWER_LOCKED:
    case LK_ANSWER_JEOPARDY:
    case LK_ANSWER_PENDING:
        return false;
    case LK_ANSWER_FAILED:
        return answer->turn == 0;
    case LK_ANSWER_UNLOCKED:
    case LK_ANSWER_CHECKED:
        break;
    }
    return true;
}

static void
keep (lk_lockd *self, lk_app *app, lk_request *request, const lk_answer *answer)
{
    int64_t again = lk_bus_now (self->bus) + RESEND_MS;
    lk_app_keep (app, request, answer);
    if (self->attached && again < self->resend_at_ms) {
        self->resend_at_ms = again;
    }
}

/*  Sends an answer or keeps it for later; false: with it, the request was over
 *  and is forgotten. */
static bool
deliver (lk_lockd *self, lk_app *app, lk_request *request,
         const lk_answer *answer)
{
    if (!lk_lockd_send (self, write_reply (self, app, request, answer))) {
        keep (self, app, request, answer);
        return true;
    }
    const bool lost = awaits_unlock (request, answer);
    const bool over = is_end (answer) && !lost;
    const bool held = answer->kind == LK_ANSWER_LOCKED;
    lk_app_sent (app, request, answer);
    if (over) {
        lk_app_remove (app, request);
    } else {
        request->over = (request->over || lost) && !held;
    }
    return !over;
}

void
lk_lockd_tell (lk_lockd *self, const lk_answer *answer)
{
    lk_app *app = lk_apps_by_number (&self->apps, answer->app);
    lk_request *request = app ? lk_app_find (app, answer->serial) : NULL;
    if (!request) {
        return; /* it is gone, the core hears so or has heard */
    }
    lk_lockd_note_answer (self, app, request, answer);
    if (request->over && request->unlock == 0 && is_end (answer)) {
        lk_app_remove (app, request); /* was told already */
    } else if (answer->kind == LK_ANSWER_JEOPARDY
               && lk_request_kept (request, 0)) {
        keep (self, app, request, answer); /* in their order */
    } else {
        (void) deliver (self, app, request, answer);
    }
}

void
lk_lockd_resend (lk_lockd *self, lk_app *app)
{
    lk_request *request, *next;
    if (app->unsent == 0) {
        return;
    }
    HASH_ITER (hh, app->requests, request, next) {
        bool there = true;
        for (size_t slot = 0; there && slot < LK_KEPT_SLOTS; slot++) {
            const lk_answer *kept = lk_request_kept (request, slot);
            there = !kept || deliver (self, app, request, kept);
        }
    }
}
