/*  apps.h - the applications of this host
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The core calls an application by a number, and keeps what it asks for; its
 *  address is kept here, and the answers that the router did not take. A table
 *  and nothing else: it sends nothing.
 */

#ifndef LK_APPS_H
#define LK_APPS_H

#include "unsent.h"
#include "util/map.h"

#include <lockkeeper/message.h>

#define LK_APPS_MAX 20000 /* applications of one host */

typedef struct {
    char address[LK_ADDRESS_LEN_MAX + 1];
    uint32_t number;
    uint32_t pid;      /* as the router said; 0: it did not yet */
    bool asked;        /* the core knows it */
    uint32_t attached; /* in this attachment the router said it is there */
    lk_unsent *unsent; /* answers to send again */
    uint64_t forced;   /* serial of the last force that the history has */
    UT_hash_handle by_address;
    UT_hash_handle by_number;
} lk_app;

typedef struct {
    lk_app *by_address;
    lk_app *by_number;
    uint32_t last_number;
    size_t apps_max;
} lk_apps;

void lk_apps_init (lk_apps *self);
void lk_apps_clear (lk_apps *self);

/*  Its address, as its tickets show it; belongs to the application. */
lk_name lk_app_owner (const lk_app *self);

/*  NULL if it is not there. */
lk_app *lk_apps_find (const lk_apps *self, const char *address);
lk_app *lk_apps_by_number (const lk_apps *self, uint32_t number);

/*  Whether there are as many as there may be. */
bool lk_apps_are_full (const lk_apps *self);

/*  Finds or adds it; NULL at the limit of applications. */
lk_app *lk_apps_intern (lk_apps *self, const char *address);
void lk_apps_remove (lk_apps *self, lk_app *app);

#endif
