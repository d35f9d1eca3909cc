/*  control.c - how `sandbox restart` reaches a running sandbox
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The daemons have to be children of the sandbox, so that they end with it:
 *  who wants one started asks it. One line each way: "h2 lockd", and "ok" or
 *  what is wrong.
 */

#include "cli/cli.h"
#include "cli/sandbox/sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define LINE_SIZE 128
#define PATIENCE_S 10 /* with the sandbox, which may have to stop a daemon */
#define ASKER_PATIENCE_S 1 /* with who asks */
#define BACKLOG 8

static int
open_socket (const char *dir, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un) {.sun_family = AF_UNIX};
    int size = snprintf (address->sun_path, sizeof address->sun_path,
                         "%s/control", dir);
    if (size >= (int) sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval patience = {PATIENCE_S, 0};
    if (fd >= 0) {
        setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    }
    return fd;
}

/*  A line without its end; false if none came in time. */
static bool
read_line (int fd, char *line, size_t size)
{
    size_t count = 0;
    while (count + 1 < size && read (fd, line + count, 1) == 1) {
        if (line[count] == '\n') {
            line[count] = '\0';
            return true;
        }
        count++;
    }
    line[count] = '\0';
    return false;
}

/*  -------------------------------------------------------- the sandbox */

int
lk_control_listen (const lk_sandbox *self)
{
    struct sockaddr_un address;
    int fd = open_socket (self->dir, &address);
    if (fd < 0 || bind (fd, (struct sockaddr *) &address, sizeof address) != 0
        || listen (fd, BACKLOG) != 0) {
        lk_cli_fail (0, "cannot listen at '%s/control': %m", self->dir);
        if (fd >= 0) {
            close (fd);
        }
        return -1;
    }
    return fd;
}

static size_t
find_host (const lk_sandbox *self, const char *name)
{
    size_t i = 0;
    while (i < self->count && strcmp (self->host[i].name, name) != 0) {
        i++;
    }
    return i;
}

/*  What is wrong, or NULL. */
static const char *
restart (lk_sandbox *self, const char *name, const char *what)
{
    bool any = false;
    size_t host = find_host (self, name);
    if (host == self->count) {
        return "there is no such host in this sandbox";
    }
    for (lk_daemon it = 0; it < LK_DAEMON_COUNT; it++) {
        bool named = strcmp (what, lk_daemon_name (it)) == 0;
        if (named && !lk_sandbox_has (self, it)) {
            return "its router hosts the lock service: that is to be restarted";
        }
        if (!lk_sandbox_has (self, it)
            || (!named && strcmp (what, "both") != 0)) {
            continue;
        }
        any = true;
        lk_sandbox_stop (self, host, it);
        if (!lk_sandbox_start (self, host, it)) {
            return "it cannot be started";
        }
    }
    return any ? NULL : "a daemon is 'router' or 'lockd'";
}

void
lk_control_serve (lk_sandbox *self)
{
    char line[LINE_SIZE], name[LINE_SIZE] = "", what[LINE_SIZE] = "";
    struct timeval patience = {ASKER_PATIENCE_S, 0};
    int fd = accept4 (self->watch.other_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) {
        return;
    }
    setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const char *problem = "that is no request";
    if (read_line (fd, line, sizeof line)
        && sscanf (line, "%127s %127s", name, what) == 2) {
        problem = restart (self, name, what);
    }
    char answer[LINE_SIZE];
    int size = snprintf (answer, sizeof answer, "%s\n",
                         problem == NULL ? "ok" : problem);
    (void) !send (fd, answer, (size_t) size, MSG_NOSIGNAL);
    close (fd);
}

/*  -------------------------------------------------------- the other side */

int
lk_control_ask (const char *dir, const char *host, const char *daemon)
{
    char line[LINE_SIZE];
    struct sockaddr_un address;
    int fd = open_socket (dir, &address);
    if (fd < 0
        || connect (fd, (struct sockaddr *) &address, sizeof address) != 0) {
        int code = lk_cli_fail (LK_EXIT_FAILED,
                                "cannot reach a sandbox in '%s': %m; --dir "
                                "or $LOCKKEEPER_SANDBOX say where it is",
                                dir);
        if (fd >= 0) {
            close (fd);
        }
        return code;
    }
    dprintf (fd, "%s %s\n", host, daemon != NULL ? daemon : "both");
    bool answered = read_line (fd, line, sizeof line);
    close (fd);
    if (answered && strcmp (line, "ok") == 0) {
        return LK_EXIT_OK;
    }
    return lk_cli_fail (LK_EXIT_FAILED, "cannot restart '%s%s%s': %s", host,
                        daemon != NULL ? " " : "", daemon != NULL ? daemon : "",
                        answered ? line : "the sandbox does not answer");
}
