/*  leader_private.h - the inside of the room of leaders
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A file calls those in the lines below, and in its line those behind it:
 *    what others ask for   home.c, release.c, relay.c, follow.c
 *    what time does        upkeep.c
 *    deeds of a home       taking.c, resume.c
 *    operations            home_order.c, ready.c, stream.c
 *    the table goes        alert.c, leader.c
 *    what is told          home_tell.c, ousted.c, home_send.c, shortcut.c
 *    what all ask          trust.c, releases.c, serving.c, stream_log.c
 *    the journal           load.c, record.c
 */

#ifndef LK_LEADER_PRIVATE_H
#define LK_LEADER_PRIVATE_H

#include "alert.h"
#include "home.h"
#include "leader.h"
#include "record.h"
#include "shortcut.h"
#include "stream.h"

struct lk_leader {
    lk_core *core;
    lk_table table;
    int place;        /* own, among the leaders of that table; -1 */
    bool sealed;      /* the table is from the journal, ... */
    bool late;        /* ... and may lack the last operations, ... */
    bool damaged;     /* ... or was not whole, and is not taken */
    bool ready;       /* the table's decree is in force, as far as known */
    int64_t ready_ms; /* since when */
    lk_recorder recorder;
    lk_stream stream;
    lk_shortcut shortcut;
    lk_home home;
    lk_alerts alerts;
    lk_table copy; /* a former table, while there is none: copy.c */
    int64_t copy_until_ms;
};

/*  The own table, which is to go, is the copy from now on; that is of no use
 *  any more. */
void lk_copy_keep (lk_leader *lead);
void lk_copy_drop (lk_leader *lead);

/*  Since when its duration, if it has one, counts. */
int64_t lk_home_granted (const lk_leader *lead, lk_entry *entry);

/*  Was nothing heard of that session for so long that its proxy cannot have
 *  a lease any more, as far as this leader knows? */
bool lk_is_silent (const lk_leader *lead, lk_host host, uint64_t session);

/*  The last time at which that is not so yet, if nothing is heard of it. */
int64_t lk_silent_after (const lk_leader *lead, lk_host host, uint64_t session);

/*  Tells own applications what others have acknowledged by now. */
void lk_shortcut_run_all (lk_leader *lead);

#endif
