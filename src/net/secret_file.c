/*  secret_file.c - a file that only its owner may read
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/secret_file.h"

#include "net/whole_file.h"
#include "util/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*  -------------------------------------------------------- reading */

static lk_err
read_all (int fd, const char *path, char *text, size_t size_max,
          lk_problem *problem)
{
    struct stat status;
    const ssize_t size = lk_file_read (fd, text, size_max + 1);
    if (size < 0 || fstat (fd, &status) != 0) {
        return lk_problem_errno (problem, "cannot read '%s'", path);
    }
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return lk_problem_set (problem, LK_INVALID,
                               "others may read '%s': `chmod 600` it, and "
                               "change what is in it if they had the time",
                               path);
    }
    return (size_t) size <= size_max && memchr (text, 0, (size_t) size) == NULL
               ? LK_OK
               : lk_problem_set (problem, LK_INVALID,
                                 "'%s' is too large or no text", path);
}

lk_err
lk_secret_file_read (const char *path, size_t size_max, char **text,
                     lk_problem *problem)
{
    /*  A pipe of that name must not make us wait for its writer. */
    const int fd = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    *text = NULL;
    if (fd == -1) {
        const bool is_absent = errno == ENOENT;
        (void) lk_problem_errno (problem, "cannot open '%s'", path);
        return is_absent ? LK_UNKNOWN : LK_SYSTEM;
    }
    char *data = lk_alloc (size_max + 2);
    const lk_err error = read_all (fd, path, data, size_max, problem);
    close (fd);
    if (error != LK_OK) {
        explicit_bzero (data, size_max + 1);
        lk_free (data);
        return error;
    }
    *text = data;
    return LK_OK;
}

void
lk_secret_file_free (char **text)
{
    if (*text != NULL) {
        explicit_bzero (*text, strlen (*text));
        lk_free (*text);
        *text = NULL;
    }
}

/*  -------------------------------------------------------- making */

static int
open_folder (const char *path, const char *slash)
{
    char folder[PATH_MAX] = ".";
    if (slash != NULL) {
        snprintf (folder, sizeof folder, "%.*s",
                  slash == path ? 1 : (int) (slash - path), path);
    }
    return open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool
write_new (int folder, const char *name, const char *text)
{
    const int fd = lk_file_make (folder, name);
    if (fd == -1) {
        return false;
    }
    const bool is_done = lk_file_write (fd, text, strlen (text))
                         && fsync (fd) == 0 && fsync (folder) == 0;
    const int number = errno;
    close (fd);
    if (!is_done) {
        (void) unlinkat (folder, name, 0);
        errno = number;
    }
    return is_done;
}

lk_err
lk_secret_file_make (const char *path, const char *text, lk_problem *problem)
{
    const char *slash = strrchr (path, '/');
    const int folder = open_folder (path, slash);
    const bool is_done =
        folder != -1
        && write_new (folder, slash != NULL ? slash + 1 : path, text);
    const int number = errno;
    if (folder != -1) {
        close (folder);
    }
    errno = number;
    return is_done ? LK_OK
                   : lk_problem_errno (problem, "cannot make '%s'", path);
}
