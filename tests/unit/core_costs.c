/*  core_costs.c - what a LOCK and its UNLOCK allocate and hash, counted
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  No time and no instructions, which compilers and machines change: whoever
 *  adds a copy of a name, or looks the same thing up once more, is told here.
 *  The linker puts the counters ahead of what is counted. Who makes it less
 *  lowers the figures; lockkeeper-internals(7), What a lock costs.
 */

#include "decree.h"
#include "lib/small.h"
#include "lib/suite.h"
#include "table.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "wire/lock_codec.h"
#include "wire/message_frame.h"

#include <check.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define APP 7
#define PAIRS 100

typedef struct {
    size_t allocations;
    size_t hashes; /* SipHash, of names that others choose */
} costs;

static lk_small small;
static char name[24]; /* at home on `home` */
static lk_host home;
static uint64_t serial;
static costs cost[LK_SMALL_HOSTS_MAX];
static costs *now; /* NULL: nothing is counted */

/*  -------------------------------------------------------- counters */

void *__real_lk_alloc (size_t size);
void *__real_lk_realloc (void *memory, size_t size);
void *__real_lk_memdup (const void *data, size_t size);
uint64_t __real_lk_hash64 (const void *data, size_t size);
void *__wrap_lk_alloc (size_t size);
void *__wrap_lk_realloc (void *memory, size_t size);
void *__wrap_lk_memdup (const void *data, size_t size);
uint64_t __wrap_lk_hash64 (const void *data, size_t size);

static void
count_allocation (void)
{
    if (now) {
        now->allocations++;
    }
}

void *
__wrap_lk_alloc (size_t size)
{
    count_allocation ();
    return __real_lk_alloc (size);
}

void *
__wrap_lk_realloc (void *memory, size_t size)
{
    count_allocation ();
    return __real_lk_realloc (memory, size);
}

void *
__wrap_lk_memdup (const void *data, size_t size)
{
    count_allocation ();
    return __real_lk_memdup (data, size);
}

uint64_t
__wrap_lk_hash64 (const void *data, size_t size)
{
    if (now) {
        now->hashes++;
    }
    return __real_lk_hash64 (data, size);
}

/*  -------------------------------------------------------- a cluster */

static void
take_step (lk_world *self, lk_host host, const lk_event *event,
           lk_effects *effects)
{
    now = &cost[host];
    lk_node_step (self->node[host], event, effects);
    now = NULL;
}

static void
set_up (void)
{
    const lk_small_plan plan = {.hosts = 4, .leaders = 3, .seed = 3};
    lk_small_init (&small, &plan);
    lk_small_run (&small, 3000);
    home = lk_small_leaders (&small)->leader[0];
    lk_name object = {name, 0};
    for (int i = 0; object.size == 0 || lk_small_home (&small, object) != home;
         i++) {
        snprintf (name, sizeof name, "backup/job-%d", i);
        object.size = (uint16_t) strlen (name);
    }
}

static void
tear_down (void)
{
    lk_small_clear (&small);
}

static void
ask (lk_host host, lk_event_type type)
{
    lk_event event = {.type = type,
                      .more = true,
                      .request = lk_small_request (APP, serial, name)};
    lk_small_step (&small, host, &event);
    lk_small_flush (&small, host);
    while (lk_small_wave (&small) > 0) {
    }
    ck_assert_uint_eq (small.told_count, 1);
    lk_small_forget (&small);
}

/*  One after the other, as one client does it, once all have got memory. */
static void
lock_and_unlock (lk_host host)
{
    for (int i = 0; i < 2 * PAIRS; i++) {
        if (i == PAIRS) {
            memset (cost, 0, sizeof cost);
            small.base.take_step = take_step;
        }
        serial++;
        ask (host, LK_ON_LOCK);
        ask (host, LK_ON_UNLOCK);
    }
    small.base.take_step = NULL;
}

static void
check_costs (lk_host host, size_t allocations, size_t hashes)
{
    ck_assert_uint_le (cost[host].allocations, PAIRS * allocations);
    ck_assert_uint_le (cost[host].hashes, PAIRS * hashes);
}

static lk_host
outsider (void)
{
    lk_host host = 0;
    while (lk_decree_place (lk_small_leaders (&small), host) >= 0) {
        host++;
    }
    return host;
}

/*  -------------------------------------------------------- tests */

/*  An entry and its queue, a copy of each operation for the others, and what a
 *  proxy has. */
START_TEST (the_home_has_what_it_needs)
{
    lock_and_unlock (home);
    check_costs (home, 7, 7);
}
END_TEST

START_TEST (a_follower_copies_nothing)
{
    lock_and_unlock (home);
    check_costs (lk_small_leaders (&small)->leader[1], 2, 1);
    check_costs (lk_small_leaders (&small)->leader[2], 2, 1);
}
END_TEST

/*  The request, its application and the address of that. */
START_TEST (a_proxy_has_the_request)
{
    lock_and_unlock (outsider ());
    check_costs (outsider (), 3, 4);
    check_costs (home, 4, 3);
}
END_TEST

/*  Of a packed message: itself and its text, here and where it is read. */
START_TEST (a_message_is_two_blocks)
{
    static const lk_ticket ticket = {.request = {.serial = 7},
                                     .object = {"\0\0x", 3},
                                     .owner = {"app-1@h1", 8}};
    lk_op op = {.kind = LK_OP_ADD, .by.host = LK_NOBODY, .ticket = ticket};
    const lk_lock_message ops = {.kind = LK_MSG_OPS,
                                 .to = 1,
                                 .origin = LK_NOBODY,
                                 .destination = LK_NOBODY,
                                 .as.ops = {.ops = &op, .op_count = 1}};
    lk_hostmap hostmap;
    lk_hostmap_init (&hostmap);
    (void) lk_hostmap_intern (&hostmap, "h1", 1);
    (void) lk_hostmap_intern (&hostmap, "h2", 2);
    lk_bytes frame = {0};
    lk_bytes_reserve (&frame, 1024);
    lk_arena arena;
    lk_arena_init (&arena);
    (void) lk_arena_room (&arena, 1);
    costs written = {0}, read = {0};

    now = &written;
    lk_message *message = lk_lock_pack (&ops, &hostmap, 0);
    lk_message_set_from (message, "lock@h1");
    ck_assert_int_eq (lk_message_write (message, &frame), LK_OK);
    lk_message_destroy (&message);
    now = &read;
    lk_frame_header header;
    const char *why;
    char problem[128];
    size_t at = 0;
    lk_lock_message got;
    ck_assert_int_eq (
        lk_frame_next (frame.data, frame.size, &at, &header, &why),
        LK_FRAME_MESSAGE);
    message = lk_message_read (&header, problem, sizeof problem);
    ck_assert_int_eq (lk_lock_read (message, &hostmap, 1, &arena, &got), LK_OK);
    lk_message_destroy (&message);
    now = NULL;
    ck_assert_uint_le (written.allocations, 2);
    ck_assert_uint_le (read.allocations, 2);
    lk_arena_clear (&arena);
    lk_bytes_clear (&frame);
}
END_TEST

/*  What malloc takes for that much: 8 bytes more, in steps of 16. */
static size_t
block (size_t size)
{
    return (size + 8 + 15) / 16 * 16;
}

/*  So that it is 256 on a leader with the tables that both are in. Whatever the
 *  length of its name, whose own bytes are not counted. */
START_TEST (a_held_lock_has_232_bytes)
{
    for (size_t length = 1; length <= 16; length++) {
        size_t all = block (sizeof (lk_entry))
                     + block (offsetof (lk_queue, key) + length) - length;
        ck_assert_uint_le (all, 232);
    }
}
END_TEST

static Suite *
make_suite (void)
{
    Suite *suite = suite_create ("core_costs");
    TCase *tests = tcase_create ("costs");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, the_home_has_what_it_needs);
    tcase_add_test (tests, a_follower_copies_nothing);
    tcase_add_test (tests, a_proxy_has_the_request);
    tcase_add_test (tests, a_message_is_two_blocks);
    tcase_add_test (tests, a_held_lock_has_232_bytes);
    suite_add_tcase (suite, tests);
    return suite;
}

int
main (void)
{
    return lk_suite_run (make_suite ());
}
