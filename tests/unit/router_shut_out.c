/*  router_shut_out.c - when keys and addresses are shut out, and for how long
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "shut_out.h"

#include "lib/suite.h"

#include <stdio.h>
#include <string.h>

static lk_shut_out all;

static void
set_up (void)
{
    all = (lk_shut_out) {.count = 0};
}

static void
tear_down (void)
{
    lk_shut_out_clear (&all);
}

static bool
offends (const char *name, int64_t now_ms)
{
    return lk_shut_out_offend (&all, name, false, false, "lies", now_ms);
}

static bool
is_out (const char *name, int64_t now_ms)
{
    return lk_shut_out_find (&all, name, now_ms) != NULL;
}

START_TEST (places)
{
    static const char *const cases[][2] = {
        {"10.1.2.3", "10.1.2.3"},
        {"::ffff:10.1.2.3", "10.1.2.3"},
        {"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
        {"2001:db8:1:2::9", "2001:db8:1:2::/64"},
        {"fe80::1:2%eth0", "fe80::1:2"},
        {"126.255.255.255", "126.255.255.255"},
        {"127.0.0.1", ""},
        {"127.200.1.2", ""},
        {"::1", ""},
        {"::ffff:127.0.0.1", ""},
        {"h1", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char place[LK_PLACE_SIZE] = "x";
        ck_assert_int_eq (lk_place_of (cases[i][0], place),
                          cases[i][1][0] != '\0');
        ck_assert_str_eq (place, cases[i][1]);
    }
}
END_TEST

START_TEST (three_within_a_minute)
{
    ck_assert (!offends ("one", 1000));
    ck_assert (!offends ("one", 2000));
    ck_assert (!offends ("one", 1000 + LK_OFFENCES_MS));
    ck_assert (!offends ("one", 1001 + LK_OFFENCES_MS));
    ck_assert (!offends ("two", 1001 + LK_OFFENCES_MS));
    ck_assert (offends ("one", 1002 + LK_OFFENCES_MS));
    ck_assert (is_out ("one", 1002 + LK_OFFENCES_MS));
    ck_assert (!is_out ("two", 1002 + LK_OFFENCES_MS));
    ck_assert (!is_out ("on", 1002 + LK_OFFENCES_MS));
    ck_assert_uint_eq (all.count, 1);
    ck_assert_uint_eq (lk_shut_out_now (&all, 1002 + LK_OFFENCES_MS), 1);
    ck_assert_str_eq (
        lk_shut_out_find (&all, "one", 1002 + LK_OFFENCES_MS)->reason, "lies");
}
END_TEST

/*  So long each time; once it is forgotten it begins anew. */
START_TEST (doubled_and_forgotten)
{
    static const int seconds[] = {10, 20, 40, 80, 160, 320, 600, 600};
    int64_t now_ms = 5000;
    for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; i++) {
        ck_assert (
            lk_shut_out_offend (&all, "one", false, true, "frame", now_ms));
        ck_assert (!lk_shut_out_offend (&all, "one", false, true, "frame",
                                        now_ms + 1));
        now_ms += 1000 * (int64_t) seconds[i];
        ck_assert (is_out ("one", now_ms - 1));
        ck_assert (!is_out ("one", now_ms));
    }
    ck_assert_uint_eq (all.count, 8);
    now_ms += LK_SHUT_OUT_FORGET_MS;
    ck_assert (lk_shut_out_offend (&all, "one", false, true, "frame", now_ms));
    ck_assert (is_out ("one", now_ms + LK_SHUT_OUT_MS - 1));
    ck_assert (!is_out ("one", now_ms + LK_SHUT_OUT_MS));
    ck_assert (lk_shut_out_offend (&all, "one", false, true, "frame",
                                   now_ms + LK_SHUT_OUT_MS
                                       + LK_SHUT_OUT_FORGET_MS - 1));
    ck_assert (
        is_out ("one", now_ms + 2 * LK_SHUT_OUT_MS + LK_SHUT_OUT_FORGET_MS));
}
END_TEST

START_TEST (messages_of_a_second)
{
    bool is_first;
    for (int64_t second = 1; second < 4; second++) {
        for (int i = 0; i < LK_VISITOR_MESSAGES_MAX; i++) {
            ck_assert (
                !lk_shut_out_hurries (&all, "one", 1000 * second, &is_first));
        }
        ck_assert (
            !lk_shut_out_hurries (&all, "two", 1000 * second, &is_first));
        ck_assert (
            lk_shut_out_hurries (&all, "one", 1000 * second + 999, &is_first));
        ck_assert (is_first);
        ck_assert (
            lk_shut_out_hurries (&all, "one", 1000 * second + 999, &is_first));
        ck_assert (!is_first);
    }
}
END_TEST

START_TEST (handshakes)
{
    for (int i = 1; i < LK_HANDSHAKES_MAX; i++) {
        ck_assert (!lk_shut_out_ended (&all, "a", 1000));
    }
    ck_assert (!lk_shut_out_ended (&all, "b", 1000));
    ck_assert (lk_shut_out_ended (&all, "a", 1000 + LK_HANDSHAKES_MS - 1));
    ck_assert (is_out ("a", 1000 + LK_HANDSHAKES_MS));
    ck_assert (!is_out ("b", 1000 + LK_HANDSHAKES_MS));
    /*  Not as many within that time. */
    for (int i = 2; i < LK_HANDSHAKES_MAX; i++) {
        ck_assert (!lk_shut_out_ended (&all, "b", 2000));
    }
    ck_assert (!lk_shut_out_ended (&all, "b", 1000 + LK_HANDSHAKES_MS));
}
END_TEST

/*  A crowd of honest ones, whose connections end as well. */
START_TEST (handshakes_that_go_well)
{
    for (int i = 0; i < 3 * LK_HANDSHAKES_MAX; i++) {
        lk_shut_out_admitted (&all, "a", 1000);
    }
    lk_shut_out_began (&all, "a", 1000);
    for (int i = 1; i < 3 * LK_HANDSHAKES_MAX; i++) {
        ck_assert (!lk_shut_out_ended (&all, "a", 1000));
    }
    for (int i = 0; i < 3 * LK_HANDSHAKES_MAX; i++) {
        ck_assert (!lk_shut_out_ended (&all, "a", 1000));
    }
    ck_assert (lk_shut_out_ended (&all, "a", 1000));
    /*  Sessions without such a key are as good. */
    for (int i = 0; i < LK_HANDSHAKES_MAX; i++) {
        lk_shut_out_began (&all, "b", 1000);
    }
    for (int i = 0; i < LK_HANDSHAKES_MAX; i++) {
        ck_assert (!lk_shut_out_ended (&all, "b", 1000));
    }
    ck_assert (lk_shut_out_ended (&all, "b", 1000));
}
END_TEST

/*  A key that comes into the settings may come at once; what else is shut out
 *  stays so. */
START_TEST (forgiven)
{
    for (int i = 0; i < LK_HANDSHAKES_MAX; i++) {
        (void) lk_shut_out_ended (&all, "a", 1000);
        (void) lk_shut_out_offend (&all, "b", true, false, "lies", 1000);
    }
    all.is_told = true;
    lk_shut_out_forgive (&all);
    ck_assert (!is_out ("a", 1001));
    ck_assert (is_out ("b", 1001));
    ck_assert (!all.is_told);
}
END_TEST

/*  Many keys of one client do not make others be forgotten that are out, until
 *  all are. */
START_TEST (so_many)
{
    char name[32];
    ck_assert (lk_shut_out_offend (&all, "out", false, true, "frame", 1000));
    for (int i = 0; i < 3 * LK_SHUT_OUT_MAX; i++) {
        snprintf (name, sizeof name, "key %d", i);
        (void) offends (name, 1000);
    }
    ck_assert_uint_eq (HASH_COUNT (all.all), LK_SHUT_OUT_MAX);
    ck_assert (is_out ("out", 1000));
    for (int i = 0; i < 3 * LK_SHUT_OUT_MAX; i++) {
        snprintf (name, sizeof name, "frame %d", i);
        ck_assert (lk_shut_out_offend (&all, name, false, true, "frame", 1000));
    }
    ck_assert_uint_eq (HASH_COUNT (all.all), LK_SHUT_OUT_MAX);
    ck_assert_uint_eq (lk_shut_out_now (&all, 1000), LK_SHUT_OUT_MAX);
    ck_assert (is_out (name, 1000));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("shut out");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, places);
    tcase_add_test (tests, three_within_a_minute);
    tcase_add_test (tests, doubled_and_forgotten);
    tcase_add_test (tests, messages_of_a_second);
    tcase_add_test (tests, handshakes);
    tcase_add_test (tests, handshakes_that_go_well);
    tcase_add_test (tests, forgiven);
    tcase_add_test (tests, so_many);

    Suite *suite = suite_create ("shut_out");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
