/*  pipe.c - a service and its router in one loop
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/pipe.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static lk_pipe it;
static lk_part part;
static char calls[32]; /* O: opened, M: messages */
static size_t messages;

static void
note (char what)
{
    const size_t size = strlen (calls);
    ck_assert_uint_lt (size + 1, sizeof calls);
    calls[size] = what;
    calls[size + 1] = '\0';
}

static void
on_sign (void *user)
{
    (void) user;
    note (lk_pipe_was_opened (&it) ? 'O' : 'M');
    ck_assert (!lk_pipe_was_opened (&it));
    while (lk_pipe_receive (&it, &part)) {
        messages++;
    }
}

static void
set_up (void)
{
    lk_pipe_init (&it);
    lk_part_init (&part);
    it.fn = on_sign;
    calls[0] = '\0';
    messages = 0;
}

static void
tear_down (void)
{
    lk_part_clear (&part);
    lk_pipe_clear (&it);
}

static void
fill (const char *text)
{
    lk_part_fill (&part, text, strlen (text));
}

static void
has (const char *text)
{
    ck_assert_uint_eq (lk_part_size (&part), strlen (text));
    ck_assert_mem_eq (lk_part_data (&part), text, strlen (text));
}

START_TEST (frames_keep_their_order_and_are_moved)
{
    lk_pipe_open (&it);
    fill ("one");
    ck_assert (lk_pipe_send (&it, &part));
    ck_assert_uint_eq (lk_part_size (&part), 0);
    fill ("two");
    ck_assert (lk_pipe_send (&it, &part));
    fill ("in");
    lk_pipe_give (&it, &part);
    ck_assert_uint_eq (lk_part_size (&part), 0);
    ck_assert (lk_pipe_take (&it, &part));
    has ("one");
    ck_assert (lk_pipe_take (&it, &part));
    has ("two");
    ck_assert (!lk_pipe_take (&it, &part));
    ck_assert (lk_pipe_receive (&it, &part));
    has ("in");
    ck_assert (!lk_pipe_receive (&it, &part));
}
END_TEST

START_TEST (a_service_is_told_once_that_it_is_open)
{
    ck_assert (!lk_pipe_deliver (&it));
    lk_pipe_open (&it);
    fill ("in");
    lk_pipe_give (&it, &part);
    fill ("in");
    lk_pipe_give (&it, &part);
    ck_assert (lk_pipe_deliver (&it));
    ck_assert_str_eq (calls, "O");
    ck_assert_uint_eq (messages, 2);
    ck_assert (!lk_pipe_deliver (&it));
    fill ("in");
    lk_pipe_give (&it, &part);
    ck_assert (lk_pipe_deliver (&it));
    ck_assert_str_eq (calls, "OM");
}
END_TEST

START_TEST (what_was_sent_before_the_end_is_taken)
{
    lk_pipe_open (&it);
    fill ("last");
    ck_assert (lk_pipe_send (&it, &part));
    fill ("in");
    lk_pipe_give (&it, &part);
    lk_pipe_close (&it);
    fill ("late");
    ck_assert (!lk_pipe_send (&it, &part));
    lk_pipe_give (&it, &part);
    ck_assert (!lk_pipe_receive (&it, &part));
    ck_assert (!lk_pipe_deliver (&it));
    ck_assert (lk_pipe_take (&it, &part));
    has ("last");
    ck_assert (!lk_pipe_take (&it, &part));
}
END_TEST

START_TEST (there_is_a_limit_for_the_router)
{
    size_t count = 0;
    lk_pipe_open (&it);
    fill ("x");
    while (count < 1000 && lk_pipe_send (&it, &part)) {
        count++;
        fill ("x");
    }
    ck_assert_uint_eq (count, 256);
    has ("x");
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("pipe");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_add_test (tcase, frames_keep_their_order_and_are_moved);
    tcase_add_test (tcase, a_service_is_told_once_that_it_is_open);
    tcase_add_test (tcase, what_was_sent_before_the_end_is_taken);
    tcase_add_test (tcase, there_is_a_limit_for_the_router);
    Suite *suite = suite_create ("pipe");
    suite_add_tcase (suite, tcase);
    SRunner *runner = srunner_create (suite);
    srunner_run_all (runner, CK_ENV);
    const int failed = srunner_ntests_failed (runner);
    srunner_free (runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
