/*  core_proxy.c - a proxy, and what it must not believe
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Application 11 asks for locks (proxied.h), and the leaders answer too late,
 *  too early, or somebody else. What it may ask at all is in core_requests.c.
 */

#include "proxied.h"

/*  -------------------------------------------------------- LOCKED */

START_TEST (a_grant)
{
    ask (1);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_LOCK));
    const lk_answer *answer = locked (1);
    ck_assert_int_eq (answer->kind, LK_ANSWER_LOCKED);
    ck_assert_uint_eq (answer->token, TOKEN);
    ck_assert_uint_eq (answer->key, KEY);
    ck_assert_ptr_null (locked (1)); /* it is told once */
}
END_TEST

/*  A router was restarted in between, and what was said may be lost. */
START_TEST (said_again_to_a_leader_that_is_back)
{
    lk_lock_message message = message_of (LK_MSG_STARTED, term_of (0, 0));
    message.as.started = (lk_msg_started) {.eligible = true, .answer = true};
    ask (1);
    give (4, &message);
    ck_assert_ptr_null (sent_to_any (LK_MSG_LOCK));
    give (1, &message);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_LOCK));
}
END_TEST

START_TEST (grants_for_others)
{
    ask (1);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.request.host = 5;
    give (1, &message);
    ck_assert_ptr_null (told ());
    message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.request.session--;
    give (1, &message);
    ck_assert_ptr_null (told ());
    message.as.reply.request.session += 2;
    give (1, &message);
    ck_assert_ptr_null (told ());
    ck_assert (!says (LK_MSG_UNLOCK));
}
END_TEST

START_TEST (a_grant_of_an_older_term)
{
    ask (1);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    lk_decree later = decree_of (term_of (8, 1), MEMBERS, 1, 2, 3);
    give_decree (1, LK_MSG_READY, &later);
    give (1, &message);
    ck_assert_ptr_null (told ());
    message.term = later.term;
    give (1, &message);
    ck_assert_ptr_nonnull (told ());
}
END_TEST

START_TEST (a_grant_as_of_too_long_ago)
{
    ask (1);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    now_ms += 7999;
    vouch (2);
    message.as.reply.as_of = now_ms - 8000;
    give (1, &message);
    ck_assert_ptr_null (told ());
    message.as.reply.as_of = now_ms + 1;
    give (1, &message);
    ck_assert_ptr_null (told ());
    message.as.reply.as_of = now_ms - 7999;
    give (1, &message);
    ck_assert_ptr_nonnull (told ());
}
END_TEST

START_TEST (what_is_left_counts_from_as_of)
{
    app (LK_ON_LOCK, 1, -1, 1000);
    now_ms += 400;
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.as_of = now_ms - 300;
    message.as.reply.left_ms = 700;
    give (1, &message);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_LOCKED);
    ck_assert_int_eq (told ()->until_ms, now_ms + 400);
    wait_ms (399);
    ck_assert_ptr_null (told ());
    wait_ms (1);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (told ()->error, LK_TIMEDOUT);
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK)); /* it is kept */
}
END_TEST

START_TEST (nothing_is_left)
{
    app (LK_ON_LOCK, 1, -1, 1000);
    now_ms += 400;
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.as_of = now_ms - 300;
    message.as.reply.left_ms = 300;
    give (1, &message);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
}
END_TEST

START_TEST (a_grant_that_nobody_waits_for)
{
    ask (1);
    app (LK_ON_UNLOCK, 1, 0, 0);
    ck_assert_ptr_null (locked (1));
    unlocked (1, LK_OK, 0);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
    ck_assert_ptr_null (locked (1));
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
    ck_assert_ptr_null (locked (2)); /* never asked for here */
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
}
END_TEST

/*  -------------------------------------------------------- ends */

START_TEST (unlocked_when_the_home_says_so)
{
    ask (1);
    locked (1);
    app (LK_ON_UNLOCK, 1, 0, 0);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
    ck_assert_ptr_null (told ());
    ck_assert_ptr_null (unlocked (1, LK_RELEASED, TOKEN));
    ck_assert_ptr_null (unlocked (1, LK_OK, TOKEN - 1)); /* another grant */
    const lk_answer *answer = unlocked (1, LK_OK, TOKEN);
    ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (answer->error, LK_OK);
}
END_TEST

START_TEST (unlocked_for_others)
{
    ask (1);
    locked (1);
    app (LK_ON_UNLOCK, 1, 0, 0);
    lk_lock_message message = reply_of (LK_MSG_UNLOCKED, 1);
    message.as.reply.request.session--;
    give (1, &message);
    ck_assert_ptr_null (told ());
    message = reply_of (LK_MSG_UNLOCKED, 1);
    message.term = term_of (6, 1);
    give (1, &message);
    ck_assert_ptr_null (told ());
}
END_TEST

START_TEST (released_by_its_key)
{
    ask (1);
    locked (1);
    ck_assert_ptr_null (unlocked (1, LK_RELEASED, TOKEN - 1));
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
    const lk_answer *answer = unlocked (1, LK_RELEASED, TOKEN);
    ck_assert_int_eq (answer->kind, LK_ANSWER_UNLOCKED);
    ck_assert_int_eq (answer->error, LK_RELEASED);
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
}
END_TEST

START_TEST (who_waits_is_not_unlocked)
{
    ask (1);
    ck_assert_ptr_null (unlocked (1, LK_TIMEDOUT, TOKEN));
    ck_assert_ptr_nonnull (locked (1));
}
END_TEST

START_TEST (failed)
{
    ask (1);
    lk_lock_message message = reply_of (LK_MSG_LOCKFAILED, 1);
    message.as.reply.error = LK_FULL;
    message.as.reply.request.session--;
    give (1, &message);
    ck_assert_ptr_null (told ());
    message.as.reply.request.session++;
    give (1, &message);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
    ck_assert_int_eq (told ()->error, LK_FULL);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
    ask (2);
    locked (2);
    message = reply_of (LK_MSG_LOCKFAILED, 2);
    message.as.reply.error = LK_FULL;
    give (1, &message); /* what it holds does not fail */
    ck_assert_ptr_null (told ());
}
END_TEST

START_TEST (the_key_of_another)
{
    app (LK_ON_UNLOCK_BY_KEY, 1, -1, 0);
    const lk_lock_message *message = sent_to_any (LK_MSG_UNLOCK);
    ck_assert (message->as.request.by_key);
    ck_assert_uint_eq (message->as.request.ticket.key, KEY);
    ck_assert_ptr_null (unlocked (1, LK_RELEASED, TOKEN));
    ck_assert_int_eq (unlocked (1, LK_OK, 0)->kind, LK_ANSWER_UNLOCKED);
}
END_TEST

START_TEST (the_key_of_another_in_vain)
{
    app (LK_ON_UNLOCK_BY_KEY, 1, 500, 0);
    wait_ms (499);
    ck_assert_ptr_null (told ());
    wait_ms (1);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_FAILED);
    ck_assert_uint_eq (proxy ().requests, 0);
}
END_TEST

/*  -------------------------------------------------------- audits */

static bool
answers_audit (lk_request_id request, lk_term term, uint64_t token)
{
    lk_lock_message message = message_of (LK_MSG_AUDIT, term);
    message.as.audit =
        (lk_msg_audit) {.request = request, .object = {"x", 1}, .token = token};
    give (1, &message);
    return sent (LK_MSG_AUDITED, 1) != NULL;
}

static lk_request_id
request (uint64_t serial)
{
    return (lk_request_id) {.session = lk_node_core (node)->facts.session,
                            .serial = serial};
}

START_TEST (what_it_knows_of)
{
    ask (1);
    ck_assert (answers_audit (request (1), decree.term, 0));
    ck_assert (!answers_audit (request (1), decree.term, TOKEN));
    locked (1);
    ck_assert (answers_audit (request (1), decree.term, TOKEN));
    ck_assert (!answers_audit (request (1), decree.term, TOKEN - 1));
    ck_assert (!answers_audit (request (1), decree.term, 0));
    app (LK_ON_UNLOCK, 1, 0, 0);
    ck_assert (!answers_audit (request (1), decree.term, TOKEN));
}
END_TEST

START_TEST (what_is_expired_is_known)
{
    app (LK_ON_LOCK, 1, -1, 100);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.left_ms = 100;
    give (1, &message);
    wait_ms (100);
    ck_assert (answers_audit (request (1), decree.term, TOKEN));
}
END_TEST

START_TEST (what_it_does_not_know_it_gives_back)
{
    ask (1);
    app (LK_ON_UNLOCK, 1, 0, 0);
    unlocked (1, LK_OK, 0);
    lk_request_id other = request (1);
    other.session--;
    ck_assert (!answers_audit (other, decree.term, TOKEN));
    ck_assert (!says (LK_MSG_UNLOCK));
    other = request (1);
    other.host = 5;
    ck_assert (!answers_audit (other, decree.term, TOKEN));
    ck_assert (!says (LK_MSG_UNLOCK));
    ck_assert (!answers_audit (request (7), decree.term, TOKEN));
    ck_assert (!says (LK_MSG_UNLOCK));
    ck_assert (!answers_audit (request (1), decree.term, TOKEN));
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
}
END_TEST

START_TEST (asked_in_an_older_term)
{
    ask (1);
    locked (1);
    ck_assert (!answers_audit (request (1), term_of (6, 1), TOKEN));
}
END_TEST

/*  -------------------------------------------------------- the session */

START_TEST (a_vouch_counts_from_what_it_echoes)
{
    const uint64_t session = lk_node_core (node)->facts.session;
    now_ms += 5000;
    ping_with (1, &decree, session, now_ms - 2000);
    ck_assert_int_eq (proxy ().lease_until_ms, now_ms + 6000);
    now_ms++;
    ping_with (2, &decree, session, now_ms - 4000); /* an older one */
    ck_assert_int_eq (proxy ().lease_until_ms, now_ms - 1 + 6000);
    now_ms++;
    ping_with (2, &decree, session - 1, now_ms);
    ping_with (3, &decree, session + 1, now_ms);
    ck_assert_int_eq (proxy ().lease_until_ms, now_ms - 2 + 6000);
}
END_TEST

START_TEST (a_vouch_of_an_older_term)
{
    const int64_t until_ms = proxy ().lease_until_ms;
    lk_decree later = decree_of (term_of (8, 1), MEMBERS, 1, 2, 3);
    now_ms += 1000;
    give_decree (1, LK_MSG_READY, &later);
    vouch (2); /* of term 7 */
    ck_assert_int_eq (proxy ().lease_until_ms, until_ms);
    now_ms++;
    ping_with (1, &later, lk_node_core (node)->facts.session, now_ms);
    ck_assert_int_eq (proxy ().lease_until_ms, now_ms + 8000);
}
END_TEST

START_TEST (a_decree_that_is_older)
{
    lk_decree older = decree_of (term_of (6, 1), MEMBERS, 3, 2, 1);
    give_decree (1, LK_MSG_READY, &older);
    ck_assert (lk_term_equal (lk_node_core (node)->in_force.term, decree.term));
    ask (1);
    ck_assert (lk_term_equal (sent_to_any (LK_MSG_LOCK)->term, decree.term));
}
END_TEST

/*  The applications are told before anybody else can hear of it. */
START_TEST (a_session_ends)
{
    const uint64_t session = lk_node_core (node)->facts.session;
    ask (1);
    locked (1);
    ask (2);
    wait_ms (8000);
    ck_assert_uint_eq (lk_node_core (node)->facts.session, session + 1);
    ck_assert (!proxy ().live);
    ck_assert_int_eq (told ()->error, LK_ISOLATED);
    ck_assert_uint_eq (told ()->serial, 1);
    int told_at = -1;
    int persisted_at = -1;
    for (size_t i = 0; i < effects.count; i++) {
        const lk_effect *effect = &effects.item[i];
        told_at = effect->type == LK_DO_TELL ? (int) i : told_at;
        if (effect->type == LK_DO_PERSIST) {
            persisted_at = (int) i;
            ck_assert_uint_eq (effect->facts.session, session + 1);
        }
        ck_assert (effect->type != LK_DO_SEND
                   || (told_at >= 0 && persisted_at >= 0));
    }
    vouch (1);
    vouch (2);
    ck_assert_uint_eq (proxy ().requests, 1);
    ck_assert_ptr_null (locked (2)); /* it has another number now */
    ck_assert_ptr_nonnull (locked (3));
}
END_TEST

/*  It asked for the end, and gets one. */
/*  A step ends the leases that have run out, then looks at its message. */
START_TEST (a_session_ends_ahead_of_a_message)
{
    const uint64_t session = lk_node_core (node)->facts.session;
    ask (1);
    locked (1);
    now_ms += 8000;
    ping_with (1, &decree, session, now_ms - 1000);
    ck_assert_ptr_nonnull (told ());
    ck_assert_int_eq (told ()->error, LK_ISOLATED);
    ck_assert_uint_eq (lk_node_core (node)->facts.session, session + 1);
    ck_assert (!proxy ().live);
}
END_TEST

/*  It wants to be woken when a lease or a duration ends, not by its pings. */
START_TEST (ends_are_waited_for)
{
    ask (1);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.left_ms = 90;
    give (1, &message);
    ck_assert_int_le (lk_node_deadline (node), now_ms + 90);
    wait_ms (90);
    ck_assert_int_eq (told ()->error, LK_TIMEDOUT);
    const int64_t end = proxy ().lease_until_ms;
    wait_ms (end - now_ms - 20);
    ck_assert (proxy ().live);
    ck_assert_int_le (lk_node_deadline (node), end);
}
END_TEST

/*  At once: its ticket may stand in a queue, ahead of others. */
START_TEST (a_wait_that_is_over_goes_back)
{
    app (LK_ON_LOCK, 1, 505, 0);
    wait_ms (500);
    wait_ms (5);
    ck_assert_int_eq (told ()->error, LK_TIMEDOUT);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
}
END_TEST

START_TEST (a_session_ends_before_the_answer)
{
    ask (1);
    locked (1);
    app (LK_ON_UNLOCK, 1, 0, 0);
    app (LK_ON_LOCK, 2, 1000, 0);
    wait_ms (1000); /* told that it failed; given back all the same */
    wait_ms (7000);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
    ck_assert_uint_eq (told ()->serial, 1);
    ck_assert_int_eq (told ()->error, LK_ISOLATED);
}
END_TEST

/*  The applications of the process before may not know yet. */
START_TEST (a_young_process_closes_nothing)
{
    const lk_event event = {.type = LK_ON_STOP, .now_ms = now_ms};
    step (&event);
    ck_assert_ptr_nonnull (sent (LK_MSG_PING, 1));
    ck_assert_uint_eq (sent (LK_MSG_PING, 1)->as.ping.closed, 0);
}
END_TEST

START_TEST (an_older_one_closes_its_session)
{
    const uint64_t session = lk_node_core (node)->facts.session;
    now_ms += 4000;
    vouch (1);
    wait_ms (6000);
    const lk_event event = {.type = LK_ON_STOP, .now_ms = now_ms};
    step (&event);
    ck_assert_uint_eq (sent (LK_MSG_PING, 1)->as.ping.closed, session);
}
END_TEST

/*  The holders of a session whose lease ran out still have their time to stop:
 *  a service that is told to end meanwhile waits for that. */
START_TEST (a_stop_waits_for_the_session_before)
{
    const uint64_t session = lk_node_core (node)->facts.session;
    ask (1);
    locked (1);
    now_ms += 4000;
    vouch (1);
    wait_ms (8000); /* the lease is over */
    ck_assert_int_eq (told ()->error, LK_ISOLATED);
    const lk_event event = {.type = LK_ON_STOP, .now_ms = now_ms};
    step (&event);
    ck_assert (!lk_node_is_stopped (node));
    wait_ms (1999);
    ck_assert (!lk_node_is_stopped (node));
    wait_ms (1);
    ck_assert (lk_node_is_stopped (node));
    ck_assert_uint_eq (sent (LK_MSG_PING, 1)->as.ping.closed, session + 1);
}
END_TEST

START_TEST (answers_to_nobody)
{
    ck_assert_ptr_null (unlocked (9, LK_OK, TOKEN));
    lk_lock_message message = reply_of (LK_MSG_LOCKFAILED, 9);
    message.as.reply.error = LK_FULL;
    give (1, &message);
    ck_assert_ptr_null (told ());
}
END_TEST

START_TEST (no_grant_without_a_session)
{
    ask (1);
    wait_ms (8000);
    ck_assert_ptr_null (locked (2));
}
END_TEST

/*  -------------------------------------------------------- reports */

static void
reported (lk_host home, uint64_t session, lk_term term)
{
    lk_lock_message message = message_of (LK_MSG_REPORTED, term);
    message.as.report = (lk_msg_report) {.session = session, .home = home};
    give (1, &message);
}

START_TEST (all_homes_have_to_have_the_report)
{
    lk_decree later = decree_of (term_of (8, 1), MEMBERS, 1, 2, 3);
    later.reclaim = true;
    ask (1);
    locked (1);
    const int reports = said[LK_MSG_REPORT];
    give_decree (1, LK_MSG_READY, &later);
    ck_assert_int_eq (said[LK_MSG_REPORT] - reports, 3);
    const uint64_t session = lk_node_core (node)->facts.session;
    reported (0, session, later.term);
    reported (1, session, later.term);
    reported (2, session, decree.term);
    reported (2, session - 1, later.term);
    reported (3, session, later.term);
    reported (4, session, later.term);
    ck_assert_uint_eq (proxy ().reported, 3);
    ck_assert (!lk_proxy_is_ready (lk_node_proxy (node)));
    reported (2, session, later.term);
    ck_assert_uint_eq (proxy ().reported, 7);
    const int enough = said[LK_MSG_REPORT];
    wait_ms (2000);
    ck_assert_int_eq (said[LK_MSG_REPORT], enough);
}
END_TEST

/*  Tickets in the reports of this step, which are of this session. */
static size_t
claims (void)
{
    size_t count = 0;
    for (size_t i = 0; i < effects.count; i++) {
        const lk_lock_message *message = effects.item[i].message;
        if (effects.item[i].type == LK_DO_SEND
            && message->kind == LK_MSG_REPORT) {
            count += message->as.report.ticket_count;
            ck_assert_uint_eq (message->as.report.session,
                               lk_node_core (node)->facts.session);
        }
    }
    return count;
}

/*  Also what has a time of its own, until that is over; and what does not go
 *  into one part goes into the next. */
START_TEST (all_that_is_held_is_claimed)
{
    lk_decree later = decree_of (term_of (8, 1), MEMBERS, 1, 2, 3);
    later.reclaim = true;
    for (uint64_t i = 1; i <= 2000; i++) {
        ask (i);
        lk_lock_message message = reply_of (LK_MSG_LOCKED, i);
        message.as.reply.left_ms = 700;
        give (1, &message);
    }
    give_decree (1, LK_MSG_READY, &later);
    const size_t first = claims ();
    ck_assert_uint_gt (first, 0);
    ck_assert_uint_lt (first, 2000);
    const uint8_t home = lk_home_of (&later, (lk_name) {"x", 1});
    reported (home, lk_node_core (node)->facts.session, later.term);
    ck_assert_uint_eq (claims (), 2000 - first);
    ck_assert_uint_eq (proxy ().reported, 0);
}
END_TEST

/*  With leaders or without; but not what is given back. */
START_TEST (what_it_has_itself)
{
    const void *place = NULL;
    lk_node_own own;
    ask (1);
    wait_ms (600);
    ck_assert (lk_node_next_own (node, &place, &own));
    ck_assert_uint_eq (own.ticket.token, 0);
    ck_assert_int_ge (own.ticket.age_ms, 600);
    ck_assert (!lk_node_next_own (node, &place, &own));
    locked (1);
    place = NULL;
    ck_assert (lk_node_next_own (node, &place, &own));
    ck_assert_uint_ne (own.ticket.token, 0);
    ck_assert_int_lt (own.ticket.age_ms, 300);
    ck_assert_int_eq (own.left_ms, -1);
    ck_assert (!own.danger);
    wait_ms (6000);
    place = NULL;
    ck_assert (lk_node_next_own (node, &place, &own));
    ck_assert (own.danger);
    app (LK_ON_UNLOCK, 1, -1, 0);
    place = NULL;
    ck_assert (!lk_node_next_own (node, &place, &own));
}
END_TEST

/*  Not how long ago it was asked for. */
START_TEST (how_long_it_is_held_is_claimed)
{
    lk_decree later = decree_of (term_of (8, 1), MEMBERS, 1, 2, 3);
    int64_t age_ms = -1;
    later.reclaim = true;
    ask (1);
    wait_ms (600);
    locked (1);
    wait_ms (50);
    give_decree (1, LK_MSG_READY, &later);
    for (size_t i = 0; i < effects.count; i++) {
        const lk_lock_message *message = effects.item[i].message;
        if (effects.item[i].type == LK_DO_SEND && message->kind == LK_MSG_REPORT
            && message->as.report.ticket_count > 0) {
            age_ms = message->as.report.tickets[0].age_ms;
        }
    }
    ck_assert_int_ge (age_ms, 50);
    ck_assert_int_lt (age_ms, 300);
}
END_TEST

/*  What it had in a session that is over is not claimed in the next. */
START_TEST (a_new_session_reports_anew)
{
    lk_decree later = decree_of (term_of (8, 1), MEMBERS, 1, 2, 3);
    later.reclaim = true;
    ask (1);
    locked (1);
    give_decree (1, LK_MSG_READY, &later);
    ck_assert_uint_eq (claims (), 1);
    for (uint8_t home = 0; home < 3; home++) {
        reported (home, lk_node_core (node)->facts.session, later.term);
    }
    const int reports = said[LK_MSG_REPORT];
    wait_ms (8000);
    ck_assert_uint_eq (proxy ().reported, 0);
    ck_assert_int_eq (said[LK_MSG_REPORT] - reports, 3);
    ck_assert_uint_eq (claims (), 0);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("proxy");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, a_grant);
    tcase_add_test (tests, said_again_to_a_leader_that_is_back);
    tcase_add_test (tests, grants_for_others);
    tcase_add_test (tests, a_grant_of_an_older_term);
    tcase_add_test (tests, a_grant_as_of_too_long_ago);
    tcase_add_test (tests, what_is_left_counts_from_as_of);
    tcase_add_test (tests, nothing_is_left);
    tcase_add_test (tests, a_grant_that_nobody_waits_for);
    tcase_add_test (tests, unlocked_when_the_home_says_so);
    tcase_add_test (tests, unlocked_for_others);
    tcase_add_test (tests, released_by_its_key);
    tcase_add_test (tests, who_waits_is_not_unlocked);
    tcase_add_test (tests, failed);
    tcase_add_test (tests, the_key_of_another);
    tcase_add_test (tests, the_key_of_another_in_vain);
    tcase_add_test (tests, what_it_knows_of);
    tcase_add_test (tests, what_is_expired_is_known);
    tcase_add_test (tests, what_it_does_not_know_it_gives_back);
    tcase_add_test (tests, asked_in_an_older_term);
    tcase_add_test (tests, a_vouch_counts_from_what_it_echoes);
    tcase_add_test (tests, a_vouch_of_an_older_term);
    tcase_add_test (tests, a_decree_that_is_older);
    tcase_add_test (tests, a_session_ends);
    tcase_add_test (tests, a_session_ends_before_the_answer);
    tcase_add_test (tests, a_session_ends_ahead_of_a_message);
    tcase_add_test (tests, ends_are_waited_for);
    tcase_add_test (tests, a_wait_that_is_over_goes_back);
    tcase_add_test (tests, a_young_process_closes_nothing);
    tcase_add_test (tests, an_older_one_closes_its_session);
    tcase_add_test (tests, a_stop_waits_for_the_session_before);
    tcase_add_test (tests, answers_to_nobody);
    tcase_add_test (tests, no_grant_without_a_session);
    tcase_add_test (tests, all_homes_have_to_have_the_report);
    tcase_add_test (tests, all_that_is_held_is_claimed);
    tcase_add_test (tests, what_it_has_itself);
    tcase_add_test (tests, how_long_it_is_held_is_claimed);
    tcase_add_test (tests, a_new_session_reports_anew);
    return run_tests ("core_proxy", tests);
}
