/*  ousted.c - holders whose lock was taken away at once, by an operator
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "ousted.h"

#include "leader_private.h"

#include <string.h>

#define AGAIN_MS 1000

void
lk_ousted_init (lk_ousteds *self)
{
    self->next = 0;
    for (size_t i = 0; i < LK_OUSTED_MAX; i++) {
        self->item[i].request.host = LK_NOBODY;
    }
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
    lk_ousteds *all = &lead->home.ousted;
    lk_ousted *self = &all->item[all->next++ % LK_OUSTED_MAX];
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
    for (size_t i = 0; i < LK_OUSTED_MAX; i++) {
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
    for (size_t i = 0; i < LK_OUSTED_MAX; i++) {
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
    for (size_t i = 0; i < LK_OUSTED_MAX; i++) {
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
