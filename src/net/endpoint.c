/*  endpoint.c - socket files
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Alive or left behind, whose, and for whom.
 */

#include "net/endpoint.h"

#include "net/clock.h"
#include "net/dealer.h"
#include "net/paths.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

lk_err
lk_endpoint_check (const char *endpoint, const char *transport,
                   lk_problem *problem)
{
    size_t size = strlen (transport);

    if (strncmp (endpoint, transport, size) != 0 || !endpoint[size]) {
        return lk_problem_set (problem, LK_INVALID,
                               "'%s' is no endpoint of the kind %s...",
                               endpoint, transport);
    }
    return LK_OK;
}

static const char *
path_of (const char *endpoint)
{
    return endpoint + strlen (LK_IPC);
}

/*  -------------------------------------------------------- lists */

#define SEPARATORS ", \t\n"

/*  Whether there is "xxx://" there. */
static bool
begins_with_transport (const char *text)
{
    size_t size = strspn (text, "abcdefghijklmnopqrstuvwxyz");

    return size > 0 && strncmp (text + size, "://", 3) == 0;
}

/*  Where the address ends: ahead of separators with a transport, or nothing,
 *  behind them. */
static size_t
address_size (const char *text)
{
    size_t size = 0, blank = 0;

    while (text[size]) {
        size += strcspn (text + size, SEPARATORS);
        blank = strspn (text + size, SEPARATORS);
        if (!text[size + blank]
            || begins_with_transport (text + size + blank)) {
            return size;
        }
        size += blank;
    }
    return size;
}

bool
lk_endpoint_next (const char **list, char *endpoint, size_t size)
{
    const char *start = *list + strspn (*list, SEPARATORS);
    size_t len = address_size (start);

    snprintf (endpoint, size, "%.*s", (int) len, start);
    *list = start + len;
    return len > 0;
}

/*  The way of routers among themselves would lack what an application needs of
 *  its own host: the lease page, and who is at the other end. */
static lk_err
refuse (const char *endpoint, lk_problem *problem)
{
    bool is_tcp = strncmp (endpoint, LK_TCP, strlen (LK_TCP)) == 0;

    return lk_problem_set (
        problem, LK_INVALID,
        "'%s' is no endpoint of a router: one looks like " LK_PATH_ENDPOINT
        "%s",
        endpoint,
        is_tcp ? "; a process speaks with the router of its own host only, "
                 "tcp is for routers among themselves"
               : "");
}

lk_err
lk_endpoint_check_list (const char *list, lk_problem *problem)
{
    char endpoint[PATH_MAX];
    bool is_any = false;

    for (; lk_endpoint_next (&list, endpoint, sizeof endpoint); is_any = true) {
        if (lk_endpoint_check (endpoint, LK_IPC, NULL) != LK_OK) {
            return refuse (endpoint, problem);
        }
    }
    return is_any ? LK_OK : refuse (list, problem);
}

static bool
is_forbidden (int number)
{
    return number == EACCES || number == EPERM;
}

static const char *
beginning (bool is_first, int number)
{
    if (is_forbidden (number)) {
        return is_first ? "no access to the router" : "; no access to that";
    }
    return is_first ? "no router" : "; none";
}

/*  Adds "; none at 'ipc://...': no such file or directory". */
static void
add_absent (lk_problem *problem, const char *endpoint, int number)
{
    size_t size = strlen (problem->text);
    lk_problem one;

    errno = number;
    (void) lk_problem_errno (&one, "%s at '%s'", beginning (size == 0, number),
                             endpoint);
    snprintf (problem->text + size, sizeof problem->text - size, "%s",
              one.text);
    if (!is_forbidden (problem->number)) {
        problem->number = number;
    }
}

void
lk_endpoint_why_not (const char *list, lk_problem *problem)
{
    char endpoint[PATH_MAX];

    *problem = (lk_problem) {.text = ""};
    while (lk_endpoint_next (&list, endpoint, sizeof endpoint)) {
        int number = lk_endpoint_probe (endpoint);
        if (number == 0) {
            (void) lk_problem_set (problem, LK_TIMEDOUT,
                                   "the router at '%s' does not answer",
                                   endpoint);
            problem->number = ETIMEDOUT;
            return;
        }
        add_absent (problem, endpoint, number);
    }
}

/*  -------------------------------------------------------- groups */

lk_err
lk_endpoint_find_group (const char *group, gid_t *gid, lk_problem *problem)
{
    *gid = (gid_t) -1;
    if (!group || !*group) {
        return LK_OK;
    }
    const struct group *found = getgrnam (group);
    if (found) {
        *gid = found->gr_gid;
        return LK_OK;
    }
    char *end;
    errno = 0;
    unsigned long number = strtoul (group, &end, 10);
    if (*end || errno || number >= (gid_t) -1) {
        return lk_problem_set (problem, LK_INVALID, "there is no group '%s'",
                               group);
    }
    *gid = (gid_t) number;
    return LK_OK;
}

bool
lk_endpoint_may_give_to (const char *group)
{
    gid_t wanted, ours[NGROUPS_MAX];
    lk_problem problem;
    if (lk_endpoint_find_group (group, &wanted, &problem) != LK_OK) {
        return false;
    }
    const int count = getgroups (NGROUPS_MAX, ours);
    int i = 0;
    while (i < count && ours[i] != wanted) {
        i++;
    }
    return geteuid () == 0 || getegid () == wanted || i < count;
}

/*  -------------------------------------------------------- alive or not */

#define PROBE_MS 2000 /* for who is there to take the connection */

int
lk_endpoint_absence (const char *endpoint)
{
    const char *path = path_of (endpoint);

    if (strlen (path) >= sizeof ((struct sockaddr_un *) 0)->sun_path) {
        return ENAMETOOLONG;
    }
    return access (path, W_OK) == 0 ? 0 : errno;
}

static lk_dealer_state
connect_once (lk_dealer *dealer)
{
    const int64_t until_ms = lk_clock_ms () + PROBE_MS;
    struct pollfd told = {lk_dealer_monitor_fd (dealer), POLLIN, 0};
    lk_dealer_state state = lk_dealer_look (dealer);

    while (state == LK_DEALER_CONNECTING && lk_clock_ms () < until_ms) {
        (void) poll (&told, 1, lk_clock_poll_ms (until_ms));
        state = lk_dealer_look (dealer);
    }
    return state;
}

/*  Who takes the connection and does not answer is there, too. */
int
lk_endpoint_probe (const char *endpoint)
{
    if (strncmp (endpoint, LK_IPC, strlen (LK_IPC)) != 0) {
        return 0;
    }
    const int absence = lk_endpoint_absence (endpoint);
    if (absence != 0) {
        return absence;
    }
    lk_problem problem;
    lk_dealer *dealer = lk_dealer_new (endpoint, NULL, 0, &problem);
    if (!dealer) {
        return problem.number;
    }
    const lk_dealer_state state = connect_once (dealer);
    lk_dealer_destroy (&dealer, 0);
    return state == LK_DEALER_FAILED ? ECONNREFUSED : 0;
}

/*  What bind says then would be of the file, which is not there yet. */
static lk_err
check_folder (const char *endpoint, lk_problem *problem)
{
    const char *path = path_of (endpoint);
    const char *slash = strrchr (path, '/');
    int size = slash ? (int) (slash - path) : 0;
    char folder[sizeof ((struct sockaddr_un *) 0)->sun_path];

    snprintf (folder, sizeof folder, "%.*s", size, path);
    if (size > 0 && size < (int) sizeof folder && access (folder, F_OK) != 0
        && errno == ENOENT) {
        return lk_problem_set (problem, LK_SYSTEM,
                               "cannot bind '%s': there is no folder '%s'; "
                               "make it, writable for this process",
                               endpoint, folder);
    }
    return LK_OK;
}

lk_err
lk_endpoint_clear_way (const char *endpoint, lk_problem *problem)
{
    struct stat status;
    lk_err error = lk_endpoint_check (endpoint, LK_IPC, problem);

    if (error != LK_OK) {
        return error;
    }
    const char *path = path_of (endpoint);
    if (lstat (path, &status) != 0) {
        return check_folder (endpoint, problem); /* what else, bind says */
    }
    if (!S_ISSOCK (status.st_mode)) {
        return lk_problem_set (problem, LK_REFUSED,
                               "cannot bind '%s': there is a file that is no "
                               "socket",
                               endpoint);
    }
    int probe = lk_endpoint_probe (endpoint);
    if (probe == 0) {
        return lk_problem_set (problem, LK_REFUSED,
                               "cannot bind '%s': another process serves it",
                               endpoint);
    }
    if (probe == ECONNREFUSED && unlink (path) == 0) {
        return LK_OK;
    }
    errno = probe == ECONNREFUSED ? errno : probe;
    return lk_problem_errno (problem, "cannot bind '%s'", endpoint);
}

/*  -------------------------------------------------------- owner */

mode_t
lk_endpoint_mask (mode_t mode)
{
    return umask (~mode & 0777);
}

void
lk_endpoint_unmask (mode_t old)
{
    umask (old);
}

lk_err
lk_endpoint_set_owner (const char *endpoint, mode_t mode, gid_t gid,
                       lk_problem *problem)
{
    const char *path = path_of (endpoint);

    if (gid != (gid_t) -1 && chown (path, (uid_t) -1, gid) != 0) {
        return lk_problem_errno (problem, "cannot give '%s' to its group",
                                 endpoint);
    }
    if (chmod (path, mode) != 0) {
        return lk_problem_errno (problem, "cannot set the mode of '%s'",
                                 endpoint);
    }
    return LK_OK;
}

/*  -------------------------------------------------------- the end */

ino_t
lk_endpoint_file (const char *endpoint)
{
    struct stat status;

    return lstat (path_of (endpoint), &status) == 0 ? status.st_ino : 0;
}

void
lk_endpoint_remove (const char *endpoint, ino_t file)
{
    if (lk_endpoint_file (endpoint) == file) {
        unlink (path_of (endpoint));
    }
}
