/*  tree.h - all that a command has started, whatever became of it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Descendants are found in /proc. Where their common ancestor has told the
 *  kernel to get the orphans among them (lk_tree_adopt) they are its own,
 *  even after setsid and a double fork, as long as it lives. After that they
 *  are known by a mark in the environment that they were given.
 */

#ifndef LK_TREE_H
#define LK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*  From now on orphans among our descendants become our children. */
void lk_tree_adopt (void);

/*  Whether we descend from that process. */
bool lk_tree_is_below (pid_t root);

/*  Sends a signal (0: none) to all descendants of `root` but `spared` and
 *  its own. How many there are. */
size_t lk_tree_signal (pid_t root, pid_t spared, int signal);

/*  Likewise, but none to who is in that process group. */
size_t lk_tree_signal_strays (pid_t root, pid_t spared, pid_t group,
                              int signal);

/*  Whether we have children that have not ended, but `spared`. */
bool lk_tree_has_children (pid_t spared);

/*  To all whose environment has `mark` ("NAME=value"), but us. How many. */
size_t lk_tree_signal_marked (const char *mark, int signal);

#endif
