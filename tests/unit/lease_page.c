/*  lease_page.c - the page of the lease, written and read
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/lease_page.h"
#include "client/lease.h"
#include "lib/suite.h"

#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static char path[96];
static lk_problem problem;
static lk_lease_page *page;
static lk_lease_view *view;

static void
set_up (void)
{
    snprintf (dir, sizeof dir, "/tmp/lk-lease-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (dir));
    snprintf (path, sizeof path, "%s/lock.lease", dir);
    page = lk_lease_page_new (path, &problem);
    ck_assert_ptr_nonnull (page);
    view = lk_lease_view_new (path, &problem);
    ck_assert_ptr_nonnull (view);
}

static void
tear_down (void)
{
    lk_lease_view_destroy (&view);
    lk_lease_page_destroy (&page);
    unlink (path);
    ck_assert_int_eq (rmdir (dir), 0);
}

/*  Its state file was lost: the next one's first session has the number of
 *  its own first one. */
START_TEST (another_lock_service_with_a_session_of_that_number)
{
    lk_lease_page_set (page, 1, 1000);
    lk_lease *old = lk_lease_take (NULL, path, 1, 900);
    lk_lease *same = lk_lease_take (old, path, 1, 1000);
    ck_assert_ptr_eq (same, old);
    lk_lease_page_destroy (&page);
    page = lk_lease_page_new (path, &problem);
    lk_lease_page_set (page, 1, 3000);
    lk_lease *next = lk_lease_take (old, path, 1, 2000);
    ck_assert_int_eq (lk_lease_until (next), 3000);
    ck_assert_int_eq (lk_lease_until (old), 1000);
    lk_lease_drop (&same);
    lk_lease_drop (&old);
    lk_lease_drop (&next);
}
END_TEST

START_TEST (what_is_set_is_seen)
{
    struct stat status;
    ck_assert_int_eq (lk_lease_view_until (view, 0), 0);
    lk_lease_page_set (page, 7, 1000);
    ck_assert_int_eq (lk_lease_view_until (view, 7), 1000);
    ck_assert_int_eq (lk_lease_view_until (view, 6), 0);
    lk_lease_page_set (page, 7, 2000);
    ck_assert_int_eq (lk_lease_view_until (view, 7), 2000);
    lk_lease_page_set (page, 8, 3000);
    ck_assert_int_eq (lk_lease_view_until (view, 7), 0);
    ck_assert_int_eq (lk_lease_view_until (view, 8), 3000);
    ck_assert_int_eq (stat (path, &status), 0);
    ck_assert_uint_eq (status.st_mode & 0777, 0644);
    ck_assert_int_eq (status.st_size, 24);
}
END_TEST

START_TEST (restarted_writer_makes_another)
{
    lk_lease_page_set (page, 7, 1000);
    lk_lease_page_destroy (&page);
    lk_lease_page *second = lk_lease_page_new (path, &problem);
    ck_assert_ptr_nonnull (second);
    lk_lease_page_set (second, 8, 2000);
    ck_assert_int_eq (lk_lease_view_until (view, 7), 1000);
    ck_assert_int_eq (lk_lease_view_until (view, 8), 0);
    lk_lease_view_destroy (&view);
    view = lk_lease_view_new (path, &problem);
    ck_assert_int_eq (lk_lease_view_until (view, 8), 2000);
    lk_lease_page_destroy (&second);
    ck_assert_int_eq (lk_lease_view_until (view, 8), 2000);
}
END_TEST

START_TEST (second_writer_is_refused)
{
    ck_assert_ptr_null (lk_lease_page_new (path, &problem));
    ck_assert_ptr_nonnull (strstr (problem.text, "in use by another process"));
    lk_lease_page_set (page, 7, 1000);
    lk_lease_view_destroy (&view);
    view = lk_lease_view_new (path, &problem);
    ck_assert_int_eq (lk_lease_view_until (view, 7), 1000);
}
END_TEST

/*  Anybody may open the page, and lock what is open. */
START_TEST (no_reader_keeps_a_writer_away)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    lk_lease_page_destroy (&page);
    int fd = open (path, O_RDONLY);
    ck_assert_int_eq (fcntl (fd, F_OFD_SETLK, &lock), 0);
    ck_assert_int_eq (flock (fd, LOCK_EX), 0);
    page = lk_lease_page_new (path, &problem);
    ck_assert_ptr_nonnull (page);
    close (fd);
}
END_TEST

START_TEST (files_that_are_none)
{
    char other[128];
    snprintf (other, sizeof other, "%s/other", dir);
    ck_assert_ptr_null (lk_lease_view_new (other, &problem));
    FILE *file = fopen (other, "w");
    fputs ("LKLEASE1 short", file);
    fclose (file);
    ck_assert_ptr_null (lk_lease_view_new (other, &problem));
    ck_assert_ptr_nonnull (strstr (problem.text, "no lease page"));
    file = fopen (other, "w");
    fputs ("LKLEASE2 and something that is long enough", file);
    fclose (file);
    ck_assert_ptr_null (lk_lease_view_new (other, &problem));
    unlink (other);
    ck_assert_ptr_null (lk_lease_page_new ("/tmp/lk-none/x", &problem));
}
END_TEST

/*  Session n lasts until 10 n: no reader may ever see it last longer. */
static void *
change (void *user)
{
    atomic_bool *stop = user;
    for (uint64_t n = 1; !atomic_load (stop); n++) {
        lk_lease_page_set (page, n, (int64_t) n * 10);
    }
    return NULL;
}

/*  As lockkeeper-protocol(7) has it: behind the tag. */
static const _Atomic uint64_t *
map_session (void)
{
    const int fd = open (path, O_RDONLY);
    const char *start = mmap (NULL, 24, PROT_READ, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne (start, MAP_FAILED);
    close (fd);
    return (const _Atomic uint64_t *) (const void *) (start + 8);
}

START_TEST (no_mixture_is_seen)
{
    atomic_bool stop = false;
    const _Atomic uint64_t *present = map_session ();
    pthread_t thread;
    ck_assert_int_eq (pthread_create (&thread, NULL, change, &stop), 0);
    for (int i = 0; i < 1000000; i++) {
        const uint64_t session = atomic_load (present);
        const int64_t until = lk_lease_view_until (view, session);
        ck_assert (until == 0 || until == (int64_t) session * 10);
    }
    atomic_store (&stop, true);
    pthread_join (thread, NULL);
}
END_TEST

START_TEST (a_pipe_is_no_page)
{
    char pipe[128];
    snprintf (pipe, sizeof pipe, "%s/pipe", dir);
    ck_assert_int_eq (mkfifo (pipe, 0600), 0);
    ck_assert_ptr_null (lk_lease_view_new (pipe, &problem));
    ck_assert_ptr_nonnull (strstr (problem.text, "is no lease page"));
    ck_assert_int_eq (unlink (pipe), 0);
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("lease_page");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_set_timeout (tcase, 20);
    tcase_add_test (tcase, another_lock_service_with_a_session_of_that_number);
    tcase_add_test (tcase, what_is_set_is_seen);
    tcase_add_test (tcase, a_pipe_is_no_page);
    tcase_add_test (tcase, restarted_writer_makes_another);
    tcase_add_test (tcase, second_writer_is_refused);
    tcase_add_test (tcase, no_reader_keeps_a_writer_away);
    tcase_add_test (tcase, files_that_are_none);
    tcase_add_test (tcase, no_mixture_is_seen);
    Suite *suite = suite_create ("lease_page");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
