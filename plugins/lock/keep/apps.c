/*  apps.c - the applications of this host
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "apps.h"

#include "util/alloc.h"
#include "wire/address.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/*  How many registrations that machine has. */
struct lk_app_payer {
    char key[LK_APP_KEY_SIZE];
    size_t count;
    UT_hash_handle hh;
};

/*  ... that zone. */
struct lk_app_zone {
    char name[LK_HOST_LEN_MAX + 1];
    size_t count;
    UT_hash_handle hh;
};

void
lk_apps_init (lk_apps *self)
{
    *self = (lk_apps) {.apps_max = LK_APPS_MAX};
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

static bool
is_far (const char *address)
{
    return lk_address_is_far (lk_slice_of (address));
}

bool
lk_apps_are_full (const lk_apps *self, const char *address)
{
    const size_t all = HASH_CNT (by_address, self->by_address);
    return (is_far (address) ? self->far_count : all - self->far_count)
           >= self->apps_max;
}

static lk_app *
add (lk_apps *self, const char *address)
{
    lk_app *app = lk_alloc (sizeof *app);
    snprintf (app->address, sizeof app->address, "%s", address);
    app->number = free_number (self);
    app->who.role = LK_ROLE_ADMIN;
    HASH_ADD (by_number, self->by_number, number, sizeof app->number, app);
    return app;
}

lk_app *
lk_apps_intern (lk_apps *self, const char *address)
{
    lk_app *app = lk_apps_find (self, address);
    if (app) {
        return app;
    }
    if (lk_apps_are_full (self, address)) {
        return NULL;
    }
    app = add (self, address);
    HASH_ADD_KEYPTR (by_address, self->by_address, app->address,
                     strlen (app->address), app);
    self->far_count += is_far (address);
    return app;
}

/*  -------------------------------------------------------- registrations */

static lk_app_payer *
find_payer (lk_apps *self, const char *key)
{
    lk_app_payer *payer = NULL;
    HASH_FIND_STR (self->payers, key, payer);
    if (!payer) {
        payer = lk_alloc (sizeof *payer);
        snprintf (payer->key, sizeof payer->key, "%s", key);
        HASH_ADD_STR (self->payers, key, payer);
    }
    return payer;
}

static void
forget_payer (lk_apps *self, lk_app_payer *payer)
{
    if (payer->count == 0) {
        HASH_DEL (self->payers, payer);
        lk_free (payer);
    }
}

static lk_app_zone *
find_zone (const lk_apps *self, const char *name)
{
    lk_app_zone *zone = NULL;
    HASH_FIND_STR (self->zones, name, zone);
    return zone;
}

static lk_app_zone *
join_zone (lk_apps *self, const char *name)
{
    lk_app_zone *zone = find_zone (self, name);
    if (!zone) {
        zone = lk_alloc (sizeof *zone);
        snprintf (zone->name, sizeof zone->name, "%s", name);
        HASH_ADD_STR (self->zones, name, zone);
    }
    zone->count++;
    return zone;
}

static void
leave_zone (lk_apps *self, lk_app_zone *zone)
{
    zone->count--;
    if (zone->count == 0) {
        HASH_DEL (self->zones, zone);
        lk_free (zone);
    }
}

static void
forget_far (lk_apps *self, lk_app *app)
{
    lk_app_far *far = app->far;
    HASH_DELETE (by_id, self->by_id, app);
    if (far->id.drawn != 0) {
        HASH_DELETE (by_drawn, self->by_drawn, app);
    }
    far->payer->count--;
    forget_payer (self, far->payer);
    leave_zone (self, far->zone);
    lk_free (far);
}

/*  Owner and number are one key. */
enum { ID_SIZE = offsetof (lk_registered, drawn) };

_Static_assert(ID_SIZE == 3 * sizeof (uint64_t)
                   && offsetof (lk_registered, owner) == 0,
               "a registration is found by what is ahead of `drawn`");

static lk_app *
find_id (const lk_apps *self, const lk_registered *id)
{
    lk_app *app = NULL;
    HASH_FIND (by_id, self->by_id, id, ID_SIZE, app);
    return app;
}

bool
lk_apps_has_registered (const lk_apps *self, const lk_registered *id)
{
    return find_id (self, id) != NULL;
}

/*  Its owner is told by a secret, its key and its zone: it may have another
 *  name now. */
lk_app *
lk_apps_register (lk_apps *self, const lk_app *session, const lk_registered *id)
{
    lk_app *app = find_id (self, id);
    if (app) {
        snprintf (app->address, sizeof app->address, "%s", session->address);
        app->pid = session->pid;
        app->who = session->who;
        return app;
    }
    lk_app_payer *payer = find_payer (self, session->key);
    if (payer->count >= LK_APPS_OF_KEY_MAX) {
        return NULL;
    }
    payer->count++;
    app = add (self, session->address);
    app->pid = session->pid;
    snprintf (app->key, sizeof app->key, "%s", session->key);
    app->far = lk_alloc (sizeof *app->far);
    app->who = session->who;
    *app->far = (lk_app_far) {
        .id = *id, .payer = payer, .zone = join_zone (self, app->who.zone)};
    HASH_ADD_KEYPTR (by_id, self->by_id, &app->far->id, ID_SIZE, app);
    return app;
}

size_t
lk_apps_count_registered (const lk_apps *self)
{
    return HASH_CNT (by_id, self->by_id);
}

size_t
lk_apps_count_of_zone (const lk_apps *self, const char *zone)
{
    const lk_app_zone *it = find_zone (self, zone);
    return it ? it->count : 0;
}

void
lk_apps_ready (lk_apps *self, lk_app *app, uint64_t drawn)
{
    if (app->far->id.drawn == 0) {
        app->far->id.drawn = drawn;
        HASH_ADD_KEYPTR (by_drawn, self->by_drawn, &app->far->id.drawn,
                         sizeof drawn, app);
    }
}

void
lk_apps_drop_unready (lk_apps *self, uint32_t number)
{
    lk_app *app = lk_apps_by_number (self, number);
    if (app && app->far && app->far->id.drawn == 0) {
        lk_apps_remove (self, app);
    }
}

lk_app *
lk_apps_registered (const lk_apps *self, const lk_app *session,
                    const lk_registered *id)
{
    lk_app *app = NULL;
    HASH_FIND (by_drawn, self->by_drawn, &id->drawn, sizeof id->drawn, app);
    return app && app->far->id.number == id->number
                   && strcmp (app->key, session->key) == 0
                   && strcmp (app->address, session->address) == 0
                   && strcmp (app->who.zone, session->who.zone) == 0
               ? app
               : NULL;
}

/*  -------------------------------------------------------- the end */

void
lk_apps_remove (lk_apps *self, lk_app *app)
{
    lk_unsent_clear (&app->unsent);
    if (app->far) {
        forget_far (self, app);
    } else {
        HASH_DELETE (by_address, self->by_address, app);
        self->far_count -= is_far (app->address);
    }
    HASH_DELETE (by_number, self->by_number, app);
    lk_free (app);
}

lk_name
lk_app_owner (const lk_app *self)
{
    return (lk_name) {self->address, (uint16_t) strlen (self->address)};
}
