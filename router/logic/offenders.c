/*  offenders.c - other machines that are shut out
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "offenders.h"

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

/*  Whose key or session it is, as far as that is known. */
static void
log_it (lk_router *self, const lk_source *source, const lk_offender *it)
{
    char key[LK_FINGERPRINT_SIZE];
    const lk_client_key *known = lk_client_keys_find (&self->clients, it->name);
    const lk_person *person =
        source != NULL && source->local != NULL ? &source->local->person : NULL;
    const char *zone = person  ? lk_person_zone (person)
                       : known ? LK_ZONE_DEFAULT
                               : NULL;
    const char *from =
        it->is_place ? it->name
                     : self->calls->address (self->shell, source->identity);
    lk_curve_fingerprint (it->name, key);
    lk_zone_file_notice (
        &self->zone_file, zone,
        "audit: %s shut out who=%s zone=%s from=%s key=%s seconds=%lld "
        "why=\"%s\"",
        it->is_place ? "address" : "key",
        person  ? person->user
        : known ? known->client
                : "?",
        zone != NULL ? zone : "?", from != NULL ? from : "?",
        it->is_place ? "?" : key,
        (long long) (it->until_ms - self->now_ms) / 1000, it->reason);
}

/*  `source`: of a key. */
static void
tell (lk_router *self, const lk_source *source, const char *name)
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
        log_it (self, source, it);
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
        tell (self, NULL, place);
    }
}

bool
lk_offenders_note (lk_router *self, const lk_source *source, const char *name,
                   bool is_place, bool at_once, const char *reason)
{
    if (lk_shut_out_offend (&self->shut_out, name, is_place, at_once, reason,
                            self->now_ms)) {
        tell (self, source, name);
    }
    return lk_shut_out_find (&self->shut_out, name, self->now_ms) != NULL;
}
