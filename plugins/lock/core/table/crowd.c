/*  crowd.c - a session with its tickets
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "crowd.h"

#include "util/hash.h"

static uint32_t
hash_of_entry (const lk_index_link *link)
{
    return lk_hash_number (((const lk_entry *) link)->serial);
}

static void
free_crowd (lk_table *self, lk_crowd *crowd)
{
    (void) lk_index_clear (&crowd->entries);
    HASH_DEL (self->crowds, crowd);
    lk_free (crowd);
}

static lk_crowd *
add_crowd (lk_table *self, lk_request_id request)
{
    lk_crowd *crowd = lk_alloc (sizeof *crowd);
    crowd->id[0] = request.host;
    crowd->id[1] = request.session;
    lk_index_init (&crowd->entries, hash_of_entry);
    HASH_ADD_BYHASHVALUE (hh, self->crowds, id, sizeof crowd->id,
                          lk_crowd_hash (crowd->id), crowd);
    return crowd;
}

/*  A session whose last ticket went may well come back: one such stays until
 *  another session comes, and never goes while somebody looks through all. */
static lk_crowd *
replace_idle_crowd (lk_table *self, lk_request_id request)
{
    lk_crowd *idle = self->idle_crowd;
    self->idle_crowd = NULL;
    if (idle && idle->id[0] == request.host && idle->id[1] == request.session) {
        return idle;
    }
    if (idle) {
        free_crowd (self, idle);
    }
    return add_crowd (self, request);
}

void
lk_crowd_forget (lk_table *self, lk_host host)
{
    if (self->idle_crowd && self->idle_crowd->id[0] == host) {
        free_crowd (self, self->idle_crowd);
        self->idle_crowd = NULL;
    }
}

void
lk_crowd_join (lk_table *self, lk_entry *entry, lk_request_id request)
{
    lk_crowd *crowd = lk_table_crowd (self, request.host, request.session);
    if (!crowd) {
        crowd = replace_idle_crowd (self, request);
    }
    entry->crowd = crowd;
    entry->serial = request.serial;
    lk_index_add (&crowd->entries, &entry->link);
}

void
lk_crowd_count (lk_entry *entry)
{
    entry->crowd->count[entry->queue->lot]++;
    entry->crowd->own++;
}

void
lk_crowd_uncount (lk_entry *entry)
{
    lk_crowd *crowd = entry->crowd;
    crowd->count[entry->queue->lot]--;
    crowd->own--;
    if (crowd->own == 0) {
        crowd->silent_by = 0;
    }
}

void
lk_crowd_leave (lk_table *self, lk_entry *entry)
{
    lk_crowd *crowd = entry->crowd;
    lk_index_remove (&crowd->entries, &entry->link);
    if (crowd->entries.count > 0) {
        return;
    }
    if (self->idle_crowd) {
        free_crowd (self, crowd);
    } else {
        self->idle_crowd = crowd;
    }
}
