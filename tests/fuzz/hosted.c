/*  hosted.c - fuzz target: bytes as what a router and its lock service hear
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Processes of this host, other hosts' routers, lock services and other
 *  services say every command with fields of every sort, to the router and
 *  through it to the lock service. Whatever they say, neither ends, and nobody
 *  but the router says who is there. The first byte says how many members the
 *  cluster has and who is there, each step is one byte and what it needs.
 */

#include "hosted_world.h"
#include "lib/fuel.h"
#include "lib/hostile.h"
#include "lib/odd.h"
#include "wire/frame.h"
#include "wire/lock_codec.h"
#include "wire/message_frame.h"

#define STEPS_MAX 150
#define HOSTS 3 /* that speak with us: h2 and so on */
#define PROCESSES 5

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static const char *const services[PROCESSES] = {"a", "b", "x-7", "lock",
                                                "router"};

/*  -------------------------------------------------------- frames */

static void
put (lk_side side, const lk_identity *identity, lk_bytes *frame)
{
    lk_router_world_put (&world.router, side, identity, frame->data,
                         frame->size);
    lk_bytes_clear (frame);
}

/*  Any command, to the connection's frame. */
static void
add_message (lk_fuel *fuel, lk_bytes *frame, const char *from, const char *to)
{
    const lk_odd_command *command = lk_odd_draw (fuel);
    const uint8_t serial = lk_fuel_byte (fuel);
    const lk_frame_envelope envelope = {.to = to,
                                        .from = from,
                                        .command = command->name,
                                        .serial = serial % 16,
                                        .crossed = serial & 128,
                                        .ttl_s = serial / 16 % 4};
    const size_t start = lk_frame_begin_checked (frame, &envelope);
    lk_odd_body (fuel, command, frame);
    const lk_err error = lk_frame_finish (frame, start);
    LK_ASSERT (error == LK_OK);
}

static void
say (lk_side side, const lk_identity *identity, const char *from,
     const char *to, const char *command, const char *body)
{
    const lk_frame_envelope envelope = {
        .to = to, .from = from, .command = command, .serial = 1};
    lk_bytes frame = {0};
    const size_t start = lk_frame_begin (&frame, &envelope);
    lk_bytes_add (&frame, body, strlen (body));
    const lk_err error = lk_frame_finish (&frame, start);
    LK_ASSERT (error == LK_OK);
    put (side, identity, &frame);
}

/*  -------------------------------------------------------- this host */

static void
enter (uint8_t which)
{
    const lk_identity identity = lk_router_world_from (which % PROCESSES);
    const char *service = services[which % PROCESSES];
    char from[80], body[200];
    snprintf (from, sizeof from, "%s@.", service);
    snprintf (body, sizeof body,
              "{\"service\":\"%s\",\"version\":\"1\",\"pid\":%u,"
              "\"application\":%s,\"subscribe\":[\"STATUS\"]}",
              service, 1 + which / 8 % 8u, which & 128 ? "true" : "false");
    say (LK_SIDE_LOCAL, &identity, from, "router@.", "REGISTER", body);
}

/*  Under its own name, or any other. */
static void
process_says (lk_fuel *fuel)
{
    const uint8_t which = lk_fuel_byte (fuel);
    const lk_identity identity = lk_router_world_from (which % PROCESSES);
    char from[96], to[96];
    lk_bytes frame = {0};
    snprintf (from, sizeof from, "%s@h1", services[which % PROCESSES]);
    if (which >= 192) {
        lk_odd_address (fuel, from);
    }
    lk_odd_address (fuel, to);
    add_message (fuel, &frame, from, to);
    put (LK_SIDE_LOCAL, &identity, &frame);
}

static void
process_asks (lk_fuel *fuel)
{
    static const char *const bodies[][2] = {
        {"LOCK", "{\"object\":\"o\",\"wait\":-1,\"pid\":7}"},
        {"LOCK", "{\"object\":\"o\",\"wait\":0,\"type\":\"shared\"}"},
        {"UNLOCK", "{\"object\":\"o\",\"request\":1}"},
        {"LOCKCHECK", "{\"object\":\"o\",\"token\":\"0000000100000002\"}"}};
    const uint8_t which = lk_fuel_byte (fuel);
    const lk_identity identity = lk_router_world_from (which % PROCESSES);
    char from[80];
    snprintf (from, sizeof from, "%s@h1", services[which % PROCESSES]);
    say (LK_SIDE_LOCAL, &identity, from, "lock@.", bodies[which / 64][0],
         bodies[which / 64][1]);
}

static void
end_process (lk_fuel *fuel)
{
    const uint8_t which = lk_fuel_byte (fuel);
    lk_local *local = lk_route_by_service (
        &world.router.router.route, lk_slice_of (services[which % PROCESSES]));
    if (local != NULL && local->out.side != LK_SIDE_HOSTED) {
        lk_session_end (&world.router.router, local,
                        which & 128 ? "connection ended" : "process ended");
    }
}

/*  -------------------------------------------------------- other hosts */

static unsigned
draw_host (lk_fuel *fuel)
{
    return 2 + (unsigned) lk_fuel_below (fuel, HOSTS);
}

static void
introduce (const lk_identity *identity, unsigned number, const char *command)
{
    char from[32], body[200];
    snprintf (from, sizeof from, "router@h%u", number);
    snprintf (body, sizeof body,
              "{\"host\":\"h%u\",\"address\":\"h%u.example:1\","
              "\"version\":\"1\",\"incarnation\":\"000000000000000%u\"}",
              number, number, number);
    say (LK_SIDE_MESH, identity, from, "router@.", command, body);
}

static void
link_host (unsigned number)
{
    const lk_identity identity = lk_router_world_from (number);
    char address[64];
    introduce (&identity, number, "CONNECT");
    snprintf (address, sizeof address, "h%u.example:1", number);
    const lk_mesh_link *link =
        lk_mesh_by_address (&world.router.router.mesh, address);
    if (link != NULL && link->out.identity.size > 0) {
        const lk_identity out = link->out.identity;
        lk_neighbour_connected (&world.router.router, &out);
        introduce (&out, number, "ACCEPT");
    }
}

static void
lose_host (lk_fuel *fuel)
{
    const lk_identity met = lk_router_world_from (draw_host (fuel));
    const lk_mesh_link *link = lk_mesh_by_met (&world.router.router.mesh, &met);
    if (link != NULL && link->out.identity.size > 0) {
        const lk_identity out = link->out.identity;
        lk_neighbour_disconnected (&world.router.router, &out, NULL);
    }
}

/*  Its router, its lock service or another, or somebody else's. */
static void
host_says (lk_fuel *fuel)
{
    static const char *const speakers[] = {"router", "lock", "a"};
    const uint8_t which = lk_fuel_byte (fuel);
    const unsigned number = 2 + which % HOSTS;
    const lk_identity identity = lk_router_world_from (number);
    char from[96], to[96];
    lk_bytes frame = {0};
    snprintf (from, sizeof from, "%s@h%u", speakers[which / 4 % 3], number);
    if (which >= 224) {
        lk_odd_address (fuel, from);
    }
    snprintf (to, sizeof to, "%s@h1", which & 32 ? "router" : "lock");
    if (which >= 192) {
        lk_odd_address (fuel, to);
    }
    add_message (fuel, &frame, from, to);
    put (LK_SIDE_MESH, &identity, &frame);
}

/*  -------------------------------------------------------- lock services */

static void
know_others (lk_hostmap *hostmap)
{
    lk_hostmap_init (hostmap);
    (void) lk_hostmap_intern (hostmap, "h1", world.lockd.state.id);
    (void) lk_hostmap_intern (hostmap, "h2", 2);
    (void) lk_hostmap_intern (hostmap, "h3", 3);
    (void) lk_hostmap_intern (hostmap, "h4", 4);
}

/*  What a lock service of another host says, changed in some fields. */
static void
peer_says (lk_fuel *fuel, lk_lock_kind kind)
{
    static lk_hostile_room room;
    lk_hostmap hostmap;
    lk_bytes frame = {0};
    char from[16];
    const unsigned number = draw_host (fuel);
    const lk_identity identity = lk_router_world_from (number);
    lk_lock_message message = {.kind = kind,
                               .from = (lk_host) (number - 1),
                               .origin = LK_NOBODY,
                               .destination = LK_NOBODY};
    lk_name *object = lk_hostile_object_of (&message);
    if (object != NULL) {
        *object = (lk_name) {"\0\0o", 3};
    }
    know_others (&hostmap);
    for (size_t edits = lk_fuel_below (fuel, 6); edits > 0; edits--) {
        lk_hostile_edit (fuel, &message, &hostmap, &room);
    }
    snprintf (from, sizeof from, "lock@h%u", number);
    lk_message *bus = lk_lock_encode (&message, &hostmap, message.from);
    lk_message_set_from (bus, from);
    if (kind == LK_MSG_STARTED) {
        lk_charter_write (&world.lockd.peers.charter, bus);
    }
    if (lk_message_write (bus, &frame) == LK_OK) {
        put (LK_SIDE_MESH, &identity, &frame);
    }
    lk_message_destroy (&bus);
    lk_bytes_clear (&frame);
}

/*  -------------------------------------------------------- steps */

static void
step (lk_fuel *fuel)
{
    switch (lk_fuel_below (fuel, 16)) {
    case 0:
    case 1:
        enter (lk_fuel_byte (fuel));
        break;
    case 2:
    case 3:
        process_says (fuel);
        break;
    case 4:
        process_asks (fuel);
        break;
    case 5:
        end_process (fuel);
        break;
    case 6:
        link_host (draw_host (fuel));
        break;
    case 7:
        lose_host (fuel);
        break;
    case 8:
    case 9:
    case 10:
        host_says (fuel);
        break;
    case 11:
        peer_says (fuel, LK_MSG_STARTED);
        break;
    case 12:
        peer_says (fuel, (lk_lock_kind) lk_fuel_below (fuel, LK_MSG_COUNT));
        break;
    case 13:
        world_pass_time (10 * lk_fuel_byte (fuel));
        break;
    case 14:
        lk_bus_leave (&world.bus,
                      lk_fuel_byte (fuel) & 1 ? "stop" : "interrupt");
        break;
    default:
        host.disk_fails = lk_fuel_byte (fuel) > 200;
    }
}

/*  So many members, and who is there already. */
static void
begin (uint8_t how)
{
    world_init (how % 4);
    world_settle ();
    for (unsigned i = 0; i < HOSTS; i++) {
        if (how & 4) {
            link_host (2 + i);
        }
    }
    if (how & 8) {
        enter (0);
        enter (128 + 1);
    }
    world_settle ();
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    lk_fuel fuel = {data, size};
    begin (lk_fuel_byte (&fuel));
    for (int i = 0; i < STEPS_MAX && lk_fuel_burns (&fuel); i++) {
        step (&fuel);
        if (lk_fuel_byte (&fuel) < 192) { /* else it comes with the next */
            world_settle ();
            world_check ();
        }
    }
    world_settle ();
    world_clear ();
    return 0;
}
