/*  cgroup.c - a control group of its own for the command of `run`
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/run/cgroup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_SIZE (2 * PATH_MAX)

/*  Where cgroup v2 is mounted, and which group is seen there. */
typedef struct {
    char point[PATH_MAX];
    char root[PATH_MAX];
} mount;

/*  A line of mountinfo: "id parent device ROOT POINT options... - TYPE". */
static bool
read_mount (const char *line, mount *it)
{
    return strstr (line, " - cgroup2 ") != NULL
           && sscanf (line, "%*s %*s %*s %4095s %4095s", it->root, it->point)
                  == 2;
}

static bool
find_mount (mount *it)
{
    char line[LINE_SIZE];
    bool found = false;
    FILE *file = fopen ("/proc/self/mountinfo", "re");
    while (file != NULL && !found && fgets (line, sizeof line, file) != NULL) {
        found = read_mount (line, it);
    }
    if (file != NULL) {
        fclose (file);
    }
    return found;
}

/*  Our own group, as /proc calls it. */
static bool
find_group (char *group, size_t size)
{
    char line[LINE_SIZE];
    bool found = false;
    FILE *file = fopen ("/proc/self/cgroup", "re");
    while (file != NULL && !found && fgets (line, sizeof line, file) != NULL) {
        found = strncmp (line, "0::/", 4) == 0;
    }
    if (file != NULL) {
        fclose (file);
    }
    if (found) {
        line[strcspn (line, "\n")] = '\0';
        found = snprintf (group, size, "%s", line + 3) < (int) size;
    }
    return found;
}

/*  The folder of our own group; false if it is not to be seen. */
static bool
find_folder (char *folder, size_t size)
{
    mount it;
    char group[PATH_MAX];
    if (!find_mount (&it) || !find_group (group, sizeof group)) {
        return false;
    }
    const size_t root = strcmp (it.root, "/") == 0 ? 0 : strlen (it.root);
    if (strncmp (group, it.root, root) != 0) {
        return false;
    }
    return snprintf (folder, size, "%s%s", it.point, group + root) < (int) size;
}

/*  A file of the group; -1 if it cannot be opened. */
static int
open_file (const lk_cgroup *self, const char *name, int flags)
{
    char path[PATH_MAX + 32];
    if (self->path[0] == '\0') {
        return -1;
    }
    snprintf (path, sizeof path, "%s/%s", self->path, name);
    return open (path, flags | O_CLOEXEC);
}

static bool
write_file (const lk_cgroup *self, const char *name, const char *text)
{
    const int fd = open_file (self, name, O_WRONLY);
    if (fd < 0) {
        return false;
    }
    const bool good = write (fd, text, strlen (text)) > 0;
    close (fd);
    return good;
}

/*  Whether a process could be moved from our group to that one, and killed
 *  there. */
static bool
is_ours (const lk_cgroup *self, const char *folder)
{
    lk_cgroup parent;
    snprintf (parent.path, sizeof parent.path, "%s", folder);
    const char *const name[] = {"cgroup.procs", "cgroup.procs", "cgroup.kill"};
    const lk_cgroup *const group[] = {&parent, self, self};
    for (size_t i = 0; i < 3; i++) {
        const int fd = open_file (group[i], name[i], O_WRONLY);
        if (fd < 0) {
            return false;
        }
        close (fd);
    }
    return true;
}

void
lk_cgroup_make (lk_cgroup *self)
{
    char folder[PATH_MAX - 64];
    self->path[0] = '\0';
    if (!find_folder (folder, sizeof folder)) {
        return;
    }
    snprintf (self->path, sizeof self->path, "%s/lockkeeper-run-%d",
              strcmp (folder, "/") == 0 ? "" : folder, (int) getpid ());
    (void) rmdir (self->path); /* of who had our number, and was killed */
    if (mkdir (self->path, 0755) != 0) {
        self->path[0] = '\0';
    } else if (!is_ours (self, folder)) {
        rmdir (self->path);
        self->path[0] = '\0';
    }
}

void
lk_cgroup_enter (const lk_cgroup *self)
{
    (void) !write_file (self, "cgroup.procs", "0");
}

bool
lk_cgroup_is_used (const lk_cgroup *self)
{
    char text[256];
    const int fd = open_file (self, "cgroup.events", O_RDONLY);
    if (fd < 0) {
        return false;
    }
    const ssize_t size = read (fd, text, sizeof text - 1);
    close (fd);
    text[size > 0 ? size : 0] = '\0';
    return strstr (text, "populated 1") != NULL;
}

void
lk_cgroup_kill (const lk_cgroup *self)
{
    (void) !write_file (self, "cgroup.kill", "1");
}

void
lk_cgroup_remove (const lk_cgroup *self)
{
    if (self->path[0] != '\0') {
        (void) rmdir (self->path);
    }
}
