/*  file_limit.h - as many open files as a daemon may have
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_FILE_LIMIT_H
#define LK_FILE_LIMIT_H

/*  Raises the limit to the hard one: each session of an application, and each
 *  host at an arbiter, takes two. */
void lk_allow_descriptors (void);

#endif
