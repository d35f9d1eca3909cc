/*  starving.h - how long daemons wait for a processor
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A lease ends, and rightly, if the machine leaves who has to renew it no time
 *  to do so. That is no fault of the daemons: on an idle machine none of their
 *  threads waits for more than some hundredths of its time.
 */

#ifndef LK_STARVING_H
#define LK_STARVING_H

#include <stdint.h>
#include <sys/types.h>

/*  The longest that one thread of the daemons of that session (setsid) waited
 *  since the last call, in ns; 0 at the first call, and where the kernel does
 *  not count that (/proc/PID/task/TID/schedstat). */
int64_t lk_starving_ns (pid_t session);

#endif
