/*  process.c - what a process is called, and whose it is
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*  Returns how many bytes, 0: none. */
static size_t
read_some (int64_t pid, const char *what, char *text, size_t room)
{
    char path[48];
    snprintf (path, sizeof path, "/proc/%" PRId64 "/%s", pid, what);
    const int file = open (path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? 0 : read (file, text, room);
    if (file >= 0) {
        close (file);
    }
    return size > 0 ? (size_t) size : 0;
}

/*  There is a newline behind it. */
static void
read_command (int64_t pid, lk_process_look *look)
{
    char command[LK_COMMAND_SIZE];
    const size_t size = read_some (pid, "comm", command, sizeof command);
    if (size > 1) {
        (void) lk_escape (command, size - 1, look->command,
                          sizeof look->command);
    }
}

/*  There is a NUL behind each word. Of a long line the end is missing. */
static void
read_arguments (int64_t pid, lk_process_look *look)
{
    char line[LK_ARGUMENTS_SIZE + 1];
    size_t size = read_some (pid, "cmdline", line, sizeof line);
    while (size > 0 && line[size - 1] == '\0') {
        size--;
    }
    for (size_t i = 0; i < size; i++) {
        line[i] = line[i] == '\0' ? ' ' : line[i];
    }
    const size_t room =
        size > LK_ARGUMENTS_SIZE ? LK_ARGUMENTS_SIZE : sizeof look->arguments;
    (void) lk_escape (line, size, look->arguments, room);
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
    read_arguments (pid, look);
    return true;
}

/*  -------------------------------------------------------- groups */

/*  The numbers behind a name, ahead of the end of its line. */
static size_t
read_ids (const char *text, const char *name, gid_t *ids, size_t most)
{
    const char *at = strstr (text, name);
    size_t count = 0;
    at = at != NULL ? at + strlen (name) : "";
    while (count < most && *(at += strspn (at, "\t ")) >= '0' && *at <= '9') {
        char *end;
        ids[count++] = (gid_t) strtoul (at, &end, 10);
        at = end;
    }
    return count;
}

/*  The second of its user ids is that by which it acts. */
size_t
lk_process_groups (int64_t pid, uid_t user, gid_t *groups, size_t most)
{
    char text[8192];
    gid_t ids[2];
    const size_t size =
        pid > 0 ? read_some (pid, "status", text, sizeof text - 1) : 0;
    text[size] = '\0';
    return read_ids (text, "\nUid:", ids, 2) == 2 && ids[1] == user
               ? read_ids (text, "\nGroups:", groups, most)
               : 0;
}
