/*  cli_domain.c - location domains: what `lockkeeper status` says of them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

/*  In no library. */
#include "../../src/cli/see/status_domain.c"
#include "../../src/cli/see/status_words.c"

#include "lib/suite.h"

#include <check.h>

static lk_survey survey;

/*  Asserts what is said of members at these places, up to a NULL; "": not
 *  known. The last one is no member. */
static void
check_said (const char *text, const char *const domains[])
{
    lk_advices advices = {.count = 0};
    survey = (lk_survey) {.count = 0};
    for (size_t i = 0; domains[i] != NULL; i++) {
        lk_survey_host *host = &survey.host[survey.count++];
        snprintf (host->domain, sizeof host->domain, "%s", domains[i]);
        host->is_member = domains[i + 1] != NULL;
    }
    lk_status_add_domain (&survey, &advices);
    ck_assert_uint_eq (advices.count, text != NULL);
    if (text != NULL) {
        ck_assert_str_eq (advices.item[0].label, "warning");
        ck_assert_str_eq (advices.item[0].text, text);
    }
}

#define PROXY "au.proxy"
#define SAYS(text, ...)                                                        \
    check_said (text, (const char *const[]) {__VA_ARGS__, PROXY, NULL})
#define WARNING(members, domain, most)                                         \
    members " members are in " domain ": without it locks stop; no domain "    \
            "should have more than " most

START_TEST (a_majority_in_one)
{
    SAYS (WARNING ("2 of 3", "au.perth", "1"), "au.perth.dh1", "au.sydney.dh1",
          "au.perth.dh4");
    SAYS (WARNING ("3 of 5", "au", "2"), "au.perth", "nz", "au.sydney", "nz",
          "au.darwin");
    SAYS (WARNING ("3 of 4", "au", "1"), "au", "nz", "au.sydney", "au.perth");
    SAYS (WARNING ("2 of 3", "au.perth", "1"), "au.perth", "au.perth", "");
    SAYS (WARNING ("2 of 3", "au", "1"), "au.perth", "au.sydney", "nz");
}
END_TEST

/*  The other half is no majority, either. */
START_TEST (half_in_one)
{
    SAYS (WARNING ("2 of 4", "au", "1"), "au", "au", "nz", "nz");
    SAYS (WARNING ("2 of 4", "nz", "1"), "au", "fr", "nz.x", "nz.y");
}
END_TEST

/*  It is lost more easily than that around it. */
START_TEST (the_narrowest)
{
    SAYS (WARNING ("3 of 5", "au.perth.dh1", "2"), "au.perth.dh4",
          "au.perth.dh1.r1", "nz", "au.perth.dh1.r2", "au.perth.dh1.r3");
}
END_TEST

START_TEST (nothing_to_say)
{
    SAYS (NULL, "au.perth", "fr.paris", "nz");
    SAYS (NULL, "au.perth", "au.sydney", "au.darwin.dh1");
    SAYS (NULL, "au.perth.dh1", "au.perth.dh2", "au.perth.dh3");
    SAYS (NULL, "au", "au", "au"); /* it has all that there are */
    SAYS (NULL, "au", "au", "nz", "nz", "fr");
    SAYS (NULL, "au.perth", "au.perth2", "au.perth3");
    SAYS (NULL, "", "", "");
    SAYS (NULL, "", "", "au");
    SAYS (NULL, "au", "nz"); /* one loss stops them wherever they are */
    SAYS (NULL, "au");
    check_said (NULL, (const char *const[]) {PROXY, NULL}); /* no members */
}
END_TEST

START_TEST (a_file_that_is_out_of_date)
{
    lk_advices advices = {.count = 0};
    survey = (lk_survey) {.count = 2};
    for (size_t i = 0; i < 2; i++) {
        lk_survey_host *host = &survey.host[i];
        snprintf (host->name, sizeof host->name, "h%zu", i);
        snprintf (host->domain, sizeof host->domain, "au.x%zu", i);
        host->is_member = true;
    }
    snprintf (survey.host[1].told_domain, LK_DOMAIN_LEN_MAX, "nz");
    lk_status_add_domain (&survey, &advices);
    ck_assert_uint_eq (advices.count, 1);
    ck_assert_str_eq (advices.item[0].label, "note");
    ck_assert_str_eq (advices.item[0].text,
                      "h1 is in nz by its own file (lock/domain), and in au.x1 "
                      "by the settings (hosts/domain): those count");
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("cli_domain");
    tcase_add_test (tests, a_majority_in_one);
    tcase_add_test (tests, half_in_one);
    tcase_add_test (tests, the_narrowest);
    tcase_add_test (tests, nothing_to_say);
    tcase_add_test (tests, a_file_that_is_out_of_date);

    Suite *suite = suite_create ("cli_domain");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
