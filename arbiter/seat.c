/*  seat.c - see seat.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "seat.h"
#include "ballot.h"
#include "forward.h"
#include "gossip.h"
#include "neighbour.h"
#include "newcomers.h"
#include "undelivered.h"

#include "net/clock.h"
#include "net/log.h"
#include "net/random.h"
#include "util/alloc.h"
#include "util/assert.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

/*  A link whose host is silent for so long is over: the router's default. */
enum { DEAD_AFTER_MS = 1000 };

static lk_router *
timed (lk_seat *self)
{
    self->router.now_ms = lk_clock_ms ();
    self->router.now_s = (int64_t) time (NULL);
    return &self->router;
}

void
lk_seat_wake (lk_seat *self)
{
    if (!self->is_awake) {
        self->is_awake = true;
        DL_APPEND2 (*self->place->awake, self, prev_awake, next_awake);
    }
}

static void
sleep_again (lk_seat *self)
{
    if (self->is_awake) {
        self->is_awake = false;
        DL_DELETE2 (*self->place->awake, self, prev_awake, next_awake);
    }
}

static void
have_turn (void *user)
{
    lk_seat_wake (user);
}

static lk_router *
woken (lk_seat *self)
{
    lk_seat_wake (self);
    return timed (self);
}

/*  -------------------------------------------------------- asked for */

/*  It dials nobody, and its cluster cannot stop it. */
static void
open_link (void *shell, lk_mesh_link *link)
{
    (void) shell;
    LK_ASSERT (link->way == LK_WAY_BOTH && link->way != LK_WAY_BOTH);
}

static void
stop (void *shell)
{
    LK_ASSERT (shell == NULL);
}

/*  A connection that was opened to us ends when its host closes it. */
static void
close_link (void *shell, lk_mesh_link *link)
{
    (void) shell;
    (void) link;
}

static lk_err
watch (void *shell, lk_local *local)
{
    (void) shell;
    return local->out.side == LK_SIDE_HOSTED ? LK_OK : LK_UNKNOWN;
}

static void
unwatch (void *shell, lk_local *local)
{
    (void) shell;
    (void) local;
}

static bool
find_peer (void *shell, const lk_identity *identity, lk_peer_cred *peer)
{
    (void) shell;
    (void) identity;
    (void) peer;
    return false;
}

static size_t
find_groups (void *shell, const lk_peer_cred *peer, gid_t groups[LK_GROUPS_MAX])
{
    (void) shell;
    (void) peer;
    (void) groups;
    return 0;
}

/*  By the key that it came with, which the cluster may have withdrawn. */
static const char *
user_of (void *shell, const lk_identity *identity)
{
    lk_seat *self = shell;
    const char *text = lk_listener_user (self->place->listener, identity);
    const lk_curve_key *key =
        text != NULL ? lk_curve_ring_find (&self->router.keyring.ring, text)
                     : NULL;
    if (key == NULL) {
        return NULL;
    }
    lk_curve_key_user (key, self->user);
    return self->user;
}

static const char *
nobody (void *shell, const lk_identity *identity)
{
    (void) shell;
    (void) identity;
    return NULL;
}

static void
hang_up_caller (void *shell, lk_local *local)
{
    (void) shell;
    (void) local;
}

static void
pass_over (void *shell, const lk_identity *identity)
{
    (void) shell;
    (void) identity;
}

static void
met (void *shell, const lk_identity *identity)
{
    const lk_seat *self = shell;
    lk_newcomers_strike (lk_listener_fd (self->place->listener, identity));
}

static lk_err
save_keys (void *shell, lk_problem *problem)
{
    const lk_seat *self = shell;
    char path[PATH_MAX + sizeof "/keys"];
    snprintf (path, sizeof path, "%s/keys", self->folder);
    return lk_curve_ring_write (&self->router.keyring.ring, path, problem);
}

static bool
reach (void *shell, lk_hop *hop)
{
    const lk_seat *self = shell;
    return lk_flush_hop (&self->flusher, hop);
}

static const lk_router_calls calls = {
    .open = open_link,
    .close = close_link,
    .watch = watch,
    .unwatch = unwatch,
    .peer = find_peer,
    .groups = find_groups,
    .user = user_of,
    .client = nobody,
    .address = nobody,
    .hang_up = hang_up_caller,
    .cut = pass_over,
    .heard = pass_over,
    .met = met,
    .save_keys = save_keys,
    .reach = reach,
    .stop = stop,
    .reload = stop,
};

/*  -------------------------------------------------------- sending */

static lk_io
send_part (void *shell, lk_hop *hop, lk_part *part)
{
    lk_seat *self = shell;
    return hop->side == LK_SIDE_HOSTED
               ? lk_hosting_give (&self->hosting, hop, part)
               : lk_listener_send (self->place->listener, &hop->identity, part);
}

static void
hang_up (void *shell, const lk_hop *hop)
{
    lk_seat *self = shell;
    if (hop->side == LK_SIDE_HOSTED) {
        lk_hosting_cut (&self->hosting, hop);
    }
}

static void
drain (void *shell)
{
    const lk_seat *self = shell;
    lk_listener_drain (self->place->listener);
}

void
lk_seat_flush (lk_seat *self)
{
    (void) timed (self);
    do {
        lk_flush_all (&self->flusher);
    } while (lk_hosting_turn (&self->hosting));
    lk_timer_set (&self->timer, lk_router_deadline (&self->router));
    if (self->router.hops.first == NULL) {
        sleep_again (self);
    }
}

static void
timer_due (void *user)
{
    lk_seat *self = user;
    lk_neighbour_work (woken (self));
    lk_gossip_work (&self->router);
    lk_undelivered_work (&self->router);
}

/*  -------------------------------------------------------- receiving */

/*  The first, and then one in a thousand: it is a flood. */
static void
drop (lk_seat *self)
{
    if (self->dropped++ % 1000 == 0) {
        lk_log_warning ("arbiter: more than a cluster may say is dropped "
                        "cluster=%s frames=%llu",
                        self->cluster, (unsigned long long) self->dropped);
    }
}

void
lk_seat_take (lk_seat *self, const lk_identity *from, lk_part *frame)
{
    lk_router *router = woken (self);
    if (lk_ration_spend (&self->ration, lk_part_size (frame), router->now_ms)) {
        lk_forward_frame (router, LK_SIDE_MESH, from, frame);
    } else {
        drop (self);
    }
}

void
lk_seat_take_broken (lk_seat *self, const lk_identity *from)
{
    lk_router *router = woken (self);
    if (lk_ration_spend (&self->ration, 0, router->now_ms)) {
        lk_forward_broken (router, LK_SIDE_MESH, from, "not one frame");
    } else {
        drop (self);
    }
}

void
lk_seat_look (lk_seat *self)
{
    const lk_mesh *mesh = &self->router.mesh;
    for (size_t i = 0; i < mesh->count; i++) {
        const lk_identity met_by = mesh->link[i]->met_by;
        if (mesh->link[i]->met
            && !lk_listener_is_there (self->place->listener, &met_by)) {
            lk_neighbour_left (woken (self), &met_by);
        }
    }
}

/*  -------------------------------------------------------- life */

static lk_err
read_keys (lk_seat *self, lk_problem *problem)
{
    lk_keyring *keyring = &self->router.keyring;
    lk_curve_ring *ring = lk_alloc (sizeof *ring);
    char path[PATH_MAX + sizeof "/keys"];
    snprintf (path, sizeof path, "%s/keys", self->folder);
    const lk_err error = lk_curve_ring_read_others (ring, path, problem);
    if (error == LK_OK) {
        keyring->security = LK_SECURITY_CURVE;
        lk_keyring_resume (keyring, ring, self->router.now_ms);
    }
    lk_free (ring);
    return error;
}

lk_seat *
lk_seat_new (const lk_seat_place *place, const char *cluster,
             lk_problem *problem)
{
    lk_seat *self = lk_alloc (sizeof *self);
    const lk_router_identity identity = {.host = place->host,
                                         .address = place->address,
                                         .incarnation = lk_random_id (),
                                         .dead_after_ms = DEAD_AFTER_MS,
                                         .user = geteuid ()};
    self->place = place;
    snprintf (self->cluster, sizeof self->cluster, "%s", cluster);
    snprintf (self->folder, sizeof self->folder, "%s/%s", place->state,
              cluster);
    lk_router_init (&self->router, &identity, &calls, self);
    lk_router_only_accept (timed (self));
    self->flusher = (lk_flusher) {.router = &self->router,
                                  .give = send_part,
                                  .hang_up = hang_up,
                                  .drain = drain,
                                  .shell = self};
    lk_ration_init (&self->ration, self->router.now_ms);
    lk_hosting_init (&self->hosting, &self->router, place->loop);
    self->hosting.woken = have_turn;
    self->hosting.user = self;
    lk_timer_init (&self->timer, place->loop, timer_due, self);
    if (read_keys (self, problem) != LK_OK) {
        lk_seat_destroy (&self);
    }
    return self;
}

void
lk_seat_destroy (lk_seat **self_p)
{
    lk_seat *self = *self_p;
    if (self != NULL) {
        lk_hosting_clear (&self->hosting);
        lk_router_clear (&self->router);
        lk_timer_clear (&self->timer);
        sleep_again (self);
        lk_free (self);
    }
    *self_p = NULL;
}

void
lk_seat_begin (lk_seat *self)
{
    self->hosting.config = self->folder;
    lk_hosting_add (&self->hosting, self->cluster, &lk_ballot);
    lk_hosting_begin (&self->hosting);
    lk_seat_wake (self);
}

void
lk_seat_keep (lk_seat *self)
{
    lk_problem problem;
    if (save_keys (self, &problem) != LK_OK) {
        lk_log_error ("keys: not kept over a restart: %s", problem.text);
    }
    self->router.keyring.is_old = false;
    self->router.keyring.must_cut = false;
}

void
lk_seat_leave (lk_seat *self, const char *reason)
{
    lk_hosting_leave (&self->hosting, reason);
    lk_seat_wake (self);
}

bool
lk_seat_runs (const lk_seat *self)
{
    return lk_hosting_runs (&self->hosting);
}

void
lk_seat_say_good_bye (lk_seat *self)
{
    lk_neighbour_leave (woken (self));
    lk_flush_all (&self->flusher);
}
