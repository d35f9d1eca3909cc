/*  asked.c - what an application asked for
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "asked.h"

#include "asker.h"

#include <string.h>

/*  -------------------------------------------------------- which */

lk_asked
lk_asked_of (const lk_demand *demand)
{
    return (lk_asked) {.asks = demand->asks,
                       .unlock = demand->unlock,
                       .object = demand->ticket.object,
                       .listed = demand->listed,
                       .gives_back = demand->ticket.owner.size > 0,
                       .is_static = demand->ticket.mode.is_static,
                       .pid = demand->pid,
                       .course = demand->course};
}

lk_asked
lk_asked_of_set (const lk_set *set)
{
    return (lk_asked) {.asks = LK_ON_LOCK,
                       .unlock = set->unlock,
                       .object = set->name_of[0],
                       .rest = set->name_of + 1,
                       .rest_count = set->count - 1,
                       .listed = true,
                       .pid = set->pid,
                       .course = set->course};
}

void
lk_proxy_each_asked (const lk_proxy *proxy, uint32_t app, lk_asked_visit *visit,
                     void *context)
{
    const lk_asker *asker = lk_asker_find (proxy, app);
    const lk_demand *demand = asker ? asker->first : NULL;
    const lk_set *set = asker ? asker->sets : NULL;
    for (; demand; demand = demand->sibling_next) {
        const lk_asked asked = lk_asked_of (demand);
        visit (context, &asked);
    }
    for (; set; set = set->next) {
        const lk_asked asked = lk_asked_of_set (set);
        visit (context, &asked);
    }
}

lk_asked
lk_asked_by (const lk_proxy *proxy, lk_event_type asks,
             const lk_app_request *request)
{
    return (lk_asked) {.asks = asks,
                       .object = request->object,
                       .rest = request->rest,
                       .rest_count = request->rest_count,
                       .listed = request->listed || request->rest_count > 0,
                       .gives_back = request->owner.size > 0,
                       .is_static = request->mode.is_static,
                       .pid = request->pid,
                       .course.asked_ms = proxy->core->now_ms};
}

/*  -------------------------------------------------------- whether it is */

static bool
is_same (lk_name one, lk_name other)
{
    return one.size == other.size
           && memcmp (one.data, other.data, one.size) == 0;
}

/*  Those of a set stand in another order there. */
static bool
has_name (const lk_asked *self, lk_name name)
{
    bool found = is_same (self->object, name);
    for (size_t i = 0; !found && i < self->rest_count; i++) {
        found = is_same (self->rest[i], name);
    }
    return found;
}

bool
lk_asked_is (const lk_asked *self, lk_event_type asks,
             const lk_app_request *request)
{
    if (self->asks != asks || request->object.size == 0) {
        return self->asks == asks;
    }
    bool same = self->rest_count == request->rest_count
                && self->listed == (request->listed || request->rest_count > 0)
                && has_name (self, request->object);
    for (size_t i = 0; same && i < request->rest_count; i++) {
        same = has_name (self, request->rest[i]);
    }
    return same;
}

/*  -------------------------------------------------------- telling */

lk_asked
lk_asked_lend (lk_proxy *proxy, lk_asked asked)
{
    asked.object = lk_out_name (proxy->core, asked.object);
    if (asked.rest_count > 0) {
        lk_name *rest = lk_arena_dup (&proxy->core->outlet.arena, asked.rest,
                                      asked.rest_count * sizeof *rest);
        for (size_t i = 0; i < asked.rest_count; i++) {
            rest[i] = lk_out_name (proxy->core, rest[i]);
        }
        asked.rest = rest;
    }
    return asked;
}

/*  The first grant and the first end count: what is said again is no news, and
 *  a change of type that fails leaves the lock as it was. */
void
lk_asked_note (const lk_proxy *proxy, lk_course *course,
               const lk_answer *answer)
{
    const bool is_held = course->granted_ms != 0;
    if (answer->kind == LK_ANSWER_LOCKED && !is_held) {
        course->granted_ms = proxy->core->now_ms;
        course->token = answer->token;
    } else if (answer->kind == LK_ANSWER_UNLOCKED
               || (answer->kind == LK_ANSWER_FAILED && answer->turn == 0
                   && !is_held)) {
        *course = (lk_course) {0};
    }
}
