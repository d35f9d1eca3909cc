/*  core_release.c - a home, and who wants a lock back from others
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  By the key of one of several holders, by force, and the question whether a
 *  token is still the newest. Single holders' keys are in core_home.c.
 */

#include "home.h"
#include "lib/checked_step.h"
#include "sole.h"

static uint64_t
share (lk_host host, uint64_t serial)
{
    lk_lock_message message = request_of (LK_MSG_LOCK, host, 3, serial, "x");
    message.as.request.ticket.mode.type = LK_SHARED;
    give (host, &message);
    const lk_lock_message *answer = sent (LK_MSG_LOCKED, host);
    return answer ? answer->as.reply.token : 0;
}

/*  Static, and its application knows. */
static const lk_lock_message *
keep (lk_host host, uint64_t serial)
{
    lk_lock_message message = request_of (LK_MSG_LOCK, host, 3, serial, "x");
    message.as.request.ticket.mode.is_static = true;
    give (host, &message);
    message.as.request.keep = true;
    give (host, &message);
    ck_assert (sent (LK_MSG_LOCKED, host)->as.reply.kept);
    return sent (LK_MSG_LOCKED, host);
}

static void
force (lk_host host, uint64_t serial, uint64_t token)
{
    lk_lock_message message = request_of (LK_MSG_UNLOCK, host, 3, serial, "x");
    message.as.request.force = true;
    message.as.request.reason = (lk_name) {"it hangs", 8};
    message.as.request.ticket.token = token;
    give (host, &message);
}

static void
use_key (lk_host host, uint64_t serial, uint64_t key)
{
    lk_lock_message message = request_of (LK_MSG_UNLOCK, host, 3, serial, "x");
    message.as.request.by_key = true;
    message.as.request.ticket.key = key;
    give (host, &message);
}

/*  Whether that one is asked for its lock; and why. */
static bool
is_asked (lk_host host, uint64_t serial, lk_err why)
{
    for (size_t i = 0; i < effects.count; i++) {
        const lk_effect *effect = &effects.item[i];
        if (effect->type == LK_DO_SEND && effect->message->to == host
            && effect->message->kind == LK_MSG_UNLOCKED
            && effect->message->as.reply.request.serial == serial
            && effect->message->as.reply.error == (int) why) {
            return true;
        }
    }
    return false;
}

static bool
is_done (lk_host host, uint64_t serial)
{
    return is_asked (host, serial, LK_OK);
}

static int
failure (lk_host host)
{
    const lk_lock_message *message = sent (LK_MSG_LOCKFAILED, host);
    return message ? message->as.reply.error : LK_OK;
}

/*  -------------------------------------------------------- keys */

START_TEST (the_key_of_one_of_several)
{
    share (5, 1);
    share (5, 2);
    const uint64_t key = sent (LK_MSG_LOCKED, 5)->as.reply.key;
    share (5, 3);
    use_key (6, 9, key);
    ck_assert (is_asked (5, 2, LK_RELEASED));
    ck_assert (!is_asked (5, 1, LK_RELEASED));
    ck_assert (!is_asked (5, 3, LK_RELEASED));
    unlock (5, 1, "x");
    ck_assert (!is_done (6, 9));
    unlock (5, 2, "x");
    ck_assert (is_done (6, 9));
    use_key (6, 9, key);
    ck_assert (is_done (6, 9));
    use_key (6, 10, key);
    ck_assert_int_eq (failure (6), LK_DENIED);
    unlock (5, 3, "x");
    use_key (6, 11, key);
    ck_assert_int_eq (failure (6), LK_UNKNOWN);
}
END_TEST

/*  Each repeats what it says until it is answered, and one may be the first to
 *  ask and the last to hear of it. */
START_TEST (two_who_have_its_key)
{
    lock (5, 1, "x");
    const uint64_t key = sent (LK_MSG_LOCKED, 5)->as.reply.key;
    use_key (6, 9, key);
    use_key (6, 10, key);
    ck_assert (is_asked (5, 1, LK_RELEASED));
    unlock (5, 1, "x");
    ck_assert (is_done (6, 10));
    use_key (6, 9, key);
    ck_assert (is_done (6, 9));
}
END_TEST

/*  UNLOCK overtook LOCK, or LOCK was said twice. */
START_TEST (what_was_ended_comes_late)
{
    unlock (5, 1, "x");
    ck_assert (is_done (5, 1));
    share (5, 1);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    share (5, 2);
    unlock (5, 2, "x");
    share (5, 2);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    share (5, 2 + LK_ENDED_KEPT);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}
END_TEST

/*  Its proxy gives back what it does not know, unless it is kept by now. */
START_TEST (a_kept_one_that_its_proxy_forgot)
{
    keep (5, 1);
    lk_lock_message message = request_of (LK_MSG_UNLOCK, 5, 3, 1, "x");
    message.as.request.keep = true;
    give (5, &message);
    ck_assert (is_done (5, 1)); /* it need not ask again */
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    unlock (5, 1, "x");
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    share (5, 2);
    message = request_of (LK_MSG_UNLOCK, 5, 3, 2, "x");
    message.as.request.keep = true;
    give (5, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

/*  Its host falls silent, and nobody can tell the holder. */
START_TEST (the_key_of_one_whose_host_is_silent)
{
    const uint64_t key = keep (5, 1)->as.reply.key;
    use_key (6, 9, key);
    ck_assert (is_asked (5, 1, LK_RELEASED));
    now_ms += 1001;
    ping_from (1, 1, 0); /* keeps its lease */
    ping_from (6, 3, 0);
    use_key (6, 9, key);
    ck_assert (is_done (6, 9));
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

/*  Its host's session is over, and nobody else knows of it. */
START_TEST (the_key_of_one_that_outlived_its_holder)
{
    const uint64_t key = keep (5, 1)->as.reply.key;
    use_key (6, 9, key);
    ck_assert (is_asked (5, 1, LK_RELEASED));
    now_ms++;
    ping_from (5, 4, 0);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    use_key (6, 9, key);
    ck_assert (is_done (6, 9));
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    use_key (6, 9, key);
    ck_assert (is_done (6, 9));
}
END_TEST

START_TEST (a_kept_one_whose_session_is_gone)
{
    const uint64_t key = keep (5, 1)->as.reply.key;
    lk_plant (node).table->gone[0][5] = 3;
    use_key (6, 9, key);
    ck_assert (is_done (6, 9));
}
END_TEST

/*  -------------------------------------------------------- force */

START_TEST (by_force)
{
    lock (5, 1, "x");
    force (6, 9, 0);
    ck_assert (is_asked (5, 1, LK_FORCED));
    const lk_name reason = sent (LK_MSG_UNLOCKED, 5)->as.reply.reason;
    ck_assert_uint_eq (reason.size, 8);
    ck_assert_mem_eq (reason.data, "it hangs", 8);
    ck_assert (logs ("taken away by force: lock=x"));
    ck_assert (logs ("reason=\"it hangs\""));
    ck_assert (!is_done (6, 9));
    force (6, 9, 0);
    ck_assert (is_asked (5, 1, LK_FORCED));
    ck_assert (!logs ("taken away")); /* that was said */
    unlock (5, 1, "x");
    ck_assert (is_done (6, 9));
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

START_TEST (when_the_last_one_is_gone)
{
    share (5, 1);
    share (6, 1);
    share (5, 2);
    force (6, 9, 0);
    ck_assert (is_asked (5, 1, LK_FORCED));
    ck_assert (is_asked (5, 2, LK_FORCED));
    ck_assert (is_asked (6, 1, LK_FORCED));
    unlock (5, 1, "x");
    ck_assert (!is_done (6, 9));
    unlock (6, 1, "x");
    ck_assert (!is_done (6, 9));
    unlock (5, 2, "x");
    ck_assert (is_done (6, 9));
}
END_TEST

/*  Who comes later is not meant, however often it is said. */
START_TEST (the_next_one_keeps_it)
{
    lock (5, 1, "x");
    lock (5, 2, "x");
    force (6, 9, 0);
    unlock (5, 1, "x");
    ck_assert (sent (LK_MSG_LOCKED, 5));
    force (6, 9, 0);
    ck_assert (is_done (6, 9));
    ck_assert (!is_asked (5, 2, LK_FORCED));
    force (6, 10, 0);
    ck_assert (is_asked (5, 2, LK_FORCED));
}
END_TEST

/*  Nobody tells the asker if it went otherwise, so it says it again. */
START_TEST (gone_by_other_ways)
{
    lock (5, 1, "x");
    lock (6, 2, "x");
    force (6, 9, 0);
    now_ms++;
    ping_from (5, 4, 3);
    wait_ms (1000);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    pings ();
    force (6, 9, 0);
    ck_assert (is_done (6, 9));
    ck_assert (!is_asked (6, 2, LK_FORCED));
}
END_TEST

START_TEST (one_of_several_by_force)
{
    const uint64_t first = share (5, 1);
    const uint64_t second = share (5, 2);
    ck_assert_uint_ne (first, second);
    force (6, 9, second);
    ck_assert (!is_asked (5, 1, LK_FORCED));
    ck_assert (is_asked (5, 2, LK_FORCED));
    unlock (5, 2, "x");
    ck_assert (is_done (6, 9));
    force (6, 10, second);
    ck_assert_int_eq (failure (6), LK_UNKNOWN);
}
END_TEST

/*  Some of them are nobody's any more, and go at once. */
START_TEST (the_last_one_by_force)
{
    lk_lock_message message = request_of (LK_MSG_LOCK, 5, 3, 1, "x");
    message.as.request.ticket.mode.type = LK_SHARED;
    message.as.request.ticket.mode.is_static = true;
    give (5, &message);
    message.as.request.keep = true;
    give (5, &message);
    share (7, 1);
    now_ms++;
    ping_from (5, 4, 3);
    force (6, 9, 0);
    ck_assert (is_asked (7, 1, LK_FORCED));
    ck_assert (!is_done (6, 9));
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    unlock (7, 1, "x");
    ck_assert (is_done (6, 9));
}
END_TEST

START_TEST (nobody_to_be_forced)
{
    force (6, 9, 0);
    ck_assert_int_eq (failure (6), LK_UNKNOWN);
    ck_assert (!logs ("taken away"));
    lock (5, 1, "x");
    force (6, 9, 77);
    ck_assert_int_eq (failure (6), LK_UNKNOWN);
    ck_assert (!is_asked (5, 1, LK_FORCED));
}
END_TEST

/*  Its answer was lost, and somebody has the lock since. */
START_TEST (nobody_is_still_nobody)
{
    force (6, 9, 0);
    lock (5, 1, "x");
    force (6, 9, 0);
    ck_assert_int_eq (failure (6), LK_UNKNOWN);
    ck_assert (!is_asked (5, 1, LK_FORCED));
    ck_assert (!logs ("taken away"));
    force (6, 10, 0);
    ck_assert (is_asked (5, 1, LK_FORCED));
}
END_TEST

/*  Nobody yet: who holds it may not have claimed it so far. */
START_TEST (nobody_in_a_reclaim)
{
    lead (true);
    lk_plant (node).table->reported[0][6] = 3;
    force (6, 9, 0);
    ck_assert_int_eq (failure (6), LK_OK);
    use_key (6, 10, 77);
    ck_assert_int_eq (failure (6), LK_OK);
    lk_plant (node).table->reclaim = 0;
    lock (5, 1, "x");
    force (6, 9, 0);
    ck_assert (is_asked (5, 1, LK_FORCED));
    use_key (6, 10, 77);
    ck_assert_int_eq (failure (6), LK_DENIED);
}
END_TEST

/*  It would be said to be done when the ones that are known have gone. */
START_TEST (not_all_holders_in_a_reclaim)
{
    share (5, 1);
    lk_plant (node).table->reclaim = 1;
    force (6, 9, 0);
    ck_assert (!is_asked (5, 1, LK_FORCED));
    unlock (5, 1, "x");
    force (6, 9, 0);
    ck_assert (!is_done (6, 9));
    lk_plant (node).table->reclaim = 0;
    share (4, 1);
    force (6, 9, 0);
    ck_assert (is_asked (4, 1, LK_FORCED));
}
END_TEST

/*  Their answers were lost. Nobody has a ticket in the next term, but for who
 *  locks it then. */
START_TEST (what_was_done_in_a_former_term)
{
    const uint64_t key = lock (5, 1, "x")->as.reply.key;
    force (6, 9, 0);
    use_key (6, 10, key);
    unlock (5, 1, "x");
    lk_lock_message fill = message_of (LK_MSG_FILL, term_of (8, 1));
    decree.term = term_of (8, 1);
    fill.as.chunk.decree = decree;
    give (1, &fill);
    give_decree (1, LK_MSG_READY, &decree);
    pings ();
    ck_assert (lk_leader_is_serving (lk_node_leader (node)));
    lock (5, 2, "x");
    force (6, 9, 0);
    ck_assert (is_done (6, 9));
    ck_assert (!is_asked (5, 2, LK_FORCED));
    use_key (6, 10, key);
    ck_assert (is_done (6, 10));
    lk_plant (node).table->reclaim = 1;
    lk_plant (node).table->reported[0][6] = 3;
    use_key (6, 10, key);
    ck_assert (!is_done (6, 10));
}
END_TEST

/*  It led nothing before: who fills it tells what was ended for whom. What it
 *  remembers goes on to the next one. */
START_TEST (what_was_done_where_others_led)
{
    lk_release told[] = {{.by = {6, 3, 9}, .up_to = (uint64_t) 7 << 32 | 1},
                         {.by = {254, 3, 10}},
                         {.by = {6, 3, 11}}};
    lk_release *known;
    lk_lock_message fill = message_of (LK_MSG_FILL, term_of (8, 1));
    decree.term = term_of (8, 1);
    fill.as.chunk.decree = decree;
    fill.as.chunk.releases = told;
    fill.as.chunk.release_count = sizeof told / sizeof told[0];
    give (1, &fill);
    give_decree (1, LK_MSG_READY, &decree);
    pings ();
    lock (5, 2, "x");
    force (6, 9, 0);
    ck_assert (is_done (6, 9));
    ck_assert (!is_asked (5, 2, LK_FORCED));
    use_key (6, 11, 4711);
    ck_assert (is_done (6, 11));
    ck_assert_uint_eq (lk_leader_releases (lk_node_leader (node), &known), 2);
    ck_assert_uint_eq (known[0].by.serial, 9);
    ck_assert_uint_eq (known[0].up_to, told[0].up_to);
    ck_assert_uint_eq (known[1].by.serial, 11);
}
END_TEST

START_TEST (two_operators)
{
    lock (5, 1, "x");
    force (6, 9, 0);
    force (6, 10, 0);
    force (6, 9, 0);
    ck_assert (is_asked (5, 1, LK_FORCED));
    ck_assert (!is_done (6, 9));
    unlock (5, 1, "x");
    ck_assert (is_done (6, 9));
    force (6, 10, 0);
    ck_assert (is_done (6, 10));
}
END_TEST

START_TEST (a_kept_one_by_force)
{
    keep (5, 1);
    now_ms++;
    ping_from (5, 4, 3);
    force (6, 9, 0);
    ck_assert (is_done (6, 9));
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

/*  Of another owner or of the same: all hear the reason. */
START_TEST (the_holder_itself_is_told_too)
{
    lock (5, 1, "x");
    now_ms++;
    ping_from (5, 4, 0);
    lk_lock_message message = request_of (LK_MSG_UNLOCK, 5, 4, 9, "x");
    message.as.request.force = true;
    give (5, &message);
    ck_assert (is_asked (5, 1, LK_FORCED));
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}
END_TEST

/*  -------------------------------------------------------- checks */

static const lk_msg_check *
check (lk_host from, uint64_t token)
{
    lk_lock_message message = message_of (LK_MSG_CHECK, decree.term);
    message.as.check = (lk_msg_check) {
        .request = {5, 3, 8}, .object = {"x", 1}, .token = token};
    give (from, &message);
    const lk_lock_message *answer = sent (LK_MSG_CHECKED, 5);
    return answer ? &answer->as.check : NULL;
}

START_TEST (whether_a_token_is_held)
{
    ck_assert (!check (5, 7)->held);
    ck_assert (!check (5, 0)->held);
    ck_assert_uint_eq (check (5, 7)->newest, 0);
    const uint64_t first = share (5, 1);
    const uint64_t second = share (5, 2);
    lock (6, 3, "x"); /* waits */
    ck_assert (check (5, first)->held);
    ck_assert_uint_eq (check (5, first)->newest, second);
    ck_assert (check (5, second)->held);
    ck_assert (!check (5, second + 1)->held);
    ck_assert (!check (5, 0)->held);
    unlock (5, 2, "x");
    ck_assert (!check (5, second)->held);
    ck_assert_uint_eq (check (5, second)->newest, first);
    ck_assert_uint_eq (check (5, second)->token, second);
    ck_assert_uint_eq (check (5, second)->request.serial, 8);
}
END_TEST

START_TEST (who_must_not_say)
{
    ck_assert_ptr_nonnull (check (5, 7));
    ck_assert_ptr_null (check (6, 7)); /* asks for another host */
    wait_ms (2000);
    ck_assert (!lk_lease_holds (lk_node_leader (node)));
    ck_assert_ptr_null (check (5, 7));
    pings ();
    ck_assert_ptr_nonnull (check (5, 7));
    give_plain (1, LK_MSG_VOTE, term_of (8, 1));
    ck_assert_ptr_null (check (5, 7));
}
END_TEST

START_TEST (not_known_in_a_reclaim)
{
    lead (true);
    ck_assert_ptr_null (check (5, 7));
}
END_TEST

START_TEST (of_another_home)
{
    lk_check_no_more ();
    decree.leader_count = 2;
    const uint8_t home = lk_home_of (&decree, (lk_name) {"x", 1});
    decree.leader[home] = 1;
    decree.leader[!home] = 0;
    *lk_plant_decree (node, LK_PLANT_TABLE) = decree;
    *lk_plant (node).place = !home;
    ck_assert_ptr_null (check (5, 7));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("release");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, the_key_of_one_of_several);
    tcase_add_test (tests, two_who_have_its_key);
    tcase_add_test (tests, what_was_ended_comes_late);
    tcase_add_test (tests, a_kept_one_that_its_proxy_forgot);
    tcase_add_test (tests, the_key_of_one_whose_host_is_silent);
    tcase_add_test (tests, the_key_of_one_that_outlived_its_holder);
    tcase_add_test (tests, a_kept_one_whose_session_is_gone);
    tcase_add_test (tests, by_force);
    tcase_add_test (tests, when_the_last_one_is_gone);
    tcase_add_test (tests, the_next_one_keeps_it);
    tcase_add_test (tests, gone_by_other_ways);
    tcase_add_test (tests, one_of_several_by_force);
    tcase_add_test (tests, the_last_one_by_force);
    tcase_add_test (tests, nobody_to_be_forced);
    tcase_add_test (tests, nobody_is_still_nobody);
    tcase_add_test (tests, nobody_in_a_reclaim);
    tcase_add_test (tests, not_all_holders_in_a_reclaim);
    tcase_add_test (tests, what_was_done_in_a_former_term);
    tcase_add_test (tests, what_was_done_where_others_led);
    tcase_add_test (tests, two_operators);
    tcase_add_test (tests, a_kept_one_by_force);
    tcase_add_test (tests, the_holder_itself_is_told_too);
    tcase_add_test (tests, whether_a_token_is_held);
    tcase_add_test (tests, who_must_not_say);
    tcase_add_test (tests, not_known_in_a_reclaim);
    tcase_add_test (tests, of_another_home);
    return run_tests ("core_release", tests);
}
