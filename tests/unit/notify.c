/*  notify.c - what a service manager is told, and that nobody waits for it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "daemon/notify.h"

#include "lib/suite.h"

#include <check.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int manager = -1;
static char name[100];

/*  A manager's socket, in no file system. */
static void
open_manager (void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int size =
        snprintf (name, sizeof name, "@lockkeeper-test-%d", (int) getpid ());
    memcpy (address.sun_path + 1, name + 1, (size_t) size - 1);
    manager = socket (AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    ck_assert_int_eq (bind (manager, (struct sockaddr *) &address,
                            (socklen_t) (offsetof (struct sockaddr_un, sun_path)
                                         + (size_t) size)),
                      0);
    setenv ("NOTIFY_SOCKET", name, 1);
    unsetenv ("WATCHDOG_USEC");
    unsetenv ("WATCHDOG_PID");
}

static void
close_manager (void)
{
    close (manager);
}

/*  The next thing that it was told, or "". */
static const char *
told (void)
{
    static char text[4096];
    const ssize_t size = recv (manager, text, sizeof text - 1, 0);
    text[size > 0 ? size : 0] = '\0';
    return text;
}

START_TEST (says_what_there_is_to_say)
{
    lk_notify_ready ();
    ck_assert_str_eq (told (), "READY=1");
    lk_notify_stopping (2500);
    ck_assert_str_eq (told (), "STOPPING=1\nEXTEND_TIMEOUT_USEC=2500000");
    lk_notify_alive ();
    ck_assert_str_eq (told (), "WATCHDOG=1");
    ck_assert_str_eq (told (), "");
}
END_TEST

START_TEST (status_has_two_parts_and_is_told_once)
{
    lk_notify_status (LK_NOTIFY_LOCK, "term %d", 5);
    ck_assert_str_eq (told (), "STATUS=term 5");
    lk_notify_status (LK_NOTIFY_ROUTER, "up");
    ck_assert_str_eq (told (), "STATUS=up; term 5");
    lk_notify_status (LK_NOTIFY_LOCK, "term %d", 5);
    ck_assert_str_eq (told (), "");
}
END_TEST

/*  A peer's text must not become a command to the manager. */
START_TEST (status_is_one_line)
{
    lk_notify_status (LK_NOTIFY_LOCK, "refused: %s", "x\nMAINPID=1");
    ck_assert_str_eq (told (), "STATUS=refused: x?MAINPID=1");
}
END_TEST

START_TEST (nobody_is_told_without_a_socket)
{
    const char *const wrong[] = {"", "@", "relative", NULL};
    for (size_t i = 0; wrong[i]; i++) {
        setenv ("NOTIFY_SOCKET", wrong[i], 1);
        lk_notify_ready ();
    }
    unsetenv ("NOTIFY_SOCKET");
    lk_notify_ready ();
    lk_notify_status (LK_NOTIFY_ROUTER, "x");
    ck_assert_str_eq (told (), "");
}
END_TEST

/*  What it had no room for comes with a later sign of life. */
START_TEST (waits_for_no_manager)
{
    for (int i = 0; i < 100000; i++) {
        lk_notify_alive (); /* more than any queue takes */
    }
    lk_notify_status (LK_NOTIFY_ROUTER, "new");
    while (strcmp (told (), "WATCHDOG=1") == 0) {
        continue;
    }
    ck_assert_str_eq (told (), "");
    lk_notify_alive ();
    ck_assert_str_eq (told (), "WATCHDOG=1");
    ck_assert_str_eq (told (), "STATUS=new");
    lk_notify_alive ();
    ck_assert_str_eq (told (), "WATCHDOG=1");
    ck_assert_str_eq (told (), "");
}
END_TEST

START_TEST (three_signs_of_life_per_watchdog)
{
    char pid[20];
    ck_assert_int_eq (lk_notify_interval_ms (), 0);
    setenv ("WATCHDOG_USEC", "3000000", 1);
    ck_assert_int_eq (lk_notify_interval_ms (), 1000);
    setenv ("WATCHDOG_PID", "1", 1); /* of another process */
    ck_assert_int_eq (lk_notify_interval_ms (), 0);
    snprintf (pid, sizeof pid, "%d", (int) getpid ());
    setenv ("WATCHDOG_PID", pid, 1);
    ck_assert_int_eq (lk_notify_interval_ms (), 1000);
    setenv ("WATCHDOG_USEC", "2000", 1);
    ck_assert_int_eq (lk_notify_interval_ms (), 1);
    setenv ("WATCHDOG_USEC", "junk", 1);
    ck_assert_int_eq (lk_notify_interval_ms (), 0);
}
END_TEST

START_TEST (patience_only_grows)
{
    setenv ("WATCHDOG_USEC", "3000000", 1);
    lk_notify_patience (2000);
    ck_assert_str_eq (told (), "");
    lk_notify_patience (9000);
    ck_assert_str_eq (told (), "WATCHDOG_USEC=9000000");
    ck_assert_int_eq (lk_notify_interval_ms (), 3000);
    lk_notify_patience (4000);
    ck_assert_str_eq (told (), "");
    ck_assert_int_eq (lk_notify_interval_ms (), 3000);
    unsetenv ("WATCHDOG_USEC"); /* nobody watches */
    ck_assert_int_eq (lk_notify_interval_ms (), 0);
    lk_notify_patience (90000);
    ck_assert_str_eq (told (), "");
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("notify");
    tcase_add_checked_fixture (tcase, open_manager, close_manager);
    tcase_add_test (tcase, says_what_there_is_to_say);
    tcase_add_test (tcase, status_has_two_parts_and_is_told_once);
    tcase_add_test (tcase, status_is_one_line);
    tcase_add_test (tcase, nobody_is_told_without_a_socket);
    tcase_add_test (tcase, waits_for_no_manager);
    tcase_add_test (tcase, three_signs_of_life_per_watchdog);
    tcase_add_test (tcase, patience_only_grows);
    Suite *suite = suite_create ("notify");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
