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

/*  In the child, as the leader of its group, before it is the command; false:
 *  it must not run (ECANCELED). */
typedef bool (lk_child_prepare) (void *user);

/*  Runs argv (NULL at its end). False and errno if there is no such program
 *  or it cannot be run: nothing runs then. */
bool lk_child_start (lk_child *self, char **argv, lk_child_prepare *prepare,
                     void *user);

/*  To the whole process group. */
void lk_child_signal (const lk_child *self, int signal);

typedef enum {
    LK_CHILD_RUNS,
    LK_CHILD_STOPPED, /* by the terminal: we have to stop ourselves, too */
    LK_CHILD_ENDED
} lk_child_state;

/*  What waitpid (2) said of it: *code is its exit code, or 128 and the signal
 *  that ended it. */
lk_child_state lk_child_take (lk_child *self, int status, int *code);

/*  After SIGCHLD. Whether it has ended, as above. Stops ourselves along when
 *  it was stopped. */
bool lk_child_ended (lk_child *self, int *code);

/*  After SIGCONT: goes on, with the terminal. */
void lk_child_continue (const lk_child *self);

#endif
