/*  set.c - several locks that an application asks for at once: all or none
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "set.h"

#include "asker.h"
#include "demand_tell.h"
#include "jeopardy.h"
#include "proxy_private.h"
#include "set_private.h"

#include <string.h>
#include <utlist.h>

/*  -------------------------------------------------------- names */

static int
compare_names (const void *a, const void *b)
{
    const lk_name *x = a;
    const lk_name *y = b;
    const size_t common = x->size < y->size ? x->size : y->size;
    const int order = memcmp (x->data, y->data, common);
    return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

/*  All names of a request in their order. */
static lk_name *
sort_names (lk_proxy *proxy, const lk_app_request *request)
{
    const size_t count = request->rest_count + 1;
    lk_name *names =
        lk_arena_alloc (&proxy->core->outlet.arena, count * sizeof *names);
    names[0] = request->object;
    memcpy (names + 1, request->rest, request->rest_count * sizeof *names);
    qsort (names, count, sizeof *names, compare_names);
    return names;
}

/*  protocol 9.12 */
bool
lk_set_is_sound (lk_proxy *proxy, const lk_app_request *request)
{
    const lk_lock_mode *mode = &request->mode;
    if (request->rest_count >= LK_SET_MAX || request->key != 0 || mode->lenient
        || mode->is_static || mode->quiet_ms != 0) {
        return false;
    }
    const lk_name *names = sort_names (proxy, request);
    for (size_t i = 0; i <= request->rest_count; i++) {
        if (names[i].size == 0 || names[i].size > LK_NAME_SIZE_MAX
            || (i > 0 && compare_names (&names[i - 1], &names[i]) == 0)) {
            return false;
        }
    }
    return true;
}

/*  -------------------------------------------------------- life */

lk_set *
lk_set_by_name (const lk_proxy *proxy, uint32_t app, uint64_t app_serial)
{
    uint64_t name[2] = {app, app_serial};
    lk_set *set = NULL;
    HASH_FIND (hh, proxy->sets, name, sizeof name, set);
    return set;
}

static uint32_t *
place_in_ends (void *set)
{
    return &((lk_set *) set)->end_place;
}

void
lk_sets_init (lk_proxy *proxy)
{
    lk_heap_init (&proxy->set_ends, place_in_ends);
}

static void
join_asker (lk_proxy *proxy, lk_set *self)
{
    lk_asker *asker = lk_asker_need (proxy, (uint32_t) self->name[0]);
    DL_APPEND (asker->sets, self);
    asker->count++;
}

static void
leave_asker (lk_proxy *proxy, lk_set *self)
{
    lk_asker *asker = lk_asker_find (proxy, (uint32_t) self->name[0]);
    DL_DELETE (asker->sets, self);
    asker->count--;
    lk_asker_rest (proxy, asker);
}

void
lk_set_destroy (lk_proxy *proxy, lk_set *self)
{
    proxy->unlocking -= self->tell_unlocked;
    lk_heap_take (&proxy->set_ends, self);
    leave_asker (proxy, self);
    HASH_DEL (proxy->sets, self);
    for (size_t i = 0; i < self->count; i++) {
        lk_free ((char *) self->name_of[i].data);
    }
    lk_free (self->name_of);
    lk_free (self->member);
    lk_free (self);
}

void
lk_sets_clear (lk_proxy *proxy)
{
    while (proxy->sets) {
        lk_set_destroy (proxy, proxy->sets);
    }
    lk_heap_clear (&proxy->set_ends);
}

/*  Time ends it then, in the state that it has now. */
void
lk_set_until (lk_proxy *proxy, lk_set *self, int64_t span_ms)
{
    if (span_ms > 0 && span_ms < INT64_MAX - proxy->core->now_ms) {
        self->until_ms = proxy->core->now_ms + span_ms;
        lk_heap_put (&proxy->set_ends, self, self->until_ms);
    } else {
        self->until_ms = INT64_MAX;
        lk_heap_take (&proxy->set_ends, self);
    }
}

lk_demand *
lk_set_add (lk_proxy *proxy, lk_set *self, lk_name object,
            const lk_app_request *request)
{
    lk_demand *member = lk_demand_new (
        proxy, LK_DEMAND_LATER, ++proxy->last_serial, LK_NO_APP, 0, object);
    member->set = self;
    member->place = self->left;
    member->queue = request->wait_ms != 0;
    lk_demand_set_owner (member, request->owner);
    member->ticket.pid = request->pid;
    member->ticket.remote = lk_far_id_of (request);
    member->ticket.mode = request->mode;
    member->ticket.rest = (uint16_t) (self->count - 1 - self->left);
    self->name_of[self->left] =
        (lk_name) {lk_memdup (object.data, object.size), object.size};
    self->member[self->left++] = member;
    return member;
}

lk_set *
lk_set_new (lk_proxy *proxy, const lk_app_request *request)
{
    lk_set *self = lk_alloc (sizeof *self);
    self->name[0] = request->app;
    self->name[1] = request->serial;
    self->pid = request->pid;
    self->course.asked_ms = proxy->core->now_ms;
    self->duration_ms = request->duration_ms;
    self->linger_ms = request->linger_ms;
    self->guarded = request->guarded;
    self->far = request->far.number != 0;
    self->said = request->sent;
    self->count = request->rest_count + 1;
    self->member = lk_alloc (self->count * sizeof (lk_demand *));
    self->name_of = lk_alloc (self->count * sizeof (lk_name));
    HASH_ADD (hh, proxy->sets, name, sizeof self->name, self);
    join_asker (proxy, self);
    return self;
}

void
lk_set_ask (lk_proxy *proxy, const lk_app_request *request)
{
    const lk_name *names = sort_names (proxy, request);
    lk_set *self = lk_set_new (proxy, request);
    while (self->left < self->count) {
        (void) lk_set_add (proxy, self, names[self->left], request);
    }
    lk_set_until (proxy, self,
                  request->wait_ms == 0 ? LK_TRY_MS : request->wait_ms);
    lk_demand_enter (proxy, self->member[0], LK_DEMAND_WAITING);
    lk_demand_send (proxy, self->member[0]);
}

/*  -------------------------------------------------------- telling */

/*  The application says LOCK again: its answer may have been lost. */
void
lk_set_tell_held (lk_proxy *proxy, lk_set *self, const lk_news *news)
{
    (void) news;
    lk_set_tell_locked (proxy, self);
}

void
lk_set_tell_ended (lk_proxy *proxy, lk_set *self, const lk_news *news)
{
    (void) news;
    lk_set_tell (proxy, self, LK_ANSWER_UNLOCKED, self->error);
}

void
lk_set_tell_failed (lk_proxy *proxy, lk_set *self, const lk_news *news)
{
    (void) news;
    if (!self->tell_unlocked) {
        lk_set_tell (proxy, self, LK_ANSWER_FAILED, self->error);
    }
}

/*  -------------------------------------------------------- homes */

/*  The next one is asked for; but if it was, along with one before it, its home
 *  is going on with it by itself. Protocol 9.12. */
static void
ask_next (lk_proxy *proxy, lk_set *self, int tries)
{
    lk_demand *next = self->member[self->held];
    lk_demand_enter (proxy, next, LK_DEMAND_WAITING);
    if (self->held < self->asked) {
        lk_demand_was_said (proxy, next, tries);
    } else {
        lk_demand_send (proxy, next);
    }
}

/*  One that is not its turn yet is told before the one ahead of it where
 *  messages overtake each other. It is kept in mind, but not held: a reclaim
 *  must not claim it without that one. Protocol 9.12. */
void
lk_set_locked (lk_proxy *proxy, lk_demand *member)
{
    lk_set *self = member->set;
    int tries = member->tries;
    if (member->state != LK_DEMAND_WAITING) {
        return;
    }
    while (self->held < self->count
           && self->member[self->held]->ticket.token != 0) {
        lk_demand_enter (proxy, self->member[self->held++], LK_DEMAND_HELD);
    }
    if (self->held < self->count) {
        ask_next (proxy, self, tries);
        return;
    }
    self->state = LK_SET_HELD;
    self->granted_ms = proxy->core->now_ms;
    self->sent =
        lk_registration_sent (proxy, (uint32_t) self->name[0], self->said);
    lk_set_until (proxy, self, self->duration_ms);
    lk_set_tell_locked (proxy, self);
    lk_jeopardy_look_at_set (proxy, self);
}

/*  What was told ahead of its turn. */
void
lk_set_forget_early (lk_set *self)
{
    for (size_t i = self->held; i < self->count; i++) {
        self->member[i]->ticket.token = 0;
    }
}

/*  protocol 9.12 */
void
lk_sets_new_decree (lk_proxy *proxy)
{
    for (lk_set *set = proxy->sets; set; set = set->hh.next) {
        if (set->state == LK_SET_WAITING) {
            lk_set_forget_early (set);
        }
    }
}
