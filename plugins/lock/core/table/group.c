/*  group.c - a session with its tickets
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "group.h"

#include "util/hash.h"

static uint32_t
hash_of_entry (const lk_index_link *link)
{
    return lk_hash_number (((const lk_entry *) link)->serial);
}

static void
free_group (lk_table *self, lk_group *group)
{
    (void) lk_index_clear (&group->entries);
    HASH_DEL (self->groups, group);
    lk_free (group);
}

static lk_group *
add_group (lk_table *self, lk_request_id request)
{
    lk_group *group = lk_alloc (sizeof *group);
    group->id[0] = request.host;
    group->id[1] = request.session;
    lk_index_init (&group->entries, hash_of_entry);
    HASH_ADD_BYHASHVALUE (hh, self->groups, id, sizeof group->id,
                          lk_group_hash (group->id), group);
    return group;
}

/*  A session whose last ticket went may well come back: one such stays until
 *  another session comes, and never goes while somebody looks through all. */
static lk_group *
replace_idle_group (lk_table *self, lk_request_id request)
{
    lk_group *idle = self->idle_group;
    self->idle_group = NULL;
    if (idle && idle->id[0] == request.host && idle->id[1] == request.session) {
        return idle;
    }
    if (idle) {
        free_group (self, idle);
    }
    return add_group (self, request);
}

void
lk_group_forget (lk_table *self, lk_host host)
{
    if (self->idle_group && self->idle_group->id[0] == host) {
        free_group (self, self->idle_group);
        self->idle_group = NULL;
    }
}

void
lk_group_join (lk_table *self, lk_entry *entry, lk_request_id request)
{
    lk_group *group = lk_table_group (self, request.host, request.session);
    if (!group) {
        group = replace_idle_group (self, request);
    }
    entry->group = group;
    entry->serial = request.serial;
    lk_index_add (&group->entries, &entry->link);
}

void
lk_group_count (lk_entry *entry)
{
    entry->group->count[entry->queue->lot]++;
    entry->group->own++;
}

void
lk_group_uncount (lk_entry *entry)
{
    lk_group *group = entry->group;
    group->count[entry->queue->lot]--;
    group->own--;
    if (group->own == 0) {
        group->silent_by = 0;
    }
}

void
lk_group_leave (lk_table *self, lk_entry *entry)
{
    lk_group *group = entry->group;
    lk_index_remove (&group->entries, &entry->link);
    if (group->entries.count > 0) {
        return;
    }
    if (self->idle_group) {
        free_group (self, group);
    } else {
        self->idle_group = group;
    }
}
