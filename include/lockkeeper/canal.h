/*  canal.h - so many at once for each resource, and the rest turned away
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A name stands for resources of one kind, whose number may change any time:
 *  each caller says how many units one resource has, and how many resources
 *  there are in its eyes. There are never more units out than the product of
 *  the two, in the eyes of the one who gets one.
 *
 *      uint32_t ordinal;
 *      if (lk_canal_acquire (session, "db", 3, 1, &ordinal) == LK_OK) {
 *          use_one_of_three ();
 *          (void) lk_canal_release (session, "db", 3, 1);
 *      }
 */

#ifndef LOCKKEEPER_CANAL_H
#define LOCKKEEPER_CANAL_H

#include <lockkeeper/lockkeeper.h>

#ifdef __cplusplus
extern "C" {
#endif

/*  Takes a unit, which the session holds then; a session may have several. The
 *  ordinal (its pointer may be NULL) is how many are out, this one too.
 *  LK_FULL, at once, if max_per * resources are out already. LK_INVALID if one
 *  of them is 0, or their product over LK_LIMIT_MAX; and what else
 *  lk_lock_acquire says. A unit that is lost is told as LK_EVENT_LOST. */
lk_err lk_canal_acquire (lk_session *session, const char *name,
                         uint32_t max_per, uint32_t resources,
                         uint32_t *ordinal_p);

/*  Gives back the newest of this session's units of that name, also if it was
 *  lost. LK_UNKNOWN if it has none; else as lk_lock_release. How many there
 *  are does not matter here, but has to make sense. The end of the session, or
 *  of the process, gives back all its units. */
lk_err lk_canal_release (lk_session *session, const char *name,
                         uint32_t max_per, uint32_t resources);

#ifdef __cplusplus
}
#endif

#endif
