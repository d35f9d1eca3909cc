/*  jeopardy.h - who holds a lock hears that it may soon be lost
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  lockkeeper-protocol(7), 9.13.
 */

#ifndef LK_JEOPARDY_H
#define LK_JEOPARDY_H

#include "demand.h"
#include "set.h"

/*  A session or decree begins: silence counts from now on. */
void lk_jeopardy_restart (lk_proxy *proxy);

/*  Tells those whose homes fell silent, or are heard again; for all, if the
 *  session has less than half of its lease left. */
void lk_jeopardy_run (lk_proxy *proxy);

/*  Dangers, as bits: its home may be lost, or the session of this host; its
 *  application's credential ends soon. */
#define LK_DANGER_HOME 1
#define LK_DANGER_CREDENTIAL 2

/*  Tells of one that is held, or of a set, when a danger begins or all is
 *  well again. */
void lk_jeopardy_look_at (lk_proxy *proxy, lk_demand *demand);
void lk_jeopardy_look_at_set (lk_proxy *proxy, lk_set *set);

/*  Why the session ends, or will if nothing better comes: ISOLATED or
 *  QUORUM. */
lk_err lk_jeopardy_why_over (const lk_proxy *proxy);

#endif
