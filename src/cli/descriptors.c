/*  descriptors.c - for a process of ours that stays when others have gone
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

static bool
is_among (int wanted, const int *fd, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fd[i] == wanted) {
            return true;
        }
    }
    return false;
}

void
lk_descriptors_keep (const int *fd, size_t count)
{
    DIR *dir = opendir ("/proc/self/fd");
    const struct dirent *entry;
    while (dir != NULL && (entry = readdir (dir)) != NULL) {
        const int it = (int) strtol (entry->d_name, NULL, 10);
        if (it > STDERR_FILENO && it != dirfd (dir)
            && !is_among (it, fd, count)) {
            close (it);
        }
    }
    if (dir != NULL) {
        closedir (dir);
    }
    const int null_fd = open ("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i <= STDERR_FILENO; i++) {
        dup2 (null_fd, i);
    }
    close (null_fd);
}
