/*  core_stream.c - one leader among three: streams, explained by example
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  leading.h is the world. First host 0 follows the stream of host 1, then it
 *  is a home itself.
 */

#include "leading.h"

#include "lib/suite.h"

/*  -------------------------------------------------------- following */

START_TEST (operations_in_order)
{
    lk_op ops[4];
    uint64_t hash[5];
    stream_of_first (ops, hash, 4);
    ck_assert_int_eq (follow (ops, hash, 0, 1), 1);
    ck_assert_int_eq (follow (ops, hash, 1, 3), 4);
    ck_assert_uint_eq (lk_node_table (node)->count, 4);
    ck_assert_uint_eq (lk_node_table (node)->hash[0], hash[4]);
}
END_TEST

START_TEST (said_again_it_is_done_once)
{
    lk_op ops[4];
    uint64_t hash[5];
    stream_of_first (ops, hash, 4);
    ck_assert_int_eq (follow (ops, hash, 0, 2), 2);
    ck_assert_int_eq (follow (ops, hash, 0, 2), 2);
    ck_assert_int_eq (follow (ops, hash, 0, 4), 4); /* two of them new */
    ck_assert_uint_eq (lk_node_table (node)->count, 4);
    ck_assert_uint_eq (lk_node_table (node)->hash[0], hash[4]);
}
END_TEST

START_TEST (a_gap_is_asked_for_again)
{
    lk_op ops[4];
    uint64_t hash[5];
    stream_of_first (ops, hash, 4);
    ck_assert_int_eq (follow (ops, hash, 2, 2), 0);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    ck_assert_int_eq (follow (ops, hash, 0, 4), 4);
}
END_TEST

/*  Whoever has promised a later term is sealed: it acknowledges nothing of
 *  this one any more. */
START_TEST (sealed)
{
    lk_op ops[2];
    uint64_t hash[3];
    stream_of_first (ops, hash, 2);
    lk_lock_message vote = message_of (LK_MSG_VOTE);
    vote.term = (lk_term) {8, 0xa2};
    give (THIRD, &vote);
    const lk_lock_message *voted = sent (LK_MSG_VOTED, THIRD);
    ck_assert_uint_eq (voted->as.voted.holds.term.number, 7);
    ck_assert_uint_eq (voted->as.voted.holds.length, 1);
    ck_assert_int_eq (follow (ops, hash, 0, 1), -1);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    ck_assert (!lk_leader_is_serving (lk_node_leader (node)));
}
END_TEST

/*  A stream is its home's alone. */
START_TEST (nobody_speaks_for_the_home)
{
    lk_op ops[1];
    uint64_t hash[2];
    stream_of_first (ops, hash, 1);
    lk_lock_message message = message_of (LK_MSG_OPS);
    message.as.ops = (lk_msg_ops) {.ops = ops, .op_count = 1};
    give (THIRD, &message);
    ck_assert_ptr_null (sent (LK_MSG_ACKED, THIRD));
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

/*  -------------------------------------------------------- a home */

/*  Every leader has it, then its proxy is told: with one of two it could be
 *  lost with that one. */
START_TEST (all_acknowledge_then_it_is_told)
{
    others_cannot_tell ();
    ask (1);
    const lk_lock_message *ops = sent (LK_MSG_OPS, FIRST);
    ck_assert_uint_eq (ops->as.ops.home, OWN_PLACE);
    ck_assert_uint_eq (ops->as.ops.first, 1);
    ck_assert_uint_eq (ops->as.ops.op_count, 1);
    ck_assert_ptr_nonnull (sent (LK_MSG_OPS, THIRD));
    ck_assert_ptr_null (sent (LK_MSG_LOCKED, THIRD));
    acked (FIRST, 2);
    ck_assert_ptr_null (sent (LK_MSG_LOCKED, THIRD));
    acked (THIRD, 2);
    const lk_lock_message *locked = sent (LK_MSG_LOCKED, THIRD);
    ck_assert_ptr_nonnull (locked);
    ck_assert_uint_eq (locked->as.reply.token, (uint64_t) 7 << 32 | 2);
    ck_assert_int_eq (locked->as.reply.as_of, now_ms);
}
END_TEST

/*  A home that was deposed has its lease for a while: only operations tell. */
START_TEST (a_check_is_told_when_all_have_it)
{
    others_cannot_tell ();
    ask (1);
    acked (FIRST, 2);
    acked (THIRD, 2);
    const uint64_t token = (uint64_t) 7 << 32 | 2;
    const lk_name object = lock_of_third (1).as.request.ticket.object;
    lk_lock_message message = message_of (LK_MSG_CHECK);
    message.as.check = (lk_msg_check) {
        .request = {THIRD, 1, 2}, .object = object, .token = token};
    give (THIRD, &message);
    ck_assert (lk_lease_holds (lk_node_leader (node)));
    ck_assert_ptr_null (sent (LK_MSG_CHECKED, THIRD));
    acked (FIRST, 3);
    ck_assert_ptr_null (sent (LK_MSG_CHECKED, THIRD));
    acked (THIRD, 3);
    const lk_msg_check *check = &sent (LK_MSG_CHECKED, THIRD)->as.check;
    ck_assert (check->held);
    ck_assert_uint_eq (check->token, token);
    ck_assert_uint_eq (check->newest, token);
    ck_assert_uint_eq (check->request.serial, 2);
}
END_TEST

/*  It has acknowledged that itself, and hears host 1 do so. */
START_TEST (a_leaders_own_proxy_hears_it_there)
{
    ask (1);
    acked (FIRST, 2);
    acked (THIRD, 2);
    ck_assert_ptr_null (sent (LK_MSG_LOCKED, THIRD));
    ask (1); /* in vain, as it seems: so it is told from here */
    acked (FIRST, 3);
    acked (THIRD, 3);
    ck_assert_ptr_nonnull (sent (LK_MSG_LOCKED, THIRD));
}
END_TEST

static void
ping_that_sees (lk_host from, lk_hosts sees)
{
    now_ms++;
    lk_lock_message message = ping_of_leader ();
    message.as.ping.sees = sees;
    give (from, &message);
}

/*  Host 1 does not reach it, or not surely. */
START_TEST (a_leader_that_lacks_another_is_told_from_here)
{
    ping_that_sees (FIRST, 3);
    ask (1);
    acked (FIRST, 2);
    acked (THIRD, 2);
    ck_assert_ptr_nonnull (sent (LK_MSG_LOCKED, THIRD));
    ping_that_sees (FIRST, 7);
    ping_that_sees (THIRD, 5);
    ask (2);
    acked (FIRST, 3);
    acked (THIRD, 3);
    lk_lock_message message = message_of (LK_MSG_UNLOCK);
    char text[16];
    message.as.request.ticket = ticket (object_at (OWN_PLACE, text), 1);
    give (THIRD, &message);
    acked (FIRST, 4);
    acked (THIRD, 4);
    ck_assert_ptr_nonnull (sent (LK_MSG_UNLOCKED, THIRD));
    ck_assert_ptr_nonnull (sent (LK_MSG_LOCKED, THIRD));
}
END_TEST

/*  Since it alone knows when that began. */
START_TEST (a_duration_is_told_by_the_home)
{
    char text[16];
    lk_lock_message message = message_of (LK_MSG_LOCK);
    message.as.request =
        (lk_msg_request) {.ticket = ticket (object_at (OWN_PLACE, text), 1),
                          .queue = true,
                          .at = now_ms};
    message.as.request.ticket.duration_ms = 4000;
    give (THIRD, &message);
    acked (FIRST, 2);
    acked (THIRD, 2);
    ck_assert_int_eq (sent (LK_MSG_LOCKED, THIRD)->as.reply.left_ms, 4000);
}
END_TEST

static void
unlock (uint64_t serial, uint64_t key)
{
    static char text[16];
    lk_lock_message message = message_of (LK_MSG_UNLOCK);
    message.as.request.ticket = ticket (object_at (OWN_PLACE, text), serial);
    message.as.request.ticket.key = key;
    message.as.request.by_key = key != 0;
    message.as.request.at = now_ms;
    give (THIRD, &message);
}

/*  That nobody holds it is true when all leaders have that in writing. */
START_TEST (what_is_gone_is_told_when_all_know)
{
    ask (1);
    acked (FIRST, 2);
    acked (THIRD, 2);
    unlock (1, 0);
    for (int times = 0; times < 2; times++) {
        unlock (9, 77);
        ck_assert_ptr_null (sent (LK_MSG_LOCKFAILED, THIRD));
    }
    acked (FIRST, 3);
    acked (THIRD, 3);
    unlock (9, 77);
    ck_assert_int_eq (sent (LK_MSG_LOCKFAILED, THIRD)->as.reply.error,
                      LK_UNKNOWN);
    unlock (10, 77);
    ck_assert_ptr_nonnull (sent (LK_MSG_LOCKFAILED, THIRD));
}
END_TEST

static void
force (uint64_t serial)
{
    char text[16];
    lk_lock_message message = message_of (LK_MSG_UNLOCK);
    message.as.request = (lk_msg_request) {
        .ticket = ticket (object_at (OWN_PLACE, text), serial),
        .force = true,
        .at = now_ms};
    give (THIRD, &message);
}

/*  An order that found nobody is not for who gets the lock before all know. */
START_TEST (who_comes_behind_an_order_keeps_it)
{
    ask (1);
    acked (FIRST, 2);
    acked (THIRD, 2);
    unlock (1, 0);
    force (9);
    ck_assert_ptr_null (sent (LK_MSG_LOCKFAILED, THIRD));
    ask (2);
    for (uint64_t sequence = 3; sequence <= 4; sequence++) {
        acked (FIRST, sequence);
        acked (THIRD, sequence);
    }
    ck_assert_uint_eq (leader ().unacked, 0);
    force (9);
    ck_assert_ptr_null (sent (LK_MSG_UNLOCKED, THIRD));
    ck_assert_int_eq (sent (LK_MSG_LOCKFAILED, THIRD)->as.reply.error,
                      LK_UNKNOWN);
    force (10);
    ck_assert_int_eq (sent (LK_MSG_UNLOCKED, THIRD)->as.reply.error, LK_FORCED);
}
END_TEST

/*  A static lock's host is not heard here any more, but by another leader: its
 *  proxy is asked for the lock, and its application is told. */
START_TEST (who_is_heard_by_another_is_asked)
{
    others_cannot_tell ();
    static char text[16];
    lk_lock_message message = message_of (LK_MSG_LOCK);
    message.as.request =
        (lk_msg_request) {.ticket = ticket (object_at (OWN_PLACE, text), 1),
                          .queue = true,
                          .at = now_ms};
    message.as.request.ticket.mode.is_static = true;
    for (uint64_t sequence = 2; sequence < 4; sequence++) {
        give (THIRD, &message);
        acked (FIRST, sequence);
        acked (THIRD, sequence);
        message.as.request.keep = true;
    }
    const lk_msg_reply kept = sent (LK_MSG_LOCKED, THIRD)->as.reply;
    ck_assert (kept.kept);
    now_ms += 1200;
    ping (FIRST);
    unlock (9, kept.key);
    ck_assert_int_eq (sent (LK_MSG_UNLOCKED, THIRD)->as.reply.error,
                      LK_RELEASED);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}
END_TEST

START_TEST (what_gathers_travels_together)
{
    ask (1);
    ask (2);
    ck_assert_ptr_null (sent (LK_MSG_OPS, FIRST));
    ask (3);
    acked (FIRST, 2);
    now_ms += 2; /* they wait for another */
    tick ();
    const lk_lock_message *ops = sent (LK_MSG_OPS, FIRST);
    ck_assert_uint_eq (ops->as.ops.first, 2);
    ck_assert_uint_eq (ops->as.ops.op_count, 2);
    ck_assert_ptr_null (sent (LK_MSG_OPS, THIRD)); /* it is still busy */
}
END_TEST

START_TEST (what_is_not_acknowledged_is_said_again)
{
    ask (1);
    now_ms += LK_RESEND_MS + 1;
    tick ();
    const lk_lock_message *ops = sent (LK_MSG_OPS, THIRD);
    ck_assert_ptr_nonnull (ops);
    ck_assert_uint_eq (ops->as.ops.first, 1);
    ck_assert_uint_eq (ops->as.ops.op_count, 1);
}
END_TEST

/*  It could be voted out already: it waits with telling until enough members
 *  echo its clock again. */
START_TEST (no_telling_without_the_lease)
{
    now_ms += lk_node_core (node)->config.leader_lease_ms;
    ask (1);
    acked (FIRST, 2);
    acked (THIRD, 2);
    ck_assert_ptr_null (sent (LK_MSG_LOCKED, THIRD));
    ping (FIRST);
    ck_assert_ptr_nonnull (sent (LK_MSG_LOCKED, THIRD));
}
END_TEST

/*  It pings, and acknowledges nothing: nothing could be granted any more, so
 *  others have to lead in its place. */
START_TEST (who_does_not_acknowledge_is_not_seen)
{
    ask (1);
    acked (FIRST, 2);
    ck_assert (lk_leader_is_well (lk_node_leader (node)));
    for (int64_t end = now_ms + 3500; now_ms < end; now_ms += 250) {
        ping (FIRST);
        ping (THIRD);
    }
    ck_assert (lk_peer_heard (lk_node_core (node), THIRD));
    ck_assert (!lk_leader_is_well (lk_node_leader (node)));
    ck_assert_uint_eq (lk_leader_sees (lk_node_leader (node)),
                       LK_HOST_BIT (0) | LK_HOST_BIT (FIRST));
    acked (THIRD, 2);
    ck_assert (lk_leader_is_well (lk_node_leader (node)));
    ck_assert_uint_eq (lk_leader_sees (lk_node_leader (node)), 7);
}
END_TEST

/*  Serving by its table is not enough to say so: the lease is needed. */
/*  But it has a vote: where another one has fallen silent it is needed. */
START_TEST (who_does_not_acknowledge_may_vote)
{
    bool asked = false;
    lk_op op = {.kind = LK_OP_OPEN};
    lk_stream_append (lk_node_leader (node), &op);
    for (int i = 0; i < 50; i++) {
        now_ms += 100;
        ping (THIRD);
        if (!lk_hosts_has (lk_leader_sees (lk_node_leader (node)), THIRD)) {
            asked |= sent (LK_MSG_DATE, THIRD) != NULL;
            tick ();
            asked |= sent (LK_MSG_DATE, THIRD) != NULL;
        }
    }
    ck_assert (!lk_hosts_has (lk_leader_sees (lk_node_leader (node)), FIRST));
    ck_assert (asked);
}
END_TEST

START_TEST (without_the_lease_it_does_not_lead)
{
    lk_node_status status;
    lk_node_get_status (node, &status);
    ck_assert (status.leads);
    now_ms += lk_node_core (node)->config.leader_lease_ms;
    tick ();
    lk_node_get_status (node, &status);
    ck_assert (!status.leads && !status.ready);
}
END_TEST

/*  A later decree is in force and others lead: nobody asks for our table. */
START_TEST (an_old_table_is_dropped)
{
    lk_decree later = {.term = {8, 0xa1},
                       .members = 7,
                       .leader_count = 2,
                       .leader = {FIRST, THIRD}};
    lk_lock_message ready = message_of (LK_MSG_READY);
    ready.term = later.term;
    ready.as.decree = (lk_msg_decree) {.decree = later, .holder = LK_NOBODY};
    ask (1);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    give (FIRST, &ready);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    ck_assert (!lk_table_is_filled (lk_node_table (node)));
}
END_TEST

START_TEST (another_home_is_not_ours_to_speak_for)
{
    char text[16];
    lk_lock_message message = message_of (LK_MSG_LOCK);
    message.as.request = (lk_msg_request) {
        .ticket = ticket (object_at (0, text), 1), .queue = true};
    give (THIRD, &message);
    ck_assert_ptr_null (sent (LK_MSG_OPS, FIRST));
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

/*  Who is named as closed is not served any more. */
START_TEST (a_closed_session_is_not_served)
{
    lk_lock_message closing = message_of (LK_MSG_PING);
    now_ms++;
    closing.as.ping = (lk_msg_ping) {.at = now_ms,
                                     .incarnation = 1,
                                     .active = decree,
                                     .promised = decree.term,
                                     .sees = 7,
                                     .session = 2,
                                     .closed = 1};
    give (THIRD, &closing);
    ask (1);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

/*  -------------------------------------------------------- sizes */

/*  Host 2 asks for `count` objects with names of 4000 bytes that are at home
 *  here. */
static void
ask_for_long_names (uint64_t count)
{
    static char text[4001];
    memset (text, 'x', sizeof text);
    for (uint64_t serial = 1; serial <= count;) {
        lk_lock_message message = message_of (LK_MSG_LOCK);
        snprintf (text, 20, "%llu", (unsigned long long) rand ());
        text[strlen (text)] = 'x';
        const lk_name object = {text, 4000};
        if (lk_home_of (&decree, object) == OWN_PLACE) {
            message.as.request = (lk_msg_request) {
                .ticket = ticket (object, serial++), .at = now_ms};
            give (THIRD, &message);
        }
    }
}

/*  What gathers does not always fit into one message. */
START_TEST (a_batch_fits_into_a_message)
{
    ask_for_long_names (300);
    acked (FIRST, 2);
    const lk_msg_ops *ops = &sent (LK_MSG_OPS, FIRST)->as.ops;
    size_t size = 0;
    for (size_t i = 0; i < ops->op_count; i++) {
        size += lk_op_size (&ops->ops[i]);
    }
    ck_assert_uint_gt (ops->op_count, 100);
    ck_assert_uint_le (size, LK_BULK_SIZE_MAX);
    acked (FIRST, 2 + ops->op_count);
    ck_assert_uint_gt (sent (LK_MSG_OPS, FIRST)->as.ops.op_count, 0);
}
END_TEST

/*  Nor does each chunk of a table: all of it comes over all the same. */
START_TEST (a_chunk_fits_into_a_message)
{
    ask_for_long_names (300);
    lk_lock_message vote = message_of (LK_MSG_VOTE);
    vote.term = (lk_term) {8, 0xa2};
    give (THIRD, &vote);
    lk_table copy;
    lk_table_init (&copy);
    lk_table_begin (&copy, &decree);
    bool more = true;
    for (uint64_t place = 0; more; place = copy.count) {
        lk_lock_message getmax = message_of (LK_MSG_GETMAX);
        getmax.term = vote.term;
        getmax.as.getmax =
            (lk_msg_getmax) {.previous = decree.term, .chunk = place};
        give (THIRD, &getmax);
        const lk_lock_message *answer = sent (LK_MSG_MAXTICKET, THIRD);
        size_t size = 0;
        ck_assert_ptr_nonnull (answer);
        for (size_t i = 0; i < answer->as.chunk.ticket_count; i++) {
            const lk_ticket *one = &answer->as.chunk.tickets[i];
            size += lk_ticket_size (one);
            lk_table_restore (&copy, one, now_ms);
        }
        ck_assert_uint_le (size, LK_BULK_SIZE_MAX);
        more = answer->as.chunk.more;
    }
    ck_assert_uint_eq (copy.count, 300);
    lk_table_clear (&copy);
}
END_TEST

/*  -------------------------------------------------------- keys */

/*  Host 2 holds it, and somebody on host 1 has the key. */
static void
hold (lk_lock_message *unlock)
{
    static char text[16];
    ask (1);
    acked (FIRST, 2);
    acked (THIRD, 2);
    const lk_entry *entry =
        lk_table_find (lk_node_table (node), (lk_request_id) {THIRD, 1, 1});
    *unlock = message_of (LK_MSG_UNLOCK);
    unlock->as.request.ticket =
        (lk_ticket) {.request = {FIRST, 1, 70},
                     .object = object_at (OWN_PLACE, text),
                     .key = entry->key};
    unlock->as.request.by_key = true;
    unlock->as.request.at = now_ms;
}

/*  The holder's proxy gives it back, as it was asked to. */
static void
holder_unlocks (void)
{
    static char text[16];
    lk_lock_message unlock = message_of (LK_MSG_UNLOCK);
    unlock.as.request.ticket = (lk_ticket) {
        .request = {THIRD, 1, 1}, .object = object_at (OWN_PLACE, text)};
    unlock.as.request.at = now_ms;
    give (THIRD, &unlock);
}

/*  The key does not take a lock from a holder that does not know: its proxy
 *  is asked to give it back, as often as the asker says so. */
START_TEST (an_unlock_by_key_asks_the_holder)
{
    others_cannot_tell ();
    lk_lock_message unlock;
    hold (&unlock);
    for (int times = 0; times < 2; times++) {
        give (FIRST, &unlock);
        const lk_msg_reply *asked = &sent (LK_MSG_UNLOCKED, THIRD)->as.reply;
        ck_assert_int_eq (asked->error, LK_RELEASED);
        ck_assert_uint_ne (asked->token, 0);
        ck_assert_ptr_null (sent (LK_MSG_OPS, FIRST));
    }
    holder_unlocks ();
    ck_assert_ptr_null (sent (LK_MSG_UNLOCKED, FIRST));
    acked (FIRST, 3);
    acked (THIRD, 3);
    ck_assert_int_eq (sent (LK_MSG_UNLOCKED, FIRST)->as.reply.error, LK_OK);
    ck_assert_ptr_nonnull (sent (LK_MSG_UNLOCKED, THIRD));
}
END_TEST

/*  Its answer was lost, and it is said again: it is still done. */
START_TEST (an_unlock_by_key_whose_answer_was_lost)
{
    lk_lock_message unlock;
    hold (&unlock);
    give (FIRST, &unlock);
    holder_unlocks ();
    acked (FIRST, 3);
    acked (THIRD, 3);
    give (FIRST, &unlock);
    ck_assert_ptr_null (sent (LK_MSG_LOCKFAILED, FIRST));
    acked (FIRST, 4);
    acked (THIRD, 4);
    ck_assert_int_eq (sent (LK_MSG_UNLOCKED, FIRST)->as.reply.error, LK_OK);
}
END_TEST

/*  -------------------------------------------------------- all of it */

int
main (void)
{
    TCase *tests = tcase_create ("stream");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, operations_in_order);
    tcase_add_test (tests, said_again_it_is_done_once);
    tcase_add_test (tests, a_gap_is_asked_for_again);
    tcase_add_test (tests, sealed);
    tcase_add_test (tests, nobody_speaks_for_the_home);
    tcase_add_test (tests, all_acknowledge_then_it_is_told);
    tcase_add_test (tests, a_check_is_told_when_all_have_it);
    tcase_add_test (tests, a_leaders_own_proxy_hears_it_there);
    tcase_add_test (tests, a_leader_that_lacks_another_is_told_from_here);
    tcase_add_test (tests, a_duration_is_told_by_the_home);
    tcase_add_test (tests, what_is_gone_is_told_when_all_know);
    tcase_add_test (tests, who_comes_behind_an_order_keeps_it);
    tcase_add_test (tests, who_is_heard_by_another_is_asked);
    tcase_add_test (tests, what_gathers_travels_together);
    tcase_add_test (tests, what_is_not_acknowledged_is_said_again);
    tcase_add_test (tests, no_telling_without_the_lease);
    tcase_add_test (tests, another_home_is_not_ours_to_speak_for);
    tcase_add_test (tests, a_closed_session_is_not_served);
    tcase_add_test (tests, an_unlock_by_key_asks_the_holder);
    tcase_add_test (tests, an_unlock_by_key_whose_answer_was_lost);
    tcase_add_test (tests, who_does_not_acknowledge_is_not_seen);
    tcase_add_test (tests, who_does_not_acknowledge_may_vote);
    tcase_add_test (tests, without_the_lease_it_does_not_lead);
    tcase_add_test (tests, an_old_table_is_dropped);
    tcase_add_test (tests, a_batch_fits_into_a_message);
    tcase_add_test (tests, a_chunk_fits_into_a_message);

    Suite *suite = suite_create ("core_stream");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
