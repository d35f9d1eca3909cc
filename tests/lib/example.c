/*  example.c - the example messages between lock services, decoded
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "lib/example.h"
#include "peers.h"
#include "util/assert.h"

#include <string.h>

bool
lk_example_is_lock (const lk_vector *one)
{
    return strncmp (one->name, "lock-", 5) == 0;
}

void
lk_example_hostmap (lk_hostmap *hostmap)
{
    lk_hostmap_init (hostmap);
    lk_hostmap_intern (hostmap, "h1", ID1);
    lk_hostmap_intern (hostmap, "h2", ID2);
    lk_hostmap_intern (hostmap, "h3", ID3);
}

void
lk_example_take (const char *name, lk_hostmap *hostmap,
                 lk_lock_message *message)
{
    lk_message *bus = lk_vector_message (lk_vector_find (name));
    const lk_err error = lk_lock_decode (bus, hostmap, H1, message);
    LK_ASSERT (error == LK_OK);
    lk_message_destroy (&bus);
}

lk_message *
lk_example_encode (const lk_vector *example, const lk_lock_message *message,
                   const lk_hostmap *hostmap)
{
    lk_message *bus = lk_lock_encode (message, hostmap, message->from);
    if (message->kind == LK_MSG_STARTED) {
        lk_charter cluster;
        lk_message *read = lk_vector_message (example);
        const bool good = lk_charter_read (&cluster, read);
        LK_ASSERT (good);
        lk_charter_write (&cluster, bus);
        lk_level_write (bus);
        lk_message_destroy (&read);
    }
    return bus;
}
