/*  zones.h - zones, who may speak for them, and whose credentials count
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Pure. The settings of the cluster say it, as a service of this host tells
 *  them; in which zone local processes are this host's configuration says.
 */

#ifndef LK_ROUTER_ZONES_H
#define LK_ROUTER_ZONES_H

#include "bounds.h"
#include "person.h"

#include "settings/local_zones.h"
#include "settings/zones.h"

/*  All zeroes: none. Each list has room for what it has, NULL for nothing. */
typedef struct {
    lk_zone *zone; /* LK_ZONES_MAX at most */
    size_t count;
    lk_zone_issuer *issuer; /* LK_ISSUERS_MAX */
    size_t issuer_count;
    lk_revoked *revoked; /* LK_REVOKED_MAX */
    size_t revoked_count;
    lk_local_zone *local; /* LK_LOCAL_ZONES_MAX */
    size_t local_count;
} lk_zones;

void lk_zones_clear (lk_zones *self);

/*  Takes the lists `zones`, `issuers` and `revoked`, whose items are values as
 *  the settings have them; what is none is left out. */
void lk_zones_take (lk_zones *self, const lk_message *message);

/*  Takes the lines of the configuration. */
void lk_zones_set_local (lk_zones *self, const lk_local_zone *zones,
                         size_t count);

/*  The name of its zone, also of that of name "default". */
const char *lk_person_zone (const lk_person *self);

/*  Whether anybody can show a credential, or can be given one. */
bool lk_zones_are_open (const lk_zones *self);

/*  Why the credential of somebody counts no more, whatever the time; NULL: it
 *  does. */
const char *lk_zones_objection (const lk_zones *self, const lk_person *person);

/*  The person that shows that credential on a connection of that key, at that
 *  time by the clock. LK_INVALID or LK_REFUSED and problem: it does not
 *  count; `person` has an issuer nevertheless if one of its zone has signed
 *  it. An admin of another zone than "default" is an operator. */
lk_err lk_zones_admit (const lk_zones *self, const char *credential,
                       const char *key, int64_t now_s, lk_person *person,
                       lk_problem *problem)
    __attribute__ ((warn_unused_result));

#endif
