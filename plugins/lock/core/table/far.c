/*  far.c - tickets of applications on other machines
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "far.h"

#include "util/alloc.h"
#include "util/hash.h"

/*  As that of an object's name. */
uint32_t
lk_far_hash (const lk_far_id *remote)
{
    const uint64_t id[3] = {remote->owner[0], remote->owner[1], remote->serial};
    return (uint32_t) lk_hash64 (id, sizeof id);
}

static bool
is_same (const lk_far_id *one, const lk_far_id *other)
{
    return one->serial == other->serial && one->owner[0] == other->owner[0]
           && one->owner[1] == other->owner[1];
}

static lk_entry *
entry_of (lk_far *far)
{
    return (lk_entry *) far - 1;
}

lk_entry *
lk_table_find_remote (const lk_table *self, const lk_far_id *remote,
                      lk_name object)
{
    lk_index_link *link = lk_index_find (&self->fars, lk_far_hash (remote));
    for (; link; link = link->next) {
        lk_far *far = (lk_far *) link;
        if (is_same (&far->id, remote)
            && lk_queue_is_of (entry_of (far)->queue, object)) {
            return entry_of (far);
        }
    }
    return NULL;
}

void
lk_far_join (lk_table *self, lk_entry *entry, const lk_far_id *remote)
{
    lk_far *far = lk_entry_far (entry);
    if (far) {
        far->id = *remote;
        lk_index_add (&self->fars, &far->link);
    }
}

void
lk_far_leave (lk_table *self, lk_entry *entry)
{
    lk_far *far = lk_entry_far (entry);
    if (far) {
        lk_index_remove (&self->fars, &far->link);
    }
}
