/*  zones.c - zones, who may speak for them, and whose credentials count
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "zones.h"

#include "rows.h"
#include "util/alloc.h"

#include <stdio.h>
#include <string.h>

void
lk_zones_clear (lk_zones *self)
{
    lk_free (self->zone);
    lk_free (self->issuer);
    lk_free (self->revoked);
    lk_free (self->local);
    *self = (lk_zones) {.zone = NULL};
}

/*  -------------------------------------------------------- taking */

void
lk_zones_take (lk_zones *self, const lk_message *message)
{
    const char *line;
    self->count = self->issuer_count = self->revoked_count = 0;
    self->zone = lk_rows_renew (self->zone, message, "zones", LK_ZONES_MAX,
                                sizeof *self->zone);
    self->issuer = lk_rows_renew (self->issuer, message, "issuers",
                                  LK_ISSUERS_MAX, sizeof *self->issuer);
    self->revoked = lk_rows_renew (self->revoked, message, "revoked",
                                   LK_REVOKED_MAX, sizeof *self->revoked);
    for (size_t i = 0;
         self->count < LK_ZONES_MAX
         && (line = lk_message_item (message, "zones", i)) != NULL;
         i++) {
        self->count += lk_zone_read (&self->zone[self->count], line);
    }
    for (size_t i = 0;
         self->issuer_count < LK_ISSUERS_MAX
         && (line = lk_message_item (message, "issuers", i)) != NULL;
         i++) {
        self->issuer_count +=
            lk_zone_issuer_read (&self->issuer[self->issuer_count], line);
    }
    for (size_t i = 0;
         self->revoked_count < LK_REVOKED_MAX
         && (line = lk_message_item (message, "revoked", i)) != NULL;
         i++) {
        self->revoked_count +=
            lk_revoked_read (&self->revoked[self->revoked_count], line);
    }
}

void
lk_zones_set_local (lk_zones *self, const lk_local_zone *zones, size_t count)
{
    lk_free (self->local);
    self->local = NULL;
    self->local_count = count;
    if (count > 0) {
        self->local = lk_alloc (count * sizeof *zones);
        memcpy (self->local, zones, count * sizeof *zones);
    }
}

const char *
lk_person_zone (const lk_person *self)
{
    return self->zone[0] != '\0' ? self->zone : LK_ZONE_DEFAULT;
}

/*  -------------------------------------------------------- credentials */

bool
lk_zones_are_open (const lk_zones *self)
{
    size_t i = 0;
    while (i < self->count && self->zone[i].authority[0] == '\0') {
        i++;
    }
    return self->issuer_count > 0 || i < self->count;
}

const char *
lk_zones_objection (const lk_zones *self, const lk_person *person)
{
    if (!lk_zone_issuer_has (self->issuer, self->issuer_count,
                             lk_person_zone (person), person->issuer)) {
        return "the issuer of the credential does not speak for that zone";
    }
    return lk_revoked_has (self->revoked, self->revoked_count, person->serial)
               ? "the credential was revoked"
               : NULL;
}

/*  The person of a credential, whether or not it counts. */
static void
describe (lk_person *self, const lk_credential *credential)
{
    *self = (lk_person) {.role = credential->role,
                         .until = credential->not_after,
                         .since = credential->since,
                         .serial = credential->serial};
    snprintf (self->zone, sizeof self->zone, "%s",
              lk_zone_plain (credential->zone));
    snprintf (self->user, sizeof self->user, "%s", credential->user);
    snprintf (self->issuer, sizeof self->issuer, "%s", credential->issuer);
    if (self->zone[0] != '\0' && self->role == LK_ROLE_ADMIN) {
        self->role = LK_ROLE_OPERATOR;
    }
}

lk_err
lk_zones_admit (const lk_zones *self, const char *credential, const char *key,
                int64_t now_s, lk_person *person, lk_problem *problem)
{
    lk_credential shown;
    lk_err error = lk_credential_read (&shown, credential, problem);
    *person = (lk_person) {.issuer = ""};
    if (error != LK_OK) {
        return error;
    }
    if (lk_zone_issuer_has (self->issuer, self->issuer_count,
                            lk_zone_plain (shown.zone)[0] != '\0'
                                ? shown.zone
                                : LK_ZONE_DEFAULT,
                            shown.issuer)) {
        describe (person, &shown);
    }
    if (strcmp (shown.key, key) != 0) {
        return lk_problem_set (problem, LK_REFUSED,
                               "the credential is of another key");
    }
    error = lk_credential_check_time (&shown, now_s, problem);
    if (error != LK_OK) {
        return error;
    }
    lk_person bearer;
    describe (&bearer, &shown);
    const char *objection = lk_zones_objection (self, &bearer);
    return objection == NULL
               ? LK_OK
               : lk_problem_set (problem, LK_REFUSED, "%s", objection);
}
