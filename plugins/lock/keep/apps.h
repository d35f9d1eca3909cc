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
#include "wire/role.h"

#include <lockkeeper/message.h>

typedef struct lk_app_payer lk_app_payer;
typedef struct lk_app_zone lk_app_zone;

#define LK_APPS_MAX 20000 /* applications of one host; on other machines */
#define LK_APPS_OF_KEY_MAX 10000 /* registrations of one other machine */
#define LK_APP_KEY_SIZE 41

#define LK_APP_USER_LEN_MAX 127 /* bytes of the name of a user */

/*  A person, as the router of the host has found out. */
typedef struct {
    char zone[LK_HOST_LEN_MAX + 1];     /* plain: "" is that by default */
    char user[LK_APP_USER_LEN_MAX + 1]; /* "": not known */
    lk_role role;
    int64_t until_s; /* its credential ends then, seconds since 1970; 0: none */
} lk_who;

/*  Of an application on another machine, in whose place it is for the core:
 *  protocol 9.20. */
typedef struct {
    lk_registered id;    /* drawn: 0 until the core has taken it */
    uint64_t serial;     /* of its LOCKREGISTER, */
    int64_t lease_sent;  /* that of its last LOCKLEASE, */
    uint64_t lease;      /* ... and the serial of that */
    lk_app_payer *payer; /* all of that key */
    lk_app_zone *zone;   /* all of that zone */
} lk_app_far;

/*  A process of this host, or a registration of one on another machine; or that
 *  one's session with the router, of which the core does not hear. */
typedef struct {
    char address[LK_ADDRESS_LEN_MAX + 1];
    uint32_t number;
    uint32_t pid;      /* as the router said; 0: it did not yet */
    bool asked;        /* the core knows it */
    uint32_t attached; /* in this attachment the router said it is there */
    lk_unsent *unsent; /* answers to send again */
    uint64_t forced;   /* serial of the last force that the history has */
    char key[LK_APP_KEY_SIZE]; /* on another machine: its connection's; "" */
    lk_app_far *far;           /* a registration; NULL */
    lk_who who;
    UT_hash_handle by_address;
    UT_hash_handle by_number;
    UT_hash_handle by_id;
    UT_hash_handle by_drawn;
} lk_app;

typedef struct {
    lk_app *by_address; /* but registrations, which are: */
    lk_app *by_id;      /* by owner and number, */
    lk_app *by_drawn;   /* and those that the core has */
    lk_app *by_number;
    lk_app_payer *payers;
    lk_app_zone *zones; /* those with registrations */
    size_t far_count;   /* sessions of other machines, in by_address */
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

/*  Whether there are as many as there may be like the one of that address. */
bool lk_apps_are_full (const lk_apps *self, const char *address);

/*  Finds or adds it; NULL at the limit of applications. */
lk_app *lk_apps_intern (lk_apps *self, const char *address);
void lk_apps_remove (lk_apps *self, lk_app *app);

/*  Finds or adds the registration with that owner and number, of that session;
 *  NULL: its machine has too many. */
lk_app *lk_apps_register (lk_apps *self, const lk_app *session,
                          const lk_registered *id);

/*  How many registrations there are; in that zone. */
size_t lk_apps_count_registered (const lk_apps *self);
size_t lk_apps_count_of_zone (const lk_apps *self, const char *zone);

/*  Whether the registration that LOCKREGISTER asks for is there already. */
bool lk_apps_has_registered (const lk_apps *self, const lk_registered *id);

/*  The core has taken it; has not, if that did not come. */
void lk_apps_ready (lk_apps *self, lk_app *app, uint64_t drawn);
void lk_apps_drop_unready (lk_apps *self, uint32_t number);

/*  The registration with these numbers, of that session's; NULL: there is none
 *  (any more). */
lk_app *lk_apps_registered (const lk_apps *self, const lk_app *session,
                            const lk_registered *id);

#endif
