/*  relays.c - questions of zones that other lock services are asked
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "relays.h"

#include "util/alloc.h"

#include <stddef.h>
#include <utlist.h>

lk_relay *
lk_relays_add (lk_relays *self, lk_message **answer)
{
    if (self->count == LK_RELAYS_MAX) {
        return NULL;
    }
    lk_relay *relay = lk_alloc (sizeof *relay);
    relay->answer = *answer;
    relay->serial = ++self->last_serial;
    *answer = NULL;
    DL_APPEND (self->first, relay);
    self->count++;
    return relay;
}

lk_message *
lk_relays_remove (lk_relays *self, lk_relay *relay)
{
    lk_message *answer = relay->answer;
    DL_DELETE (self->first, relay);
    self->count--;
    lk_free (relay);
    return answer;
}

lk_relay *
lk_relays_find (const lk_relays *self, uint64_t serial)
{
    lk_relay *relay = self->first;
    while (relay && relay->serial != serial) {
        relay = relay->next;
    }
    return relay;
}

/*  All wait equally long. */
int64_t
lk_relays_deadline (const lk_relays *self)
{
    return self->first ? self->first->until_ms : INT64_MAX;
}

void
lk_relays_clear (lk_relays *self)
{
    while (self->first) {
        lk_message *answer = lk_relays_remove (self, self->first);
        lk_message_destroy (&answer);
    }
}
