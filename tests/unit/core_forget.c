/*  core_forget.c - a home whose hosts come and go, and have one number
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  sole.h is the world: host 0 leads, hosts 5 and 6 have applications. These
 *  tests are of whom it needs, who goes first, and what must not be left.
 */

#include "digest.h"
#include "lib/checked_step.h"
#include "sole.h"

#include <signal.h>

static bool
is_spare (lk_host host)
{
    return lk_node_find_spare (node, LK_HOST_BIT (host), false) == host;
}

static bool
is_spare_if_urgent (lk_host host)
{
    return lk_node_find_spare (node, LK_HOST_BIT (host), true) == host;
}

/*  It looks for no more leaders. */
static void
set_up_alone (void)
{
    leaders_max = 1;
    set_up ();
}

/*  Its service has ended, says the router. */
static void
ends (lk_host host)
{
    const lk_event event = {
        .type = LK_ON_HOST_GONE, .now_ms = now_ms, .host = host};
    step (&event);
}

static void
forget (lk_host host)
{
    ends (host);
    ck_assert (is_spare (host));
    lk_node_forget (node, host);
}

/*  For so long a member and this host are heard alone. */
static void
pass_with (lk_host host, int64_t ms)
{
    const int64_t end = now_ms + ms;
    while (now_ms < end) {
        now_ms += now_ms + 240 < end ? 240 : end - now_ms;
        ping_from (1, 1, 0);
        ping_from (host, 3, 0);
        wait_ms (0);
    }
}

static void
pass_alone (int64_t ms)
{
    pass_with (1, ms);
}

/*  Another leader, which host 1 is for that, asks whether it is silent. */
static bool
is_called_silent (lk_host host)
{
    lk_check_no_more ();
    lk_lock_message message = message_of (LK_MSG_HOST, decree.term);
    message.as.host = (lk_msg_host) {.host = host, .session = 3};
    lk_decree *filled = lk_plant_decree (node, LK_PLANT_TABLE);
    filled->leader[filled->leader_count++] = 1;
    give (1, &message);
    filled->leader_count--;
    return says (LK_MSG_SILENT);
}

/*  -------------------------------------------------------- who is needed */

START_TEST (members_and_itself_are)
{
    pass_alone (20000);
    ck_assert (!is_spare_if_urgent (0));
    ck_assert (!is_spare_if_urgent (1));
    ck_assert (!is_spare_if_urgent (2)); /* never heard */
    ck_assert (is_spare (5));
    ck_assert_uint_eq (lk_node_find_spare (node, 7, true), LK_NOBODY);
}
END_TEST

START_TEST (who_is_heard_unless_it_is_urgent)
{
    ck_assert (!is_spare (5));
    ck_assert (is_spare_if_urgent (5));
    pass_alone (999);
    ck_assert (!is_spare (5));
    pass_alone (1);
    ck_assert (is_spare (5));
    ping_from (5, 3, 0);
    ck_assert (!is_spare (5));
    ends (5);
    ck_assert (is_spare (5));
}
END_TEST

START_TEST (who_holds_or_waits)
{
    lock (5, 1, "x");
    lock (6, 1, "x");
    ends (5);
    ends (6);
    ck_assert (!is_spare (5) && !is_spare_if_urgent (6));
    unlock (5, 1, "x");
    ck_assert (is_spare (5) && !is_spare (6));
    unlock (6, 1, "x");
    ck_assert (is_spare (6));
}
END_TEST

/*  Until the locks of its session are free. */
START_TEST (who_was_silent)
{
    lock (5, 1, "x");
    pass_alone (13000);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    ck_assert_uint_eq (lk_table_gone (lk_node_table (node), 5), 3);
    ck_assert (is_spare (5));
}
END_TEST

/*  Another home counts on it that this leader vouches for it no more. */
START_TEST (who_was_called_silent)
{
    pass_alone (13000);
    ck_assert (is_called_silent (5));
    ck_assert (!is_spare_if_urgent (5));
    lk_plant (node).table->gone[0][5] = 2;
    ck_assert (!is_spare (5));
    lk_plant (node).table->gone[0][5] = 3;
    ck_assert (is_spare (5));
}
END_TEST

START_TEST (who_is_to_be_a_member)
{
    const lk_event event = {
        .type = LK_ON_CHANGE, .now_ms = now_ms, .host = 5, .add = true};
    step (&event);
    ends (5);
    ck_assert (!is_spare (5) && !is_spare_if_urgent (5));
}
END_TEST

/*  Of a decree that it has heard of, or that a table was filled by. */
START_TEST (who_was_a_member)
{
    static const lk_plant_decree_of decrees[] = {
        LK_PLANT_ACTIVE, LK_PLANT_IN_FORCE, LK_PLANT_TABLE, LK_PLANT_STAGING,
        LK_PLANT_INCOMING};
    ends (5);
    for (size_t i = 0; i < sizeof decrees / sizeof decrees[0]; i++) {
        lk_decree *known = lk_plant_decree (node, decrees[i]);
        const lk_decree before = *known;
        known->members |= LK_HOST_BIT (5);
        ck_assert_msg (!is_spare (5), "%zu: a member", i);
        *known = before;
        known->leader[known->leader_count++] = 5;
        ck_assert_msg (!is_spare (5), "%zu: a leader", i);
        *known = before;
    }
    ck_assert (is_spare (5));
}
END_TEST

/*  Of a decree that is being agreed upon, or that a vote is about. */
START_TEST (who_is_named_in_an_election)
{
    const lk_plants plants = lk_plant (node);
    lk_decree *const decrees[] = {lk_plant_decree (node, LK_PLANT_PROPOSED),
                                  lk_plant_decree (node, LK_PLANT_PREVIOUS),
                                  &plants.vote[1].active};
    lk_hosts *const bits[] = {plants.agreed, plants.voted, plants.activated};
    ends (5);
    *plants.voted = LK_HOST_BIT (1);
    for (size_t i = 0; i < 3; i++) {
        const lk_decree before = *decrees[i];
        decrees[i]->members |= LK_HOST_BIT (5);
        *plants.state = LK_ELECTION_VOTING;
        ck_assert_msg (!is_spare (5), "%zu: a member", i);
        *plants.state = LK_ELECTION_IDLE;
        ck_assert_msg (is_spare (5), "%zu: it is over", i);
        *decrees[i] = before;
        *bits[i] |= LK_HOST_BIT (5);
        *plants.state = LK_ELECTION_PAUSE;
        ck_assert_msg (!is_spare (5), "%zu: said something", i);
        *bits[i] &= ~LK_HOST_BIT (5);
        ck_assert_msg (is_spare (5), "%zu: all others", i);
    }
    *plants.holder = 5;
    ck_assert (!is_spare (5));
    *plants.state = LK_ELECTION_IDLE;
    lk_plant_decree (node, LK_PLANT_BROUGHT_IN)->members = LK_HOST_BIT (5);
    ck_assert (is_spare (5));
    *plants.ready_again = 1;
    ck_assert (!is_spare (5));
}
END_TEST

START_TEST (who_is_named_in_the_doorway)
{
    const lk_plants plants = lk_plant (node);
    lk_decree *order = lk_plant_decree (node, LK_PLANT_ORDER);
    ends (5);
    order->members = LK_HOST_BIT (5);
    ck_assert (is_spare (5));
    *plants.doorway = LK_DOORWAY_GETTING;
    ck_assert (!is_spare (5));
    order->members = 0;
    *plants.doorway_holder = 5;
    ck_assert (!is_spare (5));
    *plants.doorway_holder = LK_NOBODY;
    ck_assert (is_spare (5));
    *plants.doorway = LK_DOORWAY_PASSED;
    *plants.doorway_proposer = 5;
    ck_assert (!is_spare (5));
}
END_TEST

/*  The parts of its report that have come are in the digest of its home. */
START_TEST (who_reports)
{
    stop ();
    lead (true);
    lk_lock_message message = message_of (LK_MSG_REPORT, decree.term);
    message.as.report.session = 3;
    give (5, &message);
    ck_assert (says (LK_MSG_REPORTED));
    ends (5);
    ends (6);
    ck_assert (!is_spare (5) && is_spare (6));
    pass_alone (13000);
    ck_assert_uint_eq (lk_node_table (node)->reclaim, 0);
    ck_assert (is_spare (5));
}
END_TEST

/*  -------------------------------------------------------- who goes first */

/*  The one of which least is known; one whose session was called over is the
 *  last. */
START_TEST (the_longest_unheard)
{
    const lk_hosts all = LK_HOST_BIT (5) | LK_HOST_BIT (6) | LK_HOST_BIT (7);
    ping_from (7, 3, 0);
    lk_plant (node).table->gone[0][7] = 3;
    pass_alone (500);
    ping_from (6, 3, 0);
    ends (5);
    ends (6);
    ends (7);
    ck_assert_uint_eq (lk_node_find_spare (node, all | LK_HOST_BIT (4), false),
                       4);
    ck_assert_uint_eq (lk_node_find_spare (node, all, false), 5);
    ck_assert_uint_eq (lk_node_find_spare (node, all & ~LK_HOST_BIT (5), false),
                       6);
    ck_assert_uint_eq (lk_node_find_spare (node, LK_HOST_BIT (7), false), 7);
}
END_TEST

/*  -------------------------------------------------------- what is left */

static void
note_in_table (lk_table *table)
{
    for (size_t home = 0; home < LK_LEADERS_MAX; home++) {
        table->gone[home][5] = 3;
        table->reported[home][5] = 3;
        table->reporting[home][5] = 3;
        table->parts[home][5] = 1;
    }
}

/*  Whatever is kept by hosts' numbers. */
START_TEST (nothing_under_its_number)
{
    lock (5, 1, "x");
    unlock (5, 1, "x");
    lk_plant_numbers (node, 5, 6);
    forget (5);
    ck_assert_str_eq (lk_plant_misses (node, 5, 6), "");
}
END_TEST

/*  The next one has the same session and serials. */
START_TEST (the_next_one_is_served)
{
    for (int life = 0; life < 100; life++) {
        ping_from (5, 3, 0);
        ck_assert_ptr_nonnull (lock (5, 1, "x"));
        ck_assert_ptr_nonnull (unlock (5, 1, "x"));
        ck_assert_ptr_null (lock (5, 1, "x"));
        forget (5);
        now_ms++;
    }
}
END_TEST

static void
use_key (lk_host host, uint64_t serial, uint64_t key)
{
    lk_lock_message message = request_of (LK_MSG_UNLOCK, host, 3, serial, "x");
    message.as.request.by_key = true;
    message.as.request.ticket.key = key;
    give (host, &message);
}

/*  Somebody else's wish for the end of a lock is not the next one's. */
START_TEST (the_next_one_did_not_ask)
{
    const uint64_t key = lock (5, 1, "x")->as.reply.key;
    use_key (6, 9, key);
    ck_assert_int_eq (sent (LK_MSG_UNLOCKED, 5)->as.reply.error, LK_RELEASED);
    forget (6);
    ping_from (6, 3, 0);
    unlock (5, 1, "x");
    ck_assert_ptr_null (sent (LK_MSG_UNLOCKED, 6));
    lock (5, 2, "x");
    use_key (6, 9, key + 1);
    ck_assert_int_eq (sent (LK_MSG_LOCKFAILED, 6)->as.reply.error, LK_DENIED);
}
END_TEST

START_TEST (what_the_former_was_told_is_not_repeated)
{
    const uint64_t key = lock (5, 1, "x")->as.reply.key;
    use_key (6, 9, key);
    unlock (5, 1, "x");
    ck_assert_ptr_nonnull (sent (LK_MSG_UNLOCKED, 6));
    forget (6);
    lock (5, 2, "x");
    use_key (6, 9, key);
    ck_assert_int_eq (sent (LK_MSG_LOCKFAILED, 6)->as.reply.error, LK_DENIED);
}
END_TEST

/*  -------------------------------------------------------- who comes back */

/*  It may have been vouched for until then: by this leader. */
START_TEST (is_not_called_silent_too_early)
{
    pass (13000);
    forget (5);
    ck_assert (!is_called_silent (5));
    pass_alone (10000);
    ck_assert (!is_called_silent (5));
    pass_alone (1);
    ck_assert (is_called_silent (5));
}
END_TEST

/*  Nor because another one was forgotten since, which was not heard for
 *  longer. */
START_TEST (the_latest_counts)
{
    pass (13000);
    ends (6);
    now_ms += 500;
    ping_from (5, 3, 0);
    forget (5);
    lk_node_forget (node, 6);
    pass_alone (9999);
    ck_assert (!is_called_silent (5));
    pass_alone (2);
    ck_assert (is_called_silent (5));
}
END_TEST

/*  A LOCK of a session that was called over makes a ticket, and is dropped
 *  again; what it asks for is free before long. */
START_TEST (a_late_lock_falls_to_silence)
{
    lock (5, 1, "x");
    pass_with (6, 13000);
    forget (5);
    ck_assert_ptr_nonnull (lock (5, 2, "x"));
    ck_assert_ptr_null (lock (6, 1, "x"));
    ck_assert_uint_eq (lk_node_table (node)->count, 2);
    pass_with (6, 2000);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    ck_assert_uint_ne (entry_at (0)->token, 0);
}
END_TEST

/*  A takeover drops no ticket because its session is over: its home does. */
START_TEST (what_is_over_is_ended)
{
    lock (5, 1, "x");
    lock (6, 1, "y");
    lk_plant (node).table->gone[0][5] = 3;
    pass_with (5, 1000);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    ck_assert_uint_eq (entry_at (0)->group->id[0], 6);
}
END_TEST

/*  Leaders forget by themselves: that is no difference of their tables. */
START_TEST (is_in_no_digest)
{
    uint64_t before, after;
    lock (6, 1, "y");
    note_in_table (lk_plant (node).table);
    ck_assert (lk_digest_share (lk_node_table (node), 0, &before));
    forget (5);
    ck_assert (lk_digest_share (lk_node_table (node), 0, &after));
    ck_assert_uint_eq (before, after);
    lk_plant (node).table->reclaim = 1;
    ck_assert (lk_digest_share (lk_node_table (node), 0, &before));
    note_in_table (lk_plant (node).table);
    ck_assert (lk_digest_share (lk_node_table (node), 0, &after));
    ck_assert_uint_ne (before, after);
}
END_TEST

START_TEST (who_is_needed_is_not_forgotten)
{
    lock (5, 1, "x");
    ends (5);
    lk_node_forget (node, 5);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("forget");
    tcase_add_checked_fixture (tests, set_up_alone, stop);
    tcase_add_test (tests, members_and_itself_are);
    tcase_add_test (tests, who_is_heard_unless_it_is_urgent);
    tcase_add_test (tests, who_holds_or_waits);
    tcase_add_test (tests, who_was_silent);
    tcase_add_test (tests, who_was_called_silent);
    tcase_add_test (tests, who_is_to_be_a_member);
    tcase_add_test (tests, who_was_a_member);
    tcase_add_test (tests, who_is_named_in_an_election);
    tcase_add_test (tests, who_is_named_in_the_doorway);
    tcase_add_test (tests, who_reports);
    tcase_add_test (tests, the_longest_unheard);
    tcase_add_test (tests, nothing_under_its_number);
    tcase_add_test (tests, the_next_one_is_served);
    tcase_add_test (tests, the_next_one_did_not_ask);
    tcase_add_test (tests, what_the_former_was_told_is_not_repeated);
    tcase_add_test (tests, is_not_called_silent_too_early);
    tcase_add_test (tests, the_latest_counts);
    tcase_add_test (tests, a_late_lock_falls_to_silence);
    tcase_add_test (tests, what_is_over_is_ended);
    tcase_add_test (tests, is_in_no_digest);
    tcase_add_test_raise_signal (tests, who_is_needed_is_not_forgotten,
                                 SIGABRT);
    return run_tests ("core_forget", tests);
}
