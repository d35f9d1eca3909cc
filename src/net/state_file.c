/*  state_file.c - see state_file.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  New contents go to DIR/NAME.new, are synced and renamed over the old; then
 *  the folder is synced, or the rename may be undone by a power cut.
 */

#include "net/state_file.h"

#include "net/whole_file.h"
#include "util/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

struct lk_state_file {
    int dir_fd;
    int lock_fd;
    char *path; /* DIR/NAME, for messages */
    char *name;
    char *temporary; /* NAME.new */
};

static char *
join (const char *first, const char *second)
{
    size_t size = strlen (first) + strlen (second) + 1;
    char *text = lk_alloc (size);

    snprintf (text, size, "%s%s", first, second);
    return text;
}

static int
open_lock (const lk_state_file *self, const char *name)
{
    int fd = lk_file_make (self->dir_fd, name);

    return fd == -1 && errno == EEXIST ? openat (
               self->dir_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                                       : fd;
}

static lk_err
take_lock (lk_state_file *self, lk_problem *problem)
{
    char *lock_name = join (self->name, ".lock");

    self->lock_fd = open_lock (self, lock_name);
    lk_free (lock_name);
    if (self->lock_fd == -1) {
        return lk_problem_errno (problem, "cannot open '%s.lock'", self->path);
    }
    if (flock (self->lock_fd, LOCK_EX | LOCK_NB) == 0) {
        return LK_OK;
    }
    if (errno != EWOULDBLOCK) {
        return lk_problem_errno (problem, "cannot lock '%s.lock'", self->path);
    }
    lk_err error = lk_problem_set (
        problem, LK_REFUSED,
        "'%s' is in use by another process: if a daemon runs here already, one "
        "is enough",
        self->path);
    if (problem) {
        problem->number = EWOULDBLOCK;
    }
    return error;
}

static void
explain_folder (const char *dir, lk_problem *problem)
{
    const int number = errno;

    (void) lk_problem_errno (problem, "cannot open the folder '%s'", dir);
    if (number == ENOENT) {
        (void) lk_problem_set (problem, LK_SYSTEM,
                               "there is no folder '%s'; make it, writable for "
                               "user %u",
                               dir, (unsigned) geteuid ());
    }
    if (problem) {
        problem->number = number;
    }
}

lk_state_file *
lk_state_file_open (const char *dir, const char *name, lk_problem *problem)
{
    lk_state_file *self = lk_alloc (sizeof *self);
    char *folder = join (dir, "/");

    self->path = join (folder, name);
    lk_free (folder);
    self->name = lk_strdup (name);
    self->temporary = join (name, ".new");
    self->lock_fd = -1;
    self->dir_fd = open (dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (self->dir_fd == -1) {
        explain_folder (dir, problem);
    } else if (take_lock (self, problem) == LK_OK) {
        return self;
    }
    lk_state_file_destroy (&self);
    return NULL;
}

void
lk_state_file_destroy (lk_state_file **self_p)
{
    lk_state_file *self = *self_p;

    if (!self) {
        return;
    }
    if (self->lock_fd != -1) {
        close (self->lock_fd);
    }
    if (self->dir_fd != -1) {
        close (self->dir_fd);
    }
    lk_free (self->path);
    lk_free (self->name);
    lk_free (self->temporary);
    lk_free (self);
    *self_p = NULL;
}

const char *
lk_state_file_path (const lk_state_file *self)
{
    return self->path;
}

/*  -------------------------------------------------------- reading */

static lk_err
read_file (lk_state_file *self, int fd, size_t size_max, char **data,
           size_t *size, lk_problem *problem)
{
    char *buffer = lk_alloc (size_max + 2);
    ssize_t got = lk_file_read (fd, buffer, size_max + 1);
    lk_err error = LK_OK;

    if (got < 0) {
        error = lk_problem_errno (problem, "cannot read '%s'", self->path);
    } else if ((size_t) got > size_max) {
        error = lk_problem_set (problem, LK_INVALID,
                                "'%s' is larger than %zu bytes: it is none of "
                                "ours",
                                self->path, size_max);
    }
    if (error != LK_OK) {
        lk_free (buffer);
        return error;
    }
    *data = buffer;
    *size = (size_t) got;
    return LK_OK;
}

lk_err
lk_state_file_read (lk_state_file *self, size_t size_max, char **data,
                    size_t *size, lk_problem *problem)
{
    /*  A pipe of that name must not make us wait for its writer. */
    int fd = openat (self->dir_fd, self->name,
                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd == -1 && errno == ENOENT) {
        return lk_problem_set (problem, LK_UNKNOWN, "there is no '%s'",
                               self->path);
    }
    if (fd == -1) {
        return lk_problem_errno (problem, "cannot open '%s'", self->path);
    }
    lk_err error = read_file (self, fd, size_max, data, size, problem);
    close (fd);
    return error;
}

/*  -------------------------------------------------------- writing */

static bool
write_temporary (lk_state_file *self, const void *data, size_t size)
{
    (void) unlinkat (self->dir_fd, self->temporary, 0); /* of a crash */
    int fd = lk_file_make (self->dir_fd, self->temporary);

    if (fd == -1) {
        return false;
    }
    bool is_written = lk_file_write (fd, data, size) && fsync (fd) == 0;
    int error = errno;
    bool is_closed = close (fd) == 0;
    if (!is_written) {
        errno = error;
    }
    return is_written && is_closed;
}

lk_err
lk_state_file_write (lk_state_file *self, const void *data, size_t size,
                     lk_problem *problem)
{
    if (!write_temporary (self, data, size)
        || renameat (self->dir_fd, self->temporary, self->dir_fd, self->name)
               != 0
        || fsync (self->dir_fd) != 0) {
        lk_err error =
            lk_problem_errno (problem, "cannot write '%s'", self->path);
        (void) unlinkat (self->dir_fd, self->temporary, 0);
        return error;
    }
    return LK_OK;
}
