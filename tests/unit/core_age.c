/*  core_age.c - by what all leaders count the duration of a lock
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  leading.h is the world; host 5 has applications. A home tells an end by its
 *  own copy of a lock, and a later home, whose copy may be older, keeps to it.
 *  lockkeeper-protocol(7), 9.11.
 */

#include "leading.h"

#include "lib/suite.h"
#include "unsaved.h"

#define HOST 5
#define DURATION 1000

static char text[16];

static void
say (int64_t duration_ms, uint64_t session, bool resume)
{
    lk_lock_message message = message_of (LK_MSG_LOCK);
    message.as.request =
        (lk_msg_request) {.ticket = {.request = {HOST, session, 1},
                                     .object = object_at (OWN_PLACE, text),
                                     .owner = {"app@h5", 6},
                                     .duration_ms = duration_ms},
                          .queue = true,
                          .resume = resume,
                          .at = now_ms};
    if (resume) {
        message.as.request.ticket.key = entry_at (0)->key;
        message.as.request.ticket.token = entry_at (0)->token;
    }
    give (HOST, &message);
}

/*  The operation that a fellow gets next. */
static lk_op
ordered (void)
{
    const lk_lock_message *ops = sent (LK_MSG_OPS, FIRST);
    ck_assert_ptr_nonnull (ops);
    ck_assert_uint_ge (ops->as.ops.op_count, 1);
    return ops->as.ops.ops[ops->as.ops.op_count - 1];
}

static void
all_acked (void)
{
    acked (FIRST, lk_node_table (node)->sequence[OWN_PLACE]);
    acked (THIRD, lk_node_table (node)->sequence[OWN_PLACE]);
}

START_TEST (a_home_says_it)
{
    say (DURATION, 1, false);
    all_acked ();
    now_ms += 50;
    say (DURATION, 1, false);
    ck_assert_int_eq (ordered ().kind, LK_OP_CONFIRM);
    ck_assert_int_eq (ordered ().ticket.age_ms, 50);
    all_acked ();
    now_ms += 50;
    say (DURATION, 2, true);
    ck_assert_int_eq (ordered ().kind, LK_OP_RESUME);
    ck_assert_int_eq (ordered ().ticket.age_ms, 100);
}
END_TEST

START_TEST (where_there_is_a_duration)
{
    say (0, 1, false);
    all_acked ();
    now_ms += 50;
    say (0, 1, false);
    ck_assert_int_eq (ordered ().kind, LK_OP_CONFIRM);
    ck_assert_int_eq (ordered ().ticket.age_ms, 0);
}
END_TEST

/*  -------------------------------------------------------- the copy */

static lk_table table;

static int64_t
copy_age (void)
{
    const lk_entry *entry = lk_table_listing (&table, 1)[0];
    return lk_entry_age (entry, now_ms);
}

static void
order (lk_op_kind kind, lk_ticket ticket)
{
    const lk_op op = {.kind = kind, .ticket = ticket, .by = {HOST, 1, 1}};
    lk_table_apply (&table, OWN_PLACE, &op, now_ms, NULL);
}

static lk_ticket
copy (int64_t duration_ms)
{
    lk_ticket ticket = {.request = {HOST, 1, 1},
                        .object = object_at (OWN_PLACE, text),
                        .key = 1,
                        .duration_ms = duration_ms};
    lk_table_init (&table);
    lk_table_begin (&table, &decree);
    order (LK_OP_ADD, ticket);
    ticket.token = lk_table_listing (&table, 1)[0]->token;
    ck_assert_uint_ne (ticket.token, 0);
    lk_unsaved_begin (&table);
    return ticket;
}

START_TEST (an_older_copy_takes_it)
{
    lk_ticket ticket = copy (DURATION);
    now_ms += 500;
    ticket.age_ms = 500;
    order (LK_OP_CONFIRM, ticket);
    ck_assert_uint_eq (table.unsaved_count, 0);
    ticket.age_ms = 100;
    order (LK_OP_CONFIRM, ticket);
    ck_assert_int_eq (copy_age (), 100);
    ck_assert_uint_eq (table.unsaved_count, 1); /* and the journal */
    now_ms += 10;
    ticket.age_ms = 300; /* of another home, before */
    order (LK_OP_CONFIRM, ticket);
    ck_assert_int_eq (copy_age (), 110);
    ticket.request.session = 2;
    ticket.age_ms = 70;
    order (LK_OP_RESUME, ticket);
    ck_assert_int_eq (copy_age (), 70);
    lk_table_clear (&table);
}
END_TEST

START_TEST (without_a_duration_people_see_its_own)
{
    lk_ticket ticket = copy (0);
    now_ms += 500;
    order (LK_OP_CONFIRM, ticket);
    ck_assert_int_eq (copy_age (), 500);
    lk_table_clear (&table);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("age");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, a_home_says_it);
    tcase_add_test (tests, where_there_is_a_duration);
    tcase_add_test (tests, an_older_copy_takes_it);
    tcase_add_test (tests, without_a_duration_people_see_its_own);
    Suite *suite = suite_create ("core_age");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
