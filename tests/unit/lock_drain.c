/*  lock_drain.c - LOCKDRAIN: a lock service is asked to lead no more
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "draining.h"
#include "lock_fake.h"

#define APP "cli-7@h1"

static void
set_up_leader (void)
{
    set_up ();
    node.status.leads = true;
    forget_sent ();
}

/*  The word to the router, see below. */
static void
forget_cluster (void)
{
    if (lk_message_is (bus.sent[bus.count - 1], "CLUSTER")) {
        lk_message_destroy (&bus.sent[--bus.count]);
    }
}

static void
ask_to_drain (bool drain, bool force)
{
    lk_message *message = new_message (APP, "LOCKDRAIN", 5);
    lk_message_set_flag (message, "drain", drain);
    lk_message_set_flag (message, "force", force);
    lk_message_set_number (message, "for", 7000);
    give (message);
    forget_cluster ();
}

static void
check_state (const char *state)
{
    const lk_message *answer = only_sent (APP, "LOCKDRAIN");
    check_text (answer, "host", "h1");
    check_text (answer, "state", state);
    ck_assert (lk_message_flag (answer, "leads"));
    forget_sent ();
}

START_TEST (it_drains_until_it_is_told_otherwise)
{
    ask_to_drain (true, false);
    check_state ("draining");
    ck_assert (last_event (LK_ON_DRAIN)->add);
    ck_assert_int_eq (last_event (LK_ON_DRAIN)->until_ms, bus.now_ms + 7000);
    node.drained = true;
    ask_to_drain (true, false);
    check_state ("drained");
    ask_to_drain (false, false);
    check_state ("serving");
    ck_assert (!last_event (LK_ON_DRAIN)->add);
}
END_TEST

START_TEST (what_is_held_there_is_counted)
{
    static const lk_node_own own[] = {{.ticket.token = 5}, {.ticket.token = 0}};
    node.own = own;
    node.owns = 2;
    ask_to_drain (true, false);
    const lk_message *answer = only_sent (APP, "LOCKDRAIN");
    ck_assert_int_eq (lk_message_number (answer, "held", -1), 1);
    ck_assert_int_eq (lk_message_number (answer, "remotes", -1), 0);
}
END_TEST

START_TEST (not_while_nobody_else_may_lead)
{
    node.stays = true;
    lockd.state.facts.active.members = 7;
    node.status.decree.members = 7;
    node.status.sees = 7;
    ask_to_drain (true, false);
    check_text (only_sent (APP, "LOCKFAILED"), "text",
                "no other member may lead now");
    ck_assert (!node.drains);
    forget_sent ();
    node.status.sees = 1;
    ask_to_drain (true, false);
    check_text (only_sent (APP, "LOCKFAILED"), "text",
                "too few members are heard for others to lead");
    forget_sent ();
    ask_to_drain (true, true);
    check_state ("draining");
    ask_to_drain (true, false); /* the client goes on */
    check_state ("draining");
}
END_TEST

/*  It ends in ten seconds at the latest, whatever is asked for meanwhile. */
START_TEST (not_when_it_leaves)
{
    lockd.leaving = true;
    ask_to_drain (true, false);
    check_state ("draining");
    ask_to_drain (false, false);
    check_state ("draining");
    for (size_t i = 0; i < node.count; i++) {
        ck_assert_int_ne (node.event[i].type, LK_ON_DRAIN);
    }
}
END_TEST

START_TEST (status_tells_it)
{
    give (new_message (APP, "LOCKSTATUS", 6));
    ck_assert (!lk_message_flag (only_sent (APP, "NOLOCK"), "draining"));
    ck_assert (lk_message_flag (only_sent (APP, "NOLOCK"), "may_lead"));
    node.drains = true;
    lk_lockd_look_drain (&lockd);
    bus.now_ms += 1234;
    forget_sent ();
    give (new_message (APP, "LOCKSTATUS", 6));
    ck_assert (lk_message_flag (only_sent (APP, "NOLOCK"), "draining"));
    ck_assert_int_eq (
        lk_message_number (only_sent (APP, "NOLOCK"), "draining_ms", -1), 1234);
    ck_assert (!lk_message_flag (only_sent (APP, "NOLOCK"), "may_lead"));
}
END_TEST

static void
is_told (bool draining)
{
    lk_lockd_look_drain (&lockd);
    const lk_message *word = only_sent ("router@.", "CLUSTER");
    check_text (word, "name", lockd.state.cluster);
    ck_assert (lk_message_flag (word, "draining") == draining);
    forget_sent ();
    lk_lockd_look_drain (&lockd);
    ck_assert_uint_eq (bus.count, 0);
}

START_TEST (the_router_is_told)
{
    node.drains = true;
    is_told (true);
    node.drains = false;
    is_told (false);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("lock_drain");
    TCase *tests = tcase_create ("drain");
    tcase_add_checked_fixture (tests, set_up_leader, tear_down);
    tcase_add_test (tests, it_drains_until_it_is_told_otherwise);
    tcase_add_test (tests, what_is_held_there_is_counted);
    tcase_add_test (tests, not_while_nobody_else_may_lead);
    tcase_add_test (tests, not_when_it_leaves);
    tcase_add_test (tests, status_tells_it);
    tcase_add_test (tests, the_router_is_told);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
