/*  child.h - the command that `run` runs, in a process group of its own
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  If we have the terminal the group gets it, so that Ctrl-C and Ctrl-Z
 *  reach the command as if it ran alone.
 */

#ifndef LK_CHILD_H
#define LK_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct {
    pid_t pid;
    bool has_terminal;
} lk_child;

/*  Runs argv (NULL at its end). False and errno if there is no such program
 *  or it cannot be run: nothing runs then. */
bool lk_child_start (lk_child *self, char **argv);

/*  To the whole process group. */
void lk_child_signal (const lk_child *self, int signal);

/*  After SIGCHLD. True if it has ended: *code is its exit code, or 128 and
 *  the signal that ended it. Stops ourselves along when it was stopped. */
bool lk_child_ended (lk_child *self, int *code);

/*  After SIGCONT: goes on, with the terminal. */
void lk_child_continue (const lk_child *self);

#endif
