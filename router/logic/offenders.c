/*  offenders.c - other machines that are shut out
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "offenders.h"

#include "net/log.h"

#include <stdio.h>

bool
lk_offenders_is_out (const lk_router *self, const char *public_key,
                     const char *address)
{
    char place[LK_PLACE_SIZE];
    return lk_shut_out_find (&self->shut_out, public_key, self->now_ms) != NULL
           || (lk_place_of (address, place)
               && lk_shut_out_find (&self->shut_out, place, self->now_ms)
                      != NULL);
}

static void
tell (lk_router *self, const char *name)
{
    const lk_offender *it =
        lk_shut_out_find (&self->shut_out, name, self->now_ms);
    lk_refusal refusal = {.what = "shut out"};
    if (it == NULL) {
        return;
    }
    snprintf (refusal.reason, sizeof refusal.reason, "%s", it->reason);
    snprintf (refusal.address, sizeof refusal.address, "%s", name);
    if (lk_refusals_note (&self->clients.refusals, &refusal, self->now_ms)) {
        lk_log_warning ("clients: shut out: %s %s=%s seconds=%lld", it->reason,
                        it->is_place ? "address" : "key", name,
                        (long long) (it->until_ms - self->now_ms) / 1000);
    }
}

void
lk_offenders_admitted (lk_router *self, const char *address)
{
    char place[LK_PLACE_SIZE];
    if (lk_place_of (address, place)) {
        lk_shut_out_admitted (&self->shut_out, place, self->now_ms);
    }
}

void
lk_offenders_began (lk_router *self, const char *address)
{
    char place[LK_PLACE_SIZE];
    if (lk_place_of (address, place)) {
        lk_shut_out_began (&self->shut_out, place, self->now_ms);
    }
}

void
lk_offenders_ended (lk_router *self, const char *address)
{
    char place[LK_PLACE_SIZE];
    if (lk_place_of (address, place)
        && lk_shut_out_ended (&self->shut_out, place, self->now_ms)) {
        tell (self, place);
    }
}

bool
lk_offenders_note (lk_router *self, const char *name, bool is_place,
                   bool at_once, const char *reason)
{
    if (lk_shut_out_offend (&self->shut_out, name, is_place, at_once, reason,
                            self->now_ms)) {
        tell (self, name);
    }
    return lk_shut_out_find (&self->shut_out, name, self->now_ms) != NULL;
}
