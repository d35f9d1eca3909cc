/*  router.c - fuzz target: bytes as what happens to a router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Local processes and other routers say anything at all, honest or not;
 *  connections come, break and stall; time passes. Each step is one byte and
 *  what it needs. After each the tables must fit each other, and what is sent
 *  must be frames.
 */

#include "clients.h"
#include "gossip.h"
#include "lib/fuel.h"
#include "lib/router_world.h"
#include "login.h"
#include "undelivered.h"
#include "util/assert.h"
#include "wire/frame.h"

#include <stdio.h>
#include <string.h>

#define CLOCK_MAX (INT64_C (1) << 45)
#define BODY_SIZE 2048

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

typedef struct {
    lk_fuel fuel;
    lk_router_world router;
    lk_bytes frame; /* messages that were not sent yet */
} world;

/*  An application on another machine, by the key of the connections of even
 *  numbers. */
#define FAR_NAME "far-bb88471d65e2659b-x"

/*  Those of senders come first. */
#define SENDER_SERVICES 6
#define SENDER_HOSTS 5
static const char *const services[] = {"a", "b",      "lock", "router",
                                       "x", FAR_NAME, "*"};
static const char *const hosts[] = {"h1", "h2", "h3", "h4", ".", "*", "?"};
static const char *const commands[] = {
    "REGISTER",   "UNREGISTER",    "SUBSCRIBE",
    "ALIVE",      "CONNECT",       "ACCEPT",
    "REFUSE",     "DISCONNECTED",  "STATUS",
    "LOG",        "STOP",          "SHUTDOWN",
    "ABSOLUTELY", "CLUSTERSTATUS", "ROUTERSTATUS",
    "COMMANDS",   "RELOADCONFIG",  "SERVICESTATUS",
    "UNKNOWN",    "INVALID",       "TRANSMISSIONREPORT",
    "READY",      "HELLO",         "GOSSIP",
    "FORGET",     "CLUSTER",       "CLIENTKEYS"};

#define KEY_ODD "rq:rM>}U?@Lns47E1%%kR.o@n%%FcmmsL/@{H8]yf7" /* in a format */

#define KEY_LOGIN "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"

#define COUNT(array) (sizeof (array) / sizeof (array)[0])

/*  -------------------------------------------------------- messages */

static void
draw_address (world *self, char address[LK_ADDRESS_LEN_MAX + 1],
              size_t service_count, size_t host_count)
{
    const uint8_t which = lk_fuel_byte (&self->fuel);
    snprintf (address, LK_ADDRESS_LEN_MAX + 1, "%s@%s",
              services[which % service_count],
              hosts[which / service_count % host_count]);
}

static const char *
draw_body (world *self, char body[BODY_SIZE])
{
    static const char *const shape[] = {
        "{\"host\":\"h%d\",\"address\":\"h%d.example:1\",\"version\":\"1\","
        "\"incarnation\":\"000000000000000%d\"}",
        "{\"host\":\"h%d\",\"address\":\"h%d.example:2\",\"version\":\"1\","
        "\"incarnation\":\"000000000000001%d\",\"reason\":\"no\"}",
        "{\"service\":\"a\",\"version\":\"%d\",\"pid\":66%d,\"application\":"
        "false,\"subscribe\":[\"STATUS\",\"HANGUP\",\"CLUSTERUP\"]}",
        "{\"service\":\"b\",\"version\":\"%d\",\"pid\":%d,\"application\":"
        "true,\"subscribe\":[\"HELLO\",\"DISCONNECTED\"]}",
        "{\"service\":\"lock@h%d\",\"status\":\"up\",\"pid\":%d}",
        "{\"service\":\"lock@h%d\",\"status\":\"down\",\"pid\":%d}",
        "{\"service\":\"" FAR_NAME "\",\"version\":\"%d\",\"pid\":%d,"
        "\"application\":true,\"subscribe\":[\"STATUS\"]}",
        "{\"keys\":[\"m%d " KEY_ODD "\"]}",
        "{\"commands\":[\"STATUS\",\"CLUSTERCOMPLETE\",\"C%d\",\"NEW%d\"]}"};
    const uint8_t which = lk_fuel_byte (&self->fuel);
    const int one = which / 16 % 4 + 1, two = which / 64 + 1;
    if (which % 16 < COUNT (shape)) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf (body, BODY_SIZE, shape[which % 16], one, two, two);
#pragma GCC diagnostic pop
    } else if (which % 16 < 10) {
        lk_fuel_text (&self->fuel, body, BODY_SIZE);
    } else {
        body[0] = '\0';
    }
    return body;
}

static void
add_message (world *self, const char *from, const char *to, const char *command,
             const char *body)
{
    const uint8_t serial = lk_fuel_byte (&self->fuel);
    const lk_frame_envelope envelope = {.to = to,
                                        .from = from,
                                        .command = command,
                                        .serial = serial,
                                        .ttl_s = serial % 3};
    const size_t start = lk_frame_begin (&self->frame, &envelope);
    lk_bytes_add (&self->frame, body, strlen (body));
    const lk_err error = lk_frame_finish (&self->frame, start);
    LK_ASSERT (error == LK_OK);
}

static void
add_any_message (world *self)
{
    char from[LK_ADDRESS_LEN_MAX + 1], to[LK_ADDRESS_LEN_MAX + 1];
    char body[BODY_SIZE];
    draw_address (self, from, SENDER_SERVICES, SENDER_HOSTS);
    draw_address (self, to, COUNT (services), COUNT (hosts));
    const size_t command = lk_fuel_below (&self->fuel, COUNT (commands));
    add_message (self, from, to, commands[command], draw_body (self, body));
}

/*  -------------------------------------------------------- connections */

static lk_side
draw_connection (world *self, lk_identity *identity)
{
    const uint8_t which = lk_fuel_byte (&self->fuel);
    const lk_mesh *mesh = &self->router.router.mesh;
    const lk_mesh_link *link = which & 128 && mesh->count > 0
                                   ? mesh->link[which / 2 % 64 % mesh->count]
                                   : NULL;
    *identity = link != NULL && which & 1 && link->out.identity.size > 0
                    ? link->out.identity
                    : lk_router_world_from (which / 2 % 8);
    return which & 1    ? LK_SIDE_MESH
           : which & 64 ? LK_SIDE_CLIENTS
                        : LK_SIDE_LOCAL;
}

static void
send_frame (world *self)
{
    lk_identity identity;
    const lk_side side = draw_connection (self, &identity);
    lk_router_world_put (&self->router, side, &identity, self->frame.data,
                         self->frame.size);
    lk_bytes_cut (&self->frame, 0);
}

static void
send_bytes (world *self)
{
    lk_identity identity;
    size_t size;
    const lk_side side = draw_connection (self, &identity);
    const uint8_t *bytes = lk_fuel_bytes (&self->fuel, &size);
    lk_router_world_put (&self->router, side, &identity, bytes, size);
}

/*  A process that comes in good order. */
static void
enter (world *self)
{
    const uint8_t which = lk_fuel_byte (&self->fuel);
    const lk_identity identity = lk_router_world_from (which % 8);
    const char *service = services[which / 8 % SENDER_SERVICES];
    const lk_side side =
        strcmp (service, FAR_NAME) == 0 ? LK_SIDE_CLIENTS : LK_SIDE_LOCAL;
    char from[80], body[200];
    snprintf (from, sizeof from, "%s@.", service);
    snprintf (body, sizeof body,
              "{\"service\":\"%s\",\"version\":\"1\",\"pid\":%d,"
              "\"application\":%s,\"subscribe\":[\"STATUS\",\"%s\"]}",
              service, 1 + which % 8, which & 128 ? "true" : "false",
              commands[which % COUNT (commands)]);
    lk_bytes_cut (&self->frame, 0);
    add_message (self, from, "router@.", "REGISTER", body);
    lk_router_world_put (&self->router, side, &identity, self->frame.data,
                         self->frame.size);
    lk_bytes_cut (&self->frame, 0);
}

/*  CONNECT or ACCEPT of another host, as it says it. */
static void
introduce (world *self, const lk_identity *identity, unsigned host,
           const char *command)
{
    char from[32], body[200];
    snprintf (from, sizeof from, "router@h%u", host);
    snprintf (body, sizeof body,
              "{\"host\":\"h%u\",\"address\":\"h%u.example:1\","
              "\"version\":\"1\",\"incarnation\":\"00000000000000%u%u\"}",
              host, host, host, lk_fuel_byte (&self->fuel) % 2 + 1u);
    lk_bytes_cut (&self->frame, 0);
    add_message (self, from, "router@.", command, body);
    lk_router_world_put (&self->router, LK_SIDE_MESH, identity,
                         self->frame.data, self->frame.size);
    lk_bytes_cut (&self->frame, 0);
}

/*  A neighbour that comes in good order. */
static void
link_host (world *self)
{
    const unsigned host = 1 + (unsigned) lk_fuel_below (&self->fuel, 4);
    const lk_identity identity = lk_router_world_from (host);
    char address[64];
    introduce (self, &identity, host, "CONNECT");
    snprintf (address, sizeof address, "h%u.example:1", host);
    const lk_mesh_link *link =
        lk_mesh_by_address (&self->router.router.mesh, address);
    if (link != NULL && link->out.identity.size > 0) {
        const lk_identity out = link->out.identity;
        lk_neighbour_connected (&self->router.router, &out);
        introduce (self, &out, host, "ACCEPT");
    }
}

static void
connection_event (world *self)
{
    const uint8_t which = lk_fuel_byte (&self->fuel);
    const lk_problem problem = {.text = "nobody is there"};
    const lk_mesh *mesh = &self->router.router.mesh;
    lk_identity identity = lk_router_world_from (which % 8);
    if (mesh->count > 0 && !(which & 64)) {
        identity = mesh->link[which % mesh->count]->out.identity;
    }
    if (which % 7 == 0) {
        lk_neighbour_left (&self->router.router, &identity);
    } else if (which & 128) {
        lk_neighbour_disconnected (&self->router.router, &identity,
                                   which & 32 ? &problem : NULL);
    } else {
        lk_neighbour_connected (&self->router.router, &identity);
    }
}

/*  -------------------------------------------------------- the rest */

static void
configure (world *self)
{
    static const char *const known[] = {"h2.example:1", "h3.example:1",
                                        "h1.example:1", "10.0.0.4:1",
                                        "h2.example:2"};
    const char *wanted[COUNT (known) + 1];
    const uint8_t which = lk_fuel_byte (&self->fuel);
    size_t count = 0;
    for (size_t i = 0; i < COUNT (known); i++) {
        if (which >> i & 1) {
            wanted[count++] = known[i];
        }
    }
    wanted[count] = NULL;
    lk_neighbour_configure (&self->router.router, wanted);
}

static void
pass_time (world *self)
{
    lk_router *router = &self->router.router;
    const uint64_t ms = lk_fuel_number (&self->fuel);
    if (ms < (uint64_t) (CLOCK_MAX - router->now_ms)) {
        router->now_ms += (int64_t) ms;
    }
    lk_neighbour_work (router);
    lk_clients_work (router);
    lk_gossip_work (router);
    lk_undelivered_work (router);
    lk_login_work (router);
    LK_ASSERT (router->leaving || lk_router_deadline (router) > router->now_ms);
}

/*  -------------------------------------------------------- log-ins */

static void
say (world *self, lk_side side, unsigned number, const char *from,
     const char *command, const char *body)
{
    const lk_identity identity = lk_router_world_from (number);
    lk_bytes_cut (&self->frame, 0);
    add_message (self, from, "router@.", command, body);
    lk_router_world_put (&self->router, side, &identity, self->frame.data,
                         self->frame.size);
    lk_bytes_cut (&self->frame, 0);
}

/*  The issuer of this host comes, or one of a neighbour; somebody logs in or
 *  renews, and an issuer answers. */
static void
log_in (world *self)
{
    static const char *const errors[] = {"unknown", "denied", "overloaded",
                                         "no word"};
    const uint8_t which = lk_fuel_byte (&self->fuel);
    const unsigned number = which / 8 % 8u;
    const bool is_here = (which & 64) != 0;
    const lk_side side = is_here ? LK_SIDE_LOCAL : LK_SIDE_MESH;
    char from[32], text[64], body[300];
    snprintf (from, sizeof from, "issuer@h%u", is_here ? 1 : number);
    switch (which % 8) {
    case 0:
        say (self, LK_SIDE_LOCAL, number, "issuer@.", "REGISTER",
             "{\"service\":\"issuer\",\"version\":\"1\",\"pid\":5,"
             "\"application\":false}");
        break;
    case 1:
        snprintf (body, sizeof body,
                  "{\"service\":\"%s\",\"status\":\"up\",\"pid\":7}", from);
        snprintf (from, sizeof from, "router@h%u", number);
        say (self, LK_SIDE_MESH, number, from, "STATUS", body);
        break;
    case 2:
        say (self, LK_SIDE_LOCAL, number, "lock@h1", "CLIENTKEYS",
             "{\"keys\":[],\"discovery\":\"anyone\"}");
        break;
    case 3:
        say (self, LK_SIDE_CLIENTS, number, "x@.", "RENEW", "{}");
        break;
    case 4:
        snprintf (body, sizeof body,
                  "{\"error\":\"%s\",\"reason\":\"no\",\"wait\":%u}",
                  errors[lk_fuel_byte (&self->fuel) % COUNT (errors)], number);
        say (self, side, number, from, "LOGINFAILED", body);
        break;
    case 5:
        say (self, side, number, from, "LOGIN", "{\"credential\":\"line\"}");
        break;
    default:
        snprintf (body, sizeof body,
                  "{\"zone\":\"red\",\"user\":\"ann\",\"password\":\"%s\","
                  "\"key\":\"" KEY_LOGIN "\"}",
                  lk_fuel_text (&self->fuel, text, sizeof text));
        say (self, is_here ? LK_SIDE_LOCAL : LK_SIDE_CLIENTS, number,
             is_here ? "a@h1" : "x@.", "LOGIN", body);
    }
}

/*  A neighbour tells of a host, a process has it forgotten, or it is
 *  remembered; or all of it is over; or somebody logs in. */
static void
speak_of_hosts (world *self)
{
    const uint8_t which = lk_fuel_byte (&self->fuel);
    const uint8_t about = lk_fuel_byte (&self->fuel);
    const lk_identity identity = lk_router_world_from (which % 8);
    char host[16], address[32], from[32], body[200];
    snprintf (host, sizeof host, "h%u", about % 8u);
    snprintf (address, sizeof address, "h%u.example:%u", about / 8 % 8u,
              about / 64u);
    snprintf (from, sizeof from, "router@h%u", which % 8u);
    if (which == 0) {
        lk_neighbour_leave (&self->router.router);
    } else if (which < 8) {
        log_in (self);
    } else if (which < 64) {
        lk_gossip_remember (&self->router.router, host, address);
    } else {
        const bool tells = which < 192;
        snprintf (body, sizeof body,
                  tells ? "{\"hosts\":[{\"host\":\"%s\",\"address\":\"%s\"}]}"
                        : "{\"name\":\"%s\"}",
                  host, address);
        lk_bytes_cut (&self->frame, 0);
        add_message (self, tells ? from : "a@h1", "router@.",
                     tells ? "GOSSIP" : "FORGET", body);
        lk_router_world_put (&self->router,
                             tells ? LK_SIDE_MESH : LK_SIDE_LOCAL, &identity,
                             self->frame.data, self->frame.size);
        lk_bytes_cut (&self->frame, 0);
    }
}

static void
end_process (world *self)
{
    lk_local *local = self->router.router.route.by_service;
    for (uint8_t left = lk_fuel_byte (&self->fuel) % 8;
         local != NULL && left > 0; left--) {
        local = local->by_service.next;
    }
    if (local != NULL) {
        lk_session_end (&self->router.router, local, "process ended");
    }
}

static void
step (world *self)
{
    lk_identity identity;
    switch (lk_fuel_below (&self->fuel, 16)) {
    case 0:
    case 1:
    case 2:
        add_any_message (self);
        send_frame (self);
        break;
    case 3:
        add_any_message (self);
        break;
    case 4:
        send_bytes (self);
        break;
    case 5:
        enter (self);
        break;
    case 6:
        link_host (self);
        break;
    case 7:
        connection_event (self);
        break;
    case 8:
        pass_time (self);
        break;
    case 9:
        lk_router_world_flush (&self->router);
        break;
    case 10:
        lk_router_world_lose (&self->router, lk_fuel_byte (&self->fuel) % 8);
        break;
    case 11:
        end_process (self);
        break;
    case 12:
        configure (self);
        break;
    case 13:
        self->router.reachable = !self->router.reachable;
        break;
    case 14:
        lk_forward_broken (&self->router.router,
                           draw_connection (self, &identity), &identity,
                           "not one frame");
        break;
    default:
        speak_of_hosts (self);
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    static world self;
    self.fuel = (lk_fuel) {data, size};
    lk_router_world_init (&self.router);
    while (lk_fuel_burns (&self.fuel)) {
        step (&self);
        lk_router_world_check (&self.router);
    }
    lk_router_world_flush (&self.router);
    lk_router_world_clear (&self.router);
    lk_bytes_clear (&self.frame);
    return 0;
}
