/*  zone_file.c - see zone_file.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/zone_file.h"

#include "net/log.h"
#include "net/problem.h"
#include "wire/address.h"
#include "wire/object_key.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define LINE_SIZE 1024

static void
complain (lk_zone_file *self, const char *path)
{
    lk_problem problem;
    (void) lk_problem_errno (&problem, "cannot write the log '%s'", path);
    if (!self->is_failed) {
        lk_log_error ("%s", problem.text);
    }
    self->is_failed = true;
}

static size_t
write_time (char *text, size_t size)
{
    struct tm utc;
    const time_t now = time (NULL);
    return gmtime_r (&now, &utc) ? strftime (text, size, "%FT%TZ ", &utc) : 0;
}

/*  Nothing in it can look like another line. */
static size_t
write_line (char *text, size_t size, const char *line)
{
    size_t used = write_time (text, size);
    used += (size_t) snprintf (text + used, size - used - 1, "%s", line);
    if (used > size - 2) {
        used = size - 2;
    }
    for (size_t i = 0; i < used; i++) {
        text[i] =
            (unsigned char) text[i] < ' ' || text[i] == 127 ? '?' : text[i];
    }
    text[used] = '\n';
    return used + 1;
}

void
lk_zone_file_add (lk_zone_file *self, const char *zone, const char *line)
{
    char path[PATH_MAX + LK_HOST_LEN_MAX + 8], text[LINE_SIZE];
    const char *name = zone[0] != '\0' ? zone : LK_ZONE_DEFAULT;
    if (self->folder[0] == '\0' || !lk_address_is_name (lk_slice_of (name))) {
        return;
    }
    snprintf (path, sizeof path, "%s/%s%s", self->folder, name, ".log");
    const int fd = open (
        path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
    const size_t size = write_line (text, sizeof text, line);
    if (fd == -1 || write (fd, text, size) != (ssize_t) size) {
        complain (self, path);
    } else {
        self->is_failed = false;
    }
    if (fd != -1) {
        close (fd);
    }
}

void
lk_zone_file_notice (lk_zone_file *self, const char *zone, const char *format,
                     ...)
{
    char line[LINE_SIZE];
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (line, sizeof line, format, arguments);
    va_end (arguments);
    lk_log_notice ("%s", line);
    if (zone != NULL) {
        lk_zone_file_add (self, zone, line);
    }
}
