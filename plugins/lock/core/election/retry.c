/*  retry.c - when to try next: after a decree, after what came to nothing
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "retry.h"

#include "doorway.h"
#include "election_private.h"

#define FAILS 4        /* in a row; then the pause doubles, ... */
#define DOUBLED_MOST 6 /* ... so often: up to 96 s */

/*  Whether a leader is known to have ended. */
static bool
has_ended_leader (const lk_election *election)
{
    const lk_decree *active = &election->core->facts.active;
    for (size_t place = 0; place < active->leader_count; place++) {
        if (election->core->peer[active->leader[place]].ended) {
            return true;
        }
    }
    return false;
}

/*  protocol 9.5.1 */
void
lk_election_settle (lk_election *election)
{
    int64_t later = election->core->now_ms
                    + election->core->config.dead_after_ms + LK_PAUSE_MS;
    election->bad_since_ms = LK_LONG_AGO;
    election->failed = 0;
    election->hurry = has_ended_leader (election) ? LK_HURRY : 0;
    if (election->hurry == 0 && election->next_try_ms < later) {
        election->next_try_ms = later;
    }
}

uint64_t
lk_election_view (const lk_election *election, lk_hosts among)
{
    lk_hosts heard = lk_core_hears (election->core) & among
                     & ~LK_HOST_BIT (election->core->config.self);
    uint64_t view = heard;
    while (heard) {
        const lk_peer *peer = &election->core->peer[lk_hosts_take (&heard)];
        const uint64_t words[] = {view, peer->sees & among, peer->incarnation,
                                  peer->eligible};
        view = lk_siphash (election->core->config.seed, words, sizeof words);
    }
    return view;
}

/*  Until the next try. As long as nothing changes, one that failed often will
 *  fail again, and each takes a number. Protocol 9.5.5. */
static int64_t
pause_ms (lk_election *election)
{
    const unsigned more =
        election->failed > FAILS ? election->failed - FAILS : 0;
    if (more == 0 && election->hurry > 0) {
        return lk_rng_between (&election->core->rng, 20, 120);
    }
    return lk_rng_between (&election->core->rng, 300, 1500)
           << (more < DOUBLED_MOST ? more : DOUBLED_MOST);
}

/*  protocol 9.5.5 */
void
lk_election_forget_failures (lk_election *election)
{
    if (election->failed > FAILS
        && lk_election_view (election, ~(lk_hosts) 0) != election->view) {
        election->failed = 0;
        const int64_t soon_ms = election->core->now_ms + pause_ms (election);
        if (soon_ms < election->next_try_ms) {
            election->next_try_ms = soon_ms;
        }
    }
}

/*  protocol 9.5.5 */
void
lk_election_give_up (lk_election *election, const char *why)
{
    lk_out_trace (election->core, LK_TRACE_INFO,
                  "election given up: term=%llu why=%s",
                  (unsigned long long) election->term.number, why);
    if (election->state > LK_ELECTION_PAUSE) {
        lk_lock_message *message =
            lk_out_message (election->core, LK_MSG_RETIRE);
        message->term = election->term;
        lk_out_broadcast (election->core, message, election->core->known);
        lk_doorway_retired (election, election->term);
        if (lk_term_equal (election->core->facts.promised, election->term)) {
            election->promised_ms = LK_LONG_AGO;
        }
        election->failed++;
        election->view = lk_election_view (election, ~(lk_hosts) 0);
    } else if (election->hurry > 0) {
        election->hurry--;
    }
    election->state = LK_ELECTION_IDLE;
    election->next_try_ms = election->core->now_ms + pause_ms (election);
}
