/*  whole_file.c - see whole_file.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

ssize_t
lk_file_read (int fd, char *data, size_t room)
{
    size_t size = 0;

    while (size < room) {
        const ssize_t got = read (fd, data + size, room - size);
        if (got == 0) {
            break;
        }
        if (got < 0 && errno != EINTR) {
            return -1;
        }
        size += got > 0 ? (size_t) got : 0;
    }
    return (ssize_t) size;
}

bool
lk_file_write (int fd, const char *data, size_t size)
{
    while (size > 0) {
        const ssize_t written = write (fd, data, size);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        data += written > 0 ? written : 0;
        size -= written > 0 ? (size_t) written : 0;
    }
    return true;
}

static bool
hand_over (int fd, int folder)
{
    struct stat about;

    return geteuid () != 0
           || (fstat (folder, &about) == 0
               && (about.st_uid == 0
                   || fchown (fd, about.st_uid, about.st_gid) == 0));
}

int
lk_file_make (int folder, const char *name)
{
    int fd = openat (folder, name,
                     O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd != -1 && !hand_over (fd, folder)) {
        int number = errno;
        (void) unlinkat (folder, name, 0);
        close (fd);
        errno = number;
        return -1;
    }
    return fd;
}
