/*  core_terms.c - nobody can use up the numbers of terms
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Host 0 of five members has promised 7. Hosts 1, 2 and 3 lead; host 4 lies.
 */

#include "electing.h"

#define LIAR 4
#define LAST (7 + LK_TERMS_MOST) /* that it follows */

static bool
follows (lk_host from, uint64_t number)
{
    give_plain (from, LK_MSG_VOTE, term_of (number, from));
    ck_assert (!says (LK_MSG_DESIST));
    return lk_node_core (node)->facts.promised.number == number
           && says (LK_MSG_VOTED);
}

static void
ping_with (lk_host from, uint64_t number, const lk_decree *decree)
{
    now_ms++;
    lk_lock_message message = ping_of (from, MEMBERS);
    message.as.ping.promised = term_of (number, 1);
    message.as.ping.active = *decree;
    message.as.ping.table = *decree;
    message.as.ping.ready = true;
    give (from, &message);
}

static void
ping_promised (lk_host from, uint64_t number)
{
    ping_with (from, number, &former);
}

/*  -------------------------------------------------------- what is followed */

START_TEST (so_far_and_no_further)
{
    ck_assert (!follows (LIAR, LAST + 1));
    ck_assert (!follows (LIAR, LK_TERM_NUMBER_MAX));
    ck_assert_uint_eq (node_status ().dropped, 2);
    ck_assert_uint_eq (node_status ().dropped_from, LIAR);
    ck_assert (follows (LIAR, LAST));
    ck_assert_uint_eq (node_status ().dropped, 2);
}
END_TEST

START_TEST (each_number_costs)
{
    ck_assert (follows (LIAR, LAST - 10));
    ck_assert (follows (LIAR, LAST - 3));
    ck_assert (!follows (LIAR, LAST + 1));
    ck_assert (follows (LIAR, LAST));
    ck_assert (!follows (LIAR, LAST + 1));
}
END_TEST

/*  All that have it promise the term. */
START_TEST (whatever_the_message)
{
    const lk_lock_kind kinds[] = {LK_MSG_ELECTED,  LK_MSG_SITTING,
                                  LK_MSG_ACTIVE,   LK_MSG_READY,
                                  LK_MSG_ENTERING, LK_MSG_FILL};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        lk_lock_message message =
            message_of (kinds[i], term_of (LAST + 1, LIAR));
        const lk_decree forged = decree_of (message.term, MEMBERS, 0, 1, LIAR);
        if (kinds[i] == LK_MSG_FILL) {
            message.as.chunk.decree = forged;
        } else {
            message.as.decree.decree = forged;
        }
        give (LIAR, &message);
        ck_assert_uint_eq (node_status ().dropped, i + 1);
        ck_assert_uint_eq (lk_node_core (node)->facts.promised.number, 7);
        ck_assert_uint_lt (lk_node_core (node)->in_force.term.number, 8);
    }
}
END_TEST

/*  -------------------------------------------------------- what comes back */

START_TEST (one_more_now_and_then)
{
    ck_assert (follows (LIAR, LAST));
    wait_ms (LK_TERM_EVERY_MS - 1);
    ck_assert (!follows (LIAR, LAST + 1));
    wait_ms (1);
    ck_assert (follows (LIAR, LAST + 1));
    wait_ms (LK_TERM_EVERY_MS * 5 / 2);
    ck_assert (!follows (LIAR, LAST + 4));
    ck_assert (follows (LIAR, LAST + 3));
    wait_ms (LK_TERM_EVERY_MS / 2);
    ck_assert (follows (LIAR, LAST + 4));
}
END_TEST

START_TEST (and_never_more_than_at_first)
{
    ck_assert (follows (LIAR, 8));
    wait_ms (LK_TERM_EVERY_MS * 5 / 2);
    ck_assert (!follows (LIAR, 8 + LK_TERMS_MOST + 1));
    ck_assert (follows (LIAR, 8 + LK_TERMS_MOST));
    wait_ms (LK_TERM_EVERY_MS - 1);
    ck_assert (!follows (LIAR, 8 + LK_TERMS_MOST + 1));
}
END_TEST

/*  As lockkeeper-protocol(7) reckons. */
START_TEST (ten_years)
{
    const int64_t end_ms = now_ms + INT64_C (315576000) * 1000;
    while (now_ms < end_ms) {
        follows (LIAR, lk_terms_limit (lk_node_core (node)));
        wait_ms (1000 * LK_TERM_EVERY_MS);
    }
    ck_assert_uint_gt (lk_node_core (node)->facts.promised.number, 1800000);
    ck_assert_uint_lt (lk_node_core (node)->facts.promised.number,
                       LK_TERM_NUMBER_MAX);
}
END_TEST

/*  -------------------------------------------------------- quorums */

/*  It was away, and the others have gone on. */
START_TEST (what_a_quorum_has_promised_is_free)
{
    const lk_decree later = decree_of (term_of (700000, 1), MEMBERS, 1, 2, 3);
    for (lk_host host = 1; host < 4; host++) {
        ck_assert_uint_eq (lk_terms_limit (lk_node_core (node)), LAST);
        ck_assert_uint_eq (lk_node_core (node)->in_force.term.number,
                           host == 1 ? 0 : 7);
        give_decree (1, LK_MSG_ACTIVE, &later);
        ck_assert (!says (LK_MSG_ACTIVATED));
        ping_with (1, 7, &later);
        ck_assert_uint_eq (lk_node_core (node)->facts.active.term.number, 7);
        ping_promised (host, 700000 + host);
    }
    ping_promised (1, 700001);
    ck_assert_uint_eq (lk_terms_limit (lk_node_core (node)),
                       700001 + LK_TERMS_MOST);
    give_decree (1, LK_MSG_ACTIVE, &later);
    ck_assert (says (LK_MSG_ACTIVATED));
    ck_assert_uint_eq (lk_node_core (node)->terms.left, LK_TERMS_MOST);
    ck_assert (follows (2, 700003));
    ck_assert_uint_eq (lk_node_core (node)->terms.left, LK_TERMS_MOST - 2);
}
END_TEST

/*  Its promise stops nobody, and where it is added it has to follow. */
START_TEST (who_is_no_member_follows)
{
    former.members &= ~1;
    start_with (former.term, &former);
    ck_assert (follows (LIAR, 900000));
    ck_assert (follows (LIAR, LK_TERM_NUMBER_MAX));
    ck_assert_uint_eq (lk_node_core (node)->terms.left, LK_TERMS_MOST);
}
END_TEST

/*  -------------------------------------------------------- own elections */

START_TEST (what_it_would_not_follow_is_no_number_to_beat)
{
    wait_for (LK_MSG_DATE, 0xe);
    ping_promised (LIAR, LK_TERM_NUMBER_MAX - 1);
    ping_promised (1, 20);
    agree (1);
    agree (2);
    wait_ms (400);
    ck_assert (says (LK_MSG_VOTE));
    own = election ().term;
    ck_assert_uint_eq (own.number, 21);
    lk_lock_message message = message_of (LK_MSG_DESIST, own);
    message.as.desist.promised = term_of (LK_TERM_NUMBER_MAX - 1, LIAR);
    give (LIAR, &message);
    ck_assert_int_eq (election ().state, LK_ELECTION_VOTING);
    vote (1, former.term);
    vote (2, former.term);
    vote (3, former.term);
    wait_ms (200);
    ck_assert (says (LK_MSG_ELECTED));
}
END_TEST

/*  The others can follow those of all. */
START_TEST (own_ones_take_a_part)
{
    lk_plant (node).core->terms.left = LK_TERMS_MOST - LK_TERMS_OWN;
    wait_for (LK_MSG_DATE, 0x6);
    agree (1);
    agree (2);
    wait_ms (400);
    ck_assert_int_eq (said[LK_MSG_VOTE], 0);
    ck_assert_uint_eq (lk_node_core (node)->facts.promised.number, 7);
    lk_plant (node).core->terms.left++;
    to_voting (0x6);
    ck_assert_uint_eq (own.number, 8);
    ck_assert_uint_eq (lk_node_core (node)->terms.left,
                       LK_TERMS_MOST - LK_TERMS_OWN);
    ck_assert_int_le (LK_MEMBERS_MAX * LK_TERMS_OWN,
                      LK_TERMS_MOST - LK_TERMS_OWN);
}
END_TEST

/*  -------------------------------------------------------- all of it */

int
main (void)
{
    TCase *tests = tcase_create ("terms");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, so_far_and_no_further);
    tcase_add_test (tests, each_number_costs);
    tcase_add_test (tests, whatever_the_message);
    tcase_add_test (tests, one_more_now_and_then);
    tcase_add_test (tests, and_never_more_than_at_first);
    tcase_add_test (tests, ten_years);
    tcase_add_test (tests, what_a_quorum_has_promised_is_free);
    tcase_add_test (tests, who_is_no_member_follows);
    tcase_add_test (tests, what_it_would_not_follow_is_no_number_to_beat);
    tcase_add_test (tests, own_ones_take_a_part);
    return run_tests ("core_terms", tests);
}
