/*  endpoint.h - socket files
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_ENDPOINT_H
#define LK_ENDPOINT_H

#include "net/problem.h"

#include <stdbool.h>
#include <sys/types.h>

#define LK_IPC "ipc://"
#define LK_TCP "tcp://"

/*  Whether the endpoint begins with `transport` and goes on. */
lk_err lk_endpoint_check (const char *endpoint, const char *transport,
                          lk_problem *problem);

/*  Where a process looks for the router of its host: one or more ipc://PATH,
 *  separated by commas or blanks. What follows these is a part of the path
 *  unless it begins with a transport, "xxx://". */

/*  Takes the first address off the list; false if there is none left. One that
 *  has no room is cut. */
bool lk_endpoint_next (const char **list, char *endpoint, size_t size);

/*  Whether each of them is ipc://PATH, and there is one; else what is wrong. */
lk_err lk_endpoint_check_list (const char *list, lk_problem *problem);

/*  Why there is no way to any router of the list, each tried once more, in a
 *  sentence that names all of them; the number is that of EACCES or EPERM if
 *  one of them is, else the last one's; ETIMEDOUT if one takes connections. */
void lk_endpoint_why_not (const char *list, lk_problem *problem);

/*  The number of a group by its name or number; (gid_t) -1 for NULL, "". */
lk_err lk_endpoint_find_group (const char *group, gid_t *gid,
                               lk_problem *problem);

/*  Whether there is such a group, and we may make it that of a file. */
bool lk_endpoint_may_give_to (const char *group);

/*  Whether there is something at ipc://PATH that we may connect to: 0, or
 *  errno (ENOENT, EACCES). Does not look whether anybody listens. */
int lk_endpoint_absence (const char *endpoint);

/*  Whether somebody takes a connection at ipc://PATH: 0, or errno of the
 *  attempt (ENOENT, ECONNREFUSED, EACCES). 0 for other transports: not
 *  tried. */
int lk_endpoint_probe (const char *endpoint);

/*  Checks ipc://PATH and removes the socket file of a dead process. */
lk_err lk_endpoint_clear_way (const char *endpoint, lk_problem *problem);

/*  The file is made with no more than `mode` between mask and unmask. */
mode_t lk_endpoint_mask (mode_t mode);
void lk_endpoint_unmask (mode_t old);

lk_err lk_endpoint_set_owner (const char *endpoint, mode_t mode, gid_t gid,
                              lk_problem *problem);

/*  The number of the socket file, 0 if there is none; and removes the file if
 *  it still is that one. */
ino_t lk_endpoint_file (const char *endpoint);
void lk_endpoint_remove (const char *endpoint, ino_t file);

#endif
