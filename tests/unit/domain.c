/*  domain.c - location domains: which server is nearer
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/domain.h"

#include "lib/suite.h"

#include <check.h>
#include <string.h>

#define OWN "au.perth.dh4.rack3.srv5"

/*  The eleven patterns of seed 002's example, in their order; a star stands for
 *  anybody in there. */
START_TEST (eleven_patterns)
{
    static const char *const order[] = {
        "au.perth.dh4.rack3.srv5",
        "au.perth.dh4.rack3.srv5.x",
        "au.perth.dh4.rack3",
        "au.perth.dh4.rack3.x",
        "au.perth.dh4",
        "au.perth.dh4.x",
        "au.perth",
        "au.perth.x",
        "au",
        "au.x",
        "x",
    };
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        ck_assert_uint_eq (lk_domain_step (OWN, order[i]), i);
    }
    ck_assert_uint_eq (lk_domain_step (OWN, ""), 10);
}
END_TEST

START_TEST (labels_are_whole)
{
    ck_assert_uint_eq (lk_domain_step (OWN, "au.perth.dh4.rack3.srv55"), 3);
    ck_assert_uint_eq (lk_domain_step (OWN, "au.perth.dh"), 7);
    ck_assert_uint_eq (lk_domain_step (OWN, "a"), 10);
    ck_assert_uint_eq (lk_domain_step (OWN, "au.perth.dh4.rack9.srv5"), 5);
    ck_assert_uint_eq (lk_domain_step ("", "au"), 0);
    ck_assert_uint_eq (lk_domain_step ("", ""), 0);
}
END_TEST

/*  Seed 002, "Preferred Secondary": the one at the other place is better. */
START_TEST (score)
{
    const char *master = "au.perth.dc4.rack3.srv25";
    ck_assert_uint_eq (lk_domain_score (master, "au.perth.dc4.rack2.srv08"), 2);
    ck_assert_uint_eq (lk_domain_score (master, "au.sydney.dc1.rack2.srv85"),
                       4);
    ck_assert_uint_eq (lk_domain_score ("au.perth.dc4.rack2.srv08", master), 2);
    ck_assert_uint_eq (lk_domain_score (master, master), 0);
    ck_assert_uint_eq (lk_domain_score (master, "au.perth.dc4"), 2);
    ck_assert_uint_eq (lk_domain_score ("au.perth.dc4", master), 2);
    ck_assert_uint_eq (lk_domain_score ("au", "nz"), 1);
    ck_assert_uint_eq (lk_domain_score ("au.perth", "au.perth2"), 1);
    ck_assert_uint_eq (lk_domain_score ("au.perth", ""), 0);
    ck_assert_uint_eq (lk_domain_score ("", "au.perth"), 0);
}
END_TEST

START_TEST (within)
{
    ck_assert (lk_domain_is_within ("au.perth", "au.perth"));
    ck_assert (lk_domain_is_within ("au.perth", "au.perth.dh1"));
    ck_assert (!lk_domain_is_within ("au.perth", "au.perth2.dh1"));
    ck_assert (!lk_domain_is_within ("au.perth", "au.sydney"));
    ck_assert (!lk_domain_is_within ("au.perth", "au"));
    ck_assert (!lk_domain_is_within ("au.perth", ""));
    ck_assert (lk_domain_is_within ("", "au"));
}
END_TEST

START_TEST (valid)
{
    char longest[LK_DOMAIN_LEN_MAX + 2];
    memset (longest, 'a', sizeof longest);
    longest[LK_DOMAIN_LEN_MAX + 1] = '\0';
    ck_assert (!lk_domain_is_valid (longest));
    longest[LK_DOMAIN_LEN_MAX] = '\0';
    ck_assert (lk_domain_is_valid (longest));
    ck_assert (lk_domain_is_valid (OWN));
    ck_assert (lk_domain_is_valid ("a"));
    ck_assert (!lk_domain_is_valid (""));
    ck_assert (!lk_domain_is_valid ("."));
    ck_assert (!lk_domain_is_valid (".au"));
    ck_assert (!lk_domain_is_valid ("au."));
    ck_assert (!lk_domain_is_valid ("au..perth"));
    ck_assert (!lk_domain_is_valid ("au.*"));
    ck_assert (!lk_domain_is_valid ("au perth"));
}
END_TEST

START_TEST (masks)
{
    static const struct {
        const char *mask;
        const char *domain;
        bool fits;
    } cases[] = {
        {"au.perth", "au.perth", true},
        {"au.perth", "au.perth.dh4", false},
        {"au.perth.*", "au.perth.dh4", true},
        {"au.perth.*", "au.perth.dh4.rack3.srv25", true},
        {"au.perth.*", "au.perth", false},
        {"au.perth.*", "au.perth2.dh4", false},
        {"au.*.dh4", "au.perth.dh4", true},
        {"au.*.dh4", "au.perth.x.dh4", false},
        {"au.*.dh?", "au.perth.dh4", true},
        {"au.*.dh?", "au.perth.dh44", false},
        {"au.*.dh?", "au.perth.dh", false},
        {"au.*.dh?.*", "au.perth.dh4.rack3.srv25", true},
        {"au.*.dh?.*", "au.sydney.dc1.rack2.srv85", false},
        {"*.p*h.*4", "au.perth.dh4", true},
        {"*.p*h.*4", "au.per.th.dh4", false},
        {"*", "au", true},
        {"*", "au.perth.dh4", true},
        {"*.*", "au", false},
        {"a*", "au.perth", false},
        {"*", "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert (lk_domain_mask_is_valid (cases[i].mask));
        ck_assert_msg (lk_domain_fits (cases[i].domain, cases[i].mask)
                           == cases[i].fits,
                       "%s of %s", cases[i].domain, cases[i].mask);
    }
    ck_assert (!lk_domain_mask_is_valid (""));
    ck_assert (!lk_domain_mask_is_valid ("au..*"));
    ck_assert (!lk_domain_mask_is_valid ("*."));
    ck_assert (!lk_domain_mask_is_valid ("au.[ab]"));
    ck_assert (!lk_domain_mask_is_valid ("au.\\*"));
    ck_assert (!lk_domain_mask_is_valid ("au/*"));
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("domain");
    tcase_add_test (tests, eleven_patterns);
    tcase_add_test (tests, labels_are_whole);
    tcase_add_test (tests, score);
    tcase_add_test (tests, within);
    tcase_add_test (tests, valid);
    tcase_add_test (tests, masks);

    Suite *suite = suite_create ("domain");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
