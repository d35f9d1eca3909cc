/*  seat.h - the arbiter's seat in one cluster
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A router that only accepts (router/logic/router.h) and in it, by a pipe, a
 *  lock service that votes and holds nothing: the very code of a host. Each
 *  seat has a folder of its own: `keys`, those of the cluster's hosts; the
 *  state of the vote; `lockkeeper.conf`, if its times are not the usual ones.
 */

#ifndef LK_SEAT_H
#define LK_SEAT_H

#include "flush.h"
#include "hosted.h"
#include "ration.h"
#include "router.h"

#include "net/listener.h"
#include "net/loop.h"

#include <limits.h>

typedef struct lk_seat lk_seat;

/*  Shared by all seats. */
typedef struct {
    const char *host;    /* the arbiter's name */
    const char *address; /* where it is dialled */
    const char *state;   /* the folder of folders */
    lk_loop *loop;
    lk_listener *listener;
    lk_seat **awake; /* those that something has happened to: lk_seat_flush */
} lk_seat_place;

struct lk_seat {
    char cluster[LK_HOST_LEN_MAX + 1]; /* the name of its folder */
    char folder[PATH_MAX];
    const lk_seat_place *place;
    lk_router router;
    lk_hosting hosting;
    lk_flusher flusher;
    lk_timer timer;
    char user[LK_CURVE_USER_SIZE]; /* as whom somebody came, for a moment */
    lk_ration ration;
    uint64_t dropped; /* frames above what it is allowed */
    bool is_kept;     /* its folder is still there */
    lk_seat *prev, *next;
    bool is_awake;
    lk_seat *prev_awake, *next_awake;
};

/*  Reads its keys; NULL and problem. */
lk_seat *lk_seat_new (const lk_seat_place *place, const char *cluster,
                      lk_problem *problem);
void lk_seat_destroy (lk_seat **self_p);

/*  Begins to vote. */
void lk_seat_begin (lk_seat *self);

/*  Takes a frame of one of its hosts. */
void lk_seat_take (lk_seat *self, const lk_identity *from, lk_part *frame);
void lk_seat_take_broken (lk_seat *self, const lk_identity *from);

/*  Looks which of its hosts' connections are over. */
void lk_seat_look (lk_seat *self);

/*  It has something to do at the end of this wake-up. */
void lk_seat_wake (lk_seat *self);

/*  Does it: its service has its turn, and what waits is sent. It sleeps then,
 *  unless a host does not keep up. */
void lk_seat_flush (lk_seat *self);

/*  Writes its keys if they have changed. */
void lk_seat_keep (lk_seat *self);

/*  Its vote ends: it still runs; and its hosts are told. */
void lk_seat_leave (lk_seat *self, const char *reason);
bool lk_seat_runs (const lk_seat *self);
void lk_seat_say_good_bye (lk_seat *self);

#endif
