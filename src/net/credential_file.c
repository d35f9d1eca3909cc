/*  credential_file.c - see credential_file.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/credential_file.h"

#include "net/whole_file.h"
#include "util/digits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLANKS " \t\r\n"
#define WORDS 11
#define FIRST_TIME 5 /* not before, not after, since */

void
lk_credential_file_init (lk_credential_file *self, const char *path)
{
    *self = (lk_credential_file) {.line = ""};
    snprintf (self->path, sizeof self->path, "%s", path);
}

/*  -------------------------------------------------------- reading */

/*  Without blanks around it; "" if it is longer than a line may be. */
static void
take_line (lk_credential_file *self, const char *text)
{
    text += strspn (text, BLANKS);
    size_t size = strcspn (text, "\r\n");
    while (size > 0 && strchr (BLANKS, text[size - 1]) != NULL) {
        size--;
    }
    snprintf (self->line, sizeof self->line, "%.*s",
              size < sizeof self->line ? (int) size : 0, text);
}

static bool
is_same (const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino
           && one->st_size == other->st_size
           && one->st_mtim.tv_sec == other->st_mtim.tv_sec
           && one->st_mtim.tv_nsec == other->st_mtim.tv_nsec;
}

/*  A line that could not be written counts as long as there is no file. */
static void
take_none (lk_credential_file *self)
{
    const struct stat never = {0};
    if (!is_same (&self->seen, &never)) {
        self->seen = never;
        self->line[0] = '\0';
    }
}

const char *
lk_credential_file_line (lk_credential_file *self)
{
    char text[2 * LK_CREDENTIAL_LINE_SIZE];
    struct stat now;
    const int fd = self->path[0] != '\0'
                       ? open (self->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
                       : -1;
    if (fd == -1 || fstat (fd, &now) != 0) {
        take_none (self);
    } else if (!is_same (&now, &self->seen)) {
        const ssize_t size = lk_file_read (fd, text, sizeof text - 1);
        text[size > 0 ? size : 0] = '\0';
        self->seen = now;
        take_line (self, text);
    }
    if (fd != -1) {
        close (fd);
    }
    return self->line;
}

bool
lk_credential_line_times (const char *line, lk_credential_times *times)
{
    char text[LK_CREDENTIAL_LINE_SIZE];
    const char *word[WORDS];
    uint64_t value[3];
    char *rest = text;
    if (strlen (line) >= sizeof text) {
        return false;
    }
    memcpy (text, line, strlen (line) + 1);
    for (size_t i = 0; i < WORDS; i++) {
        word[i] = strsep (&rest, " ");
        if (word[i] == NULL) {
            return false;
        }
    }
    for (size_t i = 0; i < 3; i++) {
        const char *digits = word[FIRST_TIME + i];
        if (!lk_decimal_parse (digits, strlen (digits), &value[i])
            || value[i] > INT64_MAX / 1000) {
            return false;
        }
    }
    *times = (lk_credential_times) {.not_before = (int64_t) value[0],
                                    .not_after = (int64_t) value[1],
                                    .since = (int64_t) value[2]};
    return times->not_before < times->not_after;
}

/*  -------------------------------------------------------- writing */

static bool
write_fresh (int fd, const char *line)
{
    return fchmod (fd, S_IRUSR | S_IWUSR) == 0
           && lk_file_write (fd, line, strlen (line))
           && lk_file_write (fd, "\n", 1) && fsync (fd) == 0;
}

static bool
replace (const char *path, const char *line)
{
    char fresh[PATH_MAX + 8];
    snprintf (fresh, sizeof fresh, "%s.XXXXXX", path);
    const int fd = mkostemp (fresh, O_CLOEXEC);
    if (fd == -1) {
        return false;
    }
    const bool done = write_fresh (fd, line) && rename (fresh, path) == 0;
    const int number = errno;
    close (fd);
    if (!done) {
        (void) unlink (fresh);
    }
    errno = number;
    return done;
}

lk_err
lk_credential_file_write (lk_credential_file *self, const char *line,
                          lk_problem *problem)
{
    lk_credential_times ignored;
    if (!lk_credential_line_times (line, &ignored)
        || strpbrk (line, "\r\n") != NULL) {
        return lk_problem_set (problem, LK_INVALID, "that is no credential");
    }
    const bool is_written = replace (self->path, line);
    take_line (self, line);
    return is_written
               ? LK_OK
               : lk_problem_errno (problem, "cannot write '%s'", self->path);
}
