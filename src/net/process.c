/*  process.c - what a process is called, and whose it is
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/*  There is a newline behind it. */
static void
read_command (int64_t pid, lk_process_look *look)
{
    char path[48], command[LK_COMMAND_SIZE];
    snprintf (path, sizeof path, "/proc/%" PRId64 "/comm", pid);
    const int file = open (path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? 0 : read (file, command, sizeof command);
    if (size > 1) {
        (void) lk_escape (command, (size_t) size - 1, look->command,
                          sizeof look->command);
    }
    if (file >= 0) {
        close (file);
    }
}

bool
lk_process_describe (int64_t pid, lk_process_look *look)
{
    char path[48];
    struct stat folder;
    *look = (lk_process_look) {.uid = -1};
    snprintf (path, sizeof path, "/proc/%" PRId64, pid);
    if (pid <= 0 || stat (path, &folder) != 0) {
        return false;
    }
    look->uid = (int64_t) folder.st_uid;
    read_command (pid, look);
    return true;
}
