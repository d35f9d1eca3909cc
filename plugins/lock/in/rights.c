/*  rights.c - who asks, and what that may
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  The one place where the lock service compares roles and zones.
 *  lockkeeper-protocol(7), 7.5.
 */

#include "rights.h"

#include "audit.h"
#include "out.h"

#include "wire/message_frame.h"
#include "wire/role.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define UNTIL_MAX_S (INT64_C (1) << 40)

/*  -------------------------------------------------------- who it is */

/*  A router from before roles says none, and lets in whom its file's group
 *  does: admins all, but those on other machines. */
static lk_role
read_role (const lk_message *status, bool far)
{
    const char *word = lk_message_text (status, "role");
    const lk_role role = word ? lk_role_from_word (word) : LK_ROLES;
    if (!lk_message_has (status, "role")) {
        return far ? LK_ROLE_USER : LK_ROLE_ADMIN;
    }
    return role == LK_ROLES ? LK_ROLE_NONE : role;
}

static void
read_name (char *name, size_t size, const lk_message *status, const char *field)
{
    const char *text = lk_message_text (status, field);
    snprintf (name, size, "%s", text ? text : "");
}

void
lk_lockd_read_who (lk_who *who, const lk_message *status, bool far)
{
    memset (who, 0, sizeof *who);
    read_name (who->zone, sizeof who->zone, status, "zone");
    read_name (who->user, sizeof who->user, status, "user");
    if (lk_zone_plain (who->zone)[0] == '\0') {
        who->zone[0] = '\0';
    }
    who->role = read_role (status, far);
    who->until_s = lk_message_number (status, "until", 0);
    if (who->until_s < 0 || who->until_s > UNTIL_MAX_S) {
        who->until_s = UNTIL_MAX_S;
    }
    if (who->role == LK_ROLE_ADMIN && who->zone[0] != '\0') {
        who->role = LK_ROLE_OPERATOR;
    }
}

/*  Rows of all zones are for admins, who may name one. */
static void
set_zone (lk_view *view, const lk_message *message)
{
    const char *zone = lk_message_text (message, "zone");
    view->all_zones = view->who.role == LK_ROLE_ADMIN && !zone;
    snprintf (view->zone, sizeof view->zone, "%s",
              zone ? lk_zone_plain (zone) : view->who.zone);
}

/*  One whom the router that we have did not tell of may be another one by that
 *  name. */
bool
lk_lockd_recognize (const lk_lockd *self, const lk_message *message, bool local,
                    lk_view *view)
{
    memset (view, 0, sizeof *view);
    if (local) {
        const lk_app *app =
            lk_apps_find (&self->apps, lk_message_from (message));
        if (!app || app->attached != self->attachment) {
            return false;
        }
        view->app = app;
        view->who = app->who;
    } else {
        view->who.role =
            lk_message_is_privileged (message) ? LK_ROLE_ADMIN : LK_ROLE_USER;
    }
    set_zone (view, message);
    return true;
}

/*  -------------------------------------------------------- what it may */

/*  As the table of roles has it. */
static const char *
deed_of (const lk_message *message)
{
    const bool changes = lk_message_is (message, "LOCKMEMBERS")
                             ? lk_message_has (message, "add")
                                   || lk_message_has (message, "remove")
                             : lk_message_is (message, "LOCKSETTINGS")
                                   && (lk_message_has (message, "text")
                                       || lk_message_has (message, "base"));
    const bool forces =
        lk_message_is (message, "UNLOCK") && lk_message_flag (message, "force");
    return changes ? "change" : forces ? "force" : "";
}

static void
refuse (lk_lockd *self, const lk_message *message, const lk_view *view,
        const char *why)
{
    lk_lockd_audit_refusal (self, message, &view->who, why);
    lk_lockd_fail (self, message, LK_DENIED, why);
}

void
lk_lockd_turn_down (lk_lockd *self, const lk_message *message)
{
    lk_message *answer = lk_message_reply (message, "INVALID");
    lk_message_set_text (answer, "reason", "that is not yours to say");
    (void) lk_lockd_send (self, answer);
}

/*  The commands that are a zone's; the others tell of hosts. */
static bool
is_for_zones (const lk_message *message)
{
    static const char *const commands[] = {
        "LOCK",      "UNLOCK",   "LOCKCHECK",    "LOCKGOODBYE", "LOCKHISTORY",
        "LOCKLEASE", "LOCKLIST", "LOCKREGISTER", "LOCKSTATUS",  "LOCKTOP",
    };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (lk_message_is (message, commands[i])) {
            return true;
        }
    }
    return false;
}

/*  The answer is the same whether there is such a zone or not. */
static bool
is_of_another_zone (const lk_message *message, const lk_view *view)
{
    const char *zone = lk_message_text (message, "zone");
    return zone && view->who.role < LK_ROLE_ADMIN
           && strcmp (lk_zone_plain (zone), view->who.zone) != 0;
}

bool
lk_lockd_may_say (lk_lockd *self, const lk_message *message,
                  const lk_view *view)
{
    char why[96];
    const lk_role role = view->who.role;
    const lk_role needed = lk_role_needed ("lock", lk_message_command (message),
                                           deed_of (message));
    if (view->who.zone[0] != '\0' && !is_for_zones (message)) {
        lk_lockd_audit_refusal (self, message, &view->who,
                                "that is not yours to say");
        lk_lockd_turn_down (self, message);
        return false;
    }
    if (role < needed) {
        snprintf (why, sizeof why, "that needs the role %s, you are %s",
                  lk_role_words[needed], lk_role_words[role]);
        refuse (self, message, view, why);
        return false;
    }
    if (is_of_another_zone (message, view)) {
        refuse (self, message, view, "that is another zone");
        return false;
    }
    return true;
}

int64_t
lk_lockd_until (const lk_lockd *self, const lk_who *who)
{
    if (who->until_s == 0) {
        return INT64_MAX;
    }
    /*  To the millisecond: each lease asks, and is to hear the same. */
    struct timespec wall;
    clock_gettime (CLOCK_REALTIME, &wall);
    const int64_t left_ms =
        1000 * (who->until_s - (int64_t) wall.tv_sec) - wall.tv_nsec / 1000000;
    const int64_t until_ms = lk_bus_now (self->bus) + left_ms;
    return until_ms > 0 ? until_ms : 1;
}
