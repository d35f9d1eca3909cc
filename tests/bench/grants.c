/*  grants.c - what a grant costs, by kind and length of the queue
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  One line per kind: one object, a queue of that many. Each step one leaves
 *  and one comes, so that the length stays.
 */

#include "table.h"

#include <stdio.h>
#include <time.h>

#define STEPS 100000

static const lk_decree decree = {.term = {7, 0xa1},
                                 .members = 1,
                                 .leader_count = 1,
                                 .leader = {0}};

static int64_t
clock_us (void)
{
    struct timespec now;
    clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t) now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void
apply (lk_table *table, lk_op_kind kind, size_t number,
       const lk_lock_mode *mode)
{
    lk_op op = {.kind = kind, .by.host = LK_NOBODY};
    op.ticket = (lk_ticket) {.request = {(lk_host) (number % 64), 3, number},
                             .object = {"backup/db", 9},
                             .owner = {"backup-4711@h1", 14},
                             .pid = 4711,
                             .key = number * 0x9e3779b97f4a7c15u,
                             .mode = *mode};
    lk_table_apply (table, 0, &op, 1000, NULL);
}

/*  In a step the oldest ticket goes, as its holder would unlock; every
 *  `other` is of mode b. */
static void
measure (const char *what, size_t length, const lk_lock_mode *a,
         const lk_lock_mode *b, size_t other)
{
    lk_table table;
    size_t last = 0;
    lk_table_init (&table);
    lk_table_begin (&table, &decree);
    while (last < length) {
        last++;
        apply (&table, LK_OP_ADD, last, last % other == 0 ? b : a);
    }
    int64_t start_us = clock_us ();
    for (size_t i = 0; i < STEPS; i++) {
        last++;
        apply (&table, LK_OP_DROP, last - length, a);
        apply (&table, LK_OP_ADD, last, last % other == 0 ? b : a);
    }
    printf ("grants: %-34s %6zu in the queue: %.3f us to leave and come\n",
            what, length, (double) (clock_us () - start_us) / STEPS);
    lk_table_clear (&table);
}

int
main (void)
{
    const lk_lock_mode exclusive = {.type = LK_EXCLUSIVE};
    const lk_lock_mode soft = {.type = LK_EXCLUSIVE, .soft = true};
    const lk_lock_mode shared = {.type = LK_SHARED};
    const lk_lock_mode units = {.type = LK_SEMAPHORE, .limit = 8};
    const size_t lengths[] = {1, 1000, 100000};
    for (size_t i = 0; i < 3; i++) {
        const size_t length = lengths[i];
        measure ("exclusive", length, &exclusive, &exclusive, 1);
        measure ("semaphore of 8", length, &units, &units, 1);
        measure ("shared", length, &shared, &shared, 1);
        measure ("soft", length, &soft, &soft, 1);
        measure ("shared, every 10th exclusive", length, &shared, &exclusive,
                 10);
    }
    measure ("shared, every 10th soft", 1000, &shared, &soft, 10);
    return 0;
}
