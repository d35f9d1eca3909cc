/*  manager.c - see manager.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "manager.h"

#include "daemon/notify.h"
#include "net/clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/*  A router alone needs no time to leave; hosted services say what they do. */
enum { STOPPING_MS = 5000 };

/*  -------------------------------------------------------- who is missing */

static bool
is_seen (const lk_mesh *mesh, const char *host)
{
    for (size_t i = 0; i < mesh->count; i++) {
        const lk_mesh_link *link = mesh->link[i];
        if (lk_mesh_link_is_live (link) && strcmp (link->host, host) == 0) {
            return true;
        }
    }
    return false;
}

static bool
is_missing (const lk_mesh *mesh, const lk_mesh_link *link)
{
    return link->known && !lk_mesh_link_is_live (link)
           && link->state != LK_LINK_OURSELVES && link->state != LK_LINK_DOUBLE
           && (link->host[0] == '\0' || !is_seen (mesh, link->host));
}

/*  ", not h2 10.0.0.3:7411", as much of it as there is room for. */
static void
list_missing (const lk_mesh *mesh, char *text, size_t size)
{
    const char *word = ", not";
    text[0] = '\0';
    for (size_t i = 0, used = 0; i < mesh->count && used < size; i++) {
        const lk_mesh_link *link = mesh->link[i];
        if (is_missing (mesh, link)) {
            used +=
                (size_t) snprintf (text + used, size - used, "%s %s", word,
                                   link->host[0] ? link->host : link->address);
            word = "";
        }
    }
}

static void
tell_hosts (lk_manager *self)
{
    char missing[512];
    self->total = self->router->cluster.total;
    self->live = self->router->cluster.live;
    list_missing (&self->router->mesh, missing, sizeof missing);
    lk_notify_status (LK_NOTIFY_ROUTER, "host %s sees %zu of %zu hosts%s",
                      self->router->host, self->live, self->total, missing);
}

/*  -------------------------------------------------------- life */

static void
set_alive_timer (lk_manager *self)
{
    const int64_t interval_ms = lk_notify_interval_ms ();
    if (interval_ms > 0) {
        lk_timer_set (&self->alive, lk_clock_ms () + interval_ms);
    }
}

/*  Counts may be the same while hosts are others. */
static void
say_alive (void *user)
{
    lk_manager *self = user;
    lk_notify_alive ();
    if (!self->stopping) {
        tell_hosts (self);
    }
    set_alive_timer (self);
}

void
lk_manager_begin (lk_manager *self, const lk_router *router, lk_loop *loop)
{
    self->router = router;
    lk_timer_init (&self->alive, loop, say_alive, self);
    tell_hosts (self);
    lk_notify_ready ();
    set_alive_timer (self);
}

void
lk_manager_clear (lk_manager *self)
{
    if (self->router != NULL) {
        lk_timer_clear (&self->alive);
        self->router = NULL;
    }
}

void
lk_manager_tell (lk_manager *self)
{
    const lk_cluster *now = &self->router->cluster;
    if (!self->stopping
        && (self->total != now->total || self->live != now->live)) {
        tell_hosts (self);
    }
}

void
lk_manager_stop (lk_manager *self)
{
    self->stopping = true;
    lk_notify_stopping (STOPPING_MS);
    lk_notify_status (LK_NOTIFY_ROUTER, "stopping");
}
