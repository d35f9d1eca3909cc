/*  cluster.h - how many hosts there are, and what that makes of the cluster
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Pure: counts in, transitions out. Up is more than half of the known
 *  hosts, complete is all of them; this host counts itself in both.
 */

#ifndef LK_CLUSTER_H
#define LK_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    size_t total; /* hosts known */
    size_t live;  /* hosts linked both ways, and this one */
} lk_cluster;

/*  A cluster of this one host. */
void lk_cluster_init (lk_cluster *self);

/*  Takes new counts; true if they differ: then CLUSTERUP or -DOWN and
 *  CLUSTERCOMPLETE or -INCOMPLETE have to be told. */
bool lk_cluster_set (lk_cluster *self, size_t total, size_t live);

bool lk_cluster_up (const lk_cluster *self);
bool lk_cluster_complete (const lk_cluster *self);

/*  The commands that say so. Static. */
const char *lk_cluster_up_command (const lk_cluster *self);
const char *lk_cluster_complete_command (const lk_cluster *self);

#endif
