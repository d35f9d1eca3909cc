/*  lease_page.c - see lease_page.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A reader loads the time first and the session after it. The writer sets
 *  the time to 0 before it changes the session and to the new time after it.
 *  So a time that was read before the session is of that session, of one
 *  before it, or 0; and a session is never used a second time.
 */

#include "net/lease_page.h"

#include "util/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    char tag[8];
    _Atomic uint64_t session;
    _Atomic int64_t until_ms;
} page;

static const char page_tag[8] = {'L', 'K', 'L', 'E', 'A', 'S', 'E', '1'};

_Static_assert(sizeof (page) == 24, "the layout is part of the protocol");

struct lk_lease_page {
    page *page;
    int fd; /* with the writer's lock */
};

struct lk_lease_view {
    const page *page;
};

/*  -------------------------------------------------------- writer */

/*  Whether another writer lives. Only who may write to the file can hold a
 *  lock that we see so; one of a reader is none of our business. */
static bool
is_in_use (const char *path)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    int fd = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    if (fd == -1) {
        return false;
    }
    bool locked = fcntl (fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_WRLCK;
    close (fd);
    return locked;
}

/*  A fresh file, with our lock. Its bytes are there before it is mapped, or a
 *  full disk would end us by SIGBUS. -1 and errno. */
static int
open_fresh (const char *path)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open (path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    if (fd == -1) {
        return -1;
    }
    int error = fcntl (fd, F_OFD_SETLK, &lock) == 0 && fchmod (fd, 0644) == 0
                    ? posix_fallocate (fd, 0, sizeof (page))
                    : errno;
    if (error != 0) {
        close (fd);
        errno = error;
        return -1;
    }
    return fd;
}

/*  Maps it under its name; false and errno. */
static bool
publish (lk_lease_page *self, const char *temporary, const char *path)
{
    void *fresh = mmap (NULL, sizeof (page), PROT_READ | PROT_WRITE, MAP_SHARED,
                        self->fd, 0);

    if (fresh == MAP_FAILED) {
        return false;
    }
    self->page = fresh;
    memcpy (self->page->tag, page_tag, sizeof page_tag);
    return rename (temporary, path) == 0;
}

static lk_lease_page *
make_page (const char *temporary, const char *path)
{
    lk_lease_page *self = lk_alloc (sizeof *self);

    self->page = NULL;
    self->fd = open_fresh (temporary);
    if (self->fd == -1 || !publish (self, temporary, path)) {
        int error = errno;
        lk_lease_page_destroy (&self);
        errno = error;
    }
    return self;
}

lk_lease_page *
lk_lease_page_new (const char *path, lk_problem *problem)
{
    if (is_in_use (path)) {
        (void) lk_problem_set (problem, LK_REFUSED,
                               "'%s' is in use by another process: another "
                               "lock service, with the same 'lock/run'",
                               path);
        return NULL;
    }
    size_t size = strlen (path) + sizeof ".new";
    char *temporary = lk_alloc (size);
    snprintf (temporary, size, "%s.new", path);
    unlink (temporary);
    lk_lease_page *self = make_page (temporary, path);
    if (!self) {
        (void) lk_problem_errno (problem, "cannot make '%s'", path);
        unlink (temporary);
    }
    lk_free (temporary);
    return self;
}

void
lk_lease_page_destroy (lk_lease_page **self_p)
{
    lk_lease_page *self = *self_p;

    if (!self) {
        return;
    }
    if (self->page) {
        munmap (self->page, sizeof *self->page);
    }
    if (self->fd != -1) {
        close (self->fd);
    }
    lk_free (self);
    *self_p = NULL;
}

void
lk_lease_page_set (lk_lease_page *self, uint64_t session, int64_t until_ms)
{
    if (atomic_load (&self->page->session) != session) {
        atomic_store (&self->page->until_ms, 0);
        atomic_store (&self->page->session, session);
    }
    atomic_store (&self->page->until_ms, until_ms);
}

/*  -------------------------------------------------------- reader */

static const page *
map_existing (const char *path, lk_problem *problem)
{
    struct stat status;
    const page *found = MAP_FAILED;
    /*  A pipe of that name must not make us wait for its writer. */
    int fd = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    if (fd == -1) {
        (void) lk_problem_errno (problem, "cannot open '%s'", path);
        return NULL;
    }
    bool is_large =
        fstat (fd, &status) == 0 && status.st_size >= (off_t) sizeof *found;
    if (is_large) {
        found = mmap (NULL, sizeof *found, PROT_READ, MAP_SHARED, fd, 0);
    }
    close (fd);
    if (found != MAP_FAILED
        && memcmp (found->tag, page_tag, sizeof page_tag) == 0) {
        return found;
    }
    (void) lk_problem_set (problem, LK_INVALID, "'%s' is no lease page", path);
    if (found != MAP_FAILED) {
        munmap ((void *) (uintptr_t) found, sizeof *found);
    }
    return NULL;
}

lk_lease_view *
lk_lease_view_new (const char *path, lk_problem *problem)
{
    const page *found = map_existing (path, problem);

    if (!found) {
        return NULL;
    }
    lk_lease_view *self = lk_alloc (sizeof *self);
    self->page = found;
    return self;
}

void
lk_lease_view_destroy (lk_lease_view **self_p)
{
    lk_lease_view *self = *self_p;

    if (!self) {
        return;
    }
    munmap ((void *) (uintptr_t) self->page, sizeof *self->page);
    lk_free (self);
    *self_p = NULL;
}

int64_t
lk_lease_view_until (const lk_lease_view *self, uint64_t session)
{
    int64_t until_ms = atomic_load (&self->page->until_ms);

    return atomic_load (&self->page->session) == session ? until_ms : 0;
}
