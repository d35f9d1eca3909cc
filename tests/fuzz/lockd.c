/*  lockd.c - fuzz target: bytes as what the bus brings to a lock service
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Requests of applications field by field or as any JSON, lock services that
 *  introduce themselves and say anything, events of the router, any command of
 *  anybody with fields of every sort, a bus that takes nothing, a disk that
 *  fails. The first byte says how many members the cluster has, each step is
 *  one byte and what it needs.
 */

#include "lib/fuel.h"
#include "lib/hostile.h"
#include "lib/odd.h"
#include "lockd_fake.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "wire/lock_codec.h"
#include "wire/message_frame.h"

#include <lockkeeper/lockkeeper.h>
#include <stdio.h>
#include <string.h>

#define BODY_SIZE 4096
#define STEPS_MAX 200

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define COUNT(array) (sizeof (array) / sizeof (array)[0])

static const char *const apps[] = {"a@h1", "b@h1", "a@h2", "lock@h2",
                                   "lock@h1"};
static const char *const objects[] = {"o", "p", "", "q"};

/*  -------------------------------------------------------- applications */

static lk_message *
new_request (lk_fuel *fuel, const char *command)
{
    const uint8_t who = lk_fuel_byte (fuel);
    lk_message *message = lk_message_new ("lock@h1", command);
    lk_message_set_from (message, apps[who % 8 < COUNT (apps) ? who % 8 : 0]);
    lk_message_set_serial (message, lk_fuel_byte (fuel) % 16);
    lk_message_set_text (message, "object", objects[who / 8 % COUNT (objects)]);
    if (who & 128) {
        lk_message_set_text (message, "zone", "z");
    }
    if (who & 64) {
        lk_message_set_text (message, "object", NULL);
        lk_message_set_text (message, "object_hex", who & 32 ? "ff00" : "6f");
    }
    return message;
}

static void
add_number (lk_fuel *fuel, lk_message *message, const char *field)
{
    lk_message_set_number (message, field, (int64_t) lk_fuel_number (fuel));
}

/*  What other locks than plain exclusive ones have. */
static void
add_mode (lk_fuel *fuel, lk_message *message)
{
    static const char *const types[] = {"exclusive", "shared", "semaphore",
                                        "common"};
    static const char *const numbers[] = {"quiet", "limit", "bound", "linger",
                                          "turn"};
    const uint8_t has = lk_fuel_byte (fuel);
    const uint8_t small = lk_fuel_byte (fuel);
    lk_message_set_text (message, "type", types[has % COUNT (types)]);
    if (has & 4) {
        lk_message_set_text (message, "policy", has & 8 ? "soft" : "hard");
    }
    if (has & 16) {
        lk_message_set_flag (message, has & 32 ? "static" : "lenient", true);
    }
    if (has & 64) {
        lk_message_set_number (message, numbers[small % COUNT (numbers)],
                               small / 8);
    }
    if (has & 128) {
        lk_message_set_hex (message, "key", world.key);
    }
}

/*  Several names instead of one. */
static void
add_set (lk_fuel *fuel, lk_message *message)
{
    size_t count = lk_fuel_below (fuel, 6);
    lk_message_set_text (message, "object", NULL);
    while (count-- > 0) {
        const uint8_t which = lk_fuel_byte (fuel);
        lk_message *row = lk_message_row_new ();
        lk_message_set_text (row, which & 128 ? "object_hex" : "object",
                             which & 64 ? "00" : objects[which % 4]);
        lk_message_add_row (message, "locks", &row);
    }
}

static void
ask (lk_fuel *fuel)
{
    lk_message *message = new_request (fuel, "LOCK");
    const uint8_t has = lk_fuel_byte (fuel);
    if (has & 1) {
        add_number (fuel, message, "wait");
    }
    if (has & 2) {
        add_number (fuel, message, "duration");
    }
    if (has & 4) {
        add_number (fuel, message, "pid");
    }
    if (has & 8) {
        lk_message_set_text (message, "type",
                             has & 16 ? "exclusive" : "shared");
    }
    if (has & 32) {
        add_mode (fuel, message);
    }
    if (has & 64) {
        add_set (fuel, message);
    }
    fake_give (message, false);
}

/*  Of a lock with its key or number, of a set, or by force. */
static void
give_back (lk_fuel *fuel)
{
    lk_message *message = new_request (fuel, "UNLOCK");
    const uint8_t has = lk_fuel_byte (fuel);
    if (has & 1) {
        lk_message_set_number (message, "request", has / 16);
    }
    if (has & 2) {
        lk_message_set_hex (message, "key",
                            has & 4 ? world.key : lk_fuel_number (fuel));
    }
    if (has & 8) {
        add_number (fuel, message, "wait");
    }
    if (has % 8 == 1 && lk_fuel_byte (fuel) & 1) {
        lk_message_set_text (message, "object", NULL);
    }
    if (has % 8 == 0) {
        lk_message_set_flag (message, "force", true);
        lk_message_set_text (message, "reason", "it hangs");
        lk_message_set_hex (message, "token", lk_fuel_byte (fuel) % 4);
    }
    fake_give (message, false);
}

static void
check (lk_fuel *fuel)
{
    lk_message *message = new_request (fuel, "LOCKCHECK");
    lk_message_set_hex (message, "token",
                        (uint64_t) 1 << 32 | lk_fuel_byte (fuel));
    fake_give (message, false);
}

/*  Who is a member, or that somebody is to become or to be none. */
static void
ask_for_members (lk_fuel *fuel)
{
    static const char *const hosts[] = {"h1", "h2", "h3", "h9", "@"};
    lk_message *message = new_request (fuel, "LOCKMEMBERS");
    const uint8_t what = lk_fuel_byte (fuel);
    if (what & 3) {
        lk_message_set_text (message, what & 1 ? "add" : "remove",
                             hosts[what / 4 % COUNT (hosts)]);
    }
    fake_give (message, false);
}

/*  NULL if it cannot be read at all. */
static lk_message *
read_any (const lk_frame_envelope *envelope, const lk_bytes *body)
{
    char problem[128];
    const char *why;
    lk_bytes frame = {0};
    lk_frame_header header;
    size_t at = 0;
    const size_t start = lk_frame_begin_checked (&frame, envelope);
    lk_bytes_add (&frame, body->data, body->size);
    lk_message *message = NULL;
    if (lk_frame_finish (&frame, start) == LK_OK
        && lk_frame_next (frame.data, frame.size, &at, &header, &why)
               == LK_FRAME_MESSAGE) {
        message = lk_message_read (&header, problem, sizeof problem);
    }
    lk_bytes_clear (&frame);
    return message;
}

/*  Fields of every sort, from anybody, or from the router of this host. */
static void
say_odd (lk_fuel *fuel, bool is_event)
{
    const lk_odd_command *command = lk_odd_draw (fuel);
    char from[96] = "router@h1";
    lk_bytes body = {0};
    if (!is_event) {
        lk_odd_address (fuel, from);
    }
    const lk_frame_envelope envelope = {.to = "lock@h1",
                                        .from = from,
                                        .command = command->name,
                                        .serial = lk_fuel_byte (fuel) % 16};
    lk_odd_body (fuel, command, &body);
    lk_message *message = read_any (&envelope, &body);
    if (message != NULL) {
        fake_give (message, is_event);
    }
    lk_bytes_clear (&body);
}

/*  Any body under any command. */
static void
say_anything (lk_fuel *fuel)
{
    static const char *const commands[] = {
        "LOCK",       "UNLOCK",      "LOCKSTATUS", "LOCKLIST", "LOCKCHECK",
        "UNKNOWN",    "LOCKSTARTED", "LOCKPING",   "REFUSE",   "LOCKTICKETS",
        "LOCKOWNERS", "LOCKHISTORY", "LOCKTOP"};
    const uint8_t what = lk_fuel_byte (fuel);
    char text[BODY_SIZE];
    if (what % 16 >= COUNT (commands)) {
        say_odd (fuel, what & 128);
        return;
    }
    const lk_frame_envelope envelope = {.to = "lock@h1",
                                        .from = apps[what / 16 % COUNT (apps)],
                                        .command = commands[what % 16],
                                        .serial = lk_fuel_byte (fuel) % 16};
    lk_fuel_text (fuel, text, sizeof text);
    const lk_bytes body = {.data = text, .size = strlen (text)};
    lk_message *message = read_any (&envelope, &body);
    if (message != NULL) {
        fake_give (message, false);
    }
}

/*  -------------------------------------------------------- other machines */

#define FAR_ONE "far-bb88471d65e2659b-x@h1"
#define FAR_TWO "far-54fcba24e9324996-x@h1"

static void
hear_of_far (const char *address, uint8_t what)
{
    lk_message *event = lk_message_new ("lock@h1", "STATUS");
    lk_message_set_from (event, "router@h1");
    lk_message_set_text (event, "service", address);
    lk_message_set_text (event, "status", what & 1 ? "down" : "up");
    lk_message_set_text (event, "reason", "connection ended");
    lk_message_set_number (event, "pid", 7);
    if (what & 2) {
        lk_message_set_text (event, "key",
                             what & 4
                                 ? "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
                                 : "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7");
    }
    fake_give (event, true);
}

static void
add_registration (lk_fuel *fuel, lk_message *message, bool registers)
{
    const uint8_t what = lk_fuel_byte (fuel);
    const int64_t number = registers ? what % 4 : world.number + what / 252;
    lk_message_set_number (message, "registration", number);
    lk_message_set_number (message, "sent", 1000 * (what / 4));
    if (registers) {
        lk_message_set_hex (message, "secret", what / 64);
        lk_message_set_hex (message, "secret2", 1);
        lk_message_set_number (message, "lease", 100 * what);
    } else {
        lk_message_set_hex (message, "drawn", world.drawn + what / 253);
    }
}

static void
add_claim (lk_fuel *fuel, lk_message *message)
{
    const uint8_t what = lk_fuel_byte (fuel);
    if (what & 1) {
        lk_message_set_flag (message, "again", true);
    }
    if (what & 2) {
        lk_message_set_hex (message, "token", world.token);
        lk_message_set_hex (message, "key", world.key);
        lk_message_set_number (message, "left", 10 * what);
    }
}

/*  An application on another machine says that. */
static void
speak_from_afar (lk_fuel *fuel, uint8_t what)
{
    static const char *const commands[] = {"LOCKREGISTER", "LOCKLEASE",
                                           "LOCKGOODBYE",  "LOCK",
                                           "UNLOCK",       "LOCKCHECK"};
    const char *address = what & 1 ? FAR_ONE : FAR_TWO;
    const size_t which = what / 2 % 8;
    if (which >= COUNT (commands)) {
        hear_of_far (address, lk_fuel_byte (fuel));
        return;
    }
    lk_message *message = new_request (fuel, commands[which]);
    lk_message_set_from (message, address);
    add_registration (fuel, message, which == 0);
    if (which == 3) {
        add_claim (fuel, message);
    } else if (which == 4) {
        lk_message_set_number (message, "request", lk_fuel_byte (fuel) % 16);
    }
    fake_give (message, false);
}

/*  -------------------------------------------------------- the router */

static void
hear_of_service (lk_fuel *fuel)
{
    static const char *const states[] = {"up", "down", "unknown"};
    static const char *const reasons[] = {"connection lost", "unregistered"};
    const uint8_t what = lk_fuel_byte (fuel);
    lk_message *event = lk_message_new ("lock@h1", "STATUS");
    lk_message_set_from (event, "router@h1");
    lk_message_set_text (event, "service", apps[what % 4]);
    lk_message_set_text (event, "status", states[what / 4 % 3]);
    lk_message_set_number (event, "pid", what / 16 % 4);
    lk_message_set_text (event, "reason", reasons[what / 64 % 2]);
    fake_give (event, true);
}

static void
hear_of_host (lk_fuel *fuel)
{
    static const char *const commands[] = {"HANGUP", "DISCONNECTED",
                                           "NEWREMOTECONNECTION", "CLUSTERUP"};
    static const char *const hosts[] = {"h2", "h3", "h9", "h1"};
    const uint8_t what = lk_fuel_byte (fuel);
    lk_message *event = lk_message_new ("lock@h1", commands[what % 4]);
    lk_message_set_from (event, "router@h1");
    lk_message_set_text (event, "host", hosts[what / 4 % 4]);
    fake_give (event, true);
}

static void
lose_router (lk_fuel *fuel)
{
    if (world.lockd.attached) {
        fake_detach (lk_fuel_byte (fuel) > 250 ? "stop" : "router lost");
    } else if (!world.stopped) {
        fake_attach ();
    }
}

/*  -------------------------------------------------------- lock services */

/*  The names and ids of the others, as they have them themselves. */
static void
know_others (lk_hostmap *hostmap)
{
    lk_hostmap_init (hostmap);
    (void) lk_hostmap_intern (hostmap, "h1", world.lockd.state.id);
    (void) lk_hostmap_intern (hostmap, "h2", 2);
    (void) lk_hostmap_intern (hostmap, "h3", 3);
    (void) lk_hostmap_intern (hostmap, "h2", 22);
}

static void
hear_peer (lk_fuel *fuel, lk_lock_kind kind)
{
    static lk_hostile_room room;
    char from[16];
    lk_hostmap hostmap;
    lk_lock_message message = {
        .kind = kind, .from = 1, .origin = LK_NOBODY, .destination = LK_NOBODY};
    lk_name *object = lk_hostile_object_of (&message);
    if (object != NULL) {
        *object = (lk_name) {"\0\0o", 3};
    }
    know_others (&hostmap);
    for (size_t edits = lk_fuel_below (fuel, 6); edits > 0; edits--) {
        lk_hostile_edit (fuel, &message, &hostmap, &room);
    }
    snprintf (from, sizeof from, "lock@%s",
              lk_hostmap_name (&hostmap, message.from));
    lk_message *bus = lk_lock_encode (&message, &hostmap, message.from);
    lk_message_set_from (bus, from);
    if (kind == LK_MSG_STARTED) {
        lk_charter_write (&world.lockd.peers.charter, bus);
    }
    fake_give (bus, false);
}

/*  -------------------------------------------------------- steps */

static void
step (lk_fuel *fuel)
{
    uint8_t what;
    switch (lk_fuel_below (fuel, 15)) {
    case 0:
        ask (fuel);
        break;
    case 1:
        ask_for_members (fuel);
        break;
    case 2:
        give_back (fuel);
        break;
    case 3:
        say_anything (fuel);
        break;
    case 4:
        hear_of_service (fuel);
        break;
    case 5:
        hear_of_host (fuel);
        break;
    case 6:
        hear_peer (fuel, LK_MSG_STARTED);
        break;
    case 7:
    case 8:
        hear_peer (fuel, (lk_lock_kind) lk_fuel_below (fuel, LK_MSG_COUNT));
        break;
    case 9:
        fake_run (25 * lk_fuel_byte (fuel));
        break;
    case 10:
        fake_run (lk_fuel_byte (fuel));
        break;
    case 11:
        world.refuses = world.refuses == LK_OK ? LK_OVERLOADED : LK_OK;
        break;
    case 12:
        lose_router (fuel);
        break;
    case 13:
        check (fuel);
        break;
    default:
        what = lk_fuel_byte (fuel);
        host.disk_fails = what > 200;
        if (what % 4 > 0 && what <= 200) {
            speak_from_afar (fuel, what / 4);
        }
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    lk_fuel fuel = {data, size};
    fake_init (lk_fuel_below (&fuel, 4));
    for (int i = 0; i < STEPS_MAX && lk_fuel_burns (&fuel); i++) {
        step (&fuel);
    }
    fake_clear ();
    return 0;
}
