/*  core_offer.c - a takeover among leaders that have the same table already
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "doorway_fake.h"
#include "lib/checked_step.h"
#include "slices.h"

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

/*  The slices of that object, and its answer. */
static lk_slices
slices_of (const lk_ticket *one)
{
    lk_table table;
    static const uint64_t none[LK_TABLE_SLICES];
    lk_table_init (&table);
    lk_table_begin (&table, &former);
    lk_table_restore (&table, one, now_ms);
    const lk_slices slices = lk_slices_lacking (&table, none);
    lk_table_clear (&table);
    return slices;
}

static void
answer_lacks (lk_host from, uint64_t offer, const lk_slices *lacks)
{
    lk_lock_message message = message_of (LK_MSG_FILLED, next.term);
    message.as.filled = (lk_msg_filled) {
        .offer = offer, .hash = offer ^ 1, .has_lacks = true, .lacks = *lacks};
    give (from, &message);
}

START_TEST (who_lacks_some_gets_these)
{
    const uint64_t mark = offer_own ();
    const lk_lock_message *fill = sent (LK_MSG_FILL, 3);
    ck_assert_mem_eq (fill->as.chunk.sums,
                      lk_slices_sums (lk_node_table (node)),
                      LK_TABLE_SLICES * sizeof (uint64_t));
    const lk_slices lacks = slices_of (&ticket[1]);
    answer_offer (2, mark, mark);
    answer_lacks (3, mark, &lacks);
    fill = sent (LK_MSG_FILL, 3);
    ck_assert_uint_eq (fill->as.chunk.offer, 0);
    ck_assert_uint_eq (fill->as.chunk.onto, mark);
    ck_assert_uint_eq (fill->as.chunk.ticket_count, 1);
    ck_assert_uint_eq (fill->as.chunk.tickets[0].key, ticket[1].key);
    ck_assert (!fill->as.chunk.more);
    answer_lacks (3, mark, &lacks); /* again */
    ck_assert (!says (LK_MSG_FILL));
    give_filled (3, next.term, 0, lk_ticket_hash (0, &ticket[1]));
    ck_assert_ptr_nonnull (sent (LK_MSG_EXITING, PROPOSER));
}
END_TEST

/*  Its sequences are others, and no ticket is. */
START_TEST (who_lacks_none_gets_what_is_beside_them)
{
    const uint64_t mark = offer_own ();
    const lk_slices lacks = {{0}};
    answer_offer (2, mark, mark);
    answer_lacks (3, mark, &lacks);
    ck_assert (has_fill (3, 0, 0, false));
    give_filled (3, next.term, 0, 0);
    ck_assert_ptr_nonnull (sent (LK_MSG_EXITING, PROPOSER));
}
END_TEST

/*  It says so, and that it lacks all. */
START_TEST (who_was_sent_something_else_gets_all)
{
    const uint64_t mark = offer_own ();
    const lk_slices lacks = slices_of (&ticket[1]);
    answer_offer (2, mark, mark);
    answer_lacks (3, mark, &lacks);
    answer_offer (3, mark ^ 1, 0); /* of another offer */
    ck_assert (!says (LK_MSG_FILL));
    answer_offer (3, mark, 0);
    ck_assert (has_fill (3, 0, 3, false));
    ck_assert_uint_eq (sent (LK_MSG_FILL, 3)->as.chunk.onto, 0);
    answer_offer (3, mark, 0); /* late */
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

/*  -------------------------------------------------------- some slices */

#define OFFER 77

/*  Tickets from the second to the fifth are offered, while the own table has
 *  the first three. */
static uint64_t sums[LK_TABLE_SLICES];

static void
offer_others (size_t first)
{
    lk_table table;
    lk_table_init (&table);
    lk_table_begin (&table, &former);
    for (size_t i = first; i < 5; i++) {
        lk_table_restore (&table, &ticket[i], now_ms);
    }
    memcpy (sums, lk_slices_sums (&table), sizeof sums);
    lk_table_clear (&table);
}

static const lk_lock_message *
give_sums (uint64_t offer)
{
    lk_lock_message message = message_of (LK_MSG_FILL, next.term);
    message.as.chunk.decree = next;
    message.as.chunk.offer = offer;
    message.as.chunk.sums = sums;
    give (2, &message);
    return sent (LK_MSG_FILLED, 2);
}

static const lk_lock_message *
fill_onto (uint64_t offer, size_t first, size_t count, uint64_t chunk)
{
    lk_lock_message message =
        chunk_of (LK_MSG_FILL, first, count, first + count < 5);
    message.as.chunk.onto = offer;
    message.as.chunk.chunk = chunk;
    message.as.chunk.gone[3] = 12;
    give (2, &message);
    return sent (LK_MSG_FILLED, 2);
}

static void
has_former (size_t count)
{
    const lk_table *table = lk_node_table (node);
    ck_assert (lk_term_equal (table->decree.term, former.term));
    ck_assert_uint_eq (table->count, count);
    lk_table_check (table, true);
}

START_TEST (it_says_what_it_lacks)
{
    lk_check_no_more ();
    have_former (5);
    offer_others (1);
    const lk_lock_message *filled = give_sums (OFFER);
    ck_assert_uint_eq (filled->as.filled.offer, OFFER);
    ck_assert (filled->as.filled.has_lacks);
    const lk_slices lacks = filled->as.filled.lacks;
    ck_assert_uint_eq (lk_slices_count (&lacks), 3);
    filled = give_sums (OFFER);
    ck_assert_mem_eq (&filled->as.filled.lacks, &lacks, sizeof lacks);
    has_former (3);
    offer_others (0);
    for (size_t i = 0; i < LK_LACKS_MAX; i++) {
        sums[i]++;
    }
    ck_assert (!give_sums (OFFER)->as.filled.has_lacks);
}
END_TEST

/*  The first ticket goes, two come, and two stay. */
START_TEST (it_becomes_what_was_offered)
{
    lk_check_no_more ();
    have_former (5);
    offer_others (1);
    give_sums (OFFER);
    const lk_lock_message *filled = fill_onto (OFFER, 3, 1, 0);
    ck_assert_uint_eq (filled->as.filled.hash, lk_ticket_hash (0, &ticket[3]));
    has_former (3);
    filled = fill_onto (OFFER, 4, 1, 1);
    const uint64_t hash = filled->as.filled.hash;
    ck_assert_uint_eq (filled->as.filled.offer, 0);
    const lk_table *table = lk_node_table (node);
    ck_assert (lk_term_equal (table->decree.term, next.term));
    ck_assert_mem_eq (lk_slices_sums (table), sums, sizeof sums);
    ck_assert_uint_eq (table->count, 4);
    ck_assert_uint_eq (table->sequence[1], 0);
    ck_assert_uint_eq (lk_table_gone (table, 3), 12);
    lk_table_check (table, true);
    filled = fill_onto (OFFER, 4, 1, 1); /* again */
    ck_assert_uint_eq (filled->as.filled.hash, hash);
    ck_assert_ptr_null (fill (0, 4, false));
}
END_TEST

/*  The sums tell nothing of ages. */
START_TEST (what_has_a_duration_is_sent)
{
    lk_check_no_more ();
    ticket[1].duration_ms = 5000;
    have_former (5);
    offer_others (0);
    const lk_msg_filled *filled = &give_sums (OFFER)->as.filled;
    ck_assert (filled->has_lacks);
    const lk_slices with = filled->lacks;
    ticket[1].duration_ms = 0;
    have_former (5);
    offer_others (0);
    filled = &give_sums (OFFER)->as.filled;
    ck_assert_uint_eq (lk_slices_count (&with),
                       lk_slices_count (&filled->lacks) + 1);
}
END_TEST

/*  A chunk that was sent before may come late, when all is under way. */
START_TEST (it_is_no_help_any_more)
{
    lk_check_no_more ();
    have_former (5);
    offer_others (1);
    ck_assert (give_sums (OFFER)->as.filled.has_lacks);
    for (size_t i = 0; i < LK_LACKS_MAX + 1; i++) {
        sums[i]++;
    }
    ck_assert (!give_sums (OFFER)->as.filled.has_lacks);
    ck_assert_uint_eq (fill (0, 2, true)->as.filled.hash, hash_of (2));
    (void) fill_onto (OFFER, 3, 1, 0);
    ck_assert_uint_eq (fill (2, 2, false)->as.filled.hash, hash_of (4));
    ck_assert_uint_eq (lk_node_table (node)->count, 4);
}
END_TEST

/*  Not of that offer, or not in order. */
START_TEST (which_slices_count)
{
    lk_check_no_more ();
    have_former (5);
    offer_others (1);
    ck_assert_ptr_null (fill_onto (OFFER, 3, 2, 0));
    give_sums (OFFER);
    ck_assert_ptr_null (fill_onto (OFFER ^ 1, 3, 2, 0));
    ck_assert_ptr_null (fill_onto (OFFER, 4, 1, 1));
    has_former (3);
    ck_assert_ptr_nonnull (fill_onto (OFFER, 3, 2, 0));
    ck_assert_uint_eq (lk_node_table (node)->count, 4);
}
END_TEST

/*  The own table stays as it is, until all of another one has come. */
START_TEST (something_else_came)
{
    lk_check_no_more ();
    have_former (5);
    offer_others (1);
    give_sums (OFFER);
    ck_assert_ptr_nonnull (fill_onto (OFFER, 3, 1, 0));
    for (int i = 0; i < 2; i++) {
        const lk_lock_message *filled = fill_onto (OFFER, 5, 1, 1);
        ck_assert_uint_eq (filled->as.filled.offer, OFFER);
        ck_assert (!filled->as.filled.has_lacks);
        ck_assert_uint_ne (filled->as.filled.hash, OFFER);
        has_former (3);
    }
    ck_assert (!give_sums (OFFER)->as.filled.has_lacks);
    ck_assert_uint_eq (fill (0, 4, false)->as.filled.hash, hash_of (4));
    ck_assert_uint_eq (lk_node_table (node)->count, 4);
    ck_assert_uint_eq (fill (0, 4, false)->as.filled.hash, hash_of (4));
}
END_TEST

/*  In a slice that was no other: then the table is no help any more. */
START_TEST (a_ticket_that_is_there_twice)
{
    lk_check_no_more ();
    have_former (5);
    ticket[4].request = ticket[0].request;
    offer_others (0);
    lk_table table;
    lk_table_init (&table);
    lk_table_begin (&table, &former);
    lk_table_restore (&table, &ticket[4], now_ms);
    for (size_t i = 0; i < LK_TABLE_SLICES; i++) {
        sums[i] += lk_slices_sums (&table)[i];
    }
    lk_table_clear (&table);
    ck_assert (give_sums (OFFER)->as.filled.has_lacks);
    const lk_lock_message *filled = fill_onto (OFFER, 3, 2, 0);
    ck_assert_uint_eq (filled->as.filled.offer, OFFER);
    ck_assert (!lk_table_is_filled (lk_node_table (node)));
    ck_assert_ptr_nonnull (fill (0, 4, false));
    ck_assert_uint_eq (lk_node_table (node)->count, 4);
}
END_TEST

START_TEST (a_table_of_a_reclaim_is_no_help)
{
    lk_check_no_more ();
    have_former (5);
    lk_leader_table (lk_node_leader (node))->reclaim = 1;
    offer_others (1);
    ck_assert (!give_sums (OFFER)->as.filled.has_lacks);
}
END_TEST

/*  It led term 7, and others lead term 8. */
static void
lead_no_more (void)
{
    have_former (5);
    const lk_decree others = decree_of (term_of (8, 2), MEMBERS, 2, 3, 4);
    give_decree (2, LK_MSG_READY, &others);
    ck_assert (!lk_table_is_filled (lk_node_table (node)));
    next = decree_of (term_of (9, PROPOSER), MEMBERS, 2, 0, 3);
    offer_others (1);
}

/*  And it holds nothing. */
START_TEST (a_copy_of_what_it_had_is_enough)
{
    lk_check_no_more ();
    lead_no_more ();
    give_vote (9);
    const lk_holds holds = sent (LK_MSG_VOTED, 2)->as.voted.holds;
    ck_assert (lk_term_is_zero (holds.term));
    ck_assert_uint_eq (holds.length, 0);
    next.term = term_of (10, PROPOSER);
    ck_assert (give_sums (OFFER)->as.filled.has_lacks);
    ck_assert (!lk_table_is_filled (lk_node_table (node)));
    ck_assert_ptr_nonnull (fill_onto (OFFER, 3, 2, 0));
    ck_assert_uint_eq (lk_node_table (node)->count, 4);
    ck_assert (lk_term_equal (lk_node_table (node)->decree.term, next.term));
    ck_assert_ptr_eq (lk_leader_former (lk_node_leader (node)),
                      lk_node_table (node));
}
END_TEST

START_TEST (a_copy_goes_after_a_minute)
{
    lead_no_more ();
    wait_ms (59000);
    ck_assert_ptr_nonnull (lk_leader_former (lk_node_leader (node)));
    wait_ms (1500);
    ck_assert_ptr_null (lk_leader_former (lk_node_leader (node)));
    ck_assert (!give_sums (OFFER)->as.filled.has_lacks);
}
END_TEST

START_TEST (a_copy_that_is_wrong_goes)
{
    lead_no_more ();
    lk_lock_message alert = message_of (LK_MSG_ALERT, former.term);
    alert.as.alert = (lk_msg_alert) {.incarnation = 1, .number = 1, .host = 3};
    give (2, &alert);
    ck_assert_ptr_nonnull (lk_leader_former (lk_node_leader (node)));
    alert.as.alert.number = 2;
    alert.as.alert.host = 0;
    give (2, &alert);
    ck_assert_ptr_null (lk_leader_former (lk_node_leader (node)));
}
END_TEST

/*  Its tickets name hosts by numbers. */
START_TEST (a_copy_needs_its_hosts)
{
    lead_no_more ();
    ck_assert (lk_hosts_has (lk_leader_needs (lk_node_leader (node)), 1));
    wait_ms (61000);
    ck_assert_ptr_null (lk_leader_former (lk_node_leader (node)));
    ck_assert (!lk_hosts_has (lk_leader_needs (lk_node_leader (node)), 1));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("offer");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, its_own_table_is_offered);
    tcase_add_test (tests, who_has_another_table_gets_all);
    tcase_add_test (tests, who_lacks_some_gets_these);
    tcase_add_test (tests, who_lacks_none_gets_what_is_beside_them);
    tcase_add_test (tests, who_was_sent_something_else_gets_all);
    tcase_add_test (tests, no_offer_in_a_reclaim);
    tcase_add_test (tests, it_takes_its_own_for_the_new_term);
    tcase_add_test (tests, it_says_that_it_has_another);
    tcase_add_test (tests, it_says_what_it_lacks);
    tcase_add_test (tests, it_becomes_what_was_offered);
    tcase_add_test (tests, what_has_a_duration_is_sent);
    tcase_add_test (tests, it_is_no_help_any_more);
    tcase_add_test (tests, which_slices_count);
    tcase_add_test (tests, something_else_came);
    tcase_add_test (tests, a_ticket_that_is_there_twice);
    tcase_add_test (tests, a_table_of_a_reclaim_is_no_help);
    tcase_add_test (tests, a_copy_of_what_it_had_is_enough);
    tcase_add_test (tests, a_copy_goes_after_a_minute);
    tcase_add_test (tests, a_copy_that_is_wrong_goes);
    tcase_add_test (tests, a_copy_needs_its_hosts);
    return run_tests ("core_offer", tests);
}
