/*  lease.h - until when the host's lock service vouches for its locks
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A lock is good no longer than the lease of the session that it was granted
 *  in. The lock service writes the lease into a shared page, so that a lock
 *  ends in time although the lock service hangs or is gone. A lock service
 *  that was restarted makes a new page: then the old one keeps what it said
 *  last, and a lock of that time goes on looking at the old one.
 *
 *  On a machine without a router the process itself knows until when it may
 *  believe, and writes that where its children see it.
 */

#ifndef LK_LEASE_H
#define LK_LEASE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct lk_lease lk_lease;

/*  The lease of `session`, which a LOCKED said to last until `until_ms`; never
 *  NULL. Takes `known` again if that is it (NULL: none known), else maps the
 *  page at `path`; without a page (NULL), or where it cannot be read, the lease
 *  ends at `until_ms` for good. Each take needs one drop. */
lk_lease *lk_lease_take (lk_lease *known, const char *path, uint64_t session,
                         int64_t until_ms);
void lk_lease_drop (lk_lease **self_p);

/*  Rows of leases that this process moves on itself, which its children read,
 *  too. */
typedef struct lk_lease_shelf lk_lease_shelf;

/*  A lease that lk_lease_move says the end of, on that shelf or a new one
 *  (*shelf_p NULL: there is none yet); needs one drop. */
lk_lease *lk_lease_own (lk_lease_shelf **shelf_p, int64_t until_ms);
void lk_lease_move (lk_lease *self, int64_t until_ms);
bool lk_lease_is_own (const lk_lease *self);

/*  Nothing more is put there. NULL-safe, nulls the pointer. */
void lk_lease_leave (lk_lease_shelf **shelf_p);

/*  Boot clock, ms; 0 as soon as the session is over. */
int64_t lk_lease_until (const lk_lease *self);

/*  Whether it is read from a page, and so can be prolonged. */
bool lk_lease_lives (const lk_lease *self);

/*  The file of its page, NULL: none; and its session. */
const char *lk_lease_page_path (const lk_lease *self, uint64_t *session);

/*  Why its page cannot be read, in a sentence; NULL: it can, or has none. */
const char *lk_lease_problem (const lk_lease *self);

#endif
