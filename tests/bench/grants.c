/*  grants.c - what a grant costs, by kind and length of the queue
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  grants STEPS
 *
 *  One object, a queue of that many. Each step one leaves and one comes, so
 *  that the length stays. In a mixed queue all but every tenth are shared.
 */

#include "lib/figures.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>

static size_t steps;

static const lk_decree decree = {.term = {7, 0xa1},
                                 .members = 1,
                                 .leader_count = 1,
                                 .leader = {0}};

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
    int64_t start = lk_figures_cpu_ns ();
    for (size_t i = 0; i < steps; i++) {
        last++;
        apply (&table, LK_OP_DROP, last - length, a);
        apply (&table, LK_OP_ADD, last, last % other == 0 ? b : a);
    }
    lk_figure (NULL, lk_figures_us (start) / (double) steps, "us",
               "core.grant.%s.queue%zu", what, length);
    lk_table_clear (&table);
}

int
main (int argc, char **argv)
{
    const lk_lock_mode exclusive = {.type = LK_EXCLUSIVE};
    const lk_lock_mode soft = {.type = LK_EXCLUSIVE, .soft = true};
    const lk_lock_mode shared = {.type = LK_SHARED};
    const lk_lock_mode units = {.type = LK_SEMAPHORE, .limit = 8};
    const size_t lengths[] = {1, 1000, 100000};
    steps = argc == 2 ? strtoul (argv[1], NULL, 10) : 0;
    if (steps == 0) {
        fprintf (stderr, "usage: %s STEPS\n", argv[0]);
        return 2;
    }
    for (size_t i = 0; i < 3; i++) {
        const size_t length = lengths[i];
        measure ("exclusive", length, &exclusive, &exclusive, 1);
        measure ("semaphore8", length, &units, &units, 1);
        measure ("shared", length, &shared, &shared, 1);
        measure ("soft", length, &soft, &soft, 1);
        measure ("mixed", length, &shared, &exclusive, 10);
    }
    measure ("mixedsoft", 1000, &shared, &soft, 10);
    return 0;
}
