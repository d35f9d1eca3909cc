/*  suite.h - runs the tests of a program
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_SUITE_H
#define LK_SUITE_H

#include <check.h>
#include <stdlib.h>

/*  All of a suite, which is freed; returns the program's exit code. */
static inline int
lk_suite_run (Suite *suite)
{
    SRunner *runner = srunner_create (suite);
    srunner_run_all (runner, CK_ENV);
    const int failed = srunner_ntests_failed (runner);
    srunner_free (runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
