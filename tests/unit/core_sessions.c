/*  core_sessions.c - a home, and requests of one host's sessions that cross
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  sole.h is the world. Each of these rules is behind another one where a LOCK
 *  comes late: no run of the simulator shows which of the two is missing.
 */

#include "resume.h"
#include "sole.h"

/*  Said to be held already by that application: with what was told. */
static lk_lock_message
resume_of (lk_lock_kind kind, uint64_t session, uint64_t serial,
           const lk_msg_reply *told)
{
    lk_lock_message message = request_of (kind, 5, session, serial, "x");
    message.as.request.resume = true;
    message.as.request.ticket.token = told->token;
    message.as.request.ticket.key = told->key;
    return message;
}

static uint64_t
session_of_holder (void)
{
    const lk_entry *entry = entry_at (0);
    return lk_entry_ticket (entry).request.session;
}

/*  -------------------------------------------------------- a late LOCK */

/*  Nobody has called the session over, but its host's proxy lives in a later
 *  one. */
START_TEST (a_lock_of_an_earlier_session_is_late)
{
    lk_lock_message later = request_of (LK_MSG_LOCK, 5, 4, 1, "y");
    lk_lock_message late = request_of (LK_MSG_LOCK, 5, 3, 1, "x");
    give (5, &later);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    give (5, &late);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    ck_assert_ptr_null (sent (LK_MSG_LOCKED, 5));
    late.as.request.ticket.request.session = 4;
    late.as.request.ticket.request.serial = 2;
    give (5, &late);
    ck_assert_uint_eq (lk_node_table (node)->count, 2);
}
END_TEST

/*  What it had is given back all the same. */
START_TEST (an_unlock_of_an_earlier_session_counts)
{
    lock (5, 1, "x");
    lk_lock_message later = request_of (LK_MSG_LOCK, 5, 4, 1, "y");
    give (5, &later);
    ck_assert_uint_eq (lk_node_table (node)->count, 2);
    unlock (5, 1, "x");
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}
END_TEST

/*  -------------------------------------------------------- going on */

START_TEST (it_goes_on_with_the_next_session)
{
    const lk_msg_reply told = lock (5, 1, "x")->as.reply;
    lk_lock_message message = resume_of (LK_MSG_LOCK, 4, 1, &told);
    give (5, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    ck_assert_uint_eq (session_of_holder (), 4);
    ck_assert_uint_eq (sent (LK_MSG_LOCKED, 5)->as.reply.token, told.token);
}
END_TEST

/*  The proxy before says that its application gives it back, late. */
START_TEST (it_does_not_go_back_to_an_earlier_session)
{
    const lk_msg_reply told = lock (5, 1, "x")->as.reply;
    lk_lock_message message = resume_of (LK_MSG_LOCK, 5, 1, &told);
    give (5, &message);
    ck_assert_uint_eq (session_of_holder (), 5);
    message = resume_of (LK_MSG_UNLOCK, 4, 1, &told);
    give (5, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    ck_assert_uint_eq (session_of_holder (), 5);
    message = resume_of (LK_MSG_UNLOCK, 6, 1, &told);
    give (5, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
}
END_TEST

/*  -------------------------------------------------------- waiting */

static lk_lock_message
wait_of (lk_host host, uint64_t session, uint64_t serial)
{
    lk_lock_message message =
        request_of (LK_MSG_LOCK, host, session, serial, "x");
    message.as.request.queue = true;
    message.as.request.ticket.pid = 70;
    message.as.request.ticket.owner =
        host == 5 ? (lk_name) {"app@h5", 6} : (lk_name) {"app@h6", 6};
    return message;
}

/*  Host 4 holds it, hosts 5 and 6 wait, 5 in session 3. */
static void
queue_up (void)
{
    lock (4, 1, "x");
    lk_lock_message first = wait_of (5, 3, 2);
    lk_lock_message second = wait_of (6, 3, 1);
    give (5, &first);
    give (6, &second);
    ck_assert_uint_eq (lk_node_table (node)->count, 3);
}

START_TEST (who_waits_keeps_its_place)
{
    queue_up ();
    lk_lock_message again = wait_of (5, 4, 1);
    give (5, &again);
    ck_assert_uint_eq (lk_node_table (node)->count, 3);
    const lk_request_id next = lk_entry_request (entry_at (1));
    ck_assert_uint_eq (next.host, 5);
    ck_assert_uint_eq (next.session, 4);
    ck_assert_uint_eq (next.serial, 1);
    give (5, &again);
    ck_assert_uint_eq (lk_node_table (node)->count, 3);
    unlock (4, 1, "x");
    ck_assert_uint_eq (sent (LK_MSG_LOCKED, 5)->as.reply.request.session, 4);
}
END_TEST

/*  Two of one application have two places. */
START_TEST (each_place_goes_to_one)
{
    queue_up ();
    lk_lock_message again = wait_of (5, 4, 1);
    give (5, &again);
    again.as.request.ticket.request.serial = 2;
    give (5, &again);
    ck_assert_uint_eq (lk_node_table (node)->count, 4);
    ck_assert_uint_eq (lk_entry_request (entry_at (3)).serial, 2);
}
END_TEST

/*  Where it may believe in one that it holds it stands behind the others. */
START_TEST (what_is_held_is_no_place)
{
    lk_lock_message held = wait_of (5, 3, 1);
    held.as.request.ticket.mode = (lk_lock_mode) {LK_SEMAPHORE, .limit = 1};
    give (5, &held);
    ck_assert_ptr_nonnull (sent (LK_MSG_LOCKED, 5));
    lk_lock_message again = held;
    again.as.request.ticket.request.session = 4;
    give (5, &again);
    ck_assert_uint_eq (lk_node_table (node)->count, 2);
    ck_assert_uint_eq (session_of_holder (), 3);
}
END_TEST

START_TEST (whose_place_it_is_not)
{
    enum { OWNER, PID, TYPE, DURATION, IMPATIENT, SESSION, CASES };
    for (int i = 0; i < CASES; i++) {
        queue_up ();
        lk_lock_message other = wait_of (5, i == SESSION ? 3 : 4, 9);
        lk_msg_request *request = &other.as.request;
        lk_ticket *ticket = &request->ticket;
        ticket->owner.size -= i == OWNER ? 1 : 0;
        ticket->pid += i == PID;
        ticket->mode.type = i == TYPE ? LK_SHARED : ticket->mode.type;
        ticket->duration_ms = i == DURATION ? 1000 : 0;
        request->queue = i != IMPATIENT;
        give (5, &other);
        const lk_request_id next = lk_entry_request (entry_at (1));
        ck_assert_msg (next.host == 5 && next.serial == 2, "case %d", i);
        ck_assert_uint_eq (lk_node_table (node)->count, i == IMPATIENT ? 3 : 4);
        stop ();
        set_up ();
    }
}
END_TEST

/*  -------------------------------------------------------- whose it is */

/*  The same rule by itself. */
START_TEST (whose_it_is)
{
    const lk_ticket held = {.request = {5, 3, 1}, .owner = {"app@h5", 6}};
    const lk_ticket nobodys = {.request = {5, 3, 1}};
    static const struct {
        lk_ticket asking;
        bool own;
    } cases[] = {
        {{.request = {5, 4, 9}, .owner = {"app@h5", 6}}, true},
        {{.request = {5, 9, 1}, .owner = {"app@h5", 6}}, true},
        {{.request = {5, 3, 9}, .owner = {"app@h5", 6}}, false},
        {{.request = {5, 2, 9}, .owner = {"app@h5", 6}}, false},
        {{.request = {6, 4, 9}, .owner = {"app@h5", 6}}, false},
        {{.request = {5, 4, 9}, .owner = {"app@h6", 6}}, false},
        {{.request = {5, 4, 9}, .owner = {"app@h5", 5}}, false},
        {{.request = {5, 4, 9}}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_msg (lk_resume_is_own (&held, &cases[i].asking)
                           == cases[i].own,
                       "case %zu", i);
        ck_assert (!lk_resume_is_own (&nobodys, &cases[i].asking));
    }
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("sessions");
    tcase_add_checked_fixture (tests, set_up, stop);
    tcase_add_test (tests, a_lock_of_an_earlier_session_is_late);
    tcase_add_test (tests, an_unlock_of_an_earlier_session_counts);
    tcase_add_test (tests, it_goes_on_with_the_next_session);
    tcase_add_test (tests, it_does_not_go_back_to_an_earlier_session);
    tcase_add_test (tests, who_waits_keeps_its_place);
    tcase_add_test (tests, each_place_goes_to_one);
    tcase_add_test (tests, what_is_held_is_no_place);
    tcase_add_test (tests, whose_place_it_is_not);
    tcase_add_test (tests, whose_it_is);
    return run_tests ("core_sessions", tests);
}
