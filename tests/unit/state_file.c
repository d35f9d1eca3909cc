/*  state_file.c - a file that is the old or the new one, and one owner
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/state_file.h"

#include "util/alloc.h"

#include "lib/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];
static lk_state_file *file;
static lk_problem problem;

/*  What was synced and renamed, in order: 'f' a file, 'd' a folder, 'r'.
 *  These are called rather than libc's. */
static char disk_log[32];
static int failing; /* 'f' or 'd': a sync that fails */

static void
note (int what)
{
    const size_t used = strlen (disk_log);
    ck_assert_uint_lt (used + 1, sizeof disk_log);
    disk_log[used] = (char) what;
    disk_log[used + 1] = '\0';
}

int
fsync (int fd)
{
    struct stat status;
    ck_assert_int_eq (fstat (fd, &status), 0);
    const int what = S_ISDIR (status.st_mode) ? 'd' : 'f';
    if (what == failing) {
        errno = EIO;
        return -1;
    }
    note (what);
    return (int) syscall (SYS_fsync, fd);
}

int
renameat (int old_dir, const char *old, int new_dir, const char *new)
{
    note ('r');
    return (int) syscall (SYS_renameat2, old_dir, old, new_dir, new, 0);
}

static void
set_up (void)
{
    disk_log[0] = '\0';
    failing = 0;
    snprintf (dir, sizeof dir, "/tmp/lk-state-XXXXXX");
    ck_assert_ptr_nonnull (mkdtemp (dir));
    file = lk_state_file_open (dir, "lock.state", &problem);
    ck_assert_ptr_nonnull (file);
}

static void
remove_one (const char *name)
{
    char path[128];
    snprintf (path, sizeof path, "%s/%s", dir, name);
    unlink (path);
}

static void
tear_down (void)
{
    lk_state_file_destroy (&file);
    remove_one ("lock.state");
    remove_one ("lock.state.new");
    remove_one ("lock.state.lock");
    ck_assert_int_eq (rmdir (dir), 0);
}

static void
expect (const char *text)
{
    char *data;
    size_t size;
    ck_assert_int_eq (lk_state_file_read (file, 1000, &data, &size, &problem),
                      LK_OK);
    ck_assert_uint_eq (size, strlen (text));
    ck_assert_str_eq (data, text);
    lk_free (data);
}

START_TEST (absent_written_and_read)
{
    char *data;
    size_t size;
    struct stat status;
    ck_assert_int_eq (lk_state_file_read (file, 1000, &data, &size, &problem),
                      LK_UNKNOWN);
    ck_assert_int_eq (lk_state_file_write (file, "one", 3, &problem), LK_OK);
    expect ("one");
    ck_assert_int_eq (lk_state_file_write (file, "second", 6, &problem), LK_OK);
    expect ("second");
    ck_assert_int_eq (stat (lk_state_file_path (file), &status), 0);
    ck_assert_uint_eq (status.st_mode & 0777, 0600);
}
END_TEST

START_TEST (too_large_to_read)
{
    char *data;
    size_t size;
    ck_assert_int_eq (lk_state_file_write (file, "12345", 5, &problem), LK_OK);
    ck_assert_int_eq (lk_state_file_read (file, 4, &data, &size, &problem),
                      LK_INVALID);
    ck_assert_ptr_nonnull (strstr (problem.text, "lock.state'"));
    ck_assert_int_eq (lk_state_file_read (file, 5, &data, &size, &problem),
                      LK_OK);
    lk_free (data);
}
END_TEST

START_TEST (a_pipe_is_not_waited_for)
{
    char *data;
    size_t size;
    ck_assert_int_eq (mkfifo (lk_state_file_path (file), 0600), 0);
    ck_assert_int_eq (lk_state_file_read (file, 4, &data, &size, &problem),
                      LK_OK);
    ck_assert_uint_eq (size, 0);
    lk_free (data);
}
END_TEST

START_TEST (only_one_process_has_it)
{
    ck_assert_ptr_null (lk_state_file_open (dir, "lock.state", &problem));
    ck_assert_int_eq (problem.number, EWOULDBLOCK);
    ck_assert_ptr_nonnull (strstr (problem.text, "in use by another process"));
    lk_state_file_destroy (&file);
    file = lk_state_file_open (dir, "lock.state", &problem);
    ck_assert_ptr_nonnull (file);
}
END_TEST

START_TEST (folder_that_is_not_there)
{
    ck_assert_ptr_null (lk_state_file_open ("/tmp/lk-none", "x", &problem));
    ck_assert_int_eq (problem.number, ENOENT);
    ck_assert_ptr_nonnull (strstr (problem.text, "'/tmp/lk-none'"));
}
END_TEST

/*  A write that fails half way, as on a full disk, leaves the old contents. */
START_TEST (failed_write_keeps_the_old)
{
    char large[8192] = {0};
    ck_assert_int_eq (lk_state_file_write (file, "old", 3, &problem), LK_OK);
    signal (SIGXFSZ, SIG_IGN);
    struct rlimit limit = {4096, RLIM_INFINITY};
    ck_assert_int_eq (setrlimit (RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq (lk_state_file_write (file, large, sizeof large, &problem),
                      LK_SYSTEM);
    ck_assert_int_eq (problem.number, EFBIG);
    limit.rlim_cur = RLIM_INFINITY;
    ck_assert_int_eq (setrlimit (RLIMIT_FSIZE, &limit), 0);
    expect ("old");
    ck_assert_int_eq (lk_state_file_write (file, "new", 3, &problem), LK_OK);
    expect ("new");
}
END_TEST

/*  A power cut after that leaves the new contents under the name. */
START_TEST (synced_before_and_behind_the_rename)
{
    ck_assert_int_eq (lk_state_file_write (file, "one", 3, &problem), LK_OK);
    ck_assert_str_eq (disk_log, "frd");
    ck_assert_int_eq (lk_state_file_write (file, "two", 3, &problem), LK_OK);
    ck_assert_str_eq (disk_log, "frdfrd");
}
END_TEST

START_TEST (failed_sync_is_told)
{
    ck_assert_int_eq (lk_state_file_write (file, "old", 3, &problem), LK_OK);
    failing = 'f';
    ck_assert_int_eq (lk_state_file_write (file, "new", 3, &problem),
                      LK_SYSTEM);
    ck_assert_int_eq (problem.number, EIO);
    expect ("old");
    failing = 'd';
    ck_assert_int_eq (lk_state_file_write (file, "new", 3, &problem),
                      LK_SYSTEM);
    ck_assert_int_eq (problem.number, EIO);
}
END_TEST

/*  A writer that is killed at any moment leaves one of the two. */
START_TEST (killed_writer)
{
    char a[3000], b[3000], *data;
    size_t size;
    memset (a, 'a', sizeof a);
    memset (b, 'b', sizeof b);
    ck_assert_int_eq (lk_state_file_write (file, a, sizeof a, &problem), LK_OK);
    for (int round = 0; round < 20; round++) {
        pid_t pid = fork ();
        if (pid == 0) {
            for (;;) {
                disk_log[0] = '\0';
                (void) lk_state_file_write (file, b, sizeof b, NULL);
                (void) lk_state_file_write (file, a, sizeof a, NULL);
            }
        }
        usleep (1000 + 700 * (unsigned) round);
        kill (pid, SIGKILL);
        waitpid (pid, NULL, 0);
        ck_assert_int_eq (
            lk_state_file_read (file, 5000, &data, &size, &problem), LK_OK);
        ck_assert_uint_eq (size, sizeof a);
        ck_assert (memcmp (data, a, size) == 0 || memcmp (data, b, size) == 0);
        lk_free (data);
    }
}
END_TEST

int
main (void)
{
    TCase *tcase = tcase_create ("state_file");
    tcase_add_checked_fixture (tcase, set_up, tear_down);
    tcase_add_test (tcase, absent_written_and_read);
    tcase_add_test (tcase, too_large_to_read);
    tcase_add_test (tcase, a_pipe_is_not_waited_for);
    tcase_add_test (tcase, only_one_process_has_it);
    tcase_add_test (tcase, folder_that_is_not_there);
    tcase_add_test (tcase, failed_write_keeps_the_old);
    tcase_add_test (tcase, synced_before_and_behind_the_rename);
    tcase_add_test (tcase, failed_sync_is_told);
    tcase_add_test (tcase, killed_writer);
    Suite *suite = suite_create ("state_file");
    suite_add_tcase (suite, tcase);
    return lk_suite_run (suite);
}
