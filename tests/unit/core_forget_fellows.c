/*  core_forget_fellows.c - whom a leader needs for what its fellows lack
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  leading.h is the world; hosts 5 and 6 have applications. An operation that
 *  not all leaders have names hosts to them, and is told when they have it.
 */

#include "leading.h"

#include "alert.h"
#include "lib/suite.h"

#define HOST 5
#define OTHER 6

static char text[16];

static bool
is_spare (lk_host host)
{
    return lk_node_find_spare (node, LK_HOST_BIT (host), false) == host;
}

static lk_msg_request
request_of (lk_host host, uint64_t serial)
{
    return (lk_msg_request) {.ticket = {.request = {host, 1, serial},
                                        .object = object_at (OWN_PLACE, text),
                                        .owner = {"app@h5", 6}},
                             .queue = true,
                             .at = now_ms};
}

static void
say (lk_lock_kind kind, const lk_msg_request *request)
{
    lk_lock_message message = message_of (kind);
    message.as.request = *request;
    give (request->ticket.request.host, &message);
}

static void
lock (lk_host host, uint64_t serial)
{
    const lk_msg_request request = request_of (host, serial);
    say (LK_MSG_LOCK, &request);
}

static void
unlock (lk_host host, uint64_t serial)
{
    const lk_msg_request request = request_of (host, serial);
    say (LK_MSG_UNLOCK, &request);
}

/*  All that there is, by both. */
static void
all_acked (void)
{
    const uint64_t sequence = lk_node_table (node)->sequence[OWN_PLACE];
    acked (FIRST, sequence);
    acked (THIRD, sequence);
    ck_assert_uint_eq (leader ().unacked, 0);
}

/*  Its ticket is gone from the table, but not from what the others lack. */
START_TEST (whose_end_is_under_way)
{
    lock (HOST, 1);
    all_acked ();
    ck_assert (!is_spare (HOST));
    unlock (HOST, 1);
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    lk_plant_logged (node, 0)->notices.count = 0;
    ck_assert (!is_spare (HOST));
    all_acked ();
    ck_assert (is_spare (HOST));
}
END_TEST

START_TEST (who_asked_for_the_end_of_another)
{
    lk_msg_request end = request_of (OTHER, 1);
    lock (HOST, 1);
    all_acked ();
    end.by_key = true;
    end.ticket.key = entry_at (0)->key;
    say (LK_MSG_UNLOCK, &end);
    ck_assert (is_spare (OTHER));
    unlock (HOST, 1);
    lk_plant_logged (node, 0)->notices.count = 0;
    ck_assert (!is_spare (OTHER));
    all_acked ();
    ck_assert (is_spare (OTHER));
    say (LK_MSG_UNLOCK, &end);
    ck_assert_int_eq (lk_plant_logged (node, 0)->op.kind, LK_OP_CONFIRM);
    ck_assert_uint_eq (lk_plant_logged (node, 0)->op.by.host, OTHER);
    ck_assert (!is_spare (OTHER));
}
END_TEST

/*  It was granted by an operation about another host. */
START_TEST (who_is_to_be_told)
{
    lock (HOST, 1);
    lock (OTHER, 1);
    all_acked ();
    unlock (HOST, 1);
    unlock (OTHER, 1);
    lk_plant_logged (node, 1)->op.ticket.request.host = HOST;
    lk_plant_logged (node, 1)->notices.count = 0;
    ck_assert_uint_eq (lk_node_table (node)->count, 0);
    ck_assert (!is_spare (OTHER));
}
END_TEST

/*  The rest of a set is written with whose it is. */
START_TEST (who_is_named_by_tickets)
{
    lk_ticket rest = {.request = {OTHER, 1, 2},
                      .object = object_at (OWN_PLACE, text),
                      .owner = {"app@h5", 6}};
    lk_msg_request set = request_of (HOST, 1);
    set.rest = &rest;
    set.rest_count = 1;
    say (LK_MSG_LOCK, &set);
    ck_assert (!is_spare (OTHER));
    all_acked ();
    ck_assert (is_spare (OTHER));
    ck_assert (!is_spare (HOST));
}
END_TEST

/*  As long as somebody may lack it. */
START_TEST (whose_table_was_wrong)
{
    lk_alert_raise (lk_node_leader (node),
                    &(lk_msg_alert) {.host = HOST, .home = OTHER});
    ck_assert (!is_spare (HOST) && !is_spare (OTHER));
    lk_plant (node).core->now_ms += LK_ALERT_MS;
    ck_assert (is_spare (HOST) && is_spare (OTHER));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("forget");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, whose_end_is_under_way);
    tcase_add_test (tests, who_asked_for_the_end_of_another);
    tcase_add_test (tests, who_is_to_be_told);
    tcase_add_test (tests, who_is_named_by_tickets);
    tcase_add_test (tests, whose_table_was_wrong);
    Suite *suite = suite_create ("core_forget_fellows");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
