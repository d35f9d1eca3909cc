/*  reason.c - what there is an election for: leaders missed, few, or full
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "reason.h"

#include "able.h"
#include "change.h"
#include "date.h"
#include "election_private.h"
#include "leave.h"
#include "retry.h"

#define STEP_MS 150         /* between the ranks of proposers */
#define KNOWN_STEP_MS 25    /* the same when an end is known, without pause */
#define FEW_LEADERS_MS 3000 /* before an election to fill up */
#define OTHERS_TURN_MS 1200 /* left to somebody else whom we promised */
#define SEQUENCE_FULL ((uint64_t) 1 << 31)

/*  -------------------------------------------------------- missed */

/*  Somebody else is at it: whoever got our promise a moment ago.
 *  Protocol 9.5.2. */
static bool
is_others_turn (lk_election *election)
{
    if (lk_term_equal (election->core->facts.promised,
                       election->core->facts.active.term)) {
        return false;
    }
    int64_t turn_ms = OTHERS_TURN_MS;
    if (election->core->facts.promised.proposer != election->core->config.id) {
        turn_ms += lk_rng_between (&election->core->rng, 0, 300);
    }
    return election->core->now_ms - election->promised_ms < turn_ms;
}

/*  Why there is an election: for whoever reads the log afterwards. */
static void
say_missing (lk_election *election)
{
    lk_host host = lk_missing_leader (election->leader);
    if (host != LK_NOBODY) {
        const char *why =
            !lk_peer_heard (election->core, host)
                ? election->core->peer[host].ended ? "ended" : "silent"
                : "not well";
        lk_out_trace (election->core, LK_TRACE_NOTICE,
                      "leader missed: host=%s why=%s",
                      lk_out_host (election->core, host), why);
    }
}

/*  protocol 9.5.1 */
static void
miss_leaders (lk_election *election)
{
    election->few_since_ms = LK_LONG_AGO;
    election->leaves_since_ms = LK_LONG_AGO;
    if (election->bad_since_ms == LK_LONG_AGO) {
        int64_t first_ms =
            election->hurry > 0
                ? lk_date_rank (election) * KNOWN_STEP_MS
                : LK_PAUSE_MS + lk_date_rank (election) * STEP_MS
                      + lk_rng_between (&election->core->rng, 0, 80);
        election->bad_since_ms = election->core->now_ms;
        if (election->next_try_ms < election->core->now_ms + first_ms) {
            election->next_try_ms = election->core->now_ms + first_ms;
        }
    }
    if (!lk_is_quorum (election->core->facts.active.members,
                       lk_core_hears (election->core))
        || election->core->now_ms < election->next_try_ms
        || is_others_turn (election)) {
        return;
    }
    election->next_try_ms = election->core->now_ms + 500
                            + lk_rng_between (&election->core->rng, 0, 500);
    say_missing (election);
    lk_date_ask (election, LK_WHY_LOST);
}

/*  -------------------------------------------------------- few, or full */

/*  A takeover during a reclaim would begin that again: it waits.
 *  Protocol 9.5.6. */
static bool
leaders_are_few (const lk_election *election)
{
    const lk_decree *active = &election->core->facts.active;
    lk_hosts members = active->members;
    if (active->leader_count >= election->core->config.leaders_max
        || active->leader[0] != election->core->config.self
        || lk_leader_table (election->leader)->reclaim != 0) {
        return false;
    }
    while (members) {
        if (lk_able_to_join (election, lk_hosts_take (&members))) {
            return true;
        }
    }
    return false;
}

/*  Leaders are few, and were for some time. */
static bool
are_few_by_now (lk_election *election)
{
    if (!leaders_are_few (election)) {
        election->few_since_ms = LK_LONG_AGO;
    } else if (election->few_since_ms == LK_LONG_AGO) {
        election->few_since_ms = election->core->now_ms;
    }
    return election->few_since_ms != LK_LONG_AGO
           && election->core->now_ms - election->few_since_ms > FEW_LEADERS_MS;
}

static void
see_leaders (lk_election *election)
{
    election->bad_since_ms = LK_LONG_AGO;
    election->hurry = 0;
    /*  protocol 9.15 */
    if (lk_change_is_due (election)) {
        lk_change_try (election);
        lk_date_ask (election, LK_WHY_CHANGE);
        return;
    }
    bool few = are_few_by_now (election);
    bool leaves = lk_leave_is_due (election);
    if (election->core->now_ms < election->next_try_ms) {
        return;
    }
    int place = lk_leader_place (election->leader);
    /*  protocol 9.5.6, 9.5.7, 9.5.8 */
    if (leaves) {
        lk_date_ask (election, LK_WHY_CHANGE);
    } else if (place >= 0
               && lk_leader_table (election->leader)->sequence[place]
                      > SEQUENCE_FULL) {
        lk_date_ask (election, LK_WHY_FULL);
    } else if (few) {
        election->few_since_ms = LK_LONG_AGO;
        lk_date_ask (election, LK_WHY_FILL);
    } else if (lk_better_is_due (election)) {
        lk_date_ask (election, LK_WHY_CHANGE);
    }
}

void
lk_reason_look (lk_election *election)
{
    lk_better_reset (&election->better);
    if (lk_sees_leaders (election->leader)) {
        see_leaders (election);
    } else {
        miss_leaders (election);
    }
}
