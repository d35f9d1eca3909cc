/*  zone_log.c - a log for each zone: FOLDER/ZONE.log
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "zone_log.h"

#include "util/escape.h"

#include <inttypes.h>
#include <stdio.h>

#define LINE_SIZE 1024
#define SHOWN_SIZE 200 /* of a name */

void
lk_lockd_log_zone (lk_lockd *self, const char *zone, const char *line)
{
    lk_zone_file_add (&self->zone_file, zone, line);
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
    if (self->zone_file.folder[0] == '\0' || !is_rare (past)
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
