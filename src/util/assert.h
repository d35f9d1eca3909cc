/*  assert.h - our own mistakes end the program, in production too
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Never for input from a peer, a file or a library.
 */

#ifndef LK_ASSERT_H
#define LK_ASSERT_H

_Noreturn void lk_assert_failed (const char *file, int line, const char *what);

#define LK_ASSERT(condition)                                                   \
    do {                                                                       \
        if (__builtin_expect (!(condition), 0)) {                              \
            lk_assert_failed (__FILE__, __LINE__, #condition);                 \
        }                                                                      \
    } while (0)

#endif
