/*  notify.h - what a daemon tells the service manager that started it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The protocol of sd_notify(3), without libsystemd: that one waits until
 *  there is room in the manager's queue, and who waits there renews no
 *  leases. Here only lk_notify_ready may wait. Without $NOTIFY_SOCKET all of
 *  this does nothing.
 *
 *  A router that hosts the lock service is one process: each of the two has
 *  its part of the status.
 */

#ifndef LK_NOTIFY_H
#define LK_NOTIFY_H

#include <stdint.h>

typedef enum { LK_NOTIFY_ROUTER, LK_NOTIFY_LOCK, LK_NOTIFY_PARTS } lk_notifier;

/*  The daemon does its work. */
void lk_notify_ready (void);

/*  One line for people; told if it differs from the one before. */
void lk_notify_status (lk_notifier part, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/*  The daemon ends, which may take so long. */
void lk_notify_stopping (int64_t most_ms);

/*  How often the manager wants to hear lk_notify_alive, in milliseconds; 0:
 *  never. It asks by $WATCHDOG_USEC and $WATCHDOG_PID. */
int64_t lk_notify_interval_ms (void);
void lk_notify_alive (void);

/*  Silence of less than that is no reason to end us; to be called once the
 *  manager has heard that we are ready, or ahead of that. */
void lk_notify_patience (int64_t least_ms);

#endif
