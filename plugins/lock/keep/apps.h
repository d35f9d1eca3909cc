/*  apps.h - the applications of this host and what they have asked for
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The core calls an application by a number and a request by (number,
 *  serial); its addresses, names of objects and answers that the router did
 *  not take are kept here. A table and nothing else: it sends nothing.
 */

#ifndef LK_APPS_H
#define LK_APPS_H

#include "node.h"
#include "util/map.h"

#include <lockkeeper/message.h>

#define LK_APPS_MAX 20000          /* applications of one host */
#define LK_APP_REQUESTS_MAX 100000 /* requests of one application */

/*  An answer that the router did not take, with all that it points to. */
typedef struct lk_kept lk_kept;

/*  One of LOCKED, LOCKFAILED and so on, and behind it one LOCKJEOPARDY. */
#define LK_KEPT_SLOTS 2

/*  Until its last answer was sent. */
typedef struct {
    uint64_t serial;    /* its own; first for the map */
    lk_event_type asks; /* LK_ON_LOCK, _UNLOCK_BY_KEY, _FORCE, _CHECK */
    bool over;          /* its application was told that it is lost */
    bool is_set;        /* LOCK: asked for as a list, and told so */
    bool is_static;     /* LOCK */
    uint64_t unlock;    /* LOCK: serial of the UNLOCK that waits; 0 */
    uint64_t token;     /* CHECK, FORCE */
    int64_t asked_ms;   /* LOCK */
    int64_t granted_ms; /* LOCK: 0: it is not held */
    uint64_t granted;   /* LOCK: the token, of one lock */
    uint32_t pid;       /* LOCK */
    lk_name key;        /* the object's, with zone and context */
    lk_name object;     /* the object's name alone, a part of `key` */
    lk_name *rest;      /* LOCK: keys of the other locks of a set */
    size_t rest_count;
    lk_kept *kept[LK_KEPT_SLOTS]; /* have to be sent again, in this order */
    UT_hash_handle hh;
} lk_request;

typedef struct {
    char address[LK_ADDRESS_LEN_MAX + 1];
    uint32_t number;
    uint32_t pid;      /* as the router said; 0: it did not yet */
    bool asked;        /* the core knows it */
    uint32_t attached; /* in this attachment the router said it is there */
    size_t unsent;     /* answers to send again */
    uint64_t forced;   /* serial of the last force that the history has */
    lk_request *requests;
    UT_hash_handle by_address;
    UT_hash_handle by_number;
} lk_app;

typedef struct {
    lk_app *by_address;
    lk_app *by_number;
    uint32_t last_number;
    size_t apps_max;
    size_t requests_max;
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

lk_request *lk_app_find (const lk_app *self, uint64_t serial);

/*  Adds what is asked, with copies of its names (lk_object_key); NULL at the
 *  limit of requests. Its serial must not be in use. */
lk_request *lk_app_add (lk_apps *apps, lk_app *self, lk_event_type asks,
                        const lk_app_request *asked);
void lk_app_remove (lk_app *self, lk_request *request);

/*  Whether it is that which is asked, once more: the same of the same. */
bool lk_request_is (const lk_request *self, lk_event_type asks,
                    const lk_app_request *asked);

/*  Keeps an answer until lk_app_sent; a later one of its slot replaces it. */
void lk_app_keep (lk_app *self, lk_request *request, const lk_answer *answer);
void lk_app_sent (lk_app *self, lk_request *request, const lk_answer *answer);

/*  What is kept there, until then; NULL: nothing. */
const lk_answer *lk_request_kept (const lk_request *self, size_t slot);

#endif
