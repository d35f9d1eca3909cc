/*  core_home.c - a home, and what proxies ask that it must not do
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  sole.h is the world: host 0 leads, hosts 5 and 6 have applications.
 */

#include "lib/checked_step.h"
#include "sole.h"

/*  As a home that did so many others since. */
static void
forget_ends (void)
{
    lk_plant_no_ends (node);
}

START_TEST (granted_once)
{
    const uint64_t token = lock (5, 1, "x")->as.reply.token;
    const uint64_t key = sent (LK_MSG_LOCKED, 5)->as.reply.key;
    ck_assert_uint_ne (token, 0);
    ck_assert_uint_ne (key, 0);
    const lk_lock_message *again = lock (5, 1, "x");
    ck_assert_uint_eq (again->as.reply.token, token);
    ck_assert_uint_eq (again->as.reply.key, key);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    ck_assert_ptr_null (lock (6, 1, "x"));
    ck_assert_ptr_null (lock (6, 1, "x")); /* it waits: nothing to confirm */
    ck_assert_uint_eq (lk_node_table (node)->count, 2);
}
END_TEST

START_TEST (in_the_order_of_asking)
{
    lock (5, 1, "x");
    lock (6, 1, "x");
    lock (5, 2, "x");
    const uint64_t first = entry_at (0)->token;
    unlock (5, 1, "x");
    const lk_lock_message *next = sent (LK_MSG_LOCKED, 6);
    ck_assert_ptr_nonnull (next);
    ck_assert_ptr_null (sent (LK_MSG_LOCKED, 5));
    ck_assert_uint_gt (next->as.reply.token, first);
    unlock (6, 1, "x");
    ck_assert_ptr_nonnull (sent (LK_MSG_LOCKED, 5));
}
END_TEST

/*  The same number for another object is somebody's mistake. */
START_TEST (a_request_is_for_one_object)
{
    lock (5, 1, "x");
    ck_assert_ptr_null (lock (5, 1, "y"));
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    unlock (5, 1, "y");
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}
END_TEST

START_TEST (nobody_asks_for_another_host)
{
    lk_lock_message message = request_of (LK_MSG_LOCK, 5, 3, 1, "x");
    give (6, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    message.origin = 5; /* but a leader that passes it on does */
    give (1, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    lk_decree *active = lk_plant_decree (node, LK_PLANT_ACTIVE);
    active->leader[active->leader_count++] = 1;
    give (1, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    message = request_of (LK_MSG_UNLOCK, 5, 3, 1, "x");
    give (6, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}
END_TEST

START_TEST (sessions_that_are_over_are_not_served)
{
    lk_lock_message message = request_of (LK_MSG_LOCK, 5, 3, 1, "x");
    lk_plant (node).table->gone[0][5] = 3;
    give (5, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    lk_plant (node).table->gone[0][5] = 2;
    now_ms++;
    ping_from (5, 4, 3);
    give (5, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    message.as.request.ticket.request.session = 4;
    give (5, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}
END_TEST

START_TEST (who_is_sealed_serves_nobody)
{
    give_plain (1, LK_MSG_VOTE, term_of (8, 1));
    ck_assert_ptr_null (lock (5, 1, "x"));
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

START_TEST (without_its_lease_it_tells_nothing)
{
    lock (5, 1, "x");
    lk_lock_message message = request_of (LK_MSG_LOCK, 6, 3, 1, "x");
    message.as.request.queue = false;
    wait_ms (2000);
    give (6, &message);
    ck_assert_ptr_null (sent (LK_MSG_LOCKFAILED, 6));
    ck_assert_ptr_null (unlock (5, 1, "x"));
    ck_assert_ptr_null (lock (6, 2, "y"));
    ping_from (1, 1, 0);
    ck_assert_ptr_nonnull (sent (LK_MSG_UNLOCKED, 5));
    ck_assert_ptr_nonnull (sent (LK_MSG_LOCKED, 6));
    lock (5, 3, "z");
    message = request_of (LK_MSG_LOCK, 6, 3, 3, "z");
    message.as.request.queue = false;
    give (6, &message);
    ck_assert_int_eq (sent (LK_MSG_LOCKFAILED, 6)->as.reply.error, LK_FULL);
    ck_assert_uint_eq (lk_node_table (node)->count, 2);
}
END_TEST

/*  All have it, and the lease is there again: but another term may have begun
 *  without it. */
START_TEST (who_is_sealed_tells_nothing)
{
    wait_ms (2000);
    ck_assert_ptr_null (lock (5, 1, "x"));
    give_plain (2, LK_MSG_VOTE, term_of (8, 2));
    ping_from (1, 1, 0);
    ck_assert (lk_lease_holds (lk_node_leader (node)));
    ck_assert_ptr_null (sent (LK_MSG_LOCKED, 5));
}
END_TEST

/*  What was acknowledged too late is not told any more: another holds it. */
START_TEST (a_grant_that_is_over_is_not_told)
{
    wait_ms (2000);
    lock (5, 1, "x");
    unlock (5, 1, "x");
    lock (6, 1, "x");
    ping_from (1, 1, 0);
    ck_assert_ptr_null (sent (LK_MSG_LOCKED, 5));
    ck_assert_ptr_nonnull (sent (LK_MSG_UNLOCKED, 5));
    ck_assert_ptr_nonnull (sent (LK_MSG_LOCKED, 6));
}
END_TEST

/*  Asked for, given back and asked for once more by a LOCK that was late: the
 *  first grant is not what it has. */
START_TEST (the_grant_that_stands_is_told)
{
    wait_ms (2000);
    lock (5, 1, "x");
    unlock (5, 1, "x");
    forget_ends ();
    lock (5, 1, "x");
    const uint64_t token = entry_at (0)->token;
    const int before = said[LK_MSG_LOCKED];
    ping_from (1, 1, 0);
    ck_assert_int_eq (said[LK_MSG_LOCKED] - before, 1);
    ck_assert_uint_eq (sent (LK_MSG_LOCKED, 5)->as.reply.token, token);
}
END_TEST

/*  Its time left would count from another session's clock. */
START_TEST (as_of_is_of_the_same_session)
{
    lock (5, 1, "x");
    now_ms++;
    ping_from (5, 4, 0);
    ck_assert_ptr_null (lock (5, 1, "x"));
}
END_TEST

/*  -------------------------------------------------------- keys */

static lk_lock_message
by_key (lk_host host, uint64_t session, uint64_t key)
{
    lk_lock_message message = request_of (LK_MSG_UNLOCK, host, session, 9, "x");
    message.as.request.by_key = true;
    message.as.request.ticket.key = key;
    return message;
}

START_TEST (another_key)
{
    const uint64_t key = lock (5, 1, "x")->as.reply.key;
    for (int bit = 0; bit <= 64; bit++) {
        lk_lock_message message =
            by_key (6, 3, bit < 64 ? key ^ (uint64_t) 1 << bit : 0);
        give (6, &message);
        const lk_lock_message *failed = sent (LK_MSG_LOCKFAILED, 6);
        ck_assert_ptr_nonnull (failed);
        ck_assert_int_eq (failed->as.reply.error, LK_DENIED);
        ck_assert_ptr_null (sent (LK_MSG_UNLOCKED, 5));
        ck_assert_uint_eq (lk_node_table (node)->count, 1);
    }
}
END_TEST

/*  Whoever waits behind it. */
START_TEST (the_key_is_that_of_the_holder)
{
    const uint64_t key = lock (5, 1, "x")->as.reply.key;
    lock (6, 1, "x");
    lock (6, 2, "x");
    lk_lock_message message = by_key (6, 3, key);
    give (6, &message);
    const lk_lock_message *asked = sent (LK_MSG_UNLOCKED, 5);
    ck_assert_ptr_nonnull (asked);
    ck_assert_int_eq (asked->as.reply.error, LK_RELEASED);
    ck_assert_uint_eq (asked->as.reply.request.serial, 1);
    ck_assert_ptr_null (sent (LK_MSG_LOCKFAILED, 6));
}
END_TEST

START_TEST (a_key_for_what_nobody_holds)
{
    lk_lock_message message = by_key (6, 3, 77);
    give (6, &message);
    ck_assert_int_eq (sent (LK_MSG_LOCKFAILED, 6)->as.reply.error, LK_UNKNOWN);
}
END_TEST

/*  Who has the lock is told first, and gives it back itself; only who had it
 *  in a former session of its host need not be told. */
static bool
goes_at_once (lk_host host, uint64_t session, const char *owner)
{
    lead (false);
    const uint64_t key = lock (5, 1, "x")->as.reply.key;
    now_ms++;
    ping_from (host, session, 0);
    lk_lock_message message = by_key (host, session, key);
    message.as.request.ticket.owner =
        (lk_name) {owner, (uint16_t) strlen (owner)};
    give (host, &message);
    if (lk_node_table (node)->count == 1) {
        ck_assert_int_eq (sent (LK_MSG_UNLOCKED, 5)->as.reply.error,
                          LK_RELEASED);
    }
    return lk_node_table (node)->count == 0;
}

START_TEST (who_need_not_be_told)
{
    ck_assert (goes_at_once (5, 4, "app@h5"));
    ck_assert (!goes_at_once (5, 3, "app@h5"));
    ck_assert (!goes_at_once (6, 4, "app@h5"));
    ck_assert (!goes_at_once (5, 4, "app@h6"));
    ck_assert (!goes_at_once (5, 4, "another@h5"));
    ck_assert (!goes_at_once (5, 4, ""));
}
END_TEST

/*  What was done in a term that is over may be lost with it. */
START_TEST (it_is_gone_in_this_term_only)
{
    lk_ticket copied = {.request = {5, 3, 1},
                        .object = {"x", 1},
                        .owner = {"app@h5", 6},
                        .number = 1,
                        .token = (uint64_t) 7 << 32 | 1,
                        .key = lock (5, 1, "x")->as.reply.key};
    now_ms++;
    ping_from (5, 4, 0);
    lk_lock_message message = by_key (5, 4, copied.key);
    give (5, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    decree.term = term_of (8, 1);
    lk_lock_message fill = message_of (LK_MSG_FILL, decree.term);
    fill.as.chunk.decree = decree;
    fill.as.chunk.tickets = &copied;
    fill.as.chunk.ticket_count = 1;
    give (1, &fill);
    give_decree (1, LK_MSG_READY, &decree);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    message.term = decree.term;
    give (5, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

START_TEST (no_owner_is_nobody)
{
    lk_lock_message message = request_of (LK_MSG_LOCK, 5, 3, 1, "x");
    message.as.request.ticket.owner.size = 0;
    give (5, &message);
    const uint64_t key = sent (LK_MSG_LOCKED, 5)->as.reply.key;
    now_ms++;
    ping_from (5, 4, 0);
    message = by_key (5, 4, key);
    message.as.request.ticket.owner.size = 0;
    give (5, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}
END_TEST

START_TEST (another_who_says_it_is_not_confirmed)
{
    const uint64_t key = lock (5, 1, "x")->as.reply.key;
    lk_lock_message message = by_key (6, 3, key);
    give (6, &message);
    unlock (5, 1, "x");
    ck_assert_int_eq (sent (LK_MSG_UNLOCKED, 6)->as.reply.error, LK_OK);
    give (6, &message);
    ck_assert_ptr_nonnull (sent (LK_MSG_UNLOCKED, 6));
    message = by_key (5, 3, key); /* the same serial, another host */
    give (5, &message);
    ck_assert_ptr_null (sent (LK_MSG_UNLOCKED, 5));
    ck_assert_int_eq (sent (LK_MSG_LOCKFAILED, 5)->as.reply.error, LK_UNKNOWN);
    now_ms++;
    ping_from (6, 4, 0);
    message = by_key (6, 4, key); /* another session */
    give (6, &message);
    ck_assert_ptr_nonnull (sent (LK_MSG_LOCKFAILED, 6));
}
END_TEST

/*  -------------------------------------------------------- durations */

START_TEST (kept_for_the_grace)
{
    lk_lock_message message = request_of (LK_MSG_LOCK, 5, 3, 1, "x");
    message.as.request.ticket.duration_ms = 1000;
    give (5, &message);
    ck_assert_int_eq (sent (LK_MSG_LOCKED, 5)->as.reply.left_ms, 1000);
    message = request_of (LK_MSG_LOCK, 6, 3, 1, "x");
    message.as.request.ticket.duration_ms = 1000;
    give (6, &message);
    const int64_t end = now_ms + 1000 + 60000;
    while (now_ms < end) {
        now_ms += now_ms + 240 < end ? 240 : end - now_ms;
        pings ();
        wait_ms (0);
        ck_assert_uint_eq (lk_node_table (node)->count, 2);
    }
    now_ms += 260;
    pings ();
    wait_ms (0);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}
END_TEST

/*  Sequences are the lower half of tokens: another term, long before they are
 *  used up. */
START_TEST (a_stream_that_is_full)
{
    lk_check_no_more ();
    pass (1500);
    lk_plant (node).table->sequence[0] = (uint64_t) 1 << 31;
    pass (250);
    ck_assert_int_eq (said[LK_MSG_DATE], 0);
    lk_plant (node).table->sequence[0]++;
    now_ms += 250;
    pings ();
    wait_ms (0);
    ck_assert_int_eq (said[LK_MSG_DATE], 2);
    ck_assert_int_eq (election ().reason, LK_WHY_FULL);
}
END_TEST

/*  A LOCKED that is said again brings no more time: it has run since the grant
 *  was acknowledged. */
START_TEST (time_runs_from_the_grant)
{
    lk_lock_message message = request_of (LK_MSG_LOCK, 5, 3, 1, "x");
    message.as.request.ticket.duration_ms = 10000;
    give (5, &message);
    for (int64_t left = 10000; left >= 6000; left -= 1000) {
        message.as.request.at = now_ms;
        give (5, &message);
        ck_assert_int_eq (sent (LK_MSG_LOCKED, 5)->as.reply.left_ms, left);
        pass (1000);
    }
    pass (10000);
    give (5, &message);
    ck_assert_int_eq (sent (LK_MSG_LOCKED, 5)->as.reply.left_ms, 0);
}
END_TEST

/*  As its home lists it: of those that are held, and have one. */
START_TEST (what_is_left_is_listed)
{
    size_t cursor = 0;
    lk_ticket ticket;
    lk_lock_message message = request_of (LK_MSG_LOCK, 5, 3, 1, "x");
    message.as.request.ticket.duration_ms = 10000;
    give (5, &message);
    message.as.request.ticket.request.serial = 2;
    give (5, &message);
    message = request_of (LK_MSG_LOCK, 5, 3, 3, "y");
    give (5, &message);
    pass (1000);
    for (size_t i = 1; i <= 3; i++) {
        ck_assert (lk_node_next_ticket (node, &cursor, &ticket));
        ck_assert_int_eq (lk_node_ticket_left (node, ticket.request),
                          ticket.request.serial == 1 ? 9000 : -1);
    }
    const lk_request_id held = {5, 3, 1};
    lk_entry *entry = lk_table_find (lk_node_table (node), held);
    entry->memo->granted_ms = 0;
    ck_assert_int_eq (lk_node_ticket_left (node, held), -1);
    entry->memo->granted_ms = 1;
    ck_assert_int_eq (lk_node_ticket_left (node, held), 0);
}
END_TEST

START_TEST (kept_for_as_long_again)
{
    lk_lock_message message = request_of (LK_MSG_LOCK, 5, 3, 1, "x");
    message.as.request.ticket.duration_ms = 90000;
    give (5, &message);
    pass (180000);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    pass (260);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

START_TEST (without_a_duration_it_is_kept)
{
    lock (5, 1, "x");
    lk_lock_message message = request_of (LK_MSG_LOCK, 6, 3, 1, "x");
    message.as.request.ticket.duration_ms = 1000;
    give (6, &message); /* its time begins when it holds */
    pass (150000);
    ck_assert_uint_eq (lk_node_table (node)->count, 2);
    unlock (5, 1, "x");
    ck_assert_int_eq (sent (LK_MSG_LOCKED, 6)->as.reply.left_ms, 1000);
}
END_TEST

/*  The home of the term before may have told an end that is later by H/4 than
 *  what its age says, but no later one; nor one after now. */
START_TEST (a_copy_has_the_rest_of_its_time)
{
    const int64_t age_ms = _i == 0 ? 500 : 20000;
    const int64_t counted_ms =
        _i == 0 ? 0 : 20000 - lk_stopping_ms (lk_node_core (node));
    lk_ticket copied = {.request = {5, 3, 1},
                        .object = {"x", 1},
                        .number = 1,
                        .token = (uint64_t) 7 << 32 | 1,
                        .key = 5,
                        .duration_ms = 1000,
                        .age_ms = age_ms};
    decree.term = term_of (8, 1);
    lk_lock_message fill = message_of (LK_MSG_FILL, decree.term);
    fill.as.chunk.decree = decree;
    fill.as.chunk.tickets = &copied;
    fill.as.chunk.ticket_count = 1;
    give (1, &fill);
    give_decree (1, LK_MSG_READY, &decree);
    pass (1000 + 60000 - counted_ms - 1);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    pass (500);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

/*  -------------------------------------------------------- audits */

/*  Time passes, and both hosts ping; whether host 5 is asked. */
static bool
is_audited (int64_t ms)
{
    const int before = said[LK_MSG_AUDIT];
    pass (ms);
    return said[LK_MSG_AUDIT] > before;
}

/*  Of the operation that added it. */
static uint64_t
number_of (lk_host host)
{
    return lk_table_find (lk_node_table (node), (lk_request_id) {host, 3, 1})
        ->added;
}

static void
say_audited (lk_term term, lk_host host, uint64_t number, uint64_t token)
{
    lk_lock_message message = message_of (LK_MSG_AUDITED, term);
    message.as.audit = (lk_msg_audit) {.request = {host, 3, 1},
                                       .object = {"x", 1},
                                       .number = number,
                                       .token = token};
    give (host, &message);
}

START_TEST (asked_until_it_answers)
{
    is_audited (8200);
    const uint64_t token = lock (5, 1, "x")->as.reply.token;
    ck_assert (!is_audited (8000));
    ck_assert (is_audited (500));
    ck_assert (is_audited (1500));
    const uint64_t number = number_of (5);
    say_audited (decree.term, 5, number, token + 1);
    ck_assert (is_audited (1500));
    say_audited (term_of (6, 1), 5, number, token);
    ck_assert (is_audited (1500));
    say_audited (decree.term, 5, number, token);
    ck_assert (!is_audited (5000));
}
END_TEST

/*  Who waits is asked, too, and once more when it holds. */
START_TEST (asked_again_with_its_token)
{
    is_audited (8200);
    lock (6, 1, "x");
    lock (5, 1, "x");
    is_audited (9000);
    say_audited (decree.term, 5, number_of (5), 0);
    say_audited (decree.term, 6, number_of (6), entry_at (0)->token);
    ck_assert (!is_audited (3000));
    unlock (6, 1, "x");
    ck_assert (is_audited (2000));
}
END_TEST

/*  A late LOCK made it again after it was given back: what its proxy said of
 *  the first one is late, too. */
START_TEST (asked_again_when_it_comes_again)
{
    is_audited (8200);
    lock (6, 1, "x");
    lock (5, 1, "x");
    const uint64_t number = number_of (5);
    unlock (5, 1, "x");
    forget_ends ();
    lock (5, 1, "x");
    is_audited (9000);
    say_audited (decree.term, 6, number_of (6), entry_at (0)->token);
    say_audited (decree.term, 5, number, 0);
    ck_assert (is_audited (2000));
    say_audited (decree.term, 5, number_of (5), 0);
    ck_assert (!is_audited (2000));
}
END_TEST

/*  -------------------------------------------------------- reclaims */

static lk_ticket claimed;

static lk_lock_message
report_of (lk_host host, uint64_t session, uint64_t part, bool more)
{
    lk_lock_message message = message_of (LK_MSG_REPORT, decree.term);
    claimed = (lk_ticket) {.request = {host, session, part + 1},
                           .object = {part ? "y" : "x", 1},
                           .token = (uint64_t) 6 << 32 | (part + 1),
                           .number = (uint64_t) 6 << 32 | 1,
                           .key = 50};
    message.as.report = (lk_msg_report) {.session = session,
                                         .part = part,
                                         .more = more,
                                         .tickets = &claimed,
                                         .ticket_count = 1};
    return message;
}

static bool
reports (lk_lock_message *message)
{
    give (5, message);
    return sent (LK_MSG_REPORTED, 5) != NULL;
}

START_TEST (a_report_is_entered)
{
    lead (true);
    lk_lock_message message = report_of (5, 3, 0, false);
    ck_assert (!lock (5, 9, "z")); /* first it has to report */
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    ck_assert (reports (&message));
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    ck_assert_uint_eq (entry_at (0)->token, claimed.token);
    ck_assert_uint_eq (entry_at (0)->key, 50);
    lock (5, 9, "z");
    ck_assert_uint_eq (lk_node_table (node)->count, 2);
    ck_assert_ptr_null (sent (LK_MSG_LOCKED, 5)); /* the reclaim is not over */
}
END_TEST

/*  Its release may have been said since, and is not known any more. */
START_TEST (what_was_asked_before_a_reclaim_is_not_read)
{
    lead (true);
    lk_lock_message message = report_of (5, 3, 0, false);
    reports (&message);
    lk_lock_message late = message_of (LK_MSG_LOCK, (lk_term) {1, 0xa0});
    late.as.request.ticket = (lk_ticket) {
        .request = {5, 3, 9}, .object = {"z", 1}, .mode.type = LK_EXCLUSIVE};
    give (5, &late);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    late.term = decree.term;
    give (5, &late);
    ck_assert_uint_eq (lk_node_table (node)->count, 2);
}
END_TEST

START_TEST (the_first_report_counts)
{
    lead (true);
    lk_lock_message message = report_of (5, 3, 0, false);
    reports (&message);
    claimed.object.data = "z";
    claimed.request.serial = 8;
    reports (&message);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}
END_TEST

START_TEST (reports_that_are_not_sound)
{
    lead (true);
    lk_lock_message message = report_of (5, 3, 0, false);
    claimed.request.host = 6;
    ck_assert (!reports (&message));
    message = report_of (5, 3, 0, false);
    claimed.request.session = 2;
    ck_assert (!reports (&message));
    message = report_of (5, 3, 0, false);
    claimed.token = 0;
    ck_assert (!reports (&message));
    message = report_of (5, 3, 0, false);
    message.as.report.home = 1;
    ck_assert (!reports (&message));
    message = report_of (5, 3, 0, false);
    message.term = term_of (6, 1);
    ck_assert (!reports (&message));
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

START_TEST (reports_of_sessions_that_are_over)
{
    lead (true);
    lk_lock_message message = report_of (5, 3, 0, false);
    lk_plant (node).table->gone[0][5] = 3;
    ck_assert (!reports (&message));
    lk_plant (node).table->gone[0][5] = 0;
    lk_plant (node).core->peer[5].condemned = 3;
    ck_assert (!reports (&message));
    lk_plant (node).core->peer[5].condemned = 0;
    lk_plant (node).core->peer[5].closed = 3;
    ck_assert (!reports (&message));
    lk_plant (node).core->peer[5].closed = 2;
    ck_assert (reports (&message));
}
END_TEST

START_TEST (an_older_session_reports_too_late)
{
    lead (true);
    lk_lock_message message = report_of (5, 4, 0, false);
    ck_assert (reports (&message));
    message = report_of (5, 3, 0, false);
    ck_assert (!reports (&message));
    ck_assert_uint_eq (lk_node_table (node)->reported[0][5], 4);
}
END_TEST

START_TEST (part_by_part)
{
    lead (true);
    lk_lock_message message = report_of (5, 3, 1, false);
    ck_assert (!reports (&message));
    ck_assert_uint_eq (lk_node_table (node)->reported[0][5], 0);
    message = report_of (5, 3, 0, true);
    ck_assert (reports (&message));
    ck_assert_uint_eq (lk_node_table (node)->reported[0][5], 0);
    ck_assert (reports (&message)); /* told again, entered once */
    ck_assert_uint_eq (lk_node_table (node)->parts[0][5], 1);
    message = report_of (5, 3, 1, false);
    ck_assert (reports (&message));
    ck_assert_uint_eq (lk_node_table (node)->reported[0][5], 3);
    ck_assert_uint_eq (lk_node_table (node)->count, 2);
    message = report_of (5, 3, 2, false);
    ck_assert (!reports (&message));
    ck_assert_uint_eq (lk_node_table (node)->count, 2);
}
END_TEST

START_TEST (a_report_after_the_reclaim)
{
    lk_lock_message message = report_of (5, 3, 0, false);
    ck_assert (reports (&message));
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

START_TEST (a_reclaim_ends)
{
    lead (true);
    const int64_t end = now_ms + 12500;
    lk_lock_message message = report_of (5, 3, 0, false);
    reports (&message);
    lock (5, 9, "z");
    const int told = said[LK_MSG_LOCKED];
    while (now_ms < end) {
        now_ms += now_ms + 240 < end ? 240 : end - now_ms;
        pings ();
        wait_ms (0);
        ck_assert_uint_eq (lk_node_table (node)->reclaim, 1);
    }
    now_ms += 250;
    pings ();
    wait_ms (0);
    ck_assert_uint_eq (lk_node_table (node)->reclaim, 0);
    ck_assert_int_gt (said[LK_MSG_LOCKED], told);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("home");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, granted_once);
    tcase_add_test (tests, in_the_order_of_asking);
    tcase_add_test (tests, a_request_is_for_one_object);
    tcase_add_test (tests, nobody_asks_for_another_host);
    tcase_add_test (tests, sessions_that_are_over_are_not_served);
    tcase_add_test (tests, who_is_sealed_serves_nobody);
    tcase_add_test (tests, without_its_lease_it_tells_nothing);
    tcase_add_test (tests, who_is_sealed_tells_nothing);
    tcase_add_test (tests, a_grant_that_is_over_is_not_told);
    tcase_add_test (tests, the_grant_that_stands_is_told);
    tcase_add_test (tests, as_of_is_of_the_same_session);
    tcase_add_test (tests, another_key);
    tcase_add_test (tests, the_key_is_that_of_the_holder);
    tcase_add_test (tests, a_key_for_what_nobody_holds);
    tcase_add_test (tests, who_need_not_be_told);
    tcase_add_test (tests, it_is_gone_in_this_term_only);
    tcase_add_test (tests, no_owner_is_nobody);
    tcase_add_test (tests, another_who_says_it_is_not_confirmed);
    tcase_add_test (tests, kept_for_the_grace);
    tcase_add_test (tests, kept_for_as_long_again);
    tcase_add_test (tests, a_stream_that_is_full);
    tcase_add_test (tests, time_runs_from_the_grant);
    tcase_add_test (tests, what_is_left_is_listed);
    tcase_add_test (tests, without_a_duration_it_is_kept);
    tcase_add_loop_test (tests, a_copy_has_the_rest_of_its_time, 0, 2);
    tcase_add_test (tests, asked_until_it_answers);
    tcase_add_test (tests, asked_again_with_its_token);
    tcase_add_test (tests, asked_again_when_it_comes_again);
    tcase_add_test (tests, a_report_is_entered);
    tcase_add_test (tests, what_was_asked_before_a_reclaim_is_not_read);
    tcase_add_test (tests, the_first_report_counts);
    tcase_add_test (tests, reports_that_are_not_sound);
    tcase_add_test (tests, reports_of_sessions_that_are_over);
    tcase_add_test (tests, an_older_session_reports_too_late);
    tcase_add_test (tests, part_by_part);
    tcase_add_test (tests, a_report_after_the_reclaim);
    tcase_add_test (tests, a_reclaim_ends);
    return run_tests ("core_home", tests);
}
