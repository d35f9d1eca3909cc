/*  access.c - why a user may not use the router, and what to do about it
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The socket file says whose group may; the user's groups are those of the
 *  system, and those that this process was given at login.
 */

#include "cli/access.h"

#include "net/endpoint.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GROUPS_MAX 1024

typedef struct {
    char user[64], group[64];
} names;

static names
names_of (gid_t gid)
{
    names self;
    const struct passwd *user = getpwuid (geteuid ());
    const struct group *group = getgrgid (gid);
    if (user != NULL) {
        snprintf (self.user, sizeof self.user, "%s", user->pw_name);
    } else {
        snprintf (self.user, sizeof self.user, "%u", (unsigned) geteuid ());
    }
    if (group != NULL) {
        snprintf (self.group, sizeof self.group, "%s", group->gr_name);
    } else {
        snprintf (self.group, sizeof self.group, "%u", (unsigned) gid);
    }
    return self;
}

/*  Whether the system has the user in it, so that the next login does. */
static bool
is_member (gid_t gid)
{
    gid_t groups[GROUPS_MAX];
    int count = GROUPS_MAX;
    const struct passwd *user = getpwuid (geteuid ());
    if (user == NULL
        || getgrouplist (user->pw_name, user->pw_gid, groups, &count) < 0) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (groups[i] == gid) {
            return true;
        }
    }
    return false;
}

/*  Nobody should get into the group of root for that. */
static void
advise (const struct stat *socket, char *text, size_t size)
{
    const names it = names_of (socket->st_gid);
    if ((socket->st_mode & S_IWGRP) == 0 || socket->st_gid == 0) {
        snprintf (text, size,
                  "user '%s' needs a group that may: set router/group, and "
                  "router/mode to 660",
                  it.user);
    } else if (is_member (socket->st_gid)) {
        snprintf (text, size,
                  "user '%s' is in its group '%s' by now: log in anew", it.user,
                  it.group);
    } else {
        snprintf (text, size,
                  "user '%s' is not in its group '%s': as root `usermod -aG "
                  "%s %s`, then log in anew",
                  it.user, it.group, it.group, it.user);
    }
}

bool
lk_cli_is_forbidden (int number)
{
    return number == EACCES || number == EPERM;
}

void
lk_cli_access_advice (const char *list, char *text, size_t size)
{
    char endpoint[PATH_MAX];
    struct stat socket;
    int number = 0;
    while (!lk_cli_is_forbidden (number)
           && lk_endpoint_next (&list, endpoint, sizeof endpoint)) {
        number = lk_endpoint_probe (endpoint);
    }
    if (stat (endpoint + strlen (LK_IPC), &socket) == 0) {
        advise (&socket, text, size);
    } else {
        snprintf (text, size, "user '%s' may not enter its folder",
                  names_of (0).user);
    }
}
