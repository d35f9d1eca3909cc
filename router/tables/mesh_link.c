/*  mesh_link.c - the life of one link: a table of [state][event]
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "mesh.h"

#include "util/assert.h"

enum {
    REDIAL_MS = 100,
    REDIAL_MAX_MS = 1000,
    HEARSAY_MAX_MS = 10000, /* whom we were never linked with */
    ANSWER_MAX_MS = 10000,  /* that a CONNECT has to be answered */
    DOUBLE_MS = 30000
};

/*  -------------------------------------------------------- the table */

typedef struct {
    lk_mesh_state next;
    unsigned effects;
} transition;

/*  What comes late, for a connection that is closed already, changes
 *  nothing. */
static const transition table[LK_LINK_STATES][LK_LINK_EVENTS] = {
    [LK_LINK_CLOSED] = {[LK_LINK_TIME] = {LK_LINK_DIALING, LK_DO_OPEN},
                        [LK_LINK_UP] = {LK_LINK_CLOSED, 0},
                        [LK_LINK_DOWN] = {LK_LINK_CLOSED, 0},
                        [LK_LINK_TAKEN] = {LK_LINK_CLOSED, 0},
                        [LK_LINK_JOINED] = {LK_LINK_CLOSED, 0},
                        [LK_LINK_REFUSE] = {LK_LINK_CLOSED, 0},
                        [LK_LINK_OWN] = {LK_LINK_CLOSED, 0},
                        [LK_LINK_TWIN] = {LK_LINK_CLOSED, 0},
                        [LK_LINK_MET] = {LK_LINK_DIALING, LK_DO_OPEN},
                        [LK_LINK_SILENT] = {LK_LINK_CLOSED, 0},
                        [LK_LINK_LEFT] = {LK_LINK_CLOSED, 0}},
    [LK_LINK_DIALING] = {[LK_LINK_TIME] = {LK_LINK_DIALING,
                                           LK_DO_CLOSE | LK_DO_OPEN},
                         [LK_LINK_UP] = {LK_LINK_ASKING, LK_DO_ASK},
                         [LK_LINK_DOWN] = {LK_LINK_CLOSED, LK_DO_CLOSE},
                         [LK_LINK_TAKEN] = {LK_LINK_DIALING, 0},
                         [LK_LINK_JOINED] = {LK_LINK_DIALING, 0},
                         [LK_LINK_REFUSE] = {LK_LINK_DIALING, 0},
                         [LK_LINK_OWN] = {LK_LINK_DIALING, 0},
                         [LK_LINK_TWIN] = {LK_LINK_DIALING, 0},
                         [LK_LINK_MET] = {LK_LINK_DIALING,
                                          LK_DO_CLOSE | LK_DO_OPEN},
                         [LK_LINK_SILENT] = {LK_LINK_DIALING, 0},
                         [LK_LINK_LEFT] = {LK_LINK_DIALING, 0}},
    [LK_LINK_ASKING] = {[LK_LINK_TIME] = {LK_LINK_DIALING,
                                          LK_DO_CLOSE | LK_DO_OPEN},
                        [LK_LINK_UP] = {LK_LINK_ASKING, LK_DO_ASK},
                        [LK_LINK_DOWN] = {LK_LINK_CLOSED, LK_DO_CLOSE},
                        [LK_LINK_TAKEN] = {LK_LINK_ACCEPTED, 0},
                        [LK_LINK_JOINED] = {LK_LINK_LIVE,
                                            LK_DO_LIVE | LK_DO_INTRODUCE},
                        [LK_LINK_REFUSE] = {LK_LINK_REFUSED, LK_DO_CLOSE},
                        [LK_LINK_OWN] = {LK_LINK_OURSELVES, LK_DO_CLOSE},
                        [LK_LINK_TWIN] = {LK_LINK_DOUBLE, LK_DO_CLOSE},
                        [LK_LINK_MET] = {LK_LINK_ASKING, 0},
                        [LK_LINK_SILENT] = {LK_LINK_ASKING, 0},
                        [LK_LINK_LEFT] = {LK_LINK_CLOSED, LK_DO_CLOSE}},
    [LK_LINK_ACCEPTED] =
        {[LK_LINK_TIME] = {LK_LINK_ACCEPTED, LK_DO_ASK},
         [LK_LINK_UP] = {LK_LINK_ASKING, LK_DO_ASK},
         [LK_LINK_DOWN] = {LK_LINK_CLOSED, LK_DO_CLOSE},
         [LK_LINK_TAKEN] = {LK_LINK_ACCEPTED, 0},
         [LK_LINK_JOINED] = {LK_LINK_LIVE, LK_DO_LIVE | LK_DO_INTRODUCE},
         [LK_LINK_REFUSE] = {LK_LINK_ASKING, LK_DO_ASK},
         [LK_LINK_OWN] = {LK_LINK_OURSELVES, LK_DO_CLOSE},
         [LK_LINK_TWIN] = {LK_LINK_DOUBLE, LK_DO_CLOSE},
         [LK_LINK_MET] = {LK_LINK_LIVE, LK_DO_LIVE | LK_DO_INTRODUCE},
         [LK_LINK_SILENT] = {LK_LINK_DIALING, LK_DO_CLOSE | LK_DO_OPEN},
         [LK_LINK_LEFT] = {LK_LINK_CLOSED, LK_DO_CLOSE}},
    [LK_LINK_LIVE] =
        {[LK_LINK_TIME] = {LK_LINK_LIVE, LK_DO_BEAT},
         [LK_LINK_UP] = {LK_LINK_CLOSED, LK_DO_CLOSE | LK_DO_LOST},
         [LK_LINK_DOWN] = {LK_LINK_CLOSED, LK_DO_CLOSE | LK_DO_LOST},
         [LK_LINK_TAKEN] = {LK_LINK_ACCEPTED, LK_DO_LOST},
         [LK_LINK_JOINED] = {LK_LINK_LIVE, 0},
         [LK_LINK_REFUSE] = {LK_LINK_ASKING, LK_DO_LOST | LK_DO_ASK},
         [LK_LINK_OWN] = {LK_LINK_OURSELVES, LK_DO_CLOSE | LK_DO_LOST},
         [LK_LINK_TWIN] = {LK_LINK_DOUBLE, LK_DO_CLOSE | LK_DO_LOST},
         [LK_LINK_MET] = {LK_LINK_LIVE, LK_DO_INTRODUCE},
         [LK_LINK_SILENT] = {LK_LINK_DIALING, LK_DO_CLOSE | LK_DO_LOST
                                                  | LK_DO_OPEN},
         [LK_LINK_LEFT] = {LK_LINK_CLOSED, LK_DO_CLOSE | LK_DO_LOST}},
    [LK_LINK_REFUSED] = {[LK_LINK_TIME] = {LK_LINK_DIALING, LK_DO_OPEN},
                         [LK_LINK_UP] = {LK_LINK_REFUSED, 0},
                         [LK_LINK_DOWN] = {LK_LINK_REFUSED, 0},
                         [LK_LINK_TAKEN] = {LK_LINK_REFUSED, 0},
                         [LK_LINK_JOINED] = {LK_LINK_REFUSED, 0},
                         [LK_LINK_REFUSE] = {LK_LINK_REFUSED, 0},
                         [LK_LINK_OWN] = {LK_LINK_REFUSED, 0},
                         [LK_LINK_TWIN] = {LK_LINK_REFUSED, 0},
                         [LK_LINK_MET] = {LK_LINK_REFUSED, 0},
                         [LK_LINK_SILENT] = {LK_LINK_REFUSED, 0},
                         [LK_LINK_LEFT] = {LK_LINK_REFUSED, 0}},
    [LK_LINK_OURSELVES] = {[LK_LINK_TIME] = {LK_LINK_OURSELVES, 0},
                           [LK_LINK_UP] = {LK_LINK_OURSELVES, 0},
                           [LK_LINK_DOWN] = {LK_LINK_OURSELVES, 0},
                           [LK_LINK_TAKEN] = {LK_LINK_OURSELVES, 0},
                           [LK_LINK_JOINED] = {LK_LINK_OURSELVES, 0},
                           [LK_LINK_REFUSE] = {LK_LINK_OURSELVES, 0},
                           [LK_LINK_OWN] = {LK_LINK_OURSELVES, 0},
                           [LK_LINK_TWIN] = {LK_LINK_OURSELVES, 0},
                           [LK_LINK_MET] = {LK_LINK_DIALING, LK_DO_OPEN},
                           [LK_LINK_SILENT] = {LK_LINK_OURSELVES, 0},
                           [LK_LINK_LEFT] = {LK_LINK_OURSELVES, 0}},
    [LK_LINK_DOUBLE] = {[LK_LINK_TIME] = {LK_LINK_DIALING, LK_DO_OPEN},
                        [LK_LINK_UP] = {LK_LINK_DOUBLE, 0},
                        [LK_LINK_DOWN] = {LK_LINK_DOUBLE, 0},
                        [LK_LINK_TAKEN] = {LK_LINK_DOUBLE, 0},
                        [LK_LINK_JOINED] = {LK_LINK_DOUBLE, 0},
                        [LK_LINK_REFUSE] = {LK_LINK_DOUBLE, 0},
                        [LK_LINK_OWN] = {LK_LINK_DOUBLE, 0},
                        [LK_LINK_TWIN] = {LK_LINK_DOUBLE, 0},
                        [LK_LINK_MET] = {LK_LINK_DIALING, LK_DO_OPEN},
                        [LK_LINK_SILENT] = {LK_LINK_DOUBLE, 0},
                        [LK_LINK_LEFT] = {LK_LINK_DOUBLE, 0}},
};

/*  Of a link that only the other end dials: its connection is both halves, and
 *  there is none of ours to open or to ask on. */
static transition
turned (lk_mesh_state state, lk_mesh_event event, transition step)
{
    const bool was_live = state == LK_LINK_LIVE;
    if (was_live && step.next == LK_LINK_LIVE) {
        return step;
    }
    if (event == LK_LINK_MET) {
        return (transition) {LK_LINK_LIVE, LK_DO_LIVE | LK_DO_INTRODUCE};
    }
    return (transition) {LK_LINK_CLOSED,
                         was_live ? LK_DO_CLOSE | LK_DO_LOST : 0};
}

const char *
lk_mesh_link_state_name (lk_mesh_state state)
{
    static const char *const names[LK_LINK_STATES] = {
        "closed", "dialing", "asking",    "accepted",
        "live",   "refused", "ourselves", "double",
    };
    LK_ASSERT (state < LK_LINK_STATES);
    return names[state];
}

const char *
lk_mesh_link_event_name (lk_mesh_event event)
{
    static const char *const names[LK_LINK_EVENTS] = {
        "time",     "connected", "broken", "accepted", "accepted", "refused",
        "own name", "twin",      "met",    "silent",   "left",
    };
    LK_ASSERT (event < LK_LINK_EVENTS);
    return names[event];
}

/*  -------------------------------------------------------- one link */

/*  Longer after each attempt that failed. */
static int64_t
pause_of (const lk_mesh_link *link)
{
    const bool is_hearsay =
        !link->known && !link->met && link->way == LK_WAY_BOTH;
    const int64_t most = is_hearsay ? HEARSAY_MAX_MS : REDIAL_MAX_MS;
    int64_t pause = REDIAL_MS;
    for (unsigned i = 1; i < link->failures && pause < most; i++) {
        pause *= 2;
    }
    return pause < most ? pause : most;
}

/*  Longer after each CONNECT that was not answered: where an answer takes more
 *  than dead_after there would never be a link else. */
static int64_t
patience_with (const lk_mesh *self, const lk_mesh_link *link)
{
    int64_t patience = self->dead_after_ms;
    for (unsigned i = 0; i < link->unanswered && patience < ANSWER_MAX_MS;
         i++) {
        patience *= 2;
    }
    return patience;
}

static int64_t
deadline_of (const lk_mesh *self, const lk_mesh_link *link, lk_mesh_state state,
             int64_t now_ms)
{
    if (link->way == LK_WAY_IN && state != LK_LINK_LIVE) {
        return INT64_MAX;
    }
    switch (state) {
    case LK_LINK_CLOSED:
        return now_ms + pause_of (link);
    case LK_LINK_ASKING:
        return now_ms + patience_with (self, link);
    case LK_LINK_ACCEPTED:
    case LK_LINK_LIVE:
        return now_ms + self->dead_after_ms / 4;
    case LK_LINK_REFUSED:
        return now_ms + self->dead_after_ms;
    case LK_LINK_DOUBLE:
        return now_ms + DOUBLE_MS;
    case LK_LINK_DIALING: /* whose end is always told */
    case LK_LINK_OURSELVES:
    case LK_LINK_STATES:
        break;
    }
    return INT64_MAX;
}

/*  Whether nothing more is to come on the peer's connection to us. When only
 *  ours broke, its last messages may still be on their way. */
static bool
ends_incoming (lk_mesh_event event)
{
    return event == LK_LINK_SILENT || event == LK_LINK_LEFT
           || event == LK_LINK_OWN || event == LK_LINK_TWIN;
}

/*  Whether the peer has answered a CONNECT. */
static bool
is_answer (lk_mesh_event event)
{
    return event == LK_LINK_TAKEN || event == LK_LINK_JOINED
           || event == LK_LINK_REFUSE || event == LK_LINK_OWN
           || event == LK_LINK_TWIN;
}

unsigned
lk_mesh_step (const lk_mesh *self, lk_mesh_link *link, lk_mesh_event event,
              int64_t now_ms)
{
    LK_ASSERT (link->state < LK_LINK_STATES && event < LK_LINK_EVENTS);
    transition step = table[link->state][event];
    if (link->way == LK_WAY_IN) {
        step = turned (link->state, event, step);
    }
    if (ends_incoming (event)) {
        link->met = false;
    }
    if (link->state == LK_LINK_DIALING && event == LK_LINK_DOWN) {
        link->failures++;
    } else if (event == LK_LINK_UP) {
        link->failures = 0;
    }
    if (is_answer (event)) {
        link->unanswered = 0;
    } else if (link->state == LK_LINK_ASKING && event == LK_LINK_TIME) {
        link->unanswered++;
    }
    if (link->state != step.next || event == LK_LINK_TIME
        || (step.effects & LK_DO_ASK)) {
        link->deadline_ms = deadline_of (self, link, step.next, now_ms);
    }
    if ((link->state == LK_LINK_LIVE) != (step.next == LK_LINK_LIVE)) {
        link->since_ms = now_ms;
    }
    if (step.next == LK_LINK_LIVE) {
        link->known = true;
    } else if (link->is_left || link->way != LK_WAY_BOTH) {
        link->met = false;
    }
    link->state = step.next;
    LK_ASSERT (link->state != LK_LINK_LIVE || link->met);
    return step.effects;
}

bool
lk_mesh_link_is_taken (const lk_mesh_link *self)
{
    return self->state == LK_LINK_ACCEPTED || self->state == LK_LINK_LIVE;
}

bool
lk_mesh_link_is_linked (const lk_mesh_link *self)
{
    return self->met || lk_mesh_link_is_taken (self) || self->sought_ms != 0;
}

bool
lk_mesh_link_is_direct_open (const lk_mesh_link *self)
{
    return self->met
           && (lk_mesh_link_is_taken (self) || self->state == LK_LINK_ASKING);
}

bool
lk_mesh_link_is_open (const lk_mesh_link *self)
{
    return lk_mesh_link_is_direct_open (self) || self->sought_ms != 0;
}

bool
lk_mesh_link_is_direct (const lk_mesh_link *self)
{
    return self->state == LK_LINK_LIVE;
}

bool
lk_mesh_link_is_live (const lk_mesh_link *self)
{
    return lk_mesh_link_is_direct (self) || self->sought_ms != 0;
}
