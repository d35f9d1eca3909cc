/*  apps.c - the applications of this host
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "apps.h"

#include <string.h>

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
    lk_unsent_clear (&app->unsent);
    HASH_DELETE (by_address, self->by_address, app);
    HASH_DELETE (by_number, self->by_number, app);
    lk_free (app);
}

lk_name
lk_app_owner (const lk_app *self)
{
    return (lk_name) {self->address, (uint16_t) strlen (self->address)};
}
