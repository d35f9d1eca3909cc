/*  backup.h - what an operator keeps of a cluster, as one text
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A JSON object per line: the cluster, each lock that was held, and the end,
 *  which has their number and a checksum. So a list of any length is written as
 *  it comes, grep finds a lock in it, and a text that was cut off or changed is
 *  known. Does no I/O. lockkeeper-operations(7), BACK UP.
 */

#ifndef LK_BACKUP_H
#define LK_BACKUP_H

#include "util/arena.h"
#include "util/bytes.h"
#include "wire/hostmap.h"
#include "wire/lock_state.h"

#define LK_BACKUP_FORMAT 1
#define LK_BACKUP_SIZE_MAX (1024 * 1024 * 1024) /* bytes that are read */

/*  The cluster. A text of settings is there if their version is not 0. */
typedef struct {
    int64_t made_s; /* since 1970 */
    char cluster[LK_CLUSTER_LEN_MAX + 1];
    char host[LK_HOST_LEN_MAX + 1]; /* whose lock service told it */
    uint64_t generation;
    uint64_t term; /* of the decree that was in force */
    lk_hostmap hostmap;
    lk_hosts members; /* of that hostmap */
    lk_settings_id settings;
    lk_name text;
} lk_backup;

/*  A lock that somebody held; without its key, which is a secret. */
typedef struct {
    lk_name object; /* a key of object_key.h */
    lk_lock_type type;
    bool is_static;
    uint32_t limit, bound;
    lk_name host, owner;
    uint64_t token;
} lk_backup_lock;

/*  A text that is written, line by line; all zeroes is an empty one. */
typedef struct {
    uint64_t locks;
    uint64_t check;
} lk_backup_sum;

/*  Each adds one line to `out`. */
void lk_backup_write (lk_backup_sum *self, lk_bytes *out,
                      const lk_backup *backup);
void lk_backup_write_lock (lk_backup_sum *self, lk_bytes *out,
                           const lk_backup_lock *lock);
void lk_backup_write_end (const lk_backup_sum *self, lk_bytes *out);

/*  A lock of it; what it points to is gone after the call. */
typedef void lk_backup_fn (void *user, const lk_backup_lock *lock);

/*  Reads all of it, and calls fn (may be NULL) for each lock when the text is
 *  known to be whole. The text of settings is the arena's. On failure
 *  LK_INVALID, and `problem` says what is wrong. */
lk_err lk_backup_read (lk_slice text, lk_arena *arena, lk_backup *self,
                       lk_backup_fn *fn, void *user, char problem[128]);

#endif
