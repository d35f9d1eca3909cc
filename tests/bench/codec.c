/*  codec.c - what it costs to write and to read a message
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  From struct to frame and back, allocations included, between lock services
 *  in both notations in turn; and what an application's LOCK and its LOCKED
 *  cost, beside jansson alone. Least of rounds: others only ever add to it.
 *
 *  usage: codec [ROUNDS]
 */

#include "lib/example.h"
#include "lib/lock_copy.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "wire/message_frame.h"
#include "wire/message_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TURNS 2000 /* in a round */
#define OPS_MAX 16

typedef lk_message *writer (const lk_lock_message *message,
                            const lk_hostmap *hostmap, lk_host self);

static lk_hostmap hostmap;
static lk_arena arena;
static lk_bytes frame;
static size_t rounds = 10;

/*  -------------------------------------------------------- measuring */

static int64_t
clock_ns (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

typedef struct {
    const char *name;
    void (*turn) (void *context);
    void *context;
    double least_ns;
} task;

/*  All of them in turn, round by round. */
static void
measure (task *tasks, size_t count)
{
    for (size_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < count; i++) {
            task *one = &tasks[i];
            const int64_t begin_ns = clock_ns ();
            for (int turn = 0; turn < TURNS; turn++) {
                one->turn (one->context);
            }
            const double ns = (double) (clock_ns () - begin_ns) / TURNS;
            if (round == 0 || ns < one->least_ns) {
                one->least_ns = ns;
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        printf ("figure codec.%s %.0f ns\n", tasks[i].name, tasks[i].least_ns);
    }
}

/*  -------------------------------------------------------- lock services */

typedef struct {
    const lk_lock_message *message;
    writer *write;
    lk_bytes written; /* the frame that it makes */
} exchange;

static void
write_frame (const exchange *self, lk_bytes *out)
{
    const char *from = self->message->from == H1 ? "lock@h1" : "lock@h2";
    lk_message *bus =
        self->write (self->message, &hostmap, self->message->from);
    lk_message_set_from (bus, from);
    const lk_err error = lk_message_write (bus, out);
    LK_ASSERT (error == LK_OK);
    lk_message_destroy (&bus);
}

static lk_message *
read_frame (const lk_bytes *from)
{
    lk_frame_header header;
    const char *why;
    char problem[128];
    size_t at = 0;
    const lk_frame_result result =
        lk_frame_next (from->data, from->size, &at, &header, &why);
    LK_ASSERT (result == LK_FRAME_MESSAGE);
    lk_message *message = lk_message_read (&header, problem, sizeof problem);
    LK_ASSERT (message);
    return message;
}

static void
encode (void *context)
{
    lk_bytes_cut (&frame, 0);
    write_frame (context, &frame);
}

static void
decode (void *context)
{
    const exchange *self = context;
    lk_lock_message read;
    lk_message *bus = read_frame (&self->written);
    const lk_err error = lk_lock_read (bus, &hostmap, H1, &arena, &read);
    LK_ASSERT (error == LK_OK);
    lk_message_destroy (&bus);
    lk_arena_reset (&arena);
}

static void
measure_message (const char *name, const lk_lock_message *message)
{
    exchange json = {message, lk_lock_encode, {0}};
    exchange packed = {message, lk_lock_pack, {0}};
    char names[4][64];
    task tasks[] = {{names[0], encode, &json, 0},
                    {names[1], encode, &packed, 0},
                    {names[2], decode, &json, 0},
                    {names[3], decode, &packed, 0}};
    snprintf (names[0], sizeof names[0], "%s.json.encode", name);
    snprintf (names[1], sizeof names[1], "%s.packed.encode", name);
    snprintf (names[2], sizeof names[2], "%s.json.decode", name);
    snprintf (names[3], sizeof names[3], "%s.packed.decode", name);
    write_frame (&json, &json.written);
    write_frame (&packed, &packed.written);
    printf ("figure codec.%s.json.size %zu bytes\n", name, json.written.size);
    printf ("figure codec.%s.packed.size %zu bytes\n", name,
            packed.written.size);
    measure (tasks, 4);
    lk_bytes_clear (&json.written);
    lk_bytes_clear (&packed.written);
}

static void
measure_example (const char *name, const char *example)
{
    lk_lock_message message;
    lk_example_take (example, &hostmap, &message);
    measure_message (name, &message);
    lk_lock_message_clear (&message);
}

/*  A home's message to another leader, with so many new tickets. */
static void
measure_ops (const char *name, size_t count)
{
    lk_op ops[OPS_MAX];
    lk_lock_message message = {
        .kind = LK_MSG_OPS,
        .from = H2,
        .to = H1,
        .origin = LK_NOBODY,
        .destination = LK_NOBODY,
        .term = {7, ID1},
        .as.ops = {.first = 1000000, .hash = 77, .ops = ops, .op_count = count},
    };
    for (size_t i = 0; i < count; i++) {
        ops[i] = (lk_op) {
            .kind = LK_OP_ADD,
            .ticket = {.request = {H3, 3, 4711 + i},
                       .object = {"\0\0backup/db-1", 13},
                       .owner = {"backup-4711@h3", 14},
                       .pid = 4711,
                       .key = 0xc0ffee5eed1e55a7},
        };
    }
    measure_message (name, &message);
}

/*  -------------------------------------------------------- applications */

/*  What lk_ask_lock () asks a message for. */
static void
read_lock (void *context)
{
    static const char *const fields[] = {
        "locks",    "object", "object_hex", "zone",  "context", "wait",
        "duration", "pid",    "linger",     "turn",  "key",     "type",
        "policy",   "quiet",  "limit",      "bound", "lenient", "static"};
    lk_message *bus = read_frame (context);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        (void) lk_message_has (bus, fields[i]);
    }
    lk_message_destroy (&bus);
}

static void
write_locked (void *context)
{
    lk_message *reply = lk_message_new ("backup-4711@h1", "LOCKED");
    (void) context;
    lk_message_set_serial (reply, 4711);
    lk_message_set_text (reply, "object", "backup/db-1");
    lk_message_set_hex (reply, "token", 0x0000000700000004);
    lk_message_set_hex (reply, "key", 0xc0ffee5eed1e55a7);
    lk_message_set_number (reply, "ordinal", 1);
    lk_message_set_text (reply, "type", "exclusive");
    lk_message_set_number (reply, "left", -1);
    lk_message_set_number (reply, "until", -1);
    lk_message_set_number (reply, "session", 3);
    lk_message_set_number (reply, "lease_until", 86408000);
    lk_message_set_number (reply, "lease", 8000);
    lk_message_set_text (reply, "lease_page", "/run/lockkeeper/lock.lease");
    lk_message_set_from (reply, "lock@h1");
    lk_bytes_cut (&frame, 0);
    const lk_err error = lk_message_write (reply, &frame);
    LK_ASSERT (error == LK_OK);
    lk_message_destroy (&reply);
}

static void
measure_applications (void)
{
    lk_bytes lock = lk_vector_find ("app-lock")->frame;
    task tasks[] = {{"lock.read", read_lock, &lock, 0},
                    {"locked.write", write_locked, NULL, 0}};
    measure (tasks, 2);
}

int
main (int argc, char **argv)
{
    if (argc > 1) {
        rounds = strtoul (argv[1], NULL, 10);
    }
    lk_example_hostmap (&hostmap);
    lk_arena_init (&arena);
    measure_ops ("ops", 1);
    measure_ops ("ops16", OPS_MAX);
    measure_example ("acked", "lock-acked");
    measure_example ("lock", "lock-lock");
    measure_example ("locked", "lock-locked");
    measure_example ("ping", "lock-ping");
    measure_applications ();
    lk_arena_clear (&arena);
    lk_bytes_clear (&frame);
    return 0;
}
