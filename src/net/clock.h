/*  clock.h - the host's boot clock, the only clock that anybody reads
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_CLOCK_H
#define LK_CLOCK_H

#include <stdint.h>

/*  Milliseconds since the host was started; runs while it is suspended, and
 *  nobody can set it. The same for all processes of a host. */
int64_t lk_clock_ms (void);

/*  How long to poll for `when_ms` in the manner of poll(2): 0 if it is over,
 *  -1 for INT64_MAX. */
int lk_clock_poll_ms (int64_t when_ms);

#endif
