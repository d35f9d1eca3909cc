/*  cgroup.h - a control group of its own for the command of `run`
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Nobody leaves it, whatever sessions and parents it changes, so all of it
 *  can be killed at once. It takes cgroup v2 (Linux 5.14), and that we may
 *  write to the folder of the group that we are in: as root, or where systemd
 *  has delegated it to the user. Elsewhere there is none, silently.
 */

#ifndef LK_CGROUP_H
#define LK_CGROUP_H

#include <limits.h>
#include <stdbool.h>

typedef struct {
    char path[PATH_MAX]; /* its folder; "": there is none */
} lk_cgroup;

/*  Makes one below our own. */
void lk_cgroup_make (lk_cgroup *self);

/*  The calling process moves there, if there is one. */
void lk_cgroup_enter (const lk_cgroup *self);

/*  Whether anybody is in it. */
bool lk_cgroup_is_used (const lk_cgroup *self);

/*  Kills all that is in it. */
void lk_cgroup_kill (const lk_cgroup *self);

/*  When nobody is in it any more. */
void lk_cgroup_remove (const lk_cgroup *self);

#endif
