/*  credential.c - who somebody is, signed by who may say so
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "people/credential.h"

#include "net/curve.h"

#include "lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static lk_issuer issuer;
static lk_credential signed_one, heard;
static char line[LK_CREDENTIAL_SIZE];
static lk_problem problem;

static void
set_up (void)
{
    lk_curve_pair pair;
    lk_issuer_make (&issuer);
    lk_curve_make (&pair);
    signed_one = (lk_credential) {.zone = "acme",
                                  .user = "alice",
                                  .role = LK_ROLE_OPERATOR,
                                  .not_before = 1000,
                                  .not_after = 2000,
                                  .since = 900};
    memcpy (signed_one.key, pair.public_key, sizeof signed_one.key);
    lk_credential_sign (&signed_one, &issuer, line);
    problem = (lk_problem) {.text = ""};
}

START_TEST (it_is_read_as_it_was_signed)
{
    set_up ();
    ck_assert_int_eq (lk_credential_read (&heard, line, &problem), LK_OK);
    ck_assert_str_eq (heard.zone, "acme");
    ck_assert_str_eq (heard.user, "alice");
    ck_assert_int_eq (heard.role, LK_ROLE_OPERATOR);
    ck_assert_str_eq (heard.key, signed_one.key);
    ck_assert_int_eq (heard.not_before, 1000);
    ck_assert_int_eq (heard.not_after, 2000);
    ck_assert_int_eq (heard.since, 900);
    ck_assert_uint_eq (heard.serial, signed_one.serial);
    ck_assert_str_eq (heard.issuer, issuer.public_key);
}
END_TEST

START_TEST (blanks_around_it_do_not_count)
{
    char text[LK_CREDENTIAL_SIZE + 8];
    set_up ();
    snprintf (text, sizeof text, "\n %s \r\n", line);
    ck_assert_int_eq (lk_credential_read (&heard, text, &problem), LK_OK);
}
END_TEST

/*  Whichever byte is another one, of the signature too. */
START_TEST (no_byte_can_be_changed)
{
    set_up ();
    const size_t size = strlen (line);
    for (size_t i = 0; i < size; i++) {
        const char was = line[i];
        line[i] = was == '1' ? '2' : '1';
        ck_assert_int_eq (lk_credential_read (&heard, line, &problem),
                          LK_INVALID);
        ck_assert_str_ne (problem.text, "");
        line[i] = was;
    }
    line[size - 1] = '\0';
    ck_assert_int_eq (lk_credential_read (&heard, line, &problem), LK_INVALID);
}
END_TEST

/*  That names itself as the issuer: it is read, and `issuer` says who it is. */
START_TEST (another_issuer_shows)
{
    lk_issuer other;
    set_up ();
    lk_issuer_make (&other);
    lk_credential_sign (&signed_one, &other, line);
    ck_assert_int_eq (lk_credential_read (&heard, line, &problem), LK_OK);
    ck_assert_str_ne (heard.issuer, issuer.public_key);
}
END_TEST

START_TEST (texts_that_are_none)
{
    static const char *const texts[] = {
        "", " ", "lockkeeper-credential-1", "a b c d e f g h i j k",
        "lockkeeper-credential-1 acme  alice user k 1 2 0 1 i s"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ck_assert_int_eq (lk_credential_read (&heard, texts[i], &problem),
                          LK_INVALID);
    }
    char huge[4000];
    memset (huge, 'x', sizeof huge);
    huge[sizeof huge - 1] = '\0';
    ck_assert_int_eq (lk_credential_read (&heard, huge, &problem), LK_INVALID);
}
END_TEST

START_TEST (it_counts_in_its_time)
{
    set_up ();
    ck_assert_int_eq (lk_credential_check_time (&signed_one, 1000, &problem),
                      LK_OK);
    ck_assert_int_eq (lk_credential_check_time (&signed_one, 1999, &problem),
                      LK_OK);
    ck_assert_int_eq (lk_credential_check_time (&signed_one, 2000, &problem),
                      LK_REFUSED);
    ck_assert_int_eq (lk_credential_check_time (
                          &signed_one, 1000 - LK_CREDENTIAL_AHEAD_S, &problem),
                      LK_OK);
    ck_assert_int_eq (
        lk_credential_check_time (&signed_one, 1000 - LK_CREDENTIAL_AHEAD_S - 1,
                                  &problem),
        LK_REFUSED);
}
END_TEST

START_TEST (a_pair_comes_from_its_secret)
{
    lk_issuer again;
    lk_issuer_make (&issuer);
    ck_assert (lk_issuer_from_secret (&again, issuer.secret_key));
    ck_assert_str_eq (again.public_key, issuer.public_key);
    ck_assert (!lk_issuer_from_secret (&again, "0123"));
    ck_assert (lk_issuer_is_key (issuer.public_key));
    issuer.public_key[3] = 'G';
    ck_assert (!lk_issuer_is_key (issuer.public_key));
}
END_TEST

START_TEST (names_of_users)
{
    ck_assert (lk_user_is_name ("alice"));
    ck_assert (lk_user_is_name ("j\xc3\xb6rg@example.org"));
    ck_assert (!lk_user_is_name (""));
    ck_assert (!lk_user_is_name ("al ice"));
    ck_assert (!lk_user_is_name ("al\nice"));
    ck_assert (!lk_user_is_name ("al\xff"));
}
END_TEST

START_TEST (roles_and_commands)
{
    ck_assert_int_eq (lk_role_from_word ("operator"), LK_ROLE_OPERATOR);
    ck_assert_int_eq (lk_role_from_word ("root"), LK_ROLES);
    ck_assert_int_eq (lk_role_needed ("lock", "UNLOCK", ""), LK_ROLE_USER);
    ck_assert_int_eq (lk_role_needed ("lock", "UNLOCK", "force"),
                      LK_ROLE_OPERATOR);
    ck_assert_int_eq (lk_role_needed ("lock", "NOSUCH", ""), LK_ROLE_ADMIN);
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("credential");
    tcase_add_test (tests, it_is_read_as_it_was_signed);
    tcase_add_test (tests, blanks_around_it_do_not_count);
    tcase_add_test (tests, no_byte_can_be_changed);
    tcase_add_test (tests, another_issuer_shows);
    tcase_add_test (tests, texts_that_are_none);
    tcase_add_test (tests, it_counts_in_its_time);
    tcase_add_test (tests, a_pair_comes_from_its_secret);
    tcase_add_test (tests, names_of_users);
    tcase_add_test (tests, roles_and_commands);

    Suite *suite = suite_create ("credential");
    suite_add_tcase (suite, tests);
    return lk_suite_run (suite);
}
