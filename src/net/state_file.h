/*  state_file.h - a small file that is either the old or the new one
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Knows nothing of what is in it. While it is open, DIR/NAME.lock is locked
 *  (flock), so that two processes never are the same member. Links in the
 *  folder are not followed, and what root makes there is for the folder's
 *  owner: so root may write to a folder that is somebody else's.
 */

#ifndef LK_STATE_FILE_H
#define LK_STATE_FILE_H

#include "net/problem.h"

#include <stddef.h>

typedef struct lk_state_file lk_state_file;

/*  Locks DIR/NAME, which need not be there yet; DIR must (mode 0700 is
 *  advised). NULL and problem: number is EWOULDBLOCK if another process has
 *  it. */
lk_state_file *lk_state_file_open (const char *dir, const char *name,
                                   lk_problem *problem);

/*  Gives up the lock. NULL-safe, nulls the pointer. */
void lk_state_file_destroy (lk_state_file **self_p);

/*  DIR/NAME, for messages. */
const char *lk_state_file_path (const lk_state_file *self);

/*  Reads all of it: *data is the caller's (lk_free), with a NUL behind it.
 *  LK_UNKNOWN if there is none, LK_INVALID if it is over size_max, LK_SYSTEM
 *  and problem. */
lk_err lk_state_file_read (lk_state_file *self, size_t size_max, char **data,
                           size_t *size, lk_problem *problem);

/*  Replaces it, mode 0600. LK_OK: it is on disk and stays (file and folder
 *  are synced). LK_SYSTEM: it is the old one or the new one, unknown which:
 *  whoever depends on it has to end. */
lk_err lk_state_file_write (lk_state_file *self, const void *data, size_t size,
                            lk_problem *problem);

#endif
