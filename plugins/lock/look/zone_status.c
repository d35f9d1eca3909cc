/*  zone_status.c - LOCKSTATUS: what zones use and may have
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "look.h"
#include "wire/message_frame.h"

/*  One limit and what is used of it. */
static void
add_limit (lk_message *message, const char *use_field, int64_t use,
           const char *limit_field, int64_t limit)
{
    lk_message_set_number (message, use_field, use);
    lk_message_set_any (message, limit_field, limit);
}

/*  In the whole cluster, as this host knows it. */
void
lk_lockd_add_use (const lk_lockd *self, lk_message *message, const char *zone)
{
    static const lk_zone none = {.locks = 0};
    const lk_zone *found = lk_shares_limits (self->shares, zone);
    const lk_zone *limits = found ? found : &none;
    const lk_zone_use use =
        lk_shares_all (self->shares, zone, lk_node_find_use (self->node, zone));
    const int64_t now_ms = lk_bus_now (self->bus);
    add_limit (message, "locks", use.locks, "locks_max", limits->locks);
    add_limit (message, "bytes", use.bytes, "bytes_max", limits->bytes);
    add_limit (message, "sessions",
               (int64_t) lk_apps_count_of_zone (&self->apps, zone)
                   + use.sessions,
               "sessions_max", limits->sessions);
    add_limit (message, "requests",
               lk_shares_rate (self->shares, zone, now_ms) + use.requests,
               "requests_max", limits->requests);
}

/*  -------------------------------------------------------- for admins */

/*  Of all zones of the settings. */
static void
add_zones (const lk_lockd *self, lk_message *message)
{
    const lk_zone *zone = NULL;
    while ((zone = lk_shares_next (self->shares, zone)) != NULL) {
        lk_message *row = lk_message_row_new ();
        lk_message_set_text (row, "zone",
                             zone->name[0] ? zone->name : LK_ZONE_DEFAULT);
        lk_lockd_add_use (self, row, zone->name);
        lk_message_add_row (message, "zones", &row);
    }
}

/*  A survey of all hosts need not have it from each. */
void
lk_lockd_add_zones (const lk_lockd *self, lk_message *message,
                    const lk_view *view)
{
    if (view && view->app && view->who.role == LK_ROLE_ADMIN) {
        add_zones (self, message);
    }
}
