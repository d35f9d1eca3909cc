/*  edit.c - another value in a configuration file, and all else as it was
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "settings/edit.h"

#include "net/whole_file.h"
#include "net/zpl.h"
#include "util/alloc.h"
#include "util/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_SIZE_MAX (256 * 1024)

/*  -------------------------------------------------------- lines */

bool
lk_edit_can_say (const char *value)
{
    return strpbrk (value, "\n\r") == NULL
           && (strchr (value, '"') == NULL || strchr (value, '\'') == NULL);
}

static void
add_text (lk_bytes *out, const char *text)
{
    lk_bytes_add (out, text, strlen (text));
}

static bool
is_word (const char *value)
{
    return *value != '\0'
           && strspn (value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
                             "WXYZ0123456789._/-")
                  == strlen (value);
}

/*  "    name = value", and what else was in that line. */
static void
add_setting (lk_bytes *out, const lk_zpl_line *line, const char *value)
{
    const char *quote = strchr (value, '"') != NULL ? "'" : "\"";
    for (size_t i = 0; i < line->level * LK_ZPL_INDENT; i++) {
        add_text (out, " ");
    }
    lk_bytes_add (out, line->name.data, line->name.size);
    add_text (out, " = ");
    add_text (out, is_word (value) ? "" : quote);
    add_text (out, value);
    add_text (out, is_word (value) ? "" : quote);
    lk_bytes_add (out, line->rest.data, line->rest.size);
    add_text (out, "\n");
}

static void
add_settings (lk_bytes *out, const char *key, const char *const *values)
{
    const lk_zpl_line line = {.level = 1,
                              .name = lk_slice_of (strrchr (key, '/') + 1),
                              .rest = {"", 0}};
    for (; *values != NULL; values++) {
        add_setting (out, &line, *values);
    }
}

/*  More of a list, as the line before it, which may be "section/name". */
static void
add_more (lk_bytes *out, const lk_zpl_line *line, const char *const *values)
{
    lk_zpl_line more = *line;
    more.rest = (lk_slice) {"", 0};
    for (; *values != NULL; values++) {
        add_setting (out, &more, *values);
    }
}

/*  The line behind which new ones belong: the last one of the key, or else the
 *  last one of its section; 0: none. One whose value is wrong begins a section,
 *  too, and has no name. */
static unsigned
find_place (const char *text, const char *key, bool *has_key)
{
    const size_t section = strcspn (key, "/");
    unsigned of_key = 0, of_section = 0;
    bool inside = false;
    lk_zpl zpl;
    lk_zpl_line line;
    lk_zpl_init (&zpl, text);
    while (lk_zpl_next (&zpl, &line)) {
        if (line.path != NULL && line.level == 0) {
            inside = strlen (line.path) == section
                     && strncmp (line.path, key, section) == 0;
        }
        if (line.name.size == 0) {
            continue;
        }
        of_section = inside ? line.number : of_section;
        of_key = strcmp (line.path, key) == 0 ? line.number : of_key;
    }
    *has_key = of_key > 0;
    return *has_key ? of_key : of_section;
}

static void
end_line (lk_bytes *out)
{
    if (out->size > 0 && out->data[out->size - 1] != '\n') {
        add_text (out, "\n");
    }
}

static void
add_section (lk_bytes *out, const char *key, const char *const *values)
{
    end_line (out);
    lk_bytes_add (out, key, strcspn (key, "/"));
    add_text (out, "\n");
    add_settings (out, key, values);
}

char *
lk_edit_text (const char *text, const char *key, const char *const *values)
{
    bool has_key;
    const unsigned place = find_place (text, key, &has_key);
    lk_bytes out = {0};
    lk_zpl zpl;
    lk_zpl_line line;
    lk_zpl_init (&zpl, text);
    while (lk_zpl_next (&zpl, &line)) {
        const bool is_key = line.name.size > 0 && strcmp (line.path, key) == 0;
        if (is_key && *values != NULL) {
            add_setting (&out, &line, *values++);
        } else if (!is_key) {
            lk_bytes_add (&out, line.whole.data,
                          (size_t) (zpl.at - line.whole.data));
        }
        if (line.number == place) {
            end_line (&out);
            if (has_key) {
                add_more (&out, &line, values);
            } else {
                add_settings (&out, key, values);
            }
        }
    }
    if (place == 0 && *values != NULL) {
        add_section (&out, key, values);
    }
    lk_bytes_add (&out, "", 1);
    return out.data;
}

/*  -------------------------------------------------------- files */

static char *
read_text (int fd, const char *path, lk_problem *problem)
{
    char *text = lk_alloc (FILE_SIZE_MAX + 2);
    const ssize_t size = lk_file_read (fd, text, FILE_SIZE_MAX + 1);
    if (size >= 0 && size <= FILE_SIZE_MAX
        && memchr (text, 0, (size_t) size) == NULL) {
        return text;
    }
    if (size < 0) {
        (void) lk_problem_errno (problem, "cannot read '%s'", path);
    } else {
        (void) lk_problem_set (problem, LK_INVALID,
                               "'%s' is too large or no text", path);
    }
    lk_free (text);
    return NULL;
}

char *
lk_edit_read (const char *path, lk_problem *problem)
{
    const int fd = open (path, O_RDONLY | O_CLOEXEC);
    if (fd == -1 && errno == ENOENT) {
        return lk_strdup ("");
    }
    if (fd == -1) {
        (void) lk_problem_errno (problem, "cannot open '%s'", path);
        return NULL;
    }
    char *text = read_text (fd, path, problem);
    close (fd);
    return text;
}

static bool
keep_owner (int fd, const char *path)
{
    struct stat old;
    if (stat (path, &old) != 0) {
        return fchmod (fd, 0644) == 0;
    }
    return fchown (fd, old.st_uid, old.st_gid) == 0
           && fchmod (fd, old.st_mode & 07777) == 0;
}

/*  So that the name is on the disk, too. */
static bool
sync_folder (const char *folder)
{
    const int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool done = fd != -1 && fsync (fd) == 0;
    if (fd != -1) {
        close (fd);
    }
    return done;
}

static lk_err
replace (const char *path, const char *folder, const char *text,
         lk_problem *problem)
{
    char fresh[PATH_MAX + 16];
    snprintf (fresh, sizeof fresh, "%s.new", path);
    (void) unlink (fresh);
    const int fd = open (
        fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd == -1) {
        return lk_problem_errno (problem, "cannot write '%s'", path);
    }
    bool done = lk_file_write (fd, text, strlen (text)) && keep_owner (fd, path)
                && fsync (fd) == 0;
    done = done && rename (fresh, path) == 0 && sync_folder (folder);
    const int number = errno;
    close (fd);
    if (!done) {
        (void) unlink (fresh);
        errno = number;
        return lk_problem_errno (problem, "cannot write '%s'", path);
    }
    return LK_OK;
}

static void
folder_of (const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr (path, '/');
    snprintf (folder, PATH_MAX, "%.*s",
              slash != NULL ? (int) (slash - path) + 1 : 1,
              slash != NULL ? path : ".");
}

int
lk_edit_lock (const char *path)
{
    char folder[PATH_MAX];
    folder_of (path, folder);
    const int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd != -1 && flock (fd, LOCK_EX) != 0 && errno == EINTR) {
        continue;
    }
    return fd;
}

void
lk_edit_unlock (int lock)
{
    if (lock != -1) {
        close (lock);
    }
}

lk_err
lk_edit_write (const char *path, const char *text, lk_problem *problem)
{
    char whole[PATH_MAX], folder[PATH_MAX];
    if (realpath (path, whole) == NULL) {
        snprintf (whole, sizeof whole, "%s", path);
    }
    folder_of (whole, folder);
    if (mkdir (folder, 0755) != 0 && errno != EEXIST) {
        return lk_problem_errno (problem, "cannot make the folder '%s'",
                                 folder);
    }
    return replace (whole, folder, text, problem);
}
