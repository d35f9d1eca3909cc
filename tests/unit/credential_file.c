/*  credential_file.c - the file that has a client's credential
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/credential_file.h"

#include "lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE(not_after, since)                                                 \
    "lockkeeper-credential-1 corp ann user KEY 100 " not_after " " since       \
    " 00000000000000aa ISSUER SIGNATURE"

static char dir[64], path[96];
static lk_credential_file file;
static lk_credential_times times;
static lk_problem problem;

static void
set_up (void)
{
    snprintf (dir, sizeof dir, "/tmp/lk-credential-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (dir));
    snprintf (path, sizeof path, "%s/client.credential", dir);
    lk_credential_file_init (&file, path);
}

static void
tear_down (void)
{
    (void) unlink (path);
    ck_assert_int_eq (rmdir (dir), 0);
}

static void
put (const char *text)
{
    FILE *out = fopen (path, "w");
    ck_assert_int_ge (fputs (text, out), 0);
    ck_assert_int_eq (fclose (out), 0);
}

START_TEST (there_may_be_none)
{
    ck_assert_str_eq (lk_credential_file_line (&file), "");
    lk_credential_file_init (&file, "");
    ck_assert_str_eq (lk_credential_file_line (&file), "");
}
END_TEST

START_TEST (is_read_anew)
{
    put ("  one line \r\n");
    ck_assert_str_eq (lk_credential_file_line (&file), "one line");
    ck_assert_str_eq (lk_credential_file_line (&file), "one line");
    put ("\nanother line");
    ck_assert_str_eq (lk_credential_file_line (&file), "another line");
    (void) unlink (path);
    ck_assert_str_eq (lk_credential_file_line (&file), "");
}
END_TEST

START_TEST (too_long)
{
    char text[900];
    memset (text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    put (text);
    ck_assert_str_eq (lk_credential_file_line (&file), "");
    text[LK_CREDENTIAL_LINE_SIZE - 1] = '\0';
    put (text);
    ck_assert_str_eq (lk_credential_file_line (&file), text);
}
END_TEST

START_TEST (its_times)
{
    ck_assert (lk_credential_line_times (LINE ("500", "90"), &times));
    ck_assert_int_eq (times.not_before, 100);
    ck_assert_int_eq (times.not_after, 500);
    ck_assert_int_eq (times.since, 90);
    ck_assert (!lk_credential_line_times (LINE ("100", "0"), &times));
    ck_assert (!lk_credential_line_times (LINE ("-5", "0"), &times));
    ck_assert (
        !lk_credential_line_times (LINE ("9223372036854775807", "0"), &times));
    ck_assert (!lk_credential_line_times ("one line", &times));
    ck_assert (!lk_credential_line_times ("", &times));
}
END_TEST

/*  Nobody else may read it, nor finds half of it. */
START_TEST (is_written)
{
    struct stat before, after;
    put (LINE ("500", "90"));
    ck_assert_int_eq (stat (path, &before), 0);
    ck_assert_int_eq (
        lk_credential_file_write (&file, LINE ("700", "90"), &problem), LK_OK);
    ck_assert_str_eq (lk_credential_file_line (&file), LINE ("700", "90"));
    ck_assert_int_eq (stat (path, &after), 0);
    ck_assert_int_eq (after.st_mode & 0777, 0600);
    ck_assert (after.st_ino != before.st_ino);
}
END_TEST

START_TEST (is_no_line)
{
    put (LINE ("500", "90"));
    ck_assert_int_eq (lk_credential_file_write (&file, "nonsense", &problem),
                      LK_INVALID);
    ck_assert_int_eq (
        lk_credential_file_write (&file, LINE ("700", "90") "\nmore", &problem),
        LK_INVALID);
    ck_assert_str_eq (lk_credential_file_line (&file), LINE ("500", "90"));
}
END_TEST

/*  It counts for this process. */
START_TEST (cannot_be_written)
{
    lk_credential_file_init (&file, "/proc/lockkeeper/none");
    ck_assert_int_eq (
        lk_credential_file_write (&file, LINE ("700", "90"), &problem),
        LK_SYSTEM);
    ck_assert_str_eq (lk_credential_file_line (&file), LINE ("700", "90"));
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("credential_file");
    TCase *tcase = tcase_create ("credential_file");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_add_test (tcase, there_may_be_none);
    tcase_add_test (tcase, is_read_anew);
    tcase_add_test (tcase, too_long);
    tcase_add_test (tcase, its_times);
    tcase_add_test (tcase, is_written);
    tcase_add_test (tcase, is_no_line);
    tcase_add_test (tcase, cannot_be_written);
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
