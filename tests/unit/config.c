/*  config.c - settings from files and from options, and what is refused
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/config.h"

#include "lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY(key, type, min, max, choices, otherwise)                           \
    {                                                                          \
        key, type, min, max, choices, otherwise, LK_CONFIG_RESTART, NULL       \
    }

static const lk_config_key keys[] = {
    KEY ("router/host", LK_CONFIG_TEXT, 1, 8, NULL, NULL),
    KEY ("router/port", LK_CONFIG_NUMBER, 1, 65535, NULL, "7411"),
    KEY ("router/mode", LK_CONFIG_OCTAL, 0, 0777, NULL, "0660"),
    KEY ("router/syslog", LK_CONFIG_FLAG, 0, 0, NULL, "no"),
    KEY ("router/leaders", LK_CONFIG_CHOICE, 0, 0, "1|3|5", "3"),
    KEY ("router/neighbour", LK_CONFIG_LIST, 1, 20, NULL, NULL),
    KEY ("router/deep/er", LK_CONFIG_TEXT, 0, 0, NULL, ""),
    KEY ("lock/state", LK_CONFIG_TEXT, 1, 90, NULL, "/s"),
    KEY (NULL, LK_CONFIG_TEXT, 0, 0, NULL, NULL),
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
    ck_assert_int_eq (lk_config_origin_of (config, "router/port", 0).source,
                      LK_FROM_DEFAULT);
}
END_TEST

START_TEST (file_is_read)
{
    ck_assert_int_eq (load ("#  a comment\n"
                            "router\n"
                            "    host = h1    #  another\n"
                            "    port = 80\n"
                            "    syslog=yes\r\n"
                            "    leaders = \"5\"\n"
                            "    neighbour = h2:1\n"
                            "    deep\n"
                            "        er = water\n"
                            "lock\n"
                            "    state = '/x # y' # z\n"
                            "router/mode = 0640\n"
                            "router\n"
                            "    neighbour = h3:1\n"),
                      LK_OK);
    ck_assert_str_eq (lk_config_text (config, "router/host"), "h1");
    ck_assert_int_eq (lk_config_number (config, "router/port"), 80);
    ck_assert_int_eq (lk_config_number (config, "router/mode"), 0640);
    ck_assert_str_eq (lk_config_text (config, "lock/state"), "/x # y");
    ck_assert (lk_config_flag (config, "router/syslog"));
    ck_assert_str_eq (lk_config_text (config, "router/leaders"), "5");
    ck_assert_str_eq (lk_config_item (config, "router/neighbour", 0), "h2:1");
    ck_assert_str_eq (lk_config_item (config, "router/neighbour", 1), "h3:1");
    ck_assert_ptr_null (lk_config_item (config, "router/neighbour", 2));
    ck_assert_str_eq (lk_config_text (config, "router/deep/er"), "water");
    ck_assert_int_eq (lk_config_origin_of (config, "router/port", 0).source,
                      LK_FROM_FILE);
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
    refused ("router = 7\n    port = 1\n", "line 1", "is a section");
    refused ("router\n    port = 1\n        x = 1\n", "line 3",
             "'router/port' is no section");
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
    refused ("router\n    host = 'h1' h2 \n", "line 2", "'h2' makes no");
    refused ("router\n    = h2\n", "line 2", "'= h2' makes no");
}
END_TEST

/*  The last of the mistakes. */
static void
says (const char *sentence)
{
    char text[600];
    const size_t count = lk_config_mistakes (config);
    ck_assert_uint_gt (count, 0);
    lk_config_tell (lk_config_mistake_at (config, count - 1), text,
                    sizeof text);
    ck_assert_msg (strstr (text, sentence) != NULL, "%s", text);
    snprintf (problem.text, sizeof problem.text, "%.*s", 300, text);
}

/*  Of a value that its reader does not like. */
static void
is_refused (const char *key, size_t position, const char *sentence)
{
    lk_config_refuse (config, key, position, "no");
    says (sentence);
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
    lk_config_complain (config, "router/host", "it is %d", 7);
    says (", line 5: it is 7");
    ck_assert_int_eq (lk_config_set (config, "router/host", "i", &problem),
                      LK_OK);
    is_refused ("router/host", 0, "'i' is no value for 'router/host': no");
    ck_assert_ptr_null (strstr (problem.text, "line"));
    is_refused ("router/port", 0, "'7411' is no value for 'router/port': no");
    ck_assert_ptr_null (strstr (problem.text, "line"));
    ck_assert_int_eq (lk_config_verdict (config, 1, &problem), LK_INVALID);
    ck_assert_ptr_nonnull (strstr (problem.text, "'b:1'"));
    ck_assert_int_eq (
        lk_config_verdict (config, lk_config_mistakes (config), &problem),
        LK_OK);
}
END_TEST

/*  Each of them, in its order, and those behind an unknown section too. */
START_TEST (all_mistakes_are_told)
{
    static const unsigned lines[] = {2, 3, 4, 8, 9};
    ck_assert_int_eq (load ("router\n    prot = 80\n    mode = 9\n"
                            "rooter\n    port = 1\n"
                            "router\n    port = 81\n    \"\n    host = \n"),
                      LK_INVALID);
    ck_assert_ptr_nonnull (strstr (problem.text, "line 2"));
    ck_assert_ptr_nonnull (strstr (problem.text, "tells 4 more"));
    ck_assert_uint_eq (lk_config_mistakes (config), 5);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_uint_eq (lk_config_mistake_at (config, i)->line, lines[i]);
    }
    ck_assert_int_eq (load ("router\n"), LK_OK);
    ck_assert_uint_eq (lk_config_mistakes (config), 0);
}
END_TEST

START_TEST (what_may_have_been_meant)
{
    refused ("router\n    prot = 80\n", "did you mean", "'router/port'?");
    refused ("router\n    neighbor = a:1\n", "mean", "'router/neighbour'?");
    refused ("router\n    state = a\n", "mean", "'lock/state'?");
    refused ("router\n    entirely = a\n", "there is no", "config keys");
    ck_assert_ptr_null (lk_config_guess (keys, "router/entirely"));
}
END_TEST

START_TEST (lenient_loads_keep_what_is_right)
{
    lk_config_be_lenient (config);
    ck_assert_int_eq (load ("router\n    port = 80\n    mode = 9\n"),
                      LK_INVALID);
    ck_assert_int_eq (lk_config_number (config, "router/port"), 80);
    ck_assert_int_eq (lk_config_number (config, "router/mode"), 0660);
}
END_TEST

/*  -------------------------------------------------------- drop-ins */

static char dir[sizeof path + 2];

static void
drop_in (const char *name, const char *text)
{
    char file_path[sizeof dir + 20];
    snprintf (dir, sizeof dir, "%s.d", path);
    (void) mkdir (dir, 0700);
    snprintf (file_path, sizeof file_path, "%s/%s", dir, name);
    FILE *file = fopen (file_path, "w");
    ck_assert_ptr_nonnull (file);
    fputs (text, file);
    fclose (file);
}

static void
remove_drop_ins (const char *const *names)
{
    char file_path[sizeof dir + 20];
    for (; *names; names++) {
        snprintf (file_path, sizeof file_path, "%s/%s", dir, *names);
        ck_assert_int_eq (unlink (file_path), 0);
    }
    ck_assert_int_eq (rmdir (dir), 0);
}

static void
is_from (const char *key, size_t position, const char *name, unsigned line)
{
    const lk_config_origin origin = lk_config_origin_of (config, key, position);
    ck_assert_int_eq (origin.source, LK_FROM_FILE);
    ck_assert_uint_eq (origin.line, line);
    ck_assert_msg (strstr (origin.path, name) != NULL, "%s", origin.path);
}

START_TEST (later_files_change_earlier_ones)
{
    static const char *const names[] = {"10-a.conf", "9-b.conf", ".c.conf",
                                        "d.conf~", NULL};
    drop_in (names[1], "router\n    port = 92\n");
    drop_in (names[0], "\nrouter\n    port = 91\n    host = h2\n");
    drop_in (names[2], "router\n    port = 93\n");
    drop_in (names[3], "router\n    port = 94\n");
    ck_assert_int_eq (load ("router\n    port = 90\n    host = h1\n"
                            "    leaders = 5\n"),
                      LK_OK);
    ck_assert_int_eq (lk_config_number (config, "router/port"), 92);
    ck_assert_str_eq (lk_config_text (config, "router/host"), "h2");
    is_from ("router/port", 0, "/9-b.conf", 2);
    is_from ("router/host", 0, "/10-a.conf", 4);
    is_from ("router/leaders", 0, path, 4);
    ck_assert_str_eq (lk_config_file (config, 0), path);
    ck_assert_ptr_nonnull (strstr (lk_config_file (config, 2), "9-b.conf"));
    ck_assert_ptr_null (lk_config_file (config, 3));
    remove_drop_ins (names);
    const lk_config_origin origin =
        lk_config_origin_of (config, "lock/state", 0);
    ck_assert_int_eq (origin.source, LK_FROM_DEFAULT);
}
END_TEST

START_TEST (lists_are_put_together_until_an_empty_item)
{
    static const char *const names[] = {"a.conf", "b.conf", NULL};
    drop_in (names[0], "router\n    neighbour = c:1\n");
    drop_in (names[1], "router\n");
    ck_assert_int_eq (load ("router\n    neighbour = a:1\n"), LK_OK);
    ck_assert_str_eq (lk_config_item (config, "router/neighbour", 0), "a:1");
    ck_assert_str_eq (lk_config_item (config, "router/neighbour", 1), "c:1");
    is_from ("router/neighbour", 1, "/a.conf", 2);
    drop_in (names[1], "router\n    neighbour = \"\"\n    neighbour = d:1\n");
    ck_assert_int_eq (load ("router\n    neighbour = a:1\n"), LK_OK);
    ck_assert_str_eq (lk_config_item (config, "router/neighbour", 0), "d:1");
    ck_assert_ptr_null (lk_config_item (config, "router/neighbour", 1));
    remove_drop_ins (names);
}
END_TEST

START_TEST (mistakes_of_drop_ins_are_theirs)
{
    static const char *const names[] = {"a.conf", NULL};
    drop_in (names[0], "router\n    port = x\n");
    refused ("router\n    mode = 0600\n", ".d/a.conf', line 2", "'x'");
    lk_config_pretend (config, "/nowhere", "");
    char file_path[sizeof dir + 20];
    snprintf (file_path, sizeof file_path, "%s/a.conf", dir);
    lk_config_pretend (config, file_path, "router\n    port = 7\n");
    ck_assert_int_eq (load (""), LK_OK);
    ck_assert_int_eq (lk_config_number (config, "router/port"), 7);
    remove_drop_ins (names);
    snprintf (file_path, sizeof file_path, "%s/b.conf", dir);
    lk_config_pretend (config, file_path, "router\n    port = 8\n");
    ck_assert_int_eq (load (""), LK_OK);
    ck_assert_int_eq (lk_config_number (config, "router/port"), 8);
}
END_TEST

START_TEST (drop_ins_count_without_the_file)
{
    static const char *const names[] = {"a.conf", NULL};
    drop_in (names[0], "router\n    port = 5\n");
    unlink (path);
    lk_config_be_lenient (config);
    ck_assert_int_eq (lk_config_load (config, path, &problem), LK_UNKNOWN);
    ck_assert_int_eq (lk_config_number (config, "router/port"), 5);
    remove_drop_ins (names);
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
    tcase_add_test (tcase, all_mistakes_are_told);
    tcase_add_test (tcase, what_may_have_been_meant);
    tcase_add_test (tcase, lenient_loads_keep_what_is_right);
    tcase_add_test (tcase, later_files_change_earlier_ones);
    tcase_add_test (tcase, lists_are_put_together_until_an_empty_item);
    tcase_add_test (tcase, mistakes_of_drop_ins_are_theirs);
    tcase_add_test (tcase, drop_ins_count_without_the_file);
    tcase_add_test (tcase, long_lines_are_refused);
    tcase_add_test (tcase, files_that_cannot_be_read);
    tcase_add_test (tcase, options_are_checked);
    Suite *suite = suite_create ("config");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
