/*  pidfd.h - hears at once when a process ends
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  By pidfd_open(2). Where there is none (a kernel before 5.3, or a container
 *  that forbids it) the process is looked for once a second; one that took over
 *  the number is taken for it.
 */

#ifndef LK_PIDFD_H
#define LK_PIDFD_H

#include "net/loop.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct lk_process lk_process;

/*  Whether the process is there and has not ended; one that took over the
 *  number is taken for it. */
bool lk_process_is_alive (pid_t pid);

/*  Calls fn once when the process ends. NULL and errno if it cannot be
 *  watched: ESRCH when it has ended already. */
lk_process *lk_process_watch (lk_loop *loop, pid_t pid, lk_loop_fn *fn,
                              void *user);

/*  Ends the watch, also from within fn. NULL-safe, nulls the pointer. */
void lk_process_unwatch (lk_process **self_p);

#endif
