/*  core_offer.c - a takeover among leaders that have the same table already
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "doorway_fake.h"
#include "lib/checked_step.h"

/*  -------------------------------------------------------- first leader */

/*  With a table of the former decree of its own, and named as its holder. */
static uint64_t
offer_own (void)
{
    next = decree_of (term_of (9, PROPOSER), MEMBERS, 0, 2, 3);
    former = decree_of (term_of (8, PROPOSER), MEMBERS, 0, 2, 3);
    lk_table table;
    lk_table_init (&table);
    lk_table_begin (&table, &former);
    for (size_t i = 0; i < 3; i++) {
        lk_table_restore (&table, &ticket[i], now_ms);
    }
    lk_leader_install (lk_node_leader (node), &table, LK_TABLE_NEW);
    const uint64_t mark = lk_digest_mark (lk_node_table (node));
    elect_with (&next, lk_node_core (node)->config.self);
    give_plain (2, LK_MSG_ENTERED, next.term);
    give_plain (3, LK_MSG_ENTERED, next.term);
    return mark;
}

static void
answer_offer (lk_host from, uint64_t offer, uint64_t mark)
{
    lk_lock_message message = message_of (LK_MSG_FILLED, next.term);
    message.as.filled.offer = offer;
    message.as.filled.hash = mark;
    give (from, &message);
}

START_TEST (its_own_table_is_offered)
{
    const uint64_t mark = offer_own ();
    const lk_lock_message *fill = sent (LK_MSG_FILL, 2);
    ck_assert_uint_eq (fill->as.chunk.offer, mark);
    ck_assert_uint_eq (fill->as.chunk.ticket_count, 0);
    ck_assert_uint_eq (sent (LK_MSG_FILL, 3)->as.chunk.offer, mark);
    answer_offer (2, mark, mark);
    ck_assert (!says (LK_MSG_FILL));
    answer_offer (3, mark ^ 1, mark ^ 1); /* of another offer */
    ck_assert_int_eq (election ().doorway, LK_DOORWAY_FILLING);
    answer_offer (3, mark, mark);
    ck_assert_ptr_nonnull (sent (LK_MSG_EXITING, PROPOSER));
}
END_TEST

START_TEST (who_has_another_table_gets_all)
{
    const uint64_t mark = offer_own ();
    answer_offer (2, mark, mark);
    answer_offer (3, mark, mark ^ 1);
    const lk_lock_message *fill = sent (LK_MSG_FILL, 3);
    ck_assert_uint_eq (fill->as.chunk.offer, 0);
    ck_assert_uint_eq (fill->as.chunk.ticket_count, 3);
    answer_offer (3, mark, mark ^ 1); /* late */
    answer_offer (3, mark, mark);
    ck_assert_int_eq (election ().doorway, LK_DOORWAY_FILLING);
    ck_assert (!says (LK_MSG_FILL));
    give_filled (3, next.term, 0, hash_out (3));
    ck_assert_ptr_nonnull (sent (LK_MSG_EXITING, PROPOSER));
}
END_TEST

START_TEST (no_offer_in_a_reclaim)
{
    next = decree_of (term_of (9, PROPOSER), MEMBERS, 0, 2, 3);
    next.reclaim = true;
    elect_with (&next, LK_NOBODY);
    give_plain (2, LK_MSG_ENTERED, next.term);
    give_plain (3, LK_MSG_ENTERED, next.term);
    ck_assert_uint_eq (sent (LK_MSG_FILL, 2)->as.chunk.offer, 0);
}
END_TEST

/*  -------------------------------------------------------- the others */

static uint64_t
have_former (uint64_t sequence)
{
    lk_table table;
    make_second ();
    former = decree_of (term_of (7, 1), MEMBERS, 2, 0, 3);
    lk_table_init (&table);
    lk_table_begin (&table, &former);
    for (size_t i = 0; i < 3; i++) {
        lk_table_restore (&table, &ticket[i], now_ms);
    }
    table.sequence[1] = sequence;
    lk_leader_install (lk_node_leader (node), &table, LK_TABLE_NEW);
    return lk_digest_mark (lk_node_table (node));
}

static const lk_lock_message *
give_offer (uint64_t offer)
{
    lk_lock_message message = message_of (LK_MSG_FILL, next.term);
    message.as.chunk.decree = next;
    message.as.chunk.offer = offer;
    give (2, &message);
    return sent (LK_MSG_FILLED, 2);
}

START_TEST (it_takes_its_own_for_the_new_term)
{
    const uint64_t mark = have_former (5);
    const lk_lock_message *filled = give_offer (mark);
    ck_assert (persists (next.term));
    ck_assert_uint_eq (filled->as.filled.offer, mark);
    ck_assert_uint_eq (filled->as.filled.hash, mark);
    ck_assert (lk_term_equal (lk_node_table (node)->decree.term, next.term));
    ck_assert_uint_eq (lk_node_table (node)->count, 3);
    ck_assert_uint_eq (lk_node_table (node)->sequence[1], 0);
    filled = give_offer (mark); /* again */
    ck_assert_uint_eq (filled->as.filled.hash, mark);
    ck_assert_ptr_null (give_offer (mark ^ 1));
    ck_assert_ptr_null (fill (0, 4, false));
    ck_assert_uint_eq (lk_node_table (node)->count, 3);
}
END_TEST

START_TEST (it_says_that_it_has_another)
{
    lk_check_no_more ();
    const uint64_t other = have_former (6);
    const uint64_t mark = have_former (5);
    ck_assert_uint_ne (mark, other);
    const lk_lock_message *filled = give_offer (other);
    ck_assert_uint_eq (filled->as.filled.offer, other);
    ck_assert_uint_eq (filled->as.filled.hash, mark);
    ck_assert (lk_term_equal (lk_node_table (node)->decree.term, former.term));
    ck_assert_uint_eq (fill (0, 4, false)->as.filled.hash, hash_of (4));
    ck_assert_uint_eq (lk_node_table (node)->count, 4);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("offer");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, its_own_table_is_offered);
    tcase_add_test (tests, who_has_another_table_gets_all);
    tcase_add_test (tests, no_offer_in_a_reclaim);
    tcase_add_test (tests, it_takes_its_own_for_the_new_term);
    tcase_add_test (tests, it_says_that_it_has_another);
    return run_tests ("core_offer", tests);
}
