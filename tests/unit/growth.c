/*  growth.c - nothing costs more because there is more of something else
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The core is compiled for it so that it counts the steps it takes (basic
 *  blocks), so that no load of the machine matters. Sixteen times as many may
 *  cost a few steps more, as in a heap, and not a multiple.
 */

#include "lib/growth.h"

#include "lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define FEW 1000
#define MANY (16 * FEW)
#define TIMES_MAX 2.0
#define MORE_MAX 300 /* steps */

void __sanitizer_cov_trace_pc (void);

static uint64_t steps;

void
__sanitizer_cov_trace_pc (void)
{
    steps++;
}

static uint64_t
count_steps (void)
{
    return steps;
}

START_TEST (as_much_beside_many)
{
    const size_t number = (size_t) _i;
    if (lk_growth_grows (number)) {
        return;
    }
    const lk_growth_cost few = lk_growth_measure (number, FEW, count_steps);
    const lk_growth_cost many = lk_growth_measure (number, MANY, count_steps);
    printf ("measured: %s: %.0f steps beside %d, %.0f beside %d\n",
            lk_growth_name (number), few.mean, FEW, many.mean, MANY);
    ck_assert_double_gt (few.mean, 0);
    ck_assert_double_lt (many.mean, few.mean * TIMES_MAX + MORE_MAX);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("growth");
    TCase *growth = tcase_create ("growth");
    int cases = 0;
    while (lk_growth_name ((size_t) cases)) {
        cases++;
    }
    tcase_set_timeout (growth, 60);
    tcase_add_loop_test (growth, as_much_beside_many, 0, cases);
    suite_add_tcase (suite, growth);
    return lk_suite_run (suite);
}
