/*  zones.h - what the settings of a cluster say of its zones
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  A zone is a space of names with people, limits and a log of its own. That of
 *  name "default", or "", is there without a line. lockkeeper-settings(5).
 */

#ifndef LK_SETTINGS_ZONES_H
#define LK_SETTINGS_ZONES_H

#include "wire/object_key.h"

#include <lockkeeper/message.h>
#include <stdbool.h>
#include <stdint.h>

#define LK_SETTING_ZONE "zones/zone"
#define LK_SETTING_ISSUER "zones/issuer"
#define LK_SETTING_REVOKED "zones/revoked"

#define LK_ZONES_MAX 256
#define LK_ISSUERS_MAX 512
#define LK_REVOKED_MAX 500

/*  "NAME [locks=N] [sessions=N] [requests=N] [bytes=N] [ttl=S] [renew=S]
 *  [authority=NAME]" */
typedef struct {
    char name[LK_HOST_LEN_MAX + 1];
    int64_t locks;    /* held and waited for, in the cluster; 0: no limit */
    int64_t sessions; /* likewise */
    int64_t requests; /* a second, likewise */
    int64_t bytes;    /* of names, likewise */
    int64_t ttl_s;    /* of what is issued at a log-in */
    int64_t renew_s;  /* so long after a log-in it can be renewed; 0: never */
    char authority[LK_HOST_LEN_MAX + 1]; /* where log-ins are asked; "" */
} lk_zone;

#define LK_ZONE_TTL_S (12 * 3600)
#define LK_ZONE_RENEW_S (7 * 24 * 3600)
#define LK_ZONE_LINE_SIZE 320

/*  False: that is none. */
bool lk_zone_read (lk_zone *self, const char *value);
void lk_zone_write (const lk_zone *self, char value[LK_ZONE_LINE_SIZE]);

/*  Whose credentials count in a zone: "NAME KEY", the key in 64 hexadecimal
 *  digits. */
typedef struct {
    char zone[LK_HOST_LEN_MAX + 1];
    char key[65];
} lk_zone_issuer;

#define LK_ISSUER_LINE_SIZE (LK_HOST_LEN_MAX + 66)
bool lk_zone_issuer_read (lk_zone_issuer *self, const char *value);
void lk_zone_issuer_write (const lk_zone_issuer *self,
                           char value[LK_ISSUER_LINE_SIZE]);

/*  A credential that counts no more, and until when it would have: "SERIAL
 *  SECONDS", 16 hexadecimal digits and seconds since 1970. */
typedef struct {
    uint64_t serial;
    int64_t not_after;
} lk_revoked;

#define LK_REVOKED_LINE_SIZE 40
bool lk_revoked_read (lk_revoked *self, const char *value);
void lk_revoked_write (const lk_revoked *self,
                       char value[LK_REVOKED_LINE_SIZE]);

/*  All of them, in their order: how many. */
size_t lk_common_settings_zones (const char *text, lk_zone zones[LK_ZONES_MAX]);
size_t lk_common_settings_issuers (const char *text,
                                   lk_zone_issuer issuers[LK_ISSUERS_MAX]);
size_t lk_common_settings_revoked (const char *text,
                                   lk_revoked revoked[LK_REVOKED_MAX]);

/*  The one of that name, "" being that of "default"; NULL: there is none. */
const lk_zone *lk_zone_find (const lk_zone *zones, size_t count,
                             const char *name);

/*  Whether that key may issue for that zone. */
bool lk_zone_issuer_has (const lk_zone_issuer *issuers, size_t count,
                         const char *zone, const char *key);

bool lk_revoked_has (const lk_revoked *revoked, size_t count, uint64_t serial);

#endif
