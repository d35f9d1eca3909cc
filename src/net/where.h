/*  where.h - where this host's router is, for who speaks with it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_WHERE_H
#define LK_WHERE_H

/*  The endpoint, or several (endpoint.h): what the caller was told, if that is
 *  not NULL; else $LOCKKEEPER_ENDPOINT, unless it is empty; else the default.
 *  Belongs to the caller or the environment. */
const char *lk_where (const char *told);

#endif
