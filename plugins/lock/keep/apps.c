/*  apps.c - the applications of this host and what they have asked for
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "apps.h"

#include "wire/object_key.h"

#include <string.h>

void
lk_apps_init (lk_apps *self)
{
    *self = (lk_apps) {.apps_max = LK_APPS_MAX,
                       .requests_max = LK_APP_REQUESTS_MAX};
}

void
lk_apps_clear (lk_apps *self)
{
    while (self->by_number) {
        lk_apps_remove (self, self->by_number);
    }
}

lk_app *
lk_apps_find (const lk_apps *self, const char *address)
{
    lk_app *app = NULL;
    HASH_FIND (by_address, self->by_address, address, strlen (address), app);
    return app;
}

lk_app *
lk_apps_by_number (const lk_apps *self, uint32_t number)
{
    lk_app *app = NULL;
    HASH_FIND (by_number, self->by_number, &number, sizeof number, app);
    return app;
}

/*  Numbers are not used again while the core may still speak of the one
 *  before. */
static uint32_t
free_number (lk_apps *self)
{
    do {
        self->last_number++;
    } while (self->last_number == 0
             || lk_apps_by_number (self, self->last_number));
    return self->last_number;
}

bool
lk_apps_are_full (const lk_apps *self)
{
    return HASH_CNT (by_number, self->by_number) >= self->apps_max;
}

lk_app *
lk_apps_intern (lk_apps *self, const char *address)
{
    lk_app *app = lk_apps_find (self, address);
    if (app) {
        return app;
    }
    if (lk_apps_are_full (self)) {
        return NULL;
    }
    size_t size = strlen (address);
    LK_ASSERT (size <= LK_ADDRESS_LEN_MAX);
    app = lk_alloc (sizeof *app);
    memcpy (app->address, address, size + 1);
    app->number = free_number (self);
    HASH_ADD_KEYPTR (by_address, self->by_address, app->address, size, app);
    HASH_ADD (by_number, self->by_number, number, sizeof app->number, app);
    return app;
}

void
lk_apps_remove (lk_apps *self, lk_app *app)
{
    while (app->requests) {
        lk_app_remove (app, app->requests);
    }
    HASH_DELETE (by_address, self->by_address, app);
    HASH_DELETE (by_number, self->by_number, app);
    lk_free (app);
}

lk_name
lk_app_owner (const lk_app *self)
{
    return (lk_name) {self->address, (uint16_t) strlen (self->address)};
}

lk_request *
lk_app_find (const lk_app *self, uint64_t serial)
{
    lk_request *request = NULL;
    HASH_FIND (hh, self->requests, &serial, sizeof serial, request);
    return request;
}

/*  -------------------------------------------------------- requests */

static lk_name
copy_name (lk_name name)
{
    return (lk_name) {lk_memdup (name.data, name.size), name.size};
}

lk_request *
lk_app_add (lk_apps *apps, lk_app *self, lk_event_type asks,
            const lk_app_request *asked)
{
    lk_name zone, context;
    LK_ASSERT (!lk_app_find (self, asked->serial));
    if (HASH_COUNT (self->requests) >= apps->requests_max) {
        return NULL;
    }
    lk_request *request = lk_alloc (sizeof *request);
    request->serial = asked->serial;
    request->asks = asks;
    request->is_static = asked->mode.is_static;
    request->token = asked->token;
    request->pid = asked->pid;
    request->key = copy_name (asked->object);
    bool whole =
        lk_object_parts (request->key, &zone, &context, &request->object);
    LK_ASSERT (whole);
    if (asked->rest_count > 0) {
        request->rest = lk_alloc (asked->rest_count * sizeof (lk_name));
        request->rest_count = asked->rest_count;
    }
    for (size_t i = 0; i < asked->rest_count; i++) {
        request->rest[i] = copy_name (asked->rest[i]);
    }
    HASH_ADD (hh, self->requests, serial, sizeof request->serial, request);
    return request;
}

static void
free_name (lk_name name)
{
    lk_free ((char *) name.data);
}

void
lk_app_remove (lk_app *self, lk_request *request)
{
    for (size_t slot = 0; slot < LK_KEPT_SLOTS; slot++) {
        self->unsent -= request->kept[slot] != NULL;
        lk_free (request->kept[slot]);
    }
    HASH_DEL (self->requests, request);
    for (size_t i = 0; i < request->rest_count; i++) {
        free_name (request->rest[i]);
    }
    lk_free (request->rest);
    free_name (request->key);
    lk_free (request);
}

static bool
same_name (lk_name one, lk_name other)
{
    return one.size == other.size
           && memcmp (one.data, other.data, one.size) == 0;
}

bool
lk_request_is (const lk_request *self, lk_event_type asks,
               const lk_app_request *asked)
{
    bool same = self->asks == asks
                && (asks == LK_ON_LOCK || self->token == asked->token)
                && self->rest_count == asked->rest_count
                && same_name (self->key, asked->object);
    for (size_t i = 0; same && i < asked->rest_count; i++) {
        same = same_name (self->rest[i], asked->rest[i]);
    }
    return same;
}

/*  -------------------------------------------------------- answers */

struct lk_kept {
    lk_answer answer;
    lk_granted set[];
};

static char *
move_name (lk_name *name, char *room)
{
    if (name->size > 0) {
        memcpy (room, name->data, name->size);
    }
    name->data = room;
    return room + name->size;
}

/*  Names stand behind the rows. */
static lk_kept *
copy_answer (const lk_answer *answer)
{
    size_t size = answer->reason.size;
    for (size_t i = 0; i < answer->set_count; i++) {
        size += sizeof (lk_granted) + answer->set[i].object.size;
    }
    lk_kept *kept = lk_alloc (sizeof *kept + size);
    char *room = (char *) (kept->set + answer->set_count);
    kept->answer = *answer;
    room = move_name (&kept->answer.reason, room);
    for (size_t i = 0; i < answer->set_count; i++) {
        kept->set[i] = answer->set[i];
        room = move_name (&kept->set[i].object, room);
    }
    kept->answer.set = answer->set_count > 0 ? kept->set : NULL;
    return kept;
}

static lk_kept **
slot_of (lk_request *request, const lk_answer *answer)
{
    return &request->kept[answer->kind == LK_ANSWER_JEOPARDY];
}

void
lk_app_keep (lk_app *self, lk_request *request, const lk_answer *answer)
{
    lk_kept **slot = slot_of (request, answer);
    lk_kept *kept = copy_answer (answer); /* of this very slot, maybe */
    self->unsent += *slot == NULL;
    lk_free (*slot);
    *slot = kept;
}

void
lk_app_sent (lk_app *self, lk_request *request, const lk_answer *answer)
{
    lk_kept **slot = slot_of (request, answer);
    self->unsent -= *slot != NULL;
    lk_free (*slot);
    *slot = NULL;
}

const lk_answer *
lk_request_kept (const lk_request *self, size_t slot)
{
    return self->kept[slot] ? &self->kept[slot]->answer : NULL;
}
