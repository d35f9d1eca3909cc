/*  config.c - settings from a file and from options, and what is refused
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const lk_config_key keys[] = {
    {"router/host", LK_CONFIG_TEXT, 1, 8, NULL, NULL},
    {"router/port", LK_CONFIG_NUMBER, 1, 65535, NULL, "7411"},
    {"router/mode", LK_CONFIG_OCTAL, 0, 0777, NULL, "0660"},
    {"router/syslog", LK_CONFIG_FLAG, 0, 0, NULL, "no"},
    {"router/leaders", LK_CONFIG_CHOICE, 0, 0, "1|3|5", "3"},
    {"router/neighbour", LK_CONFIG_LIST, 1, 20, NULL, NULL},
    {"router/deep/er", LK_CONFIG_TEXT, 0, 0, NULL, ""},
    {"lock", LK_CONFIG_FOREIGN, 0, 0, NULL, NULL},
    {NULL, LK_CONFIG_TEXT, 0, 0, NULL, NULL},
};

static char path[] = "/tmp/lk-config-XXXXXX";
static lk_config *config;
static lk_problem problem;

static void
set_up (void)
{
    snprintf (path, sizeof path, "/tmp/lk-config-XXXXXX");
    int fd = mkstemp (path);
    ck_assert_int_ne (fd, -1);
    close (fd);
    config = lk_config_new (keys);
}

static void
tear_down (void)
{
    lk_config_destroy (&config);
    unlink (path);
}

static lk_err
load (const char *text)
{
    FILE *file = fopen (path, "w");
    ck_assert_ptr_nonnull (file);
    fputs (text, file);
    fclose (file);
    return lk_config_load (config, path, &problem);
}

/*  The file is refused, and the sentence has both texts in it. */
static void
refused (const char *text, const char *first, const char *second)
{
    problem.text[0] = '\0';
    ck_assert_int_eq (load (text), LK_INVALID);
    ck_assert_msg (strstr (problem.text, path) != NULL, "no file in: %s",
                   problem.text);
    ck_assert_msg (strstr (problem.text, first) != NULL, "no '%s' in: %s",
                   first, problem.text);
    ck_assert_msg (strstr (problem.text, second) != NULL, "no '%s' in: %s",
                   second, problem.text);
}

START_TEST (defaults)
{
    ck_assert_ptr_null (lk_config_text (config, "router/host"));
    ck_assert_int_eq (lk_config_number (config, "router/port"), 7411);
    ck_assert_int_eq (lk_config_number (config, "router/mode"), 0660);
    ck_assert (!lk_config_flag (config, "router/syslog"));
    ck_assert_str_eq (lk_config_text (config, "router/leaders"), "3");
    ck_assert_ptr_null (lk_config_item (config, "router/neighbour", 0));
    ck_assert (!lk_config_is_set (config, "router/port"));
}
END_TEST

START_TEST (file_is_read)
{
    ck_assert_int_eq (load ("#  a comment\n"
                            "router\n"
                            "    host = h1    #  another\n"
                            "    port = 80\n"
                            "    mode = 0600\n"
                            "    syslog = yes\n"
                            "    leaders = \"5\"\n"
                            "    neighbour = h2:1\n"
                            "    deep\n"
                            "        er = water\n"
                            "lock\n"
                            "    whatever = 1\n"
                            "    it\n"
                            "        may = be\n"
                            "router\n"
                            "    neighbour = h3:1\n"),
                      LK_OK);
    ck_assert_str_eq (lk_config_text (config, "router/host"), "h1");
    ck_assert_int_eq (lk_config_number (config, "router/port"), 80);
    ck_assert_int_eq (lk_config_number (config, "router/mode"), 0600);
    ck_assert (lk_config_flag (config, "router/syslog"));
    ck_assert_str_eq (lk_config_text (config, "router/leaders"), "5");
    ck_assert_str_eq (lk_config_item (config, "router/neighbour", 0), "h2:1");
    ck_assert_str_eq (lk_config_item (config, "router/neighbour", 1), "h3:1");
    ck_assert_ptr_null (lk_config_item (config, "router/neighbour", 2));
    ck_assert_str_eq (lk_config_text (config, "router/deep/er"), "water");
    ck_assert (lk_config_is_set (config, "router/port"));
}
END_TEST

START_TEST (options_stay_above_the_file)
{
    ck_assert_int_eq (lk_config_set (config, "router/port", "90", &problem),
                      LK_OK);
    ck_assert_int_eq (lk_config_set (config, "router/port", "91", &problem),
                      LK_OK);
    ck_assert_int_eq (
        lk_config_set (config, "router/neighbour", "a:1", &problem), LK_OK);
    ck_assert_int_eq (
        lk_config_set (config, "router/neighbour", "b:1", &problem), LK_OK);
    ck_assert_int_eq (load ("router\n    port = 80\n    neighbour = c:1\n"),
                      LK_OK);
    ck_assert_int_eq (lk_config_number (config, "router/port"), 91);
    ck_assert_str_eq (lk_config_item (config, "router/neighbour", 0), "a:1");
    ck_assert_str_eq (lk_config_item (config, "router/neighbour", 1), "b:1");
    ck_assert_ptr_null (lk_config_item (config, "router/neighbour", 2));
}
END_TEST

START_TEST (loading_again_replaces)
{
    ck_assert_int_eq (load ("router\n    port = 80\n    host = h1\n"), LK_OK);
    ck_assert_int_eq (load ("router\n    port = 81\n"), LK_OK);
    ck_assert_int_eq (lk_config_number (config, "router/port"), 81);
    ck_assert_ptr_null (lk_config_text (config, "router/host"));
}
END_TEST

START_TEST (a_bad_file_changes_nothing)
{
    ck_assert_int_eq (load ("router\n    port = 80\n"), LK_OK);
    refused ("router\n    port = 81\n    syslog = perhaps\n", "line 3",
             "yes or no");
    ck_assert_int_eq (lk_config_number (config, "router/port"), 80);
}
END_TEST

START_TEST (nothing_is_fine)
{
    ck_assert_int_eq (load (""), LK_OK);
    ck_assert_int_eq (load ("\n"), LK_OK);
    ck_assert_int_eq (load ("#  only this\n\n   #  and this"), LK_OK);
}
END_TEST

START_TEST (mistakes_are_named)
{
    refused ("router\n    prot = 80\n", "line 2", "'router/prot'");
    refused ("rooter\n    port = 80\n", "line 1", "'rooter'");
    refused ("router\n    port = many\n", "line 2", "'many'");
    refused ("router\n    port = 65536\n", "'router/port'", "1 to 65535");
    refused ("router\n    port = \n", "'router/port'", "1 to 65535");
    refused ("router\n    port = 99999999999999999999\n", "line 2", "65535");
    refused ("router\n    mode = 0888\n", "line 2", "777");
    refused ("router\n    leaders = 2\n", "line 2", "1|3|5");
    refused ("router\n    leaders = 1|3\n", "line 2", "1|3|5");
    refused ("router\n    host = muchtoolong\n", "line 2", "1 to 8");
    refused ("router\n    port = 1\n#\n    port = 2\n", "line 4", "twice");
    refused ("router\n    neighbour = ok\n    neighbour = "
             "muchlongerthantwentybytes\n",
             "line 3", "router/neighbour");
    refused ("router = 7\n    port = 1\n", "line 1", "'router'");
    refused ("router\n    port\n        x = 1\n", "line 2", "no section");
}
END_TEST

START_TEST (broken_syntax_is_named)
{
    refused ("router\n  port = 1\n", "line 2", "indent");
    refused ("router\n    host = \"h1\n", "line 2", "\"");
    refused ("router\n\thost = h1\n", "line 2", "by a tab");
    refused ("router\n    host = h1\n    \tport = 1\n", "line 3", "by a tab");
    refused ("router\n    host h1\n", "line 2", "h1");
    refused ("\xff\xfe\x01", "line 1", "");
    refused ("router\n        port = 1\n            x = 1\n", "line 2",
             "indentation");
}
END_TEST

/*  Of a value that its reader does not like. */
static void
is_refused (const char *key, size_t position, const char *sentence)
{
    ck_assert_int_eq (lk_config_refuse (config, key, position, "no", &problem),
                      LK_INVALID);
    ck_assert_msg (strstr (problem.text, sentence) != NULL, "%s", problem.text);
}

START_TEST (values_are_refused_with_their_place)
{
    ck_assert_int_eq (load ("router\n    neighbour = a:1\n#\n"
                            "    neighbour = b:1\n    host = h\n"),
                      LK_OK);
    is_refused ("router/neighbour", 0, ", line 2: 'a:1' is no value for ");
    is_refused ("router/neighbour", 1, ", line 4: 'b:1' is no value for ");
    is_refused ("router/host", 0,
                ", line 5: 'h' is no value for 'router/host'");
    is_refused ("router/host", 0, path);
    ck_assert_int_eq (lk_config_set (config, "router/host", "i", &problem),
                      LK_OK);
    is_refused ("router/host", 0, "'i' is no value for 'router/host': no");
    ck_assert_ptr_null (strstr (problem.text, "line"));
    is_refused ("router/port", 0, "'7411' is no value for 'router/port': no");
    ck_assert_ptr_null (strstr (problem.text, "line"));
}
END_TEST

START_TEST (long_lines_are_refused)
{
    char text[3000] = "router\n    host = ";
    memset (text + strlen (text), 'h', 2000);
    refused (text, "line 2", "longer");
}
END_TEST

START_TEST (files_that_cannot_be_read)
{
    ck_assert_int_eq (lk_config_load (config, "/tmp/lk-none", &problem),
                      LK_UNKNOWN);
    ck_assert_ptr_nonnull (strstr (problem.text, "'/tmp/lk-none'"));
    ck_assert_int_eq (lk_config_load (config, "/tmp", &problem), LK_SYSTEM);
    FILE *file = fopen (path, "w");
    fwrite ("a\0b", 1, 3, file);
    fclose (file);
    ck_assert_int_eq (lk_config_load (config, path, &problem), LK_INVALID);
}
END_TEST

START_TEST (options_are_checked)
{
    ck_assert_int_eq (lk_config_set (config, "router/prot", "1", &problem),
                      LK_INVALID);
    ck_assert_ptr_nonnull (strstr (problem.text, "router/prot"));
    ck_assert_int_eq (lk_config_set (config, "router/port", "0", &problem),
                      LK_INVALID);
    ck_assert_ptr_nonnull (strstr (problem.text, "1 to 65535"));
    ck_assert_int_eq (lk_config_set (config, "lock", "0", &problem),
                      LK_INVALID);
    ck_assert_int_eq (lk_config_number (config, "router/port"), 7411);
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("config");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_add_test (tcase, defaults);
    tcase_add_test (tcase, file_is_read);
    tcase_add_test (tcase, options_stay_above_the_file);
    tcase_add_test (tcase, loading_again_replaces);
    tcase_add_test (tcase, a_bad_file_changes_nothing);
    tcase_add_test (tcase, nothing_is_fine);
    tcase_add_test (tcase, mistakes_are_named);
    tcase_add_test (tcase, broken_syntax_is_named);
    tcase_add_test (tcase, values_are_refused_with_their_place);
    tcase_add_test (tcase, long_lines_are_refused);
    tcase_add_test (tcase, files_that_cannot_be_read);
    tcase_add_test (tcase, options_are_checked);
    Suite *suite = suite_create ("config");
    suite_add_tcase (suite, tcase);
    SRunner *runner = srunner_create (suite);
    srunner_run_all (runner, CK_ENV);
    const int failed = srunner_ntests_failed (runner);
    srunner_free (runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
