/*  core.h - what all rooms of the core share
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Any room may read it; each part is written by the file that it belongs to,
 *  or by the functions below.
 */

#ifndef LK_CORE_H
#define LK_CORE_H

#include "decree.h"
#include "event.h"
#include "outlet.h"
#include "peer.h"
#include "terms.h"
#include "util/rng.h"

#define LK_PING_MS 250   /* every quarter second */
#define LK_BUSY_MS 20    /* between looks while an election is under way */
#define LK_PINGS_KEPT 64 /* an echo of an earlier one counts for none */
#define LK_RESEND_MS 400 /* until what is not answered is said again */

struct lk_core {
    lk_node_config config;
    lk_facts facts;       /* as persisted */
    int64_t started_ms;   /* this process */
    int64_t now_ms;       /* of this step */
    uint64_t incarnation; /* the session that this process began with */
    lk_rng rng;
    uint64_t keys_made;
    lk_terms terms;
    lk_decree in_force;  /* the latest one in force that is known ... */
    uint8_t in_reclaim;  /* ... its homes that still wait for reports */
    int64_t settings_ms; /* its settings are in force since; LK_LONG_AGO */
    lk_decree told;      /* the latest above `facts.active` that a member told
                            of and that cannot be taken */

    /*  These are arbiters, as it is told; and itself, if it is one. */
    lk_hosts arbiters;

    /*  It drains, and leads no decree to come, until then; LK_LONG_AGO: it does
     *  not. */
    int64_t drain_until_ms;

    /*  The next leaders, as the first leader of that term said. */
    lk_standbys next;
    lk_term next_term;

    /*  The others. */
    lk_hosts known; /* who said LOCKSTARTED or a ping; always itself */
    lk_peer peer[LK_HOSTS_MAX];
    int64_t forgotten_ms;          /* latest that one of those that were
                                      forgotten was heard */
    uint16_t reused[LK_HOSTS_MAX]; /* times that the number was given away */
    int64_t pinged_ms;             /* last pings; LK_LONG_AGO */
    int64_t next_ping_ms;
    uint64_t pings;                 /* rounds of them, so far */
    int64_t ping_at[LK_PINGS_KEPT]; /* of the latest of these: a ring */

    lk_outlet outlet;
    bool says_status; /* in this step, at whose end it is looked at */
};

void lk_core_init (lk_core *core, const lk_node_config *config, int64_t now_ms);
void lk_core_clear (lk_core *core);

/*  Whether it may lead: not if its priority is off or it is an arbiter, nor
 *  while it drains. */
bool lk_core_may_lead (const lk_core *core);
bool lk_core_is_draining (const lk_core *core);

/*  Takes what the settings say of hosts. */
void lk_core_take_places (lk_core *core, lk_hosts arbiters);

/*  How long to wait for the end of another host's time: its clock may be
 *  10 % slow and ours 10 % fast. */
int64_t lk_with_margin (int64_t ms);

/*  How long a holder has to stop what it does, from when it was told that its
 *  lock is lost or taken away. */
int64_t lk_stopping_ms (const lk_core *core);

/*  How long a lock is kept from others behind its duration. */
int64_t lk_grace_ms (const lk_core *core, int64_t duration_ms);

/*  A number nobody can guess, never 0: unlock keys. */
uint64_t lk_core_make_key (lk_core *core);

/*  Somebody who knows says that this decree is in force, and which of its homes
 *  (bits) still wait for reports. True: no later one was known. */
bool lk_core_learn (lk_core *core, const lk_decree *decree, uint8_t reclaim);

/*  Asserts what must be so between two steps. */
void lk_core_check (const lk_core *core);

#endif
