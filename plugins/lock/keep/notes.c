/*  notes.c - what happens to locks, for the recent events
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The lock service of a holder's host knows when and why it got a lock and
 *  was rid of it; that of the lock's home, when it gave up the host.
 */

#include "keep.h"
#include "zone_log.h"

#include <string.h>

static uint32_t
span (int64_t from_ms, int64_t to_ms)
{
    const int64_t span_ms = from_ms > 0 ? to_ms - from_ms : 0;
    return span_ms < 0            ? 0
           : span_ms > UINT32_MAX ? UINT32_MAX
                                  : (uint32_t) span_ms;
}

static void
add (lk_lockd *self, const lk_past *past)
{
    lk_recent_add (self->recent, past);
    lk_lockd_log_past (self, past);
}

static lk_name
user_of (const lk_app *app)
{
    return (lk_name) {app->who.user, (uint16_t) strlen (app->who.user)};
}

/*  A set is as many locks as it has names. */
static void
add_each (lk_lockd *self, const lk_asked *asked, lk_past *past)
{
    past->key = asked->object;
    add (self, past);
    for (size_t i = 0; i < asked->rest_count; i++) {
        past->key = asked->rest[i];
        past->token = 0;
        add (self, past);
    }
}

/*  What there is to say of a request just now. */
static void
fill (const lk_lockd *self, const lk_app *app, const lk_asked *asked,
      lk_past *past)
{
    const int64_t now_ms = lk_bus_now (self->bus);
    const lk_course *course = &asked->course;
    const bool held = course->granted_ms != 0;
    past->at_ms = now_ms;
    past->owner = lk_app_owner (app);
    past->user = user_of (app);
    past->pid = asked->pid != 0 ? asked->pid : app->pid;
    past->token = course->token;
    past->waited_ms =
        span (course->asked_ms, held ? course->granted_ms : now_ms);
    past->held_ms = held ? span (course->granted_ms, now_ms) : 0;
}

static void
note (lk_lockd *self, const lk_app *app, const lk_asked *asked, lk_past *past)
{
    fill (self, app, asked, past);
    add_each (self, asked, past);
}

/*  Each of its locks has a token of its own. */
static void
note_set (lk_lockd *self, const lk_app *app, const lk_answer *answer)
{
    lk_past past = {.event = LK_PAST_GRANTED};
    fill (self, app, &answer->asked, &past);
    for (size_t i = 0; i < answer->set_count; i++) {
        past.key = answer->set[i].object;
        past.token = answer->set[i].token;
        add (self, &past);
    }
}

static void
note_granted (lk_lockd *self, const lk_app *app, const lk_answer *answer)
{
    lk_asked asked = answer->asked;
    asked.course.token = answer->token;
    if (asked.course.granted_ms != 0) {
        return; /* it is said again */
    }
    if (answer->set_count > 0) {
        note_set (self, app, answer);
    } else {
        note (self, app, &asked, &(lk_past) {.event = LK_PAST_GRANTED});
    }
}

/*  It does not hold it any more, or will not. */
static void
note_over (lk_lockd *self, const lk_app *app, const lk_answer *answer)
{
    const lk_course *course = &answer->asked.course;
    const bool asked = answer->error == LK_OK || answer->error == LK_LATE;
    lk_past past = {.error = answer->error, .reason = answer->reason};
    if (course->granted_ms == 0) {
        past.event = LK_PAST_FAILED;
    } else {
        past.event = asked ? LK_PAST_RELEASED : LK_PAST_LOST;
    }
    if (course->asked_ms != 0) {
        note (self, app, &answer->asked, &past);
    }
}

/*  It was held by a session or a service that is over, as a static lock may be:
 *  nobody knows since when. */
static void
note_given_back (lk_lockd *self, const lk_app *app, const lk_answer *answer)
{
    lk_asked asked = answer->asked;
    const bool is_news = asked.course.asked_ms != 0;
    asked.course = (lk_course) {0};
    if (asked.asks == LK_ON_UNLOCK_BY_KEY && asked.gives_back && is_news
        && answer->kind == LK_ANSWER_UNLOCKED && answer->error == LK_OK) {
        note (self, app, &asked, &(lk_past) {.event = LK_PAST_RELEASED});
    }
}

void
lk_lockd_note_answer (lk_lockd *self, const lk_app *app,
                      const lk_answer *answer)
{
    if (answer->asked.asks != LK_ON_LOCK) {
        note_given_back (self, app, answer);
        return;
    }
    switch (answer->kind) {
    case LK_ANSWER_LOCKED:
        note_granted (self, app, answer);
        break;
    case LK_ANSWER_UNLOCKED:
        note_over (self, app, answer);
        break;
    case LK_ANSWER_FAILED:
        if (answer->turn == 0 && answer->asked.course.granted_ms == 0) {
            note_over (self, app, answer);
        }
        break;
    case LK_ANSWER_JEOPARDY:
    case LK_ANSWER_PENDING:
    case LK_ANSWER_CHECKED:
    case LK_ANSWER_READY:
    case LK_ANSWER_LEASE:
    case LK_ANSWER_UNKNOWN:
    case LK_ANSWER_MOVE:
        break;
    }
}

typedef struct {
    lk_lockd *lockd;
    const lk_app *app;
} leaving;

/*  A static lock outlives its process. */
static void
note_left (void *context, const lk_asked *asked)
{
    const leaving *self = context;
    const bool held = asked->course.granted_ms != 0;
    if (asked->asks == LK_ON_LOCK && asked->course.asked_ms != 0
        && !(held && asked->is_static)) {
        note (self->lockd, self->app, asked,
              &(lk_past) {.event = held ? LK_PAST_ENDED : LK_PAST_FAILED,
                          .error = LK_DISCONNECTED});
    }
}

void
lk_lockd_note_end (lk_lockd *self, const lk_app *app)
{
    lk_node_each_asked (self->node, app->number, note_left,
                        &(leaving) {self, app});
}

/*  Its registration is over when that is carried out, but is still here. */
void
lk_lockd_note_silent (lk_lockd *self, const lk_answer *answer)
{
    const lk_app *app = lk_apps_by_number (&self->apps, answer->app);
    if (app) {
        note_left (&(leaving) {self, app}, &answer->asked);
    }
}

void
lk_lockd_note_force (lk_lockd *self, const lk_app *app,
                     const lk_app_request *asked)
{
    const lk_past past = {.event = LK_PAST_FORCED,
                          .at_ms = lk_bus_now (self->bus),
                          .key = asked->object,
                          .owner = lk_app_owner (app),
                          .user = user_of (app),
                          .pid = app->pid,
                          .token = asked->token,
                          .reason = asked->reason};
    add (self, &past);
}

void
lk_lockd_note_dropped (lk_lockd *self, const lk_ticket *ticket)
{
    const lk_past past = {.event = LK_PAST_LOST,
                          .error = LK_ISOLATED,
                          .at_ms = lk_bus_now (self->bus),
                          .key = ticket->object,
                          .owner = ticket->owner,
                          .pid = ticket->pid,
                          .token = ticket->token,
                          .held_ms = span (1, 1 + ticket->age_ms)};
    add (self, &past);
}
