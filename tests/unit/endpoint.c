/*  endpoint.c - tests of where a process looks for its router
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/endpoint.h"
#include "lib/foreign.h"
#include "lib/suite.h"
#include "net/where.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*  All addresses of a list, with '|' between them. */
static const char *
split (const char *list)
{
    static char text[256];
    char endpoint[64];
    text[0] = '\0';
    while (lk_endpoint_next (&list, endpoint, sizeof endpoint)) {
        snprintf (text + strlen (text), sizeof text - strlen (text), "%s%s",
                  text[0] != '\0' ? "|" : "", endpoint);
    }
    return text;
}

START_TEST (lists)
{
    ck_assert_str_eq (split ("ipc:///a"), "ipc:///a");
    ck_assert_str_eq (split ("ipc:///a,ipc:///b"), "ipc:///a|ipc:///b");
    ck_assert_str_eq (split (" ipc:///a , ipc:///b\tipc:///c\n"),
                      "ipc:///a|ipc:///b|ipc:///c");
    ck_assert_str_eq (split ("ipc:///a b, c,ipc:///d"),
                      "ipc:///a b, c|ipc:///d");
    ck_assert_str_eq (split ("nowhere ipc:///a"), "nowhere|ipc:///a");
    ck_assert_str_eq (split (""), "");
    ck_assert_str_eq (split (" ,, "), "");
}
END_TEST

static const char *
complaint (const char *list)
{
    static lk_problem problem;
    const lk_err error = lk_endpoint_check_list (list, &problem);
    ck_assert (error == LK_OK || error == LK_INVALID);
    return error == LK_OK ? "" : problem.text;
}

START_TEST (each_is_looked_at)
{
    ck_assert_str_eq (complaint ("ipc:///a, ipc:///b"), "");
    ck_assert_str_eq (complaint ("ipc:///a, ipc://"),
                      "'ipc://' is no endpoint of a router: one looks like "
                      "ipc:///run/lockkeeper/router");
    ck_assert_str_eq (complaint (""),
                      "'' is no endpoint of a router: one looks like "
                      "ipc:///run/lockkeeper/router");
    ck_assert_str_eq (complaint ("ipc:///a tcp://h2:7411"),
                      "'tcp://h2:7411' is no endpoint of a router: one looks "
                      "like ipc:///run/lockkeeper/router; a process speaks "
                      "with the router of its own host only, tcp is for "
                      "routers among themselves");
}
END_TEST

START_TEST (why_there_is_no_way)
{
    lk_problem problem;
    lk_endpoint_why_not ("ipc:///no/such", &problem);
    ck_assert_str_eq (problem.text,
                      "no router at 'ipc:///no/such': no such file or "
                      "directory");
    ck_assert_int_eq (problem.number, ENOENT);
    lk_endpoint_why_not ("ipc:///no/such ipc:///dev/null", &problem);
    ck_assert_str_eq (problem.text,
                      "no router at 'ipc:///no/such': no such file or "
                      "directory; none at 'ipc:///dev/null': connection "
                      "refused");
    ck_assert_int_eq (problem.number, ECONNREFUSED);
}
END_TEST

START_TEST (who_does_not_answer_is_there)
{
    char endpoint[64], list[128];
    lk_problem problem;
    snprintf (endpoint, sizeof endpoint, "ipc:///tmp/lk-endpoint-%d",
              (int) getpid ());
    const int fd = lk_stream_bind (endpoint);
    ck_assert_int_ge (fd, 0);
    ck_assert_int_eq (listen (fd, 5), 0);
    snprintf (list, sizeof list, "ipc:///no/such,%s", endpoint);
    lk_endpoint_why_not (list, &problem);
    ck_assert_int_eq (problem.number, ETIMEDOUT);
    ck_assert_ptr_nonnull (strstr (problem.text, endpoint));
    ck_assert_ptr_nonnull (strstr (problem.text, "does not answer"));
    close (fd);
    lk_endpoint_remove (endpoint, lk_endpoint_file (endpoint));
}
END_TEST

START_TEST (what_was_told_goes_first)
{
    setenv ("LOCKKEEPER_ENDPOINT", "ipc:///named", 1);
    ck_assert_str_eq (lk_where ("ipc:///told"), "ipc:///told");
    ck_assert_str_eq (lk_where (""), "");
    ck_assert_str_eq (lk_where (NULL), "ipc:///named");
    setenv ("LOCKKEEPER_ENDPOINT", "", 1);
    ck_assert_str_eq (lk_where (NULL), "ipc:///run/lockkeeper/router");
    unsetenv ("LOCKKEEPER_ENDPOINT");
    ck_assert_str_eq (lk_where (NULL), "ipc:///run/lockkeeper/router");
}
END_TEST

/*  Whatever else is in it; a folder beside it adds to it. */
START_TEST (the_configuration_tells_it)
{
    static const char path[] = "/tmp/lk-endpoint.conf";
    unsetenv ("LOCKKEEPER_ENDPOINT");
    ck_assert_str_eq (lk_where_by ("/no/such", NULL),
                      "ipc:///run/lockkeeper/router");
    FILE *file = fopen (path, "w");
    ck_assert_ptr_nonnull (file);
    fputs ("router\n    nonsense = 1\n    endpoint = ipc:///there\n"
           "lock\n    host-lease = 8000\n",
           file);
    fclose (file);
    ck_assert_str_eq (lk_where_by (path, NULL), "ipc:///there");
    ck_assert_str_eq (lk_where_by (path, "ipc:///told"), "ipc:///told");
    setenv ("LOCKKEEPER_ENDPOINT", "ipc:///named", 1);
    ck_assert_str_eq (lk_where_by (path, NULL), "ipc:///named");
    remove (path);
}
END_TEST

static void
write_config (const char *path, const char *text)
{
    FILE *file = fopen (path, "w");
    ck_assert_ptr_nonnull (file);
    fputs (text, file);
    fclose (file);
}

/*  An endpoint of admins that is open goes ahead of that of applications. */
START_TEST (administrators)
{
    static const char path[] = "/tmp/lk-endpoint-admin.conf";
    static const char plain[] = "router\n    endpoint = ipc:///dev/nul\n";
    unsetenv ("LOCKKEEPER_ENDPOINT");
    write_config (path, plain);
    ck_assert_str_eq (lk_where_admin (path), "ipc:///dev/nul");
    write_config (path, "router\n    endpoint = ipc:///dev/nul\n"
                        "    admin-endpoint = ipc:///dev/null\n");
    ck_assert_str_eq (lk_where_admin (path), "ipc:///dev/null");
    ck_assert_str_eq (lk_where_by (path, NULL), "ipc:///dev/nul");
    setenv ("LOCKKEEPER_ENDPOINT", "ipc:///named", 1);
    ck_assert_str_eq (lk_where_admin (path), "ipc:///named");
    unsetenv ("LOCKKEEPER_ENDPOINT");
    write_config ("/tmp/lk-endpoint-admin.conf-admin", "");
    write_config (path,
                  "router\n    endpoint = ipc:///tmp/lk-endpoint-admin.conf\n");
    ck_assert_str_eq (lk_where_admin (path),
                      "ipc:///tmp/lk-endpoint-admin.conf-admin");
    remove ("/tmp/lk-endpoint-admin.conf-admin");
    remove (path);
}
END_TEST

int
main (void)
{
    Suite *suite = suite_create ("endpoint");
    TCase *tcase = tcase_create ("endpoint");
    tcase_add_test (tcase, lists);
    tcase_add_test (tcase, each_is_looked_at);
    tcase_add_test (tcase, why_there_is_no_way);
    tcase_add_test (tcase, who_does_not_answer_is_there);
    tcase_add_test (tcase, what_was_told_goes_first);
    tcase_add_test (tcase, the_configuration_tells_it);
    tcase_add_test (tcase, administrators);
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
