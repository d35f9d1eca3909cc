/*  problem.h - why something failed, in a sentence for an operator
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Whoever fails fills it in and returns the lk_err; whoever knows what to do
 *  about it logs it, once. Lower case, the subject in quotes, the reason
 *  behind a colon: cannot bind 'tcp://...': address in use.
 */

#ifndef LK_PROBLEM_H
#define LK_PROBLEM_H

#include <lockkeeper/error.h>
#include <stddef.h>

typedef struct {
    int number; /* errno or 0 */
    char text[320];
} lk_problem;

/*  Writes the sentence and returns `error`; NULL self is fine. */
lk_err lk_problem_set (lk_problem *self, lk_err error, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

/*  The same with errno's text behind a colon; returns LK_SYSTEM. */
lk_err lk_problem_errno (lk_problem *self, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/*  errno's text with a small letter, and what to do about it or who was refused
 *  where that is the same for all: "no space left on device; make room
 *  there". */
void lk_problem_reason (int number, char *text, size_t size);

#endif
