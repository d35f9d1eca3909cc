/*  audit.c - who was refused, and who changed something
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "audit.h"
#include "zone_log.h"

#include "net/log.h"

#include <inttypes.h>
#include <stdio.h>

#define LINE_SIZE 900

static void
say (lk_lockd *self, const lk_who *who, const char *line)
{
    lk_log_notice ("%s", line);
    lk_lockd_log_zone (self, who->zone, line);
}

static const char *
zone_of (const lk_who *who)
{
    return who->zone[0] ? who->zone : LK_ZONE_DEFAULT;
}

/*  A process whose user the router does not tell is known by its number. */
static void
name_user (const lk_lockd *self, const lk_who *who, const char *from,
           char *text, size_t size)
{
    const lk_app *app = lk_apps_find (&self->apps, from);
    if (who->user[0] != '\0') {
        snprintf (text, size, "%s", who->user);
    } else if (app && app->pid != 0) {
        snprintf (text, size, "pid:%" PRIu32, app->pid);
    } else {
        snprintf (text, size, "-");
    }
}

void
lk_lockd_audit (lk_lockd *self, const char *deed, const lk_who *who,
                const char *from, const char *what)
{
    char line[LINE_SIZE], user[LK_APP_USER_LEN_MAX + 1];
    name_user (self, who, from, user, sizeof user);
    snprintf (line, sizeof line, "audit: %s asked who=%s zone=%s from=%s%s%s",
              deed, user, zone_of (who), from, what[0] ? " " : "", what);
    say (self, who, line);
}

void
lk_lockd_audit_refusal (lk_lockd *self, const lk_message *message,
                        const lk_who *who, const char *why)
{
    char line[LINE_SIZE], user[LK_APP_USER_LEN_MAX + 1];
    const char *from = lk_message_from (message);
    const int64_t second = lk_bus_now (self->bus) / 1000;
    if (second != self->refusals_second) {
        self->refusals_second = second;
        self->refusals = 0;
    }
    if (++self->refusals > LK_AUDIT_REFUSALS_MAX) {
        self->refusals_unsaid++;
        return;
    }
    name_user (self, who, from, user, sizeof user);
    snprintf (line, sizeof line,
              "audit: %s refused who=%s zone=%s from=%s unsaid=%" PRIu64
              " why=\"%s\"",
              lk_message_command (message), user, zone_of (who), from,
              self->refusals_unsaid, why);
    self->refusals_unsaid = 0;
    say (self, who, line);
}
