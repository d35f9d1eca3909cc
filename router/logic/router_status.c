/*  router_status.c - what a router tells of itself
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "router_status.h"

#include "wire/message_frame.h"

#include <stdio.h>

enum {
    LISTED_MAX = 1000, /* services in one ROUTERSTATUS */
    REACHED_BY_MAX = 3 /* neighbours that reach a host, too */
};

static void
add_hosts (const lk_router *self, lk_message *status)
{
    char item[LK_HOST_LEN_MAX + LK_ADDRESS_LEN_MAX + 64];
    for (size_t i = 0; i < self->mesh.count; i++) {
        const lk_mesh_link *link = self->mesh.link[i];
        snprintf (item, sizeof item, "%s %s %s %s",
                  link->host[0] != '\0' ? link->host : "?",
                  lk_mesh_link_state_name (link->state), link->address,
                  link->version[0] != '\0' ? link->version : "?");
        lk_message_add_item (status, "hosts", item);
    }
}

static void
add_reached_by (const lk_router *self, const lk_mesh_link *link,
                lk_message *row)
{
    const lk_mesh_link *by[LK_LINKS_MAX];
    const size_t count = lk_mesh_reached_by (&self->mesh, self->host, link, by);
    for (size_t i = 0; i < count && i < REACHED_BY_MAX; i++) {
        lk_message_add_item (row, "reached_by", by[i]->host);
    }
}

/*  The same as rows, with more than fits into a line. */
static void
add_links (const lk_router *self, lk_message *status)
{
    char origin[LK_HOST_LEN_MAX + 16];
    for (size_t i = 0; i < self->mesh.count; i++) {
        const lk_mesh_link *link = self->mesh.link[i];
        lk_message *row = lk_message_row_new ();
        lk_message_set_text (row, "host", link->host);
        lk_message_set_text (row, "state",
                             lk_mesh_link_state_name (link->state));
        lk_message_set_text (row, "address", link->address);
        lk_message_set_text (row, "version", link->version);
        lk_message_set_text (row, "origin",
                             lk_mesh_link_origin (link, origin, sizeof origin));
        lk_message_set_number (row, "since_ms", self->now_ms - link->since_ms);
        if (link->reason[0] != '\0') {
            lk_message_set_text (row, "reason", link->reason);
        }
        add_reached_by (self, link, row);
        lk_message_add_row (status, "links", &row);
    }
}

/*  Who was turned away, or turned us away, and goes on trying. */
static void
add_refusals (const lk_router *self, lk_message *status)
{
    for (size_t i = 0; i < self->refusals.count; i++) {
        const lk_refusal *refusal = &self->refusals.item[i];
        if (!lk_refusal_is_now (refusal, self->now_ms)) {
            continue;
        }
        lk_message *row = lk_message_row_new ();
        lk_message_set_text (row, "what", refusal->what);
        lk_message_set_text (row, "host", refusal->host);
        lk_message_set_text (row, "address", refusal->address);
        lk_message_set_text (row, "reason", refusal->reason);
        lk_message_set_number (row, "since_ms",
                               self->now_ms - refusal->first_ms);
        lk_message_set_number (row, "times", (int64_t) refusal->count);
        lk_message_add_row (status, "refusals", &row);
    }
}

static void
add_services (const lk_router *self, lk_message *status)
{
    char item[LK_SERVICE_LEN_MAX + LK_VERSION_LEN_MAX + 64];
    size_t listed = 0;
    for (const lk_local *local = self->route.by_service;
         local != NULL && listed < LISTED_MAX; local = local->by_service.next) {
        snprintf (item, sizeof item, "%s %lu %s %s", local->service,
                  (unsigned long) local->pid,
                  local->application ? "application" : "service",
                  local->version[0] != '\0' ? local->version : "?");
        lk_message_add_item (status, "services", item);
        listed++;
    }
}

/*  Other machines, by their keys. */
static void
add_machines (const lk_router *self, lk_message *status)
{
    size_t listed = 0;
    for (const lk_machine *machine = self->route.machines;
         machine != NULL && listed < LISTED_MAX; machine = machine->hh.next) {
        lk_message *row = lk_message_row_new ();
        lk_message_set_text (row, "key", machine->key);
        lk_message_set_number (row, "sessions", (int64_t) machine->sessions);
        lk_message_add_row (status, "machines", &row);
        listed++;
    }
}

/*  Other machines that are shut out, by their keys and addresses. */
static void
add_offenders (const lk_router *self, lk_message *status)
{
    const lk_shut_out *all = &self->shut_out;
    size_t listed = 0;
    lk_message_set_number (status, "shut_out",
                           (int64_t) lk_shut_out_now (all, self->now_ms));
    lk_message_set_number (status, "shut_outs", (int64_t) all->count);
    for (const lk_offender *it = all->all; it != NULL && listed < LISTED_MAX;
         it = it->hh.next) {
        if (!lk_offender_is_out (it, self->now_ms)) {
            continue;
        }
        lk_message *row = lk_message_row_new ();
        lk_message_set_text (row, it->is_place ? "address" : "key", it->name);
        lk_message_set_text (row, "reason", it->reason);
        lk_message_set_number (row, "left_ms", it->until_ms - self->now_ms);
        lk_message_set_number (row, "times", (int64_t) it->times);
        lk_message_add_row (status, "offenders", &row);
        listed++;
    }
}

/*  What is cached, and for whom. */
static void
add_waiting (const lk_router *self, lk_message *status)
{
    char item[LK_ADDRESS_LEN_MAX + 32];
    size_t listed = 0;
    lk_message_set_number (status, "waiting", (int64_t) self->cache.count);
    lk_message_set_number (status, "waiting_size", (int64_t) self->cache.size);
    for (const lk_awaited *awaited = self->cache.awaited;
         awaited != NULL && listed < LISTED_MAX; awaited = awaited->hh.next) {
        snprintf (item, sizeof item, "%s %zu", awaited->name, awaited->count);
        lk_message_add_item (status, "awaited", item);
        listed++;
    }
}

static void
add_counters (const lk_router *self, lk_message *status)
{
    const lk_router_counters *count = &self->count;
#define ADD(name) lk_message_set_number (status, #name, (int64_t) count->name);
    LK_ROUTER_COUNTERS (ADD)
#undef ADD
}

void
lk_router_tell_status (const lk_router *self, lk_message *status)
{
    lk_message_set_text (status, "host", self->host);
    lk_message_set_text (status, "address", self->address);
    lk_message_set_text (status, "version", LK_VERSION);
    lk_message_set_text (status, "security",
                         lk_keyring_security (&self->keyring));
    lk_message_set_number (status, "total", (int64_t) self->cluster.total);
    lk_message_set_number (status, "live", (int64_t) self->cluster.live);
    lk_message_set_number (status, "sessions",
                           (int64_t) lk_route_count (&self->route));
    lk_message_set_number (status, "clients", (int64_t) self->route.far_count);
    if (self->clients_address[0] != '\0') {
        lk_message_set_text (status, "clients_address", self->clients_address);
        lk_message_set_text (status, "clients_key", self->clients_key);
    }
    add_hosts (self, status);
    add_links (self, status);
    add_refusals (self, status);
    add_services (self, status);
    add_machines (self, status);
    add_offenders (self, status);
    add_waiting (self, status);
    add_counters (self, status);
}
