/*  identity.c - what tells a host from the others: its name and its address
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings/identity.h"
#include "lib/suite.h"
#include "net/host_name.h"
#include "net/log.h"
#include "settings/own_address.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/lk-identity-XXXXXX";
static char path[sizeof dir + 10], lock[sizeof dir + 16];
static char host[LK_HOST_LEN_MAX + 1], system_name[LK_HOST_LEN_MAX + 1];
static lk_own_identity identity;
static lk_problem problem;
static char logged[500];

static void
keep_line (lk_log_level level, const char *line)
{
    ck_assert_int_le (level, LK_LOG_NOTICE);
    snprintf (logged, sizeof logged, "%s", line);
}

static void
set_up (void)
{
    snprintf (dir, sizeof dir, "/tmp/lk-identity-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (dir));
    snprintf (path, sizeof path, "%s/identity", dir);
    snprintf (lock, sizeof lock, "%s.lock", path);
    lk_host_name (system_name);
    lk_log_set_sink (keep_line);
    logged[0] = '\0';
}

static void
tear_down (void)
{
    lk_log_set_sink (NULL);
    unlink (path);
    unlink (lock);
    rmdir (dir);
}

static void
put (const char *text)
{
    FILE *file = fopen (path, "w");
    ck_assert_ptr_nonnull (file);
    fputs (text, file);
    fclose (file);
}

static void
says (const char *part)
{
    ck_assert_msg (strstr (problem.text, part) != NULL, "no '%s' in: %s", part,
                   problem.text);
}

START_TEST (it_is_made_at_the_first_start)
{
    struct stat about;
    ck_assert_int_eq (lk_own_identity_settle (path, host, &problem), LK_OK);
    ck_assert_str_eq (host, system_name);
    ck_assert_ptr_nonnull (strstr (logged, "made"));
    ck_assert_int_eq (stat (path, &about), 0);
    ck_assert_uint_eq (about.st_mode & 0777, 0600);
    logged[0] = '\0';
    ck_assert_int_eq (lk_own_identity_settle (path, host, &problem), LK_OK);
    ck_assert_str_eq (host, system_name);
    ck_assert_str_eq (logged, "");
}
END_TEST

START_TEST (a_host_keeps_its_name)
{
    ck_assert_int_eq (lk_own_identity_write (path, "old-name", &problem),
                      LK_OK);
    ck_assert_int_eq (lk_own_identity_settle (path, host, &problem), LK_OK);
    ck_assert_str_eq (host, "old-name");
    ck_assert_ptr_nonnull (strstr (logged, "stays host 'old-name'"));
}
END_TEST

/*  Only where machines have an id, which containers may not. */
START_TEST (a_copy_is_refused)
{
    ck_assert_int_eq (lk_own_identity_write (path, "h1", &problem), LK_OK);
    ck_assert_int_eq (lk_own_identity_read (&identity, path, &problem), LK_OK);
    const bool known = identity.machine[0] != '\0';
    put ("host = h1\nmachine = 0123456789abcdef\n");
    ck_assert_int_eq (lk_own_identity_settle (path, host, &problem),
                      known ? LK_REFUSED : LK_OK);
    if (known) {
        says ("'h1' on another machine");
        says ("remove its line 'machine'");
    }
    put ("host = h1\n");
    ck_assert_int_eq (lk_own_identity_settle (path, host, &problem), LK_OK);
    ck_assert_str_eq (host, "h1");
    ck_assert_int_eq (lk_own_identity_read (&identity, path, &problem), LK_OK);
    ck_assert_int_eq (identity.machine[0] != '\0', known);
}
END_TEST

START_TEST (what_makes_no_sense_is_told)
{
    put ("host = \"h 1\"\n");
    ck_assert_int_eq (lk_own_identity_settle (path, host, &problem),
                      LK_INVALID);
    says ("line 1");
    put ("#\nmachine = 12\n");
    ck_assert_int_eq (lk_own_identity_settle (path, host, &problem),
                      LK_INVALID);
    says ("line 2");
    put ("");
    ck_assert_int_eq (lk_own_identity_settle (path, host, &problem),
                      LK_INVALID);
    says ("names no host");
    unlink (path);
    unlink (lock);
    rmdir (dir);
    ck_assert_int_eq (lk_own_identity_settle (path, host, &problem), LK_SYSTEM);
    says (dir);
}
END_TEST

/*  -------------------------------------------------------- addresses */

static lk_err
find (const char *const *neighbour, char *listen)
{
    problem.text[0] = '\0';
    return lk_own_address_find (neighbour, listen, &problem);
}

START_TEST (the_own_address_is_found)
{
    static const char *const none[] = {NULL};
    static const char *const one[] = {"192.0.2.1:7411", "127.0.0.9:99",
                                      "192.0.2.3:7411", NULL};
    static const char *const two[] = {"127.0.0.1:1", "127.0.0.1:2", NULL};
    static const char *const strange[] = {"192.0.2.1:7411",
                                          "[2001:db8::1]:7411", NULL};
    char listen[LK_ADDRESS_LEN_MAX + 1];
    ck_assert_int_eq (find (none, listen), LK_OK);
    ck_assert_str_eq (listen, "tcp://127.0.0.1:7411");
    ck_assert_int_eq (find (one, listen), LK_OK);
    ck_assert_str_eq (listen, "tcp://127.0.0.9:99");
    ck_assert_int_eq (find (two, listen), LK_SYSTEM);
    says ("'127.0.0.1:1' and '127.0.0.1:2'");
    says ("router/listen");
    ck_assert_int_eq (find (strange, listen), LK_SYSTEM);
    says ("127.0.0.1");
    says ("add its own");
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("identity");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_add_test (tcase, it_is_made_at_the_first_start);
    tcase_add_test (tcase, a_host_keeps_its_name);
    tcase_add_test (tcase, a_copy_is_refused);
    tcase_add_test (tcase, what_makes_no_sense_is_told);
    tcase_add_test (tcase, the_own_address_is_found);
    Suite *suite = suite_create ("identity");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
