/*  sim_checker_said.c - the simulator's judge compares what is told with tables
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Looks into the tables of three leaders, told by hand.
 */

#include "sim_fake.h"

#include "lib/suite.h"
#include "table.h"

#define TERM 2
#define TOKEN ((uint64_t) TERM << 32 | 10)
#define KEY (TOKEN * 10 + 1) /* as grant_of () has it */

/*  They lead since 500 ms, and have ten operations of each other. */
static void
set_up_leaders (void)
{
    set_up ();
    checker.any_in_force = true;
    checker.known_count = 1;
    checker.known[0] = (sim_known_decree) {
        .decree = {.term = {TERM, 1}, .leader_count = 3, .leader = {0, 1, 2}},
        .in_force_at = 500};
    (void) sim_checker_need_object (&checker, gate);
}

static void
have (size_t place, uint64_t count)
{
    size_t home = lk_home_of (sim_checker_latest (&checker), gate);

    checker.known[0].has[home][place] = count;
}

static lk_ticket
held (lk_lock_type type, uint32_t turn)
{
    return (lk_ticket) {.object = gate,
                        .key = KEY,
                        .token = TOKEN,
                        .number = TOKEN,
                        .ordinal = 1,
                        .turn = turn,
                        .mode = {.type = type}};
}

static void
end_look (size_t place, uint64_t count)
{
    sim_service *service = &checker.service[place];

    service->seen_in = 1;
    service->look = checker.look;
    for (size_t home = 0; home < 3; home++) {
        service->read[home] = count;
    }
    have (place, count);
}

/*  The leader of that place has it so, and as many operations. */
static void
look (size_t place, lk_ticket ticket, uint64_t count)
{
    checker.look++;
    sim_said_note (&checker, place, &ticket,
                   checker.service[place].seen_in == 1);
    end_look (place, count);
}

static void
look_in_vain (size_t place, uint64_t count)
{
    checker.look++;
    end_look (place, count);
}

static void
tell (lk_lock_type type, uint32_t turn, uint32_t ordinal, bool kept)
{
    sim_said_told (&checker, &(sim_telling) {.key = KEY,
                                             .token = TOKEN,
                                             .type = type,
                                             .ordinal = ordinal,
                                             .turn = turn,
                                             .kept = kept});
    sim_said_compare (&checker);
}

static void
expect_told_wrong (void)
{
    expect ("TOLD");
    set_up_leaders ();
}

static void
expect_fine (void)
{
    expect_nothing ();
    set_up_leaders ();
}

/*  All have its grant; then its home makes it shared. */
static void
grant_and_change (void)
{
    for (size_t place = 0; place < 3; place++) {
        look_in_vain (place, 9);
        look (place, held (LK_EXCLUSIVE, 0), 10);
    }
    look (0, held (LK_SHARED, 1), 11);
}

START_TEST (what_all_have_may_be_told)
{
    grant_and_change ();
    tell (LK_EXCLUSIVE, 0, 1, false);
    have (1, 11);
    have (2, 11);
    tell (LK_SHARED, 1, 1, false);
    tell (LK_EXCLUSIVE, 0, 0, false);
    expect_fine ();
}
END_TEST

START_TEST (a_grant_that_one_lacks)
{
    look_in_vain (0, 9);
    look (0, held (LK_EXCLUSIVE, 0), 10);
    have (1, 10);
    have (2, 9);
    tell (LK_EXCLUSIVE, 0, 1, false);
    expect_told_wrong ();
}
END_TEST

START_TEST (what_became_of_it_later)
{
    grant_and_change ();
    tell (LK_SHARED, 0, 1, false);
    expect_told_wrong ();
    grant_and_change ();
    tell (LK_SHARED, 1, 1, false);
    expect_told_wrong ();
    grant_and_change ();
    tell (LK_EXCLUSIVE, 0, 2, false);
    expect_told_wrong ();
}
END_TEST

START_TEST (an_application_is_told)
{
    grant_and_change ();
    get (0, 1, (lk_lock_mode) {.type = LK_EXCLUSIVE}, TOKEN, 1);
    sim_said_compare (&checker);
    expect_fine ();
    grant_and_change ();
    get (0, 1, shared, TOKEN, 1);
    sim_said_compare (&checker);
    expect_told_wrong ();
}
END_TEST

START_TEST (told_to_be_kept)
{
    lk_ticket kept = held (LK_EXCLUSIVE, 0);

    kept.kept = true;
    for (size_t place = 0; place < 3; place++) {
        look_in_vain (place, 9);
        look (place, held (LK_EXCLUSIVE, 0), 10);
    }
    look (0, kept, 11);
    tell (LK_EXCLUSIVE, 0, 1, true);
    expect_told_wrong ();
    look (0, kept, 11);
    have (1, 11);
    have (2, 11);
    tell (LK_EXCLUSIVE, 0, 1, true);
    expect_fine ();
}
END_TEST

/*  The next leaders have all that they began with. */
START_TEST (a_later_decree_has_it)
{
    look_in_vain (0, 9);
    look (0, held (LK_EXCLUSIVE, 0), 10);
    checker.known[1] = checker.known[0];
    checker.known[1].decree.term.number++;
    memset (checker.known[1].has, 0, sizeof checker.known[1].has);
    checker.known_count = 2;
    checker.latest = 1;
    checker.look++;
    lk_ticket ticket = held (LK_EXCLUSIVE, 0);
    sim_said_note (&checker, 1, &ticket, true);
    tell (LK_EXCLUSIVE, 0, 1, false);
    expect_fine ();
}
END_TEST

/*  -------------------------------------------------------- LOCKCHECK */

START_TEST (held_by_somebody)
{
    look (1, held (LK_EXCLUSIVE, 0), 10);
    sim_checker_checked (&checker, gate, TOKEN, true, TOKEN, 900);
    expect_fine ();
    sim_checker_checked (&checker, gate, TOKEN, true, TOKEN, 900);
    expect_fine (); /* nobody looked: it may be in a reclaim */
    look (1, held (LK_EXCLUSIVE, 0), 10);
    look_in_vain (1, 11);
    sim_checker_checked (&checker, gate, TOKEN, true, TOKEN, 900);
    expect ("CHECK");
    set_up_leaders ();
    look (1, held (LK_EXCLUSIVE, 0), 10);
    look_in_vain (1, 11);
    checker.object[0].vanished_at = 900;
    sim_checker_checked (&checker, gate, TOKEN, true, TOKEN, 900);
    expect_fine ();
    checker.known[0].in_force_at = 900;
    sim_checker_checked (&checker, gate, TOKEN, true, TOKEN, 900);
    expect_fine ();
}
END_TEST

/*  Decree 3 is elected when host 2 led by a decree until then. */
static void
elect (uint64_t led, int64_t until, lk_host holder)
{
    const lk_decree decree = {.term = {3, 1}};

    checker.service[2].leads = (lk_term) {led, 1};
    checker.service[2].leads_until = until;
    sim_checker_elects (&checker, &decree, holder);
}

/*  A former leader may tell for a while, and a decree that takes all back waits
 *  for that. */
START_TEST (a_reclaim_waits_for_who_led)
{
    elect (3, 1001, LK_NOBODY);
    elect (2, 1001, 2);
    elect (2, 1000, LK_NOBODY);
    expect_nothing ();
    elect (2, 1001, LK_NOBODY);
    expect ("STILL LEADS");
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("sim_checker_said");
    TCase *test_case = tcase_create ("said");

    suite_add_tcase (suite, test_case);
    tcase_add_checked_fixture (test_case, set_up_leaders, NULL);
    tcase_add_test (test_case, what_all_have_may_be_told);
    tcase_add_test (test_case, a_grant_that_one_lacks);
    tcase_add_test (test_case, what_became_of_it_later);
    tcase_add_test (test_case, an_application_is_told);
    tcase_add_test (test_case, told_to_be_kept);
    tcase_add_test (test_case, a_later_decree_has_it);
    tcase_add_test (test_case, held_by_somebody);
    tcase_add_test (test_case, a_reclaim_waits_for_who_led);
    return lk_suite_run (suite);
}
