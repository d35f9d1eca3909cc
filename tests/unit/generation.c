/*  generation.c - tests of a new beginning: who follows, and its text
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/suite.h"
#include "util/alloc.h"
#include "wire/lock_state.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/*  h1 and h2 go on without h3. */
static lk_generation second;
static const lk_generation first;

static void
set_up (void)
{
    second =
        (lk_generation) {.number = 1,
                         .id = 0xabc,
                         .above = 65600,
                         .settings = {3, {0x11, 0x22}},
                         .count = 2,
                         .member = {{"h1", 0xa1, 0xb1}, {"h2", 0xa2, 0xb2}}};
}

/*  -------------------------------------------------------- relations */

START_TEST (who_is_named_follows)
{
    ck_assert_int_eq (lk_generation_relate (&first, "h1", 0xa1, &second),
                      LK_GENERATION_FOLLOW);
    ck_assert_int_eq (lk_generation_relate (&second, "h1", 0xb1, &second),
                      LK_GENERATION_SAME);
}
END_TEST

/*  Another state file, another name, a host that is sworn dead. */
START_TEST (all_others_retire)
{
    ck_assert_int_eq (lk_generation_relate (&first, "h1", 0xa9, &second),
                      LK_GENERATION_RETIRE);
    ck_assert_int_eq (lk_generation_relate (&first, "h2", 0xa1, &second),
                      LK_GENERATION_RETIRE);
    ck_assert_int_eq (lk_generation_relate (&first, "h3", 0xa3, &second),
                      LK_GENERATION_RETIRE);
}
END_TEST

START_TEST (a_former_one_is_not_heard)
{
    ck_assert_int_eq (lk_generation_relate (&second, "h1", 0xb1, &first),
                      LK_GENERATION_EARLIER);
}
END_TEST

START_TEST (two_of_one_number_are_rivals)
{
    lk_generation other = second;
    other.id++;
    ck_assert_int_eq (lk_generation_relate (&second, "h1", 0xb1, &other),
                      LK_GENERATION_RIVAL);
    other.number++;
    other.member[0].former = 0xb1;
    ck_assert_int_eq (lk_generation_relate (&second, "h1", 0xb1, &other),
                      LK_GENERATION_FOLLOW);
}
END_TEST

/*  -------------------------------------------------------- states */

static lk_lock_state
state_of (uint64_t id)
{
    lk_lock_state state = {.id = id,
                           .cluster = "demo",
                           .genesis = 7,
                           .journal = 4,
                           .has_rival = true};
    state.facts = (lk_facts) {
        .promised = {9, 0xa3},
        .active = {.term = {8, 0xa1}, .members = 7, .leader_count = 1},
        .session = 12};
    return state;
}

START_TEST (a_member_begins_above_all)
{
    lk_hostmap hostmap;
    lk_lock_state state = state_of (0xa2);
    lk_hostmap_init (&hostmap);
    (void) lk_hostmap_intern (&hostmap, "h3", 0xa3);
    lk_lock_state_enter (&state, &hostmap, "h2", &second, 0xc2);
    ck_assert_uint_eq (state.id, 0xb2);
    ck_assert_uint_eq (hostmap.count, 2);
    ck_assert_uint_eq (lk_hostmap_find (&hostmap, "h2", 0xb2), 1);
    ck_assert_uint_eq (state.genesis, 3);
    ck_assert_uint_eq (state.facts.active.members, 3);
    ck_assert_uint_eq (state.facts.active.term.number, 0);
    ck_assert_uint_eq (state.facts.active.leader_count, 0);
    ck_assert_uint_eq (state.facts.active.settings.version, 3);
    ck_assert_uint_eq (state.facts.promised.number, 65600);
    ck_assert_uint_eq (state.facts.session, 12);
    ck_assert_uint_eq (state.journal, 0);
    ck_assert (!state.has_rival);
}
END_TEST

/*  Another survivor may have promised more than its founder knew of. */
START_TEST (its_own_promise_counts)
{
    lk_hostmap hostmap;
    lk_lock_state state = state_of (0xa2);
    state.facts.promised.number = 70000;
    lk_lock_state_enter (&state, &hostmap, "h2", &second, 0xc2);
    ck_assert_uint_eq (state.facts.promised.number, 70000);
}
END_TEST

START_TEST (another_begins_as_nobody)
{
    lk_hostmap hostmap;
    lk_lock_state state = state_of (0xa3);
    lk_lock_state_enter (&state, &hostmap, "h3", &second, 0xc3);
    ck_assert_uint_eq (state.id, 0xc3);
    ck_assert_uint_eq (state.genesis, 3);
    ck_assert_uint_eq (state.facts.active.members, 0);
    ck_assert_uint_eq (state.facts.promised.number, 0);
    ck_assert_uint_eq (state.facts.session, 12);
    ck_assert_str_eq (state.cluster, "demo");
}
END_TEST

START_TEST (it_is_on_disk)
{
    lk_hostmap hostmap;
    char problem[256];
    lk_lock_state again, state = state_of (0xa2);
    lk_lock_state_enter (&state, &hostmap, "h2", &second, 0xc2);
    state.has_rival = true;
    char *text = lk_lock_state_encode (&state, &hostmap);
    lk_hostmap_init (&hostmap);
    const lk_err error = lk_lock_state_decode (text, strlen (text), &hostmap,
                                               &again, problem, sizeof problem);
    ck_assert_msg (error == LK_OK, "%s: %s", problem, text);
    lk_free (text);
    ck_assert (lk_generation_equal (&again.generation, &second));
    ck_assert_uint_eq (again.generation.member[1].former, 0xa2);
    ck_assert (again.has_rival);
}
END_TEST

/*  -------------------------------------------------------- text */

#define TEXT                                                                   \
    "1 0000000000000abc 65600 3 00000000000000110000000000000022 "             \
    "h1:00000000000000a1:00000000000000b1 "                                    \
    "h2:00000000000000a2:00000000000000b2"

START_TEST (a_line)
{
    char text[LK_GENERATION_TEXT_SIZE];
    lk_generation again;
    lk_generation_write (&second, text);
    ck_assert_str_eq (text, TEXT);
    ck_assert (lk_generation_read (&again, text));
    ck_assert (lk_generation_equal (&again, &second));
    ck_assert_uint_eq (again.above, 65600);
    ck_assert_uint_eq (again.settings.hash[1], 0x22);
    ck_assert_str_eq (again.member[1].host, "h2");
}
END_TEST

START_TEST (the_first_has_none)
{
    char text[LK_GENERATION_TEXT_SIZE];
    lk_generation again = second;
    lk_generation_write (&first, text);
    ck_assert_str_eq (text, "");
    ck_assert (lk_generation_read (&again, ""));
    ck_assert_uint_eq (again.number, 0);
}
END_TEST

START_TEST (what_makes_no_sense)
{
    static const char *const wrong[] = {
        "1",
        "0 0000000000000abc 65600 3 00000000000000110000000000000022 "
        "h1:00000000000000a1:00000000000000b1",
        "1 0000000000000000 65600 3 00000000000000110000000000000022 "
        "h1:00000000000000a1:00000000000000b1",
        "1 0000000000000abc 9965600 3 00000000000000110000000000000022 "
        "h1:00000000000000a1:00000000000000b1",
        "1 0000000000000abc 65600 3 00000000000000110000000000000022",
        "1 0000000000000abc 65600 3 00000000000000110000000000000022 "
        "h1:00000000000000a1",
        "1 0000000000000abc 65600 3 00000000000000110000000000000022 "
        "h1:00000000000000a1:0000000000000000",
        "1 0000000000000abc 65600 3 00000000000000110000000000000022 "
        "h/1:00000000000000a1:00000000000000b1",
        TEXT " ",
        TEXT " h3",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        lk_generation read;
        ck_assert_msg (!lk_generation_read (&read, wrong[i]), "%s", wrong[i]);
    }
}
END_TEST

#undef TEXT

int
main (void)
{
    TCase *tests = tcase_create ("generation");
    tcase_add_checked_fixture (tests, set_up, NULL);
    tcase_add_test (tests, who_is_named_follows);
    tcase_add_test (tests, all_others_retire);
    tcase_add_test (tests, a_former_one_is_not_heard);
    tcase_add_test (tests, two_of_one_number_are_rivals);
    tcase_add_test (tests, a_member_begins_above_all);
    tcase_add_test (tests, its_own_promise_counts);
    tcase_add_test (tests, another_begins_as_nobody);
    tcase_add_test (tests, it_is_on_disk);
    tcase_add_test (tests, a_line);
    tcase_add_test (tests, the_first_has_none);
    tcase_add_test (tests, what_makes_no_sense);

    Suite *suite = suite_create ("generation");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
