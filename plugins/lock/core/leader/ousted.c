/*  ousted.c - holders whose lock was taken away at once, by an operator
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "ousted.h"

#include "leader_private.h"
#include "util/alloc.h"

#include <string.h>

#define AGAIN_MS 1000

void
lk_ousted_clear (lk_ousteds *self)
{
    lk_free (self->item);
    *self = (lk_ousteds) {.item = NULL};
}

static size_t
count (const lk_ousteds *self)
{
    return self->item ? LK_OUSTED_MAX : 0;
}

static lk_ousted *
take_next (lk_ousteds *self)
{
    if (!self->item) {
        self->item = lk_alloc (LK_OUSTED_MAX * sizeof *self->item);
        for (size_t i = 0; i < LK_OUSTED_MAX; i++) {
            self->item[i].request.host = LK_NOBODY;
        }
    }
    return &self->item[self->next++ % LK_OUSTED_MAX];
}

static void
say (lk_leader *lead, lk_ousted *self)
{
    const lk_name object = {self->text, self->object_size};
    const lk_name reason = {self->text + self->object_size, self->reason_size};
    self->said_ms = lead->core->now_ms;
    lk_home_say_back (lead, &(lk_msg_reply) {.request = self->request,
                                             .object = object,
                                             .token = self->token,
                                             .error = (int) self->error,
                                             .reason = reason});
}

void
lk_ousted_add (lk_leader *lead, const lk_entry *holder,
               const lk_msg_request *request)
{
    lk_ousted *self = take_next (&lead->home.ousted);
    const lk_name object = lk_entry_object (holder);
    LK_ASSERT (object.size <= LK_NAME_SIZE_MAX);
    self->request = lk_entry_request (holder);
    self->token = holder->token;
    self->error = request->force ? LK_FORCED : LK_RELEASED;
    self->object_size = object.size;
    self->reason_size =
        request->reason.size <= LK_REASON_MAX ? request->reason.size : 0;
    memcpy (self->text, object.data, object.size);
    if (self->reason_size > 0) {
        memcpy (self->text + object.size, request->reason.data,
                self->reason_size);
    }
    say (lead, self);
}

static lk_ousted *
find (lk_ousteds *self, lk_request_id request)
{
    for (size_t i = 0; i < count (self); i++) {
        if (lk_request_same (self->item[i].request, request)) {
            return &self->item[i];
        }
    }
    return NULL;
}

bool
lk_ousted_again (lk_leader *lead, lk_request_id request)
{
    lk_ousted *self = find (&lead->home.ousted, request);
    if (self) {
        say (lead, self);
    }
    return self != NULL;
}

void
lk_ousted_heard (lk_ousteds *self, lk_request_id request)
{
    lk_ousted *ousted = find (self, request);
    if (ousted) {
        ousted->request.host = LK_NOBODY;
    }
}

void
lk_ousted_forget (lk_ousteds *self, lk_host host)
{
    for (size_t i = 0; i < count (self); i++) {
        if (self->item[i].request.host == host) {
            self->item[i].request.host = LK_NOBODY;
        }
    }
}

/*  A host in a later session, or in none, believes in it no more.
 *  Protocol 9.11. */
static bool
is_over (const lk_leader *lead, lk_request_id request)
{
    return request.session <= lead->core->peer[request.host].closed
           || lk_is_silent (lead, request.host, request.session);
}

/*  protocol 9.11 */
void
lk_ousted_run (lk_leader *lead)
{
    for (size_t i = 0; i < count (&lead->home.ousted); i++) {
        lk_ousted *self = &lead->home.ousted.item[i];
        if (self->request.host == LK_NOBODY) {
            continue;
        }
        if (is_over (lead, self->request)) {
            self->request.host = LK_NOBODY;
        } else if (lead->core->now_ms - self->said_ms >= AGAIN_MS) {
            say (lead, self);
        }
    }
}
