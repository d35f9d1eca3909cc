/*  strangers.c - tests of what a router does for who is not registered
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "router_fake.h"

#include "lib/suite.h"

/*  Neither who asks and does not read, nor many of them, silence the answers to
 *  others. */
START_TEST (strangers_that_do_not_read)
{
    char name[32];
    for (int i = 0; i < 2000; i++) {
        say (LK_SIDE_LOCAL, "mute", "x@h1", "lock@h1", "LOCK", "{}");
    }
    ck_assert_uint_eq (router.hops.strangers, 1);
    ck_assert_uint_gt (router.count.lost, 1900);
    for (int i = 0; i < LK_STRANGERS_MAX; i++) {
        snprintf (name, sizeof name, "mute%d", i);
        say (LK_SIDE_LOCAL, name, "x@h1", "lock@h1", "LOCK", "{}");
    }
    ck_assert_uint_eq (router.hops.strangers, LK_STRANGERS_MAX);
    assert_next ("mute", ""); /* the oldest made room */
    assert_next (name,
                 "router@h1 > *@. INVALID 42 {\"reason\":\"register first\"}");
}
END_TEST

START_TEST (a_stranger_has_no_long_bodies)
{
    char body[LK_STRANGER_BODY_MAX + 64];
    snprintf (body, sizeof body, "{\"service\":\"%0*d\"}", LK_STRANGER_BODY_MAX,
              1);
    say (LK_SIDE_LOCAL, "nobody", "x@.", "router@.", "REGISTER", body);
    assert_starts (next ("nobody"),
                   "router@h1 > x@. INVALID 42 {\"reason\":\"the body is too "
                   "large");
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("strangers");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_add_test (tcase, strangers_that_do_not_read);
    tcase_add_test (tcase, a_stranger_has_no_long_bodies);
    Suite *suite = suite_create ("strangers");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
