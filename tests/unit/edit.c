/*  edit.c - another value in a configuration file, and all else as it was
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings/edit.h"

#include "util/alloc.h"

#include "lib/suite.h"

#include <check.h>
#include <stdlib.h>

static const char *const none[] = {NULL};
static const char *const one[] = {"1", NULL};
static const char *const two[] = {"a b", "c#\"", NULL};

static void
becomes (const char *text, const char *key, const char *const *values,
         const char *wanted)
{
    char *edited = lk_edit_text (text, key, values);
    ck_assert_str_eq (edited, wanted);
    lk_free (edited);
}

START_TEST (values_go_where_they_belong)
{
    becomes ("", "s/k", one, "s\n    k = 1\n");
    becomes ("# x", "s/k", one, "# x\ns\n    k = 1\n");
    becomes ("s\n    l = 2\n# x\nt\n    k = 3\n", "s/k", one,
             "s\n    l = 2\n    k = 1\n# x\nt\n    k = 3\n");
    becomes ("s\n    l = 2", "s/k", one, "s\n    l = 2\n    k = 1\n");
    becomes ("s\nt = \"1\"2\n    l = 2\n", "s/k", one,
             "s\n    k = 1\nt = \"1\"2\n    l = 2\n");
    becomes ("ss\n    k = 2\ns\nt\n", "s/k", one,
             "ss\n    k = 2\ns\n    k = 1\nt\n");
}
END_TEST

START_TEST (values_are_replaced_and_comments_stay)
{
    becomes ("s\n    k = \"2 #\"  # x\n    l = 1\n", "s/k", one,
             "s\n    k = 1  # x\n    l = 1\n");
    becomes ("s/k = 2\nt\n", "s/k", one, "s/k = 1\nt\n");
    becomes ("t\n    x = 1\ns/k = 2\n", "s/k", two,
             "t\n    x = 1\ns/k = \"a b\"\ns/k = 'c#\"'\n");
    becomes ("s # k\n#    k = 2\n    k = 3\n", "s/k", one,
             "s # k\n#    k = 2\n    k = 1\n");
    becomes ("s\n    k = 2\n    k = 3\n    l = 4\n", "s/k", one,
             "s\n    k = 1\n    l = 4\n");
}
END_TEST

START_TEST (lists_grow_and_shrink)
{
    becomes ("s\n    k = 2 # x\n    l = 4\n", "s/k", two,
             "s\n    k = \"a b\" # x\n    k = 'c#\"'\n    l = 4\n");
    becomes ("s\n    k = 2\n    k = 3\n", "s/k", none, "s\n");
    becomes ("s\n    l = 2\n", "s/k", none, "s\n    l = 2\n");
    becomes ("", "s/k", none, "");
}
END_TEST

START_TEST (what_can_be_said)
{
    ck_assert (lk_edit_can_say (""));
    ck_assert (lk_edit_can_say ("it's # \t"));
    ck_assert (!lk_edit_can_say ("'\""));
    ck_assert (!lk_edit_can_say ("a\nb"));
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("edit");
    tcase_add_test (tcase, values_go_where_they_belong);
    tcase_add_test (tcase, values_are_replaced_and_comments_stay);
    tcase_add_test (tcase, lists_grow_and_shrink);
    tcase_add_test (tcase, what_can_be_said);
    Suite *suite = suite_create ("edit");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
