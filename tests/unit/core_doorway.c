/*  core_doorway.c - a takeover, as its first leader, its holder, and others
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Host 0 of five members; hosts 1, 2 and 3 led term 7. Host 1 proposes term
 *  8 with the leaders 0, 2 and 3, and host 4 has the tickets. What is said
 *  here by the others is mostly what must not count.
 */

#include "doorway_fake.h"

/*  Its proposer has retired from that term: it fills nobody any more. */
START_TEST (who_retires_ends_the_doorway)
{
    elect ();
    enter_all ();
    give_chunk (0, 3, false);
    ck_assert (lk_doorway_is_busy (lk_node_election (node)));
    give_plain (PROPOSER, LK_MSG_RETIRE, term_of (7, PROPOSER));
    ck_assert (lk_doorway_is_busy (lk_node_election (node)));
    give_plain (PROPOSER, LK_MSG_RETIRE, next.term);
    ck_assert (!lk_doorway_is_busy (lk_node_election (node)));
}
END_TEST

START_TEST (it_promises_before_it_enters)
{
    elect ();
    ck_assert (persists (next.term));
    ck_assert_int_eq (effects.item[0].type, LK_DO_PERSIST);
    ck_assert_ptr_nonnull (sent (LK_MSG_ENTERING, 2));
    ck_assert_ptr_nonnull (sent (LK_MSG_ENTERING, 3));
    ck_assert_ptr_nonnull (sent (LK_MSG_ENTERING, HOLDER));
}
END_TEST

START_TEST (the_whole_doorway)
{
    elect ();
    enter_all ();
    const lk_lock_message *getmax = sent (LK_MSG_GETMAX, HOLDER);
    ck_assert_ptr_nonnull (getmax);
    ck_assert (lk_term_equal (getmax->as.getmax.previous, former.term));
    give_chunk (0, 4, false);
    const lk_lock_message *fill = sent (LK_MSG_FILL, 2);
    ck_assert_ptr_nonnull (sent (LK_MSG_FILL, 3));
    ck_assert_uint_eq (fill->as.chunk.ticket_count, 4);
    ck_assert_mem_eq (&fill->as.chunk.decree, &next, sizeof next);
    ck_assert (!says (LK_MSG_EXITING));
    fill_all (4);
    ck_assert_ptr_nonnull (sent (LK_MSG_EXITING, PROPOSER));
    ck_assert_uint_eq (lk_node_table (node)->count, 4);
}
END_TEST

START_TEST (who_promised_more_does_not_enter)
{
    give_vote (9);
    elect ();
    ck_assert (!says (LK_MSG_ENTERING));
    ck_assert_ptr_nonnull (sent (LK_MSG_DESIST, PROPOSER));
}
END_TEST

START_TEST (who_is_not_the_first_does_not_enter)
{
    lk_decree other = decree_of (next.term, MEMBERS, 2, 0, 3);
    elect_with (&other, HOLDER);
    ck_assert (!says (LK_MSG_ENTERING));
    ck_assert_uint_eq (lk_node_core (node)->facts.promised.number, 7);
}
END_TEST

START_TEST (who_promised_before_it_started_does_not_enter)
{
    start_with (next.term, &former);
    elect ();
    ck_assert (!says (LK_MSG_ENTERING));
}
END_TEST

START_TEST (all_have_to_enter)
{
    elect ();
    give_plain (2, LK_MSG_ENTERED, next.term);
    give_plain (2, LK_MSG_ENTERED, next.term);
    give_plain (3, LK_MSG_ENTERED, next.term);
    give_plain (1, LK_MSG_ENTERED, next.term);
    give_plain (HOLDER, LK_MSG_ENTERED, term_of (8, 3));
    ck_assert_int_eq (election ().doorway, LK_DOORWAY_ENTERING);
    ck_assert (!says (LK_MSG_GETMAX));
    wait_ms (201); /* who did not answer is asked again, nobody else */
    ck_assert_ptr_nonnull (sent (LK_MSG_ENTERING, HOLDER));
    ck_assert_ptr_null (sent (LK_MSG_ENTERING, 2));
    give_plain (HOLDER, LK_MSG_ENTERED, next.term);
    ck_assert_ptr_nonnull (sent (LK_MSG_GETMAX, HOLDER));
}
END_TEST

/*  From then on nothing that it hears leads any further. */
START_TEST (another_promise_ends_it_while_entering)
{
    elect ();
    give_plain (2, LK_MSG_ENTERED, next.term);
    give_plain (3, LK_MSG_ENTERED, next.term);
    give_vote (9);
    give_plain (HOLDER, LK_MSG_ENTERED, next.term);
    ck_assert (!says (LK_MSG_GETMAX));
    wait_ms (201);
    ck_assert_int_eq (election ().doorway, LK_DOORWAY_IDLE);
}
END_TEST

START_TEST (another_promise_ends_it_while_getting)
{
    elect ();
    enter_all ();
    give_vote (9);
    give_chunk (0, 4, false);
    ck_assert (!says (LK_MSG_FILL));
    ck_assert (!lk_table_is_filled (lk_node_table (node)));
}
END_TEST

START_TEST (another_promise_ends_it_while_filling)
{
    elect ();
    enter_all ();
    give_chunk (0, 4, false);
    give_vote (9);
    fill_all (4);
    ck_assert (!says (LK_MSG_EXITING));
}
END_TEST

START_TEST (whose_chunks_count)
{
    elect ();
    enter_all ();
    lk_lock_message message = chunk_of (LK_MSG_MAXTICKET, 0, 4, false);
    give (2, &message); /* not the holder */
    message.term = term_of (8, 3);
    give (HOLDER, &message);
    message.term = next.term;
    message.as.chunk.chunk = 2;
    give (HOLDER, &message);
    ck_assert (!says (LK_MSG_FILL));
    ck_assert_int_eq (election ().doorway, LK_DOORWAY_GETTING);
    ck_assert (!lk_table_is_filled (lk_node_table (node)));
}
END_TEST

START_TEST (chunks_before_all_have_entered)
{
    elect ();
    give_chunk (0, 4, false);
    ck_assert_int_eq (election ().doorway, LK_DOORWAY_ENTERING);
    ck_assert (!says (LK_MSG_FILL));
}
END_TEST

START_TEST (chunk_by_chunk)
{
    elect ();
    enter_all ();
    give_chunk (0, 3, true);
    const lk_lock_message *getmax = sent (LK_MSG_GETMAX, HOLDER);
    ck_assert_ptr_nonnull (getmax);
    ck_assert_uint_eq (getmax->as.getmax.chunk, 3);
    give_chunk (0, 3, true); /* again */
    ck_assert (!says (LK_MSG_FILL));
    give_chunk (3, 3, false);
    ck_assert_uint_eq (lk_node_table (node)->count, 6);
    ck_assert_ptr_nonnull (sent (LK_MSG_FILL, 2));
}
END_TEST

/*  Half of one table and half of another is none. */
START_TEST (the_holder_has_another_table)
{
    elect ();
    enter_all ();
    give_chunk (0, 3, true);
    lk_lock_message message = chunk_of (LK_MSG_MAXTICKET, 3, 3, false);
    message.as.chunk.table = term_of (7, 2);
    give (HOLDER, &message);
    ck_assert (!says (LK_MSG_FILL));
    ck_assert_int_eq (election ().doorway, LK_DOORWAY_IDLE);
}
END_TEST

START_TEST (the_holder_is_another_process)
{
    elect ();
    enter_all ();
    give_chunk (0, 3, true);
    lk_lock_message message = chunk_of (LK_MSG_MAXTICKET, 3, 3, false);
    message.as.chunk.incarnation = 10;
    give (HOLDER, &message);
    ck_assert (!says (LK_MSG_FILL));
    ck_assert_int_eq (election ().doorway, LK_DOORWAY_IDLE);
}
END_TEST

/*  It voted, was restarted, and has what its journal has. */
START_TEST (the_holder_has_a_late_table)
{
    elect ();
    enter_all ();
    lk_lock_message message = chunk_of (LK_MSG_MAXTICKET, 0, 3, false);
    message.as.chunk.late = true;
    give (HOLDER, &message);
    ck_assert (!says (LK_MSG_FILL));
    ck_assert_int_eq (election ().doorway, LK_DOORWAY_IDLE);
}
END_TEST

/*  The latest message comes first: the second chunk is under way, too. */
START_TEST (a_table_in_many_chunks_goes_out_in_many)
{
    elect ();
    enter_all ();
    give_chunk (0, 1024, true);
    give_chunk (1024, 1000, false);
    ck_assert (has_fill (3, 0, LK_CHUNK_MAX, true));
    ck_assert (has_fill (3, LK_CHUNK_MAX, 1000, false));
    give_filled (2, next.term, 0, hash_out (1024));
    ck_assert (!says (LK_MSG_FILL));                /* all of it is under way */
    give_filled (2, next.term, 0, hash_out (1024)); /* again */
    ck_assert (!says (LK_MSG_FILL));
    give_filled (2, next.term, 1024, hash_out (2024));
    give_filled (3, next.term, 0, hash_out (1024));
    ck_assert (!says (LK_MSG_EXITING));
    give_filled (3, next.term, 1024, hash_out (2024));
    ck_assert_ptr_nonnull (sent (LK_MSG_EXITING, PROPOSER));
}
END_TEST

/*  Four at a time; an answer that is lost is in the next one; and what is not
 *  answered is said again, from there on. */
START_TEST (a_window_of_chunks)
{
    elect ();
    enter_all ();
    for (uint64_t chunk = 0; chunk < 6; chunk++) {
        give_chunk (chunk * 1024, 1024, chunk < 5);
    }
    ck_assert (has_fill (2, 3 * 1024, 1024, true));
    ck_assert (!has_fill (2, 4 * 1024, 1024, true));
    give_filled (2, next.term, 1024, hash_out (2048));
    ck_assert (has_fill (2, 4 * 1024, 1024, true));
    ck_assert (has_fill (2, 5 * 1024, 1024, false));
    give_filled (2, next.term, 0, hash_out (1024)); /* late */
    ck_assert_int_eq (election ().doorway, LK_DOORWAY_FILLING);
    wait_ms (201);
    ck_assert (!has_fill (2, 1024, 1024, true));
    ck_assert (has_fill (2, 2048, 1024, true));
    ck_assert (has_fill (3, 0, 1024, true));
    give_filled (2, next.term, 5 * 1024, hash_out (6 * 1024));
    ck_assert (!says (LK_MSG_EXITING));
    give_filled (3, next.term, 3 * 1024, hash_out (4 * 1024));
    give_filled (3, next.term, 5 * 1024, hash_out (6 * 1024));
    ck_assert_ptr_nonnull (sent (LK_MSG_EXITING, PROPOSER));
}
END_TEST

START_TEST (all_have_to_be_filled)
{
    elect ();
    enter_all ();
    give_chunk (0, 4, false);
    give_filled (2, next.term, 0, hash_out (4));
    give_filled (2, next.term, 0, hash_out (4));
    give_filled (HOLDER, next.term, 0, hash_out (4));
    give_filled (1, next.term, 0, hash_out (4));
    give_filled (3, term_of (8, 3), 0, hash_out (4));
    give_filled (3, next.term, 4, hash_out (4));
    ck_assert (!says (LK_MSG_EXITING));
    ck_assert_int_eq (election ().doorway, LK_DOORWAY_FILLING);
    wait_ms (201);
    ck_assert_ptr_nonnull (sent (LK_MSG_FILL, 3));
    ck_assert_ptr_null (sent (LK_MSG_FILL, 2));
    give_filled (3, next.term, 0, hash_out (4));
    ck_assert_ptr_nonnull (sent (LK_MSG_EXITING, PROPOSER));
}
END_TEST

START_TEST (a_copy_that_differs_ends_it)
{
    elect ();
    enter_all ();
    give_chunk (0, 4, false);
    give_filled (2, next.term, 0, hash_out (4) ^ 1);
    ck_assert_int_eq (election ().doorway, LK_DOORWAY_IDLE);
    fill_all (4);
    ck_assert (!says (LK_MSG_EXITING));
}
END_TEST

START_TEST (filled_before_there_was_anything_to_fill)
{
    elect ();
    enter_all ();
    give_filled (2, next.term, 0, 0);
    give_filled (3, next.term, 0, 0);
    ck_assert (!says (LK_MSG_EXITING));
    give_chunk (0, 4, false);
    ck_assert (!says (LK_MSG_EXITING));
    ck_assert_int_eq (election ().doorway, LK_DOORWAY_FILLING);
}
END_TEST

START_TEST (elected_once_more)
{
    elect ();
    elect ();
    ck_assert (!says (LK_MSG_ENTERING));
    ck_assert_ptr_nonnull (sent (LK_MSG_ENTERED, PROPOSER)); /* so far */
    const uint64_t steps =
        sent (LK_MSG_ENTERED, PROPOSER)->as.entered.holds.length;
    enter_all ();
    elect ();
    ck_assert_uint_gt (sent (LK_MSG_ENTERED, PROPOSER)->as.entered.holds.length,
                       steps);
    ck_assert (!says (LK_MSG_EXITING));
    give_chunk (0, 4, false);
    fill_all (4);
    elect ();
    ck_assert_ptr_nonnull (sent (LK_MSG_EXITING, PROPOSER));
    ck_assert (!says (LK_MSG_ENTERING));
}
END_TEST

/*  There is no refilling within a term. */
START_TEST (elected_again_after_it_left)
{
    elect ();
    enter_all ();
    give_chunk (0, 4, false);
    give_filled (2, next.term, 0, hash_out (4) ^ 1);
    elect ();
    ck_assert (!says (LK_MSG_ENTERING));
    ck_assert_int_eq (election ().doorway, LK_DOORWAY_IDLE);
}
END_TEST

START_TEST (the_holder_itself_that_holds_nothing)
{
    elect_with (&next, 0);
    enter_all ();
    ck_assert (!says (LK_MSG_FILL));
    ck_assert_int_eq (election ().doorway, LK_DOORWAY_IDLE);
    ck_assert (!lk_table_is_filled (lk_node_table (node)));
}
END_TEST

/*  Its table is older than the decree before: it is not what D had. */
START_TEST (the_holder_itself_with_an_old_table)
{
    next = decree_of (term_of (8, PROPOSER), MEMBERS, 2, 0, 3);
    lk_lock_message message = chunk_of (LK_MSG_FILL, 0, 4, false);
    give (2, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 4);
    former.term = term_of (9, 3);
    next = decree_of (term_of (10, PROPOSER), MEMBERS, 0, 2, 3);
    elect_with (&next, 0);
    give_plain (2, LK_MSG_ENTERED, next.term);
    give_plain (3, LK_MSG_ENTERED, next.term);
    ck_assert (!says (LK_MSG_FILL));
    ck_assert_uint_eq (lk_node_table (node)->decree.term.number, 8);
}
END_TEST

/*  Who has entered enters no second time: what is filled stays that. */
START_TEST (entered_once_more)
{
    elect ();
    enter_all ();
    give_chunk (0, 4, false);
    give_filled (2, next.term, 0, hash_out (4));
    enter_all ();
    ck_assert (!says (LK_MSG_GETMAX));
    ck_assert_int_eq (election ().doorway, LK_DOORWAY_FILLING);
    give_filled (3, next.term, 0, hash_out (4));
    ck_assert_ptr_nonnull (sent (LK_MSG_EXITING, PROPOSER));
}
END_TEST

START_TEST (nobody_holds_anything)
{
    elect_with (&next, LK_NOBODY);
    give_plain (2, LK_MSG_ENTERED, next.term);
    ck_assert (!says (LK_MSG_FILL));
    give_plain (3, LK_MSG_ENTERED, next.term);
    ck_assert_ptr_nonnull (sent (LK_MSG_FILL, 2));
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

/*  Not each leader knows of that: their homes end the tickets. */
START_TEST (what_is_over_goes_along)
{
    elect ();
    enter_all ();
    lk_lock_message message = chunk_of (LK_MSG_MAXTICKET, 0, 4, false);
    message.as.chunk.gone[1] = 3;
    message.as.chunk.gone[0] = 2;
    give (HOLDER, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 4);
    ck_assert_uint_eq (lk_table_gone (lk_node_table (node), 1), 3);
    ck_assert_uint_eq (sent (LK_MSG_FILL, 2)->as.chunk.gone[1], 3);
}
END_TEST

START_TEST (a_reclaim_goes_on)
{
    elect ();
    enter_all ();
    lk_lock_message message = chunk_of (LK_MSG_MAXTICKET, 0, 4, false);
    message.as.chunk.reclaim = 2;
    give (HOLDER, &message);
    ck_assert_uint_eq (lk_node_table (node)->reclaim, 7);
    ck_assert_uint_eq (sent (LK_MSG_FILL, 2)->as.chunk.reclaim, 7);
}
END_TEST

/*  Half of its tickets are here: its homes are not those of the new decree. */
START_TEST (a_reclaim_of_more_leaders_goes_on)
{
    elect ();
    enter_all ();
    lk_lock_message message = chunk_of (LK_MSG_MAXTICKET, 0, 3, true);
    message.as.chunk.reclaim = 0x1f;
    give (HOLDER, &message);
    lk_node_check (node, true);
    message = chunk_of (LK_MSG_MAXTICKET, 3, 3, false);
    message.as.chunk.reclaim = 0x1f;
    give (HOLDER, &message);
    lk_node_check (node, true);
    ck_assert_uint_eq (lk_node_table (node)->count, 6);
    ck_assert_uint_eq (lk_node_table (node)->reclaim, 7);
}
END_TEST

START_TEST (a_reclaim_begins)
{
    next.reclaim = true;
    elect_with (&next, LK_NOBODY);
    give_plain (2, LK_MSG_ENTERED, next.term);
    give_plain (3, LK_MSG_ENTERED, next.term);
    ck_assert_uint_eq (lk_node_table (node)->reclaim, 7);
}
END_TEST

START_TEST (somebody_in_the_doorway_desists)
{
    lk_lock_message message = message_of (LK_MSG_DESIST, term_of (8, 3));
    message.as.desist.promised = term_of (30, 3);
    elect ();
    give (2, &message);
    ck_assert_int_eq (election ().doorway, LK_DOORWAY_ENTERING);
    message.term = next.term;
    give (2, &message);
    const lk_lock_message *desist = sent (LK_MSG_DESIST, PROPOSER);
    ck_assert_ptr_nonnull (desist);
    ck_assert (lk_term_equal (desist->term, next.term));
    ck_assert_uint_eq (desist->as.desist.promised.number, 30);
    ck_assert_int_eq (election ().doorway, LK_DOORWAY_IDLE);
}
END_TEST

/*  -------------------------------------------------------- the others */

START_TEST (it_is_filled)
{
    make_second ();
    const lk_lock_message *filled = fill (0, 4, false);
    ck_assert (persists (next.term));
    ck_assert_ptr_nonnull (filled);
    ck_assert_uint_eq (filled->as.filled.hash, hash_of (4));
    ck_assert_uint_eq (lk_node_table (node)->count, 4);
    ck_assert (lk_term_equal (lk_node_table (node)->decree.term, next.term));
    ck_assert (!lk_leader_is_serving (
        lk_node_leader (node)));                /* it is not in force yet */
    ck_assert_ptr_nonnull (fill (0, 4, false)); /* the answer was lost */
    ck_assert_uint_eq (lk_node_table (node)->count, 4);
}
END_TEST

START_TEST (it_is_filled_in_order)
{
    make_second ();
    ck_assert_ptr_null (fill (3, 3, true));
    ck_assert_ptr_nonnull (fill (0, 3, true));
    ck_assert (!lk_table_is_filled (lk_node_table (node)));
    ck_assert_ptr_null (fill (4, 2, false));
    ck_assert_ptr_nonnull (fill (0, 3, true));
    ck_assert_uint_eq (fill (3, 3, false)->as.filled.hash, hash_of (6));
    ck_assert_uint_eq (lk_node_table (node)->count, 6);
}
END_TEST

START_TEST (what_another_term_began_is_no_part_of_it)
{
    make_second ();
    fill (0, 3, true);
    next.term = term_of (9, 2);
    ck_assert_ptr_null (fill (3, 3, false));
    ck_assert_uint_eq (fill (0, 2, false)->as.filled.hash, hash_of (2));
    ck_assert_uint_eq (lk_node_table (node)->count, 2);
}
END_TEST

START_TEST (filled_once_per_term)
{
    make_second ();
    fill (0, 4, false);
    ck_assert_ptr_null (fill (4, 2, false));
    ck_assert_ptr_null (fill (0, 2, false));
    ck_assert_uint_eq (lk_node_table (node)->count, 4);
}
END_TEST

START_TEST (no_filling_below_the_promise)
{
    make_second ();
    give_vote (9);
    ck_assert_ptr_null (fill (0, 4, false));
    ck_assert (!lk_table_is_filled (lk_node_table (node)));
}
END_TEST

START_TEST (no_filling_of_who_does_not_lead)
{
    next = decree_of (term_of (8, PROPOSER), MEMBERS, 2, 1, 3);
    ck_assert_ptr_null (fill (0, 4, false));
    ck_assert (!lk_table_is_filled (lk_node_table (node)));
    ck_assert_uint_eq (lk_node_core (node)->facts.promised.number, 7);
}
END_TEST

START_TEST (no_filling_of_who_promised_before_it_started)
{
    make_second ();
    start_with (next.term, &former);
    ck_assert_ptr_null (fill (0, 4, false));
    ck_assert (!lk_table_is_filled (lk_node_table (node)));
}
END_TEST

START_TEST (entering)
{
    give_plain (2, LK_MSG_ENTERING, next.term);
    ck_assert (persists (next.term));
    ck_assert_ptr_nonnull (sent (LK_MSG_ENTERED, 2));
    give_vote (9);
    give_plain (2, LK_MSG_ENTERING, next.term);
    ck_assert_ptr_null (sent (LK_MSG_ENTERED, 2));
    ck_assert_ptr_nonnull (sent (LK_MSG_DESIST, 2));
}
END_TEST

/*  -------------------------------------------------------- the holder */

static const lk_lock_message *
get_table (lk_term term, lk_term previous)
{
    lk_lock_message message = message_of (LK_MSG_GETMAX, term);
    message.as.getmax.previous = previous;
    give (2, &message);
    return sent (LK_MSG_MAXTICKET, 2);
}

START_TEST (a_sealed_table_is_given)
{
    make_second ();
    fill (0, 4, false);
    const lk_term ninth = term_of (9, 3);
    ck_assert_ptr_null (get_table (ninth, next.term)); /* not sealed */
    give_plain (2, LK_MSG_ENTERING, ninth);
    const lk_lock_message *answer = get_table (ninth, next.term);
    ck_assert_ptr_nonnull (answer);
    ck_assert_uint_eq (answer->as.chunk.ticket_count, 4);
    ck_assert (lk_term_equal (answer->as.chunk.table, next.term));
    ck_assert_uint_eq (answer->as.chunk.incarnation,
                       lk_node_core (node)->incarnation);
    ck_assert_ptr_null (get_table (term_of (9, 2), next.term));
    ck_assert_ptr_null (get_table (ninth, term_of (8, PROPOSER + 1)));
}
END_TEST

START_TEST (no_table_is_given_for_its_own_term)
{
    make_second ();
    fill (0, 4, false);
    ck_assert_ptr_null (get_table (next.term, former.term));
}
END_TEST

START_TEST (who_has_no_table_gives_none)
{
    give_plain (2, LK_MSG_ENTERING, next.term);
    ck_assert_ptr_null (get_table (next.term, (lk_term) {0, 0}));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("doorway");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, who_retires_ends_the_doorway);
    tcase_add_test (tests, it_promises_before_it_enters);
    tcase_add_test (tests, the_whole_doorway);
    tcase_add_test (tests, who_promised_more_does_not_enter);
    tcase_add_test (tests, who_is_not_the_first_does_not_enter);
    tcase_add_test (tests, who_promised_before_it_started_does_not_enter);
    tcase_add_test (tests, all_have_to_enter);
    tcase_add_test (tests, another_promise_ends_it_while_entering);
    tcase_add_test (tests, another_promise_ends_it_while_getting);
    tcase_add_test (tests, another_promise_ends_it_while_filling);
    tcase_add_test (tests, whose_chunks_count);
    tcase_add_test (tests, chunks_before_all_have_entered);
    tcase_add_test (tests, chunk_by_chunk);
    tcase_add_test (tests, the_holder_has_another_table);
    tcase_add_test (tests, the_holder_is_another_process);
    tcase_add_test (tests, the_holder_has_a_late_table);
    tcase_add_test (tests, a_table_in_many_chunks_goes_out_in_many);
    tcase_add_test (tests, a_window_of_chunks);
    tcase_add_test (tests, all_have_to_be_filled);
    tcase_add_test (tests, a_copy_that_differs_ends_it);
    tcase_add_test (tests, filled_before_there_was_anything_to_fill);
    tcase_add_test (tests, elected_once_more);
    tcase_add_test (tests, elected_again_after_it_left);
    tcase_add_test (tests, the_holder_itself_that_holds_nothing);
    tcase_add_test (tests, the_holder_itself_with_an_old_table);
    tcase_add_test (tests, entered_once_more);
    tcase_add_test (tests, nobody_holds_anything);
    tcase_add_test (tests, what_is_over_goes_along);
    tcase_add_test (tests, a_reclaim_goes_on);
    tcase_add_test (tests, a_reclaim_of_more_leaders_goes_on);
    tcase_add_test (tests, a_reclaim_begins);
    tcase_add_test (tests, somebody_in_the_doorway_desists);
    tcase_add_test (tests, it_is_filled);
    tcase_add_test (tests, it_is_filled_in_order);
    tcase_add_test (tests, what_another_term_began_is_no_part_of_it);
    tcase_add_test (tests, filled_once_per_term);
    tcase_add_test (tests, no_filling_below_the_promise);
    tcase_add_test (tests, no_filling_of_who_does_not_lead);
    tcase_add_test (tests, no_filling_of_who_promised_before_it_started);
    tcase_add_test (tests, entering);
    tcase_add_test (tests, a_sealed_table_is_given);
    tcase_add_test (tests, no_table_is_given_for_its_own_term);
    tcase_add_test (tests, who_has_no_table_gives_none);
    return run_tests ("core_doorway", tests);
}
