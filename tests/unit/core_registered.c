/*  core_registered.c - a proxy that serves applications on other machines
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Leaders are played by the test (proxied.h), and so is the application.
 *  lockkeeper-protocol(7), 9.20.
 */

#include "proxied.h"

#define FAR 30 /* what its first answer goes to */
#define LEASE 4000

static lk_registered id;

static lk_app_request
request_of (uint64_t serial)
{
    return (lk_app_request) {.app = FAR,
                             .serial = serial,
                             .object = {"x", 1},
                             .owner = {"far@h0", 6},
                             .wait_ms = -1,
                             .far = id};
}

/*  The last answer of that kind; NULL. */
static const lk_answer *
told_of (lk_answer_kind kind)
{
    const lk_answer *found = NULL;
    for (size_t i = 0; i < effects.count; i++) {
        if (effects.item[i].type == LK_DO_TELL
            && effects.item[i].answer.kind == kind) {
            found = &effects.item[i].answer;
        }
    }
    return found;
}

static int64_t credential_ms; /* it ends then; 0: there is none */

static const lk_answer *
register_as (uint64_t number)
{
    id = (lk_registered) {.owner = {1, 2}, .number = number};
    lk_app_request request = request_of (0);
    request.left_ms = LEASE;
    request.sent = 9000;
    request.until_ms = credential_ms;
    const lk_answer *answer = put (LK_ON_REGISTER, request);
    if (answer && answer->kind == LK_ANSWER_READY) {
        id = answer->far;
    }
    return answer;
}

static const lk_answer *
lease (int64_t sent)
{
    lk_app_request request = request_of (0);
    request.sent = sent;
    request.until_ms = credential_ms;
    return put (LK_ON_LEASE, request);
}

/*  The time of the ping that is sent within so long, which a leader vouches
 *  for then. */
static int64_t
ping_within (int64_t ms)
{
    for (int64_t i = 0; i <= ms; i++) {
        if (says (LK_MSG_PING)) {
            return now_ms;
        }
        wait_ms (1);
    }
    ck_abort_msg ("no ping");
    return 0;
}

static void
vouch_at (int64_t at)
{
    ping_with (1, &decree, lk_node_core (node)->facts.session, at);
}

static void
lock (lk_app_request request)
{
    put (LK_ON_LOCK, request);
}

static lk_app_request
claim_of (uint64_t serial)
{
    lk_app_request request = request_of (serial);
    request.token = TOKEN;
    request.key = KEY;
    request.left_ms = 2000;
    request.asked_before = true;
    return request;
}

/*  All stays alive for so long. */
static void
live (int64_t ms)
{
    for (int64_t i = 0; i < ms; i += 100) {
        wait_ms (100);
        vouch (1);
        vouch (2);
        vouch (3);
    }
}

/*  -------------------------------------------------------- leases */

START_TEST (it_is_ready_once)
{
    ck_assert_int_eq (register_as (1)->kind, LK_ANSWER_READY);
    const uint64_t drawn = id.drawn;
    ck_assert_uint_ne (drawn, 0);
    register_as (1);
    ck_assert_uint_eq (id.drawn, drawn);
    id.drawn++;
    ck_assert_int_eq (lease (1)->kind, LK_ANSWER_UNKNOWN);
}
END_TEST

START_TEST (a_lease_waits_for_a_later_ping)
{
    register_as (1);
    wait_ms (250);
    const int64_t before_ms = ping_within (0);
    ck_assert_ptr_null (lease (9100));
    vouch_at (before_ms);
    ck_assert_ptr_null (told_of (LK_ANSWER_LEASE));
    wait_ms (20); /* it is sent for that */
    vouch_at (ping_within (5));
    ck_assert_int_eq (told_of (LK_ANSWER_LEASE)->sent, 9100);
    ck_assert_int_eq (told_of (LK_ANSWER_LEASE)->left_ms, LEASE);
}
END_TEST

START_TEST (silence_ends_it)
{
    register_as (1);
    lock (request_of (1));
    live (LEASE * 5 / 4 - 100);
    ck_assert_ptr_null (told_of (LK_ANSWER_UNKNOWN));
    wait_ms (100);
    ck_assert_ptr_nonnull (told_of (LK_ANSWER_UNKNOWN));
    /*  People are told, as long as it is known who that was. */
    ck_assert_int_eq (effects.item[0].type, LK_DO_ENDED);
    ck_assert_uint_eq (effects.item[0].answer.app, FAR);
    ck_assert_int_eq (effects.item[0].answer.asked.asks, LK_ON_LOCK);
    ck_assert_mem_eq (effects.item[0].answer.asked.object.data, "x", 1);
    wait_ms (250);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
}
END_TEST

START_TEST (goodbye_ends_it)
{
    register_as (1);
    lock (request_of (1));
    put (LK_ON_GOODBYE, request_of (0));
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
    ck_assert_int_eq (lease (1)->kind, LK_ANSWER_UNKNOWN);
}
END_TEST

/*  -------------------------------------------------------- claims */

START_TEST (a_claim_waits_for_a_later_ping)
{
    register_as (2);
    lock (claim_of (5));
    ck_assert_ptr_null (sent_to_any (LK_MSG_LOCK));
    wait_ms (20);
    vouch_at (ping_within (5));
    const lk_msg_request *request = &sent_to_any (LK_MSG_LOCK)->as.request;
    ck_assert (request->resume);
    ck_assert_uint_eq (request->ticket.token, TOKEN);
    ck_assert_uint_eq (request->ticket.remote.serial, 5);
    ck_assert_uint_eq (request->ticket.remote.number, 2);
}
END_TEST

START_TEST (a_claim_is_said_as_long_as_it_may_be_believed)
{
    register_as (2);
    lock (claim_of (5));
    live (2500 - 100);
    ck_assert_ptr_null (told_of (LK_ANSWER_FAILED));
    wait_ms (100);
    ck_assert_int_eq (told_of (LK_ANSWER_FAILED)->error, LK_DISCONNECTED);
}
END_TEST

/*  Without LEASE: no sooner than what was claimed is over. */
START_TEST (a_claim_keeps_silence_away)
{
    register_as (2);
    lk_app_request request = claim_of (5);
    request.left_ms = 2 * LEASE;
    lock (request);
    live (LEASE * 5 / 4 + 100);
    ck_assert_ptr_null (told_of (LK_ANSWER_UNKNOWN));
    ck_assert_ptr_null (lease (1));
}
END_TEST

START_TEST (what_has_moved_is_forgotten)
{
    register_as (1);
    lock (request_of (1));
    locked (1);
    lk_lock_message message = reply_of (LK_MSG_UNLOCKED, 1);
    message.as.reply.moved = true;
    give (1, &message);
    ck_assert_ptr_null (told ());
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
    lock (request_of (1)); /* late */
    ck_assert_ptr_null (sent_to_any (LK_MSG_LOCK));
    put (LK_ON_GOODBYE, request_of (0));
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
}
END_TEST

/*  It may not have heard that, and goes on until it is silent: a local one has
 *  a quarter of a lease. */
START_TEST (what_is_taken_away_goes_back_by_its_silence)
{
    register_as (1);
    lock (request_of (1));
    locked (1);
    unlocked (1, LK_RELEASED, TOKEN);
    ck_assert_int_eq (told_of (LK_ANSWER_UNLOCKED)->error, LK_RELEASED);
    const int before = said[LK_MSG_UNLOCK];
    live (LEASE);
    ck_assert_int_eq (said[LK_MSG_UNLOCK], before);
    live (LEASE / 4 + 300);
    ck_assert_int_gt (said[LK_MSG_UNLOCK], before);
}
END_TEST

START_TEST (it_gives_back_what_another_one_asked_for)
{
    register_as (2);
    put (LK_ON_UNLOCK, request_of (7));
    const lk_msg_request *request = &sent_to_any (LK_MSG_UNLOCK)->as.request;
    ck_assert_uint_eq (request->ticket.remote.serial, 7);
    ck_assert_uint_eq (request->ticket.remote.number, 2);
    ck_assert (!request->by_key);
    unlocked (1, LK_OK, 0);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
    lock (request_of (7)); /* late */
    ck_assert_ptr_null (sent_to_any (LK_MSG_LOCK));
}
END_TEST

/*  Nothing says which home has it. */
START_TEST (what_another_one_asked_for_has_a_name)
{
    register_as (2);
    lk_app_request request = request_of (7);
    request.object.size = 0;
    put (LK_ON_UNLOCK, request);
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
    ck_assert_int_eq (told_of (LK_ANSWER_FAILED)->error, LK_INVALID);
}
END_TEST

/*  -------------------------------------------------------- sets */

static const lk_name rest[] = {{"y", 1}};
static const lk_claim claims[] = {{TOKEN, KEY}, {TOKEN + 1, KEY + 1}};

START_TEST (a_set_goes_back_name_by_name)
{
    register_as (2);
    lk_app_request request = request_of (7);
    request.rest = rest;
    request.rest_count = 1;
    put (LK_ON_UNLOCK, request);
    unlocked (1, LK_OK, 0);
    ck_assert_ptr_null (told ());
    unlocked (2, LK_OK, 0);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_UNLOCKED);
}
END_TEST

/*  It waited, and a later registration has given it back. */
START_TEST (a_late_lock_of_a_set_that_went_back)
{
    register_as (1);
    lk_app_request request = request_of (7);
    request.rest = rest;
    request.rest_count = 1;
    lock (request);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_LOCK));
    unlocked (1, LK_OK, 0);
    ck_assert_int_eq (told_of (LK_ANSWER_FAILED)->error, LK_LOST);
    unlocked (1, LK_OK, 0);
    unlocked (2, LK_OK, 0);
    lock (request);
    ck_assert_ptr_null (sent_to_any (LK_MSG_LOCK));
}
END_TEST

static void
claim_set (void)
{
    register_as (2);
    lk_app_request request = claim_of (7);
    request.rest = rest;
    request.rest_count = 1;
    request.claims = claims;
    lock (request);
    ck_assert_ptr_null (sent_to_any (LK_MSG_LOCK));
    wait_ms (20);
    vouch_at (ping_within (5));
    ck_assert (sent_to_any (LK_MSG_LOCK)->as.request.resume);
}

static void
reply_of_y (lk_lock_kind kind, bool moved)
{
    lk_lock_message message = reply_of (kind, 2);
    message.as.reply.object = rest[0];
    message.as.reply.token = TOKEN + 1;
    message.as.reply.moved = moved;
    give (1, &message);
}

START_TEST (a_set_is_claimed_as_a_whole)
{
    claim_set ();
    ck_assert_ptr_null (locked (1));
    reply_of_y (LK_MSG_LOCKED, false);
    ck_assert_int_eq (told ()->kind, LK_ANSWER_LOCKED);
    ck_assert_uint_eq (told ()->set_count, 2);
}
END_TEST

START_TEST (a_set_of_which_one_has_moved_is_not_held)
{
    claim_set ();
    ck_assert_ptr_null (locked (1));
    lk_lock_message message = reply_of (LK_MSG_UNLOCKED, 1);
    message.as.reply.moved = true;
    give (1, &message);
    reply_of_y (LK_MSG_LOCKED, false);
    ck_assert_ptr_null (told_of (LK_ANSWER_LOCKED));
    reply_of_y (LK_MSG_UNLOCKED, true);
    put (LK_ON_GOODBYE, request_of (0));
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK));
}
END_TEST

/*  -------------------------------------------------------- the rest */

START_TEST (a_duration_counts_by_its_own_clock)
{
    register_as (1);
    lk_app_request request = request_of (1);
    request.duration_ms = 3000;
    lock (request);
    now_ms += 100;
    lease (9500);
    const int64_t heard_ms = now_ms;
    now_ms += 100;
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.left_ms = 2000;
    message.as.reply.as_of = heard_ms; /* maybe it was sent before */
    give (1, &message);
    ck_assert_int_eq (told_of (LK_ANSWER_LOCKED)->sent, 9000);
    ck_assert_int_eq (told_of (LK_ANSWER_LOCKED)->left_ms, 2000);
}
END_TEST

START_TEST (a_later_clock_counts_where_it_may)
{
    register_as (1);
    lk_app_request request = request_of (1);
    request.duration_ms = 3000;
    lock (request);
    now_ms += 100;
    lease (9500);
    now_ms += 100;
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.left_ms = 2000;
    give (1, &message);
    ck_assert_int_eq (told_of (LK_ANSWER_LOCKED)->sent, 9500);
}
END_TEST

/*  It was said before it could be granted, whatever the host's clock shows; but
 *  not each time that it was said again. */
START_TEST (the_clock_of_lock_counts)
{
    register_as (1);
    lk_app_request request = request_of (1);
    request.duration_ms = 3000;
    request.sent = 9700;
    lock (request);
    request.sent = 9900;
    lock (request);
    lease (9500);
    lk_lock_message message = reply_of (LK_MSG_LOCKED, 1);
    message.as.reply.left_ms = 2000;
    message.as.reply.as_of = now_ms;
    give (1, &message);
    ck_assert_int_eq (told_of (LK_ANSWER_LOCKED)->sent, 9700);
    ck_assert_int_eq (told_of (LK_ANSWER_LOCKED)->left_ms, 2000);
}
END_TEST

/*  While it was suspended, maybe: leaders of the terms between may have begun
 *  with nothing. */
START_TEST (a_term_that_is_not_the_next_ends_all)
{
    register_as (1);
    lk_decree next = decree_of (term_of (8, 1), MEMBERS, 1, 2, 3);
    give_decree (1, LK_MSG_READY, &next);
    now_ms++;
    ping_with (1, &next, lk_node_core (node)->facts.session, now_ms);
    ck_assert_ptr_null (told_of (LK_ANSWER_UNKNOWN));
    ck_assert_ptr_null (lease (1));
    next.term.number = 10;
    now_ms++;
    give_decree (1, LK_MSG_READY, &next);
    ping_with (1, &next, lk_node_core (node)->facts.session, now_ms);
    ck_assert_ptr_nonnull (told_of (LK_ANSWER_UNKNOWN));
    ck_assert_int_eq (lease (1)->kind, LK_ANSWER_UNKNOWN);
}
END_TEST

/*  LEASE has pings sent at once, which must not put off all else. */
START_TEST (much_is_asked_and_all_goes_on)
{
    register_as (1);
    lock (request_of (1));
    const int before = said[LK_MSG_LOCK];
    for (int i = 0; i < 100; i++) {
        now_ms += 30;
        lease (now_ms);
        vouch_at (now_ms);
    }
    ck_assert_int_gt (said[LK_MSG_LOCK], before + 2);
}
END_TEST

/*  Its application may believe in it. */
START_TEST (a_claim_in_doubt_is_reported)
{
    register_as (2);
    lock (claim_of (5));
    wait_ms (20);
    vouch_at (ping_within (5));
    lk_decree next = decree_of (term_of (8, 1), MEMBERS, 1, 2, 3);
    next.reclaim = true;
    give_decree (1, LK_MSG_READY, &next);
    size_t reported = 0;
    for (lk_host host = 1; host < 4; host++) {
        const lk_lock_message *report = sent (LK_MSG_REPORT, host);
        reported += report ? report->as.report.ticket_count : 0;
    }
    ck_assert_uint_eq (reported, 1);
}
END_TEST

START_TEST (nobody_inherits_by_a_key)
{
    register_as (1);
    lk_app_request request = request_of (1);
    request.linger_ms = 60000;
    lock (request);
    locked (1);
    put (LK_ON_GOODBYE, request_of (0));
    ck_assert_ptr_null (sent_to_any (LK_MSG_UNLOCK)); /* it lingers */
    register_as (2);
    request = request_of (2);
    request.key = KEY;
    lock (request);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_LOCK));
    request = request_of (3); /* of this host */
    request.app = FAR + 9;
    request.far = (lk_registered) {.number = 0};
    request.key = KEY;
    lock (request);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_LOCK));
    ck_assert_ptr_null (told_of (LK_ANSWER_LOCKED));
}
END_TEST

/*  -------------------------------------------------------- credentials */

static void
register_for (int64_t ms)
{
    credential_ms = now_ms + ms;
    register_as (1);
}

/*  LEASE, and its answer; NULL: there is none. */
static const lk_answer *
leased (void)
{
    lease (now_ms);
    wait_ms (20);
    vouch_at (ping_within (50));
    return told_of (LK_ANSWER_LEASE);
}

START_TEST (no_lease_goes_beyond_a_credential)
{
    register_for (3000);
    const int64_t left_ms = leased ()->left_ms;
    ck_assert_int_eq (left_ms, credential_ms - now_ms);
    ck_assert_int_lt (left_ms, LEASE);
    credential_ms += 60000;
    ck_assert_int_eq (leased ()->left_ms, LEASE);
    credential_ms = now_ms + 20;
    ck_assert_ptr_null (leased ());
}
END_TEST

/*  The last answer may be believed by a slower clock. */
START_TEST (its_locks_end_by_silence)
{
    register_for (3000);
    lock (request_of (1));
    locked (1);
    lock (request_of (2));
    ck_assert_ptr_nonnull (leased ());
    const int64_t silent_ms = credential_ms + 3000 / 4;
    while (now_ms < credential_ms - 1) {
        wait_ms (1);
        vouch (1);
        ck_assert_ptr_null (told_of (LK_ANSWER_FAILED));
    }
    wait_ms (1);
    ck_assert_uint_eq (told_of (LK_ANSWER_FAILED)->serial, 2);
    ck_assert_int_eq (told_of (LK_ANSWER_FAILED)->error, LK_CREDENTIAL);
    while (now_ms < silent_ms - 1) {
        wait_ms (1);
        vouch (1);
        ck_assert_ptr_null (told_of (LK_ANSWER_UNKNOWN));
        ck_assert_ptr_null (lease (now_ms)); /* keeps nothing away */
    }
    wait_ms (1);
    ck_assert_uint_eq (told_of (LK_ANSWER_UNLOCKED)->serial, 1);
    ck_assert_int_eq (told_of (LK_ANSWER_UNLOCKED)->error, LK_CREDENTIAL);
    ck_assert_int_eq (told_of (LK_ANSWER_UNKNOWN)->error, LK_CREDENTIAL);
    wait_ms (250);
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_UNLOCK));
}
END_TEST

START_TEST (no_lock_is_taken_without_a_credential)
{
    register_for (3000);
    lock (request_of (1));
    live (2900);
    lease (now_ms);
    wait_ms (100);
    locked (1); /* too late */
    ck_assert_ptr_null (told_of (LK_ANSWER_LOCKED));
    lock (request_of (2));
    ck_assert_int_eq (told_of (LK_ANSWER_FAILED)->error, LK_CREDENTIAL);
    ck_assert_ptr_null (sent_to_any (LK_MSG_LOCK));
    credential_ms = now_ms + 9000; /* another one came */
    lease (now_ms);
    lock (request_of (3));
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_LOCK));
}
END_TEST

/*  It hears of another one while it stops. */
START_TEST (it_may_be_renewed_while_the_service_leaves)
{
    register_for (3000);
    put (LK_ON_STOP, request_of (0));
    live (100);
    credential_ms += 60000;
    ck_assert_int_eq (lease (now_ms)->kind, LK_ANSWER_MOVE);
    for (int i = 0; i < 100 && !told_of (LK_ANSWER_UNKNOWN); i++) {
        vouch (1);
        wait_ms (50);
    }
    ck_assert_int_eq (told_of (LK_ANSWER_UNKNOWN)->error, LK_OK);
}
END_TEST

/*  It leads no more soon: they had better go, and who cannot loses nothing. */
START_TEST (all_are_served_on_while_it_drains)
{
    register_for (60000);
    const lk_registered own = id;
    const lk_event event = {.type = LK_ON_DRAIN,
                            .now_ms = now_ms,
                            .add = true,
                            .until_ms = INT64_MAX};
    lk_node_step (node, &event, &effects);
    ck_assert_ptr_nonnull (told_of (LK_ANSWER_MOVE));
    live (100);
    ck_assert_int_eq (lease (now_ms)->kind, LK_ANSWER_MOVE);
    ck_assert_ptr_nonnull (leased ());
    lock (request_of (1));
    ck_assert_ptr_nonnull (sent_to_any (LK_MSG_LOCK));
    ck_assert_int_eq (register_as (1)->kind, LK_ANSWER_READY);
    id = (lk_registered) {.owner = {7, 8}, .number = 1};
    lk_app_request other = request_of (0);
    other.left_ms = LEASE;
    other.until_ms = credential_ms;
    other.app++;
    ck_assert_int_eq (put (LK_ON_REGISTER, other)->kind, LK_ANSWER_MOVE);
    id = own;
}
END_TEST

START_TEST (nobody_registers_without_a_credential)
{
    register_for (-1);
    ck_assert_int_eq (told_of (LK_ANSWER_UNKNOWN)->error, LK_CREDENTIAL);
    ck_assert_ptr_null (told_of (LK_ANSWER_READY));
}
END_TEST

/*  All stays alive for so long; whether a danger begins or is over. */
static bool
danger_within (int64_t ms, lk_answer *danger)
{
    for (int64_t i = 0; i < ms; i += 100) {
        wait_ms (100);
        for (lk_host host = 1; host < 4; host++) {
            if (told_of (LK_ANSWER_JEOPARDY)) {
                *danger = *told_of (LK_ANSWER_JEOPARDY);
                return true;
            }
            vouch (host);
        }
        lease (now_ms);
        if (told_of (LK_ANSWER_JEOPARDY)) {
            *danger = *told_of (LK_ANSWER_JEOPARDY);
            return true;
        }
    }
    return false;
}

START_TEST (its_end_is_told_ahead)
{
    lk_answer danger;
    register_for (61000);
    lock (request_of (1));
    locked (1);
    ck_assert (!danger_within (900, &danger));
    ck_assert (danger_within (200, &danger));
    ck_assert (danger.danger);
    ck_assert_int_eq (danger.error, LK_CREDENTIAL);
    ck_assert_uint_eq (danger.serial, 1);
    credential_ms += 3000; /* the host's clock was set */
    ck_assert (!danger_within (1000, &danger));
    lock (request_of (2));
    locked (2);
    ck_assert_uint_eq (told_of (LK_ANSWER_JEOPARDY)->serial, 2);
    credential_ms += 60000;
    ck_assert (danger_within (100, &danger));
    ck_assert (!danger.danger);
    ck_assert_int_eq (danger.error, LK_OK);
    credential_ms = now_ms + 500;
    ck_assert (danger_within (100, &danger));
    ck_assert (danger.danger);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("registered");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, it_is_ready_once);
    tcase_add_test (tests, a_lease_waits_for_a_later_ping);
    tcase_add_test (tests, silence_ends_it);
    tcase_add_test (tests, goodbye_ends_it);
    tcase_add_test (tests, a_claim_waits_for_a_later_ping);
    tcase_add_test (tests, a_claim_is_said_as_long_as_it_may_be_believed);
    tcase_add_test (tests, a_claim_keeps_silence_away);
    tcase_add_test (tests, what_has_moved_is_forgotten);
    tcase_add_test (tests, what_is_taken_away_goes_back_by_its_silence);
    tcase_add_test (tests, it_gives_back_what_another_one_asked_for);
    tcase_add_test (tests, what_another_one_asked_for_has_a_name);
    tcase_add_test (tests, a_set_goes_back_name_by_name);
    tcase_add_test (tests, a_late_lock_of_a_set_that_went_back);
    tcase_add_test (tests, a_set_is_claimed_as_a_whole);
    tcase_add_test (tests, a_set_of_which_one_has_moved_is_not_held);
    tcase_add_test (tests, a_duration_counts_by_its_own_clock);
    tcase_add_test (tests, a_later_clock_counts_where_it_may);
    tcase_add_test (tests, the_clock_of_lock_counts);
    tcase_add_test (tests, a_term_that_is_not_the_next_ends_all);
    tcase_add_test (tests, much_is_asked_and_all_goes_on);
    tcase_add_test (tests, a_claim_in_doubt_is_reported);
    tcase_add_test (tests, nobody_inherits_by_a_key);
    tcase_add_test (tests, no_lease_goes_beyond_a_credential);
    tcase_add_test (tests, its_locks_end_by_silence);
    tcase_add_test (tests, no_lock_is_taken_without_a_credential);
    tcase_add_test (tests, it_may_be_renewed_while_the_service_leaves);
    tcase_add_test (tests, all_are_served_on_while_it_drains);
    tcase_add_test (tests, nobody_registers_without_a_credential);
    tcase_add_test (tests, its_end_is_told_ahead);
    Suite *suite = suite_create ("core_registered");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
