/*  issuer_file.c - the file of a pair that signs credentials
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "people/issuer_file.h"

#include "lib/suite.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64], path[96];
static lk_issuer issuer, heard;
static lk_problem problem;

static void
set_up (void)
{
    snprintf (dir, sizeof dir, "/tmp/lk-issuer-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (dir));
    snprintf (path, sizeof path, "%s/acme.key", dir);
    problem = (lk_problem) {.text = ""};
}

static void
tear_down (void)
{
    (void) unlink (path);
    ck_assert_int_eq (rmdir (dir), 0);
}

static void
put (const char *public_key, const char *secret_key, const char *more)
{
    FILE *out = fopen (path, "w");
    ck_assert_ptr_nonnull (out);
    fprintf (out, "issuer\n");
    if (public_key != NULL) {
        fprintf (out, "    public-key = %s\n", public_key);
    }
    if (secret_key != NULL) {
        fprintf (out, "    secret-key = %s\n", secret_key);
    }
    fprintf (out, "%s", more);
    ck_assert_int_eq (fclose (out), 0);
    ck_assert_int_eq (chmod (path, 0600), 0);
}

/*  ... with that reason, and no secret is left behind. */
static void
is_refused (const char *reason)
{
    ck_assert_int_eq (lk_issuer_file_read (&heard, path, &problem), LK_INVALID);
    ck_assert_msg (strstr (problem.text, reason) != NULL, "%s", problem.text);
    ck_assert_str_eq (heard.secret_key, "");
}

START_TEST (it_is_read_as_it_was_made)
{
    struct stat status;
    ck_assert_int_eq (lk_issuer_file_make (&issuer, path, &problem), LK_OK);
    ck_assert_int_eq (stat (path, &status), 0);
    ck_assert_int_eq (status.st_mode & 07777, 0600);
    ck_assert_int_eq (lk_issuer_file_read (&heard, path, &problem), LK_OK);
    ck_assert_str_eq (heard.public_key, issuer.public_key);
    ck_assert_str_eq (heard.secret_key, issuer.secret_key);
}
END_TEST

START_TEST (one_that_is_there_stays)
{
    lk_issuer other;
    ck_assert_int_eq (lk_issuer_file_make (&issuer, path, &problem), LK_OK);
    ck_assert_int_eq (lk_issuer_file_make (&other, path, &problem), LK_SYSTEM);
    ck_assert_int_eq (problem.number, EEXIST);
    ck_assert_str_eq (other.secret_key, "");
    ck_assert_int_eq (lk_issuer_file_read (&heard, path, &problem), LK_OK);
    ck_assert_str_eq (heard.public_key, issuer.public_key);
}
END_TEST

START_TEST (others_may_not_read_it)
{
    ck_assert_int_eq (lk_issuer_file_make (&issuer, path, &problem), LK_OK);
    ck_assert_int_eq (chmod (path, 0640), 0);
    is_refused ("others may read");
    ck_assert_int_eq (chmod (path, 0604), 0);
    is_refused ("others may read");
}
END_TEST

START_TEST (files_that_make_no_sense)
{
    lk_issuer other;
    lk_issuer_make (&issuer);
    lk_issuer_make (&other);
    put (issuer.public_key, NULL, "");
    is_refused ("has no 'issuer/secret-key'");
    put (NULL, issuer.secret_key, "");
    is_refused ("has no 'issuer/public-key'");
    put (other.public_key, issuer.secret_key, "");
    is_refused ("not of one pair");
    put (issuer.public_key, "0123", "");
    is_refused ("line 3: a key is 64");
    put (issuer.public_key, issuer.secret_key, "    zone = acme\n");
    is_refused ("line 4: there is no such setting");
    put (issuer.public_key, issuer.secret_key, "\tzone = acme\n");
    is_refused ("line 4");
}
END_TEST

START_TEST (there_may_be_none)
{
    ck_assert_int_eq (lk_issuer_file_read (&heard, path, &problem), LK_UNKNOWN);
    ck_assert_str_ne (problem.text, "");
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("issuer_file");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, it_is_read_as_it_was_made);
    tcase_add_test (tests, one_that_is_there_stays);
    tcase_add_test (tests, others_may_not_read_it);
    tcase_add_test (tests, files_that_make_no_sense);
    tcase_add_test (tests, there_may_be_none);

    Suite *suite = suite_create ("issuer_file");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
