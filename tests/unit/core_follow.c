/*  core_follow.c - one leader among three: whose word counts in a stream
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Host 0 leads term 7 together with hosts 1 and 2; host 3 is a member that
 *  does not lead, host 5 has applications. Acknowledgements, operations and
 *  LOCKREADY of others, of other terms, or too early; and what is passed on.
 */

#include "core_fake.h"

#define MEMBERS 0xf
#define OWN_PLACE 1
#define HOST 5

static lk_decree decree;

static void
ping (lk_host from)
{
    lk_lock_message message = ping_of (from, 0xff);
    message.as.ping.active = decree;
    message.as.ping.promised = decree.term;
    message.as.ping.session = 3;
    if (lk_decree_place (&decree, from) >= 0) {
        message.as.ping.table = decree;
        message.as.ping.well = true;
    }
    give (from, &message);
}

static void
fill (void)
{
    lk_lock_message message = message_of (LK_MSG_FILL, decree.term);
    message.as.chunk.decree = decree;
    give (1, &message);
    ck_assert (says (LK_MSG_FILLED));
}

static void
set_up (void)
{
    lk_decree genesis = {.members = MEMBERS};
    decree = decree_of (term_of (7, 1), MEMBERS, 1, 0, 2);
    start_with ((lk_term) {0, 0}, &genesis);
    fill ();
    give_decree (1, LK_MSG_READY, &decree);
    ping (1);
    ping (2);
    ping (3);
    ping (HOST);
    ck_assert (lk_leader_is_serving (lk_node_leader (node))
               && lk_lease_holds (lk_node_leader (node)));
}

/*  -------------------------------------------------------- acknowledged */

static lk_lock_message
ack_of (uint64_t sequence)
{
    lk_lock_message message = message_of (LK_MSG_ACKED, decree.term);
    message.as.acked = (lk_msg_acked) {
        .home = OWN_PLACE,
        .sequence = sequence,
        .hash = lk_leader_see_chain (lk_node_leader (node), sequence)};
    return message;
}

START_TEST (whose_acknowledgement_counts)
{
    lk_lock_message message = ack_of (1);
    give (1, &message);
    ck_assert_uint_eq (leader ().unacked, 1);
    give (3, &message); /* does not lead */
    give (HOST, &message);
    ck_assert_uint_eq (leader ().unacked, 1);
    message.as.acked.home = 0; /* of another stream */
    give (2, &message);
    ck_assert_uint_eq (leader ().unacked, 1);
    message = ack_of (1);
    message.term = term_of (6, 1);
    give (2, &message);
    message.term = term_of (7, 2);
    give (2, &message);
    ck_assert_uint_eq (leader ().unacked, 1);
    message = ack_of (1);
    message.as.acked.hash ^= 1;
    give (2, &message);
    ck_assert_uint_eq (leader ().unacked, 1);
    message = ack_of (1);
    message.as.acked.sequence = 2; /* there is none such */
    give (2, &message);
    ck_assert_uint_eq (leader ().unacked, 1);
    message = ack_of (1);
    give (2, &message);
    ck_assert_uint_eq (leader ().unacked, 0);
}
END_TEST

static void
op_from (lk_host from, uint8_t home, lk_op op)
{
    lk_lock_message message = message_of (LK_MSG_OPS, decree.term);
    message.as.ops =
        (lk_msg_ops) {.home = home,
                      .first = lk_node_table (node)->sequence[home],
                      .hash = lk_node_table (node)->hash[home],
                      .ops = &op,
                      .op_count = 1};
    give (from, &message);
}

static void
ops_from (lk_host from, uint8_t home)
{
    op_from (from, home, (lk_op) {.kind = LK_OP_OPEN, .by.host = LK_NOBODY});
}

START_TEST (in_its_own_name)
{
    lk_lock_message message = ack_of (1);
    message.as.acked.hash ^= 1;
    give (0, &message);
    ck_assert (!leader ().fellow[OWN_PLACE].differs);
    ops_from (0, OWN_PLACE);
    ck_assert_uint_eq (lk_node_table (node)->sequence[OWN_PLACE], 1);
    ops_from (1, 0);
    ck_assert_uint_eq (lk_node_table (node)->sequence[0], 1);
}
END_TEST

/*  Whichever of them is the last. */
START_TEST (all_have_to_acknowledge)
{
    lk_lock_message message = ack_of (1);
    give (2, &message);
    give (2, &message);
    ck_assert_uint_eq (leader ().unacked, 1);
    give (1, &message);
    ck_assert_uint_eq (leader ().unacked, 0);
}
END_TEST

START_TEST (an_older_acknowledgement_takes_nothing_back)
{
    lk_lock_message first = ack_of (0);
    lk_lock_message second = ack_of (1);
    give (1, &second);
    give (1, &first);
    ck_assert_uint_eq (leader ().fellow[0].acked, 1);
    give (2, &second);
    ck_assert_uint_eq (leader ().unacked, 0);
}
END_TEST

/*  -------------------------------------------------------- operations */

/*  An empty batch is answered with how far we are, if it is heard at all. */
static bool
answers_ops (lk_host from, uint8_t home, lk_term term)
{
    lk_op op = {.kind = LK_OP_CONFIRM, .by.host = LK_NOBODY};
    lk_lock_message message = message_of (LK_MSG_OPS, term);
    const uint64_t before =
        lk_node_table (node)->sequence[0] + lk_node_table (node)->sequence[2];
    message.as.ops = (lk_msg_ops) {.home = home, .ops = &op, .op_count = 1};
    give (from, &message);
    ck_assert (sent (LK_MSG_ACKED, from)
               || before
                      == lk_node_table (node)->sequence[0]
                             + lk_node_table (node)->sequence[2]);
    return sent (LK_MSG_ACKED, from) != NULL;
}

START_TEST (whose_operations_count)
{
    ck_assert (!answers_ops (2, 0, decree.term));
    ck_assert (!answers_ops (3, 0, decree.term));
    ck_assert (!answers_ops (1, 3, decree.term));
    ck_assert (!answers_ops (1, 4, decree.term));
    ck_assert (!answers_ops (1, 0, term_of (6, 1)));
    ck_assert (!answers_ops (1, 0, term_of (7, 2)));
    ck_assert (answers_ops (1, 0, decree.term));
    ck_assert_uint_eq (lk_node_table (node)->sequence[0], 1);
}
END_TEST

/*  Its promise fits, but it has another table. */
START_TEST (operations_before_the_table)
{
    give_plain (1, LK_MSG_ENTERING, term_of (8, 1));
    ck_assert (!answers_ops (1, 0, term_of (8, 1)));
    ck_assert (!answers_ops (1, 0, decree.term));
    ck_assert_uint_eq (lk_node_table (node)->sequence[0], 0);
}
END_TEST

/*  -------------------------------------------------------- takeover */

/*  Host 1 is the home of that now. */
static lk_name
name_of_another (void)
{
    static const char letters[] = "abcdefgh";
    size_t i = 0;
    while (lk_home_of (&decree, (lk_name) {letters + i, 1}) == OWN_PLACE) {
        i++;
    }
    return (lk_name) {letters + i, 1};
}

static void
use_key (lk_name object, uint64_t serial)
{
    lk_lock_message message = message_of (LK_MSG_UNLOCK, decree.term);
    message.as.request.ticket =
        (lk_ticket) {.request = {HOST, 3, serial}, .object = object, .key = 77};
    message.as.request.by_key = true;
    message.as.request.at = now_ms;
    give (HOST, &message);
}

/*  Of term 8, alone. */
static void
take_over (void)
{
    decree = (lk_decree) {
        .term = term_of (8, 1), .members = MEMBERS, .leader_count = 1};
    fill ();
    give_decree (1, LK_MSG_READY, &decree);
    ping (1);
    ping (2);
    ping (HOST);
    ck_assert (lk_leader_is_serving (lk_node_leader (node))
               && lk_lease_holds (lk_node_leader (node)));
}

/*  The asker did not hear that it is done, and asks the next home. */
START_TEST (the_next_home_knows_what_was_ended_for_whom)
{
    const lk_name object = name_of_another ();
    const uint8_t home = (uint8_t) lk_home_of (&decree, object);
    const lk_ticket ticket = {.request = {HOST, 3, 1},
                              .object = object,
                              .owner = {"a@h5", 4},
                              .key = 77};
    const lk_host leader = decree.leader[home];
    op_from (
        leader, home,
        (lk_op) {.kind = LK_OP_ADD, .ticket = ticket, .by.host = LK_NOBODY});
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    op_from (
        leader, home,
        (lk_op) {.kind = LK_OP_DROP, .ticket = ticket, .by = {HOST, 3, 9}});
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    take_over ();
    use_key (object, 9);
    ck_assert_ptr_nonnull (sent (LK_MSG_UNLOCKED, HOST));
    use_key (object, 10);
    ck_assert_int_eq (sent (LK_MSG_LOCKFAILED, HOST)->as.reply.error,
                      LK_UNKNOWN);
}
END_TEST

/*  Its holder's session was over, so that the former home only confirmed it. */
START_TEST (the_next_home_knows_what_was_called_done)
{
    const lk_name object = name_of_another ();
    const uint8_t home = (uint8_t) lk_home_of (&decree, object);
    const lk_ticket asked = {.request = {HOST, 3, 9}, .object = object};
    op_from (
        decree.leader[home], home,
        (lk_op) {.kind = LK_OP_CONFIRM, .ticket = asked, .by = asked.request});
    take_over ();
    use_key (object, 9);
    ck_assert_ptr_nonnull (sent (LK_MSG_UNLOCKED, HOST));
}
END_TEST

/*  -------------------------------------------------------- ready */

static lk_decree
next_decree (void)
{
    return decree_of (term_of (8, 1), MEMBERS, 1, 0, 2);
}

/*  The table of term 7 is none of term 8: it serves neither. */
START_TEST (ready_is_said_of_another_term)
{
    lk_decree next = next_decree ();
    give_decree (1, LK_MSG_READY, &next);
    ck_assert (!lk_leader_is_serving (lk_node_leader (node)));
    ck_assert_uint_eq (lk_node_core (node)->facts.active.term.number, 8);
    ck_assert (
        lk_table_is_filled (lk_node_table (node))); /* it leads: it may be */
    ck_assert (!says (LK_MSG_OPS));                 /* asked for it */
}
END_TEST

START_TEST (ready_behind_a_later_promise)
{
    decree = next_decree ();
    fill ();
    give_plain (2, LK_MSG_VOTE, term_of (9, 2));
    give_decree (1, LK_MSG_READY, &decree);
    ck_assert (!leader ().ready);
    ck_assert (!lk_leader_is_serving (lk_node_leader (node)));
}
END_TEST

START_TEST (ready_of_what_was_filled)
{
    decree = next_decree ();
    fill ();
    ck_assert (!lk_leader_is_serving (lk_node_leader (node)));
    lk_decree other = decree;
    other.term.proposer++;
    give_decree (2, LK_MSG_READY, &other);
    ck_assert (!leader ().ready);
    ping (1);
    ck_assert (!leader ().ready);
    give_decree (1, LK_MSG_READY, &decree);
    ck_assert (lk_leader_is_serving (lk_node_leader (node)));
}
END_TEST

/*  That term 9 is in force says nothing of the table of term 8, which was
 *  filled and never was. */
START_TEST (ready_of_the_next_term)
{
    decree = next_decree ();
    fill ();
    lk_decree ninth = decree;
    ninth.term = term_of (9, 1);
    give_plain (1, LK_MSG_ENTERING, ninth.term);
    give_decree (1, LK_MSG_READY, &ninth);
    ck_assert (!leader ().ready);
}
END_TEST

/*  What was filled for a later term is kept, whoever led before that. */
START_TEST (ready_of_a_term_before_the_table)
{
    lk_decree eighth = decree_of (term_of (8, 2), MEMBERS, 1, 2, 3);
    decree = decree_of (term_of (9, 1), MEMBERS, 1, 0, 2);
    fill ();
    give_decree (1, LK_MSG_READY, &eighth);
    ck_assert (lk_table_is_filled (lk_node_table (node)));
    give_decree (1, LK_MSG_READY, &decree);
    ck_assert (lk_leader_is_serving (lk_node_leader (node)));
}
END_TEST

/*  A fellow's ping that says ready does, too. */
START_TEST (ready_by_a_ping)
{
    decree = next_decree ();
    fill ();
    now_ms++;
    lk_lock_message message = ping_of (2, 0xff);
    message.as.ping.active = decree;
    message.as.ping.promised = decree.term;
    message.as.ping.table = decree;
    message.as.ping.ready = true;
    give (2, &message);
    ck_assert (lk_leader_is_serving (lk_node_leader (node)));
}
END_TEST

START_TEST (others_lead_now)
{
    lk_decree next = decree_of (term_of (8, 1), MEMBERS, 1, 2, 3);
    give_decree (1, LK_MSG_READY, &next);
    ck_assert (!lk_table_is_filled (lk_node_table (node)));
}
END_TEST

START_TEST (others_led_before)
{
    lk_decree former = decree_of (term_of (6, 1), MEMBERS, 1, 2, 3);
    give_decree (1, LK_MSG_READY, &former);
    ck_assert (lk_table_is_filled (lk_node_table (node)));
    ck_assert (lk_leader_is_serving (lk_node_leader (node)));
}
END_TEST

/*  -------------------------------------------------------- passing on */

static lk_lock_message
request_for (lk_host from, lk_host home)
{
    lk_lock_message message = message_of (LK_MSG_LOCK, decree.term);
    message.origin = HOST;
    message.destination = home;
    message.from = from;
    message.as.request.ticket =
        (lk_ticket) {.request = {HOST, 3, 1}, .object = {"x", 1}};
    return message;
}

START_TEST (a_request_is_passed_on_once)
{
    lk_lock_message message = request_for (HOST, 2);
    give (HOST, &message);
    const lk_lock_message *passed = sent (LK_MSG_LOCK, 2);
    ck_assert_ptr_nonnull (passed);
    ck_assert_int_eq (passed->from, 0);
    ck_assert_int_eq (passed->origin, HOST);
    ck_assert_int_eq (passed->destination, 2);
    message = request_for (1, 2); /* it came by another already */
    give (1, &message);
    ck_assert (!says (LK_MSG_LOCK));
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

START_TEST (who_is_sealed_passes_nothing_on)
{
    give_plain (2, LK_MSG_VOTE, term_of (8, 2));
    lk_lock_message message = request_for (HOST, 2);
    give (HOST, &message);
    ck_assert (!says (LK_MSG_LOCK));
}
END_TEST

START_TEST (an_answer_is_passed_on)
{
    lk_lock_message message = message_of (LK_MSG_LOCKED, decree.term);
    message.destination = HOST;
    message.as.reply.request = (lk_request_id) {HOST, 3, 1};
    message.as.reply.object = (lk_name) {"x", 1};
    give (2, &message);
    ck_assert_ptr_nonnull (sent (LK_MSG_LOCKED, HOST));
    give (HOST, &message); /* not back to where it came from */
    ck_assert_ptr_null (sent (LK_MSG_LOCKED, HOST));
}
END_TEST

/*  -------------------------------------------------------- audits */

START_TEST (an_audit_is_passed_on_by_its_proxy_alone)
{
    char text[2] = "a";
    while (lk_home_of (&decree, (lk_name) {text, 1}) != 2) {
        text[0]++;
    }
    lk_lock_message message = message_of (LK_MSG_AUDITED, decree.term);
    message.as.audit =
        (lk_msg_audit) {.request = {HOST, 3, 1}, .object = {text, 1}};
    give (HOST, &message);
    ck_assert_ptr_nonnull (sent (LK_MSG_AUDITED, 2));
    give (1, &message);
    ck_assert_ptr_null (sent (LK_MSG_AUDITED, 2));
    give_plain (2, LK_MSG_VOTE, term_of (8, 2));
    give (HOST, &message);
    ck_assert_ptr_null (sent (LK_MSG_AUDITED, 2));
}
END_TEST

/*  -------------------------------------------------------- members */

/*  Who is no member votes for nobody but itself, and so does not begin. */
START_TEST (who_is_no_member_holds_no_election)
{
    lk_decree others = decree_of (term_of (7, 1), 0xe, 1, 2, 3);
    start_with (others.term, &others);
    for (int i = 0; i < 100; i++) {
        now_ms += 20;
        ping (1);
        ping (2);
        ping (3);
        wait_ms (0);
    }
    ck_assert_int_eq (said[LK_MSG_DATE], 0);
}
END_TEST

START_TEST (nobody_says_nothing)
{
    lk_lock_message message = message_of (LK_MSG_STARTED, (lk_term) {0, 0});
    const lk_hosts known = lk_node_core (node)->known;
    give (LK_HOSTS_MAX + 6, &message);
    ck_assert (!says (LK_MSG_STARTED));
    ck_assert_uint_eq (lk_node_core (node)->known, known);
}
END_TEST

START_TEST (who_has_stopped_says_nothing)
{
    const lk_event event = {.type = LK_ON_STOP, .now_ms = now_ms};
    step (&event);
    give_plain (2, LK_MSG_VOTE, term_of (8, 2));
    ck_assert_uint_eq (effects.count, 0);
    ck_assert_int_eq (lk_node_deadline (node), INT64_MAX);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("follow");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, whose_acknowledgement_counts);
    tcase_add_test (tests, in_its_own_name);
    tcase_add_test (tests, the_next_home_knows_what_was_ended_for_whom);
    tcase_add_test (tests, the_next_home_knows_what_was_called_done);
    tcase_add_test (tests, all_have_to_acknowledge);
    tcase_add_test (tests, an_older_acknowledgement_takes_nothing_back);
    tcase_add_test (tests, whose_operations_count);
    tcase_add_test (tests, operations_before_the_table);
    tcase_add_test (tests, ready_is_said_of_another_term);
    tcase_add_test (tests, ready_behind_a_later_promise);
    tcase_add_test (tests, ready_of_what_was_filled);
    tcase_add_test (tests, ready_of_the_next_term);
    tcase_add_test (tests, ready_of_a_term_before_the_table);
    tcase_add_test (tests, ready_by_a_ping);
    tcase_add_test (tests, others_lead_now);
    tcase_add_test (tests, others_led_before);
    tcase_add_test (tests, a_request_is_passed_on_once);
    tcase_add_test (tests, who_is_sealed_passes_nothing_on);
    tcase_add_test (tests, an_answer_is_passed_on);
    tcase_add_test (tests, an_audit_is_passed_on_by_its_proxy_alone);
    tcase_add_test (tests, who_is_no_member_holds_no_election);
    tcase_add_test (tests, nobody_says_nothing);
    tcase_add_test (tests, who_has_stopped_says_nothing);
    return run_tests ("core_follow", tests);
}
