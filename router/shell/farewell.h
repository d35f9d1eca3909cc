/*  farewell.h - how a router ends
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Hosted services leave first, each in its own time. Then the router says good
 *  bye to its neighbours, and ends once they have heard it.
 */

#ifndef LK_FAREWELL_H
#define LK_FAREWELL_H

#include "hosted.h"
#include "manager.h"

typedef struct {
    lk_router *router;
    lk_hosting *hosting;
    lk_manager *manager;
    bool stopping;   /* once hosted services have left, */
    bool leaving;    /* the router does */
    int64_t stop_ms; /* the end, once the good bye is sent */
} lk_farewell;

/*  All are borrowed. */
void lk_farewell_init (lk_farewell *self, lk_router *router,
                       lk_hosting *hosting, lk_manager *manager);

/*  Begins to stop; the second time hosted services leave at once. */
void lk_farewell_begin (lk_farewell *self, const char *reason);

/*  Says good bye if it is time; true: so there is more to send. */
bool lk_farewell_leave (lk_farewell *self);

/*  Looks whether all have heard it. */
void lk_farewell_look (lk_farewell *self);

/*  Whether the end has come. */
bool lk_farewell_is_over (const lk_farewell *self);

#endif
