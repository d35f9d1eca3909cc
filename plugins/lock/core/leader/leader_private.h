/*  leader_private.h - the inside of the room of leaders
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef LK_LEADER_PRIVATE_H
#define LK_LEADER_PRIVATE_H

#include "alert.h"
#include "home.h"
#include "leader.h"
#include "shortcut.h"
#include "stream.h"
struct lk_leader {
    lk_core *core;
    lk_table table;
    int place;        /* own, among the leaders of that table; -1 */
    bool ready;       /* the table's decree is in force, as far as known */
    int64_t ready_ms; /* since when */
    lk_stream stream;
    lk_shortcut shortcut;
    lk_home home;
    lk_alerts alerts;
};

#endif
