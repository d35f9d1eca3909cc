/*  wish.h - whether what a user asks for makes sense
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each tells what is wrong in a sentence, static; NULL: nothing is.
 */

#ifndef LK_WISH_H
#define LK_WISH_H

#include <lockkeeper/lockkeeper.h>

/*  Milliseconds, a thousand years: waits and durations at most. */
#define LK_WISH_TIME_MAX (INT64_C (1) << 45)

const char *lk_wish_check_name (const char *object, size_t len);
const char *lk_wish_check_context (const char *context);
const char *lk_wish_check_options (const lk_lock_options *options);

/*  Of a set of names. */
const char *lk_wish_check_set (const lk_object_name *names, size_t count,
                               const lk_lock_options *options);

/*  Whether it may be the reason of a forced release (NULL: none). */
bool lk_wish_is_reason (const char *reason);

#endif
