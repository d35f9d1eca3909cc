/*  passwords.c - the file of users and passwords of an authority
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "people/passwords.h"

#include "lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HASH "$argon2id$v=19$m=8,t=1,p=1$YWFhYWFhYWE$YWFhYWFhYWE"

static char dir[64], path[96];
static lk_passwords passwords;
static lk_problem problem;

static void
set_up (void)
{
    snprintf (dir, sizeof dir, "/tmp/lk-passwords-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (dir));
    snprintf (path, sizeof path, "%s/corp.passwd", dir);
    problem = (lk_problem) {.text = ""};
}

static void
tear_down (void)
{
    lk_passwords_clear (&passwords);
    (void) unlink (path);
    ck_assert_int_eq (rmdir (dir), 0);
}

static void
put (const char *text)
{
    FILE *out = fopen (path, "w");
    ck_assert_ptr_nonnull (out);
    ck_assert_int_ge (fputs (text, out), 0);
    ck_assert_int_eq (fclose (out), 0);
    ck_assert_int_eq (chmod (path, 0600), 0);
}

static void
is_file (const char *text)
{
    char now[4096];
    FILE *in = fopen (path, "r");
    ck_assert_ptr_nonnull (in);
    now[fread (now, 1, sizeof now - 1, in)] = '\0';
    ck_assert_int_eq (fclose (in), 0);
    ck_assert_str_eq (now, text);
}

static void
take (void)
{
    const lk_err error = lk_passwords_read (&passwords, path, &problem);
    ck_assert_msg (error == LK_OK, "%s", problem.text);
}

START_TEST (users_have_a_role_in_each_zone)
{
    put ("# of corp\n\nalice acme:operator,lab:user " HASH "\n"
         "bob acme:observer " HASH);
    take ();
    ck_assert_uint_eq (passwords.count, 2);
    const lk_password_user *alice = lk_passwords_find (&passwords, "alice");
    ck_assert_ptr_nonnull (alice);
    ck_assert_int_eq (lk_password_user_role (alice, "acme"), LK_ROLE_OPERATOR);
    ck_assert_int_eq (lk_password_user_role (alice, "lab"), LK_ROLE_USER);
    ck_assert_int_eq (lk_password_user_role (alice, "else"), LK_ROLE_NONE);
    ck_assert_ptr_null (lk_passwords_find (&passwords, "carol"));
    ck_assert_ptr_null (lk_passwords_find (&passwords, "# of"));
}
END_TEST

START_TEST (only_its_password_is_right)
{
    lk_password_user alice = {.user = "alice"};
    lk_password_user_set (&alice, "open sesame");
    ck_assert (strstr (alice.hash, "sesame") == NULL);
    ck_assert (lk_password_user_verify (&alice, "open sesame"));
    ck_assert (!lk_password_user_verify (&alice, "open sesam"));
    ck_assert (!lk_password_user_verify (&alice, "open sesamee"));
    ck_assert (!lk_password_user_verify (&alice, ""));
    ck_assert (!lk_password_user_verify (NULL, "open sesame"));
    lk_password_user again = {.user = "alice"};
    lk_password_user_set (&again, "open sesame");
    ck_assert_str_ne (again.hash, alice.hash);
}
END_TEST

START_TEST (lines_that_make_no_sense)
{
    static const char *const lines[] = {
        "alice",
        "alice acme:user",
        "alice acme " HASH,
        "alice acme:root " HASH,
        "alice acme:none " HASH,
        "alice acme:user,acme:admin " HASH,
        "alice acme:user, " HASH,
        "alice  " HASH,
        " acme:user " HASH,
        "al\tice acme:user " HASH,
        "alice ac/me:user " HASH,
        "alice acme:user $2y$10$abcdefghijklmnopqrstuv",
        "bob acme:user " HASH,
    };
    char text[512];
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        snprintf (text, sizeof text, "bob lab:user " HASH "\n%s\n", lines[i]);
        put (text);
        ck_assert_msg (lk_passwords_read (&passwords, path, &problem)
                           == LK_INVALID,
                       "%s", lines[i]);
        ck_assert (strstr (problem.text, "line 2") != NULL);
        ck_assert_ptr_null (passwords.user);
    }
}
END_TEST

START_TEST (others_may_not_read_it)
{
    put ("bob lab:user " HASH "\n");
    ck_assert_int_eq (chmod (path, 0640), 0);
    ck_assert_int_eq (lk_passwords_read (&passwords, path, &problem),
                      LK_INVALID);
    ck_assert (strstr (problem.text, "others may read") != NULL);
}
END_TEST

START_TEST (a_file_is_made_for_its_owner_alone)
{
    struct stat status;
    lk_password_user alice = {.user = "alice", .hash = HASH};
    ck_assert_int_eq (lk_passwords_read (&passwords, path, &problem),
                      LK_UNKNOWN);
    ck_assert (lk_password_user_give (&alice, "acme", LK_ROLE_USER));
    ck_assert (lk_passwords_put (&passwords, &alice));
    ck_assert_int_eq (lk_passwords_write (&passwords, path, &problem), LK_OK);
    ck_assert_int_eq (stat (path, &status), 0);
    ck_assert_int_eq (status.st_mode & 07777, 0600);
    is_file ("alice acme:user " HASH "\n");
}
END_TEST

START_TEST (comments_and_others_stay)
{
    lk_password_user dora = {.user = "dora", .hash = HASH};
    put ("# of corp\nalice acme:user " HASH "\n\nbob lab:user " HASH
         "\ncarol lab:user " HASH);
    take ();
    lk_password_user alice = *lk_passwords_find (&passwords, "alice");
    ck_assert (lk_password_user_give (&alice, "lab", LK_ROLE_ADMIN));
    ck_assert (lk_password_user_give (&dora, "lab", LK_ROLE_USER));
    ck_assert (lk_passwords_put (&passwords, &alice));
    ck_assert (lk_passwords_put (&passwords, &dora));
    ck_assert (lk_passwords_drop (&passwords, "bob"));
    ck_assert (!lk_passwords_drop (&passwords, "bob"));
    ck_assert_int_eq (lk_passwords_write (&passwords, path, &problem), LK_OK);
    is_file ("# of corp\nalice acme:user,lab:admin " HASH
             "\n\ncarol lab:user " HASH "\ndora lab:user " HASH "\n");
}
END_TEST

START_TEST (a_user_has_so_many_zones)
{
    char zone[16];
    lk_password_user alice = {.user = "alice", .hash = HASH};
    for (int i = 0; i < LK_PASSWORD_ZONES_MAX; i++) {
        snprintf (zone, sizeof zone, "z%d", i);
        ck_assert (lk_password_user_give (&alice, zone, LK_ROLE_USER));
    }
    ck_assert (!lk_password_user_give (&alice, "more", LK_ROLE_USER));
    ck_assert (lk_password_user_give (&alice, "z0", LK_ROLE_NONE));
    ck_assert (lk_password_user_give (&alice, "z0", LK_ROLE_NONE));
    ck_assert_uint_eq (alice.count, LK_PASSWORD_ZONES_MAX - 1);
    ck_assert (lk_password_user_give (&alice, "more", LK_ROLE_USER));
    ck_assert_int_eq (lk_password_user_role (&alice, "z0"), LK_ROLE_NONE);
    ck_assert_int_eq (lk_password_user_role (&alice, zone), LK_ROLE_USER);
    ck_assert (lk_passwords_put (&passwords, &alice));
    ck_assert_int_eq (lk_passwords_write (&passwords, path, &problem), LK_OK);
    take ();
    ck_assert_uint_eq (passwords.user[0].count, LK_PASSWORD_ZONES_MAX);
}
END_TEST

START_TEST (passwords_are_text)
{
    char text[LK_PASSWORD_LEN_MAX + 2];
    memset (text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    ck_assert_int_eq (lk_password_check (text, &problem), LK_INVALID);
    text[LK_PASSWORD_LEN_MAX] = '\0';
    ck_assert_int_eq (lk_password_check (text, &problem), LK_OK);
    ck_assert_int_eq (lk_password_check ("j\xc3\xb6rg is", &problem), LK_OK);
    ck_assert_int_eq (lk_password_check ("", &problem), LK_INVALID);
    ck_assert_int_eq (lk_password_check ("a\rb", &problem), LK_INVALID);
    ck_assert_int_eq (lk_password_check ("a\xff", &problem), LK_INVALID);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("passwords");
    tcase_add_checked_fixture (tests, set_up, tear_down);
    tcase_add_test (tests, users_have_a_role_in_each_zone);
    tcase_add_test (tests, only_its_password_is_right);
    tcase_add_test (tests, lines_that_make_no_sense);
    tcase_add_test (tests, others_may_not_read_it);
    tcase_add_test (tests, a_file_is_made_for_its_owner_alone);
    tcase_add_test (tests, comments_and_others_stay);
    tcase_add_test (tests, a_user_has_so_many_zones);
    tcase_add_test (tests, passwords_are_text);

    Suite *suite = suite_create ("passwords");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
