/*  judge.c - the judge of histories notices what it is there to notice
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Each test tells it a short history, in which a line may be written anywhere:
 *  time is in the first column.
 */

#include "lib/judge.h"
#include "lib/suite.h"
#include "sim/checker.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *said;
static lk_verdict verdict;

static void
read_text (lk_history *history, const char *text)
{
    char path[] = "/tmp/judge-XXXXXX";
    const int fd = mkstemp (path);
    ck_assert_int_ge (fd, 0);
    ck_assert_int_eq (write (fd, text, strlen (text)), (int) strlen (text));
    close (fd);
    ck_assert (lk_history_read (history, path, NULL));
    unlink (path);
}

static void
judge_with (const char *text, bool told)
{
    const lk_judge_options options = {.told = told, .grace_ms = 100};
    lk_history history = {.count = 0};
    size_t size;
    read_text (&history, text);
    free (said);
    FILE *complaints = open_memstream (&said, &size);
    verdict = lk_judge (&history, &options, complaints);
    fclose (complaints);
    lk_history_clear (&history);
}

static void
is_well (const char *text)
{
    judge_with (text, false);
    ck_assert_str_eq (said, "");
    ck_assert_uint_eq (verdict.violations, 0);
}

/*  One violation, of that rule. */
static void
is_wrong (const char *rule, const char *text)
{
    judge_with (text, false);
    ck_assert_msg (verdict.violations == 1, "%s", said);
    ck_assert_msg (strncmp (said, rule, strlen (rule)) == 0
                       && said[strlen (rule)] == ':',
                   "not '%s': %s", rule, said);
}

/*  -------------------------------------------------------- holders */

START_TEST (one_after_the_other)
{
    is_well ("10 h1/1 asked 1 gate -1 -\n"
             "20 h1/1 granted 1 gate 7 -\n"
             "25 h2/1 asked 1 gate -1 -\n"
             "30 h1/1 unlock 1 gate 0 -\n"
             "31 h2/1 granted 1 gate 8 -\n"
             "32 h1/1 released 1 gate 0 -\n");
    ck_assert_uint_eq (verdict.requests, 2);
    ck_assert_uint_eq (verdict.granted, 2);
    ck_assert_uint_eq (verdict.released, 1);
}
END_TEST

START_TEST (two_objects)
{
    is_well ("10 h1/1 asked 1 gate -1 -\n"
             "20 h1/1 granted 1 gate 7 -\n"
             "25 h1/1 asked 2 door -1 -\n"
             "31 h1/1 granted 2 door 7 -\n");
}
END_TEST

START_TEST (two_holders)
{
    is_wrong ("checker", "10 h1/1 asked 1 gate -1 -\n"
                         "20 h1/1 granted 1 gate 7 -\n"
                         "25 h2/1 asked 1 gate -1 -\n"
                         "31 h2/1 granted 1 gate 8 -\n"
                         "32 h1/1 unlock 1 gate 0 -\n"
                         "33 h1/1 released 1 gate 0 -\n");
}
END_TEST

/*  A grant that is heard when its duration is over is not believed in. */
START_TEST (a_grant_that_is_heard_late)
{
    is_well ("1000000 h1/1 asked 1 gate -1 10\n"
             "2000000 h2/1 asked 1 gate -1 -\n"
             "30000000 h2/1 granted 1 gate 8 -\n"
             "35000000 h2/1 unlock 1 gate 0 -\n"
             "36000000 h2/1 released 1 gate 0 -\n"
             "40100000 h1/1 granted 1 gate 7 40\n"
             "40200000 h1/1 unlock 1 gate 0 -\n"
             "40300000 h1/1 released 1 gate 0 -\n");
    is_wrong ("checker", "1000000 h1/1 asked 1 gate -1 10\n"
                         "2000000 h2/1 asked 1 gate -1 -\n"
                         "30000000 h2/1 granted 1 gate 8 -\n"
                         "35000000 h2/1 unlock 1 gate 0 -\n"
                         "36000000 h2/1 released 1 gate 0 -\n"
                         "39100000 h1/1 granted 1 gate 7 40\n"
                         "39200000 h1/1 unlock 1 gate 0 -\n"
                         "39300000 h1/1 released 1 gate 0 -\n");
}
END_TEST

START_TEST (a_holder_that_others_passed_by)
{
    is_wrong ("checker", "10 h1/1 asked 1 gate -1 -\n"
                         "20 h1/1 granted 1 gate 7 -\n"
                         "20 h1/2 asked 1 gate -1 -\n"
                         "31 h1/2 granted 1 gate 8 -\n");
}
END_TEST

START_TEST (a_process_ends)
{
    is_well ("10 h1/1 asked 1 gate -1 -\n"
             "20 h1/1 granted 1 gate 7 -\n"
             "25 h2/1 asked 1 gate -1 -\n"
             "30 h1/1 ended 0 - 0 -\n"
             "31 h2/1 granted 1 gate 8 -\n");
    ck_assert_uint_eq (verdict.ended, 1);
    ck_assert_uint_eq (verdict.orphaned, 1);
    is_wrong ("checker", "10 h1/1 asked 1 gate -1 -\n"
                         "20 h1/1 granted 1 gate 7 -\n"
                         "25 h2/1 asked 1 gate -1 -\n"
                         "31 h2/1 granted 1 gate 8 -\n"
                         "32 h1/1 ended 0 - 0 -\n");
    is_wrong ("checker", "10 h1/1 asked 1 gate -1 -\n"
                         "20 h1/1 granted 1 gate 7 -\n"
                         "25 h2/1 asked 1 gate -1 -\n"
                         "30 h1/2 ended 0 - 0 -\n"
                         "31 h2/1 granted 1 gate 8 -\n");
}
END_TEST

/*  Its own note, and that of who kills it: in any order, the first counts. */
START_TEST (a_process_ends_twice)
{
    is_well ("10 h1/1 asked 1 gate -1 -\n"
             "20 h1/1 granted 1 gate 7 -\n"
             "25 h2/1 asked 1 gate -1 -\n"
             "30 h1/1 ended 0 - 0 -\n"
             "31 h2/1 granted 1 gate 8 -\n"
             "32 h1/1 ended 0 - 0 -\n");
    ck_assert_uint_eq (verdict.ended, 1);
    is_wrong ("checker", "10 h1/1 asked 1 gate -1 -\n"
                         "20 h1/1 granted 1 gate 7 -\n"
                         "25 h2/1 asked 1 gate -1 -\n"
                         "29 h2/1 granted 1 gate 8 -\n"
                         "30 h1/1 ended 0 - 0 -\n"
                         "32 h1/1 ended 0 - 0 -\n");
}
END_TEST

START_TEST (a_number_comes_again)
{
    is_well ("10 h1/1.5 asked 1 gate -1 -\n"
             "20 h1/1.5 granted 1 gate 7 -\n"
             "30 h1/1.5 ended 0 - 0 -\n"
             "40 h1/1.6 asked 1 gate -1 -\n"
             "50 h1/1.6 granted 1 gate 8 -\n");
    ck_assert_uint_eq (verdict.requests, 2);
    is_wrong ("checker", "10 h1/1.5 asked 1 gate -1 -\n"
                         "20 h1/1.5 granted 1 gate 7 -\n"
                         "40 h1/1.6 asked 1 gate -1 -\n"
                         "50 h1/1.6 granted 1 gate 8 -\n");
}
END_TEST

START_TEST (held_counts_from_when_it_was_last_true)
{
    is_well ("10 h1/1 asked 1 gate -1 -\n"
             "20 h1/1 granted 1 gate 7 -\n"
             "25 h2/1 asked 1 gate -1 -\n"
             "26 h1 fault 0 - 0 cut\n"
             "31 h2/1 granted 1 gate 8 -\n"
             "33 h1/1 unheld 1 gate 30 -\n"
             "34 h1/1 lost 1 gate 30 isolated\n");
    is_wrong ("checker", "10 h1/1 asked 1 gate -1 -\n"
                         "20 h1/1 granted 1 gate 7 -\n"
                         "25 h2/1 asked 1 gate -1 -\n"
                         "31 h2/1 granted 1 gate 8 -\n"
                         "33 h1/1 unheld 1 gate 32 -\n");
}
END_TEST

START_TEST (what_was_never_held_is_nobodys)
{
    is_well ("10 h1/1 asked 1 gate -1 -\n"
             "25 h2/1 asked 1 gate -1 -\n"
             "31 h2/1 granted 1 gate 8 -\n"
             "32 h1/1 granted 1 gate 7 -\n"
             "33 h1/1 unheld 1 gate 0 -\n");
}
END_TEST

START_TEST (told_before_another_gets_it)
{
    judge_with ("10 h1/1 asked 1 gate -1 -\n"
                "20 h1/1 granted 1 gate 7 -\n"
                "25 h2/1 asked 1 gate -1 -\n"
                "31 h2/1 granted 1 gate 8 -\n"
                "33 h1/1 unheld 1 gate 30 -\n",
                true);
    ck_assert_uint_eq (verdict.violations, 1);
    ck_assert_ptr_nonnull (strstr (said, "TWO HOLDERS"));
    judge_with ("10 h1/1 asked 1 gate -1 -\n"
                "20 h1/1 granted 1 gate 7 -\n"
                "25 h2/1 asked 1 gate -1 -\n"
                "33 h1/1 unheld 1 gate 30 -\n"
                "34 h2/1 granted 1 gate 8 -\n",
                true);
    ck_assert_str_eq (said, "");
}
END_TEST

START_TEST (tokens_grow)
{
    is_wrong ("checker", "10 h1/1 asked 1 gate -1 -\n"
                         "20 h1/1 granted 1 gate 7 -\n"
                         "25 h2/1 asked 1 gate -1 -\n"
                         "30 h1/1 unlock 1 gate 0 -\n"
                         "31 h1/1 released 1 gate 0 -\n"
                         "32 h2/1 granted 1 gate 7 -\n");
}
END_TEST

START_TEST (a_duration_and_its_grace)
{
    const char *const held = "1000000 h1/1 asked 1 gate -1 -\n"
                             "2000000 h1/1 granted 1 gate 7 100\n";
    char text[500];
    snprintf (text, sizeof text, "%s%s", held,
              "50000000 h1/1 lost 1 gate 49000000 timedout\n");
    is_wrong ("checker", text);
    ck_assert_ptr_nonnull (strstr (said, "too early"));
    snprintf (text, sizeof text, "%s%s", held,
              "100000000 h1/1 lost 1 gate 99000000 timedout\n"
              "150000000 h2/1 asked 1 gate -1 -\n"
              "151000000 h2/1 granted 1 gate 8 -\n"
              "152000000 h1/1 unlock 1 gate 0 -\n"
              "153000000 h1/1 released 1 gate 0 -\n");
    is_wrong ("checker", text);
    ck_assert_ptr_nonnull (strstr (said, "NO GRACE"));
    snprintf (text, sizeof text, "%s%s", held,
              "100000000 h1/1 lost 1 gate 99000000 timedout\n"
              "150000000 h2/1 asked 1 gate -1 -\n"
              "151000000 h1/1 unlock 1 gate 0 -\n"
              "152000000 h2/1 granted 1 gate 8 -\n"
              "153000000 h1/1 released 1 gate 0 -\n");
    is_well (text);
}
END_TEST

START_TEST (a_wait_ends_neither_early_nor_late)
{
    is_wrong ("checker", "1000000 h1/1 asked 1 gate 100 -\n"
                         "90000000 h1/1 failed 1 gate 0 timedout\n");
    is_well ("1000000 h1/1 asked 1 gate 100 20\n"
             "90000000 h1/1 failed 1 gate 0 timedout\n");
    is_wrong ("checker", "1000000 h1/1 asked 1 gate 100 -\n"
                         "5103000000 h1/1 granted 1 gate 7 -\n");
}
END_TEST

START_TEST (more_hosts_than_can_be)
{
    char text[1000];
    size_t size = 0;
    for (int i = 0; i <= SIM_HOSTS_MAX; i++) {
        size += (size_t) snprintf (text + size, sizeof text - size,
                                   "10 h%d/1 asked 1 gate 0 -\n"
                                   "20 h%d/1 ended 0 - 0 -\n",
                                   i, i);
    }
    judge_with (text, false);
    ck_assert_ptr_nonnull (strstr (said, "hosts: h9/1"));
}
END_TEST

/*  -------------------------------------------------------- answers */

START_TEST (every_request_is_answered)
{
    is_wrong ("answer", "10 h1/1 asked 1 gate -1 -\n");
    is_well ("10 h1/1 asked 1 gate -1 -\n"
             "20 h1/1 ended 0 - 0 -\n");
    is_well ("10 h1/1 asked 1 gate 0 -\n"
             "20 h1/1 failed 1 gate 0 full\n");
    ck_assert_uint_eq (verdict.failed, 1);
    is_well ("10 h1/1 asked 1 gate 0 -\n"
             "20 h1/1 unlock 1 gate 0 -\n"
             "30 h1/1 released 1 gate 0 -\n");
    ck_assert_uint_eq (verdict.taken_back, 1);
}
END_TEST

START_TEST (every_release_is_answered)
{
    is_wrong ("answer", "10 h1/1 asked 1 gate -1 -\n"
                        "20 h1/1 granted 1 gate 7 -\n"
                        "30 h1/1 unlock 1 gate 0 -\n");
    is_well ("10 h1/1 asked 1 gate -1 -\n"
             "20 h1/1 granted 1 gate 7 -\n"
             "30 h1/1 unlock 1 gate 0 -\n"
             "40 h1/1 ended 0 - 0 -\n");
}
END_TEST

START_TEST (failures_come_in_time)
{
    is_well ("1000000 h1/1 asked 1 gate 100 -\n"
             "5101000000 h1/1 failed 1 gate 0 timedout\n");
    is_well ("1000000 h1/1 asked 1 gate 100 -\n"
             "2000000 h1 fault 0 - 0 paused-apps\n"
             "5103000000 h1/1 failed 1 gate 0 timedout\n");
    is_wrong ("late", "1000000 h1/1 asked 1 gate 100 -\n"
                      "5103000000 h1/1 failed 1 gate 0 timedout\n");
}
END_TEST

START_TEST (nothing_is_answered_twice)
{
    is_wrong ("twice", "10 h1/1 asked 1 gate -1 -\n"
                       "20 h1/1 granted 1 gate 7 -\n"
                       "30 h1/1 granted 1 gate 8 -\n");
    is_wrong ("twice", "10 h1/1 asked 1 gate -1 -\n"
                       "20 h1/1 granted 1 gate 7 -\n"
                       "30 h1/1 failed 1 gate 0 timedout\n");
    is_wrong ("twice", "10 h1/1 asked 1 gate -1 -\n"
                       "20 h1/1 unlock 1 gate 0 -\n"
                       "30 h1/1 released 1 gate 0 -\n"
                       "40 h1/1 granted 1 gate 8 -\n");
    is_wrong ("twice", "10 h1/1 asked 1 gate -1 -\n"
                       "20 h1/1 granted 1 gate 7 -\n"
                       "30 h1/1 unlock 1 gate 0 -\n"
                       "40 h1/1 released 1 gate 0 -\n"
                       "50 h1/1 released 1 gate 0 -\n");
    is_wrong ("twice", "10 h1/1 asked 1 gate -1 -\n"
                       "20 h1/1 granted 1 gate 7 0\n"
                       "30 h1/1 lost 1 gate 25 timedout\n"
                       "40 h1/1 lost 1 gate 25 timedout\n");
    is_wrong ("twice", "10 h1/1 asked 1 gate -1 -\n"
                       "20 h1/1 granted 1 gate 7 -\n"
                       "30 h1/1 unlock 1 gate 0 -\n"
                       "40 h1/1 released 1 gate 0 -\n"
                       "50 h1/1 lost 1 gate 25 timedout\n");
}
END_TEST

START_TEST (no_answer_without_a_question)
{
    is_wrong ("order", "20 h1/1 failed 1 gate 0 full\n");
    is_wrong ("order", "10 h1/1 asked 1 gate -1 -\n"
                       "15 h1/1 asked 1 gate -1 -\n"
                       "20 h1/1 failed 1 gate 0 full\n");
    is_wrong ("order", "10 h1/1 asked 1 gate -1 -\n"
                       "15 h1/1 lost 1 gate 0 timedout\n"
                       "20 h1/1 failed 1 gate 0 full\n");
    is_wrong ("order", "10 h1/1 asked 1 gate -1 -\n"
                       "15 h1/1 granted 1 gate 7 -\n"
                       "20 h1/1 released 1 gate 0 -\n");
}
END_TEST

/*  -------------------------------------------------------- losses */

#define HELD                                                                   \
    "10 h1/1 asked 1 gate -1 -\n"                                              \
    "20 h1/1 granted 1 gate 7 -\n"

START_TEST (a_loss_has_a_cause)
{
    is_wrong ("lost", HELD "30 h1/1 lost 1 gate 25 isolated\n");
    is_wrong ("lost", HELD "25 h2 fault 0 - 0 lockd\n"
                           "30 h1/1 lost 1 gate 25 isolated\n");
    is_wrong ("lost", HELD "25 h12 fault 0 - 0 lockd\n"
                           "30 h1/1 lost 1 gate 25 isolated\n");
    is_wrong ("lost", HELD "5 h1 fault 0 - 0 lockd\n"
                           "8 h1 healed 0 - 0 -\n"
                           "30 h1/1 lost 1 gate 25 isolated\n");
    is_wrong ("lost", HELD "30 h1/1 lost 1 gate 25 isolated\n"
                           "35 h1 fault 0 - 0 lockd\n");
    is_well (HELD "25 h1 fault 0 - 0 lockd\n"
                  "26 h1 healed 0 - 0 -\n"
                  "30 h1/1 lost 1 gate 25 isolated\n");
    ck_assert_uint_eq (verdict.lost, 1);
    ck_assert_uint_eq (verdict.faults, 1);
    is_well (HELD "5 h1 fault 0 - 0 lockd\n"
                  "30 h1/1 lost 1 gate 25 isolated\n");
    is_well ("10 h1/1 asked 1 gate -1 0\n"
             "20 h1/1 granted 1 gate 7 0\n"
             "30 h1/1 lost 1 gate 25 timedout\n");
    ck_assert_uint_eq (verdict.timedout, 1);
}
END_TEST

/*  -------------------------------------------------------- the rest */

START_TEST (pauses)
{
    lk_history history = {.count = 0};
    read_text (&history, "100 h1/1 granted 1 gate 1 -\n"
                         "150 h2/1 granted 1 gate 2 -\n"
                         "160 h1/1 granted 2 door 3 -\n"
                         "190 h1/1 granted 3 gate 4 -\n"
                         "300 h3/1 granted 1 gate 5 -\n");
    ck_assert_int_eq (lk_judge_pause (&history, "h1,h2", "gate", 120, 200), 40);
    ck_assert_int_eq (lk_judge_pause (&history, "h1", "gate", 120, 200), 70);
    ck_assert_int_eq (lk_judge_pause (&history, "h1", "gate", 100, 400), 210);
    ck_assert_int_eq (lk_judge_pause (&history, "h1,h3", "gate", 0, 310), 110);
    ck_assert_int_eq (lk_judge_pause (&history, "h2", "door", 100, 400), 300);
    lk_history_clear (&history);
}
END_TEST

START_TEST (what_is_noted_can_be_read)
{
    const lk_history_event event = {.process = "h1/77",
                                    .kind = LK_HISTORY_LOST,
                                    .request = 5,
                                    .object = "gate",
                                    .number = -3,
                                    .word = "isolated"};
    char path[] = "/tmp/judge-XXXXXX";
    close (mkstemp (path));
    const int fd = lk_history_open (path);
    lk_history_note (fd, &event);
    close (fd);
    lk_history history = {.count = 0};
    ck_assert (lk_history_read (&history, path, NULL));
    ck_assert_uint_eq (history.count, 1);
    const lk_history_event *read = &history.event[0];
    ck_assert_int_gt (read->ns, 0);
    ck_assert_str_eq (read->process, "h1/77");
    ck_assert_int_eq (read->kind, LK_HISTORY_LOST);
    ck_assert_uint_eq (read->request, 5);
    ck_assert_str_eq (read->object, "gate");
    ck_assert_int_eq (read->number, -3);
    ck_assert_str_eq (read->word, "isolated");
    lk_history_clear (&history);
    unlink (path);
    ck_assert (!lk_history_read (&history, "/no/such", NULL));
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("judge");
    TCase *tests = tcase_create ("judge");
    tcase_add_test (tests, one_after_the_other);
    tcase_add_test (tests, two_objects);
    tcase_add_test (tests, two_holders);
    tcase_add_test (tests, a_grant_that_is_heard_late);
    tcase_add_test (tests, a_holder_that_others_passed_by);
    tcase_add_test (tests, a_process_ends);
    tcase_add_test (tests, a_process_ends_twice);
    tcase_add_test (tests, a_number_comes_again);
    tcase_add_test (tests, held_counts_from_when_it_was_last_true);
    tcase_add_test (tests, what_was_never_held_is_nobodys);
    tcase_add_test (tests, told_before_another_gets_it);
    tcase_add_test (tests, tokens_grow);
    tcase_add_test (tests, a_duration_and_its_grace);
    tcase_add_test (tests, a_wait_ends_neither_early_nor_late);
    tcase_add_test (tests, more_hosts_than_can_be);
    tcase_add_test (tests, every_request_is_answered);
    tcase_add_test (tests, every_release_is_answered);
    tcase_add_test (tests, failures_come_in_time);
    tcase_add_test (tests, nothing_is_answered_twice);
    tcase_add_test (tests, no_answer_without_a_question);
    tcase_add_test (tests, a_loss_has_a_cause);
    tcase_add_test (tests, pauses);
    tcase_add_test (tests, what_is_noted_can_be_read);
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
