/*  digest.c - what a digest of all tickets costs a leader
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  digest TICKETS...
 *
 *  Of a table of three homes, all of whose digests it applies; and the time
 *  to add one ticket. CPU time of this process: no other work counts.
 */

#include "digest.h"
#include "lib/figures.h"

#include <stdio.h>
#include <stdlib.h>

#define HOMES 3
#define ROUNDS 5

static const lk_decree decree = {.term = {7, 0xa1},
                                 .members = 7,
                                 .leader_count = HOMES,
                                 .leader = {0, 1, 2}};

static void
add (lk_table *table, size_t number)
{
    char text[32];
    int size = snprintf (text, sizeof text, "backup/db-%08zu", number);
    lk_op op = {.kind = LK_OP_ADD, .by.host = LK_NOBODY};
    op.ticket = (lk_ticket) {.request = {(lk_host) (number % 64), 3, number},
                             .object = {text, (uint16_t) size},
                             .owner = {"backup-4711@h1", 14},
                             .pid = 4711,
                             .key = number * 0x9e3779b97f4a7c15u};
    lk_table_apply (table, lk_table_home (table, op.ticket.object), &op, 1000,
                    NULL);
}

static void
measure (size_t tickets)
{
    lk_table table;
    lk_op op = {.kind = LK_OP_DIGEST, .by.host = LK_NOBODY};
    lk_table_init (&table);
    lk_table_begin (&table, &decree);
    int64_t start = lk_figures_cpu_ns ();
    for (size_t number = 0; number < tickets; number++) {
        add (&table, number);
    }
    lk_figure (NULL, lk_figures_us (start) / (double) tickets, "us",
               "core.add.tickets%zu", tickets);
    start = lk_figures_cpu_ns ();
    for (int i = 0; i < ROUNDS * HOMES; i++) {
        lk_table_apply (&table, (uint8_t) (i % HOMES), &op, 1000, NULL);
    }
    lk_figure (NULL, lk_figures_us (start) / ROUNDS, "us",
               "core.digest.tickets%zu", tickets);
    lk_table_clear (&table);
}

int
main (int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        measure (strtoul (argv[i], NULL, 10));
    }
    return 0;
}
