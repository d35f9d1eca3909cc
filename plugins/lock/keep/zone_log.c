/*  zone_log.c - a log for each zone: FOLDER/ZONE.log
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "zone_log.h"

#include "net/log.h"
#include "util/escape.h"
#include "wire/address.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_SIZE 1024
#define SHOWN_SIZE 200 /* of a name */

static void
complain (lk_lockd *self, const char *path)
{
    lk_problem problem;
    (void) lk_problem_errno (&problem, "cannot write the log '%s'", path);
    if (!self->zone_log_failed) {
        lk_log_error ("%s", problem.text);
    }
    self->zone_log_failed = true;
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
lk_lockd_log_zone (lk_lockd *self, const char *zone, const char *line)
{
    char path[PATH_MAX + LK_HOST_LEN_MAX + 8], text[LINE_SIZE];
    const char *folder = self->options.zone_logs;
    const char *name = zone[0] ? zone : LK_ZONE_DEFAULT;
    if (folder[0] == '\0' || !lk_address_is_name (lk_slice_of (name))) {
        return;
    }
    snprintf (path, sizeof path, "%s/%s%s", folder, name, ".log");
    const int fd = open (
        path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
    const size_t size = write_line (text, sizeof text, line);
    if (fd == -1 || write (fd, text, size) != (ssize_t) size) {
        complain (self, path);
    } else {
        self->zone_log_failed = false;
    }
    if (fd != -1) {
        close (fd);
    }
}

/*  -------------------------------------------------------- locks */

static const char *
shown (lk_name name, char text[SHOWN_SIZE])
{
    return lk_escape (name.size ? name.data : "", name.size, text, SHOWN_SIZE);
}

/*  Of those that were asked for by force the asker's audit line tells. */
static bool
is_rare (const lk_past *past)
{
    return past->event == LK_PAST_LOST || past->event == LK_PAST_ENDED;
}

void
lk_lockd_log_past (lk_lockd *self, const lk_past *past)
{
    char line[LINE_SIZE], lock[SHOWN_SIZE], owner[SHOWN_SIZE], user[SHOWN_SIZE];
    lk_name zone, context, object;
    if (self->options.zone_logs[0] == '\0' || !is_rare (past)
        || !lk_object_parts (past->key, &zone, &context, &object)) {
        return;
    }
    snprintf (line, sizeof line,
              "lock: held -> %s lock=%s owner=%s user=%s token=%016" PRIx64
              " error=%s",
              lk_past_word (past->event), shown (object, lock),
              shown (past->owner, owner), shown (past->user, user), past->token,
              lk_err_word (past->error));
    lk_lockd_log_zone (self, zone.data, line);
}
