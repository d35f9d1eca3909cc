/*  identity.c - which host this is, in a file of its own
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings/identity.h"

#include "net/host_name.h"
#include "net/log.h"
#include "net/paths.h"
#include "net/state_file.h"
#include "net/whole_file.h"
#include "net/zpl.h"
#include "util/hash.h"
#include "wire/address.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define IDENTITY_SIZE_MAX 4096
#define MACHINE_FILE "/etc/machine-id"

/*  Its id is nobody else's business: a hash of it does. Empty if it has none,
 *  as in some containers. */
static void
read_machine (char machine[17])
{
    char id[33] = "";
    const int fd = open (MACHINE_FILE, O_RDONLY | O_CLOEXEC);
    ssize_t size = 0;
    machine[0] = '\0';
    if (fd != -1) {
        size = lk_file_read (fd, id, sizeof id - 1);
        close (fd);
    }
    if (size == sizeof id - 1) {
        snprintf (machine, 17, "%016" PRIx64, lk_hash64 (id, sizeof id - 1));
    }
}

/*  -------------------------------------------------------- the file */

/*  "/var/lib/lockkeeper", "identity". */
static lk_state_file *
open_file (const char *path, lk_problem *problem)
{
    char dir[PATH_MAX];
    const char *slash = strrchr (path, '/');
    const int size = slash != NULL ? (int) (slash - path) : 0;
    snprintf (dir, sizeof dir, "%.*s%s", size, path,
              slash == NULL ? "." : (size == 0 ? "/" : ""));
    if (access (dir, F_OK) != 0) {
        (void) lk_problem_set (problem, LK_SYSTEM,
                               "cannot keep which host this is: there is no "
                               "folder '%s'; make it for the daemons, or set "
                               "'router/host'",
                               dir);
        return NULL;
    }
    return lk_state_file_open (dir, slash != NULL ? slash + 1 : path, problem);
}

/*  False: a line that makes no sense. */
static bool
take_line (lk_own_identity *self, const lk_zpl_line *line)
{
    if (line->wrong != NULL) {
        return false;
    }
    if (lk_slice_is (line->name, "host")) {
        snprintf (self->host, sizeof self->host, "%s", line->value);
        return lk_address_is_name (lk_slice_of (line->value));
    }
    if (lk_slice_is (line->name, "machine")) {
        snprintf (self->machine, sizeof self->machine, "%s", line->value);
        return strlen (line->value) == sizeof self->machine - 1;
    }
    return line->name.size == 0;
}

static lk_err
parse (lk_own_identity *self, const char *path, const char *text,
       lk_problem *problem)
{
    lk_zpl zpl;
    lk_zpl_line line;
    lk_zpl_init (&zpl, text);
    while (lk_zpl_next (&zpl, &line)) {
        if (!take_line (self, &line)) {
            return lk_problem_set (problem, LK_INVALID,
                                   "'%s', line %u, makes no sense: remove the "
                                   "file, and it is made again",
                                   path, line.number);
        }
    }
    return self->host[0] != '\0'
               ? LK_OK
               : lk_problem_set (problem, LK_INVALID,
                                 "'%s' names no host: remove the file, and it "
                                 "is made again",
                                 path);
}

/*  Who only looks leaves no lock behind, which might be root's. */
lk_err
lk_own_identity_read (lk_own_identity *self, const char *path,
                      lk_problem *problem)
{
    char text[IDENTITY_SIZE_MAX + 1];
    memset (self, 0, sizeof *self);
    const int fd = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd == -1 && errno == ENOENT) {
        return lk_problem_set (problem, LK_UNKNOWN, "there is no '%s'", path);
    }
    if (fd == -1) {
        return lk_problem_errno (problem, "cannot open '%s'", path);
    }
    const ssize_t size = lk_file_read (fd, text, IDENTITY_SIZE_MAX);
    const int number = errno;
    close (fd);
    if (size < 0) {
        errno = number;
        return lk_problem_errno (problem, "cannot read '%s'", path);
    }
    text[size] = '\0';
    return parse (self, path, text, problem);
}

lk_err
lk_own_identity_write (const char *path, const char *host, lk_problem *problem)
{
    char machine[17];
    char text[400];
    read_machine (machine);
    snprintf (text, sizeof text,
              "#   Which host of the cluster this is. Every host has its own:\n"
              "#   do not copy it to another one. See lockkeeper.conf(5).\n"
              "host = %s\n%s%s%s",
              host, machine[0] != '\0' ? "machine = " : "", machine,
              machine[0] != '\0' ? "\n" : "");
    lk_state_file *file = open_file (path, problem);
    if (file == NULL) {
        return LK_SYSTEM;
    }
    const lk_err error =
        lk_state_file_write (file, text, strlen (text), problem);
    lk_state_file_destroy (&file);
    return error;
}

lk_err
lk_own_identity_check (const lk_own_identity *self, const char *path,
                       lk_problem *problem)
{
    char machine[17];
    read_machine (machine);
    if (self->machine[0] == '\0' || machine[0] == '\0'
        || strcmp (self->machine, machine) == 0) {
        return LK_OK;
    }
    return lk_problem_set (
        problem, LK_REFUSED,
        "'%s' is that of host '%s' on another machine: if it was copied, "
        "remove it and '%s' beside it; if this machine takes the place of "
        "that one, remove its line 'machine'",
        path, self->host, LK_PATH_STATE_FILE);
}

/*  -------------------------------------------------------- at the start */

static lk_err
make (const char *path, const char *name, lk_problem *problem)
{
    if (!lk_address_is_name (lk_slice_of (name))) {
        return lk_problem_set (problem, LK_INVALID,
                               "the system's name, '%s', cannot name a host: "
                               "set 'router/host'",
                               name);
    }
    const lk_err error = lk_own_identity_write (path, name, problem);
    if (error == LK_OK) {
        lk_log_notice ("identity: made '%s': this is host '%s'", path, name);
    }
    return error;
}

lk_err
lk_own_identity_settle (const char *path, char host[LK_HOST_LEN_MAX + 1],
                        lk_problem *problem)
{
    lk_own_identity self;
    char name[LK_HOST_LEN_MAX + 1];
    lk_host_name (name);
    lk_err error = lk_own_identity_read (&self, path, problem);
    if (error == LK_UNKNOWN) {
        snprintf (host, LK_HOST_LEN_MAX + 1, "%s", name);
        return make (path, name, problem);
    }
    if (error == LK_OK) {
        error = lk_own_identity_check (&self, path, problem);
    }
    if (error != LK_OK) {
        return error;
    }
    if (self.machine[0] == '\0') {
        error = lk_own_identity_write (path, self.host, problem);
    }
    if (strcmp (self.host, name) != 0) {
        lk_log_notice ("identity: the system is called '%s', and stays host "
                       "'%s' of the cluster, as '%s' says",
                       name, self.host, path);
    }
    snprintf (host, LK_HOST_LEN_MAX + 1, "%s", self.host);
    return error;
}
