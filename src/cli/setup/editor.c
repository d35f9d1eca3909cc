/*  editor.c - a text that somebody edits
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/setup/editor.h"

#include "cli/cli.h"
#include "net/whole_file.h"
#include "util/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE_MAX_READ ((size_t) 65535)

/*  -------------------------------------------------------- files */

/*  False: said why. */
static bool
make_file (lk_editor *self, const char *text)
{
    snprintf (self->path, sizeof self->path, "/tmp/lockkeeper-settings.XXXXXX");
    const int fd = mkstemp (self->path);
    const bool is_written = fd >= 0 && lk_file_write (fd, text, strlen (text));
    if (!is_written) {
        (void) lk_cli_fail (0, "cannot write '%s': %s", self->path,
                            strerror (errno));
    }
    if (fd >= 0) {
        close (fd);
    }
    if (fd >= 0 && !is_written) {
        (void) unlink (self->path);
    }
    return is_written;
}

static char *
read_all (int fd, const char *path)
{
    char *text = lk_alloc (SIZE_MAX_READ + 2);
    const ssize_t got = lk_file_read (fd, text, SIZE_MAX_READ + 1);
    if (got < 0) {
        (void) lk_cli_fail (0, "cannot read '%s': %s", path, strerror (errno));
    } else if ((size_t) got > SIZE_MAX_READ) {
        (void) lk_cli_fail (0, "'%s' is longer than 65535 bytes", path);
    } else if (memchr (text, '\0', (size_t) got) != NULL) {
        (void) lk_cli_fail (0, "'%s' is no text", path);
    } else {
        return text;
    }
    lk_free (text);
    return NULL;
}

char *
lk_editor_read (const char *path)
{
    if (strcmp (path, "-") == 0) {
        return read_all (STDIN_FILENO, "standard input");
    }
    const int fd = open (path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        (void) lk_cli_fail (0, "cannot open '%s': %s",
                            lk_shown_name (path).text, strerror (errno));
        return NULL;
    }
    char *text = read_all (fd, path);
    close (fd);
    return text;
}

/*  -------------------------------------------------------- programs */

/*  Its exit code; -1: it could not be run, or was killed. */
static int
run (const char *const *argv)
{
    int status;
    fflush (NULL);
    const pid_t pid = fork ();
    if (pid == 0) {
        execvp (argv[0], (char *const *) argv);
        _exit (127);
    }
    while (pid > 0 && waitpid (pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return pid > 0 && WIFEXITED (status) ? WEXITSTATUS (status) : -1;
}

static const char *
find_editor (void)
{
    const char *name = getenv ("VISUAL");
    if (name == NULL || name[0] == '\0') {
        name = getenv ("EDITOR");
    }
    return name != NULL && name[0] != '\0' ? name : "editor";
}

/*  The name may have options, so that a shell reads it. */
bool
lk_editor_open (lk_editor *self, const char *text)
{
    const char *name = find_editor ();
    const size_t size = strlen (name) + sizeof " \"$1\"";
    if (!make_file (self, text)) {
        return false;
    }
    char *line = lk_alloc (size);
    snprintf (line, size, "%s \"$1\"", name);
    const char *const argv[] = {"sh", "-c", line, "sh", self->path, NULL};
    const int code = run (argv);
    lk_free (line);
    if (code != 0) {
        (void) lk_cli_fail (0, "'%s' has failed: nothing is changed",
                            lk_shown_name (name).text);
        (void) unlink (self->path);
    }
    return code == 0;
}

void
lk_editor_close (lk_editor *self, bool keeps)
{
    if (keeps) {
        lk_cli_hint ("what was written is kept in '%s'", self->path);
    } else {
        (void) unlink (self->path);
    }
}

void
lk_editor_show_difference (const char *one, const char *other)
{
    lk_editor before, after;
    if (!make_file (&before, one)) {
        return;
    }
    if (make_file (&after, other)) {
        const char *const argv[] = {"diff",      "-u",       "--label",
                                    "edited",    "--label",  "in force",
                                    before.path, after.path, NULL};
        (void) run (argv);
        (void) unlink (after.path);
    }
    (void) unlink (before.path);
}
