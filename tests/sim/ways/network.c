/*  network.c - connections of TCP between the hosts
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Frames arrive in order, or not at all: those that a cut keeps back come once
 *  that is over, however late, unless the connection ended. Without
 *  acknowledgements a little still comes, and then nothing.
 */

#include "ways.h"

#include "neighbour.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "wire/frame.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define WINDOW_SIZE (256 * 1024) /* on its way, then one has to wait */
#define UNANSWERED_SIZE (14 * 1024)
#define DIAL_MS 2000

typedef enum {
    FRAME,
    DIAL,    /* a connection is asked for */
    UP,      /* and taken */
    REFUSED, /* or not */
    END      /* the sender's end is closed, or the connection is of no use */
} kind;

struct packet {
    kind kind;
    int64_t due_us;
    lk_part part;
    packet *next, *prev;
};

/*  -------------------------------------------------------- packets */

static void
drop_packet (direction *way, packet *one)
{
    way->size -= lk_part_size (&one->part);
    DL_DELETE (way->first, one);
    lk_part_clear (&one->part);
    lk_free (one);
}

static void
drop_all (direction *way)
{
    while (way->first != NULL) {
        drop_packet (way, way->first);
    }
}

/*  Frames that the kernel did not have yet are lost with their process. */
static void
drop_some (world *self, direction *way)
{
    while (way->first != NULL && way->first->prev->kind == FRAME
           && world_chance (self, 70)) {
        drop_packet (way, way->first->prev);
    }
}

/*  `part` is moved; NULL: it has none. */
static void
add_packet (world *self, connection *one, int side, kind what, lk_part *part)
{
    direction *way = &one->way[side];
    packet *new = lk_alloc (sizeof *new);
    const int64_t late_us = world_chance (self, 5)
                                ? world_draw_ms (self, 0, 20)
                                : lk_rng_between (&self->rng, 40, 400);
    new->kind = what;
    new->due_us = self->now_us + late_us;
    if (new->due_us < way->last_due_us) {
        new->due_us = way->last_due_us;
    }
    way->last_due_us = new->due_us;
    lk_part_init (&new->part);
    if (part != NULL) {
        lk_part_move (&new->part, part);
    }
    way->size += lk_part_size (&new->part);
    DL_APPEND (way->first, new);
}

/*  -------------------------------------------------------- connections */

static void
set_identity (lk_identity *identity, const connection *one, int side)
{
    char text[32];
    snprintf (text, sizeof text, "%s%u", side == 0 ? "dialled" : "taken",
              one->number);
    lk_identity_set (identity, text, strlen (text));
}

static bool
is_of (const connection *one, int side, const host *here)
{
    return one->end[side] == here && one->boot[side] == here->boot
           && here->is_up;
}

/*  NULL: there is none, or it is over for that end. */
static connection *
find (host *here, const lk_identity *identity, int *side)
{
    connection *one;
    DL_FOREACH (here->world->connections, one) {
        for (*side = 0; *side < 2; ++*side) {
            lk_identity name;
            set_identity (&name, one, *side);
            if (lk_identity_equal (&name, identity) && is_of (one, *side, here)
                && !one->is_over[*side]) {
                return one;
            }
        }
    }
    return NULL;
}

void
network_dial (host *from, const char *address, lk_identity *identity)
{
    world *self = from->world;
    connection *one = lk_alloc (sizeof *one);
    one->number = ++self->connection_count;
    one->end[0] = from;
    one->boot[0] = from->boot;
    for (int i = 0; i < self->count; i++) {
        if (strcmp (self->host[i].address, address) == 0) {
            one->end[1] = &self->host[i];
        }
    }
    LK_ASSERT (one->end[1] != NULL);
    one->dialled_us = self->now_us;
    one->is_over[1] = true; /* until it is taken */
    DL_APPEND (self->connections, one);
    set_identity (identity, one, 0);
    add_packet (self, one, 0, DIAL, NULL);
}

void
network_close (host *from, const lk_identity *identity)
{
    int side;
    connection *one = find (from, identity, &side);
    if (one != NULL) {
        one->is_over[side] = true;
        if (from->world->cut[from->index][one->end[1 - side]->index]) {
            drop_some (from->world, &one->way[side]);
        }
        add_packet (from->world, one, side, END, NULL);
    }
}

lk_io
network_send (host *from, const lk_identity *identity, lk_part *part)
{
    int side;
    connection *one = find (from, identity, &side);
    if (one == NULL) {
        return LK_IO_UNREACHABLE;
    }
    direction *way = &one->way[side];
    if (!one->is_up
        || (way->size > 0 && way->size + lk_part_size (part) > WINDOW_SIZE)) {
        return LK_IO_WAIT;
    }
    add_packet (from->world, one, side, FRAME, part);
    lk_part_init (part);
    return LK_IO_DONE;
}

host *
network_other_end (host *here, const lk_identity *identity)
{
    int side;
    const connection *one = find (here, identity, &side);
    return one != NULL ? one->end[1 - side] : NULL;
}

/*  -------------------------------------------------------- arriving */

static void
tell_over (connection *one, int side, const char *why)
{
    host *at = one->end[side];
    const bool was_up = one->is_up;
    lk_identity identity;
    if (one->is_over[side] || !is_of (one, side, at)) {
        return;
    }
    one->is_over[side] = true;
    set_identity (&identity, one, side);
    if (side == 0) {
        lk_problem problem = {.number = LK_SYSTEM};
        snprintf (problem.text, sizeof problem.text, "%s", why);
        lk_neighbour_disconnected (host_now (at), &identity,
                                   was_up ? NULL : &problem);
    } else {
        lk_neighbour_left (host_now (at), &identity);
    }
    host_flush (at);
}

/*  The process that it was for is not there any more. */
static void
answer_reset (world *self, connection *one, int side)
{
    if (!one->is_over[side]) {
        add_packet (self, one, 1 - side, END, NULL);
    }
}

static void
take_dial (world *self, connection *one)
{
    host *at = one->end[1];
    if (at->is_up) {
        one->boot[1] = at->boot;
        one->is_over[1] = false;
        add_packet (self, one, 1, UP, NULL);
    } else {
        add_packet (self, one, 1, REFUSED, NULL);
    }
}

static void
take_up (connection *one)
{
    host *at = one->end[0];
    lk_identity identity;
    if (is_of (one, 0, at) && !one->is_over[0]) {
        one->is_up = true;
        set_identity (&identity, one, 0);
        lk_neighbour_connected (host_now (at), &identity);
        host_flush (at);
    }
}

/*  For --frames: what is in it. */
static void
trace_frame (world *self, const connection *one, int side, lk_part *part)
{
    lk_frame_header header;
    const char *problem;
    size_t at = 0;
    while (self->shows_frames
           && lk_frame_next (lk_part_data (part), lk_part_size (part), &at,
                             &header, &problem)
                  == LK_FRAME_MESSAGE) {
        const bool is_said = lk_slice_is (header.command, "SAY");
        const lk_slice body = is_said || header.body_kind != LK_BODY_JSON
                                  ? (lk_slice) {"", 0}
                                  : header.body;
        world_trace (self, "%s > %s (%u): %.*s %llu %.*s", one->end[side]->name,
                     one->end[1 - side]->name, one->number,
                     (int) header.command.size, header.command.data,
                     (unsigned long long) (header.serial & 0xffffffffffffu),
                     (int) body.size, body.data);
    }
}

static void
take_frame (world *self, connection *one, int side, lk_part *part)
{
    host *at = one->end[1 - side];
    lk_identity identity;
    trace_frame (self, one, side, part);
    if (!is_of (one, 1 - side, at)) {
        answer_reset (self, one, side);
    } else if (!one->is_over[1 - side]) {
        set_identity (&identity, one, 1 - side);
        host_frame (at, LK_SIDE_MESH, &identity, lk_part_data (part),
                    lk_part_size (part));
    }
}

/*  The first packet of that direction comes to its end. */
static void
take (world *self, connection *one, int side)
{
    direction *way = &one->way[side];
    packet *first = way->first;
    const kind what = first->kind;
    const bool was_full = way->size > WINDOW_SIZE / 2;
    lk_part part;
    lk_part_init (&part);
    way->size -= lk_part_size (&first->part);
    lk_part_move (&part, &first->part);
    drop_packet (way, first);
    switch (what) {
    case FRAME:
        take_frame (self, one, side, &part);
        break;
    case DIAL:
        take_dial (self, one);
        break;
    case UP:
        take_up (one);
        break;
    case REFUSED:
        tell_over (one, 0, "nobody takes it");
        break;
    case END:
        tell_over (one, 1 - side, "it was closed");
        break;
    }
    lk_part_clear (&part);
    if (was_full && host_is_awake (one->end[side])) {
        host_flush (one->end[side]);
    }
}

/*  Whether that packet can come through now, if it is due. */
static bool
passes (const world *self, const connection *one, int side)
{
    const direction *way = &one->way[side];
    const host *from = one->end[side], *to = one->end[1 - side];
    if (self->cut[from->index][to->index] || to->is_off
        || (to->is_up && !host_is_awake (to))) {
        return false;
    }
    return !self->cut[to->index][from->index]
           || way->unanswered + lk_part_size (&way->first->part)
                  <= UNANSWERED_SIZE;
}

static void
count_unanswered (const world *self, connection *one, int side)
{
    direction *way = &one->way[side];
    if (self->cut[one->end[1 - side]->index][one->end[side]->index]) {
        way->unanswered += lk_part_size (&way->first->part);
    } else {
        way->unanswered = 0;
    }
}

static bool
is_due (const world *self, const connection *one, int side)
{
    const direction *way = &one->way[side];
    return way->first != NULL && way->first->due_us <= self->now_us
           && passes (self, one, side);
}

/*  Nobody has an end of it any more, or is to hear something. */
static bool
is_done (const connection *one)
{
    const bool first = one->is_over[0] || !is_of (one, 0, one->end[0]);
    const bool second = one->is_over[1] || !is_of (one, 1, one->end[1]);
    return first && second && one->way[0].first == NULL
           && one->way[1].first == NULL;
}

static void
drop (world *self, connection *one)
{
    drop_all (&one->way[0]);
    drop_all (&one->way[1]);
    DL_DELETE (self->connections, one);
    lk_free (one);
}

static bool
is_dial_late (const world *self, const connection *one)
{
    return !one->is_up && !one->is_over[0] && is_of (one, 0, one->end[0])
           && host_is_awake (one->end[0])
           && self->now_us >= one->dialled_us + DIAL_MS * MS;
}

void
network_deliver (world *self)
{
    connection *one, *next;
    DL_FOREACH_SAFE (self->connections, one, next) {
        for (int side = 0; side < 2; side++) {
            while (is_due (self, one, side)) {
                count_unanswered (self, one, side);
                take (self, one, side);
            }
        }
        if (is_dial_late (self, one)) {
            drop_all (&one->way[0]);
            add_packet (self, one, 0, END, NULL);
            tell_over (one, 0, "no answer");
        }
        next = one->next;
        if (is_done (one)) {
            drop (self, one);
        }
    }
}

int64_t
network_deadline (const world *self)
{
    int64_t next_us = INT64_MAX;
    const connection *one;
    DL_FOREACH (self->connections, one) {
        for (int side = 0; side < 2; side++) {
            const packet *first = one->way[side].first;
            if (first != NULL && first->due_us < next_us
                && passes (self, one, side)) {
                next_us = first->due_us;
            }
        }
        const int64_t late_us = one->dialled_us + DIAL_MS * MS;
        if (!one->is_up && !one->is_over[0] && late_us < next_us) {
            next_us = late_us;
        }
    }
    return next_us > self->now_us ? next_us : self->now_us + 1;
}

/*  -------------------------------------------------------- faults */

/*  Frames that were kept back are sent again somewhat later. */
static void
hasten (world *self, int from, int to)
{
    connection *one;
    DL_FOREACH (self->connections, one) {
        for (int side = 0; side < 2; side++) {
            const bool is_it = one->end[side]->index == from
                               && one->end[1 - side]->index == to;
            if (is_it && one->way[side].first != NULL) {
                packet *first = one->way[side].first;
                const int64_t due_us =
                    self->now_us + world_draw_ms (self, 0, 300);
                if (first->due_us < due_us) {
                    first->due_us = due_us;
                }
            }
        }
    }
}

void
network_cut (world *self, int from, int to, bool is_cut)
{
    if (self->cut[from][to] && !is_cut) {
        hasten (self, from, to);
    }
    self->cut[from][to] = is_cut;
}

void
network_reset (world *self, int one, int other)
{
    connection *each;
    DL_FOREACH (self->connections, each) {
        const int from = each->end[0]->index, to = each->end[1]->index;
        if (each->is_up
            && ((from == one && to == other) || (from == other && to == one))) {
            for (int side = 0; side < 2; side++) {
                drop_all (&each->way[side]);
                add_packet (self, each, side, END, NULL);
            }
        }
    }
}

void
network_end (host *self, bool silently)
{
    connection *one;
    DL_FOREACH (self->world->connections, one) {
        for (int side = 0; side < 2; side++) {
            if (!is_of (one, side, self) || one->is_over[side]) {
                continue;
            }
            one->is_over[side] = true;
            drop_some (self->world, &one->way[side]);
            if (silently) {
                drop_all (&one->way[side]);
            } else {
                add_packet (self->world, one, side, END, NULL);
            }
        }
    }
}

void
network_clear (world *self)
{
    while (self->connections != NULL) {
        drop (self, self->connections);
    }
}
