/*  hosted.h - services in the router's own process and loop
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  To the router each is one more session: it registers, subscribes and is
 *  forwarded to, but its hop is a pipe (net/pipe.h) and not a connection. It
 *  is called at the end of a wake-up only, when the router has done its part.
 */

#ifndef LK_HOSTED_H
#define LK_HOSTED_H

#include "router.h"

#include "net/loop.h"

#include <lockkeeper/plugin.h>

typedef struct lk_hosted lk_hosted;

typedef struct {
    lk_router *router;
    lk_loop *loop;
    const char *config; /* the file of the settings, NULL: by default */
    lk_hosted *first;
    bool leaving;
    lk_loop_fn *woken; /* one of them has work for lk_hosting_turn; NULL: that
                          comes in each wake-up */
    void *user;
} lk_hosting;

/*  Hosts nothing yet. */
void lk_hosting_init (lk_hosting *self, lk_router *router, lk_loop *loop);

/*  Ends at once what still runs, and unloads all. */
void lk_hosting_clear (lk_hosting *self);

/*  Loads those plug-ins (NULL at the end) and has them read their settings.
 *  LK_INVALID and problem. */
lk_err lk_hosting_load (lk_hosting *self, const char *const *names,
                        const char *dir, const char *config,
                        lk_problem *problem)
    __attribute__ ((warn_unused_result));

/*  The same of one that this program has; its `create` gets `config`. */
void lk_hosting_add (lk_hosting *self, const char *name,
                     const lk_plugin *plugin);

/*  The callbacks' argument of that one; NULL: it does not run. */
const void *lk_hosting_service (const lk_hosting *self, const char *name);

/*  Begins those that do not run: at the start, and again those that ended. One
 *  that cannot is told in the log. */
void lk_hosting_begin (lk_hosting *self);

/*  Those that run read their files again. */
void lk_hosting_reload (lk_hosting *self);

/*  Takes a frame for the service behind that hop; it is empty then. LK_IO_WAIT:
 *  that one does not keep up, and nothing was taken. */
lk_io lk_hosting_give (lk_hosting *self, const lk_hop *hop, lk_part *frame);

/*  The service behind that hop does not keep up: what it was given is dropped,
 *  and it is to come anew, as one whose router was away. */
void lk_hosting_cut (lk_hosting *self, const lk_hop *hop);

/*  Each service reads what it was given, and what they sent is forwarded.
 *  False: nothing happened. */
bool lk_hosting_turn (lk_hosting *self);

/*  All are to leave; the second time: at once. */
void lk_hosting_leave (lk_hosting *self, const char *reason);

/*  Whether any of them runs. */
bool lk_hosting_runs (const lk_hosting *self);

#endif
