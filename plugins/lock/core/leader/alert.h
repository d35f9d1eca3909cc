/*  alert.h - a leader's table is wrong: it is dropped, and every host told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Whoever finds it tells every host it knows, again and again until each has
 *  confirmed, for a while. One alert per term and leader is raised, and each
 *  is taken once. lockkeeper-protocol(7), 9.9.
 */

#ifndef LK_ALERT_H
#define LK_ALERT_H

#include "leader.h"

#define LK_ALERTS_KEPT 8   /* that were raised here */
#define LK_ALERTS_HEARD 32 /* that were taken, so as not to take them again */
#define LK_ALERT_MS 60000  /* for hosts that do not confirm */

/*  One that was raised here. */
typedef struct {
    lk_term term;
    lk_msg_alert alert; /* number 0: none */
    lk_hosts unaware;   /* who has not confirmed it yet */
    int64_t until_ms;
} lk_raised;

/*  Names one that was taken. */
typedef struct {
    lk_host from;
    uint64_t incarnation;
    uint64_t number;
} lk_alert_id;

/*  All zero: none. */
typedef struct {
    lk_raised raised[LK_ALERTS_KEPT]; /* rings */
    lk_alert_id heard[LK_ALERTS_HEARD];
    uint64_t raised_count;
    uint64_t heard_count;
} lk_alerts;

/*  The own table, of the stream of that place, is not what its operations made
 *  it. */
void lk_alert_unsound (lk_leader *lead, uint8_t home);

#endif
