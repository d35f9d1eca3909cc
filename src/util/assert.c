/*  assert.c - the last words of a program that found its own mistake
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "util/assert.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void
lk_assert_failed (const char *file, int line, const char *what)
{
    fprintf (stderr, "lockkeeper: %s:%d: mistake in the program: %s\n", file,
             line, what);
    fflush (stderr);
    abort ();
}
