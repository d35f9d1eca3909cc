/*  report.h - what a host holds, to homes that begin a reclaim with nothing
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Used by proxy.c; lockkeeper-protocol(7), 9.7.
 */

#ifndef LK_REPORT_H
#define LK_REPORT_H

#include "proxy_private.h"

/*  Forgets what was reported. */
void lk_report_clear (lk_proxy *proxy);

/*  Another decree or session: nobody has a report of it. */
void lk_report_restart (lk_proxy *proxy);

/*  Sends the part that a home has not acknowledged yet. */
void lk_report_send (lk_proxy *proxy, uint8_t home);

/*  A home has that part in writing. */
void lk_report_heard (lk_proxy *proxy, uint8_t home, uint64_t part);

#endif
