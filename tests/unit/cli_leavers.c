/*  cli_leavers.c - hosts that drain: what `lockkeeper status` says of them
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

/*  In no library. */
#include "../../src/cli/see/status_leavers.c"
#include "../../src/cli/see/status_words.c"
#include "../../src/cli/terminal.c"

#include "lib/suite.h"

#include <check.h>

static lk_survey survey;

/*  A host that drains for so long; -1: it does not, -2: nobody answers. */
static void
add (const char *name, int64_t ms)
{
    lk_survey_host *host = &survey.host[survey.count++];
    snprintf (host->name, sizeof host->name, "%s", name);
    host->lock = ms == -2 ? NULL : lk_message_new ("lock@.", "LOCKREADY");
    if (ms >= 0) {
        lk_message_set_flag (host->lock, "draining", true);
        lk_message_set_number (host->lock, "draining_ms", ms);
    }
}

static void
check_said (const char *label, const char *hosts)
{
    lk_advices advices = {.count = 0};
    char text[200];
    lk_status_add_leavers (&survey, &advices);
    ck_assert_uint_eq (advices.count, label != NULL);
    if (label != NULL) {
        snprintf (text, sizeof text,
                  "leave, and do not lead: %s; `lockkeeper leave --undo` has a "
                  "host lead again",
                  hosts);
        ck_assert_str_eq (advices.item[0].label, label);
        ck_assert_str_eq (advices.item[0].text, text);
    }
    for (size_t i = 0; i < survey.count; i++) {
        lk_message_destroy (&survey.host[i].lock);
    }
    survey = (lk_survey) {.count = 0};
}

START_TEST (since_when)
{
    add ("h1", -1);
    add ("h2", -2);
    check_said (NULL, NULL);
    add ("h1", -1);
    add ("h2", 12340);
    add ("h3", 0);
    check_said ("note", "h2 for 12.3 s, h3 for 0.0 s");
}
END_TEST

START_TEST (for_long)
{
    add ("h1", 599999);
    check_said ("note", "h1 for 0:09:59");
    add ("h1", 600000);
    add ("h2", 1000);
    check_said ("warning", "h1 for 0:10:00, h2 for 1.0 s");
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("cli_leavers");
    tcase_add_test (tests, since_when);
    tcase_add_test (tests, for_long);

    Suite *suite = suite_create ("cli_leavers");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
