/*  lease_page.h - tells applications until when their host may hold locks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A file that the lock service maps and applications read without a system
 *  call: {char tag[8] "LKLEASE1"; uint64_t session; int64_t until_ms}, in the
 *  host's byte order, both numbers atomic; until_ms is of the boot clock. A
 *  lock service that was restarted makes a new file: who has mapped the old
 *  one sees its lease run out.
 */

#ifndef LK_LEASE_PAGE_H
#define LK_LEASE_PAGE_H

#include "net/problem.h"

#include <stdint.h>

/*  -------------------------------------------------------- writer */

typedef struct lk_lease_page lk_lease_page;

/*  Makes the file anew, readable for all, in place of an old one; session 0,
 *  over. NULL and problem, also if another process writes to the old one:
 *  applications would take the lease of one lock service for the other's. */
lk_lease_page *lk_lease_page_new (const char *path, lk_problem *problem);

/*  Unmaps it and leaves the file: set until_ms to 0 before if the lease ends
 *  with us. NULL-safe, nulls the pointer. */
void lk_lease_page_destroy (lk_lease_page **self_p);

/*  Nobody ever sees the one session with the other's time. */
void lk_lease_page_set (lk_lease_page *self, uint64_t session,
                        int64_t until_ms);

/*  -------------------------------------------------------- reader */

typedef struct lk_lease_view lk_lease_view;

/*  Maps the file. NULL and problem if it is not there or is none. */
lk_lease_view *lk_lease_view_new (const char *path, lk_problem *problem);
void lk_lease_view_destroy (lk_lease_view **self_p);

/*  Until when `session` lasts (boot clock, ms); 0 if the page has another
 *  one by now. */
int64_t lk_lease_view_until (const lk_lease_view *self, uint64_t session);

#endif
