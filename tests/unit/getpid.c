/*  getpid.c - the daemons' getpid, in whatever children there are
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool
is_right (void)
{
    return getpid () == syscall (SYS_getpid)
           && getpid () == syscall (SYS_getpid);
}

/*  Behind the C library's back: none of its handlers runs in the child. */
static pid_t
bare_fork (void)
{
    return (pid_t) syscall (SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static void
check_child (pid_t child)
{
    int status;
    ck_assert_int_gt (child, 0);
    ck_assert_int_eq (waitpid (child, &status, 0), child);
    ck_assert (WIFEXITED (status));
    ck_assert_int_eq (WEXITSTATUS (status), 0);
}

START_TEST (here)
{
    ck_assert (is_right ());
}
END_TEST

static void *
in_thread (void *user)
{
    *(bool *) user = is_right ();
    return NULL;
}

START_TEST (threads)
{
    pthread_t thread;
    bool right = false;
    ck_assert_int_eq (pthread_create (&thread, NULL, in_thread, &right), 0);
    ck_assert_int_eq (pthread_join (thread, NULL), 0);
    ck_assert (right);
}
END_TEST

START_TEST (children)
{
    pid_t (*const made_by[]) (void) = {fork, bare_fork};
    for (int i = 0; i < 4; i++) {
        ck_assert (is_right ());
        pid_t child = made_by[i / 2]();
        if (child == 0) {
            int status = 0;
            bool right = is_right ();
            pid_t grandchild = made_by[i % 2]();
            if (grandchild == 0) {
                _exit (is_right () ? 0 : 1);
            }
            right = waitpid (grandchild, &status, 0) == grandchild
                    && status == 0 && right && is_right ();
            _exit (right ? 0 : 1);
        }
        check_child (child);
        ck_assert (is_right ());
    }
}
END_TEST

/*  A call of it is one by libzmq, too: the program's comes first. */
START_TEST (takes_the_place)
{
    Dl_info info;
    ck_assert (dladdr (dlsym (RTLD_DEFAULT, "getpid"), &info) != 0);
    ck_assert_str_eq (strrchr (info.dli_fname, '/'), "/getpid");
}
END_TEST

int
main (void)
{
    TCase *tests = tcase_create ("getpid");
    tcase_add_test (tests, here);
    tcase_add_test (tests, threads);
    tcase_add_test (tests, children);
    tcase_add_test (tests, takes_the_place);

    Suite *suite = suite_create ("getpid");
    suite_add_tcase (suite, tests);
    SRunner *runner = srunner_create (suite);
    srunner_run_all (runner, CK_NORMAL);
    const int failed = srunner_ntests_failed (runner);
    srunner_free (runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
