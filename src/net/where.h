/*  where.h - where this host's router is, for who speaks with it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_WHERE_H
#define LK_WHERE_H

/*  The endpoint, or several (endpoint.h): what the caller was told, if that is
 *  not NULL; else $LOCKKEEPER_ENDPOINT, unless it is empty; else what the
 *  configuration of this host gives its router; else the default. Belongs to
 *  the caller, or is good until this thread asks again. */
const char *lk_where (const char *told);

/*  The same with that file as the configuration; NULL: the usual one. */
const char *lk_where_by (const char *path, const char *told);

/*  The same for a tool of administrators that was told nothing: their own
 *  endpoint in place of that of the configuration, if we may connect to it. It
 *  is the other one with "-admin" behind it, unless the configuration says
 *  otherwise. */
const char *lk_where_admin (const char *path);

/*  The client file by which a session is to be had, NULL: it is one of this
 *  host. That is `told`, if it is not NULL, else $LOCKKEEPER_CLIENT unless it
 *  is empty or *endpoint_p is one of this host. *endpoint_p becomes that of
 *  $LOCKKEEPER_ENDPOINT if it is NULL, and that has servers: the servers to
 *  connect with, NULL: those of the file. */
const char *lk_where_client (const char *told, const char **endpoint_p);

#endif
