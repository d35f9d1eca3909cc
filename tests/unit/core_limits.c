/*  core_limits.c - a home at its limits, and claims that cannot be
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  leading.h is the world: host 0 leads, hosts 1 and 2 are played by the test.
 */

#include "leading.h"

#include "home.h"
#include "lib/checked_step.h"
#include "lib/suite.h"

/*  -------------------------------------------------------- sets */

/*  It goes by the homes of another decree: its proxy asks again, by those of
 *  this one. */
START_TEST (a_set_that_is_not_all_at_home_here)
{
    char text[2][16];
    lk_ticket rest = ticket (object_at (OWN_PLACE + 1, text[0]), 2);
    lk_lock_message message = message_of (LK_MSG_LOCK);
    message.as.request =
        (lk_msg_request) {.ticket = ticket (object_at (OWN_PLACE, text[1]), 1),
                          .rest = &rest,
                          .rest_count = 1,
                          .queue = true,
                          .at = now_ms};
    give (THIRD, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    message.as.request.rest_count = 0;
    give (THIRD, &message);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}
END_TEST

/*  -------------------------------------------------------- limits */

/*  The proxy asks again. */
START_TEST (a_full_stream_takes_nothing)
{
    lk_check_no_more ();
    lk_plant_unacked (node, LK_STREAM_MAX);
    ask (1);
    lk_plant_unacked (node, 0);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    ask (1);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
}
END_TEST

START_TEST (a_full_stream_makes_no_digest)
{
    lk_check_no_more ();
    const uint64_t before = lk_node_table (node)->sequence[OWN_PLACE];
    now_ms += 11000;
    lk_plant_unacked (node, LK_STREAM_MAX);
    tick ();
    lk_plant_unacked (node, 0);
    ck_assert_uint_eq (lk_node_table (node)->sequence[OWN_PLACE], before);
    now_ms += 250;
    tick ();
    ck_assert_uint_eq (lk_node_table (node)->sequence[OWN_PLACE], before + 1);
}
END_TEST

START_TEST (a_full_table)
{
    lk_check_no_more ();
    lk_plant (node).table->count = LK_TICKETS_MAX;
    ask (1);
    lk_plant (node).table->count = 0;
    ck_assert_int_eq (sent (LK_MSG_LOCKFAILED, THIRD)->as.reply.error,
                      LK_OVERLOADED);
    lk_plant (node).table->names_size = LK_TICKET_NAMES_MAX;
    ask (1);
    lk_plant (node).table->names_size = 0;
    ck_assert_int_eq (sent (LK_MSG_LOCKFAILED, THIRD)->as.reply.error,
                      LK_OVERLOADED);
    ask (1);
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    ck_assert_uint_gt (lk_node_table (node)->names_size, 0);
}
END_TEST

/*  -------------------------------------------------------- names */

START_TEST (hosts_have_names)
{
    static lk_core core;
    lk_node_config config;
    lk_hostmap hostmap;
    lk_node_config_init (&config);
    lk_core_init (&core, &config, now_ms);
    ck_assert_str_eq (lk_out_host (&core, 0), "#0");
    lk_core_clear (&core);
    lk_hostmap_init (&hostmap);
    lk_hostmap_intern (&hostmap, "alpha", 0xa0);
    config.hostmap = &hostmap;
    lk_core_init (&core, &config, now_ms);
    ck_assert_str_eq (lk_out_host (&core, 0), "alpha");
    ck_assert_str_eq (lk_out_host (&core, THIRD), "#2");
    lk_core_clear (&core);
}
END_TEST

/*  -------------------------------------------------------- claims */

static lk_ticket claimed;

/*  That host has a lock whose home is at that place. */
static const lk_lock_message *
report (lk_host host, int place, lk_term term)
{
    static char text[16];
    lk_lock_message message = message_of (LK_MSG_REPORT);
    claimed = ticket (object_at (place, text), 1);
    claimed.request.host = host;
    claimed.token = (uint64_t) 6 << 32 | 1;
    message.term = term;
    message.as.report = (lk_msg_report) {.session = 1,
                                         .home = OWN_PLACE,
                                         .tickets = &claimed,
                                         .ticket_count = 1};
    give (host, &message);
    return sent (LK_MSG_REPORTED, host);
}

START_TEST (a_claim_for_another_home)
{
    ck_assert_ptr_null (report (THIRD, 0, decree.term));
    ck_assert_ptr_nonnull (report (THIRD, OWN_PLACE, decree.term));
}
END_TEST

static bool
traces (const char *text)
{
    for (size_t i = 0; i < effects.count; i++) {
        if (effects.item[i].type == LK_DO_TRACE
            && strstr (effects.item[i].text, text)) {
            return true;
        }
    }
    return false;
}

/*  Only by a mistake; the first one has it. */
START_TEST (two_hosts_claim_one_object)
{
    lk_plant (node).table->reclaim = 1 << OWN_PLACE;
    report (THIRD, OWN_PLACE, decree.term);
    ck_assert (!traces ("two hosts claim one object"));
    report (FIRST, OWN_PLACE, decree.term);
    ck_assert (traces ("two hosts claim one object"));
    ck_assert_uint_eq (lk_node_table (node)->count, 1);
    ck_assert_uint_eq (lk_entry_request (entry_at (0)).host, THIRD);
}
END_TEST

/*  -------------------------------------------------------- audits */

/*  The next term begins with a reclaim, and with a ticket that waits. */
static lk_term
reclaim_with_one_that_waits (void)
{
    static char text[16];
    lk_ticket waiting = ticket (object_at (OWN_PLACE, text), 1);
    lk_decree next = decree;
    next.term.number++;
    next.reclaim = true;
    lk_lock_message fill = message_of (LK_MSG_FILL);
    fill.term = next.term;
    fill.as.chunk = (lk_msg_chunk) {
        .decree = next, .reclaim = 7, .tickets = &waiting, .ticket_count = 1};
    give (FIRST, &fill);
    lk_lock_message ready = message_of (LK_MSG_READY);
    ready.term = next.term;
    ready.as.decree = (lk_msg_decree) {.decree = next, .holder = LK_NOBODY};
    give (FIRST, &ready);
    ck_assert (lk_leader_is_serving (lk_node_leader (node)));
    return next.term;
}

/*  Its proxy knows of it, as one that waits. */
static void
confirm_waiting (lk_term term)
{
    lk_lock_message message = message_of (LK_MSG_AUDITED);
    message.term = term;
    message.as.audit.request = lk_entry_request (entry_at (0));
    message.as.audit.object = lk_entry_object (entry_at (0));
    give (THIRD, &message);
    ck_assert (entry_at (0)->confirmed);
}

START_TEST (what_is_confirmed_is_not_looked_after)
{
    confirm_waiting (reclaim_with_one_that_waits ());
    now_ms += 250;
    tick ();
    ck_assert_uint_eq (lk_node_table (node)->audits.count, 0);
}
END_TEST

START_TEST (confirmed_as_waiting_it_is_not_confirmed_as_held)
{
    const lk_term term = reclaim_with_one_that_waits ();
    confirm_waiting (term);
    report (THIRD, OWN_PLACE, term);
    ck_assert_uint_eq (entry_at (0)->token, claimed.token);
    now_ms += 250;
    tick ();
    ck_assert_uint_eq (lk_node_table (node)->audits.count, 1);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("limits");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, a_set_that_is_not_all_at_home_here);
    tcase_add_test (tests, a_full_stream_takes_nothing);
    tcase_add_test (tests, a_full_stream_makes_no_digest);
    tcase_add_test (tests, a_full_table);
    tcase_add_test (tests, hosts_have_names);
    tcase_add_test (tests, a_claim_for_another_home);
    tcase_add_test (tests, two_hosts_claim_one_object);
    tcase_add_test (tests, what_is_confirmed_is_not_looked_after);
    tcase_add_test (tests, confirmed_as_waiting_it_is_not_confirmed_as_held);
    Suite *suite = suite_create ("core_limits");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
