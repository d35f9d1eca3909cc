/*  client_file.c - the file of an application on a machine without a router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/client_file.h"

#include "lib/suite.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64], path[96];
static lk_curve_pair pair;
static char first[LK_CURVE_TEXT_SIZE], second[LK_CURVE_TEXT_SIZE];
static lk_client_file file;
static lk_problem problem;

/*  Some of their bytes mean something to ZPL where nothing is quoted. */
static void
draw (char key[LK_CURVE_TEXT_SIZE])
{
    lk_curve_pair other;
    do {
        lk_curve_make (&other);
    } while (strchr (other.public_key, '#') == NULL);
    memcpy (key, other.public_key, LK_CURVE_TEXT_SIZE);
}

static void
set_up (void)
{
    snprintf (dir, sizeof dir, "/tmp/lk-client-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (dir));
    snprintf (path, sizeof path, "%s/client", dir);
    lk_curve_make (&pair);
    draw (first);
    draw (second);
    problem = (lk_problem) {.text = ""};
}

static void
tear_down (void)
{
    (void) unlink (path);
    ck_assert_int_eq (rmdir (dir), 0);
}

static void
put (const char *text, mode_t mode)
{
    FILE *out = fopen (path, "w");
    ck_assert_ptr_nonnull (out);
    ck_assert_int_ge (fputs (text, out), 0);
    ck_assert_int_eq (fclose (out), 0);
    ck_assert_int_eq (chmod (path, mode), 0);
}

/*  A file with the pair, and that below it. */
static void
put_pair (const char *more)
{
    char text[2000];
    snprintf (text, sizeof text,
              "client\n    public-key = \"%s\"\n    secret-key = \"%s\"\n%s",
              pair.public_key, pair.secret_key, more);
    put (text, 0600);
}

static void
put_servers (const char *first_key, const char *second_key)
{
    char more[400];
    snprintf (more, sizeof more,
              "    server = \"tcp://h1:7412 %s\"\n"
              "    server = \"tcp://[fe80::1]:7413 %s\"  # the other one\n",
              first_key, second_key);
    put_pair (more);
}

static void
check_refused (const char *what)
{
    ck_assert_int_ne (lk_client_file_read (&file, path, &problem), LK_OK);
    ck_assert_msg (strstr (problem.text, what) != NULL, "%s", problem.text);
    ck_assert_ptr_nonnull (strstr (problem.text, path));
    ck_assert_str_eq (file.pair.secret_key, "");
}

START_TEST (good)
{
    put_servers (first, second);
    ck_assert_int_eq (lk_client_file_read (&file, path, &problem), LK_OK);
    ck_assert_str_eq (file.pair.public_key, pair.public_key);
    ck_assert_str_eq (file.pair.secret_key, pair.secret_key);
    ck_assert_uint_eq (file.count, 2);
    ck_assert_str_eq (file.server[0].endpoint, "tcp://h1:7412");
    ck_assert_str_eq (file.server[0].key, first);
    ck_assert_str_eq (file.server[1].endpoint, "tcp://[fe80::1]:7413");
    ck_assert_str_eq (file.server[1].key, second);
    ck_assert_int_eq (file.order, LK_CLIENT_NEAREST);
    ck_assert_str_eq (file.domain, "");
    put_pair ("    order = random\n");
    ck_assert_int_eq (lk_client_file_read (&file, path, &problem), LK_OK);
    ck_assert_int_eq (file.order, LK_CLIENT_RANDOM);
    ck_assert_uint_eq (file.count, 0);
}
END_TEST

static void
read_pair (const char *format, const char *first_key, const char *second_key)
{
    char more[400];
    snprintf (more, sizeof more, format, first_key, second_key);
    put_pair (more);
    ck_assert_msg (lk_client_file_read (&file, path, &problem) == LK_OK, "%s",
                   problem.text);
}

/*  Beside the file, unless that says where. */
START_TEST (credential)
{
    char beside[128];
    put_pair ("");
    ck_assert_int_eq (lk_client_file_read (&file, path, &problem), LK_OK);
    snprintf (beside, sizeof beside, "%s.credential", path);
    ck_assert_str_eq (file.credential, beside);
    put_pair ("    credential = keys/mine\n");
    ck_assert_int_eq (lk_client_file_read (&file, path, &problem), LK_OK);
    snprintf (beside, sizeof beside, "%s/keys/mine", dir);
    ck_assert_str_eq (file.credential, beside);
    put_pair ("    credential = /run/mine\n");
    ck_assert_int_eq (lk_client_file_read (&file, path, &problem), LK_OK);
    ck_assert_str_eq (file.credential, "/run/mine");
    put_pair ("    credential = \"\"\n");
    check_refused ("the credential is the path of a file");
}
END_TEST

START_TEST (domains)
{
    read_pair ("    server = \"tcp://h1:7412 %s au.perth.dh4\"\n"
               "    server = \"tcp://h2:7412 %s\"\n"
               "    order = listed\n    domain = au.perth.dh4.rack3\n"
               "    domain-limit = au.perth\n",
               first, second);
    ck_assert_str_eq (file.server[0].domain, "au.perth.dh4");
    ck_assert_str_eq (file.server[0].key, first);
    ck_assert_str_eq (file.server[1].domain, "");
    ck_assert_int_eq (file.order, LK_CLIENT_LISTED);
    ck_assert_str_eq (file.domain, "au.perth.dh4.rack3");
    ck_assert_str_eq (file.limit, "au.perth");
    ck_assert (!file.is_closed);
    read_pair ("    domain-limit = au.perth\n    discovery = no\n", "", "");
    ck_assert (file.is_closed);
    ck_assert_str_eq (file.domain, "au.perth"); /* there at least */
}
END_TEST

/*  Nothing but keys of servers: the name that is the default. */
START_TEST (default_endpoint)
{
    read_pair ("    server-key = \"%s\"\n    server-key = \"%s\"\n", first,
               second);
    ck_assert_uint_eq (file.count, 2);
    ck_assert_str_eq (file.server[0].endpoint, "tcp://lockkeeper:7412");
    ck_assert_str_eq (file.server[1].endpoint, "tcp://lockkeeper:7412");
    ck_assert_str_eq (file.server[0].key, first);
    ck_assert_str_eq (file.server[1].key, second);
    read_pair ("    server-key = \"%s\"\n    server = \"tcp://h1:1 %s\"\n",
               first, second);
    ck_assert_uint_eq (file.count, 1);
    ck_assert_str_eq (file.server[0].key, second);
    read_pair ("    server-key = \"%s\"\n    beacon = 7412\n", first, "");
    ck_assert_int_eq (file.beacon, 7412);
    ck_assert_uint_eq (file.count, 0);
}
END_TEST

/*  Each mistake is told with its line. */
START_TEST (mistakes)
{
    check_refused ("no such file");
    ck_assert_int_eq (problem.number, ENOENT);
    put_servers (first, second);
    ck_assert_int_eq (chmod (path, 0640), 0);
    check_refused ("chmod 600");
    ck_assert_int_eq (problem.number, EINVAL);
    put ("", 0600);
    check_refused ("has no 'client/public-key'");
    put_pair ("    servr = x\n");
    check_refused ("line 4: there is no such setting");
    put_pair ("    server = \"h1:7412\"\n");
    check_refused ("line 4: a server is");
    put_servers (first, "tooshort");
    check_refused ("line 5: a server is");
    put_servers (first, "");
    check_refused ("line 5: a server is");
    put_servers (first, "a b c");
    check_refused ("line 5: a server is");
    put_pair ("    order = any\n");
    check_refused ("line 4: the order is");
    put_pair ("    beacon = 70000\n");
    check_refused ("line 4: the beacon is");
    put_pair ("    discovery = perhaps\n");
    check_refused ("line 4: discovery is");
    put_pair ("    domain = au..perth\n");
    check_refused ("line 4: a location domain is");
    put_pair ("    domain = au.perth\n    domain-limit = au.sydney\n");
    check_refused ("'client/domain' is not in");
    put_pair ("    server-key = x\n");
    check_refused ("line 4: a key is 40 characters");
    put_pair ("\tserver = x\n");
    check_refused ("line 4: indented by a tab");
    memcpy (pair.public_key, first, sizeof first);
    put_pair ("");
    check_refused ("not of one pair");
    pair.secret_key[0] = '\0';
    put_pair ("");
    check_refused ("line 3: a key is 40 characters");
}
END_TEST

START_TEST (too_many)
{
    char more[LK_CLIENT_SERVERS_MAX * 80 + 200] = "";
    for (int i = 0; i <= LK_CLIENT_SERVERS_MAX; i++) {
        snprintf (more + strlen (more), sizeof more - strlen (more),
                  "    server = \"tcp://h%d:1 %s\"\n", i, first);
    }
    char text[sizeof more + 200];
    snprintf (text, sizeof text, "client\n%s", more);
    put (text, 0600);
    check_refused ("line 34: more than 32 servers");
}
END_TEST

/*  -------------------------------------------------------- other servers */

static void
read_two (const char *first_key, const char *second_key)
{
    put_servers (first_key, second_key);
    ck_assert_int_eq (lk_client_file_read (&file, path, &problem), LK_OK);
}

START_TEST (redirected)
{
    read_two (first, second);
    ck_assert_int_eq (lk_client_file_redirect (
                          &file, "tcp://10.0.0.1:1, tcp://h1:7412", &problem),
                      LK_OK);
    ck_assert_uint_eq (file.count, 2);
    ck_assert_str_eq (file.server[0].endpoint, "tcp://10.0.0.1:1");
    ck_assert_str_eq (file.server[0].key, first); /* in the same place */
    ck_assert_str_eq (file.server[1].endpoint, "tcp://h1:7412");
    ck_assert_str_eq (file.server[1].key, first); /* of the same endpoint */
    read_two (first, second);
    ck_assert_int_eq (
        lk_client_file_redirect (&file, "tcp://10.0.0.1:1", &problem),
        LK_INVALID);
    ck_assert_ptr_nonnull (strstr (problem.text, "no key for"));
    ck_assert_uint_eq (file.count, 2);
    read_two (first, first);
    ck_assert_int_eq (
        lk_client_file_redirect (&file, "tcp://10.0.0.1:1", &problem), LK_OK);
    ck_assert_uint_eq (file.count, 1);
    ck_assert_str_eq (file.server[0].key, first);
    ck_assert_int_eq (
        lk_client_file_redirect (&file, "tcp://h1:7412,h2:7412", &problem),
        LK_INVALID);
    ck_assert_int_eq (lk_client_file_redirect (&file, "", &problem),
                      LK_INVALID);
}
END_TEST

/*  Several behind one address are all of them; keys of no certain server go
 *  with any address. */
START_TEST (redirected_to_several)
{
    read_pair ("    server = \"tcp://lb:7412 %s\"\n"
               "    server = \"tcp://lb:7412 %s\"\n",
               first, second);
    ck_assert_int_eq (
        lk_client_file_redirect (&file, "tcp://lb:7412", &problem), LK_OK);
    ck_assert_uint_eq (file.count, 2);
    ck_assert_str_eq (file.server[1].key, second);
    read_pair ("    server-key = \"%s\"\n"
               "    server = \"tcp://h1:1 %s\"\n",
               first, second);
    ck_assert_int_eq (
        lk_client_file_redirect (&file, "tcp://h9:1,tcp://h1:1", &problem),
        LK_OK);
    ck_assert_uint_eq (file.count, 2);
    ck_assert_str_eq (file.server[0].key, first);
    ck_assert_str_eq (file.server[1].key, second);
}
END_TEST

/*  -------------------------------------------------------- a new one */

START_TEST (made)
{
    struct stat status;
    lk_client_file other;
    const mode_t mask = umask (0);
    ck_assert_int_eq (lk_client_file_make (&file, path, &problem), LK_OK);
    umask (mask);
    ck_assert_int_eq (stat (path, &status), 0);
    ck_assert_int_eq (status.st_mode & 07777, 0600);
    ck_assert_int_eq (lk_client_file_read (&other, path, &problem), LK_OK);
    ck_assert_str_eq (other.pair.secret_key, file.pair.secret_key);
    ck_assert_uint_eq (other.count, 0);
    ck_assert_int_eq (lk_client_file_make (&file, path, &problem), LK_SYSTEM);
    ck_assert_int_eq (problem.number, EEXIST);
    ck_assert_int_eq (lk_client_file_read (&file, path, &problem), LK_OK);
    ck_assert_str_eq (other.pair.secret_key, file.pair.secret_key);
    ck_assert_int_eq (lk_client_file_make (&file, "/no/such/place", &problem),
                      LK_SYSTEM);
    ck_assert_int_eq (problem.number, ENOENT);
}
END_TEST

/*  Of 85 keys one would. */
START_TEST (no_key_is_an_option)
{
    for (int i = 0; i < 800; i++) {
        ck_assert_int_eq (lk_client_file_make (&file, path, &problem), LK_OK);
        ck_assert_int_ne (file.pair.public_key[0], '-');
        ck_assert_int_eq (unlink (path), 0);
    }
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("client_file");
    TCase *tcase = tcase_create ("client_file");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_add_test (tcase, good);
    tcase_add_test (tcase, mistakes);
    tcase_add_test (tcase, too_many);
    tcase_add_test (tcase, redirected);
    tcase_add_test (tcase, redirected_to_several);
    tcase_add_test (tcase, domains);
    tcase_add_test (tcase, credential);
    tcase_add_test (tcase, default_endpoint);
    tcase_add_test (tcase, made);
    tcase_add_test (tcase, no_key_is_an_option);
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
