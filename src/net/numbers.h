/*  numbers.h - the addresses of an endpoint, in numbers, one after the other
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A name may have several addresses. It is looked up each time anew when all
 *  of them were had, in a thread of its own (lookup.h).
 */

#ifndef LK_NUMBERS_H
#define LK_NUMBERS_H

#include "net/lookup.h"
#include "net/problem.h"
#include "net/tcp.h"

#include <stdbool.h>

typedef struct lk_numbers lk_numbers;

typedef enum {
    LK_NUMBERS_FOUND,
    LK_NUMBERS_WAIT, /* being looked up: ask again when the fd is readable */
    LK_NUMBERS_NONE  /* it has no address now */
} lk_numbers_state;

/*  NULL and problem: it is not tcp://HOST:PORT. */
lk_numbers *lk_numbers_new (const char *endpoint, lk_problem *problem);

/*  NULL-safe, nulls the pointer. */
void lk_numbers_destroy (lk_numbers **self_p);

/*  The next address. NONE: and problem; the next call looks it up again. */
lk_numbers_state lk_numbers_next (lk_numbers *self,
                                  char endpoint[LK_TCP_ENDPOINT_SIZE],
                                  lk_problem *problem);

/*  While it is looked up; else -1. */
int lk_numbers_fd (const lk_numbers *self);

/*  Whether what was had last was the last of its addresses. */
bool lk_numbers_are_over (const lk_numbers *self);

#endif
