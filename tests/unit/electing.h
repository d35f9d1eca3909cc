/*  electing.h - a member of five that elects, among hosts that the test plays
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  For one test program each.
 */

#ifndef LK_ELECTING_H
#define LK_ELECTING_H

#include "core_fake.h"

#include "vote.h"

#define MEMBERS 0x1f

static lk_decree former; /* D: of term 7 */
static lk_term own;      /* the proposer's, in the election */

FAKE void
set_up (void)
{
    former = decree_of (term_of (7, 1), MEMBERS, 1, 2, 3);
    start_with (former.term, &former);
}

/*  -------------------------------------------------------- on the way */

FAKE void
ping (lk_host from)
{
    lk_lock_message message = ping_of (from, MEMBERS);
    give (from, &message);
}

FAKE void
pings (lk_hosts hosts)
{
    while (hosts) {
        ping (lk_hosts_take (&hosts));
    }
}

/*  Until it sends such a message; the hosts ping all the while. */
FAKE void
wait_for (lk_lock_kind kind, lk_hosts hosts)
{
    const int before = said[kind];
    for (int i = 0; i < 400 && said[kind] == before; i++) {
        now_ms += 20;
        pings (hosts);
        wait_ms (0);
    }
    ck_assert_int_gt (said[kind], before);
}

FAKE void
agree_in (lk_host from, int64_t in_ms)
{
    lk_lock_message message = message_of (LK_MSG_AGREED, (lk_term) {0, 0});
    message.as.date.in_ms = in_ms;
    give (from, &message);
}

FAKE void
agree (lk_host from)
{
    agree_in (from, 0);
}

/*  It sees these hosts, and has asked for votes. */
FAKE void
to_voting (lk_hosts hosts)
{
    wait_for (LK_MSG_DATE, hosts);
    lk_hosts rest = hosts;
    while (rest) {
        agree (lk_hosts_take (&rest));
    }
    for (int i = 0; i < 100 && !says (LK_MSG_VOTE); i++) {
        wait_ms (5);
    }
    ck_assert (says (LK_MSG_VOTE));
    own = election ().term;
    ck_assert (persists (own)
               || lk_term_equal (lk_node_core (node)->facts.promised, own));
}

/*  A vote of the election's term: which decree, which table. */
FAKE lk_lock_message
vote_of (lk_host from, lk_term table)
{
    lk_lock_message message = message_of (LK_MSG_VOTED, own);
    message.as.voted =
        (lk_msg_voted) {.candidate = {.priority = from, .random = from},
                        .eligible = true,
                        .active = former,
                        .holds = {.term = table, .length = 10},
                        .sees = MEMBERS};
    return message;
}

FAKE void
vote (lk_host from, lk_term table)
{
    lk_lock_message message = vote_of (from, table);
    give (from, &message);
}

/*  Elected: host 1 holds and comes first, 2 votes, too. */
FAKE void
to_elected (void)
{
    to_voting (0x6);
    vote (1, former.term);
    vote (2, former.term);
    ck_assert (says (LK_MSG_ELECTED));
}

FAKE void
to_activating (void)
{
    to_elected ();
    give_plain (1, LK_MSG_EXITING, own);
    ck_assert (says (LK_MSG_ACTIVE));
}

#endif
