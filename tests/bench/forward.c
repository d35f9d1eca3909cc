/*  forward.c - what a message costs a router, without its sockets
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Frames go into lk_forward_frame as if they had been received, and what is
 *  in the outboxes is taken as the shell does. An application speaks to the
 *  lock service of its host, that one to another host's, which answers: alone,
 *  each of them in a wake-up of its own; or packed, 64 in one wake-up.
 *
 *  usage: forward [MESSAGES [alone|packed]]
 */

#include "forward.h"

#include "util/alloc.h"
#include "util/assert.h"
#include "wire/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SESSIONS = 100, HOSTS = 5, CROWD = 64, BODY = 200, WAYS = 3 };

static lk_router router;
static lk_identity local[SESSIONS], met[HOSTS];

/*  A message of each way, and the connection that it comes by. */
static struct {
    lk_side side;
    const lk_identity *by;
    lk_bytes frame;
} way[WAYS];

static int64_t
clock_ns (void)
{
    struct timespec now;
    clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

/*  As libzmq makes them, and as we do. */
static void
name_connection (lk_identity *identity, int number, const char *text)
{
    char bytes[64] = {0};
    size_t size = 5;
    memcpy (bytes + 1, &number, sizeof number);
    if (text != NULL) {
        size = (size_t) snprintf (bytes, sizeof bytes,
                                  "tcp://10.0.0.%d:4040#1#"
                                  "0123456789abcdef0123456789abcdef",
                                  number);
    }
    lk_identity_set (identity, bytes, size);
}

/*  -------------------------------------------------------- the router */

static void
enter (int number)
{
    char name[64] = "lock";
    lk_local *session;
    if (number > 0) {
        snprintf (name, sizeof name, "app-%d-1", 4000 + number);
    }
    name_connection (&local[number], 1000 + number, NULL);
    const lk_err error = lk_route_add (&router.route, LK_SIDE_LOCAL,
                                       &local[number], name, &session);
    LK_ASSERT (error == LK_OK);
}

static void
link_host (int number)
{
    char host[16], address[32];
    const lk_party own = lk_router_party (&router);
    snprintf (host, sizeof host, "h%d", number + 2);
    snprintf (address, sizeof address, "10.0.0.%d:4040", number + 2);
    const lk_party peer = {.host = host,
                           .address = address,
                           .version = "1",
                           .incarnation = 100 + (uint64_t) number,
                           .ways = true};
    lk_mesh *mesh = &router.mesh;
    lk_mesh_link *link = lk_mesh_add (mesh, address, true, 0);
    lk_identity out;
    (void) lk_mesh_step (mesh, link, LK_LINK_TIME, 0);
    name_connection (&out, number + 2, "out");
    lk_hop_init (&link->out, LK_SIDE_MESH, &out);
    (void) lk_mesh_step (mesh, link, LK_LINK_UP, 0);
    name_connection (&met[number], 2000 + number, NULL);
    lk_mesh_link_meet (link, &peer, &met[number], 0);
    (void) lk_mesh_step (mesh, link, LK_LINK_MET, 0);
    (void) lk_mesh_step (mesh, link,
                         lk_mesh_accepted (mesh, link, &own, &peer, 0), 0);
    LK_ASSERT (lk_mesh_link_is_live (link));
    (void) lk_channel_meet (&link->channel, 1, link->channel.own);
    link->channel.counted = true;
    link->channel.next = 1;
}

static void
prepare (int number, lk_side side, const lk_identity *by, const char *from,
         const char *to)
{
    char body[BODY];
    memset (body, 'x', sizeof body);
    const lk_frame_envelope envelope = {
        .to = to, .from = from, .command = "LOCK", .serial = 7};
    lk_bytes *frame = &way[number].frame;
    const size_t start = lk_frame_begin (frame, &envelope);
    lk_bytes_add (frame, body, sizeof body);
    const lk_err error = lk_frame_finish (frame, start);
    LK_ASSERT (error == LK_OK);
    way[number].side = side;
    way[number].by = by;
}

/*  -------------------------------------------------------- wake-ups */

static size_t sent;

static lk_io
send_frame (void *user, lk_hop *hop, lk_part *frame)
{
    (void) user;
    (void) hop;
    lk_part_clear (frame);
    sent++;
    return LK_IO_DONE;
}

/*  All is heard at once, which is told with many others. */
static size_t
flush_channel (lk_channel *channel)
{
    sent = 0;
    const lk_io io = lk_channel_send (channel, send_frame, NULL);
    LK_ASSERT (io == LK_IO_DONE);
    if (channel->kept.count >= LK_UNTOLD_FRAMES_MAX
        || channel->kept.size >= LK_UNTOLD_SIZE_MAX) {
        LK_ASSERT (lk_channel_acked (channel, channel->said));
    }
    return sent;
}

/*  How many frames but heartbeats. */
static size_t
flush (void)
{
    size_t frames = 0;
    lk_hop *hop, *next;
    for (hop = router.hops.first; hop != NULL; hop = next) {
        next = hop->next;
        if (hop->channel != NULL) {
            frames += flush_channel (hop->channel);
        }
        for (; lk_outbox_first (&hop->box) != NULL;) {
            frames += hop->side != LK_SIDE_MESH;
            lk_outbox_drop (&hop->box);
        }
        lk_hops_remove (&router.hops, hop);
    }
    return frames;
}

static void
put (int number)
{
    lk_part part;
    lk_part_init (&part);
    lk_part_fill (&part, way[number].frame.data, way[number].frame.size);
    lk_forward_frame (&router, way[number].side, way[number].by, &part);
    lk_part_clear (&part);
}

/*  Nanoseconds for each of `count` messages, `crowd` of them at a time. */
static void
measure (const char *name, size_t count, size_t crowd)
{
    size_t left = count;
    const uint64_t before = router.count.forwarded;
    const int64_t began = clock_ns ();
    while (left > 0) {
        const int number = (int) (left / crowd % WAYS);
        for (size_t i = 0; i < crowd && left > 0; i++, left--) {
            put (number);
        }
        const size_t frames = flush ();
        LK_ASSERT (frames == 1);
    }
    const int64_t took = clock_ns () - began;
    LK_ASSERT (router.count.forwarded == before + count);
    printf ("figure router.forward.%s.ns %.0f ns\n", name,
            (double) took / (double) count);
}

int
main (int argc, char **argv)
{
    static const lk_router_calls none;
    const lk_router_identity own = {"h1", "10.0.0.1:4040", 11,
                                    1000, {0, 0, 0},       0};
    const size_t count = argc > 1 ? strtoul (argv[1], NULL, 10) : 1000000;
    const char *only = argc > 2 ? argv[2] : "";
    lk_router_init (&router, &own, &none, NULL);
    for (int i = 0; i < SESSIONS; i++) {
        enter (i);
    }
    for (int i = 0; i < HOSTS; i++) {
        link_host (i);
    }
    prepare (0, LK_SIDE_LOCAL, &local[50], "app-4050-1@h1", "lock@.");
    prepare (1, LK_SIDE_LOCAL, &local[0], "lock@h1", "lock@h4");
    prepare (2, LK_SIDE_MESH, &met[2], "lock@h4", "lock@h1");
    if (strcmp (only, "packed") != 0) {
        measure ("alone", count, 1);
    }
    if (strcmp (only, "alone") != 0) {
        measure ("packed", count, CROWD);
    }
    lk_router_clear (&router);
    for (int i = 0; i < WAYS; i++) {
        lk_bytes_clear (&way[i].frame);
    }
    return 0;
}
