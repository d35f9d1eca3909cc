/*  lock_asks.c - what applications ask of a lock service, and are told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lock_fake.h"

/*  -------------------------------------------------------- requests */

START_TEST (takes_a_lock)
{
    lk_message *message = new_lock ("a@h1", 5, "o");
    lk_message_set_text (message, "zone", "z");
    lk_message_set_text (message, "type", "exclusive");
    lk_message_set_number (message, "wait", 100);
    lk_message_set_number (message, "duration", 2000);
    give (message);
    const lk_app_request *request = &last_event (LK_ON_LOCK)->request;
    ck_assert_uint_eq (request->serial, 5);
    ck_assert_uint_eq (request->pid, 77);
    ck_assert_int_eq (request->wait_ms, 100);
    ck_assert_int_eq (request->duration_ms, 2000);
    ck_assert_uint_eq (request->object.size, 4);
    ck_assert_mem_eq (request->object.data, "z\0\0o", 4);
    ck_assert_mem_eq (request->owner.data, "a@h1", request->owner.size);
    ck_assert_uint_eq (bus.count, 0);
}
END_TEST

START_TEST (repeats_go_to_the_core)
{
    uint32_t app = ask ("a@h1", 5, "o");
    ck_assert_uint_eq (ask ("a@h1", 5, "o"), app);
    ck_assert_uint_eq (node.count, 2);
    ck_assert_uint_ne (ask ("b@h1", 5, "o"), app);
    ck_assert_uint_eq (ask ("a@h1", 5, "other"), app);
    ck_assert_uint_eq (node.count, 4);
}
END_TEST

/*  Whatever is said of a lock, its name is the one that was asked for. */
START_TEST (names_of_bytes)
{
    lk_message *message = new_message ("a@h1", "LOCK", 4);
    lk_message_set_text (message, "object_hex", "00ff6f");
    give (message);
    const lk_app_request *request = &last_event (LK_ON_LOCK)->request;
    ck_assert_uint_eq (request->object.size, 5);
    ck_assert_mem_eq (request->object.data,
                      "\0\0\0\xff"
                      "o",
                      5);
    add_answer (LK_ANSWER_LOCKED, request->app, 4, LK_OK);
    tick ();
    check_text (only_sent ("a@h1", "LOCKED"), "object_hex", "00ff6f");
    ck_assert (!lk_message_has (bus.sent[0], "object"));
    forget_sent ();
    message = new_message ("a@h1", "UNLOCK", 5);
    lk_message_set_text (message, "object_hex", "00fe6f");
    lk_message_set_number (message, "request", 4);
    give (message);
    ck_assert_mem_eq (last_event (LK_ON_UNLOCK)->request.object.data,
                      "\0\0\0\xfe"
                      "o",
                      5);
}
END_TEST

START_TEST (lists_names_of_bytes)
{
    const lk_ticket ticket = {.request = {0, 3, 1},
                              .object = {"z\0\0\xff\0", 5},
                              .owner = {"a@h1", 4}};
    node.status.leads = true;
    node.tickets = 1;
    node.ticket = &ticket;
    give (new_message ("a@h1", "LOCKLIST", 3));
    lk_message *row =
        lk_message_row (only_sent ("a@h1", "LOCKLIST"), "tickets", 0);
    check_text (row, "object_hex", "ff00");
    check_text (row, "zone", "z");
    ck_assert (!lk_message_has (row, "object"));
    lk_message_destroy (&row);
}
END_TEST

START_TEST (refuses_too_many)
{
    lockd.apps.apps_max = 1;
    (void) ask ("a@h1", 1, "o");
    give (new_lock ("b@h1", 1, "o"));
    check_text (only_sent ("b@h1", "LOCKFAILED"), "error", "overloaded");
    ck_assert_uint_eq (node.count, 1);
}
END_TEST

START_TEST (refuses_other_hosts_and_commands)
{
    give (new_lock ("a@h2", 1, "o"));
    check_text (only_sent ("a@h2", "LOCKFAILED"), "error", "invalid");
    check_text (bus.sent[0], "text", "ask the lock service of your own host");
    forget_sent ();
    lk_message *unlock_there = new_message ("a@h2", "UNLOCK", 2);
    lk_message_set_text (unlock_there, "object", "o");
    lk_message_set_hex (unlock_there, "key", 0xabcdef);
    give (unlock_there);
    check_text (only_sent ("a@h2", "LOCKFAILED"), "text",
                "ask the lock service of your own host");
    forget_sent ();
    give (new_message ("a@h1", "VOTE", 4));
    check_text (only_sent ("a@h1", "UNKNOWN"), "command", "VOTE");
    forget_sent ();
    give (new_message ("a@h1", "UNKNOWN", 4));
    give (new_message ("a@h1", "INVALID", 4));
    give (new_message ("lock@h1", "VOTE", 4));
    ck_assert_uint_eq (bus.count, 0);
    ck_assert_uint_eq (node.count, 0);
}
END_TEST

START_TEST (tells_what_was_asked_for)
{
    uint32_t app = ask ("a@h1", 4, "o");
    add_answer (LK_ANSWER_LOCKED, app, 4, LK_OK);
    node.effect[0].answer.until_ms = bus.now_ms + 500;
    tick ();
    const lk_message *locked = only_sent ("a@h1", "LOCKED");
    uint64_t number;
    ck_assert_uint_eq (lk_message_serial (locked), 4);
    check_text (locked, "object", "o");
    ck_assert (lk_message_hex (locked, "token", &number));
    ck_assert_uint_eq (number, 0x100000002);
    ck_assert (lk_message_hex (locked, "key", &number));
    ck_assert_uint_eq (number, 0xabcdef);
    ck_assert_int_eq (lk_message_number (locked, "left", 0), 500);
    ck_assert_int_eq (lk_message_number (locked, "until", 0), 10500);
    forget_sent ();
    unlock ("a@h1", 6, 4);
    const lk_app_request *request = &last_event (LK_ON_UNLOCK)->request;
    ck_assert_uint_eq (request->serial, 4);
    add_answer (LK_ANSWER_UNLOCKED, app, 4, LK_OK);
    tick ();
    const lk_message *unlocked = only_sent ("a@h1", "UNLOCKED");
    ck_assert_uint_eq (lk_message_serial (unlocked), 6);
    ck_assert_int_eq (lk_message_number (unlocked, "request", 0), 4);
    ck_assert_ptr_null (lk_message_text (unlocked, "error"));
}
END_TEST

START_TEST (tells_a_failure)
{
    uint32_t app = ask ("a@h1", 4, "o");
    add_answer (LK_ANSWER_FAILED, app, 4, LK_FULL);
    tick ();
    const lk_message *failed = only_sent ("a@h1", "LOCKFAILED");
    check_text (failed, "error", "full");
    ck_assert_uint_eq (lk_message_serial (failed), 4);
}
END_TEST

START_TEST (tells_a_loss)
{
    uint32_t app = ask ("a@h1", 4, "o");
    add_answer (LK_ANSWER_UNLOCKED, app, 4, LK_ISOLATED);
    tick ();
    const lk_message *lost = only_sent ("a@h1", "UNLOCKED");
    check_text (lost, "error", "isolated");
    ck_assert_uint_eq (lk_message_serial (lost), 4);
}
END_TEST

START_TEST (unlocks_after_the_duration)
{
    uint32_t app = ask ("a@h1", 4, "o");
    add_answer (LK_ANSWER_UNLOCKED, app, 4, LK_TIMEDOUT);
    tick ();
    check_text (only_sent ("a@h1", "UNLOCKED"), "error", "timedout");
    forget_sent ();
    unlock ("a@h1", 6, 4);
    ck_assert_uint_eq (last_event (LK_ON_UNLOCK)->request.serial, 4);
    add_answer (LK_ANSWER_UNLOCKED, app, 4, LK_OK);
    tick ();
    ck_assert_uint_eq (lk_message_serial (only_sent ("a@h1", "UNLOCKED")), 6);
}
END_TEST

/*  The word that it ran out may be lost: who asks again is told again. */
START_TEST (tells_again_that_it_ran_out)
{
    uint32_t app = ask ("a@h1", 4, "o");
    for (int times = 0; times < 3; times++) {
        add_answer (LK_ANSWER_UNLOCKED, app, 4, LK_TIMEDOUT);
        ck_assert_uint_eq (ask ("a@h1", 4, "o"), app);
        check_text (only_sent ("a@h1", "UNLOCKED"), "error", "timedout");
        forget_sent ();
    }
}
END_TEST

START_TEST (unlocks_by_key)
{
    lk_message *message = new_message ("b@h1", "UNLOCK", 9);
    lk_message_set_text (message, "object", "o");
    lk_message_set_hex (message, "key", 0xabcdef);
    give (message);
    const lk_app_request *request = &last_event (LK_ON_UNLOCK_BY_KEY)->request;
    ck_assert_uint_eq (request->key, 0xabcdef);
    ck_assert_uint_eq (request->serial, 9);
    ck_assert_uint_eq (request->owner.size, 0);
    uint32_t app = request->app;
    add_answer (LK_ANSWER_FAILED, app, 9, LK_DENIED);
    tick ();
    const lk_message *failed = only_sent ("b@h1", "LOCKFAILED");
    check_text (failed, "error", "denied");
    ck_assert_uint_eq (lk_message_serial (failed), 9);
}
END_TEST

/*  An operator's UNLOCK that is repeated while its answer comes is one. */
/*  Only a lock of its own, and once: told again it is no news. */
START_TEST (given_back_by_key_is_history)
{
    for (int i = 0; i < 3; i++) {
        const bool own = i > 0, again = i > 1;
        const uint32_t app = lk_apps_intern (&lockd.apps, "a@h1")->number;
        const lk_answer answer = {.kind = LK_ANSWER_UNLOCKED,
                                  .app = app,
                                  .asked = {.asks = LK_ON_UNLOCK_BY_KEY,
                                            .object = {"\0\0o", 3},
                                            .gives_back = own,
                                            .course.asked_ms = !again}};
        add_effect ((lk_effect) {.type = LK_DO_TELL, .answer = answer});
        tick ();
        ck_assert_uint_eq (lk_recent_count (lockd.recent, bus.now_ms).releases,
                           own);
    }
}
END_TEST

START_TEST (a_force_is_history_once)
{
    for (int i = 0; i < 2; i++) {
        lk_message *message = new_message ("b@h1", "UNLOCK", 9);
        lk_message_set_text (message, "object", "o");
        lk_message_set_flag (message, "force", true);
        lk_message_set_text (message, "reason", "it hangs");
        give (message);
        add_answer (LK_ANSWER_UNLOCKED, last_event (LK_ON_FORCE)->request.app,
                    9, LK_OK);
        tick ();
    }
    ck_assert_uint_eq (lk_recent_number (lockd.recent), 1);
}
END_TEST

/*  One that we know nothing of, having been restarted: its own all the same. */
START_TEST (unlocks_what_it_had_before)
{
    lk_message *message = new_message ("b@h1", "UNLOCK", 9);
    lk_message_set_text (message, "object", "o");
    lk_message_set_number (message, "request", 8);
    lk_message_set_hex (message, "key", 0xabcdef);
    give (message);
    const lk_app_request *request = &last_event (LK_ON_UNLOCK)->request;
    ck_assert_uint_eq (request->serial, 8);
    ck_assert_uint_eq (request->unlock, 9);
    ck_assert_uint_eq (request->key, 0xabcdef);
    ck_assert_uint_eq (request->owner.size, strlen ("b@h1"));
    ck_assert_mem_eq (request->owner.data, "b@h1", request->owner.size);
}
END_TEST

/*  -------------------------------------------------------- status */

START_TEST (tells_its_status)
{
    node.status.sees = LK_HOST_BIT (lockd.self);
    node.status.decree.members = lockd.state.genesis;
    give (new_message ("a@h2", "LOCKSTATUS", 3));
    const lk_message *status = only_sent ("a@h2", "NOLOCK");
    ck_assert_uint_eq (lk_message_serial (status), 3);
    check_text (status, "host", "h1");
    check_text (status, "cluster", "blue");
    check_text (status, "reason", "sees 1 of 3 members, needs 2");
    ck_assert (lk_message_flag (status, "member"));
    ck_assert (lk_message_flag (status, "answering"));
    forget_sent ();
    node.status.ready = true;
    node.status.decree.term = (lk_term) {6, OWN_ID};
    node.status.decree.leader_count = 1;
    node.status.decree.leader[0] = lockd.self;
    add_effect ((lk_effect) {.type = LK_DO_STATUS});
    tick ();
    status = only_sent ("*@.", "LOCKREADY");
    ck_assert_int_eq (lk_message_number (status, "term", 0), 6);
    check_text (status, "proposer", "h1");
    ck_assert_str_eq (lk_message_item (status, "leaders", 0), "h1");
    ck_assert_str_eq (lk_message_item (status, "members", 2), "h3");
    ck_assert (!lk_message_flag (status, "answering"));
}
END_TEST

/*  What it says when it is asked, after `ms` more. */
static int64_t
since_after (int64_t ms, bool ready)
{
    forget_sent ();
    bus.now_ms += ms;
    node.status.ready = ready;
    give (new_message ("a@h2", "LOCKSTATUS", 3));
    return lk_message_number (
        only_sent ("a@h2", ready ? "LOCKREADY" : "NOLOCK"), "since_ms", -1);
}

/*  A question sees what may be over before it is told. */
START_TEST (tells_since_when)
{
    node.status.ready = true;
    add_effect ((lk_effect) {.type = LK_DO_STATUS});
    tick ();
    ck_assert_int_eq (since_after (30000, true), 30000);
    ck_assert_int_eq (since_after (10, false), 0);
    ck_assert_int_eq (since_after (10, true), 30020);
    ck_assert_int_eq (since_after (10, false), 0);
    add_effect ((lk_effect) {.type = LK_DO_STATUS});
    tick ();
    ck_assert_int_eq (since_after (2500, false), 2500);
}
END_TEST

START_TEST (lists_tickets)
{
    node.status.leads = true;
    node.tickets = 700;
    give (new_message ("a@h1", "LOCKLIST", 3));
    const lk_message *list = only_sent ("a@h1", "LOCKLIST");
    check_text (list, "served_by", "h1");
    ck_assert_uint_eq (lk_message_item_count (list, "tickets"), 500);
    int64_t cursor = lk_message_number (list, "cursor", 0);
    ck_assert_int_eq (cursor, 500);
    lk_message *row = lk_message_row (list, "tickets", 0);
    check_text (row, "object", "o");
    check_text (row, "state", "held");
    check_text (row, "owner", "a@h1");
    ck_assert_int_eq (lk_message_number (row, "pid", 0), 77);
    ck_assert_int_eq (lk_message_number (row, "since_ms", 0), 1500);
    lk_message_destroy (&row);
    forget_sent ();
    lk_message *more = new_message ("a@h1", "LOCKLIST", 4);
    lk_message_set_number (more, "cursor", cursor);
    give (more);
    list = only_sent ("a@h1", "LOCKLIST");
    ck_assert_uint_eq (lk_message_item_count (list, "tickets"), 200);
    ck_assert (!lk_message_has (list, "cursor"));
}
END_TEST

START_TEST (names_leaders_instead)
{
    node.tickets = 3;
    node.status.decree.leader_count = 1;
    node.status.decree.leader[0] = lk_hostmap_find (&lockd.hostmap, "h3", 0);
    give (new_message ("a@h1", "LOCKLIST", 3));
    const lk_message *list = only_sent ("a@h1", "LOCKLIST");
    ck_assert_uint_eq (lk_message_item_count (list, "tickets"), 0);
    ck_assert_str_eq (lk_message_item (list, "leaders", 0), "h3");
    forget_sent ();
    lk_message *bad = new_message ("a@h1", "LOCKLIST", 4);
    lk_message_set_number (bad, "cursor", -4);
    give (bad);
    check_text (only_sent ("a@h1", "LOCKFAILED"), "error", "invalid");
}
END_TEST

/*  -------------------------------------------------------- suite */

int
main (void)
{
    const TTest *const requests[] = {
        takes_a_lock,
        repeats_go_to_the_core,
        names_of_bytes,
        refuses_too_many,
        refuses_other_hosts_and_commands,
        tells_what_was_asked_for,
        tells_a_failure,
        tells_a_loss,
        unlocks_after_the_duration,
        tells_again_that_it_ran_out,
        unlocks_by_key,
        given_back_by_key_is_history,
        a_force_is_history_once,
        unlocks_what_it_had_before,
    };
    const TTest *const status[] = {tells_its_status, tells_since_when,
                                   lists_tickets, lists_names_of_bytes,
                                   names_leaders_instead};
    const group groups[] = {
        GROUP ("requests", requests, set_up),
        GROUP ("status", status, set_up),
    };
    return run_groups ("lock_asks", groups, sizeof groups / sizeof groups[0]);
}
