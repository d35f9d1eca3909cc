/*  jeopardy.h - who holds a lock hears that it may soon be lost
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  lockkeeper-protocol(7), 9.13.
 */

#ifndef LK_JEOPARDY_H
#define LK_JEOPARDY_H

#include "asked.h"

/*  A session or decree begins: silence counts from now on. */
void lk_jeopardy_restart (lk_proxy *proxy);

/*  Tells those whose homes fell silent, or are heard again; for all, if the
 *  session has less than half of its lease left. */
void lk_jeopardy_run (lk_proxy *proxy);

/*  Tells of one that is held from now on, if it is in danger. */
void lk_jeopardy_look_at (lk_proxy *proxy, lk_asked *asked);

#endif
